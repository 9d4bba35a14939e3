//! Sessions: creation, expiry, listing and end.

use crate::support::{Actor, HttpResponse, START, Socket, TestApp, error_codes, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::base::clock::{DAY, MINUTE};
use waxwing::domains::sessions::service::{create, trim};

const DAY_MS: i64 = DAY as i64;
const MINUTE_MS: i64 = MINUTE as i64;

const INVALID_TOKEN: &str = "Invalid access token, or its session has ended. Log in again.";

/// Creates another session of an account, with this user agent.
async fn create_session(app: &TestApp, owner: &Actor, agent: &str) -> Actor {
    let fresh = create(&app.app, owner.user_id(), Some(agent)).await.expect("a session");
    owner.with_token(&fresh.token)
}

/// Returns whether a session is active. Panics on a response that is neither a result nor the refusal of an ended session.
async fn is_active(app: &TestApp, actor: &Actor) -> bool {
    let request = app.post().bearer_auth(actor.token.as_deref().expect("a token"));
    let response = HttpResponse::fetch(request.json(&json!({ "query": "{ viewer { id } }" }))).await;
    if response.status == 200 {
        assert_eq!(response.json(), json!({ "data": { "viewer": { "id": actor.id } } }));
        return true;
    }
    assert_eq!(response.refusal(), (401, vec!["UNAUTHENTICATED".to_owned()], false));
    assert_eq!(response.header("www-authenticate"), "Bearer error=\"invalid_token\"");
    assert_eq!(response.json()["errors"][0]["message"], INVALID_TOKEN);
    false
}

async fn sessions(actor: &Actor) -> Vec<Value> {
    let mut response = actor.run("Viewer", json!({})).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["viewerSessions"].as_array_mut().map(std::mem::take).expect("sessions")
}

async fn end(actor: &Actor, input: Value) -> Value {
    let mut response = actor.run("EndSessions", json!({ "input": input })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["endSessions"].take()
}

#[tokio::test]
async fn a_session_ends_thirty_days_after_its_last_use() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    app.clock.advance(30 * DAY_MS - 1);
    assert!(is_active(&app, &ada).await);
    app.drain().await;
    app.clock.advance(30 * DAY_MS - 1);
    assert!(is_active(&app, &ada).await, "its use was recorded");
    app.drain().await;
    app.clock.advance(30 * DAY_MS);
    assert!(!is_active(&app, &ada).await);
    assert!(!is_active(&app, &ada).await, "a request does not revive it");
}

#[tokio::test]
async fn a_session_ends_after_ninety_days_even_if_it_is_used() {
    let app = TestApp::start().await;
    let payload =
        app.anonymous().run("SignUp", json!({ "input": { "login": "ada", "name": "A", "password": "correct horse" } })).await;
    let session = &payload["data"]["signUp"]["session"];
    assert_eq!(session["expiresAt"], "2026-05-30T00:00:00.000Z");
    let mut ada = app.anonymous().with_token(session["token"].as_str().expect("a token"));
    session["user"]["id"].as_str().expect("an id").clone_into(&mut ada.id);
    for _ in 0..4 {
        app.clock.advance(20 * DAY_MS);
        assert!(is_active(&app, &ada).await);
        app.drain().await;
    }
    app.clock.advance(10 * DAY_MS - 1);
    assert!(is_active(&app, &ada).await);
    app.clock.advance(1);
    assert!(!is_active(&app, &ada).await);
}

#[tokio::test]
async fn an_expired_session_is_removed_from_the_store() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let keys = app.redis.keys();
    let key = keys.iter().find(|key| key.starts_with("session:")).expect("a session");
    let ttl = || app.redis.run::<i64>(&["PTTL", key]);
    assert!((29 * DAY_MS..=30 * DAY_MS).contains(&ttl()));
    app.clock.advance(29 * DAY_MS);
    is_active(&app, &ada).await;
    app.drain().await;
    app.clock.advance(29 * DAY_MS);
    is_active(&app, &ada).await;
    app.drain().await;
    app.clock.advance(25 * DAY_MS);
    is_active(&app, &ada).await;
    app.drain().await;
    assert!((6 * DAY_MS..=7 * DAY_MS).contains(&ttl()), "83 of 90 days are over: {}", ttl());
}

