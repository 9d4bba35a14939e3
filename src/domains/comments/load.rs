//! The batch loaders of comments with the viewer's votes, and of parts of levels.

use super::model::{Comment, Vote};
use super::store::{self, LevelWindow};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CommentId, UserId};
use crate::base::loader::Fetch;
use crate::base::page::Row;
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::sync::Arc;

/// A comment with the viewer's vote.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewedComment {
    /// The comment.
    pub comment: Arc<Comment>,
    /// The viewer's vote.
    pub vote: Vote,
}

/// Loads comments by id; `None` for unknown ids. Whether the viewer may see them is the service's decision.
pub struct CommentFetcher {
    /// The application.
    pub app: App,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for CommentFetcher {
    type Key = CommentId;
    type Value = Option<ViewedComment>;

    fn bytes(value: &Option<ViewedComment>) -> usize {
        value.as_ref().map_or(0, |seen| seen.comment.message.len())
    }

    async fn fetch(&self, keys: &[CommentId]) -> Result<Vec<Option<ViewedComment>>, Error> {
        let secret = self.app.cursors().await?.secret();
        let voter = self.viewer.map(|viewer| move |id| voter(secret, id, viewer));
        let found = store::load(self.app.db(), keys, voter).await?;
        Ok(found.into_iter().map(|found| found.map(|(comment, vote)| ViewedComment { comment: comment.into(), vote })).collect())
    }
}

/// The voter as stored with a vote: a keyed hash under the deployment's secret. Votes do not identify the voter, and votes of one voter on
/// two comments cannot be linked.
pub(super) fn voter(secret: [u8; 16], id: CommentId, user: UserId) -> [u8; 8] {
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"vote");
    for number in [id.status.0, id.number, user.0] {
        hasher.write(&number.to_be_bytes());
    }
    hasher.finish().to_be_bytes()
}

/// Loads parts of levels. A level is the direct replies of a comment, or the comments directly below a status.
pub struct LevelFetcher(pub App);

/// A part of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelKey(pub(super) LevelWindow);

impl Fetch for LevelFetcher {
    type Key = LevelKey;
    type Value = Arc<Vec<Row<u128>>>;

    async fn fetch(&self, keys: &[LevelKey]) -> Result<Vec<Self::Value>, Error> {
        let levels: Vec<LevelWindow> = keys.iter().map(|key| key.0).collect();
        Ok(store::levels(self.0.db(), &levels).await?.into_iter().map(Arc::new).collect())
    }
}
