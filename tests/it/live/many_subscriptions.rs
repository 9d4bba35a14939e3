//! A thousand subscriptions on two servers while relations change and statuses are posted: from a second after the response, nothing arrives that a
//! change hides.

use super::*;
use crate::support::is_repeated_run;
use futures_util::future::join_all;
use std::sync::atomic::{AtomicBool, Ordering};

/// Viewers with a home and a public subscription on each server: a thousand subscriptions, fewer in a repeated run of the suite.
fn viewers() -> usize {
    if is_repeated_run() { 60 } else { 250 }
}

/// The first viewers change their relation to the author.
const CHANGING: usize = 10 * CHANGES.len();

/// The mutations by which a viewer (`true`) or the author (`false`) changes the relation of the two.
const CHANGES: [(&str, bool); 5] =
    [("blockUser", true), ("muteUser", true), ("unfollowUser", true), ("blockUser", false), ("removeFollower", false)];

struct Crowd {
    servers: [TestApp; 2],
    author: Actor,
    host: Actor,
    viewers: Vec<Actor>,
}

/// A subscription with the number of its viewer, and whether it is to the public stream.
type Numbered = (usize, bool, LiveSubscription);

impl Crowd {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let [author, host] = app.users(["author", "host"]).await;
        let viewers = app.create_users("v", viewers()).await;
        let follows: Vec<(&Actor, &Actor)> = viewers.iter().flat_map(|viewer| [(viewer, &author), (viewer, &host)]).collect();
        app.create_follows(&follows).await;
        Self { servers: [app.sibling().await, app], author, host, viewers }
    }

    async fn subscribe(&self) -> Vec<Numbered> {
        let filter = json!({ "filter": { "follow": ["author", "host"] } });
        let mut all = Vec::new();
        for server in &self.servers {
            for (number, viewer) in self.viewers.iter().enumerate() {
                let home = LiveSubscription::open(server, Some(viewer), "HomeEvents", json!({})).await;
                let public = LiveSubscription::open(server, Some(viewer), "PublicStream", filter.clone()).await;
                all.extend([(number, false, home), (number, true, public)]);
            }
            while server.app.extension::<Hub>().subscriber_count() < 2 * self.viewers.len() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        all
    }

    /// Posts on both servers until the flag is set.
    async fn post_until(&self, end: &AtomicBool) {
        for number in 0.. {
            if end.load(Ordering::Relaxed) {
                return;
            }
            self.author.at(&self.servers[number % 2]).post("early").await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The first viewers change their relations, ten in each way.
    async fn change(&self, end: &AtomicBool) {
        for (number, viewer) in self.viewers[..CHANGING].iter().enumerate() {
            let (field, is_by_viewer) = CHANGES[number % CHANGES.len()];
            let (from, to) = if is_by_viewer { (viewer, &self.author) } else { (&self.author, viewer) };
            from.at(&self.servers[number / 5 % 2]).mutate_ok(field, json!({ "userId": to.id }), "").await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        end.store(true, Ordering::Relaxed);
    }
}

/// Whether the relation of a viewer hides the author's later statuses from a subscription. The public stream does not depend on follows.
fn hides(number: usize, is_public: bool) -> bool {
    let field = CHANGES[number % CHANGES.len()].0;
    number < CHANGING && (!is_public || ["blockUser", "muteUser"].contains(&field))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_hidden_arrives_a_second_after_the_change_on_a_thousand_subscriptions() {
    let crowd = Crowd::start().await;
    let all = crowd.subscribe().await;
    assert_eq!(all.len(), 4 * viewers());
    // Reads from the beginning: otherwise full buffers would end the subscriptions.
    let reading = all.into_iter().map(|(number, is_public, mut stream)| {
        tokio::spawn(async move {
            let mut received = Vec::new();
            while received.last().map(String::as_str) != Some("+end") {
                received.push(stream.next_within(Duration::from_secs(60)).await.line);
            }
            (number, is_public, received)
        })
    });
    let reading: Vec<_> = reading.collect();
    let end = AtomicBool::new(false);
    tokio::join!(crowd.post_until(&end), crowd.change(&end));
    for server in &crowd.servers {
        crowd.author.at(server).post("late").await;
    }
    crowd.host.post("end").await;
    let mut hidden = 0;
    for done in join_all(reading).await {
        let (number, is_public, received) = done.expect("the events arrive");
        let late = received.iter().filter(|line| *line == "+late").count();
        let expected = if hides(number, is_public) { 0 } else { 2 };
        assert_eq!(late, expected, "viewer {number}, public: {is_public}, {:?}", CHANGES[number % CHANGES.len()]);
        hidden += usize::from(expected == 0);
        assert!(
            number < CHANGING || received.contains(&"+early".to_owned()),
            "viewer {number} receives what is posted during the changes"
        );
    }
    assert_eq!(hidden, 160);
}
