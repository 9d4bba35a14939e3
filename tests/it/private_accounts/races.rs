//! Changes of follow requests at the same time, on two servers: the outcome is one of those that some order of the changes has, on both sides.

use super::*;
use crate::support::races;
use waxwing::domains::users::service::ProfileChange;

/// Two servers, a private account, and others.
struct Scene {
    app: TestApp,
    sibling: TestApp,
    owner: Actor,
    others: Vec<Actor>,
}

impl Scene {
    async fn start(others: usize) -> Self {
        let app = TestApp::start().await;
        let (sibling, owner) = (app.sibling().await, app.user("ada").await);
        set_private(&owner, true).await;
        let others = app.create_users("other", others).await;
        Self { app, sibling, owner, others }
    }

    /// Requests to follow the owner.
    async fn request(&self, other: &Actor) {
        timelines::follow(&self.app.app, other.user_id(), self.owner.user_id()).await.expect("a request");
    }

    /// Whether an account follows the owner, and whether it waits for a response.
    async fn edge(&self, other: &Actor) -> (bool, bool) {
        let edge = graph::edge(&self.app.app, other.user_id(), self.owner.user_id()).await.expect("a store");
        (edge.follow.is_some(), edge.request.is_some())
    }

    async fn settle(&self) {
        self.app.drain_journal().await;
        self.app.clock.advance(61_000);
        assert_eq!(findings(&self.app.app).await, [""; 0]);
    }
}

fn privacy(is_private: bool) -> ProfileChange {
    ProfileChange { is_private: Some(is_private), ..Default::default() }
}

/// Runs both at once. The one that is polled first alternates.
async fn race<A, B>(round: usize, a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    if round.is_multiple_of(2) {
        tokio::join!(a, b)
    } else {
        let (b, a) = tokio::join!(b, a);
        (a, b)
    }
}

#[tokio::test]
async fn no_request_to_a_public_account_remains_in_any_order_of_changes() {
    let scene = Scene::start(1).await;
    let (owner, other) = (scene.owner.user_id(), &scene.others[0]);
    for round in 0..races(20) {
        timelines::update_profile(&scene.app.app, owner, privacy(true)).await.expect("a change");
        let follow = timelines::follow(&scene.sibling.app, other.user_id(), owner);
        let public = timelines::update_profile(&scene.app.app, owner, privacy(false));
        let (public, follow) = race(round, public, follow).await;
        assert!(public.is_ok() && follow.is_ok(), "round {round}");
        scene.app.drain_journal().await;
        assert_eq!(followers_and_requests(&scene.app, &scene.owner).await, (1, 0), "round {round}");
        timelines::unfollow(&scene.app.app, other.user_id(), owner).await.expect("no follow");
    }
    scene.settle().await;
}

#[tokio::test]
async fn a_withdrawal_ends_the_request_or_the_follow_that_it_became() {
    let scene = Scene::start(1).await;
    let (owner, other) = (scene.owner.user_id(), &scene.others[0]);
    for round in 0..races(20) {
        scene.request(other).await;
        let withdraw = timelines::unfollow(&scene.sibling.app, other.user_id(), owner);
        let (_, withdrawn) = race(round, timelines::accept_request(&scene.app.app, owner, other.user_id()), withdraw).await;
        assert!(withdrawn.is_ok(), "round {round}");
        scene.app.drain_journal().await;
        assert_eq!(scene.edge(other).await, (false, false), "round {round}");
        assert_eq!(followers_and_requests(&scene.app, &scene.owner).await, (0, 0), "round {round}");
    }
    scene.settle().await;
}

#[tokio::test]
async fn no_accepted_request_remains_with_a_block() {
    let scene = Scene::start(1).await;
    let (owner, other) = (scene.owner.user_id(), &scene.others[0]);
    for round in 0..races(20) {
        scene.request(other).await;
        // Either side blocks.
        let (from, to) = if round % 4 < 2 { (owner, other.user_id()) } else { (other.user_id(), owner) };
        let accept = timelines::accept_request(&scene.app.app, owner, other.user_id());
        let (_, blocked) = race(round, accept, timelines::block(&scene.sibling.app, from, to)).await;
        assert!(blocked.is_ok(), "round {round}");
        scene.app.drain_journal().await;
        assert_eq!(scene.edge(other).await, (false, false), "round {round}");
        assert_eq!(followers_and_requests(&scene.app, &scene.owner).await, (0, 0), "round {round}");
        timelines::unblock(&scene.app.app, from, to).await.expect("no block");
    }
    scene.settle().await;
}

/// The account is public or private afterwards. If it is public, everyone follows; if not, those who have waited longest.
#[tokio::test]
async fn going_public_and_private_at_once_accepts_all_requests_or_the_oldest() {
    let scene = Scene::start(5).await;
    let owner = scene.owner.user_id();
    let mut outcomes = [0, 0];
    for round in 0..races(20) {
        timelines::update_profile(&scene.app.app, owner, privacy(true)).await.expect("a change");
        for other in &scene.others {
            scene.request(other).await;
        }
        let private = timelines::update_profile(&scene.sibling.app, owner, privacy(true));
        let public = timelines::update_profile(&scene.app.app, owner, privacy(false));
        let (public, private) = race(round, public, private).await;
        assert!(public.is_ok() && private.is_ok(), "round {round}");
        scene.app.drain_journal().await;
        let response = scene.owner.gql("{ viewer { isPrivate } }", json!({})).await;
        let is_private = response["data"]["viewer"]["isPrivate"].as_bool().expect("a flag");
        outcomes[usize::from(is_private)] += 1;
        let mut edges = Vec::new();
        for other in &scene.others {
            edges.push(scene.edge(other).await);
        }
        let accepted = edges.iter().take_while(|edge| edge.0).count();
        assert!(edges[..accepted].iter().all(|edge| *edge == (true, false)), "round {round}: {edges:?}");
        assert!(edges[accepted..].iter().all(|edge| *edge == (false, true)), "round {round}: {edges:?}");
        assert!(is_private || accepted == edges.len(), "round {round}: {edges:?}");
        for other in &scene.others {
            timelines::unfollow(&scene.app.app, other.user_id(), owner).await.expect("no follow");
        }
        assert_eq!(followers_and_requests(&scene.app, &scene.owner).await, (0, 0), "round {round}");
    }
    scene.settle().await;
    println!("public: {}, private: {}", outcomes[0], outcomes[1]);
}
