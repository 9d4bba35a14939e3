//! A primary fails, and its replica takes over.

use super::{db_on, profile};
use crate::support::{Actor, Cluster, TestServer, error_codes};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::Timing;

/// A request that takes longer than this hangs: far above any timeout.
const HANGS: Duration = Duration::from_secs(20);

/// Whether a request was answered; if not, it has a known error code.
async fn answered(request: impl Future<Output = Value>) -> Option<Value> {
    let answer = tokio::time::timeout(HANGS, request).await.expect("it hangs");
    let codes = error_codes(&answer);
    let known = ["STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN"];
    assert!(codes.iter().all(|code| known.contains(&code.as_str())), "{answer}");
    codes.is_empty().then_some(answer)
}

/// A user who retries until each action is done.
struct Life<'a> {
    actor: &'a Actor,
    other: &'a Actor,
    /// The newest first.
    posted: Vec<String>,
    failed: usize,
}

impl Life<'_> {
    async fn until_done(&mut self, operation: &str, input: Value) -> Value {
        loop {
            match answered(self.actor.run(operation, input.clone())).await {
                Some(answer) => return answer,
                None => self.failed += 1,
            }
            // Retries after a pause, as clients do.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Posts, reads, and follows or unfollows the other user.
    async fn step(&mut self) {
        let message = format!("{}-{}", self.actor.login, self.posted.len());
        let post = json!({ "input": { "message": message, "idempotencyKey": message } });
        let posted = self.until_done("PostStatus", post).await;
        assert_eq!(posted["data"]["postStatus"]["status"]["message"], message.as_str(), "{posted}");
        self.posted.insert(0, message);
        let home = self.until_done("Home", json!({ "first": 5 })).await;
        assert!(home["data"]["homeTimeline"]["entries"]["edges"].as_array().is_some_and(|edges| !edges.is_empty()), "{home}");
        let (operation, field, follows) = if self.posted.len().is_multiple_of(2) {
            ("Unfollow", "unfollowUser", false)
        } else {
            ("Follow", "followUser", true)
        };
        let answer = self.until_done(operation, json!({ "input": { "userId": self.other.id } })).await;
        assert_eq!(answer["data"][field]["user"]["viewerIsFollowing"], follows, "{answer}");
    }
}

#[tokio::test]
async fn what_was_acknowledged_outlives_a_node_that_falls() {
    let cluster = Arc::new(Cluster::with_replicas());
    let app = App::new(db_on(&cluster, Timing::default()).await, Clock::System, Config::default());
    let app = TestServer::start(app, Clock::System).await;
    let people = app.users(["ada", "bob", "cleo", "dan"]).await;
    let fallen = cluster.node_of(&format!("user:{{{}}}", people[0].user_id().0));
    let (begun, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let live = async |at: usize| {
        let mut life = Life { actor: &people[at], other: &people[(at + 1) % 4], posted: Vec::new(), failed: 0 };
        // Well before the failure, during the failover, and well after it.
        let mut after = 0;
        while after < 5 {
            life.step().await;
            begun.fetch_add(1, Ordering::SeqCst);
            after += usize::from(over.load(Ordering::SeqCst));
        }
        (life.posted, life.failed)
    };
    let fall = async {
        while begun.load(Ordering::SeqCst) < 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cluster.kill(fallen);
        let heirs = cluster.clone();
        tokio::task::spawn_blocking(move || heirs.wait_until_primary(fallen + 3)).await.expect("it takes over");
        over.store(true, Ordering::SeqCst);
    };
    let (lives, ()) = join(join_all((0..4).map(live)), fall).await;
    app.drain().await;
    assert!(lives.iter().map(|life| life.1).sum::<usize>() > 0, "it was noticed");
    for (person, (posted, _)) in people.iter().zip(&lives) {
        assert_eq!(profile(person).await, posted[..posted.len().min(100)], "all of it, and nothing twice");
        let home = person.home().await;
        assert!(posted.iter().take(20).all(|message| home.contains(message)), "{home:?}");
    }
    app.app.db().ping().await.expect("all primaries answer");
    assert_eq!(app.app.db().primaries().await.expect("a number"), 3);
}
