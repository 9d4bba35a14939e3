//! A process that dies between any two writes of a change of a campaign: a worker completes the change after the lease has expired.

use super::{add, make, offers};
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::server::{self, HttpConfig};

/// The changes that are interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Create,
    Pause,
    AddKeywords,
    Ad,
    RemoveAd,
    Website,
    Suspend,
}

struct Fixture {
    owner: Actor,
    campaign: String,
    ad: String,
}

impl Fixture {
    async fn make(app: &TestApp, number: usize) -> Self {
        let owner = app.user(&format!("p{number}")).await;
        let campaign = make(&owner, json!({})).await;
        let ad = add(&owner, &campaign, json!({})).await;
        add(&owner, &campaign, json!({ "slot": "SQUARE" })).await;
        Self { owner, campaign, ad }
    }

    fn input(&self, change: Change) -> (&'static str, Value) {
        let campaign = &self.campaign;
        match change {
            Change::Create => ("CreateCampaign", super::campaign(json!({ "idempotencyKey": "once" }))),
            Change::Pause => ("PauseCampaign", json!({ "campaignId": campaign })),
            Change::AddKeywords => ("AddKeywords", json!({ "campaignId": campaign, "keywords": ["a", "b"] })),
            Change::Ad => ("CreateAd", super::banner(campaign, json!({ "slot": "SKYSCRAPER", "idempotencyKey": "once" }))),
            Change::RemoveAd => ("RemoveAd", json!({ "adId": self.ad })),
            Change::Website => {
                ("RegisterWebsite", json!({ "name": "N", "origin": "https://n.example", "idempotencyKey": "once" }))
            }
            Change::Suspend => ("", Value::Null),
        }
    }

    /// Makes the change through a server whose connection may be cut. Returns whether it was acknowledged.
    async fn apply(&self, app: &App, change: Change) -> bool {
        if change == Change::Suspend {
            let role = waxwing::domains::ads::service::Role::Advertiser;
            return waxwing::domains::ads::service::suspend(app, self.owner.user_id(), role, true).await.is_ok();
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = tokio_util::sync::CancellationToken::new();
        let _ends = stop.clone().drop_guard();
        tokio::spawn(server::run(listener, server::State::new(app.clone(), HttpConfig::default()), stop));
        let (operation, input) = self.input(change);
        let response = self.owner.at_url(&url).run(operation, json!({ "input": input })).await;
        response.get("errors").is_none()
    }

    /// Returns whether the change was made.
    async fn is_applied(&self, app: &TestApp, change: Change) -> bool {
        let listings: Vec<String> = offers(app, &self.campaign).into_iter().map(|(listing, _)| listing).collect();
        let counts =
            "{ viewerCampaigns { totalCount edges { node { name } } } viewerWebsites { totalCount edges { node { name } } } }";
        let seen = self.owner.at(app).gql(counts, json!({})).await["data"].take();
        let count = |list: &str| {
            let shown = seen[list]["edges"].as_array().map(Vec::len);
            assert_eq!(seen[list]["totalCount"].as_u64().map(|count| count as usize), shown, "the list and the records agree");
            shown.unwrap_or(0)
        };
        match change {
            Change::Create => count("viewerCampaigns") == 2,
            Change::Pause | Change::Suspend => listings.is_empty(),
            Change::AddKeywords => listings.len() == 4 && listings.iter().all(|listing| listing.contains('.')),
            Change::Ad => listings == ["banner", "skyscraper", "square"],
            Change::RemoveAd => listings == ["square"],
            Change::Website => count("viewerWebsites") == 1,
        }
    }
}

async fn interrupt_at_every_write(change: Change) {
    let app = TestApp::on_redis(
        Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)),
        Clock::manual(START),
        Config::default(),
    )
    .await;
    for writes in cut_offs(3) {
        let when = format!("{change:?} after {writes} writes");
        let fixture = Fixture::make(&app, writes).await;
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), Config::default());
        let acknowledged = fixture.apply(&crashing, change).await;
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        if acknowledged {
            assert!(fixture.is_applied(&app, change).await, "{when}: an acknowledged change is lost");
        }
        app.clock.advance(61_000);
        app.drain().await;
        app.clock.advance(61_000);
        app.drain().await;
        let found = findings(&app.app).await;
        assert!(found.is_empty(), "{when}: {found:#?}");
        let repeated = fixture.apply(&app.app, change).await;
        assert!(repeated && fixture.is_applied(&app, change).await, "{when}: a repeated change is made once");
        if !crash_proxy.has_cut() {
            assert!(writes > 3 && acknowledged, "{when}: the change has several writes");
            return;
        }
    }
}

macro_rules! crash_tests {
    ($($name:ident = $change:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            interrupt_at_every_write(Change::$change).await;
        }
    )*};
}

crash_tests! {
    creating_a_campaign_survives_a_crash = Create;
    a_pause_survives_a_crash = Pause;
    adding_keywords_survives_a_crash = AddKeywords;
    creating_an_ad_survives_a_crash = Ad;
    removing_an_ad_survives_a_crash = RemoveAd;
    registering_a_website_survives_a_crash = Website;
    a_suspension_survives_a_crash = Suspend;
}
