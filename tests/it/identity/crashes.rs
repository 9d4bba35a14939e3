//! Crashes between any two writes of a change of a password or a login: the change is made or not, and nobody is locked out.

use super::{RIGHT, another_session, found_by, log_in, sessions_of};
use crate::support::{
    Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings, user_error_codes,
};
use serde_json::Value;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Outcome;
use waxwing::base::viewer::Viewer;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::sessions::service::{self as sessions, PasswordChange};
use waxwing::domains::users::service as users;

const NEW: &str = "battery staple";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Password,
    Login,
    /// Back to the login that is reserved.
    LoginBack,
    Case,
}

struct World {
    ada: Actor,
    second: Actor,
    viewer: Viewer,
}

impl World {
    async fn make(app: &TestApp, change: Change) -> Self {
        let ada = app.user("ada").await;
        let second = another_session(app, &ada).await;
        if change == Change::LoginBack {
            assert_eq!(super::change_login(&ada, "lovelace").await["user"]["login"], "lovelace");
        }
        let token = ada.token.as_deref().expect("a token");
        let viewer = sessions::viewer(&app.app, app.app.db().read_barrier(), token).await.expect("a store").expect("a session");
        Self { ada, second, viewer }
    }

    async fn apply(&self, app: &App, change: Change) -> Outcome<()> {
        let id = self.viewer.user;
        match change {
            Change::Password => {
                let input = PasswordChange { current: RIGHT, new: NEW, device_token: None };
                sessions::change_password(app, &self.viewer, input).await.map(drop)
            }
            Change::Login => users::change_login(app, id, "lovelace", RIGHT, None).await.map(drop),
            Change::LoginBack => users::change_login(app, id, "ada", RIGHT, None).await.map(drop),
            Change::Case => users::change_login(app, id, "ADA", RIGHT, None).await.map(drop),
        }
    }

    /// Whether the change was made. Panics if it is incomplete.
    async fn is_applied(&self, app: &TestApp, change: Change, when: &str) -> bool {
        let can_log_in = async |login: &str, password: &str| user_error_codes(&log_in(app, login, password).await).is_empty();
        if change == Change::Password {
            let is_new = can_log_in("ada", NEW).await;
            assert_eq!(can_log_in("ada", RIGHT).await, !is_new, "{when}: one password");
            assert_eq!(sessions_of(&self.second).await.is_none(), is_new, "{when}: the other session");
            assert!(sessions_of(&self.ada).await.is_some(), "{when}: the session that asked");
            return is_new;
        }
        let (before, after) = match change {
            Change::LoginBack => ("lovelace", "ada"),
            Change::Case => ("ada", "ADA"),
            _ => ("ada", "lovelace"),
        };
        let now = found_by(app, before).await;
        assert!(now == before || now == after, "{when}: {now}");
        let is_new = now == after;
        let reserved_back = change == Change::LoginBack && !is_new;
        let expected = if is_new || change == Change::Case {
            now.clone()
        } else if reserved_back {
            before.into()
        } else {
            Value::Null
        };
        assert_eq!(found_by(app, after).await, expected, "{when}: the new login");
        assert!(can_log_in(before, RIGHT).await, "{when}: locked out");
        let by_new = is_new || matches!(change, Change::LoginBack | Change::Case);
        assert_eq!(can_log_in(after, RIGHT).await, by_new, "{when}: by the new login");
        is_new
    }
}

async fn crash_at_each_write(change: Change) {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let world = World::make(&app, change).await;
    app.drain().await;
    assert!(!world.is_applied(&app, change, "before").await);
    app.drain().await;
    let before = app.redis.snapshot();
    let mut outcomes = [0, 0];
    for writes in cut_offs(2) {
        let when = format!("{change:?} after {writes} writes");
        app.redis.restore(&before);
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), Config::default());
        let acknowledged = world.apply(&crashing, change).await.is_ok();
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        if acknowledged {
            assert!(world.is_applied(&app, change, &when).await, "{when}: the acknowledged change is lost");
        }
        app.clock.advance(10_000);
        app.drain().await;
        let is_applied = world.is_applied(&app, change, &when).await;
        assert!(is_applied || !acknowledged, "{when}: the acknowledged change is lost later");
        outcomes[usize::from(is_applied)] += 1;
        app.drain().await;
        app.clock.advance(61_000);
        let found = findings(&app.app).await;
        assert!(found.is_empty(), "{when}: {found:#?}");
        if !is_applied {
            // The account can make the change again, and another account can take the login that it did not take.
            assert!(world.apply(&app.app, change).await.is_ok(), "{when}: the repeated change");
            app.drain().await;
            assert!(world.is_applied(&app, change, &when).await, "{when}: the repeated change");
        }
        if !crash_proxy.has_cut() {
            assert!(acknowledged && outcomes.iter().all(|count| *count > 0), "{when}: {outcomes:?}");
            return;
        }
    }
}

#[tokio::test]
async fn a_change_of_a_password_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Password).await;
}

#[tokio::test]
async fn a_change_of_a_login_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Login).await;
}

#[tokio::test]
async fn a_change_back_to_a_former_login_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::LoginBack).await;
}

#[tokio::test]
async fn a_change_of_case_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Case).await;
}
