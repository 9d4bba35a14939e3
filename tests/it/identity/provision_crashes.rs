//! Crashes between any two writes of the mutations of a backend: each change is made or not, nobody is locked out, and the external id is usable.

use super::{emails_of, found_by, log_in};
use crate::support::{
    Actor, CrashProxy, LONG_TIMEOUTS, MailServer, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings,
    user_error_codes,
};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::error::Outcome;
use waxwing::base::external_id::ExternalId;
use waxwing::base::ids::UserId;
use waxwing::base::server_key::{Scope, ServerKey};
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::identities::service::{self as identities, ExternalAccount, Revocation};
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::users::service::{AccountInput, Change as Field};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// With a login and a confirmed address.
    Create,
    /// With a derived login and a pending address, and an idempotency key.
    CreatePending,
    /// Another login, another confirmed address and another name.
    Update,
    /// Another login, and another pending address.
    Request,
    /// The address is taken away.
    Clear,
    Revoke,
    Remove,
}

impl Change {
    const fn is_creation(self) -> bool {
        matches!(self, Self::Create | Self::CreatePending)
    }
}

fn external_id() -> ExternalId {
    ExternalId::parse("7").expect("an external id")
}

fn account(login: Option<&str>, email: Field<String>, is_email_confirmed: bool, name: &str) -> AccountInput {
    let (login, name) = (login.map(str::to_owned), Some(name.to_owned()));
    AccountInput { login, name, email, is_email_confirmed, avatar_url: Field::Keep }
}

async fn provision(app: &App, account: AccountInput, key: Option<&str>) -> Outcome<()> {
    let server_key = ServerKey { name: "crm".into(), scopes: vec![Scope::Users] };
    let input = ExternalAccount { external_id: "7".into(), account, idempotency_key: key.map(str::to_owned) };
    identities::provision_user(app, &server_key, input).await.map(drop)
}

async fn apply(app: &App, change: Change) -> Outcome<()> {
    let set = |address: &str| Field::Set(address.to_owned());
    match change {
        Change::Create => provision(app, account(Some("ada"), set("old@example.org"), true, "n"), None).await,
        Change::CreatePending => provision(app, account(None, set("new@example.org"), false, "n"), Some("once")).await,
        Change::Update => provision(app, account(Some("lovelace"), set("new@example.org"), true, "New"), None).await,
        Change::Request => provision(app, account(Some("lovelace"), set("new@example.org"), false, "New"), None).await,
        Change::Clear => provision(app, account(None, Field::Clear, false, "New"), None).await,
        Change::Revoke => identities::revoke(app, Revocation::Account("7")).await.map(drop),
        Change::Remove => accounts::remove_user(app, "7").await.map(drop),
    }
}

struct World {
    /// A session of the account before the change.
    ada: Option<Actor>,
    before: Option<UserId>,
}

impl World {
    async fn make(app: &TestApp, change: Change) -> Self {
        if change.is_creation() {
            // A store that is empty cannot be restored.
            app.user("cyd").await;
            return Self { ada: None, before: None };
        }
        apply(&app.app, Change::Create).await.expect("an account");
        let id = identities::find(&app.app, &external_id()).await.expect("a store").expect("an account");
        let session = sessions::create(&app.app, id, None).await.expect("a session");
        let ada = app.anonymous().with_token(&session.token);
        Self { ada: Some(ada), before: Some(id) }
    }

