//! Friends: requests, acceptance, the follows that begin and end with a friendship, and who sees the lists.

use crate::support::{Actor, PagedConnection, TestApp, error_codes, findings, is_repeated_run, references, user_error_codes};
use futures_util::future::{join, join_all};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use waxwing::app::App;
use waxwing::base::error::{Outcome, Refusal, UserErrorCode};
use waxwing::base::ids::{SessionId, UserId};
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::graph::service as graph;
use waxwing::domains::relations::FriendshipState::{self, Friends, None as Strangers, RequestReceived, RequestSent};
use waxwing::domains::timelines::service as timelines;

const FIELDS: &str = "id viewerFriendship viewerIsFollowing isFollowingViewer friendsCount followersCount followingCount";

async fn change(actor: &Actor, field: &str, other: &str) -> Value {
    let query = format!(
        "mutation($id: ID!) {{ {field}(input: {{ userId: $id }}) {{ user {{ {FIELDS} }} viewer {{ {FIELDS} }} userErrors {{ code path }} }} }}"
    );
    let mut response = actor.gql(&query, json!({ "id": other })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"][field].take()
}

async fn request(actor: &Actor, other: &Actor) -> Value {
    change(actor, "requestFriend", &other.id).await
}

async fn accept(actor: &Actor, other: &Actor) -> Value {
    change(actor, "acceptFriendRequest", &other.id).await
}

async fn befriend(a: &Actor, b: &Actor) {
    request(a, b).await;
    assert_eq!(user_error_codes(&accept(b, a).await), [""; 0]);
}

/// Returns the friendship and the follows of two accounts, as `actor` sees them.
async fn relationship(actor: &Actor, other: &Actor) -> (String, bool, bool) {
    let query = format!("query($login: String!) {{ user(login: $login) {{ {FIELDS} }} }}");
    let response = actor.gql(&query, json!({ "login": other.login })).await;
    let user = &response["data"]["user"];
    let flag = |field: &str| user[field].as_bool().unwrap_or_else(|| panic!("{response}"));
    (
        user["viewerFriendship"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned(),
        flag("viewerIsFollowing"),
        flag("isFollowingViewer"),
    )
}

fn expected(friendship: &str, follows: bool, is_followed: bool) -> (String, bool, bool) {
    (friendship.to_owned(), follows, is_followed)
}

/// The requests that wait for an actor, or that the actor has sent: logins and times, and the total.
async fn requests(actor: &Actor, field: &str) -> (Vec<(String, String)>, u64) {
    let query = format!("{{ {field}(first: 100) {{ totalCount edges {{ requestedAt node {{ login }} }} }} }}");
    let response = actor.gql(&query, json!({})).await;
    let connection = &response["data"][field];
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let entries = edges.iter().map(|edge| (text(&edge["node"]["login"]), text(&edge["requestedAt"]))).collect();
    (entries, connection["totalCount"].as_u64().expect("a number"))
}

/// A list of accounts as an actor sees it: logins, times and the total.
async fn people(actor: &Actor, of: &Actor, field: &str) -> (Vec<(String, String)>, u64) {
    let query = format!(
        "query($login: String!) {{ user(login: $login) {{ {field}(first: 100) {{ totalCount edges {{ friendsSince node {{ login }} }} }} }} }}"
    );
    let response = actor.gql(&query, json!({ "login": of.login })).await;
    let connection = &response["data"]["user"][field];
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let entries = edges.iter().map(|edge| (text(&edge["node"]["login"]), text(&edge["friendsSince"]))).collect();
    (entries, connection["totalCount"].as_u64().expect("a number"))
}

fn logins((entries, _): (Vec<(String, String)>, u64)) -> Vec<String> {
    entries.into_iter().map(|(login, _)| login).collect()
}

async fn is_sound(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_request_waits_on_both_sides_until_it_is_accepted() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (asker, asked) in [(&first, &second), (&second, &first)] {
        app.clock.advance(5_000);
        let sent = request(asker, asked).await;
        assert_eq!((user_error_codes(&sent), &sent["user"]["viewerFriendship"]), (vec![], &json!("REQUEST_SENT")));
        assert_eq!(relationship(asker, asked).await, expected("REQUEST_SENT", false, false));
        assert_eq!(relationship(asked, asker).await, expected("REQUEST_RECEIVED", false, false));
        let (outgoing, incoming) =
            (requests(asker, "viewerSentFriendRequests").await, requests(asked, "viewerFriendRequests").await);
        assert_eq!((outgoing.0[0].0.as_str(), outgoing.1), (asked.login.as_str(), 1));
        assert_eq!((incoming.0[0].0.as_str(), incoming.1), (asker.login.as_str(), 1));
        assert_eq!(outgoing.0[0].1, incoming.0[0].1, "one time on both sides");
        assert_eq!(requests(asker, "viewerFriendRequests").await, (vec![], 0));
        app.clock.advance(5_000);
        let accepted = accept(asked, asker).await;
        assert_eq!((user_error_codes(&accepted), &accepted["user"]["viewerFriendship"]), (vec![], &json!("FRIENDS")));
        for side in ["user", "viewer"] {
            let counts = ["friendsCount", "followersCount", "followingCount"].map(|count| accepted[side][count].as_u64());
            assert_eq!(counts, [Some(1); 3], "{accepted}");
        }
        for (one, other) in [(asker, asked), (asked, asker)] {
            assert_eq!(relationship(one, other).await, expected("FRIENDS", true, true));
            assert_eq!(requests(one, "viewerFriendRequests").await, (vec![], 0));
            assert_eq!(requests(one, "viewerSentFriendRequests").await, (vec![], 0));
        }
        let since = people(asker, asked, "friends").await;
        assert_eq!((since.0[0].0.as_str(), since.1), (asker.login.as_str(), 1));
        assert_eq!(since.0[0].1, people(asked, asker, "friends").await.0[0].1, "one time on both sides");
        is_sound(&app).await;
        change(asker, "removeFriend", &asked.id).await;
    }
}

#[tokio::test]
async fn friends_have_each_others_statuses_in_their_homes() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    ada.post("from ada").await;
    bea.post("from bea").await;
    befriend(&bea, &ada).await;
    for actor in [&ada, &bea] {
        assert_eq!(actor.home().await, ["from bea", "from ada"]);
    }
    ada.post("later").await;
    assert_eq!(bea.home().await[0], "later");
    change(&ada, "removeFriend", &bea.id).await;
    assert_eq!((ada.home().await, bea.home().await.len()), (vec!["later".to_owned(), "from ada".to_owned()], 1));
    is_sound(&app).await;
}

#[tokio::test]
async fn requests_that_cross_make_one_friendship() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (one, other) in [(&first, &second), (&second, &first)] {
        request(one, other).await;
        let crossed = request(other, one).await;
        assert_eq!((user_error_codes(&crossed), &crossed["user"]["viewerFriendship"]), (vec![], &json!("FRIENDS")));
        assert_eq!(relationship(one, other).await, expected("FRIENDS", true, true));
        let again = request(one, other).await;
        assert_eq!(again["user"]["friendsCount"], 1, "among friends it changes nothing");
        is_sound(&app).await;
        change(one, "removeFriend", &other.id).await;
    }
}

