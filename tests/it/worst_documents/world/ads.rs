//! Ads of the world: campaigns, websites and promoted statuses, and the tokens of impressions.

use super::{ADS, HEAVY, OWN_STATUSES, STRANGER, Tokens, keyword, read};
use crate::support::{Actor, START};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use waxwing::app::App;
use waxwing::base::clock::DAY;
use waxwing::base::ids::{AdId, CampaignId, StatusId, UserId};
use waxwing::base::request::Request;
use waxwing::domains::ads::{
    CapInput, MAX_KEYWORDS, MAX_TOKENS, NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot, service as ads,
};

const CAMPAIGNS: usize = 40;

fn keywords(number: usize) -> Vec<String> {
    (0..MAX_KEYWORDS).map(|at| keyword(at + number % 2)).collect()
}

/// Returns a campaign with a period, a daily budget and a frequency cap, or one with a budget only.
fn campaign(number: usize, keywords: Vec<String>) -> NewCampaign {
    let is_bounded = number.is_multiple_of(2);
    NewCampaign {
        name: format!("campaign {number}"),
        budget: Decimal::from(1_000_000),
        daily: is_bounded.then(|| Decimal::from(100_000)),
        starts: is_bounded.then_some(START - DAY),
        ends: is_bounded.then_some(START + 300 * DAY),
        keywords,
        cap: is_bounded.then_some(CapInput { impressions: 1_000_000, per_seconds: 60 }),
        pacing: Pacing::Asap,
        idempotency_key: None,
    }
}

/// Creates a banner, or an ad that promotes a status.
async fn add_ad(app: &App, owner: UserId, campaign: CampaignId, number: usize, status: Option<StatusId>) -> AdId {
    let ad = NewAd {
        campaign: Some(campaign),
        slot: if status.is_some() { Slot::InFeed } else { Slot::Banner },
        snippet: status.is_none().then(|| "The best tea in town.".into()),
        target: status.is_none().then(|| "https://tea.example/".into()),
        status: status.map(|it| it.global()),
        pricing: Pricing::Cpm,
        bid: Decimal::new(1_000 + number as i64, 3),
        idempotency_key: None,
    };
    let loaders = Request::new(app.clone(), None, None, None).loaders();
    ads::create_ad(app, &loaders, owner, ad).await.expect("an ad").expect("it is there")
}

/// Creates campaigns of the heaviest account, each with the maximum of keywords and an ad, and two websites. Returns the key of one website.
pub(super) async fn create_campaigns(
    app: &App,
    owner: UserId,
    status: StatusId,
    ids: &mut BTreeMap<&'static str, String>,
) -> String {
    let site = |require_server_key| NewWebsite {
        name: "Blog".into(),
        origin: "https://blog.example".into(),
        require_server_key,
        idempotency_key: None,
    };
    let with_server_key = ads::register(app, owner, site(true)).await.expect("a website");
    ids.insert("Website", with_server_key.global());
    let site = ads::register(app, owner, site(false)).await.expect("a website");
    for number in 0..CAMPAIGNS {
        let campaign = ads::create(app, owner, campaign(number, keywords(number))).await.expect("a campaign");
        let ad = add_ad(app, owner, campaign, number, None).await;
        // The lowest bid: a decision evaluates all other campaigns first.
        ids.entry("Campaign").or_insert_with(|| campaign.global());
        ids.entry("Ad").or_insert_with(|| ad.global());
        if number == 0 {
            // This ad is not served in feeds, because its campaign has keywords.
            add_ad(app, owner, campaign, number, Some(status)).await;
        }
    }
    ads::key(app, site).await.expect("a key")
}

/// Creates campaigns of the stranger that promote statuses in feeds, and a campaign of the heaviest account with many ads. Returns the latter.
pub(super) async fn create_promotions(app: &App, people: &[UserId], status_ids: &[StatusId]) -> CampaignId {
    for number in 0..5 {
        let campaign = ads::create(app, people[STRANGER], campaign(number, Vec::new())).await.expect("a campaign");
        add_ad(app, people[STRANGER], campaign, number, Some(status_ids[OWN_STATUSES + number])).await;
    }
    let campaign = ads::create(app, people[HEAVY], campaign(1, Vec::new())).await.expect("a campaign");
    for (number, status) in status_ids.iter().enumerate().take(ADS) {
        add_ad(app, people[HEAVY], campaign, number, number.is_multiple_of(2).then_some(*status)).await;
    }
    campaign
}

fn texts(value: &Value, place: &str) -> Vec<String> {
    let items = value.as_array().expect("a list").iter();
    items.filter_map(|item| item.pointer(place)?.as_str().map(str::to_owned)).collect()
}

pub(super) async fn collect_tokens(heavy: &Actor, key: &str) -> Tokens {
    let serve = "mutation($key: String!) { serveAds(input: { websiteKey: $key, slot: BANNER, visitorId: \"x\" }) { impressions { token } } }";
    let served = read(heavy, serve, json!({ "key": key }), "/serveAds/impressions").await;
    // The first click counts, and a repeated one does not.
    let click = "mutation($token: String!) { clickAd(input: { token: $token }) { counted } }";
    for _ in 0..2 {
        read(heavy, click, json!({ "token": texts(&served, "/token").first() }), "/clickAd/counted").await;
    }
    let served = read(heavy, serve, json!({ "key": key }), "/serveAds/impressions").await;
    let home = "query($after: String) { homeTimeline { entries(first: 100, after: $after) {
        edges { node { promotion { impressionToken } } } pageInfo { endCursor } } } }";
    let (mut promoted, mut after) = (Vec::new(), Value::Null);
    while promoted.len() < MAX_TOKENS {
        let mut entries = read(heavy, home, json!({ "after": after }), "/homeTimeline/entries").await;
        let found = texts(&entries["edges"], "/node/promotion/impressionToken");
        assert!(!found.is_empty(), "a page without ads: {entries}");
        promoted.extend(found);
        after = entries["pageInfo"]["endCursor"].take();
    }
    promoted.truncate(MAX_TOKENS);
    let log_in =
        "mutation($login: String!) { logIn(input: { login: $login, password: \"correct horse\" }) { session { deviceToken } } }";
    let device = read(heavy, log_in, json!({ "login": heavy.login }), "/logIn/session/deviceToken").await;
    Tokens {
        click: texts(&served, "/token").pop().expect("an impression"),
        promoted,
        device: device.as_str().expect("a token").to_owned(),
    }
}
