//! The event log of a thread: all changes in order, missing events are reported, and votes are logged once per second.

use super::{Commenter, app_with_status};
use waxwing::base::ids::{CommentId, StatusId};
use waxwing::domains::comments::{CommentEventKind, ThreadEventId, ThreadEventPage, service as comments};

async fn read_page(app: &waxwing::app::App, status: &str, after: ThreadEventId) -> ThreadEventPage {
    comments::events(app, StatusId::from_global(status).expect("an id"), after, 100).await.expect("a store")
}

async fn read_events(app: &waxwing::app::App, status: &str, after: ThreadEventId) -> Vec<(String, CommentEventKind)> {
    match read_page(app, status, after).await {
        ThreadEventPage::Events(events) => events.into_iter().map(|event| (event.comment.global(), event.kind)).collect(),
        other => panic!("{other:?}"),
    }
}

async fn position(app: &waxwing::app::App, status: &str) -> ThreadEventId {
    comments::position(app, StatusId::from_global(status).expect("an id")).await.expect("a store").0
}

#[tokio::test]
async fn changes_are_logged_once_and_in_order() {
    let (app, users, status) = app_with_status(2).await;
    let (ada, bob) = (Commenter(&users[0]), Commenter(&users[1]));
    let start = position(&app.app, &status).await;
    assert_eq!(read_events(&app.app, &status, start).await, []);
    let first = bob.comment_on(&status, "a").await;
    let second = bob.reply_to(&first, "b").await;
    bob.edit(&first, "a").await;
    bob.edit(&first, "A").await;
    bob.delete(&second, false).await;
    let third = bob.reply_to(&first, "c").await;
    bob.reply_to(&third, "d").await;
    let middle = position(&app.app, &status).await;
    ada.delete(&first, true).await;
    use CommentEventKind::{Added, Deleted, Edited};
    let all = read_events(&app.app, &status, start).await;
    assert_eq!(all.iter().map(|it| it.1).collect::<Vec<_>>(), [Added, Added, Edited, Deleted(1), Added, Added, Deleted(3)]);
    assert_eq!((&all[2].0, &all[3].0, &all[6].0), (&first, &second, &first));
    assert_eq!(read_events(&app.app, &status, middle).await, [(first, Deleted(3))]);
    assert_eq!(read_events(&app.app, &status, position(&app.app, &status).await).await, []);
}

#[tokio::test]
async fn expired_and_lost_events_are_reported() {
    let (app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    ada.comment_on(&status, "a").await;
    let early = position(&app.app, &status).await;
    ada.comment_on(&status, "b").await;
    let number = StatusId::from_global(&status).expect("an id").0;
    let log = format!("discussion:{{{number}}}");
    assert!((1..=3_600_000).contains(&app.redis.run::<i64>(&["PTTL", &log])));
    app.redis.run::<()>(&["DEL", &log]);
    assert_eq!(read_page(&app.app, &status, early).await, ThreadEventPage::Expired, "the log has expired");
    assert_eq!(read_events(&app.app, &status, position(&app.app, &status).await).await, [], "no event is newer");
    ada.comment_on(&status, "c").await;
    assert_eq!(read_page(&app.app, &status, early).await, ThreadEventPage::Expired);
    let late = ThreadEventId { at: early.at + 10_000_000, number: 0 };
    assert_eq!(read_page(&app.app, &status, late).await, ThreadEventPage::Lost, "the storage has lost it");
    // A thousand events are retained.
    for number in 0..1_000 {
        let id = CommentId::from_global(&ada.comment_on(&status, "x").await).expect("an id");
        assert!(id.number > 0, "{number}");
    }
    assert_eq!(app.redis.run::<u64>(&["XLEN", &log]), 1_000);
}

#[tokio::test]
async fn votes_are_logged_once_per_second() {
    let (app, users, status) = app_with_status(4).await;
    let comment = Commenter(&users[0]).comment_on(&status, "a").await;
    let id = StatusId::from_global(&status).expect("an id");
    let start = position(&app.app, &status).await;
    let votes = async || read_events(&app.app, &status, start).await.len();
    for vote in ["UP", "DOWN", "UP"] {
        for who in &users {
            Commenter(who).vote(&comment, vote).await;
        }
    }
    assert_eq!(votes().await, 1, "the first vote is logged at once");
    comments::publish_votes(&app.app, id).await.expect("a store");
    assert_eq!(votes().await, 1, "the next event is not due");
    app.clock.advance(1_000);
    for _ in 0..2 {
        comments::publish_votes(&app.app, id).await.expect("a store");
        assert_eq!(votes().await, 2, "the other votes are logged once");
    }
    app.clock.advance(999);
    Commenter(&users[0]).vote(&comment, "NONE").await;
    assert_eq!(votes().await, 2);
    app.clock.advance(1);
    Commenter(&users[1]).vote(&comment, "NONE").await;
    assert_eq!(votes().await, 3, "a second has passed");
    Commenter(&users[1]).vote(&comment, "NONE").await;
    comments::publish_votes(&app.app, id).await.expect("a store");
    assert_eq!(votes().await, 3, "the previous event includes this vote");
    assert_eq!(read_events(&app.app, &status, start).await[0], (comment, CommentEventKind::Voted));
}

#[tokio::test]
async fn the_sync_cursor_is_not_later_than_the_shown_comments() {
    let (app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    let query = "query($id: ID!) { node(id: $id) { ... on Status { commentThread { totalCount syncCursor } } } }";
    let ask = async || {
        let response = users[0].gql(query, serde_json::json!({ "id": status })).await;
        let thread = &response["data"]["node"]["commentThread"];
        (thread["totalCount"].clone(), thread["syncCursor"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned())
    };
    let id = StatusId::from_global(&status).expect("an id");
    let cursors = app.app.cursors().await.expect("a secret");
    let (count, cursor) = ask().await;
    assert_eq!((count, comments::decode_event(&cursors, id, &cursor)), (0.into(), Some(ThreadEventId::default())));
    ada.comment_on(&status, "a").await;
    let (count, cursor) = ask().await;
    assert_eq!((count, comments::decode_event(&cursors, id, &cursor)), (1.into(), Some(position(&app.app, &status).await)));
    assert_eq!(comments::decode_event(&cursors, StatusId(7), &cursor), None, "a cursor of another thread");
}