#[tokio::test]
async fn repeated_and_void_changes_have_no_effect() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (asker, asked) in [(&first, &second), (&second, &first)] {
        let void = accept(asked, asker).await;
        assert_eq!((user_error_codes(&void), &void["userErrors"][0]["path"]), (vec!["NOT_FOUND"], &json!(["userId"])));
        for field in ["rejectFriendRequest", "removeFriend"] {
            assert_eq!(user_error_codes(&change(asker, field, &asked.id).await), [""; 0]);
        }
        request(asker, asked).await;
        let since = requests(asked, "viewerFriendRequests").await;
        app.clock.advance(5_000);
        request(asker, asked).await;
        assert_eq!(requests(asked, "viewerFriendRequests").await, since, "asking again keeps the first time");
        change(asker, "rejectFriendRequest", &asked.id).await;
        assert_eq!(requests(asked, "viewerFriendRequests").await, since, "one's own request is not rejected");
        change(asked, "removeFriend", &asker.id).await;
        assert_eq!(requests(asked, "viewerFriendRequests").await, since, "the other's request is not withdrawn");
        let rejected = change(asked, "rejectFriendRequest", &asker.id).await;
        assert_eq!((user_error_codes(&rejected), &rejected["user"]["viewerFriendship"]), (vec![], &json!("NONE")));
        assert_eq!(user_error_codes(&accept(asked, asker).await), ["NOT_FOUND"]);
        request(asker, asked).await;
        assert_eq!(change(asker, "removeFriend", &asked.id).await["user"]["viewerFriendship"], "NONE");
        assert_eq!(user_error_codes(&accept(asked, asker).await), ["NOT_FOUND"], "it was withdrawn");
        befriend(asker, asked).await;
        let friends = people(asked, asker, "friends").await;
        app.clock.advance(5_000);
        for again in [accept(asked, asker).await, accept(asker, asked).await, request(asker, asked).await] {
            assert_eq!((user_error_codes(&again), &again["viewer"]["friendsCount"]), (vec![], &json!(1)));
        }
        assert_eq!(people(asked, asker, "friends").await, friends);
        change(asked, "removeFriend", &asker.id).await;
    }
    is_sound(&app).await;
}

