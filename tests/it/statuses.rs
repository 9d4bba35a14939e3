//! Statuses: posting, locations, likes, deletion, and repeated or concurrent requests.

use crate::support::{Actor, TestApp, error_codes, texts, user_error_codes};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use waxwing::platform::journal;

async fn post(actor: &Actor, input: Value) -> Value {
    let mut response = actor.run("PostStatus", json!({ "input": input })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["postStatus"].take()
}

async fn unlike(actor: &Actor, status: &str) -> Value {
    actor.run("Unlike", json!({ "input": { "statusId": status } })).await["data"]["unlikeStatus"].take()
}

/// Returns the result of `StatusPage`; null if the status does not exist.
async fn status(actor: &Actor, id: &str) -> Value {
    let mut response = actor.run("StatusPage", json!({ "id": id })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["node"].take()
}

async fn posts(actor: &Actor) -> (u64, usize) {
    let response = actor.run("Profile", json!({ "login": actor.login, "first": 100 })).await;
    let entries = response["data"]["user"]["profileTimeline"]["entries"]["edges"].as_array().map(Vec::len);
    (response["data"]["user"]["statusesCount"].as_u64().expect("a count"), entries.expect("entries"))
}

#[tokio::test]
async fn a_message_has_one_to_five_hundred_visible_characters() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    let kept = texts::valid(500).into_iter().chain([(" a\n\nb ".to_owned(), "a\n\nb".to_owned())]);
    let mut count = 0;
    for (message, kept) in kept {
        assert_eq!(post(&ada, json!({ "message": message })).await["status"]["message"], kept, "{message}");
        count += 1;
    }
    for message in texts::invalid(500).into_iter().chain(["", " ", "\n\n"].map(str::to_owned)) {
        let payload = post(&ada, json!({ "message": message })).await;
        assert_eq!((user_error_codes(&payload), &payload["status"]), (vec!["INVALID_MESSAGE"], &Value::Null));
        assert_eq!(payload["userErrors"][0]["path"], json!(["message"]));
    }
    assert_eq!(posts(&ada).await, (count, count as usize));
}

#[tokio::test]
async fn a_location_is_stored_exactly_up_to_the_poles() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    for (latitude, longitude) in [(90.0, 180.0), (-90.0, -180.0), (0.0, 0.0), (52.520_008_123_456_7, 13.404_954), (1e-300, -1e-7)]
    {
        let place = json!({ "latitude": latitude, "longitude": longitude });
        assert_eq!(post(&ada, json!({ "message": "x", "location": place })).await["status"]["location"], place);
    }
    assert_eq!(
        post(&ada, json!({ "message": "x", "location": { "latitude": 90, "longitude": -180 } })).await["status"]["location"]["latitude"],
        90.0
    );
    assert_eq!(post(&ada, json!({ "message": "x", "location": null })).await["status"]["location"], Value::Null);
    let before = posts(&ada).await;
    for (latitude, longitude, fields) in [
        (90.000_000_1, 0.0, vec!["latitude"]),
        (-91.0, 0.0, vec!["latitude"]),
        (0.0, 181.0, vec!["longitude"]),
        (0.0, -180.000_000_1, vec!["longitude"]),
        (1e308, -1e308, vec!["latitude", "longitude"]),
    ] {
        let place = json!({ "latitude": latitude, "longitude": longitude });
        let payload = post(&ada, json!({ "message": "x", "location": place })).await;
        let rows: Vec<Value> = fields.iter().map(|field| json!(["location", field])).collect();
        let paths: Vec<&Value> = payload["userErrors"].as_array().expect("rows").iter().map(|row| &row["path"]).collect();
        assert_eq!(paths, rows.iter().collect::<Vec<_>>(), "{place}");
        assert!(user_error_codes(&payload).iter().all(|code| *code == "INVALID_LOCATION") && payload["status"].is_null());
    }
    assert_eq!(posts(&ada).await, before);
}

#[tokio::test]
async fn a_deleted_status_disappears_for_everybody_at_once() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("c", 3).await;
    let (ada, bea) = (&users[0], &users[1]);
    bea.follow(ada).await;
    let id = ada.post("going").await;
    ada.post("staying").await;
    bea.like(&id).await;
    for stranger in [bea, &users[2]] {
        assert_eq!(user_error_codes(&stranger.delete(&id).await), ["NOT_FOUND"]);
    }
    assert_eq!(ada.delete(&id).await, json!({ "deletedStatusId": id, "userErrors": [] }));
    for reader in [ada.clone(), bea.clone(), bea.at(&other)] {
        assert_eq!(reader.home().await, ["staying"]);
        assert_eq!(status(&reader, &id).await, Value::Null);
        assert_eq!(user_error_codes(&reader.like(&id).await), ["NOT_FOUND"]);
        assert_eq!(user_error_codes(&unlike(&reader, &id).await), ["NOT_FOUND"]);
    }
    assert_eq!(posts(ada).await, (1, 1));
    app.drain_journal().await;
    let number = waxwing::base::ids::StatusId::from_global(&id).expect("a status").0.to_string();
    let dump = app.redis.dump_without_events().replace(&format!("gone:{{{number}}}"), "");
    assert!(!dump.contains(&number) && !app.redis.dump().contains("going"), "{dump}");
    for again in [id.as_str(), "garbage", "", &ada.id] {
        let payload = ada.delete(again).await;
        assert_eq!((user_error_codes(&payload), &payload["deletedStatusId"]), (vec!["NOT_FOUND"], &Value::Null), "{again}");
        assert_eq!(payload["userErrors"][0]["path"], json!(["statusId"]));
    }
    assert_eq!(posts(ada).await, (1, 1));
}

