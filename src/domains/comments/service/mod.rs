//! The use cases of comments: what may be shown here, changes in `change`, branches and whole threads in `clear`, levels in `read`, the
//! thread in reading order in `tree`.

mod change;
mod clear;
mod mend;
mod read;
mod tree;

pub use change::{add, delete, edit, settle, tell_votes, vote};
pub use clear::{end, purge_account, settle_branch, settle_thread};
pub use mend::{clear_thread, count_votes, place, rebuild_thread, strip};
pub use read::{encode, replies, replies_id};
pub use tree::{Tree, TreeArgs, tree};

use super::load::Seen;
use super::model::{Comment, Event, EventId, Read, Vote};
use super::store::{self, Log};
use crate::app::App;
use crate::base::error::{Error, UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::page::{Cursors, ListId};
use crate::base::request::Loaders;
use crate::domains::statuses::service as statuses;
use crate::domains::users::User;
use futures_util::try_join;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A comment that may be shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The comment, as it is kept.
    pub comment: Arc<Comment>,
    /// What the viewer thinks of it.
    pub vote: Vote,
    /// Who wrote it; `None` once it was deleted, or its author's account.
    pub author: Option<Arc<User>>,
}

impl Shown {
    /// Whether nothing is left of it but its place.
    pub const fn is_deleted(&self) -> bool {
        self.author.is_none()
    }
}

/// What may be shown of `ids`, in their order: what is there, under a status that may be shown, and has everything above it; what was taken
/// away with its branch is there no more, cleared away or not. This is the one place that says so. Statuses and comments,
/// those above them, and authors: a round trip each, where they are not at hand.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn shown(loaders: &Loaders, ids: impl IntoIterator<Item = CommentId>) -> Result<Vec<Option<Shown>>, Error> {
    let ids: Vec<CommentId> = ids.into_iter().collect();
    let under: BTreeSet<StatusId> = ids.iter().map(|id| id.status).collect();
    let (statuses, found) =
        try_join!(statuses::shown(loaders, under.iter().copied()), loaders.comments.load_many(ids.iter().copied()))?;
    let hidden: HashSet<StatusId> = under.into_iter().zip(statuses).filter(|(_, it)| it.is_none()).map(|(id, _)| id).collect();
    let above: BTreeSet<CommentId> = found.iter().flatten().flat_map(|seen| seen.comment.ancestors()).collect();
    let there = loaders.comments.load_many(above.iter().copied()).await?;
    let gone: HashSet<CommentId> = above.into_iter().zip(there).filter(|(_, it)| it.is_none()).map(|(id, _)| id).collect();
    let authors: BTreeSet<UserId> = found.iter().flatten().filter_map(|seen| seen.comment.author).collect();
    let users = loaders.users.load_many(authors.iter().copied()).await?;
    let users: HashMap<UserId, Arc<User>> = authors.into_iter().zip(users).filter_map(|(id, user)| Some((id, user?))).collect();
    let stands = |comment: &Comment| !hidden.contains(&comment.id.status) && comment.ancestors().all(|id| !gone.contains(&id));
    let present = |seen: Seen| Shown {
        author: seen.comment.author.and_then(|author| users.get(&author).cloned()),
        vote: if seen.comment.author.is_some() { seen.vote } else { Vote::None },
        comment: seen.comment,
    };
    Ok(found.into_iter().map(|seen| seen.filter(|seen| stands(&seen.comment)).map(present)).collect())
}

/// One of them.
async fn one(loaders: &Loaders, id: CommentId) -> Result<Option<Shown>, Error> {
    Ok(shown(loaders, [id]).await?.pop().flatten())
}

/// The row for a comment that is not there, or not to be seen.
pub fn not_found(field: &'static str) -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such comment.", &[field])
}

fn log(app: &App) -> Log {
    Log { now: app.now(), age: app.config().events_age }
}

/// The newest event of a thread, and how many living comments there are: what is read after this misses no event up to it. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn position(app: &App, status: StatusId) -> Result<(EventId, u64), Error> {
    store::position(app.db(), status).await
}

/// The cursor of the newest event of a thread, and how many living comments there are. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sync_cursor(app: &App, status: StatusId) -> Result<(String, u64), Error> {
    let (last, count) = position(app, status).await?;
    Ok((encode_event(&app.cursors().await?, status, last), count))
}

/// The cursor of an event of a thread.
pub fn encode_event(cursors: &Cursors, status: StatusId, id: EventId) -> String {
    cursors.sign(events_id(status), &[id.at.to_be_bytes(), id.number.to_be_bytes()].concat())
}

/// The event that a cursor names; `None` for one that is forged or of another thread.
pub fn decode_event(cursors: &Cursors, status: StatusId, text: &str) -> Option<EventId> {
    let bytes = cursors.verify(events_id(status), text)?;
    let (at, number) = bytes.split_at_checked(8)?;
    Some(EventId { at: u64::from_be_bytes(at.try_into().ok()?), number: u64::from_be_bytes(number.try_into().ok()?) })
}

/// What such cursors belong to.
const fn events_id(status: StatusId) -> ListId {
    ListId { kind: b'c', owner: status.0 }
}

/// What has happened in a thread after an event, in order, at most `limit`. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn events(app: &App, status: StatusId, after: EventId, limit: usize) -> Result<Read, Error> {
    store::events(app.db(), status, after, limit).await
}

/// The channel that a thread is told on.
pub fn channel(status: StatusId) -> String {
    store::channel(status)
}

/// What a message on a channel says; `None` for what is not ours.
pub fn heard(channel: &str, message: &[u8]) -> Option<Event> {
    store::published(store::thread_of(channel)?, message)
}