#[tokio::test]
async fn an_existing_follow_keeps_its_time_and_a_friend_may_be_unfollowed() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (one, other) in [(&first, &second), (&second, &first)] {
        one.follow(other).await;
        let follow = graph::edge(&app.app, one.user_id(), other.user_id()).await.expect("a store");
        app.clock.advance(5_000);
        befriend(other, one).await;
        assert_eq!(graph::edge(&app.app, one.user_id(), other.user_id()).await.expect("a store"), follow);
        one.unfollow(other).await;
        assert_eq!(relationship(one, other).await, expected("FRIENDS", false, true), "only that follow ends");
        // A pair that is settled once more, as after a crash, does not follow again.
        timelines::settle_friendship(&app.app, one.user_id(), other.user_id()).await.expect("a store");
        assert_eq!(relationship(one, other).await, expected("FRIENDS", false, true));
        change(one, "removeFriend", &other.id).await;
        assert_eq!(relationship(one, other).await, expected("NONE", false, false));
    }
    is_sound(&app).await;
}

#[tokio::test]
async fn withdrawing_a_request_keeps_follows() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    ada.follow(&bea).await;
    bea.follow(&ada).await;
    for (asker, asked) in [(&ada, &bea), (&bea, &ada)] {
        request(asker, asked).await;
        change(asker, "removeFriend", &asked.id).await;
        assert_eq!(relationship(asker, asked).await, expected("NONE", true, true));
    }
}

#[tokio::test]
async fn invalid_requests_are_refused_without_changes() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let store = app.redis.dump();
    for field in ["requestFriend", "acceptFriendRequest", "rejectFriendRequest", "removeFriend"] {
        for (id, code) in [
            (ada.id.as_str(), "INVALID_INPUT"),
            (&UserId(4_242_424_242).global(), "NOT_FOUND"),
            ("garbage", "NOT_FOUND"),
            ("", "NOT_FOUND"),
        ] {
            let refused = change(&ada, field, id).await;
            assert_eq!((user_error_codes(&refused), &refused["userErrors"][0]["path"]), (vec![code], &json!(["userId"])));
            assert_eq!((&refused["user"], &refused["viewer"]), (&Value::Null, &Value::Null));
        }
        let query = format!("mutation($id: ID!) {{ {field}(input: {{ userId: $id }}) {{ user {{ id }} }} }}");
        assert_eq!(error_codes(&app.anonymous().gql(&query, json!({ "id": ada.id })).await), ["UNAUTHENTICATED"], "{field}");
    }
    assert_eq!(app.redis.dump(), store);
    for field in ["viewerFriendRequests", "viewerSentFriendRequests"] {
        let response = app.anonymous().gql(&format!("{{ {field} {{ totalCount }} }}"), json!({})).await;
        assert_eq!((error_codes(&response), &response["data"][field]), (vec!["UNAUTHENTICATED".to_owned()], &Value::Null));
    }
}

