//! Concurrent changes of friendships on two servers, and random changes that are compared with a model.

use super::{empty, fill, is_sound};
use crate::support::{Actor, TestApp, is_repeated_run};
use futures_util::future::{join, join_all};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;
use waxwing::app::App;
use waxwing::base::error::{Outcome, Refusal, UserErrorCode};
use waxwing::base::ids::{SessionId, UserId};
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::domains::graph::service as graph;
use waxwing::domains::relations::FriendshipState::{self, Friends, None as Strangers, RequestReceived, RequestSent};
use waxwing::domains::timelines::service as timelines;

/// The friendship of two accounts and the follows of both, as read by the first.
async fn read(app: &App, viewer: UserId, other: UserId) -> (FriendshipState, bool, bool) {
    let session = Viewer::of_session(viewer, SessionId(1), String::new());
    let request = Request::new(app.clone(), Some(session), None, None);
    let friendship = request.loaders().friendships.load(other).await.expect("a store");
    let follows = async |a, b| graph::edge(app, a, b).await.expect("a store").follow.is_some();
    (friendship, follows(viewer, other).await, follows(other, viewer).await)
}

#[tokio::test]
async fn concurrent_acceptances_stay_within_the_bound() {
    let app = TestApp::start().await;
    let before = app.create_users("a", 6).await;
    let star = app.user("star").await;
    let after = app.create_users("z", 6).await;
    fill(&app, "friends", &star, 4_997);
    for asker in before.iter().chain(&after) {
        timelines::request_friend(&app.app, asker.user_id(), star.user_id()).await.expect("a request");
    }
    let accepted =
        before.iter().chain(&after).map(|asker| timelines::accept_friend_request(&app.app, star.user_id(), asker.user_id()));
    let results = join_all(accepted).await;
    let accepted = results.iter().filter(|result| result.is_ok()).count();
    assert!((1..=3).contains(&accepted), "{accepted} fit");
    let is_refused =
        |result: &Outcome<()>| matches!(result, Err(Refusal::User(rows)) if rows[0].code == UserErrorCode::LimitReached);
    assert_eq!(results.iter().filter(|result| is_refused(result)).count(), 12 - accepted);
    let friends: u64 = app.redis.run(&["ZCARD", &format!("friends:{{{}}}", star.user_id().0)]);
    assert_eq!(friends, 4_997 + accepted as u64);
    empty(&app, "friends", &star);
    is_sound(&app).await;
}

/// Pairs that race, and how often each does.
fn rounds() -> usize {
    if is_repeated_run() { 5 } else { 50 }
}

#[tokio::test]
async fn requests_that_cross_on_two_servers_make_one_friendship() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let people = app.create_users("r", 40).await;
    for round in 0..rounds() {
        let race = async |pair: &[Actor]| {
            let (a, b) = (pair[round % 2].user_id(), pair[1 - round % 2].user_id());
            let (one, two) = join(timelines::request_friend(&app.app, a, b), timelines::request_friend(&other.app, b, a)).await;
            assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
            for (viewer, of) in [(a, b), (b, a)] {
                assert_eq!(read(&app.app, viewer, of).await, (Friends, true, true));
            }
            timelines::remove_friend(&app.app, a, b).await.expect("no friendship");
            assert_eq!(read(&other.app, b, a).await, (Strangers, false, false));
        };
        join_all(people.chunks(2).map(race)).await;
    }
    is_sound(&app).await;
}

#[tokio::test]
async fn an_acceptance_and_a_withdrawal_leave_nothing_half_done() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let people = app.create_users("r", 40).await;
    for round in 0..rounds() {
        let race = async |pair: &[Actor]| {
            let (asker, asked) = (pair[round % 2].user_id(), pair[1 - round % 2].user_id());
            timelines::request_friend(&app.app, asker, asked).await.expect("a request");
            let accept = timelines::accept_friend_request(&app.app, asked, asker);
            let (accepted, withdrawn) = join(accept, timelines::remove_friend(&other.app, asker, asked)).await;
            withdrawn.expect("no request");
            // The withdrawal ends the friendship if the acceptance came first.
            assert!(accepted.is_ok() || matches!(&accepted, Err(Refusal::User(rows)) if rows[0].code == UserErrorCode::NotFound));
            for (viewer, of) in [(asker, asked), (asked, asker)] {
                assert_eq!(read(&app.app, viewer, of).await, (Strangers, false, false));
            }
        };
        join_all(people.chunks(2).map(race)).await;
    }
    is_sound(&app).await;
}

