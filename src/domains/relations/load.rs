//! The batch loader of the viewer's standings to accounts.

use super::model::Standing;
use super::store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;

/// Loads the standings of one viewer to accounts; without a session all are those of strangers, at no cost.
pub struct FetchStandings {
    /// The application.
    pub app: App,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchStandings {
    type Key = UserId;
    type Value = Standing;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Standing>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![Standing::default(); keys.len()]) };
        let now = self.app.now();
        let mutes = store::mutes_of(self.app.db(), viewer, keys).await?;
        Ok(mutes.into_iter().map(|mute| Standing { mute: mute.filter(|mute| mute.is_active(now)) }).collect())
    }
}