#[tokio::test]
async fn friends_are_shown_to_the_account_and_its_friends_alone() {
    let app = TestApp::start().await;
    let [ada, bea, cy, dan] = app.users(["ada", "bea", "cy", "dan"]).await;
    befriend(&ada, &bea).await;
    befriend(&cy, &ada).await;
    dan.follow(&ada).await;
    request(&dan, &ada).await;
    for friend in [&ada, &bea, &cy] {
        let seen = people(friend, &ada, "friends").await;
        assert_eq!((seen.1, logins(seen)), (2, vec!["cy".to_owned(), "bea".to_owned()]));
    }
    for stranger in [&dan, &app.anonymous()] {
        assert_eq!(people(stranger, &ada, "friends").await, (vec![], 2), "the count is the same for everybody");
        let empty = stranger
            .gql("{ user(login: \"ada\") { friends(first: 1) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }", json!({}))
            .await;
        let page_info = json!({ "hasNextPage": false, "hasPreviousPage": false, "startCursor": null, "endCursor": null });
        assert_eq!(empty["data"]["user"]["friends"], json!({ "edges": [], "pageInfo": page_info }));
        assert_eq!(relationship(stranger, &bea).await.0, "NONE");
    }
    assert_eq!(relationship(&ada, &ada).await.0, "NONE");
    let wrong = dan.gql("{ user(login: \"ada\") { friends(first: 0) { totalCount } } }", json!({})).await;
    assert_eq!(error_codes(&wrong), ["BAD_USER_INPUT"], "arguments are checked in any case");
    change(&bea, "removeFriend", &ada.id).await;
    assert_eq!(logins(people(&bea, &ada, "friends").await), [""; 0]);
}

#[tokio::test]
async fn mutual_friends_are_those_of_both_newest_of_the_viewers_first() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let crowd = app.create_users("c", 8).await;
    for at in [3, 1, 5, 0, 2] {
        befriend(&ada, &crowd[at]).await;
    }
    for at in [0, 1, 2, 6, 7] {
        befriend(&crowd[at], &bea).await;
    }
    let mutual = people(&ada, &bea, "mutualFriends").await;
    let own = people(&ada, &ada, "friends").await.0;
    assert!(mutual.0.iter().all(|entry| own.contains(entry)), "the viewer's own friendships: {mutual:?} of {own:?}");
    assert_eq!((mutual.1, logins(mutual)), (3, ["c2", "c0", "c1"].map(str::to_owned).to_vec()));
    let mutual = people(&bea, &ada, "mutualFriends").await;
    assert_eq!((mutual.1, logins(mutual)), (3, ["c2", "c1", "c0"].map(str::to_owned).to_vec()));
    for (viewer, of) in [(&ada, &ada), (&app.anonymous(), &ada), (&crowd[7], &crowd[3])] {
        assert_eq!(people(viewer, of, "mutualFriends").await, (vec![], 0));
    }
}

#[tokio::test]
async fn lists_of_friends_are_paged() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let crowd = app.create_users("c", 13).await;
    for friend in &crowd {
        befriend(&ada, friend).await;
    }
    for friend in crowd.iter().step_by(2) {
        befriend(&bea, friend).await;
    }
    let askers = app.create_users("d", 9).await;
    for asker in &askers {
        request(asker, &ada).await;
    }
    let list = |path: &str, field: &'static str, pointer: &'static str| PagedConnection {
        actor: ada.clone(),
        path: path.to_owned(),
        field,
        arguments: "",
        pointer,
    };
    let newest_first = |people: &[&Actor]| people.iter().rev().map(|actor| actor.id.clone()).collect::<Vec<_>>();
    list("user(login: \"ada\") { @ }", "friends", "/data/user/list")
        .check(&newest_first(&crowd.iter().collect::<Vec<_>>()))
        .await;
    let mutual: Vec<&Actor> = crowd.iter().step_by(2).collect();
    list("user(login: \"bea\") { @ }", "mutualFriends", "/data/user/list").check(&newest_first(&mutual)).await;
    list("@", "viewerFriendRequests", "/data/list").check(&newest_first(&askers.iter().collect::<Vec<_>>())).await;
}

