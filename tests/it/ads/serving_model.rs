//! Random campaigns, ad requests, clicks, pauses and clock changes, compared with a simple model of eligibility, ranking and prices.
//!
//! The eCPM of a CPC ad is updated in steps. The model reads it from the listing, and checks that the counts allow it.

use super::decide::{assert_money_invariants, spent, start_with};
use super::{add, make, number, number_of_ad, run};
use crate::support::{Actor, TestApp, is_repeated_run, user_error_codes};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use waxwing::base::config::{Auction, Config};
use waxwing::base::ids::CampaignId;
use waxwing::domains::ads::{Money, Pricing, ecpm};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WORDS: [&str; 3] = ["Shoes", "running  shoes", "straße"];
const REQUESTED_KEYWORDS: [&str; 3] = ["SHOES", "Running Shoes", "STRASSE"];

struct PlainAd {
    id: String,
    pricing: Pricing,
    /// In millionths.
    bid: u64,
    shown: u64,
    clicked: u64,
}

impl PlainAd {
    fn price(&self) -> u64 {
        if self.pricing == Pricing::Cpm { self.bid } else { self.bid * 1_000 }
    }
}

/// An amount that was paid or is held.
struct Charge {
    price: u64,
    day: u64,
    /// The time at which the hold expires; `None` if the amount was paid.
    until: Option<u64>,
}

struct PlainCampaign {
    id: String,
    budget: u64,
    daily: Option<u64>,
    is_even: bool,
    from: u64,
    starts: Option<u64>,
    ends: Option<u64>,
    cap: Option<(u64, u64)>,
    words: Vec<usize>,
    is_paused: bool,
    ads: Vec<PlainAd>,
    charges: HashMap<u64, Charge>,
    seen: HashMap<usize, (u64, u64)>,
}

impl PlainCampaign {
    fn settle(&mut self, now: u64) {
        self.charges.retain(|_, charge| charge.until.is_none_or(|until| until > now));
    }

    fn left(&self, now: u64) -> u64 {
        let used: u64 = self.charges.values().filter(|it| it.day == now / DAY).map(|it| it.price).sum();
        let whole: u64 = self.charges.values().map(|it| it.price).sum();
        let today = self.daily.map_or(u64::MAX, |daily| {
            let begins = (now / DAY * DAY).max(self.from);
            let length = ((now / DAY + 1) * DAY).min(self.ends.unwrap_or(u64::MAX)).saturating_sub(begins);
            let over = now.saturating_sub(begins) + MINUTE;
            if !self.is_even || length <= MINUTE {
                daily
            } else {
                (daily as u128 * over as u128 / length as u128).min(daily as u128) as u64
            }
        });
        (self.budget - whole).min(today.saturating_sub(used))
    }

    /// Returns its best ad that it can pay for, with the index.
    fn best(&self, app: &TestApp, now: u64, visitor: Option<usize>, words: &[usize]) -> Option<(u64, u64, usize)> {
        let runs = !self.is_paused && self.starts.is_none_or(|at| at <= now) && self.ends.is_none_or(|at| at > now);
        let fits = self.words.is_empty() || self.words.iter().any(|word| words.contains(word));
        let is_capped = self.cap.is_some_and(|(most, _)| {
            visitor.is_none_or(|visitor| self.seen.get(&visitor).is_some_and(|(until, count)| *until > now && *count >= most))
        });
        if !runs || !fits || is_capped {
            return None;
        }
        let money_left = self.left(now);
        let payable = self.ads.iter().enumerate().filter(|(_, ad)| ad.price() <= money_left);
        let listed = payable.map(|(at, ad)| (self.listed(app, ad), number_of_ad(&ad.id).to_string(), at));
        listed.max().map(|(ecpm, _, at)| (ecpm, number(&self.id), at))
    }

    /// Returns the eCPM at which an ad is listed: that of its counts now or a few impressions ago.
    fn listed(&self, app: &TestApp, ad: &PlainAd) -> u64 {
        let key = format!("rank:{{{}.0}}:banner", number(&self.id));
        let listed: f64 = app.redis.run(&["ZSCORE", &key, &number_of_ad(&ad.id).to_string()]);
        let bid = Money::millionths(ad.bid);
        let oldest = ad.shown.saturating_sub(21 + ad.shown / 20);
        let possible: HashSet<u64> = (oldest..=ad.shown).map(|shown| ecpm(ad.pricing, bid, shown, ad.clicked)).collect();
        assert!(possible.contains(&(listed as u64)), "{listed} of {} shown and {} clicked", ad.shown, ad.clicked);
        listed as u64
    }
}

/// (token, campaign, ad, impression, time, visitor, whether it was clicked).
type Impression = (String, usize, usize, u64, u64, Option<usize>, bool);

struct World {
    app: TestApp,
    ada: Actor,
    key: String,
    random: StdRng,
    is_second: bool,
    campaigns: Vec<PlainCampaign>,
    shown: Vec<Impression>,
    clicks: HashMap<Option<usize>, (u64, u64)>,
    next: u64,
}

fn decimal(billionths: u64) -> String {
    Money(billionths).to_string()
}

