//! What was counted by day, and whom it reached, over all shares of a campaign.

use super::super::keys;
use super::super::model::{Counted, InvalidClick, InvalidClicks, Money, Span, Tally, Visitors};
use super::campaigns::shares_of;
use crate::base::error::Error;
use crate::db::{Db, decode};
use redis::{Cmd, cmd};

/// The fields of a tally, as [`tally`] takes them: impressions, clicks, invalid clicks, invalid impressions, spend, invalid clicks by reason.
pub(super) const FIELDS: [&str; 12] =
    ["i", "c", "x", "y", "s", "x-repeated", "x-late", "x-impression", "x-visitor", "x-address", "x-campaign", "x-website"];

/// The tally of the values of [`FIELDS`]; what is not there is 0.
pub(super) fn tally(numbers: &[Option<u64>]) -> Tally {
    let number = |at: usize| numbers.get(at).copied().flatten().unwrap_or(0);
    Tally {
        impressions: number(0),
        clicks: number(1),
        invalid: number(2),
        invalid_impressions: number(3),
        spent: Money(number(4)),
        reasons: InvalidClicks::new(|reason: InvalidClick| number(5 + reason as usize)),
    }
}

/// What each of these days has come to: one tally a day. One pipeline for all of them, of a command a share and day.
pub(in crate::domains::ads) async fn tallies(db: &Db, spans: &[Span]) -> Result<Vec<Vec<Tally>>, Error> {
    let mut replies = db.read_many(spans.iter().flat_map(counts).collect()).await?.into_iter();
    let mut of_day = |shares: u64| {
        let mut counted = (0..shares).map(|_| Ok::<_, Error>(tally(&decode::one::<Vec<_>>(replies.next().unwrap_or_default())?)));
        counted.try_fold(Tally::default(), |sum, counted| Ok(sum.and(counted?)))
    };
    spans.iter().map(|span| span.days.clone().map(|_| of_day(span.shares)).collect()).collect()
}

fn counts(span: &Span) -> impl Iterator<Item = Cmd> {
    let (campaign, fields) = match span.of {
        Counted::Campaign(id) => (id, FIELDS.map(str::to_owned)),
        Counted::Ad(id) => (id.campaign, FIELDS.map(|field| format!("{}.{field}", id.number))),
    };
    let shares = span.shares;
    let all = span.days.clone().flat_map(move |day| shares_of(campaign, shares).map(move |share| keys::tally(share, day)));
    all.map(move |key| cmd("HMGET").arg(key).arg(&fields).take())
}

/// How many visitors there were, more or less. A visitor belongs to one share, so the shares add up. One pipeline for all of them, of a command a
/// share.
pub(in crate::domains::ads) async fn reach(db: &Db, asked: &[Visitors]) -> Result<Vec<u64>, Error> {
    let counts = |of: &Visitors| {
        let day = of.day;
        let key = move |share| day.map_or_else(|| keys::reach(share), |day| keys::reached(share, day));
        shares_of(of.of, of.shares).map(move |share| cmd("PFCOUNT").arg(key(share)).take())
    };
    let mut replies = db.read_many(asked.iter().flat_map(counts).collect()).await?.into_iter();
    let mut of_one = |of: &Visitors| (0..of.shares).map(|_| decode::one::<u64>(replies.next().unwrap_or_default())).sum();
    asked.iter().map(&mut of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_field() {
        for reason in InvalidClick::ALL {
            assert_eq!(FIELDS[5 + reason as usize], format!("x-{}", reason.name()));
        }
        assert_eq!(FIELDS.len(), 5 + InvalidClick::ALL.len());
    }
}