/// Fills a set of an account with members that are no accounts.
fn fill(app: &TestApp, key: &str, of: &Actor, count: u64) {
    let key = format!("{key}:{{{}}}", of.user_id().0);
    let numbers: Vec<String> = (10..10 + count).flat_map(|n| [n.to_string(), n.to_string()]).collect();
    for chunk in numbers.chunks(2_000) {
        let words: Vec<&str> = ["ZADD", &key].into_iter().chain(chunk.iter().map(String::as_str)).collect();
        let _: u64 = app.redis.run(&words);
    }
}

fn empty(app: &TestApp, key: &str, of: &Actor) {
    let _: u64 = app.redis.run(&["ZREMRANGEBYSCORE", &format!("{key}:{{{}}}", of.user_id().0), "0", "1000000"]);
}

#[tokio::test]
async fn at_the_bound_of_either_side_a_request_stays() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (asker, asked) in [(&first, &second), (&second, &first)] {
        for full in [asker, asked] {
            fill(&app, "friends", full, 5_000);
            request(asker, asked).await;
            assert_eq!(relationship(asked, asker).await.0, "REQUEST_RECEIVED", "requests are still possible");
            for field in ["acceptFriendRequest", "requestFriend"] {
                let refused = change(asked, field, &asker.id).await;
                assert_eq!(user_error_codes(&refused), ["LIMIT_REACHED"], "{field}");
                assert_eq!(refused["userErrors"][0]["path"], json!(["userId"]));
            }
            assert_eq!(relationship(asker, asked).await, expected("REQUEST_SENT", false, false));
            assert_eq!(relationship(asked, asker).await, expected("REQUEST_RECEIVED", false, false));
            let _: u64 = app.redis.run(&["ZREM", &format!("friends:{{{}}}", full.user_id().0), "10"]);
            assert_eq!(user_error_codes(&accept(asked, asker).await), [""; 0], "4,999 are not too many");
            change(asked, "removeFriend", &asker.id).await;
            empty(&app, "friends", full);
        }
        fill(&app, "friend_requests_sent", asker, 1_000);
        assert_eq!(user_error_codes(&request(asker, asked).await), ["LIMIT_REACHED"]);
        assert_eq!(relationship(asked, asker).await.0, "NONE");
        request(asked, asker).await;
        assert_eq!(request(asker, asked).await["user"]["viewerFriendship"], "FRIENDS", "a crossing request needs no place");
        change(asked, "removeFriend", &asker.id).await;
        empty(&app, "friend_requests_sent", asker);
    }
    is_sound(&app).await;
}