#[tokio::test]
async fn last_seen_is_written_once_a_minute_at_most() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let writes = async |requests: usize| {
        app.redis.reset_calls();
        for _ in 0..requests {
            is_active(&app, &ada).await;
            app.app.drain().await;
        }
        let calls = app.redis.calls();
        ["hset", "evalsha"].map(|name| calls.get(name).copied().unwrap_or(0))
    };
    assert_eq!(writes(3).await, [0, 0]);
    app.clock.advance(MINUTE_MS - 1);
    assert_eq!(writes(2).await, [0, 0]);
    app.clock.advance(1);
    assert_eq!(writes(3).await[0], 1);
    app.clock.advance(MINUTE_MS);
    assert_eq!(writes(3).await, [1, 1], "the script is known by now");
    assert_eq!(sessions(&ada).await[0]["lastSeenAt"], "2026-03-01T00:02:00.000Z");
}

#[tokio::test]
async fn concurrent_requests_record_a_use_once() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    app.clock.advance(MINUTE_MS);
    app.redis.reset_calls();
    join_all((0..20).map(|_| is_active(&app, &ada))).await;
    app.drain().await;
    assert_eq!(app.redis.calls().get("hset"), Some(&1));
}

#[tokio::test]
async fn reads_succeed_while_redis_refuses_writes() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let bea = app.user("bea").await;
    let status = bea.post("before").await;
    ada.follow(&bea).await;
    ada.home().await;
    let fresh = app.sibling().await;
    // Nothing is left to settle; settling would be refused as well.
    app.drain().await;
    app.redis.run::<()>(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    app.clock.advance(2 * MINUTE_MS);
    for server in [&app, &fresh] {
        let ada = ada.at(server);
        assert_eq!(ada.home().await, ["before"]);
        assert_eq!(sessions(&ada).await[0]["lastSeenAt"], "2026-03-01T00:00:00.000Z");
        server.app.drain().await;
        for (operation, input) in [
            ("PostStatus", json!({ "message": "x" })),
            ("PostStatus", json!({ "message": "x", "idempotencyKey": "k" })),
            ("Like", json!({ "statusId": status })),
            ("UpdateProfile", json!({ "name": "x" })),
            ("SignUp", json!({ "login": "new", "name": "x", "password": "12345678" })),
            ("LogIn", json!({ "login": "ada", "password": "correct horse" })),
        ] {
            let response = ada.run(operation, json!({ "input": input })).await;
            assert_eq!(error_codes(&response), ["STORAGE_UNAVAILABLE"], "{operation}: {response}");
        }
        assert_eq!(
            error_codes(&bea.at(server).run("Follow", json!({ "input": { "userId": ada.id } })).await),
            ["STORAGE_UNAVAILABLE"]
        );
        let deletion = bea.at(server).run("DeleteStatus", json!({ "input": { "statusId": status } })).await;
        assert_eq!(error_codes(&deletion), ["STORAGE_UNAVAILABLE"]);
    }
    app.redis.run::<()>(&["CONFIG", "SET", "min-replicas-to-write", "0"]);
    assert_eq!(ada.home().await, ["before"], "a refused request changes nothing");
    assert_eq!(user_error_codes(&bea.follow(&ada).await), [""; 0]);
    assert_eq!(user_error_codes(&bea.delete(&status).await), [""; 0]);
}

#[tokio::test]
async fn every_device_is_listed_newest_first_and_ended_one_by_one() {
    let app = TestApp::start().await;
    let first = app.user("ada").await;
    app.clock.advance(1_000);
    let phone = create_session(&app, &first, "Phone/1").await;
    app.clock.advance(1_000);
    let tablet = create_session(&app, &first, &format!("Tablet\u{7}/{}", "é".repeat(300))).await;
    let listed = sessions(&phone).await;
    let current: Vec<&Value> = listed.iter().map(|session| &session["isCurrent"]).collect();
    assert_eq!(current, [false, true, false]);
    assert_eq!(listed[0]["createdAt"], "2026-03-01T00:00:02.000Z");
    assert_eq!((&listed[1]["userAgent"], &listed[2]["userAgent"]), (&json!("Phone/1"), &Value::Null));
    let agent = listed[0]["userAgent"].as_str().expect("an agent");
    assert!(agent.starts_with("Tablet/é") && agent.len() <= 256, "{agent}");
    let ended = end(&phone, json!({ "sessionId": listed[0]["id"] })).await;
    assert_eq!(ended, json!({ "endedSessionIds": [listed[0]["id"]], "userErrors": [] }));
    assert!(!is_active(&app, &tablet).await && is_active(&app, &phone).await && is_active(&app, &first).await);
    assert_eq!(user_error_codes(&end(&phone, json!({ "sessionId": listed[0]["id"] })).await), ["NOT_FOUND"]);
    let own = end(&phone, json!({ "sessionId": listed[1]["id"] })).await;
    assert_eq!(own["endedSessionIds"], json!([listed[1]["id"]]));
    assert!(!is_active(&app, &phone).await && is_active(&app, &first).await);
    assert_eq!(sessions(&first).await.len(), 1);
}

