//! Processes that stall for longer than their lease, or die when there is no journal entry: another process finds their incomplete changes and settles them.

use super::passwords::{device_token, outdated_hash};
use super::{
    DAY_MS, RIGHT, another_session, assert_no_findings, assert_refused, change_login, change_password, claims_of, found_by,
    log_in, session_ids, sessions_of, sign_up,
};
use crate::process_races::{SlowProcess, single_server};
use crate::support::monitor::Monitor;
use crate::support::{Actor, TestApp, error_codes, findings, references, user_error_codes};
use serde_json::{Value, json};
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::error::{Error, Refusal};
use waxwing::base::ids::UserId;
use waxwing::cli::fsck::{self, AuditOptions};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::users::service::{self as users, Credentials};

const NEW: &str = "battery staple";

async fn repair(app: &App) {
    let options = AuditOptions { home_window: Some(app.config().home_window), pause: Duration::ZERO, ..AuditOptions::default() };
    fsck::repair(app, options, false, |_| ()).await.expect("a store");
}

fn key(kind: &str, id: UserId) -> String {
    format!("{kind}:{{{}}}", id.0)
}

/// The digests of the listed sessions of an account, the oldest first.
fn listed(app: &TestApp, id: UserId) -> Vec<String> {
    app.redis.run(&["ZRANGE", &key("sessions", id), "0", "-1"])
}

/// Moves the newest session to those that a change of the password ends, as a process does directly before it dies.
fn leave_ended(app: &TestApp, id: UserId) -> String {
    let digest = listed(app, id).pop().expect("a session");
    let score: String = app.redis.run(&["ZSCORE", &key("sessions", id), &digest]);
    app.redis.run::<()>(&["ZADD", &key("sessions_ended", id), &score, &digest]);
    app.redis.run::<()>(&["PEXPIRE", &key("sessions_ended", id), "1000000"]);
    app.redis.run::<()>(&["ZREM", &key("sessions", id), &digest]);
    digest
}

#[tokio::test]
async fn sessions_that_a_dead_process_should_have_ended_are_ended_by_the_next_request_for_them() {
    for way in ["viewerSessions", "logIn", "endSessions", "changePassword", "deleteAccount", "fsck"] {
        let app = TestApp::start().await;
        let ada = app.user("ada").await;
        let second = another_session(&app, &ada).await;
        leave_ended(&app, ada.user_id());
        let answers = async || second.gql("{ viewer { login } }", json!({})).await["data"]["viewer"]["login"] == "ada";
        assert!(answers().await, "{way}: it is alive, and not listed");
        match way {
            "viewerSessions" => assert_eq!(sessions_of(&ada).await.map(|all| all.len()), Some(1)),
            "logIn" => assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), [""; 0]),
            "endSessions" => drop(ada.mutate_ok("endSessions", json!({ "allOthers": true }), "").await),
            "changePassword" => assert_eq!(session_ids(&change_password(&ada, RIGHT, NEW).await).len(), 1),
            "deleteAccount" => drop(ada.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "").await),
            _ => {
                let found = findings(&app.app).await;
                assert!(found.len() == 1 && found[0].contains("that a change of the password has ended"), "{found:?}");
                repair(&app.app).await;
            }
        }
        assert!(!answers().await, "{way}");
        assert!(!app.redis.keys().iter().any(|key| key.starts_with("sessions_ended:")), "{way}");
        if way != "deleteAccount" {
            assert_no_findings(&app, way).await;
        }
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_read_ends_like_others() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let break_newest = async |ada: &Actor| {
        another_session(&app, ada).await;
        let digest = listed(&app, ada.user_id()).pop().expect("a session");
        app.redis.run::<()>(&["HSET", &format!("session:{{{digest}}}"), "seen", "never"]);
    };
    break_newest(&ada).await;
    assert_eq!(session_ids(&change_password(&ada, RIGHT, NEW).await).len(), 1);
    break_newest(&ada).await;
    leave_ended(&app, ada.user_id());
    ada.mutate_ok("deleteAccount", json!({ "password": NEW }), "").await;
    app.drain().await;
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("session")), "{:?}", app.redis.keys());
}

/// A process that dies between two of the steps leaves the session in the list of those that end.
#[tokio::test]
async fn a_session_is_deleted_and_its_end_published_before_the_list_forgets_it() {
    let app = single_server().await;
    let ada = app.user("ada").await;
    another_session(&app, &ada).await;
    let digest = listed(&app, ada.user_id()).pop().expect("a session");
    let monitor = Monitor::start(&app.redis);
    change_password(&ada, RIGHT, NEW).await;
    app.drain().await;
    let commands = monitor.end(&app.redis);
    let at = |name: &str, key: String| {
        let is_it =
            |words: &Vec<Vec<u8>>| words[0].eq_ignore_ascii_case(name.as_bytes()) && words.contains(&key.clone().into_bytes());
        commands.iter().position(is_it).unwrap_or_else(|| panic!("{name} {key}"))
    };
    let [ended, changes] = ["sessions_ended", "changes"].map(|kind| key(kind, ada.user_id()));
    let steps = [at("UNLINK", format!("session:{{{digest}}}")), at("EVALSHA", changes), at("ZREM", ended)];
    assert!(steps.is_sorted(), "{steps:?}");
}

