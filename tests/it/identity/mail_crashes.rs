//! Crashes between any two writes of a change of a mail address, or of a reset: the change is made or not, and the address belongs to one account or to none.

use super::{RIGHT, change_email, confirm_email, confirmed, emails_of, log_in, request_reset};
use crate::support::{
    Actor, CrashProxy, LONG_TIMEOUTS, MailServer, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings,
    user_error_codes,
};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::error::Outcome;
use waxwing::base::ids::UserId;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::users::service as users;

const NEW: &str = "battery staple";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// `new@example.org` is asked for, beside the confirmed `old@example.org`.
    Request,
    Confirm,
    Remove,
    Reset,
}

struct World {
    ada: Actor,
    id: UserId,
    mail: MailServer,
    /// Of the confirmation, or of the reset.
    token: String,
}

impl World {
    async fn make(app: &TestApp, mail: MailServer, change: Change) -> Self {
        let ada = confirmed(app, &mail, "ada", "old@example.org").await;
        let mut token = String::new();
        if change == Change::Confirm {
            change_email(&ada, json!("new@example.org")).await;
            app.drain().await;
            token = mail.take().iter().find(|it| it.has_link()).expect("a link").token("/confirm-email");
        }
        if change == Change::Reset {
            request_reset(app, "old@example.org").await;
            app.drain().await;
            token = mail.take().pop().expect("a link").token("/reset-password");
        }
        Self { id: ada.user_id(), ada, mail, token }
    }

    async fn apply(&self, app: &App, change: Change) -> Outcome<()> {
        match change {
            Change::Request => users::change_email(app, self.id, Some("new@example.org"), RIGHT, (None, None)).await,
            Change::Confirm => users::confirm_email(app, &self.token).await.map(drop),
            Change::Remove => users::change_email(app, self.id, None, RIGHT, (None, None)).await,
            Change::Reset => sessions::reset_password(app, &self.token, NEW, None).await.map(drop),
        }
    }

    /// Whether the change was made. Panics if it is incomplete.
    async fn is_applied(&self, app: &TestApp, change: Change, when: &str) -> bool {
        let can_log_in = async |login: &str, password: &str| user_error_codes(&log_in(app, login, password).await).is_empty();
        if change == Change::Reset {
            let is_new = can_log_in("ada", NEW).await;
            assert_eq!(can_log_in("old@example.org", RIGHT).await, !is_new, "{when}: one password");
            assert_eq!(super::sessions_of(&self.ada).await.is_none(), is_new, "{when}: the session before");
            return is_new;
        }
        let (email, pending) = emails_of(&self.ada).await;
        for address in ["old@example.org", "new@example.org"] {
            assert_eq!(can_log_in(address, RIGHT).await, email == address, "{when}: {address}, where {email} is confirmed");
        }
        match change {
            Change::Request => {
                assert_eq!(email, "old@example.org", "{when}");
                pending == "new@example.org"
            }
            Change::Confirm => {
                let is_new = email == "new@example.org";
                assert!(is_new && pending.is_null() || email == "old@example.org" && pending == "new@example.org", "{when}");
                is_new
            }
            _ => email.is_null(),
        }
    }
}

async fn crash_at_each_write(change: Change) {
    let (redis, mail) = (Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)), MailServer::start().await);
    let config = mail.config();
    let app = TestApp::on_redis(redis, Clock::manual(START), config.clone()).await;
    let world = World::make(&app, mail, change).await;
    app.drain().await;
    assert!(!world.is_applied(&app, change, "before").await);
    app.drain().await;
    let (before, mut outcomes) = (app.redis.snapshot(), [0, 0]);
    for writes in cut_offs(2) {
        let when = format!("{change:?} after {writes} writes");
        app.redis.restore(&before);
        world.mail.take();
        if change == Change::Reset {
            // The clock has moved on since the link was sent.
            let until = (app.app.now() + 1_800_000).to_string();
            app.redis.run::<()>(&["HSET", &format!("email_reset:{{{}}}", world.id.0), "until", &until]);
        }
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), config.clone());
        let acknowledged = world.apply(&crashing, change).await.is_ok();
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        app.clock.advance(10_000);
        app.drain().await;
        let is_applied = world.is_applied(&app, change, &when).await;
        assert!(is_applied || !acknowledged, "{when}: the acknowledged change is lost");
        outcomes[usize::from(is_applied)] += 1;
        app.drain().await;
        // A message is sent at least once for a change that was made, and never for one that was not.
        let told: Vec<String> = world.mail.take().iter().map(|it| it.to.clone()).collect();
        assert_eq!(told.iter().any(|to| to == "old@example.org"), is_applied, "{when}: {told:?}");
        assert_eq!(told.iter().any(|to| to == "new@example.org"), is_applied && change == Change::Request, "{when}: {told:?}");
        app.clock.advance(61_000);
        let found = findings(&app.app).await;
        assert!(found.is_empty(), "{when}: {found:#?}");
        if !is_applied {
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
async fn a_request_for_an_address_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Request).await;
}

#[tokio::test]
async fn a_confirmation_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Confirm).await;
}

#[tokio::test]
async fn a_removal_of_an_address_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Remove).await;
}

#[tokio::test]
async fn a_reset_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Reset).await;
}

/// The account was created, or not; its address waits only if it was.
#[tokio::test]
async fn a_sign_up_with_an_address_may_be_interrupted_at_any_step() {
    let (redis, mail) = (Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)), MailServer::start().await);
    let app = TestApp::on_redis(redis, Clock::manual(START), mail.config()).await;
    app.user("bea").await;
    let before = app.redis.snapshot();
    for writes in cut_offs(2) {
        let when = format!("after {writes} writes");
        app.redis.restore(&before);
        mail.take();
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let db = Db::open(&target, Timing { connections: 1, ..LONG_TIMEOUTS }).await.expect("a store");
        let crashing = App::new(db, app.clock.clone(), mail.config());
        let email = Some("ada@example.org".to_owned());
        let registration = users::Registration { login: "ada".into(), name: "n".into(), password: RIGHT.into(), email };
        let acknowledged = users::sign_up(&crashing, registration, None).await.is_ok();
        crashing.drain().await;
        app.clock.advance(10_000);
        app.drain().await;
        let session = log_in(&app, "ada", RIGHT).await["session"].take();
        assert!(session.is_object() || !acknowledged, "{when}");
        let messages = mail.take();
        assert_eq!(!messages.is_empty(), session.is_object(), "{when}: {messages:?}");
        if let Some(message) = messages.last() {
            let ada = Actor::new(&app, Some(&session));
            assert_eq!(emails_of(&ada).await, (Value::Null, json!("ada@example.org")), "{when}");
            let confirmed = confirm_email(&ada, &message.token("/confirm-email")).await;
            assert_eq!(confirmed["account"]["email"], "ada@example.org", "{when}");
        }
        app.drain().await;
        app.clock.advance(61_000);
        let found = findings(&app.app).await;
        assert!(found.is_empty(), "{when}: {found:#?}");
        if !crash_proxy.has_cut() {
            assert!(acknowledged, "{when}");
            return;
        }
    }
}
