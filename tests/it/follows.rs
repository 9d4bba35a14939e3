//! Follows: who follows whom, counted on both sides.

use crate::support::{Actor, TestApp, error_codes, user_error_codes};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use waxwing::base::ids::UserId;
use waxwing::domains::graph::service as graph;
use waxwing::domains::timelines::service as timelines;

async fn profile(of: &Actor, to: &Actor) -> Value {
    let mut response = to.run("Profile", json!({ "login": of.login, "first": 100 })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["user"].take()
}

fn logins(connection: &Value) -> Vec<&str> {
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("no connection: {connection}"));
    edges.iter().map(|edge| edge["node"]["login"].as_str().expect("a login")).collect()
}

#[tokio::test]
async fn a_follow_is_visible_on_both_sides_and_on_every_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    app.clock.advance(5_000);
    let response = ada.follow(&bea).await;
    let expected = json!({
        "user": { "id": bea.id, "followersCount": 1, "viewerIsFollowing": true },
        "viewer": { "id": ada.id, "followingCount": 1 },
        "userErrors": [],
    });
    assert_eq!(response, expected);
    let seen = profile(&bea, &ada.at(&other)).await;
    assert_eq!(
        (&seen["followersCount"], &seen["viewerIsFollowing"], &seen["isFollowingViewer"]),
        (&json!(1), &json!(true), &json!(false))
    );
    assert_eq!(logins(&seen["followers"]), ["ada"]);
    assert_eq!(seen["followers"]["edges"][0]["followedAt"], "2026-03-01T00:00:05.000Z");
    let seen = profile(&ada, &bea.at(&other)).await;
    assert_eq!((&seen["viewerIsFollowing"], &seen["isFollowingViewer"]), (&json!(false), &json!(true)));
    assert_eq!((logins(&seen["following"]), &seen["following"]["totalCount"]), (vec!["bea"], &json!(1)));
}

#[tokio::test]
async fn relationship_flags_are_false_for_oneself_and_without_a_session() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    join(ada.follow(&bea), bea.follow(&ada)).await;
    for viewer in [&ada, &app.anonymous()] {
        let seen = profile(&ada, viewer).await;
        assert_eq!((&seen["viewerIsFollowing"], &seen["isFollowingViewer"]), (&json!(false), &json!(false)));
    }
    let seen = profile(&ada, &bea).await;
    assert_eq!((&seen["viewerIsFollowing"], &seen["isFollowingViewer"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn repeated_and_void_changes_have_no_effect() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let never = ada.unfollow(&bea).await;
    assert_eq!(
        (user_error_codes(&never), &never["user"]["followersCount"], &never["viewer"]["followingCount"]),
        (vec![], &json!(0), &json!(0))
    );
    let first = ada.follow(&bea).await;
    let since = profile(&bea, &ada).await["followers"].take();
    app.clock.advance(60_000);
    assert_eq!(ada.follow(&bea).await, first);
    assert_eq!(profile(&bea, &ada).await["followers"], since, "it is the old follow");
    let gone = ada.unfollow(&bea).await;
    assert_eq!((&gone["user"]["followersCount"], &gone["user"]["viewerIsFollowing"]), (&json!(0), &json!(false)));
    assert_eq!(ada.unfollow(&bea).await, gone);
}

#[tokio::test]
async fn an_invalid_follow_is_refused_without_changes() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = ada.post("x").await;
    app.drain().await;
    let store = app.redis.dump();
    for (id, code) in [
        (ada.id.as_str(), "CANNOT_FOLLOW_SELF"),
        (&UserId(4_242_424_242).global(), "NOT_FOUND"),
        (&status, "NOT_FOUND"),
        ("garbage", "NOT_FOUND"),
        ("", "NOT_FOUND"),
        (&"x".repeat(10_000), "NOT_FOUND"),
    ] {
        let mut response = ada.run("Follow", json!({ "input": { "userId": id } })).await;
        let payload = response["data"]["followUser"].take();
        assert_eq!(user_error_codes(&payload), [code], "{id}");
        assert_eq!(payload["userErrors"][0]["path"], json!(["userId"]));
        assert_eq!((&payload["user"], &payload["viewer"]), (&Value::Null, &Value::Null));
    }
    let own = ada.unfollow(&ada).await;
    assert_eq!((user_error_codes(&own), &own["userErrors"][0]["path"]), (vec!["INVALID_INPUT"], &json!(["userId"])));
    assert_eq!((&own["user"], &own["viewer"]), (&Value::Null, &Value::Null));
    assert_eq!(app.redis.dump(), store);
    for operation in ["Follow", "Unfollow"] {
        let nobody = app.anonymous().run(operation, json!({ "input": { "userId": ada.id } })).await;
        assert_eq!(error_codes(&nobody), ["UNAUTHENTICATED"], "{nobody}");
    }
}

#[tokio::test]
async fn the_newest_follow_is_first_on_both_sides() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let users = app.create_users("c", 5).await;
    for at in [3, 0, 4, 1, 2] {
        users[at].follow(&ada).await;
        ada.follow(&users[at]).await;
    }
    users[4].unfollow(&ada).await;
    users[4].follow(&ada).await;
    let seen = profile(&ada, &app.anonymous()).await;
    assert_eq!(logins(&seen["followers"]), ["c4", "c2", "c1", "c0", "c3"]);
    assert_eq!(logins(&seen["following"]), ["c2", "c1", "c4", "c0", "c3"]);
    assert_eq!((&seen["followers"]["totalCount"], &seen["followersCount"]), (&json!(5), &json!(5)));
}

