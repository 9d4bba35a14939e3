//! Crashes between any two writes of the first sight of a `sub`: its account is created or not, and the next token works.

use super::super::provision_races::accounts;
use super::super::{assert_no_findings, confirmed, emails_of, found_by};
use super::{ISSUER, KeyServer, SigningKey, World, config};
use crate::support::{CrashProxy, LONG_TIMEOUTS, MailServer, RedisServer, START, SingleServerReason, TestApp, cut_offs};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::external_id::ExternalId;
use waxwing::base::ids::UserId;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::identities::service::{self as identities, jwt as tokens};
use waxwing::platform::jwt::service as jwt;

const SUB: &str = "User-7";

/// The claims of the first token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstSight {
    /// A login and a verified address, both free.
    Free,
    /// A login and a verified address of another account.
    Taken,
    /// No more than a token needs.
    Bare,
}

impl FirstSight {
    /// A token that is valid now.
    fn token(self, world: &World) -> String {
        let profile = json!({
            "preferred_username": "ada", "name": "Ada", "email": "ada@example.org", "email_verified": true,
        });
        world.token_with(SUB, if self == Self::Bare { json!({}) } else { profile })
    }

    /// A server that has fetched the keys, on a store with one account.
    async fn world(self, mail: &MailServer) -> (World, Config) {
        let key = SigningKey::ed25519("first");
        let server = KeyServer::start(&[&key]).await;
        let config = Config { jwt: config(&server.url, true).jwt, ..mail.config() };
        let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
        let app = TestApp::on_redis(redis, Clock::manual(START), config.clone()).await;
        jwt::start(&app.app).await;
        if self == Self::Taken {
            confirmed(&app, mail, "ada", "ada@example.org").await;
        } else {
            app.user("cyd").await;
        }
        app.drain().await;
        (World { app, server, key }, config)
    }

    /// Asserts that nothing is left of the account that was not created.
    async fn assert_not_created(self, world: &World, when: &str) {
        assert_eq!(accounts(&world.app), 1, "{when}");
        let login = if self == Self::Bare { "user" } else { "ada" };
        let expected = if self == Self::Taken { json!("ada") } else { Value::Null };
        assert_eq!(found_by(&world.app, login).await, expected, "{when}: the login");
    }

    /// Asserts that a token works, and that its account is the only new one and has what the claims say.
    async fn assert_account(self, world: &World, token: &str, when: &str) {
        let client = world.client(token);
        let response = client.gql("{ viewer { login name } }", json!({})).await;
        let viewer = &response["data"]["viewer"];
        let login = viewer["login"].as_str().unwrap_or_else(|| panic!("{when}: {response}"));
        let is_expected = match self {
            Self::Free => login == "ada",
            Self::Taken => login.starts_with("ada_") && login.len() == "ada_".len() + 5,
            Self::Bare => login == "user",
        };
        assert!(is_expected, "{when}: {login}");
        assert_eq!(viewer["name"], if self == Self::Bare { "user" } else { "Ada" }, "{when}");
        assert_eq!(found_by(&world.app, login).await, login, "{when}");
        let email = if self == Self::Free { json!("ada@example.org") } else { Value::Null };
        assert_eq!(emails_of(&client).await, (email, Value::Null), "{when}");
        let account = client.run("MyAccount", json!({})).await["data"]["viewerAccount"].take();
        let identity = &account["identities"][0];
        assert_eq!((&identity["issuer"], &identity["subject"]), (&json!(ISSUER), &json!(SUB)), "{when}");
        assert_eq!(account["hasPassword"], false, "{when}");
        assert_eq!(accounts(&world.app), 2, "{when}: one account of the token");
    }
}

async fn found(world: &World) -> Option<UserId> {
    let id = ExternalId::parse(SUB).expect("an external id");
    identities::find(&world.app.app, &id).await.expect("a store")
}

/// Shows a token to a process that dies after this many writes. Returns whether the token was accepted, and whether the process has died.
async fn show_to_dying_process(world: &World, config: &Config, token: &str, writes: usize) -> (bool, bool) {
    // The first write keeps the keys of the issuer.
    let crash_proxy = CrashProxy::start(&world.app.redis, writes + 1).await;
    let target = world.app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
    let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
    let crashing = App::new(Db::open(&target, timing).await.expect("a store"), world.app.clock.clone(), config.clone());
    jwt::start(&crashing).await;
    let is_accepted = tokens::viewer(&crashing, crashing.db().read_barrier(), token).await.is_ok();
    crashing.drain().await;
    let _ = workers::drain(&crashing).await;
    (is_accepted, crash_proxy.has_cut())
}

async fn crash_at_each_write(first_sight: FirstSight) {
    let mail = MailServer::start().await;
    let (world, config) = first_sight.world(&mail).await;
    let (before, mut outcomes) = (world.app.redis.snapshot(), [0, 0]);
    for writes in cut_offs(2) {
        let when = format!("{first_sight:?} after {writes} writes");
        world.app.redis.restore(&before);
        let token = first_sight.token(&world);
        let (is_accepted, has_cut) = show_to_dying_process(&world, &config, &token, writes).await;
        if is_accepted {
            first_sight.assert_account(&world, &token, &when).await;
        }
        world.app.clock.advance(10_001);
        world.app.drain().await;
        let created = found(&world).await;
        assert!(created.is_some() || !is_accepted, "{when}: the account is lost");
        outcomes[usize::from(created.is_some())] += 1;
        if created.is_none() {
            first_sight.assert_not_created(&world, &when).await;
        }
        assert_no_findings(&world.app, &when).await;
        // The client shows its token again.
        first_sight.assert_account(&world, &token, &when).await;
        assert!(created.is_none() || created == found(&world).await, "{when}: the same account");
        assert_no_findings(&world.app, &when).await;
        if !has_cut {
            assert!(is_accepted && outcomes.iter().all(|count| *count > 0), "{when}: {outcomes:?}");
            return;
        }
    }
}

#[tokio::test]
async fn a_first_sight_with_a_login_and_an_address_may_be_interrupted_at_any_step() {
    crash_at_each_write(FirstSight::Free).await;
}

#[tokio::test]
async fn a_first_sight_with_a_taken_login_and_address_may_be_interrupted_at_any_step() {
    crash_at_each_write(FirstSight::Taken).await;
}

#[tokio::test]
async fn a_first_sight_with_bare_claims_may_be_interrupted_at_any_step() {
    crash_at_each_write(FirstSight::Bare).await;
}
