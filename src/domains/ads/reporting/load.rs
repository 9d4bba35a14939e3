//! Batch loaders of reports.

use crate::base::error::Error;
use crate::base::loader::Fetch;
use crate::db::Db;
use crate::domains::ads::model::Tally;
use crate::domains::ads::reporting::model::{ReachQuery, ReportDays};
use crate::domains::ads::reporting::store;
use std::sync::Arc;

/// Batch loader of tallies by day, for any viewer. One pipeline.
pub struct TallyFetcher(pub Db);

impl Fetch for TallyFetcher {
    type Key = ReportDays;
    type Value = Arc<Vec<Tally>>;

    async fn fetch(&self, keys: &[ReportDays]) -> Result<Vec<Arc<Vec<Tally>>>, Error> {
        Ok(store::tallies(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// Batch loader of the reach, for any viewer. One pipeline.
pub struct ReachFetcher(pub Db);

impl Fetch for ReachFetcher {
    type Key = ReachQuery;
    type Value = u64;

    async fn fetch(&self, keys: &[ReachQuery]) -> Result<Vec<u64>, Error> {
        store::reach(&self.0, keys).await
    }
}
