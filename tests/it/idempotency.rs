//! Idempotency keys: which results are stored, for how long, how many, and for which account.

use crate::support::{TestApp, user_error_codes};
use futures_util::future::join_all;
use serde_json::json;
use waxwing::app::App;

use waxwing::base::error::{Outcome, Refusal, UserErrorCode};
use waxwing::base::ids::UserId;
use waxwing::platform::idempotency::{IdempotentRequest, service};

const ADA: UserId = UserId(7);
/// As of the manual clock.
const DAY: i64 = 24 * 3_600_000;

/// A server with the accounts 7 and 8.
async fn start() -> TestApp {
    let app = TestApp::start().await;
    for account in [7, 8] {
        app.redis.run::<()>(&["HSET", &format!("user:{{{account}}}"), "id", &account.to_string()]);
    }
    app
}

async fn bind(app: &App, account: UserId, mutation: &str, key: &str, id: u64) -> u64 {
    tied(service::bind(app, account, &IdempotentRequest::new(mutation, key, "input"), id).await)
}

fn tied(outcome: Outcome<u64>) -> u64 {
    outcome.unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

/// The number of keys, in both hashes.
fn sizes(app: &TestApp) -> (usize, usize) {
    (app.redis.run(&["HLEN", "idempotency:{7}"]), app.redis.run(&["ZCARD", "idempotent:{7}"]))
}

#[tokio::test]
async fn an_idempotency_key_belongs_to_one_account_and_mutation() {
    let app = start().await;
    assert_eq!(bind(&app.app, ADA, "postStatus", "k", 1).await, 1);
    assert_eq!(bind(&app.app, ADA, "postStatus", "k", 2).await, 1);
    assert_eq!(bind(&app.app, ADA, "createUserList", "k", 3).await, 3, "two mutations do not meet");
    assert_eq!(bind(&app.app, UserId(8), "postStatus", "k", 4).await, 4, "nor do two accounts");
    assert_eq!(bind(&app.app, ADA, "postStatus", "l", 5).await, 5);
    let other = service::bind(&app.app, ADA, &IdempotentRequest::new("postStatus", "k", "other input"), 6).await;
    let Err(Refusal::User(rows)) = other else { panic!("{other:?}") };
    assert_eq!((rows.len(), rows[0].code), (1, UserErrorCode::IdempotencyMismatch));
    assert_eq!((rows[0].path.as_slice(), bind(&app.app, ADA, "postStatus", "k", 7).await), (["idempotencyKey"].as_slice(), 1));
}

#[tokio::test]
async fn one_of_many_concurrent_requests_is_first_on_all_servers() {
    let app = start().await;
    let other = app.sibling().await;
    for round in 0..20 {
        let key = round.to_string();
        let tries = (1..=20).map(|id| bind(if id % 2 == 0 { &app.app } else { &other.app }, ADA, "postStatus", &key, id));
        let ids = join_all(tries).await;
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
    assert_eq!(sizes(&app), (20, 20));
}

#[tokio::test]
async fn a_key_is_remembered_for_a_day_from_its_first_use() {
    let app = start().await;
    assert_eq!(bind(&app.app, ADA, "postStatus", "k", 1).await, 1);
    app.clock.advance(DAY - 1);
    assert_eq!(bind(&app.app, ADA, "postStatus", "k", 2).await, 1);
    app.clock.advance(1);
    assert_eq!(bind(&app.app, ADA, "postStatus", "k", 3).await, 3, "its use meanwhile is no matter");
    app.clock.advance(DAY - 1);
    assert_eq!(bind(&app.app, ADA, "postStatus", "k", 4).await, 3);
}

#[tokio::test]
async fn idempotency_records_expire_after_a_day_and_hold_no_plain_text() {
    let app = start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    let input = json!({ "message": "x", "idempotencyKey": "a-telling-key" });
    let post = async || ada.run("PostStatus", json!({ "input": input })).await["data"]["postStatus"].take();
    let first = post().await;
    assert_eq!(user_error_codes(&first), [""; 0]);
    assert!(!app.redis.dump().contains("a-telling-key"));
    let keys = app.redis.keys();
    for kind in ["idempotency:{", "idempotent:{"] {
        let key = keys.iter().find(|key| key.starts_with(kind)).expect("a note");
        for _ in 0..2 {
            let ttl: u64 = app.redis.run(&["PTTL", key]);
            assert!((86_340_000..=86_400_000).contains(&ttl), "{key}: {ttl}");
            app.redis.run::<()>(&["PEXPIRE", key, "90000"]);
            assert_eq!(post().await, first);
        }
    }
}

#[tokio::test]
async fn expired_keys_are_trimmed_in_hundreds_and_are_not_found() {
    let app = start().await;
    for id in 1..=150 {
        bind(&app.app, ADA, "postStatus", &id.to_string(), id).await;
        app.clock.advance(1);
    }
    app.clock.advance(DAY);
    // An expired key that its own call does not trim, since there are a hundred older ones.
    assert_eq!(bind(&app.app, ADA, "postStatus", "150", 1_150).await, 1_150);
    assert_eq!(sizes(&app), (50, 50));
    assert_eq!(bind(&app.app, ADA, "postStatus", "new", 2_000).await, 2_000);
    assert_eq!(sizes(&app), (2, 2));
    assert_eq!(bind(&app.app, ADA, "postStatus", "150", 3_000).await, 1_150);
}

#[tokio::test]
async fn the_oldest_keys_are_evicted_beyond_ten_thousand() {
    let app = start().await;
    bind(&app.app, ADA, "postStatus", "oldest", 1).await;
    app.clock.advance(1);
    bind(&app.app, ADA, "postStatus", "second", 2).await;
    let now = app.app.now() + 1;
    let fill = "for n = 3, 10000 do redis.call('HSET', KEYS[1], n, 'x 1') redis.call('ZADD', KEYS[2], ARGV[1] + n, n) end";
    app.redis.run::<redis::Value>(&["EVAL", fill, "2", "idempotency:{7}", "idempotent:{7}", &now.to_string()]);
    app.clock.advance(60_000);
    assert_eq!(bind(&app.app, ADA, "postStatus", "oldest", 3).await, 1, "ten thousand are kept");
    assert_eq!(bind(&app.app, ADA, "postStatus", "new", 4).await, 4, "a full set accepts a new key");
    assert_eq!(sizes(&app), (10_000, 10_000));
    assert_eq!(bind(&app.app, ADA, "postStatus", "second", 5).await, 2);
    assert_eq!(bind(&app.app, ADA, "postStatus", "oldest", 6).await, 6);
    // Keys from a server without the bound are trimmed a hundred at a time.
    let more =
        "for n = 1, 150 do redis.call('HSET', KEYS[1], 'm' .. n, 'x 1') redis.call('ZADD', KEYS[2], ARGV[1], 'm' .. n) end";
    app.redis.run::<redis::Value>(&["EVAL", more, "2", "idempotency:{7}", "idempotent:{7}", &now.to_string()]);
    assert_eq!(bind(&app.app, ADA, "postStatus", "more", 7).await, 7);
    assert_eq!(sizes(&app), (10_051, 10_051));
    assert_eq!(bind(&app.app, ADA, "postStatus", "and more", 8).await, 8);
    assert_eq!(sizes(&app), (10_000, 10_000));
}

#[tokio::test]
async fn the_key_of_a_failed_request_is_released_if_unchanged() {
    let app = start().await;
    let keyed = IdempotentRequest::new("postStatus", "k", "input");
    assert_eq!(tied(service::bind(&app.app, ADA, &keyed, 1).await), 1);
    service::release(&app.app, ADA, &keyed, 2).await.expect("a store");
    service::release(&app.app, ADA, &IdempotentRequest::new("postStatus", "k", "other input"), 1).await.expect("a store");
    assert_eq!(tied(service::bind(&app.app, ADA, &keyed, 3).await), 1, "keys of other accounts are kept");
    service::release(&app.app, ADA, &keyed, 1).await.expect("a store");
    assert_eq!(sizes(&app), (0, 0));
    assert_eq!(tied(service::bind(&app.app, ADA, &IdempotentRequest::new("postStatus", "k", "better input"), 4).await), 4);
}