#[tokio::test]
async fn all_other_sessions_end_at_once_on_every_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let first = app.user("ada").await;
    let bea = app.user("bea").await;
    let mut devices = Vec::new();
    for number in 0..4 {
        app.clock.advance(1_000);
        devices.push(create_session(&app, &first, &number.to_string()).await);
    }
    let ids: Vec<Value> = sessions(&devices[1]).await.iter().map(|session| session["id"].clone()).collect();
    let ended = end(&devices[1], json!({ "allOthers": true })).await;
    assert_eq!(ended["endedSessionIds"], json!([ids[0], ids[1], ids[3], ids[4]]));
    for (number, actor) in devices.iter().enumerate() {
        assert_eq!(is_active(&other, actor).await, number == 1);
    }
    assert!(!is_active(&other, &first).await && is_active(&other, &bea).await);
    assert_eq!(end(&devices[1], json!({ "allOthers": true })).await, json!({ "endedSessionIds": [], "userErrors": [] }));
    let response = devices[1].run("LogOut", json!({})).await;
    assert_eq!(response["data"]["logOut"], json!({ "endedSessionId": ids[2], "userErrors": [] }));
    assert!(!is_active(&other, &devices[1]).await);
    assert!(!app.redis.keys().iter().any(|key| key == &format!("sessions:{{{}}}", first.user_id().0)), "a session is left");
}

/// A repair trims a list that is above the limit.
#[tokio::test]
async fn sockets_of_a_trimmed_session_are_closed() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let (id, list) = (ada.user_id(), format!("sessions:{{{}}}", ada.user_id().0));
    let mut socket = Socket::connect(&app, ada.token.as_deref()).await;
    socket.subscribe("a", "subscription { homeTimelineEvents { __typename } }").await;
    assert_eq!(socket.execute("b", "{ viewer { login } }").await["data"]["viewer"]["login"], "ada");
    let [own]: [(String, u64); 1] =
        app.redis.run::<Vec<(String, u64)>>(&["ZRANGE", &list, "0", "-1", "WITHSCORES"]).try_into().expect("one session");
    for number in 1..=100 {
        let (digest, session) = (format!("{number:043}"), (own.1 + number).to_string());
        let (key, uid, seen) = (format!("session:{{{digest}}}"), id.0.to_string(), START.to_string());
        app.redis.run::<()>(&["HSET", &key, "id", &session, "uid", &uid, "seen", &seen]);
        app.redis.run::<()>(&["ZADD", &list, &session, &digest]);
    }
    // The socket's watch of its account has begun.
    tokio::time::sleep(Duration::from_millis(200)).await;
    trim(&app.app, id).await.expect("a store");
    let began = Instant::now();
    assert_eq!(app.redis.run::<usize>(&["ZCARD", &list]), 100);
    assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()));
    // Before the periodic check of its session.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(!is_active(&app, &ada).await);
}

#[tokio::test]
async fn a_session_is_visible_only_to_its_owner() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let id = sessions(&ada).await[0]["id"].clone();
    let node = "query($id: ID!) { node(id: $id) { __typename id ... on Session { isCurrent } } }";
    let found = ada.gql(node, json!({ "id": id })).await;
    assert_eq!(found["data"]["node"], json!({ "__typename": "Session", "id": id, "isCurrent": true }));
    for stranger in [&bea, &app.anonymous()] {
        assert_eq!(stranger.gql(node, json!({ "id": id })).await, json!({ "data": { "node": null } }));
    }
    for foreign in
        [id.clone(), json!(ada.id), json!("garbage"), json!(""), json!(waxwing::base::ids::SessionId(4_242_424_242).global())]
    {
        let payload = end(&bea, json!({ "sessionId": foreign })).await;
        assert_eq!(user_error_codes(&payload), ["NOT_FOUND"], "{foreign}");
        assert_eq!((&payload["userErrors"][0]["path"], &payload["endedSessionIds"]), (&json!(["sessionId"]), &Value::Null));
    }
    assert!(is_active(&app, &ada).await);
}

