//! The cost of an ad decision by the number of campaigns: CPU time, round trips and Redis commands of a decision, and decisions a
//! second, with 10, 1,000 and 100,000 active campaigns, and for a visitor who has reached the frequency cap of the thousand best.
//!
//! Every campaign has one ad for the slot; a third have no keywords, a third those of the page, a third others. A decision is the use case
//! as the API calls it, without HTTP and GraphQL: two keywords, a visitor, one ad. `cargo bench --bench ads`.

#[path = "../fanout/bed.rs"]
#[allow(dead_code, reason = "what other benchmarks need of it")]
mod bed;

use bed::{Bed, percentile};
use futures_util::StreamExt;
use futures_util::stream;
use rust_decimal::Decimal;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use waxwing::base::config::{AdTraffic, Config};
use waxwing::base::ids::UserId;
use waxwing::base::request::Request;
use waxwing::domains::ads::service::{self as ads, AdRequest, Impression};
use waxwing::domains::ads::{CapInput, Money, NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [usize; 3] = [10, 1_000, 100_000];
/// Decisions of each kind.
const DECISIONS: usize = 4_000;
/// Concurrent decisions.
const AT_ONCE: usize = 32;
/// The number of the best campaigns, of which a visitor sees each once an hour.
const CAPPED: usize = 1_000;
/// The maximum ratio of the costs of a decision with the most campaigns and with the fewest.
const AIM: f64 = 1.5;
/// A bid below those of the best campaigns, and above all others.
const BEST: Money = Money::millionths(45_000_000);
/// Limits that no request reaches: everything is counted as in production.
const TRAFFIC: AdTraffic = AdTraffic {
    address_clicks: ANY,
    campaign_clicks: ANY,
    address_impressions: ANY,
    campaign_impressions: ANY,
    website_clicks: ANY,
    website_impressions: ANY,
};
const ANY: u64 = 1_000_000_000;
/// The maximum number of campaigns of an account.
const OF_ONE: usize = 1_000;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    if runtime.block_on(run()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run() -> bool {
    let bed = Bed::with(&[], Config { ad_traffic: Some(TRAFFIC), ..Config::default() }).await;
    let publisher = bed.author("publisher", &[]).await;
    let site = NewWebsite {
        name: "Blog".into(),
        origin: "https://blog.example".into(),
        require_server_key: false,
        idempotency_key: None,
    };
    let site = ads::register(&bed.app, publisher, site).await.expect("a website");
    let key = ads::key(&bed.app, site).await.expect("a key");
    println!("  campaigns       decisions/s   p50 ms   p99 ms  CPU us own    Redis  round trips  commands");
    let (mut there, mut costs) = (0, Vec::new());
    for size in SIZES {
        let began = Instant::now();
        fill(&bed, there..size, None).await;
        println!("{:>11}  made in {:.1} s", size - there, began.elapsed().as_secs_f64());
        there = size;
        costs.push(decide(&bed, &key, &size.to_string(), "visitor").await);
    }
    let times = costs[2] / costs[0];
    println!("100,000 against 10: {times:.2} times");
    fill(&bed, there..there + CAPPED, Some(CapInput { impressions: 1, per_seconds: 3_600 })).await;
    costs.push(decide(&bed, &key, "and 1,000 better", "stranger").await);
    // The visitor has then seen each of the best campaigns: from then on the server serves only worse ones.
    while serve(&bed, &key, "fan".to_owned(), 10).await.iter().any(|shown| shown.ad.bid >= BEST) {}
    costs.push(decide(&bed, &key, "all of those capped", "fan").await);
    println!("For whom the best are capped, against 10: {:.2} times", costs[4] / costs[0]);
    times <= AIM
}

/// Creates campaigns with these numbers, each with an ad; campaigns with a cap have higher bids than all others.
async fn fill(bed: &Bed, numbers: Range<usize>, cap: Option<CapInput>) {
    let mut owners: HashMap<usize, UserId> = HashMap::new();
    for of in numbers.start / OF_ONE..=numbers.end / OF_ONE {
        owners.insert(of, bed.author(&format!("a{of}x{}", numbers.start), &[]).await);
    }
    stream::iter(numbers).for_each_concurrent(AT_ONCE, |number| make(bed, owners[&(number / OF_ONE)], number, cap)).await;
    bed.app.drain().await;
}

async fn make(bed: &Bed, owner: UserId, number: usize, cap: Option<CapInput>) {
    let keywords = match number % 3 {
        0 => vec![],
        1 => vec!["tea".to_owned(), "pots".to_owned()],
        _ => vec![format!("word {number}")],
    };
    let campaign = NewCampaign {
        name: format!("campaign {number}"),
        budget: Decimal::from(1_000_000),
        daily: None,
        starts: None,
        ends: None,
        keywords: if cap.is_some() { vec![] } else { keywords },
        cap,
        pacing: Pacing::Asap,
        idempotency_key: None,
    };
    let campaign = ads::create(&bed.app, owner, campaign).await.expect("a campaign");
    // In no order; a thousandth of a unit apart.
    let bid = if cap.is_some() { 50_000 + number % 1_000 } else { 1 + number * 7_919 % 40_000 };
    let ad = NewAd {
        campaign: Some(campaign),
        slot: Slot::Banner,
        snippet: Some("The best tea in town.".into()),
        target: Some("https://tea.example/".into()),
        status: None,
        pricing: Pricing::Cpm,
        bid: Decimal::new(bid as i64, 3),
        idempotency_key: None,
    };
    let loaders = Request::new(bed.app.clone(), None, None, None).loaders();
    ads::create_ad(&bed.app, &loaders, owner, ad).await.expect("an ad");
}

async fn serve(bed: &Bed, key: &str, visitor: String, count: i64) -> Vec<Impression> {
    let keywords = vec!["Tea".into(), "pots".into()];
    let ask = AdRequest {
        website_key: key.to_owned(),
        slot: Slot::Banner,
        keywords,
        visitor: Some(visitor),
        count,
        server_key: None,
        visitor_address: None,
    };
    ads::serve(&bed.app, Some(Ipv4Addr::LOCALHOST.into()), ask).await.expect("a decision")
}

/// Runs decisions for visitors with this name: each is another visitor, except for the fan. Returns the CPU time of one decision.
async fn decide(bed: &Bed, key: &str, among: &str, visitor: &str) -> f64 {
    let name = |number: usize| if visitor == "fan" { "fan".to_owned() } else { format!("{visitor} {number}") };
    for number in 0..200 {
        serve(bed, key, name(number), 1).await;
    }
    bed.app.drain().await;
    let (before, trips, done, began) = (bed.cpu(), bed.app.db().round_trips(), commands(bed).await, Instant::now());
    let decisions = (200..200 + DECISIONS).map(|number| async move {
        let began = Instant::now();
        assert_eq!(serve(bed, key, name(number), 1).await.len(), 1);
        began.elapsed()
    });
    let mut times: Vec<Duration> = stream::iter(decisions).buffer_unordered(AT_ONCE).collect().await;
    let took = began.elapsed();
    bed.app.drain().await;
    let each = |many: u64| many as f64 / DECISIONS as f64;
    let (cpu, trips) = (bed.cpu().since(before).each(DECISIONS as u64), each(bed.app.db().round_trips() - trips));
    let done = each(commands(bed).await - done);
    println!(
        "{among:>20} {:>8.0} {:>8.2} {:>8.2} {:>11.0} {:>8.0} {trips:>12.2} {done:>9.1}",
        DECISIONS as f64 / took.as_secs_f64(),
        percentile(&mut times, 50),
        percentile(&mut times, 99),
        cpu.own,
        cpu.redis,
    );
    cpu.own + cpu.redis
}

/// Returns how many commands Redis has executed so far.
async fn commands(bed: &Bed) -> u64 {
    let info: String = bed.ask(redis::cmd("INFO").arg("stats")).await;
    let line = info.lines().find_map(|line| line.strip_prefix("total_commands_processed:")).expect("a line");
    line.trim().parse().expect("a number")
}
