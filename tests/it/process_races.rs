//! Races of two processes: one is delayed between its reads and its writes, and meanwhile the other one changes the data that it has read.

mod follows;
mod homes;

use crate::ads;
use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, findings, references};
use serde_json::json;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::CampaignId;
use waxwing::db::{Db, Timing};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::graph::service as graph;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::Feed;

/// Starts a server on a single Redis: the proxy delays the only connection of the other process.
pub(crate) async fn single_server() -> TestApp {
    TestApp::on_redis(Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)), Clock::manual(START), small()).await
}

fn small() -> Config {
    Config { home_window: 20, star_followers: 4, ..Config::default() }
}

/// Another process on the same Redis. A proxy can delay its replies.
pub(crate) struct SlowProcess {
    pub(crate) app: App,
    proxy: Proxy,
}

impl SlowProcess {
    pub(crate) async fn start(app: &TestApp) -> Self {
        Self::with(app, Timing { connections: 1, ..LONG_TIMEOUTS }).await
    }

    async fn with(app: &TestApp, timing: Timing) -> Self {
        let proxy = Proxy::in_front_of(&app.redis).await;
        let target = app.redis.tcp_url(proxy.port).parse().expect("an address");
        let db = Db::open(&target, timing).await.expect("a store");
        let slow = Self { app: App::new(db, app.clock.clone(), small()), proxy };
        slow.app.next_id().await.expect("a store");
        slow
    }

    /// Runs `work`. Holds the replies of Redis from the first command with the bytes `at` on, until `meanwhile` has run.
    pub(crate) async fn run_interleaved<T>(
        &self,
        at: &'static [u8],
        work: impl Future<Output = T>,
        meanwhile: impl AsyncFnOnce(),
    ) -> T {
        self.proxy.set_after(at, Flow::Hold);
        let interleaved = async {
            while self.proxy.is_armed() {
                tokio::task::yield_now().await;
            }
            meanwhile().await;
            self.proxy.set(Flow::Pass, Flow::Pass);
        };
        tokio::join!(work, interleaved).0
    }

    /// Runs `work`. Splits its next pipeline before the last occurrence of the bytes `at`, and runs `meanwhile` between the two parts.
    pub(crate) async fn run_split<T>(
        &self,
        at: &'static [u8],
        work: impl Future<Output = T>,
        meanwhile: impl AsyncFnOnce(),
    ) -> T {
        self.proxy.cut_before(at);
        let interleaved = async {
            while !self.proxy.holds_requests() {
                tokio::task::yield_now().await;
            }
            meanwhile().await;
            self.proxy.set(Flow::Pass, Flow::Pass);
        };
        tokio::join!(work, interleaved).0
    }
}

/// The session ends after the settlement has read it and before the settlement writes the list of sessions.
#[tokio::test]
async fn a_session_that_ends_during_its_settlement_is_not_listed() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    let user = ada.user_id();
    let list = format!("sessions:{{{}}}", user.0);
    let listed = || app.redis.run::<Vec<String>>(&["ZRANGE", &list, "0", "-1"]);
    let digest = listed().pop().expect("a session");
    let settling = sessions::settle(&slow.app, user, &digest, false, None);
    let ends = async || {
        let response = ada.gql("mutation { logOut { userErrors { code } } }", json!({})).await;
        assert!(response.get("errors").is_none(), "{response}");
    };
    slow.run_interleaved(b"HGETALL", settling, ends).await.expect("a store");
    assert_eq!(listed(), [""; 0]);
    // The reverse: an existing session that is missing from the list is added again.
    let again = sessions::create(&app.app, user, None).await.expect("a session");
    let digest = listed().pop().expect("a session");
    app.redis.run::<()>(&["DEL", &list]);
    sessions::settle(&slow.app, user, &digest, false, None).await.expect("a store");
    assert_eq!((listed(), again.user), (vec![digest], user));
}

async fn post_statuses(app: &TestApp, author: &Actor, count: usize) {
    for number in 0..count {
        app.clock.advance(1_000);
        author.post(&format!("{} {number}", author.login)).await;
    }
}

async fn assert_complete(app: &TestApp, reader: &Actor, count: usize) {
    assert_eq!(reader.home().await.len(), count);
    app.drain().await;
    assert_eq!(reader.home().await.len(), count, "after the journal is drained");
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert_eq!(found, [""; 0]);
}

/// Creates a campaign with a banner and these keywords.
async fn campaign(app: &TestApp, keywords: &[&str]) -> (Actor, String, CampaignId) {
    let ada = app.user("ada").await;
    let campaign = ads::make(&ada, json!({ "keywords": keywords })).await;
    ads::add(&ada, &campaign, json!({})).await;
    app.drain().await;
    let id = CampaignId::from_global(&campaign).expect("a campaign");
    (ada, campaign, id)
}