/// A worker settles a session whose log-in has verified the password before it was changed.
#[tokio::test]
async fn a_worker_lists_no_session_of_another_epoch() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let id = ada.user_id();
    app.redis.run::<()>(&["HSET", &key("user", id), "devices", "7"]);
    for (epoch, is_listed, stays) in [
        (Some("7"), false, true),
        (None, false, true),
        (Some(""), true, true),
        (Some(""), false, false),
        (Some("8"), false, false),
    ] {
        let second = another_session(&app, &ada).await;
        let digest = listed(&app, id).pop().expect("a session");
        if !is_listed {
            app.redis.run::<()>(&["ZREM", &key("sessions", id), &digest]);
        }
        sessions::settle(&app.app, id, &digest, false, epoch).await.expect("a store");
        let case = format!("{epoch:?} {is_listed}");
        assert_eq!(sessions_of(&second).await.is_some(), stays, "{case}");
        assert_eq!(listed(&app, id).contains(&digest), stays, "{case}");
    }
}

/// The epoch of device tokens is read before the hash: so a concurrent change never gives the former hash with the new epoch.
#[tokio::test]
async fn a_password_that_changes_between_two_reads_begins_no_session_with_the_one_before() {
    // Before the rest of the one read, and of the other: one of the two is between them in any order.
    for at in [&b"devices"[..], b"password:"] {
        let app = single_server().await;
        let slow = SlowProcess::start(&app).await;
        let ada = app.user("ada").await;
        let credentials = Credentials { login: "ada", password: RIGHT, device_token: None };
        let change = async || drop(change_password(&ada, RIGHT, NEW).await);
        let result = slow.run_split(at, sessions::log_in(&slow.app, credentials, None, None), change).await;
        assert!(matches!(result, Err(Refusal::User(_))), "{result:?}");
        assert_eq!(sessions_of(&ada).await.map(|all| all.len()), Some(1));
    }
}

/// Another log-in replaces the hash at the same time.
#[tokio::test]
async fn a_log_in_concurrent_with_a_rehash_gets_a_valid_device_token() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    app.redis.run::<()>(&["SET", &key("password", ada.user_id()), &outdated_hash(RIGHT)]);
    let credentials = Credentials { login: "ada", password: RIGHT, device_token: None };
    let other = async || drop(device_token(&app, RIGHT, None).await);
    let logged_in = slow.run_interleaved(b"password:", sessions::log_in(&slow.app, credentials, None, None), other).await;
    let (account, _) = logged_in.expect("a session");
    assert_eq!(device_token(&app, RIGHT, Some(&account.device_token)).await, account.device_token, "it is known");
}

/// An account takes a login back that it had for long: the claim is new.
#[tokio::test]
async fn a_repair_during_a_change_back_leaves_its_claim() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    app.clock.advance(DAY_MS);
    change_login(&ada, "lovelace").await;
    app.drain().await;
    for is_settled in [false, true] {
        let changing = users::change_login(&slow.app, ada.user_id(), if is_settled { "lovelace" } else { "ada" }, RIGHT, None);
        let meanwhile = async || {
            if is_settled {
                app.clock.advance(61_000);
                app.drain().await;
            }
            repair(&app.app).await;
        };
        // Before the commit, whose script has the login before in the history.
        let at: &[u8] = if is_settled { b" ada:" } else { b" lovelace:" };
        slow.run_split(at, changing, meanwhile).await.expect("a change");
        let expected = if is_settled { "lovelace" } else { "ada" };
        assert_eq!((found_by(&app, "ada").await, found_by(&app, "lovelace").await), (json!(expected), json!(expected)));
        assert_no_findings(&app, expected).await;
        app.clock.advance(31 * DAY_MS);
    }
}

/// Writes the claim of a change whose journal entry was settled before.
fn leave_claim(app: &TestApp, actor: &Actor, login: &str) {
    let (id, claims) = (actor.user_id().0, claims_of(login));
    let period = format!("{id}:{}:0:1", app.app.now());
    app.redis.run::<()>(&["HSET", &claims, login, &id.to_string(), &format!("{login}@"), &period]);
    app.redis.run::<()>(&["HSET", &key("user", actor.user_id()), "logins", "1"]);
}

