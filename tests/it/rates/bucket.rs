//! The arithmetic of buckets, against a model with integers of any size.

use super::{limited, quota};
use crate::support::{START, TestApp};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use waxwing::base::ids::UserId;
use waxwing::base::rate_limits::{Limit, Quota};
use waxwing::platform::rates::service::take;
use waxwing::platform::rates::{BucketReply, Charge, Subject};

/// The model of a bucket: missing tokens are counted in tokens × ms, exactly.
struct Model {
    quota: Quota,
    owed: u128,
    at: u64,
}

impl Model {
    fn new(quota: Quota) -> Self {
        Self { quota, owed: 0, at: 0 }
    }

    fn take(&mut self, now: u64, min_tokens: u64, max_tokens: u64) -> BucketReply {
        let (tokens, window) = (u128::from(self.quota.tokens()), u128::from(self.quota.window()));
        let full = tokens * window;
        let passed = u128::from(now.saturating_sub(self.at));
        let (owed, at) = (self.owed.saturating_sub(passed * tokens), self.at.max(now));
        let remaining = (full - owed) / window;
        if remaining < u128::from(min_tokens) {
            let missing = (owed + u128::from(min_tokens) * window - full).div_ceil(tokens) + u128::from(at - now);
            let wait = missing.min(owed.div_ceil(tokens)) as u64;
            return BucketReply { taken: 0, left: remaining as i64, wait };
        }
        let taken = remaining.min(u128::from(max_tokens));
        (self.owed, self.at) = (owed + taken * window, at);
        BucketReply { taken: taken as u64, left: (remaining - taken) as i64, wait: 0 }
    }
}

#[tokio::test]
async fn buckets_count_exactly_for_every_quota_and_clock() {
    let app = TestApp::with(limited(&[])).await;
    // Including quotas at the limit of what a double holds.
    let quotas = ["1/30m", "3/1h", "7/30d", "999983/61m", "4503599/1d", "1737/30d", "1501199875/50m"].map(quota);
    for (number, quota) in quotas.into_iter().enumerate() {
        let mut dice = StdRng::seed_from_u64(number as u64);
        let charge: Charge = (Limit::Posts, Subject::Account(UserId(number as u64 + 1)));
        let (mut model, mut now) = (Model::new(quota), START);
        for step in 0..400 {
            let part = |dice: &mut StdRng, of: u64| [0, 1, of / 7, of / 2, dice.random_range(0..=of)][dice.random_range(0..5)];
            let min_tokens = part(&mut dice, quota.tokens());
            let max_tokens = (min_tokens + part(&mut dice, quota.tokens())).min(quota.tokens());
            let by = part(&mut dice, quota.window() / 3) as i64 * if dice.random_range(0..6) == 0 { -1 } else { 1 };
            app.clock.advance(by);
            now = now.checked_add_signed(by).expect("a time");
            let expected = model.take(now, min_tokens, max_tokens);
            let taken = take(&app.app, charge, quota, min_tokens..=max_tokens).await.expect("a response");
            assert_eq!(taken, expected, "{quota}, step {step}: {min_tokens} to {max_tokens} at {now}");
            let (key, lives) = (format!("rate:{{{}}}:posts", number + 1), model.owed.div_ceil(u128::from(quota.tokens())) as u64);
            if taken.wait == 0 && lives > 0 {
                let ttl: u64 = app.redis.run(&["PTTL", &key]);
                assert!(ttl <= lives && lives - ttl < 60_000, "{quota}, step {step}: {ttl} instead of {lives} ms");
            }
            // Redis expires a bucket by its own clock, which continues in this test: a bucket that would expire soon is deleted at once.
            if lives < 60_000 {
                app.redis.run::<()>(&["DEL", &key]);
                model = Model::new(quota);
            }
        }
        app.clock.advance(START as i64 - now as i64);
    }
}

#[tokio::test]
async fn a_bucket_refills_exactly_at_the_announced_time() {
    let app = TestApp::with(limited(&[])).await;
    for (number, quota) in ["3/1h", "7/30d", "1000/61m"].map(quota).into_iter().enumerate() {
        let charge: Charge = (Limit::Posts, Subject::Account(UserId(number as u64 + 1)));
        let all = quota.tokens()..=quota.tokens();
        assert_eq!(take(&app.app, charge, quota, all).await.expect("a response").taken, quota.tokens());
        for min_tokens in [1, 2, 1, quota.tokens()] {
            let wait = take(&app.app, charge, quota, min_tokens..=min_tokens).await.expect("a response").wait;
            assert!(wait > 0);
            app.clock.advance(wait as i64 - 1);
            assert_eq!(take(&app.app, charge, quota, min_tokens..=min_tokens).await.expect("a response").wait, 1);
            app.clock.advance(1);
            assert_eq!(take(&app.app, charge, quota, min_tokens..=min_tokens).await.expect("a response").taken, min_tokens);
        }
    }
}

#[tokio::test]
async fn a_clock_that_steps_back_changes_no_tokens() {
    let app = TestApp::with(limited(&[])).await;
    let (charge, quota): (Charge, _) = ((Limit::Posts, Subject::Account(UserId(1))), quota("10/1h"));
    let one = async || take(&app.app, charge, quota, 1..=1).await.expect("a response");
    for left in (4..10).rev() {
        assert_eq!(one().await.left, left);
    }
    // The remaining tokens can be taken, and two servers with an hour of clock skew refill nothing between them.
    for left in (0..4).rev() {
        app.clock.advance(if left % 2 == 0 { 3_600_000 } else { -3_600_000 });
        assert_eq!(one().await, BucketReply { taken: 1, left, wait: 0 });
    }
    app.clock.advance(-7_200_000);
    assert_eq!(one().await.wait, 3_600_000, "the wait is at most the time to live of the bucket");
    app.clock.advance(7_200_000);
    assert_eq!(one().await.wait, 360_000);
    app.clock.advance(360_000);
    assert_eq!(one().await.taken, 1);
}

#[tokio::test]
async fn a_new_quota_keeps_the_used_tokens() {
    let app = TestApp::with(limited(&[])).await;
    let charge: Charge = (Limit::Posts, Subject::Account(UserId(1)));
    let remaining = async |text: &str| take(&app.app, charge, quota(text), 0..=0).await.expect("a response").left;
    take(&app.app, charge, quota("10/1h"), 6..=6).await.expect("a response");
    assert_eq!(remaining("10/1h").await, 4);
    assert_eq!(
        (remaining("100/1h").await, remaining("6/1h").await, remaining("10/1h").await),
        (94, 0, 4),
        "a charge of 0 changes nothing"
    );
    assert_eq!((remaining("10/2h").await, remaining("10/30m").await, remaining("10/1h").await), (4, 4, 4));
    take(&app.app, charge, quota("10/1d"), 1..=1).await.expect("a response");
    assert_eq!((remaining("10/1d").await, remaining("10/1h").await), (3, 3));
    app.clock.advance(360_000);
    assert_eq!(remaining("10/1h").await, 4);
    take(&app.app, charge, quota("3/1h"), 1..=1).await.expect("a response");
    assert_eq!(remaining("3/1h").await, 0, "more tokens were taken than the smaller quota has");
}
