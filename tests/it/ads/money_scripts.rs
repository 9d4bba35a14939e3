//! The scripts over a campaign's money: a repeated call has no effect, pacing follows the model, and a late clock begins no day.

use super::decide::{of_share, start_server};
use super::{add, make, number, number_of_ad};
use crate::support::{RedisServer, SingleServerReason, TestApp};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use waxwing::base::ids::{CampaignId, UserId, source};
use waxwing::domains::ads::{Campaign, Money, Pacing};

const DAY: u64 = 86_400_000;

const SUMS: &str = include_str!("../../../src/domains/ads/lua/sums.lua");
const SHARE: &str = include_str!("../../../src/domains/ads/lua/share.lua");
const RESERVE: &str = include_str!("../../../src/domains/ads/lua/reserve_impression.lua");
const RETURN: &str = include_str!("../../../src/domains/ads/lua/return_grant.lua");
const GRANT_BUDGET: &str = include_str!("../../../src/domains/ads/lua/grant_budget.lua");

/// Runs a script on keys of one hash tag.
fn run(redis: &RedisServer, script: &str, keys: &[String], arguments: &[String]) -> String {
    let count = keys.len().to_string();
    let mut words = vec!["EVAL", script, &count];
    words.extend(keys.iter().chain(arguments).map(String::as_str));
    redis.run(&words)
}

fn grant_budget(redis: &RedisServer, campaign: u64, arguments: &[u64]) -> String {
    grant_budget_of_sums(redis, campaign, &arguments.iter().map(|it| u128::from(*it)).collect::<Vec<_>>())
}

fn grant_budget_of_sums(redis: &RedisServer, campaign: u64, arguments: &[u128]) -> String {
    let keys = ["campaign", "frozen"].map(|kind| format!("{kind}:{{{campaign}}}"));
    run(redis, &format!("{SUMS}{GRANT_BUDGET}"), &keys, &arguments.iter().map(u128::to_string).collect::<Vec<_>>())
}