    /// Whether the change was made. Panics if it is incomplete.
    async fn is_applied(&self, app: &TestApp, change: Change, when: &str) -> bool {
        let found = identities::find(&app.app, &external_id()).await.expect("a store");
        if change == Change::Remove {
            assert_eq!(found_by(app, "ada").await, if found.is_some() { json!("ada") } else { Value::Null }, "{when}");
            return found.is_none();
        }
        if change == Change::Revoke {
            let is_live = super::sessions_of(self.ada.as_ref().expect("a session")).await.is_some();
            assert_eq!(found, self.before, "{when}");
            return !is_live;
        }
        let Some(id) = found else {
            assert!(change.is_creation(), "{when}: the account is lost");
            assert_eq!((found_by(app, "ada").await, found_by(app, "7").await), (Value::Null, Value::Null), "{when}");
            return false;
        };
        let session = sessions::create(&app.app, id, None).await.expect("a session");
        let ada = app.anonymous().with_token(&session.token);
        let emails = emails_of(&ada).await;
        let mut user = ada.gql("{ viewer { login name } }", json!({})).await["data"]["viewer"].take();
        ada.run("LogOut", json!({})).await;
        let login = user["login"].take().as_str().expect("a login").to_owned();
        assert_eq!(found_by(app, &login).await, login.as_str(), "{when}");
        // Without a password nobody logs in.
        assert_eq!(user_error_codes(&log_in(app, &login, super::RIGHT).await), ["WRONG_CREDENTIALS"], "{when}");
        let state = (login.as_str(), user["name"].as_str().expect("a name"), emails);
        let address = |name: &str| json!(format!("{name}@example.org"));
        let created = ("ada", "n", (address("old"), Value::Null));
        let expected = match change {
            Change::Create => return assert_state(&state, &created, when),
            Change::CreatePending => return assert_state(&state, &("7", "n", (Value::Null, address("new"))), when),
            Change::Update => ("lovelace", "New", (address("new"), Value::Null)),
            Change::Request => ("lovelace", "New", (address("old"), address("new"))),
            _ => ("ada", "New", (Value::Null, Value::Null)),
        };
        if state == created {
            return false;
        }
        assert_state(&state, &expected, when)
    }
}

type State<'a> = (&'a str, &'a str, (Value, Value));

fn assert_state(state: &State<'_>, expected: &State<'_>, when: &str) -> bool {
    assert_eq!(state, expected, "{when}: it is whole");
    true
}

async fn crash_at_each_write(change: Change) {
    let (redis, mail) = (Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)), MailServer::start().await);
    let config = mail.config();
    let app = TestApp::on_redis(redis, Clock::manual(START), config.clone()).await;
    let world = World::make(&app, change).await;
    app.drain().await;
    assert!(!world.is_applied(&app, change, "before").await);
    app.drain().await;
    let (before, mut outcomes) = (app.redis.snapshot(), [0, 0]);
    for writes in cut_offs(2) {
        let when = format!("{change:?} after {writes} writes");
        app.redis.restore(&before);
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), config.clone());
        let acknowledged = apply(&crashing, change).await.is_ok();
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        if acknowledged {
            assert!(world.is_applied(&app, change, &when).await, "{when}: the acknowledged change is lost");
        }
        app.clock.advance(10_001);
        app.drain().await;
        let is_applied = world.is_applied(&app, change, &when).await;
        assert!(is_applied || !acknowledged, "{when}: the acknowledged change is lost later");
        outcomes[usize::from(is_applied)] += 1;
        app.drain().await;
        app.clock.advance(61_000);
        let found = findings(&app.app).await;
        assert!(found.is_empty(), "{when}: {found:#?}");
        // The backend repeats the change, also if it was made.
        if !is_applied || change != Change::Remove {
            assert!(apply(&app.app, change).await.is_ok(), "{when}: the repeated change");
            app.drain().await;
            assert!(world.is_applied(&app, change, &when).await, "{when}: the repeated change");
        }
        if change == Change::Remove {
            assert!(provision(&app.app, account(Some("bea"), Field::Keep, false, "n"), None).await.is_ok(), "{when}");
            let new = identities::find(&app.app, &external_id()).await.expect("a store");
            assert!(new.is_some() && new != world.before, "{when}: a new account");
        }
        if !crash_proxy.has_cut() {
            assert!(acknowledged && outcomes.iter().all(|count| *count > 0), "{when}: {outcomes:?}");
            return;
        }
    }
}

#[tokio::test]
async fn a_new_account_with_a_confirmed_address_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Create).await;
}

#[tokio::test]
async fn a_new_account_with_a_pending_address_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::CreatePending).await;
}

#[tokio::test]
async fn a_change_of_login_address_and_name_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Update).await;
}

#[tokio::test]
async fn a_request_for_an_address_by_a_backend_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Request).await;
}

#[tokio::test]
async fn a_removal_of_addresses_by_a_backend_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Clear).await;
}

#[tokio::test]
async fn a_revocation_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Revoke).await;
}

#[tokio::test]
async fn a_removal_of_an_account_may_be_interrupted_at_any_step() {
    crash_at_each_write(Change::Remove).await;
}
