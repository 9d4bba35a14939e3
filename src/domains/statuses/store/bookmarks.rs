//! The lookup of the viewer's bookmarks, which is a command in the pipeline of the statuses.

use super::super::keys;
use super::super::model::Mark;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::db::{Db, ReadBarrier, decode};
use crate::domains::users::{User, user_key};
use redis::{Cmd, Value, cmd};

/// How the viewer's bookmarks of statuses are determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum BookmarkLookup {
    /// The request does not select them.
    NotSelected,
    /// There is no session, or the viewer's account is cached and has no bookmark.
    NoBookmarks,
    /// They are read from the bookmarks of this account.
    Read(UserId),
}

impl BookmarkLookup {
    /// The lookup for a viewer. No round trip.
    pub(in super::super) fn of(db: &Db, since: ReadBarrier, viewer: Option<UserId>, is_selected: bool) -> Self {
        let Some(viewer) = viewer else { return Self::NoBookmarks };
        if !is_selected {
            return Self::NotSelected;
        }
        let has_none = |account: &User| account.bookmarks.0 == 0;
        match db.get_cached(since, [user_key(viewer)].into_iter(), has_none) {
            Some(_) => Self::NoBookmarks,
            None => Self::Read(viewer),
        }
    }

    /// The command that reads the bookmarks of `ids`: one for any number of them. `None` if nothing must be read.
    pub(super) fn command(self, ids: &[StatusId]) -> Option<Cmd> {
        let Self::Read(viewer) = self else { return None };
        let members: Vec<u64> = ids.iter().map(|id| id.0).collect();
        (!members.is_empty()).then(|| cmd("ZMSCORE").arg(keys::marked(Mark::Bookmark, viewer)).arg(members).take())
    }

    /// Whether each of `count` statuses is bookmarked, from the reply to [`Self::command`]; all `None` if the request does not select them.
    pub(super) fn read(self, count: usize, reply: Option<Value>) -> Result<Vec<Option<bool>>, Error> {
        match (self, reply) {
            (Self::NotSelected, _) => Ok(vec![None; count]),
            (Self::Read(_), Some(reply)) => {
                let scores: Vec<Option<f64>> = decode::value(reply)?;
                Ok(scores.into_iter().map(|score| Some(score.is_some())).collect())
            }
            _ => Ok(vec![Some(false); count]),
        }
    }
}
