//! A process that dies between any two of its writes, in the middle of a change of campaigns: whoever comes after the lease finishes it.

use super::{add, make, offers};
use crate::support::{
    Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, findings, is_repeated_run,
};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::server::{self, EdgeConfig};

/// The changes that are cut off.
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

struct World {
    owner: Actor,
    campaign: String,
    ad: String,
}

impl World {
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

    /// Makes the change through a server over what may be cut off; whether it was acknowledged.
    async fn make_it(&self, app: &App, change: Change) -> bool {
        if change == Change::Suspend {
            let role = waxwing::domains::ads::service::Role::Advertiser;
            return waxwing::domains::ads::service::suspend(app, self.owner.user_id(), role, true).await.is_ok();
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = tokio_util::sync::CancellationToken::new();
        let _ends = stop.clone().drop_guard();
        tokio::spawn(server::run(listener, server::State::new(app.clone(), EdgeConfig::default()), stop));
        let (operation, input) = self.input(change);
        let answer = self.owner.at_url(&url).run(operation, json!({ "input": input })).await;
        answer.get("errors").is_none()
    }

    /// How much there is of what the change makes.
    async fn holds(&self, app: &TestApp, change: Change) -> bool {
        let stands: Vec<String> = offers(app, &self.campaign).into_iter().map(|(listing, _)| listing).collect();
        let counts =
            "{ viewerCampaigns { totalCount edges { node { name } } } viewerWebsites { totalCount edges { node { name } } } }";
        let seen = self.owner.at(app).gql(counts, json!({})).await["data"].take();
        let count = |list: &str| {
            let shown = seen[list]["edges"].as_array().map(Vec::len);
            assert_eq!(seen[list]["totalCount"].as_u64().map(|count| count as usize), shown, "both sides");
            shown.unwrap_or(0)
        };
        match change {
            Change::Create => count("viewerCampaigns") == 2,
            Change::Pause | Change::Suspend => stands.is_empty(),
            Change::AddKeywords => stands.len() == 4 && stands.iter().all(|listing| listing.contains('.')),
            Change::Ad => stands == ["banner", "skyscraper", "square"],
            Change::RemoveAd => stands == ["square"],
            Change::Website => count("viewerWebsites") == 1,
        }
    }
}

async fn cut_off_everywhere(change: Change) {
    let app = TestApp::on_redis(
        Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)),
        Clock::manual(START),
        Config::default(),
    )
    .await;
    // One wire is one wire, however the suite is run: then some of the cuts are enough.
    let stride = if is_repeated_run() { 5 } else { 1 };
    for writes in (0..).step_by(stride) {
        let when = format!("{change:?} after {writes} writes");
        let world = World::make(&app, writes).await;
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let doomed = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), Config::default());
        let acknowledged = world.make_it(&doomed, change).await;
        doomed.drain().await;
        let _ = workers::drain(&doomed).await;
        if acknowledged {
            assert!(world.holds(&app, change).await, "{when}: what was acknowledged is lost");
        }
        app.clock.advance(61_000);
        app.drain().await;
        app.clock.advance(61_000);
        app.drain().await;
        let found = findings(&app.app).await;
        assert!(found.is_empty(), "{when}: {found:#?}");
        let again = world.make_it(&app.app, change).await;
        assert!(again && world.holds(&app, change).await, "{when}: once, whatever happened to the first try");
        if !crash_proxy.has_cut() {
            assert!(writes > 3 && acknowledged, "{when}: it has steps");
            return;
        }
    }
}

macro_rules! cut_off {
    ($($name:ident = $change:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            cut_off_everywhere(Change::$change).await;
        }
    )*};
}

cut_off! {
    a_new_campaign_may_be_cut_off_anywhere = Create;
    a_pause_may_be_cut_off_anywhere = Pause;
    keywords_may_be_cut_off_anywhere = AddKeywords;
    a_new_ad_may_be_cut_off_anywhere = Ad;
    the_end_of_an_ad_may_be_cut_off_anywhere = RemoveAd;
    a_new_website_may_be_cut_off_anywhere = Website;
    a_suspension_may_be_cut_off_anywhere = Suspend;
}