#[tokio::test]
async fn a_campaign_paused_during_its_settlement_is_in_no_index() {
    let app = single_server().await;
    let (ada, campaign, id) = campaign(&app, &[]).await;
    let slow = SlowProcess::start(&app).await;
    let pause = async || drop(ads::run(&ada, "PauseCampaign", json!({ "campaignId": campaign })).await);
    slow.run_interleaved(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), pause).await.expect("a store");
    assert_eq!(ads::offers(&app, &campaign), []);
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_keyword_removed_during_a_settlement_finds_no_campaign() {
    let app = single_server().await;
    let (ada, campaign, id) = campaign(&app, &["a", "b"]).await;
    let slow = SlowProcess::start(&app).await;
    let remove = async || drop(ads::run(&ada, "RemoveKeywords", json!({ "campaignId": campaign, "keywords": ["a"] })).await);
    slow.run_interleaved(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), remove).await.expect("a store");
    assert_eq!(ads::offers(&app, &campaign).len(), 1);
    app.clock.advance(61_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_campaign_deleted_during_its_settlement_stays_deleted() {
    let app = single_server().await;
    let (ada, campaign, id) = campaign(&app, &["a", "b"]).await;
    let slow = SlowProcess::start(&app).await;
    let leave = async || {
        accounts::delete_unchecked(&app.app, ada.user_id(), &ada.login).await.expect("it is deleted");
        app.drain().await;
    };
    slow.run_interleaved(b"holds:", waxwing::domains::ads::service::settle(&slow.app, id), leave).await.expect("a store");
    let remaining_keys: Vec<String> = app.redis.keys().into_iter().filter(|key| key.contains(&id.0.to_string())).collect();
    assert_eq!((remaining_keys, ads::offers(&app, &campaign)), (Vec::new(), Vec::new()));
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// Asserts that nothing references a deleted account after the journal is drained.
async fn assert_no_references(app: &TestApp, deleted_account: &Actor) {
    app.drain().await;
    assert_eq!(references(&app.app, deleted_account.user_id()).await, [""; 0]);
}

#[tokio::test]
async fn a_follow_that_is_settled_late_does_not_outlive_its_account() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (deleted_account, other) = (&users[0], &users[1]);
    // Loads the scripts.
    other.follow(deleted_account).await;
    other.unfollow(deleted_account).await;
    deleted_account.follow(other).await;
    let slow = SlowProcess::start(&app).await;
    let id = deleted_account.user_id();
    let account = waxwing::domains::users::service::find(&app.app, id).await.expect("a store").expect("an account");
    assert!(
        waxwing::domains::users::service::delete(&app.app, account.id, &account.login, &account.logins).await.expect("a store")
    );
    let purge = graph::purge_following(&slow.app, deleted_account.user_id());
    slow.run_interleaved(b"followers:", purge, async || {
        let feed = Feed::Home(deleted_account.user_id());
        timelines::settle_source(&app.app, feed, other.user_id()).await.expect("a store");
    })
    .await
    .expect("a store");
    accounts::delete_unchecked(&app.app, deleted_account.user_id(), &deleted_account.login)
        .await
        .expect("the deletion is completed");
    assert_no_references(&app, deleted_account).await;
}

#[tokio::test]
async fn a_list_that_is_settled_late_does_not_outlive_its_owner() {
    let app = single_server().await;
    let deleted_account = app.create_users("c", 1).await.remove(0);
    let new = NewList { name: "friends".into(), idempotency_key: None };
    let list = lists::create(&app.app, deleted_account.user_id(), new).await.expect("a list").expect("it is new");
    let slow = SlowProcess::start(&app).await;
    accounts::delete_unchecked(&app.app, deleted_account.user_id(), &deleted_account.login).await.expect("it is deleted");
    let purge = timelines::purge_lists(&slow.app, deleted_account.user_id());
    slow.run_interleaved(b"removed:", purge, async || {
        timelines::settle_list(&app.app, deleted_account.user_id(), list, "friends").await.expect("a store");
    })
    .await
    .expect("a store");
    assert_no_references(&app, &deleted_account).await;
}

/// The author's own home receives a status without a check of follows, so the push itself must check that the owner exists.
#[tokio::test]
async fn a_late_post_leaves_nothing_of_a_deleted_account() {
    let app = single_server().await;
    let deleted_account = app.create_users("c", 1).await.remove(0);
    // After this time an unread home is dropped.
    app.clock.advance(31 * 24 * 3_600_000);
    let slow = SlowProcess::start(&app).await;
    let draft = StatusDraft {
        message: "late".into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key: None,
        ..StatusDraft::default()
    };
    let posting = timelines::post(&slow.app, deleted_account.user_id(), draft);
    slow.run_interleaved(b"followers:", posting, async || {
        accounts::delete_unchecked(&app.app, deleted_account.user_id(), &deleted_account.login).await.expect("it is deleted");
        app.drain().await;
    })
    .await
    .expect("a status");
    slow.app.drain().await;
    assert_no_references(&app, &deleted_account).await;
}
