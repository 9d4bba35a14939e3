//! The batch loader of the viewer's standings to accounts.

use super::model::{RelationKinds, Standing};
use super::store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use tokio::sync::OnceCell;

/// Loads the standings of one viewer to accounts; without a session all are those of strangers, at no cost.
pub struct FetchStandings {
    /// The application.
    app: App,
    /// The viewer, if there is a session.
    pub(super) viewer: Option<UserId>,
    /// The kinds of relations that the viewer has, once they were read. Others are not loaded.
    pub(super) kinds: OnceCell<RelationKinds>,
}

impl FetchStandings {
    /// Makes the loader of one request.
    pub fn new(app: App, viewer: Option<UserId>) -> Self {
        Self { app, viewer, kinds: OnceCell::new() }
    }
}

impl Fetch for FetchStandings {
    type Key = UserId;
    type Value = Standing;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Standing>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![Standing::default(); keys.len()]) };
        let (kinds, now) = (self.kinds.get().copied().unwrap_or(RelationKinds::ALL), self.app.now());
        let mut standings = store::standings(self.app.db(), viewer, keys, kinds).await?;
        for standing in &mut standings {
            standing.mute = standing.mute.filter(|mute| mute.is_active(now));
        }
        Ok(standings)
    }
}