#[tokio::test]
async fn concurrent_follows_of_one_pair_count_once() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let tries = (0..30).map(|number| {
        let ada = if number % 2 == 0 { ada.clone() } else { ada.at(&other) };
        let bea = bea.clone();
        async move { ada.follow(&bea).await }
    });
    let responses = join_all(tries).await;
    assert!(
        responses
            .iter()
            .all(|response| response["viewer"]["followingCount"] == 1 && response["user"]["viewerIsFollowing"] == true)
    );
    let seen = profile(&bea, &ada).await;
    assert_eq!((logins(&seen["followers"]), &seen["followersCount"]), (vec!["ada"], &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_follows_and_unfollows_leave_both_sides_equal() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let (a, b) = (users[0].user_id(), users[1].user_id());
    for round in 0..150 {
        let change = |follow: bool| {
            let app = app.app.clone();
            tokio::spawn(async move {
                if follow {
                    timelines::follow(&app, a, b).await.expect("a follow");
                } else {
                    timelines::unfollow(&app, a, b).await.expect("no follow");
                }
            })
        };
        join_all((0..9).map(|at| change((at + round) % 3 != 1))).await;
        let score = |key: String, member: UserId| app.redis.run::<Option<f64>>(&["ZSCORE", &key, &member.0.to_string()]);
        let (out, back) = (score(format!("following:{{{}}}", a.0), b), score(format!("followers:{{{}}}", b.0), a));
        assert_eq!(out, back, "round {round}");
        let count = |user: UserId, field: &str| app.redis.run::<u64>(&["HGET", &format!("user:{{{}}}", user.0), field]);
        assert_eq!(
            (count(a, "following"), count(b, "followers")),
            (u64::from(out.is_some()), u64::from(out.is_some())),
            "round {round}"
        );
    }
}

#[tokio::test]
async fn an_interrupted_unfollow_is_completed_by_its_repetition() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    ada.follow(&bea).await;
    // The state after a crash between the two steps.
    app.redis.run::<()>(&["DEL", &format!("following:{{{}}}", ada.user_id().0)]);
    app.redis.run::<()>(&["HSET", &format!("user:{{{}}}", ada.user_id().0), "following", "0"]);
    assert_eq!(ada.unfollow(&bea).await["user"]["followersCount"], 0);
    assert_eq!(logins(&profile(&bea, &ada).await["followers"]), [""; 0]);
}

#[tokio::test]
async fn an_interrupted_follow_is_completed_by_its_repetition() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    users[1].post("posted before").await;
    let (a, b) = (users[0].user_id().0.to_string(), users[1].user_id().0.to_string());
    // The state after a crash between the two steps.
    app.redis.run::<()>(&["ZADD", &format!("following:{{{a}}}"), "7", &b]);
    app.redis.run::<()>(&["HSET", &format!("user:{{{a}}}"), "following", "1"]);
    let response = users[0].follow(&users[1]).await;
    assert_eq!((&response["user"]["followersCount"], &response["viewer"]["followingCount"]), (&json!(1), &json!(1)));
    assert_eq!(users[0].home().await, ["posted before"]);
    assert_eq!(logins(&profile(&users[1], &users[0]).await["followers"]), ["c0"]);
}

#[tokio::test]
async fn an_account_can_follow_at_most_ten_thousand() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let mut ids = vec![users[0].user_id()];
    ids.extend((1..=10_000).map(UserId));
    let edges: Vec<(usize, usize, u64)> = (1..=10_000).map(|at| (0, at, at as u64)).collect();
    graph::import(&app.app, &ids, &edges).await.expect("a store");
    let refused = users[0].follow(&users[1]).await;
    assert_eq!(user_error_codes(&refused), ["LIMIT_REACHED"]);
    assert_eq!(refused["userErrors"][0]["path"], json!(["userId"]));
    assert_eq!(profile(&users[1], &users[0]).await["followersCount"], 0);
    app.redis.run::<()>(&["ZREM", &format!("following:{{{}}}", users[0].user_id().0), "7"]);
    assert_eq!(user_error_codes(&users[0].follow(&users[1]).await), [""; 0]);
    assert_eq!(user_error_codes(&users[0].follow(&users[1]).await), [""; 0], "the follow exists already");
}
