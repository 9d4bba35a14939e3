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

/// The maximum duration of a request, far above any timeout.
const MAX_DURATION: Duration = Duration::from_secs(20);

/// The response of a request; `None` for an error, which must have one of the expected codes.
async fn successful_response(request: impl Future<Output = Value>) -> Option<Value> {
    let reply = tokio::time::timeout(MAX_DURATION, request).await.expect("a response in time");
    let codes = error_codes(&reply);
    let known = ["STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN"];
    assert!(codes.iter().all(|code| known.contains(&code.as_str())), "{reply}");
    codes.is_empty().then_some(reply)
}

/// A user who retries until each action is done.
struct RetryingUser<'a> {
    actor: &'a Actor,
    other: &'a Actor,
    /// The newest first.
    posted: Vec<String>,
    failed: usize,
}

impl RetryingUser<'_> {
    async fn retry_until_done(&mut self, operation: &str, input: Value) -> Value {
        loop {
            match successful_response(self.actor.run(operation, input.clone())).await {
                Some(reply) => return reply,
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
        let posted = self.retry_until_done("PostStatus", post).await;
        assert_eq!(posted["data"]["postStatus"]["status"]["message"], message.as_str(), "{posted}");
        self.posted.insert(0, message);
        let home = self.retry_until_done("Home", json!({ "first": 5 })).await;
        assert!(home["data"]["homeTimeline"]["entries"]["edges"].as_array().is_some_and(|edges| !edges.is_empty()), "{home}");
        let (operation, field, follows) = if self.posted.len().is_multiple_of(2) {
            ("Unfollow", "unfollowUser", false)
        } else {
            ("Follow", "followUser", true)
        };
        let reply = self.retry_until_done(operation, json!({ "input": { "userId": self.other.id } })).await;
        assert_eq!(reply["data"][field]["user"]["viewerIsFollowing"], follows, "{reply}");
    }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_failover() {
    let cluster = Arc::new(Cluster::with_replicas());
    let app = App::new(db_on(&cluster, Timing::default()).await, Clock::System, Config::default());
    let app = TestServer::start(app, Clock::System).await;
    let people = app.users(["ada", "bob", "cleo", "dan"]).await;
    let killed = cluster.node_of(&format!("user:{{{}}}", people[0].user_id().0));
    let (steps, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let live = async |at: usize| {
        let mut user = RetryingUser { actor: &people[at], other: &people[(at + 1) % 4], posted: Vec::new(), failed: 0 };
        // Well before the failure, during the failover, and well after it.
        let mut after = 0;
        while after < 5 {
            user.step().await;
            steps.fetch_add(1, Ordering::SeqCst);
            after += usize::from(over.load(Ordering::SeqCst));
        }
        (user.posted, user.failed)
    };
    let fail_over = async {
        while steps.load(Ordering::SeqCst) < 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cluster.kill(killed);
        let waiting = cluster.clone();
        tokio::task::spawn_blocking(move || waiting.wait_until_primary(killed + 3)).await.expect("the replica takes over");
        over.store(true, Ordering::SeqCst);
    };
    let (runs, ()) = join(join_all((0..4).map(live)), fail_over).await;
    app.drain().await;
    assert!(runs.iter().map(|user| user.1).sum::<usize>() > 0, "no request failed during the failover");
    for (person, (posted, _)) in people.iter().zip(&runs) {
        assert_eq!(profile(person).await, posted[..posted.len().min(100)], "every acknowledged post once");
        let home = person.home().await;
        assert!(posted.iter().take(20).all(|message| home.contains(message)), "{home:?}");
    }
    app.app.db().ping().await.expect("all primaries reply");
    assert_eq!(app.app.db().primary_count().await.expect("a number"), 3);
}