#[tokio::test]
async fn a_claim_of_a_stalled_process_is_withdrawn() {
    for way in ["changeLogin", "signUp", "fsck"] {
        let app = TestApp::start().await;
        let [ada, bea] = app.users(["ada", "bea"]).await;
        app.clock.advance(61_000);
        leave_claim(&app, &ada, "lovelace");
        app.clock.advance(9_000);
        assert_refused(&change_login(&bea, "lovelace").await, "LOGIN_TAKEN", &["login"]);
        assert_refused(&sign_up(&app, "lovelace").await, "LOGIN_TAKEN", &["login"]);
        app.clock.advance(60_000);
        match way {
            "changeLogin" => assert_eq!(change_login(&bea, "lovelace").await["user"]["login"], "lovelace"),
            "signUp" => assert_eq!(user_error_codes(&sign_up(&app, "lovelace").await), [""; 0]),
            _ => {
                let found = findings(&app.app).await;
                assert!(found.len() == 1 && found[0].contains("which has another login"), "{found:?}");
                repair(&app.app).await;
                assert_eq!(found_by(&app, "lovelace").await, Value::Null);
            }
        }
        assert_no_findings(&app, way).await;
        assert_eq!(change_login(&ada, "countess").await["user"]["login"], "countess", "{way}: it can change its login");
        assert_no_findings(&app, way).await;
    }
}

#[tokio::test]
async fn a_login_whose_claim_is_lost_stays_taken() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    change_login(&ada, "lovelace").await;
    app.clock.advance(61_000);
    app.redis.run::<()>(&["HDEL", &claims_of("lovelace"), "lovelace"]);
    assert_refused(&change_login(&bea, "lovelace").await, "LOGIN_TAKEN", &["login"]);
    assert_refused(&sign_up(&app, "lovelace").await, "LOGIN_TAKEN", &["login"]);
    assert_eq!(user_error_codes(&log_in(&app, "lovelace", RIGHT).await), [""; 0]);
    repair(&app.app).await;
    assert_no_findings(&app, "a lost claim").await;
}

/// The login is changed after a worker, or a repair, has read the account, and before it claims the login that it has read.
#[tokio::test]
async fn a_login_that_was_just_given_up_is_not_claimed_again() {
    for is_repair in [false, true] {
        let app = single_server().await;
        let slow = SlowProcess::start(&app).await;
        let ada = app.user("ada").await;
        let settling = async {
            if is_repair {
                users::claim_login(&slow.app, ada.user_id()).await
            } else {
                users::reconcile_logins(&slow.app, ada.user_id(), "ada", &[]).await
            }
        };
        let change = async || drop(change_login(&ada, "lovelace").await);
        slow.run_interleaved(b"HGETALL", settling, change).await.expect("a store");
        assert_no_findings(&app, "a login that was given up").await;
        assert_eq!((found_by(&app, "ada").await, found_by(&app, "lovelace").await), (json!("lovelace"), json!("lovelace")));
        app.clock.advance(31 * DAY_MS);
        assert_eq!(user_error_codes(&sign_up(&app, "ada").await), [""; 0], "it is free after 30 days");
    }
}

#[tokio::test]
async fn former_logins_that_cannot_be_read_loop_nowhere() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    app.redis.run::<()>(&["HSET", &key("user", ada.user_id()), "logins", "some"]);
    let within = |work| tokio::time::timeout(Duration::from_secs(20), work);
    let input = json!({ "input": { "login": "lovelace", "password": RIGHT } });
    let refused = within(ada.run("ChangeLogin", input)).await.expect("it ends");
    assert_eq!(error_codes(&refused), ["INTERNAL_SERVER_ERROR"]);
    let settled = users::settle_login_change(&app.app, ada.user_id(), ("lovelace", "ada"), 1);
    let settled = tokio::time::timeout(Duration::from_secs(20), settled).await.expect("it ends");
    assert!(settled.is_err_and(|error| matches!(error, Error::Internal(_)) && format!("{error:?}").contains("former logins")));
    repair(&app.app).await;
    assert_eq!(change_login(&ada, "lovelace").await["user"]["login"], "lovelace");
    app.redis.run::<()>(&["HSET", &key("user", ada.user_id()), "logins", "some"]);
    let delete = ada.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "");
    tokio::time::timeout(Duration::from_secs(20), delete).await.expect("it ends");
    app.drain().await;
    assert_eq!(found_by(&app, "lovelace").await, Value::Null);
}

/// The account is deleted after a process has read that it has changed its login, and before it ends the claim of the old one.
#[tokio::test]
async fn the_end_of_a_claim_after_a_deletion_names_nobody() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    let id = ada.user_id();
    let deletion = async || {
        accounts::delete_unchecked(&app.app, id, "ada").await.expect("a store");
        app.drain().await;
    };
    // Only the end of its claim has the key of the old login.
    assert_eq!(claims_of("ada"), "users:{3515}");
    let _ = slow.run_split(b"users:{3515}", users::change_login(&slow.app, id, "lovelace", RIGHT, None), deletion).await;
    slow.app.drain().await;
    assert_eq!(references(&app.app, id).await, [""; 0]);
    let dump = app.redis.dump();
    assert!(!dump.contains("ada@") && !dump.contains(&id.0.to_string()), "{dump}");
    assert_no_findings(&app, "a deletion").await;
}