#[tokio::test]
async fn concurrent_deletions_delete_a_status_once() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    for _ in 0..5 {
        let id = ada.post("x").await;
        let responses = join_all((0..8).map(|_| ada.delete(&id))).await;
        assert_eq!(responses.iter().filter(|payload| user_error_codes(payload).is_empty()).count(), 1);
        assert_eq!(posts(&ada).await, (0, 0));
    }
}

#[tokio::test]
async fn an_interrupted_deletion_is_completed_by_the_next_process() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let id = users[0].post("x").await;
    // The state after a crash after the first step.
    let status = waxwing::base::ids::StatusId::from_global(&id).expect("a status");
    let number = status.0;
    let task = journal::Task::Status { author: users[0].user_id(), status };
    let _lost = journal::service::begin(&app.app, task).await.expect("an entry");
    app.redis.run::<()>(&["DEL", &format!("status:{{{number}}}")]);
    app.redis.run::<()>(&["SET", &format!("gone:{{{number}}}"), "1"]);
    assert_eq!(user_error_codes(&users[1].delete(&id).await), ["NOT_FOUND"]);
    assert_eq!(posts(&users[0]).await, (1, 0), "a request of another account settles nothing");
    app.drain().await;
    assert_eq!(posts(&users[0]).await, (1, 0), "the lease has not expired");
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!(posts(&users[0]).await, (0, 0));
}

#[tokio::test]
async fn concurrent_likes_are_counted_once_each() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 50).await;
    let id = users[0].post("x").await;
    let responses = join_all(users.iter().chain(&users).map(|liker| liker.like(&id))).await;
    assert!(responses.iter().all(|payload| payload["status"]["viewerHasLiked"] == true));
    let response = users[7].gql("query($id: ID!) { node(id: $id) { ... on Status { likeCount viewerHasLiked likers(first: 100) { totalCount edges { node { login } } } } } }", json!({ "id": id })).await;
    let seen = &response["data"]["node"];
    assert_eq!(
        (&seen["likeCount"], &seen["likers"]["totalCount"], &seen["viewerHasLiked"]),
        (&json!(50), &json!(50), &json!(true))
    );
    let mut logins: Vec<&str> =
        seen["likers"]["edges"].as_array().expect("edges").iter().filter_map(|edge| edge["node"]["login"].as_str()).collect();
    logins.sort_unstable();
    logins.dedup();
    assert_eq!(logins.len(), 50);
    let half = users[..25].iter().chain(&users[..25]);
    join_all(half.map(|liker| unlike(liker, &id))).await;
    assert_eq!(status(&users[0], &id).await["likeCount"], 25);
}

#[tokio::test]
async fn a_like_belongs_to_the_viewer_and_can_be_removed() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 3).await;
    let id = users[0].post("x").await;
    let never = unlike(&users[1], &id).await;
    assert_eq!((user_error_codes(&never), &never["status"]["likeCount"]), (vec![], &json!(0)));
    for liker in &users {
        let payload = liker.like(&id).await;
        assert_eq!(payload["status"]["viewerHasLiked"], true);
        assert_eq!(liker.like(&id).await, payload);
    }
    let seen = status(&app.anonymous(), &id).await;
    assert_eq!((&seen["likeCount"], &seen["viewerHasLiked"]), (&json!(3), &json!(false)));
    let likers: Vec<&Value> =
        seen["likers"]["edges"].as_array().expect("edges").iter().map(|edge| &edge["node"]["login"]).collect();
    assert_eq!(likers, ["c2", "c1", "c0"]);
    let back = unlike(&users[1], &id).await;
    assert_eq!((&back["status"]["likeCount"], &back["status"]["viewerHasLiked"]), (&json!(2), &json!(false)));
    assert_eq!(status(&users[0], &id).await["viewerHasLiked"], true);
    for wrong in ["garbage", "", &users[0].id] {
        assert_eq!(user_error_codes(&users[0].like(wrong).await), ["NOT_FOUND"]);
    }
}