impl World {
    fn now(&self) -> u64 {
        self.app.clock.now()
    }

    async fn create_campaign(&mut self) {
        let now = self.now();
        let random = &mut self.random;
        let budget = random.random_range(1..40) * 500_000;
        let daily = random.random_bool(0.4).then(|| random.random_range(1..20) * 500_000);
        let is_even = random.random_bool(0.5);
        let starts = random.random_bool(0.2).then(|| now + random.random_range(0..3) * HOUR / 2);
        let ends = random.random_bool(0.2).then(|| now + random.random_range(4..60) * HOUR / 2);
        let cap = random.random_bool(0.4).then(|| (random.random_range(1..4), random.random_range(60..7_200)));
        let words: Vec<usize> =
            if random.random_bool(0.5) { Vec::new() } else { (0..3).filter(|_| random.random_bool(0.5)).collect() };
        let time = |at: u64| jiff::Timestamp::from_millisecond(at as i64).expect("a time").to_string();
        let input = json!({
            "budget": decimal(budget * 1_000),
            "dailyBudget": daily.map(|daily| decimal(daily * 1_000)),
            "pacing": if is_even { "EVEN" } else { "ASAP" },
            "startsAt": starts.map(time),
            "endsAt": ends.map(time),
            "frequencyCap": cap.map(|(impressions, seconds)| json!({ "impressions": impressions, "perSeconds": seconds })),
            "keywords": words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>(),
        });
        let ads: Vec<(Pricing, u64)> = (0..random.random_range(1..4))
            .map(|_| match random.random_bool(0.3) {
                true => (Pricing::Cpc, random.random_range(1..8) * 100_000),
                false => (Pricing::Cpm, random.random_range(1..8) * 1_000_000),
            })
            .collect();
        let id = make(&self.ada, input).await;
        let from = starts.unwrap_or(0).max(CampaignId::from_global(&id).expect("an id").time());
        let mut campaign = PlainCampaign {
            budget: budget * 1_000,
            daily: daily.map(|daily| daily * 1_000),
            is_even,
            from,
            starts,
            ends,
            cap,
            words,
            is_paused: false,
            ads: Vec::new(),
            charges: HashMap::new(),
            seen: HashMap::new(),
            id,
        };
        for (pricing, bid) in ads {
            let name = if pricing == Pricing::Cpm { "CPM" } else { "CPC" };
            let ad = add(&self.ada, &campaign.id, json!({ "pricing": name, "bid": decimal(bid * 1_000) })).await;
            campaign.ads.push(PlainAd { id: ad, pricing, bid, shown: 0, clicked: 0 });
        }
        self.campaigns.push(campaign);
    }

    async fn request_ad(&mut self) {
        let now = self.now();
        let visitor = self.random.random_bool(0.8).then(|| self.random.random_range(0..3));
        let words: Vec<usize> = (0..3).filter(|_| self.random.random_bool(0.5)).collect();
        let mut eligible: Vec<(u64, u64, usize, usize)> = Vec::new();
        for (at, it) in self.campaigns.iter().enumerate() {
            eligible.extend(it.best(&self.app, now, visitor, &words).map(|(ecpm, id, ad)| (ecpm, id, at, ad)));
        }
        eligible.sort_unstable_by_key(|it| Reverse(*it));
        // At most one ad of each campaign: backfill has a test of its own.
        let count = self.random.random_range(1..=4).min(eligible.len().max(1));
        let expected: Vec<&str> =
            eligible.iter().take(count).map(|(.., at, ad)| self.campaigns[*at].ads[*ad].id.as_str()).collect();
        let mut input = json!({ "websiteKey": self.key, "slot": "BANNER", "count": count });
        input["keywords"] = words.iter().map(|word| REQUESTED_KEYWORDS[*word]).collect();
        if let Some(visitor) = visitor {
            input["visitorId"] = visitor.to_string().into();
        }
        let served = run(&self.app.anonymous(), "ServeAds", input).await;
        let impressions = served["impressions"].as_array().unwrap_or_else(|| panic!("{served}"));
        let found: Vec<&str> = impressions.iter().map(|it| it["ad"]["id"].as_str().expect("an id")).collect();
        assert_eq!(found, expected, "of {eligible:?}");
        let tokens: Vec<String> = impressions.iter().map(|it| it["token"].as_str().expect("a token").to_owned()).collect();
        for (place, token) in tokens.into_iter().enumerate() {
            let (own, _, at, ad) = eligible[place];
            let next = eligible.get(place + 1).map(|it| it.0);
            self.charge(at, ad, own, next, visitor, token);
        }
    }

