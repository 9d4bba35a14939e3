//! Reads of tallies by day and of reach, over all shares of a campaign.

use crate::base::error::Error;
use crate::db::{Db, decode};
use crate::domains::ads::budget::store::counts::{FIELDS, tally};
use crate::domains::ads::keys;
use crate::domains::ads::model::Share;
use crate::domains::ads::model::Tally;
use crate::domains::ads::reporting::model::{ReachQuery, ReportDays, ReportSubject};
use redis::{Cmd, cmd};

/// Returns the tally of each of these days. One pipeline for all of them, with one command for each share and day.
pub(in crate::domains::ads) async fn tallies(db: &Db, spans: &[ReportDays]) -> Result<Vec<Vec<Tally>>, Error> {
    let mut replies = db.read_many(spans.iter().flat_map(counts).collect()).await?.into_iter();
    let mut of_day = |shares: u64| {
        let mut counted =
            (0..shares).map(|_| Ok::<_, Error>(tally(&decode::value::<Vec<_>>(replies.next().unwrap_or_default())?)));
        counted.try_fold(Tally::default(), |sum, counted| Ok(sum.plus(counted?)))
    };
    spans.iter().map(|span| span.days.clone().map(|_| of_day(span.shares)).collect()).collect()
}

fn counts(span: &ReportDays) -> impl Iterator<Item = Cmd> {
    let (campaign, fields) = match span.subject {
        ReportSubject::Campaign(id) => (id, FIELDS.map(str::to_owned)),
        ReportSubject::Ad(id) => (id.campaign, FIELDS.map(|field| format!("{}.{field}", id.number))),
    };
    let shares = span.shares;
    let all = span.days.clone().flat_map(move |day| Share::all(campaign, shares).map(move |share| keys::daily_stats(share, day)));
    all.map(move |key| cmd("HMGET").arg(key).arg(&fields).take())
}

/// Returns the approximate number of visitors. A visitor belongs to one share, so the numbers of the shares are added. One pipeline for all
/// of them, with one command for each share.
pub(in crate::domains::ads) async fn reach(db: &Db, queries: &[ReachQuery]) -> Result<Vec<u64>, Error> {
    let counts = |query: &ReachQuery| {
        let day = query.day;
        let key = move |share| day.map_or_else(|| keys::reach(share), |day| keys::daily_reach(share, day));
        Share::all(query.campaign, query.shares).map(move |share| cmd("PFCOUNT").arg(key(share)).take())
    };
    let mut replies = db.read_many(queries.iter().flat_map(counts).collect()).await?.into_iter();
    let mut sum = |query: &ReachQuery| (0..query.shares).map(|_| decode::value::<u64>(replies.next().unwrap_or_default())).sum();
    queries.iter().map(&mut sum).collect()
}
