//! Friends: requests, acceptance, the follows that begin and end with a friendship, and who sees the lists.

mod lists;
mod races;

use crate::support::{Actor, TestApp, error_codes, findings, references, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::ids::UserId;
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::graph::service as graph;
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