#[tokio::test]
async fn ending_a_session_takes_exactly_one_of_two_arguments() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let id = sessions(&ada).await[0]["id"].clone();
    for input in
        [json!({}), json!({ "sessionId": id, "allOthers": true }), json!({ "allOthers": false }), json!({ "sessionId": null })]
    {
        assert_eq!(user_error_codes(&end(&ada, input.clone()).await), ["INVALID_INPUT"], "{input}");
    }
    let nobody = app.anonymous().run("EndSessions", json!({ "input": { "allOthers": true } })).await;
    assert_eq!(error_codes(&nobody), ["UNAUTHENTICATED"]);
    assert!(is_active(&app, &ada).await);
}

#[tokio::test]
async fn the_hundred_and_first_session_ends_the_oldest() {
    let app = TestApp::start().await;
    let first = app.user("ada").await;
    let mut devices = vec![first.clone()];
    for number in 1..=99 {
        app.clock.advance(10);
        devices.push(create_session(&app, &first, &number.to_string()).await);
    }
    assert!(is_active(&app, &first).await);
    assert_eq!(sessions(&first).await.len(), 100);
    app.clock.advance(10);
    devices.push(create_session(&app, &first, "100").await);
    assert!(!is_active(&app, &first).await);
    assert!(is_active(&app, &devices[1]).await && is_active(&app, &devices[100]).await);
    assert_eq!(sessions(&devices[1]).await.len(), 100);
}

#[tokio::test]
async fn expired_sessions_displace_no_live_one() {
    let app = TestApp::start().await;
    let daily = app.user("ada").await;
    for number in 0..99 {
        app.clock.advance(10);
        create_session(&app, &daily, &number.to_string()).await;
    }
    app.clock.advance(29 * DAY_MS);
    assert!(is_active(&app, &daily).await);
    app.drain().await;
    app.clock.advance(2 * DAY_MS);
    assert_eq!(sessions(&daily).await.len(), 1, "all others have ended");
    create_session(&app, &daily, "new").await;
    assert!(is_active(&app, &daily).await);
}

#[tokio::test]
async fn a_request_with_an_invalid_session_is_refused() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let token = ada.token.clone().expect("a token");
    let wrong = "A".repeat(43);
    let mut values: Vec<Vec<u8>> =
        ["", "Bearer", "Bearer ", "Basic YTpi", &token, &format!("Bearer{token}"), &format!("Bearer {token}x")]
            .map(|value| value.as_bytes().to_vec())
            .to_vec();
    values.extend(
        [format!("Bearer {wrong}"), format!("Bearer {}", &token[1..]), format!("Bearer {token},{token}")].map(String::into_bytes),
    );
    values.push([b"Bearer ".as_slice(), &[0xc3; 43]].concat());
    values.push(format!("Bearer {}", "x".repeat(5_000)).into_bytes());
    let query = "mutation { signUp(input: { login: \"new\", name: \"n\", password: \"12345678\" }) { userErrors { code } } }";
    let keys = app.redis.keys();
    for value in values {
        let header = reqwest::header::HeaderValue::from_bytes(&value).expect("a header");
        let response = HttpResponse::fetch(app.post().header("authorization", header).json(&json!({ "query": query }))).await;
        assert_eq!(response.refusal(), (401, vec!["UNAUTHENTICATED".to_owned()], false), "{:?}", String::from_utf8_lossy(&value));
        assert_eq!(response.header("www-authenticate"), "Bearer error=\"invalid_token\"");
        assert_eq!(response.json()["errors"][0]["message"], INVALID_TOKEN);
    }
    let nobody = app.query("{ homeTimeline { syncCursor } }").await;
    assert_eq!(nobody.json()["errors"][0]["message"], "Log in first: this requires a session.");
    assert_eq!((nobody.status, nobody.header("www-authenticate")), (200, ""));
    assert_eq!(app.redis.keys(), keys, "nothing was executed");
    let lower = HttpResponse::fetch(
        app.post().header("authorization", format!("bEARER {token}")).json(&json!({ "query": "{ viewer { login } }" })),
    );
    assert_eq!(lower.await.json()["data"]["viewer"]["login"], "ada");
}