#[tokio::test]
async fn an_account_that_follows_ten_thousand_becomes_a_friend_without_the_follow() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (full, other) in [(&first, &second), (&second, &first)] {
        fill(&app, "following", full, 10_000);
        befriend(other, full).await;
        assert_eq!(relationship(full, other).await, expected("FRIENDS", false, true));
        change(full, "removeFriend", &other.id).await;
        assert_eq!(relationship(full, other).await, expected("NONE", false, false));
        empty(&app, "following", full);
    }
    is_sound(&app).await;
}

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
async fn a_block_ends_friendships_and_requests_and_refuses_new_ones() {
    let app = TestApp::start().await;
    let [first, second] = app.users(["first", "second"]).await;
    for (blocker, blocked) in [(&first, &second), (&second, &first)] {
        for step in 0..3 {
            match step {
                0 => befriend(blocker, blocked).await,
                1 => drop(request(blocker, blocked).await),
                _ => drop(request(blocked, blocker).await),
            }
            let query = "mutation($id: ID!) { blockUser(input: { userId: $id }) { userErrors { code } } }";
            let response = blocker.gql(query, json!({ "id": blocked.id })).await;
            assert_eq!(response["data"]["blockUser"]["userErrors"], json!([]), "{response}");
            assert_eq!(relationship(blocker, blocked).await, expected("NONE", false, false));
            for actor in [blocker, blocked] {
                assert_eq!(requests(actor, "viewerFriendRequests").await, (vec![], 0));
                assert_eq!(requests(actor, "viewerSentFriendRequests").await, (vec![], 0));
                assert_eq!(people(actor, actor, "friends").await, (vec![], 0));
            }
            assert_eq!(user_error_codes(&request(blocker, blocked).await), ["FORBIDDEN"]);
            assert_eq!(user_error_codes(&accept(blocker, blocked).await), ["NOT_FOUND"]);
            for field in ["rejectFriendRequest", "removeFriend"] {
                assert_eq!(user_error_codes(&change(blocker, field, &blocked.id).await), [""; 0]);
            }
            for field in ["requestFriend", "acceptFriendRequest", "rejectFriendRequest", "removeFriend"] {
                assert_eq!(user_error_codes(&change(blocked, field, &blocker.id).await), ["NOT_FOUND"]);
            }
            let query = "mutation($id: ID!) { unblockUser(input: { userId: $id }) { userErrors { code } } }";
            blocker.gql(query, json!({ "id": blocked.id })).await;
            assert_eq!(relationship(blocked, blocker).await, expected("NONE", false, false));
        }
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
            assert!(!matches!(accepted, Err(Refusal::Fatal(_))), "{accepted:?}");
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

#[tokio::test]
async fn a_deleted_account_leaves_no_friends_and_no_requests() {
    let app = TestApp::start().await;
    let people = app.create_users("p", 7).await;
    let deleted = &people[3];
    for at in [0, 6] {
        befriend(deleted, &people[at]).await;
    }
    for at in [1, 5] {
        request(deleted, &people[at]).await;
    }
    for at in [2, 4] {
        request(&people[at], deleted).await;
    }
    accounts::delete_unchecked(&app.app, deleted.user_id(), &deleted.login).await.expect("a deletion");
    assert_eq!(logins(people_of(&people[0]).await), [""; 0], "it is hidden at once");
    app.drain_journal().await;
    assert_eq!(references(&app.app, deleted.user_id()).await, [""; 0]);
    let counts = people[0].gql("{ viewer { friendsCount followersCount followingCount } }", json!({})).await;
    assert_eq!(counts["data"]["viewer"], json!({ "friendsCount": 0, "followersCount": 0, "followingCount": 0 }));
    for at in [1, 2, 4, 5] {
        for field in ["viewerFriendRequests", "viewerSentFriendRequests"] {
            assert_eq!(requests(&people[at], field).await, (vec![], 0));
        }
    }
    assert_eq!(user_error_codes(&accept(&people[2], deleted).await), ["NOT_FOUND"]);
    is_sound(&app).await;
}

async fn people_of(actor: &Actor) -> (Vec<(String, String)>, u64) {
    people(actor, actor, "friends").await
}

#[tokio::test]
async fn an_account_with_many_friends_and_requests_is_deleted_in_passes() {
    let app = TestApp::start().await;
    let star = app.user("star").await;
    let crowd = app.create_users("c", 2_300).await;
    let (friends, askers) = crowd.split_at(1_100);
    let key = |kind: &str, of: &Actor| format!("{kind}:{{{}}}", of.user_id().0);
    for (at, friend) in friends.iter().enumerate() {
        let at = (1_000_000 + at).to_string();
        for (one, other) in [(&star, friend), (friend, &star)] {
            let _: u64 = app.redis.run(&["ZADD", &key("friends", one), &at, &other.user_id().0.to_string()]);
            let _: u64 = app.redis.run(&["HINCRBY", &key("user", one), "friends", "1"]);
        }
    }
    for (at, asker) in askers.iter().enumerate() {
        let at = (2_000_000 + at).to_string();
        for (kind, one, other) in [("friend_requests_received", &star, asker), ("friend_requests_sent", asker, &star)] {
            let _: u64 = app.redis.run(&["ZADD", &key(kind, one), &at, &other.user_id().0.to_string()]);
        }
    }
    accounts::delete_unchecked(&app.app, star.user_id(), &star.login).await.expect("a deletion");
    app.drain_journal().await;
    assert_eq!(references(&app.app, star.user_id()).await, [""; 0]);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