#[tokio::test]
async fn mutations_require_a_session() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    let id = ada.post("x").await;
    app.drain().await;
    let store = app.redis.dump();
    for (operation, field, input) in [
        ("PostStatus", "postStatus", json!({ "message": "x" })),
        ("DeleteStatus", "deleteStatus", json!({ "statusId": id })),
        ("Like", "likeStatus", json!({ "statusId": id })),
        ("Unlike", "unlikeStatus", json!({ "statusId": id })),
    ] {
        let response = app.anonymous().run(operation, json!({ "input": input })).await;
        assert_eq!((error_codes(&response), &response["data"]), (vec!["UNAUTHENTICATED".to_owned()], &json!({ field: null })));
    }
    assert_eq!(app.redis.dump(), store);
}

#[tokio::test]
async fn a_repeated_key_returns_the_first_response_and_refuses_other_input() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("c", 2).await;
    let ada = &users[0];
    let place = json!({ "latitude": 1, "longitude": 2 });
    let input = json!({ "message": "once", "location": place, "idempotencyKey": "key" });
    let first = post(ada, input.clone()).await;
    app.clock.advance(60_000);
    assert_eq!(post(&ada.at(&other), input).await, first);
    assert_eq!(
        post(ada, json!({ "message": " once\n", "location": place, "idempotencyKey": "key" })).await,
        first,
        "it is the same text"
    );
    for changed in [
        json!({ "message": "twice", "location": place, "idempotencyKey": "key" }),
        json!({ "message": "once", "idempotencyKey": "key" }),
        json!({ "message": "once", "location": { "latitude": 1, "longitude": 3 }, "idempotencyKey": "key" }),
    ] {
        let refused = post(ada, changed).await;
        assert_eq!((user_error_codes(&refused), &refused["status"]), (vec!["IDEMPOTENCY_MISMATCH"], &Value::Null));
        assert_eq!(refused["userErrors"][0]["path"], json!(["idempotencyKey"]));
    }
    assert_eq!(posts(ada).await, (1, 1));
    let bea = post(&users[1], json!({ "message": "mine", "idempotencyKey": "key" })).await;
    assert_eq!(bea["status"]["message"], "mine", "a key belongs to its account");
    let id = first["status"]["id"].as_str().expect("an id");
    ada.delete(id).await;
    let gone = post(ada, json!({ "message": "once", "location": place, "idempotencyKey": "key" })).await;
    assert_eq!(gone, json!({ "status": null, "userErrors": [] }));
    assert_eq!((posts(ada).await, ada.home().await.len()), ((0, 0), 0));
}

#[tokio::test]
async fn a_refused_request_does_not_use_its_key() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    assert_eq!(user_error_codes(&post(&ada, json!({ "message": " ", "idempotencyKey": "k" })).await), ["INVALID_MESSAGE"]);
    assert_eq!(post(&ada, json!({ "message": "better", "idempotencyKey": "k" })).await["status"]["message"], "better");
    for key in ["", " ", "a b", "é", "a\n", "\u{7f}", &"k".repeat(65)] {
        let payload = post(&ada, json!({ "message": "x", "idempotencyKey": key })).await;
        assert_eq!(user_error_codes(&payload), ["INVALID_INPUT"], "{key:?}");
        assert_eq!(payload["userErrors"][0]["path"], json!(["idempotencyKey"]));
    }
    let edge = "~!".repeat(32);
    assert_eq!(user_error_codes(&post(&ada, json!({ "message": "x", "idempotencyKey": edge })).await), [""; 0]);
}

#[tokio::test]
async fn twenty_concurrent_requests_with_one_key_create_one_status() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("c", 2).await;
    users[1].follow(&users[0]).await;
    let tries = (0..20).map(|number| {
        let actor = if number % 2 == 0 { users[0].clone() } else { users[0].at(&other) };
        async move { post(&actor, json!({ "message": "x", "idempotencyKey": "k" })).await }
    });
    let responses = join_all(tries).await;
    assert!(responses.iter().all(|response| response == &responses[0] && response["status"].is_object()), "{responses:?}");
    assert_eq!((posts(&users[0]).await, users[1].home().await.len()), ((1, 1), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repetition_after_a_deletion_restores_nothing() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    for round in 0..60 {
        let input = json!({ "message": "x", "idempotencyKey": round.to_string() });
        let id = post(&ada, input.clone()).await["status"]["id"].as_str().expect("an id").to_owned();
        let repeat = join_all((0..6).map(|_| post(&ada, input.clone())));
        join(repeat, ada.delete(&id)).await;
        assert_eq!(posts(&ada).await, (0, 0), "round {round}");
    }
    app.drain().await;
    let keys = app.redis.keys();
    assert!(!keys.iter().any(|key| ["profile:", "home:", "status:"].iter().any(|kind| key.starts_with(kind))), "{keys:?}");
}
