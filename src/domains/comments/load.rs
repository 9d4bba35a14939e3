//! The batch loaders of comments: themselves with what the viewer thinks of each, and parts of levels.

use super::model::{Comment, Vote};
use super::store::{self, Level};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CommentId, UserId};
use crate::base::loader::Fetch;
use crate::base::page::Row;
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::sync::Arc;

/// A comment as a viewer sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The comment.
    pub comment: Arc<Comment>,
    /// What the viewer thinks of it.
    pub vote: Vote,
}

/// Comments by id; `None` for what is not there. Whether it may be shown is the service's to say.
pub struct FetchComments {
    /// The application.
    pub app: App,
    /// Who asks.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchComments {
    type Key = CommentId;
    type Value = Option<Seen>;

    fn bytes(value: &Option<Seen>) -> usize {
        value.as_ref().map_or(0, |seen| seen.comment.message.len())
    }

    async fn fetch(&self, keys: &[CommentId]) -> Result<Vec<Option<Seen>>, Error> {
        let secret = self.app.cursors().await?.secret();
        let voter = self.viewer.map(|viewer| move |id| voter(secret, id, viewer));
        let found = store::load(self.app.db(), keys, voter).await?;
        Ok(found.into_iter().map(|found| found.map(|(comment, vote)| Seen { comment: comment.into(), vote })).collect())
    }
}

/// Who votes on a comment, as votes are kept: under the deployment's secret, so that nobody's votes name them, and those of one on two
/// comments have nothing in common.
pub(super) fn voter(secret: [u8; 16], id: CommentId, user: UserId) -> [u8; 8] {
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"vote");
    for number in [id.status.0, id.number, user.0] {
        hasher.write(&number.to_be_bytes());
    }
    hasher.finish().to_be_bytes()
}

/// Parts of levels.
pub struct FetchLevels(pub App);

/// A part of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelKey(pub(super) Level);

impl Fetch for FetchLevels {
    type Key = LevelKey;
    type Value = Arc<Vec<Row<u128>>>;

    async fn fetch(&self, keys: &[LevelKey]) -> Result<Vec<Self::Value>, Error> {
        let levels: Vec<Level> = keys.iter().map(|key| key.0).collect();
        Ok(store::levels(self.0.db(), &levels).await?.into_iter().map(Arc::new).collect())
    }
}