    fn charge(&mut self, at: usize, ad: usize, own: u64, next: Option<u64>, visitor: Option<usize>, token: String) {
        let now = self.now();
        let (campaign, id) = (&mut self.campaigns[at], self.next);
        self.next += 1;
        let plain = &mut campaign.ads[ad];
        plain.shown += 1;
        let price = match (plain.pricing, next.filter(|_| self.is_second)) {
            (_, None) => plain.price(),
            (Pricing::Cpm, Some(next)) => plain.bid.min(next + 1),
            (Pricing::Cpc, Some(next)) => {
                plain.bid.min(((next + 1) as u128 * plain.bid as u128).div_ceil(own as u128) as u64) * 1_000
            }
        };
        let until = (plain.pricing == Pricing::Cpc).then_some(now + HOUR);
        campaign.charges.insert(id, Charge { price, day: now / DAY, until });
        if let (Some(visitor), Some((_, seconds))) = (visitor, campaign.cap) {
            let seen = campaign.seen.entry(visitor).or_default();
            *seen = if seen.0 > now { (seen.0, seen.1 + 1) } else { (now + seconds * 1_000, 1) };
        }
        self.shown.push((token, at, ad, id, now, visitor, false));
    }

    async fn click(&mut self) {
        if self.shown.is_empty() {
            return;
        }
        let which = self.random.random_range(0..self.shown.len());
        let (token, at, ad, id, when, visitor, was_clicked) = self.shown[which].clone();
        let now = self.now();
        let window = self.clicks.entry(visitor).or_default();
        *window = if window.0 > now { *window } else { (now + MINUTE, 0) };
        let is_plausible = window.1 < 10;
        window.1 += u64::from(is_plausible);
        let is_late = now >= when + HOUR;
        let counts = is_plausible && !was_clicked && !is_late;
        let clicked = run(&self.app.anonymous(), "ClickAd", json!({ "token": token })).await;
        let expected = if is_late { (Value::Null, vec!["INVALID_TOKEN"]) } else { (json!(counts), Vec::new()) };
        assert_eq!((clicked["counted"].clone(), user_error_codes(&clicked)), expected, "{clicked}");
        if counts {
            self.shown[which].6 = true;
            self.campaigns[at].ads[ad].clicked += 1;
            self.campaigns[at].charges.get_mut(&id).expect("it is held").until = None;
        }
    }

    async fn pause(&mut self) {
        if self.campaigns.is_empty() {
            return;
        }
        let at = self.random.random_range(0..self.campaigns.len());
        let campaign = &mut self.campaigns[at];
        campaign.is_paused = !campaign.is_paused;
        let operation = if campaign.is_paused { "PauseCampaign" } else { "ResumeCampaign" };
        run(&self.ada, operation, json!({ "campaignId": campaign.id })).await;
    }

    async fn step(&mut self) {
        match self.random.random_range(0..20) {
            0..12 => self.request_ad().await,
            12..15 => self.click().await,
            15..17 => self.pause().await,
            _ => {
                let by = [1_000, 40_000, 600_000, HOUR, 7 * HOUR][self.random.random_range(0..5)];
                self.app.clock.advance(by as i64);
            }
        }
        self.app.drain().await;
        let now = self.now();
        self.campaigns.iter_mut().for_each(|it| it.settle(now));
    }

    /// Checks the final spend of each campaign, and that all holds are released.
    async fn end(&mut self) {
        for it in std::mem::take(&mut self.campaigns) {
            let paid: u64 = it.charges.values().filter(|charge| charge.until.is_none()).map(|charge| charge.price).sum();
            assert_eq!(spent(&self.ada, &it.id).await.0, decimal(paid));
            assert_money_invariants(&self.app, &it.id, 1);
            let stopped = run(&self.ada, "StopCampaign", json!({ "campaignId": it.id })).await;
            assert_eq!(stopped["userErrors"], Value::Array(Vec::new()));
        }
        self.shown.clear();
    }
}

/// Runs scenarios, the first of them with this seed.
async fn run_scenarios(seed: u64, scenarios: u64, auction: Auction) {
    let (app, ada, key) = start_with(Config { auction, ..Config::default() }).await;
    let (random, is_second) = (StdRng::seed_from_u64(seed), auction == Auction::SecondPrice);
    let (campaigns, shown, clicks) = (Vec::new(), Vec::new(), HashMap::new());
    let mut world = World { app, ada, key, random, is_second, campaigns, shown, clicks, next: 0 };
    for _ in 0..scenarios {
        for _ in 0..world.random.random_range(1..5) {
            world.create_campaign().await;
        }
        for _ in 0..world.random.random_range(5..25) {
            world.step().await;
        }
        world.end().await;
    }
}

macro_rules! scenarios {
    ($($name:ident = $seed:literal, $auction:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            run_scenarios($seed, if is_repeated_run() { 20 } else { 40 }, Auction::$auction).await;
        }
    )*};
}

scenarios! {
    decisions_agree_with_a_plain_model_1 = 1, FirstPrice;
    decisions_agree_with_a_plain_model_2 = 2, FirstPrice;
    decisions_agree_with_a_plain_model_3 = 3, FirstPrice;
    decisions_agree_with_a_plain_model_4 = 4, FirstPrice;
    second_prices_agree_with_a_plain_model_1 = 5, SecondPrice;
    second_prices_agree_with_a_plain_model_2 = 6, SecondPrice;
    second_prices_agree_with_a_plain_model_3 = 7, SecondPrice;
    second_prices_agree_with_a_plain_model_4 = 8, SecondPrice;
}