#[tokio::test]
async fn no_friendship_remains_with_a_block_after_a_race() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let people = app.create_users("r", 40).await;
    for round in 0..rounds() {
        let race = async |pair: &[Actor]| {
            let (a, b) = (pair[round % 2].user_id(), pair[1 - round % 2].user_id());
            timelines::request_friend(&app.app, a, b).await.expect("a request");
            let (accepted, blocked) =
                join(timelines::accept_friend_request(&app.app, b, a), timelines::block(&other.app, a, b)).await;
            blocked.expect("a block");
            assert!(!matches!(accepted, Err(Refusal::Error(_))), "{accepted:?}");
            for (viewer, of) in [(a, b), (b, a)] {
                assert_eq!(read(&app.app, viewer, of).await, (Strangers, false, false));
            }
            timelines::unblock(&other.app, a, b).await.expect("no block");
        };
        join_all(people.chunks(2).map(race)).await;
    }
    is_sound(&app).await;
}

/// Who has requested whose friendship, who are friends, and who follows whom; friendships are in it both ways.
#[derive(Default)]
struct Model {
    sent: BTreeSet<(usize, usize)>,
    friends: BTreeSet<(usize, usize)>,
    follows: BTreeSet<(usize, usize)>,
}

impl Model {
    fn befriend(&mut self, a: usize, b: usize) {
        for pair in [(a, b), (b, a)] {
            self.sent.remove(&pair);
            self.friends.insert(pair);
            self.follows.insert(pair);
        }
    }

    /// Applies the operation of this number; `false` if it must be refused.
    fn apply(&mut self, operation: usize, a: usize, b: usize) -> bool {
        let (are_friends, was_asked) = (self.friends.contains(&(a, b)), self.sent.contains(&(b, a)));
        match operation {
            0 | 1 if are_friends => {}
            0 | 1 if was_asked => self.befriend(a, b),
            0 => drop(self.sent.insert((a, b))),
            1 => return false,
            2 => drop(self.sent.remove(&(b, a))),
            3 if are_friends => {
                for pair in [(a, b), (b, a)] {
                    self.friends.remove(&pair);
                    self.follows.remove(&pair);
                }
            }
            3 => drop(self.sent.remove(&(a, b))),
            4 => drop(self.follows.insert((a, b))),
            _ => drop(self.follows.remove(&(a, b))),
        }
        true
    }

    fn state(&self, a: usize, b: usize) -> (FriendshipState, bool, bool) {
        let friendship = match (self.friends.contains(&(a, b)), self.sent.contains(&(a, b)), self.sent.contains(&(b, a))) {
            (true, ..) => Friends,
            (_, true, _) => RequestSent,
            (.., true) => RequestReceived,
            _ => Strangers,
        };
        (friendship, self.follows.contains(&(a, b)), self.follows.contains(&(b, a)))
    }
}

async fn operate(app: &App, operation: usize, a: UserId, b: UserId) -> Outcome<()> {
    match operation {
        0 => timelines::request_friend(app, a, b).await,
        1 => timelines::accept_friend_request(app, a, b).await,
        2 => timelines::reject_friend_request(app, a, b).await,
        3 => timelines::remove_friend(app, a, b).await,
        4 => timelines::follow(app, a, b).await,
        _ => timelines::unfollow(app, a, b).await,
    }
}

#[tokio::test]
async fn random_changes_agree_with_a_model() {
    let app = TestApp::start().await;
    let servers = [app.app.clone(), app.sibling().await.app.clone()];
    let people: Vec<UserId> = app.create_users("m", 5).await.iter().map(Actor::user_id).collect();
    let (mut model, mut random) = (Model::default(), StdRng::seed_from_u64(20));
    for step in 0..rounds() * 12 {
        let (a, b) = (random.random_range(0..5), random.random_range(0..4));
        let (b, operation) = (if b < a { b } else { b + 1 }, random.random_range(0..6));
        let server = &servers[random.random_range(0..2)];
        let result = operate(server, operation, people[a], people[b]).await;
        assert_eq!(result.is_ok(), model.apply(operation, a, b), "step {step}: {operation} of {a} to {b}: {result:?}");
        for (one, two) in [(a, b), (b, a)] {
            let seen = read(&servers[step % 2], people[one], people[two]).await;
            assert_eq!(seen, model.state(one, two), "step {step}: {operation} of {a} to {b}, as {one} sees {two}");
        }
    }
    is_sound(&app).await;
}
