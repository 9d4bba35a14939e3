//! Replays of old events are complete from any cursor, and do not read events again that another replay has read.

use crate::support::TestApp;
use futures_util::future::join_all;
use waxwing::app::App;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;
use waxwing::platform::events::{EventId, FilterTerms, LogPosition, ReadResult, service as events};

/// The number of events in one read.
const PAGE: usize = 500;

/// Returns all events after a position, in their shard's order.
async fn replay(app: &App, mut position: LogPosition) -> Vec<EventId> {
    let mut all = Vec::new();
    loop {
        let before = all.len();
        for read in events::read(app, &position, PAGE).await.expect("a store") {
            let ReadResult::Events(events) = read else { panic!("no event was lost") };
            for event in &events {
                position.advance_to(event);
            }
            all.extend(events.into_iter().map(|event| event.id));
        }
        if all.len() == before {
            return all;
        }
    }
}

#[tokio::test]
async fn replayed_events_are_not_read_again() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let author = app.user("ada").await.user_id();
    let start = events::position(&app.app).await.expect("a store");
    for _ in 0..40 {
        app.clock.advance(1);
        let post = async || {
            let status = StatusId(app.app.next_id().await.expect("an id"));
            events::publish_posted(&app.app, author, status, FilterTerms::default()).await.expect("a store");
        };
        join_all((0..100).map(|_| post())).await;
    }
    let all = replay(&app.app, start.clone()).await;
    assert_eq!(all.len(), 4_000);
    let end = events::position(&app.app).await.expect("a store");
    let shard = end.0.iter().position(|last| Some(last) == all.last()).expect("an author's events are of one shard");
    for from in [5, 250, 1_111] {
        let mut position = start.clone();
        position.0[shard] = all[from];
        app.redis.reset_calls();
        assert_eq!(replay(&app.app, position).await, all[from + 1..], "after event {from}");
        // The reads: the first page, two or three more until the replay meets the events that were read before, the last page, and an empty
        // one. On a cluster the other shards, which have no further events, are read beside each page.
        let calls = app.redis.calls();
        assert!(app.app.db().is_cluster() || calls["xrange"] <= 6, "{calls:?}");
    }
}