#[tokio::test]
async fn the_pool_paces_exactly_as_the_model() {
    let redis = RedisServer::single(SingleServerReason::MonitorOutput);
    let mut random = StdRng::seed_from_u64(7);
    for round in 0..2_000_u64 {
        let day = 20_513 + random.random_range(0..3);
        let now = day * DAY + random.random_range(0..DAY);
        let made = now - random.random_range(0..2 * DAY);
        let id = CampaignId(source::compose(made, 1, round % 64));
        let daily = Money(match random.random_range(0..3) {
            0 => random.random_range(1..1_000),
            1 => random.random_range(1..9_000_000_000_000),
            _ => random.random_range(1..=9_000_000_000_000_000),
        });
        let starts = random.random_bool(0.3).then(|| now.saturating_sub(random.random_range(0..DAY)));
        let ends = random.random_bool(0.3).then(|| now + random.random_range(1..2 * DAY));
        let pacing = if random.random_bool(0.9) { Pacing::Even } else { Pacing::Asap };
        let campaign = Campaign {
            id,
            owner: UserId(1),
            name: String::new(),
            budget: Money(9_000_000_000_000_000),
            daily: Some(daily),
            pacing,
            starts,
            ends,
            cap: None,
            paused: false,
            stopped: false,
            suspended: false,
            shares: 1,
            version: 1,
        };
        let key = format!("campaign:{{{round}}}");
        let mut fields = vec![
            ("id", round),
            ("budget", campaign.budget.0),
            ("daily", daily.0),
            ("from", campaign.active_from()),
            ("shares", 1),
        ];
        fields.extend(ends.map(|ends| ("ends", ends)));
        let mut words =
            vec!["HSET".to_owned(), key, "pacing".into(), if pacing == Pacing::Even { "EVEN" } else { "ASAP" }.into()];
        words.extend(fields.into_iter().flat_map(|(name, value)| [name.to_owned(), value.to_string()]));
        redis.run::<i64>(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let allowed = campaign.daily_allowance(now).0;
        let refused = grant_budget(&redis, round, &[now, day, 0, 0, allowed + 1, 1]);
        assert_eq!(refused, format!("refused {allowed} {day}"), "{campaign:?} at {now}");
        if allowed > 0 {
            assert_eq!(grant_budget(&redis, round, &[now, day, 0, 0, allowed, allowed]), format!("granted {allowed} 0 {day}"));
        }
    }
}

#[tokio::test]
async fn a_repeated_grant_request_grants_nothing_more_and_returns_count_once() {
    let redis = RedisServer::single(SingleServerReason::MonitorOutput);
    redis.run::<i64>(&[
        "HSET",
        "campaign:{7}",
        "id",
        "7",
        "budget",
        "1000",
        "daily",
        "100",
        "pacing",
        "ASAP",
        "from",
        "0",
        "shares",
        "2",
    ]);
    let day = 20_513;
    let now = day * DAY;
    assert_eq!(grant_budget(&redis, 7, &[now, day, 0, 0, 10, 10]), "granted 10 0 20513");
    assert_eq!(
        grant_budget(&redis, 7, &[now, day, 0, 0, 10, 10]),
        "granted 10 0 20513",
        "repeated, or by a share that has not recorded the grant"
    );
    assert_eq!(grant_budget(&redis, 7, &[now, day, 0, 10, 80, 10]), "granted 90 0 20513");
    assert_eq!(grant_budget(&redis, 7, &[now, day, 1, 0, 20, 10]), "refused 10 20513");
    // Share 0 returns 30, and reports it twice.
    for _ in 0..2 {
        assert_eq!(grant_budget(&redis, 7, &[now, day, 1, 0, 50, 10, 0, 30, day, 30]), "refused 40 20513");
    }
    assert_eq!(grant_budget(&redis, 7, &[now, day, 1, 0, 40, 10]), "granted 40 0 20513");
    // A new day: share 0 returns unused money, which does not count for the new day.
    assert_eq!(grant_budget(&redis, 7, &[now + DAY, day + 1, 0, 90, 100, 10, 0, 60, day + 1, 0]), "granted 190 90 20514");
    assert_eq!(grant_budget(&redis, 7, &[now, day, 1, 40, 1, 1]), "refused 0 20514", "a late clock uses the pool's day");
    let out: u64 = redis.run(&["HGET", "campaign:{7}", "out"]);
    assert_eq!(out, 10 + 80 - 60 + 40 + 100);
}

/// The largest budget is granted and returned until the total is a thousand times the largest exact double. No money is created or lost.
#[tokio::test]
async fn sums_stay_exact_past_the_precision_of_a_double() {
    let redis = RedisServer::single(SingleServerReason::MonitorOutput);
    let budget = 9_000_000_000_000_000_u128;
    let of_pool = [("id", "7"), ("budget", &budget.to_string()), ("pacing", "ASAP"), ("from", "0"), ("shares", "1")];
    let mut words = vec!["HSET", "campaign:{7}"];
    words.extend(of_pool.into_iter().flat_map(<[&str; 2]>::from));
    redis.run::<i64>(&words);
    redis.run::<i64>(&["HSET", "share:{7.0}", "v", "1", "spent", "1", "g", "1", "day", "20513"]);
    redis.run::<i64>(&["HSET", "campaign:{7}", "out", "1", "g0", "1", "day", "20513", "today", "1"]);
    let day = 20_513_u128;
    let (now, want, keys) = (day * u128::from(DAY), budget - 1, ["share:{7.0}".to_owned(), "holds:{7.0}".to_owned()]);
    let mut granted = 1;
    for _ in 0..1_000 {
        granted += want;
        assert_eq!(
            grant_budget_of_sums(&redis, 7, &[now, day, 0, granted - want, want, 1]),
            format!("granted {granted} 0 {day}")
        );
        let arguments = [now, day, granted, 0, day].map(|it| it.to_string());
        let mut words = vec!["EVAL".to_owned(), format!("{SUMS}{SHARE}{RETURN}"), "2".into()];
        words.extend(keys.iter().cloned().chain(arguments));
        let back: Vec<u128> = redis.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(back, [granted - 1, day, granted - 1], "all but the spent money");
        let refused = grant_budget_of_sums(&redis, 7, &[now, day, 0, granted, 0, 1, 0, back[0], day, back[2]]);
        assert_eq!(refused, format!("refused {want} {day}"));
    }
    assert_eq!(redis.run::<u64>(&["HGET", "campaign:{7}", "out"]), 1);
}

/// The varying arguments of a reservation.
struct Reservation {
    now: u64,
    day: u64,
    impression: u64,
    granted: [u64; 3],
}

fn reserve(app: &TestApp, campaign: &str, reservation: Reservation) -> String {
    let tag = format!("{{{}.0}}", number(campaign));
    let keys = [
        format!("share:{tag}"),
        format!("holds:{tag}"),
        format!("offered:{tag}"),
        format!("rank:{tag}:banner"),
        format!("impression:{tag}:{}", reservation.impression),
        format!("tally:{tag}:{}", reservation.day),
        format!("reach:{tag}"),
        format!("reached:{tag}:{}", reservation.day),
    ];
    let [all, before, granted_on] = reservation.granted;
    let mut arguments: Vec<String> = [reservation.now, reservation.day, reservation.impression, all, before, granted_on, 0]
        .iter()
        .map(u64::to_string)
        .collect();
    arguments.extend(
        ["", "", "", "", "", "15000", "3600000", "34560000000", "", "1500000", "0", "", "3600000", "", "0"].map(str::to_owned),
    );
    run(&app.redis, &format!("{SUMS}{SHARE}{RESERVE}"), &keys, &arguments)
}

#[tokio::test]
async fn a_retried_reservation_counts_once() {
    let (app, ada, _) = start_server(1).await;
    let id = make(&ada, json!({})).await;
    let ad = add(&ada, &id, json!({})).await;
    let now = app.clock.now();
    let reservation = || Reservation { now, day: now / DAY, impression: 99, granted: [5_000_000, 0, now / DAY] };
    let first = reserve(&app, &id, reservation());
    assert_eq!(first, format!("served {} 2000000 2000000 CPM 0 0 0", number_of_ad(&ad)));
    assert_eq!(reserve(&app, &id, reservation()), first);
    assert_eq!((of_share(&app, &id, 0, "i"), of_share(&app, &id, 0, "spent")), (1, 2_000_000));
}

#[tokio::test]
async fn money_of_another_day_is_returned_and_a_late_clock_is_corrected() {
    let (app, ada, _) = start_server(1).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    let (now, day) = (app.clock.now(), app.clock.now() / DAY);
    let at = |now: u64, impression: u64, granted: [u64; 3]| Reservation { now, day: now / DAY, impression, granted };
    assert!(reserve(&app, &id, at(now, 1, [6_000_000, 0, day])).starts_with("served "));
    // The next day free money is returned, including a grant of the day before that arrives only now.
    assert_eq!(reserve(&app, &id, at(now + DAY, 2, [9_000_000, 0, day])), "no_money 2000000 0 9000000 7000000 0");
    assert_eq!(reserve(&app, &id, at(now + DAY, 3, [12_000_000, 10_000_000, day + 1])).split(' ').next(), Some("served"));
    assert_eq!(
        ["g", "r", "spent", "used"].map(|field| of_share(&app, &id, 0, field)),
        [12_000_000, 8_000_000, 4_000_000, 2_000_000]
    );
    assert_eq!(reserve(&app, &id, at(now, 4, [0, 0, 0])), format!("day {}", day + 1));
}
