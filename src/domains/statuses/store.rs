//! Statuses in Redis.

pub(super) mod bookmarks;
pub(super) mod derived;
pub(super) mod edits;
pub(super) mod indexes;
pub(super) mod marks;
mod members;
pub(super) mod pins;
pub(super) mod quotes;
pub(super) mod replies;

use super::keys;
use super::model::{Location, MAX_LIKED, MAX_STATUSES, Mark, ProfilePart, Status, TOMBSTONE_TTL};
use crate::base::audience::ChosenAudience;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{Row, Window};
use crate::db::decode::StoredText;
use crate::db::hash::{Form, HashRecord, HashValue, hash_record};
use crate::db::script::{Call, Script};
use crate::db::{Db, ReadBarrier, decode, ranges};
use crate::domains::conversations::conversation_key;
use crate::domains::entities::TextEntities;
use crate::domains::graph::{FanoutMode, FollowerStats};
use crate::domains::users::user_key;
use bookmarks::BookmarkLookup;
use redis::{Cmd, Value, cmd};
use replies::DeletedEntry;
use std::sync::Arc;

static CREATE_STATUS: Script = Script::new(include_str!("lua/create_status.lua"));
static DELETE_STATUS: Script = Script::allow_oom(include_str!("lua/delete_status.lua"));
static SET_AUDIENCE: Script = Script::allow_oom(include_str!("lua/set_audience.lua"));
static LIKE_STATUS: Script = Script::new(include_str!("lua/like_status.lua"));
static ADD_LIKED: Script = Script::allow_oom(include_str!("lua/add_liked.lua"));
static INDEX_STATUS: Script = Script::allow_oom(include_str!("lua/index_status.lua"));
static UNINDEX_STATUS: Script = Script::allow_oom(include_str!("lua/unindex_status.lua"));

/// A status with the like and the bookmark of a viewer. The bookmark is `None` if it was not read.
pub(super) type MarkedStatus = (Arc<Status>, bool, Option<bool>);

/// Loads statuses with the likes and bookmarks of `viewer`, in the order of `ids`; `None` for unknown ids. One pipeline for the statuses that are
/// not cached, for the viewer's likes, except of cached statuses that nobody likes, and for the bookmarks, which are one command.
pub(super) async fn load(
    db: &Db,
    since: ReadBarrier,
    ids: &[StatusId],
    viewer: Option<UserId>,
    bookmarks: BookmarkLookup,
) -> Result<Vec<Option<MarkedStatus>>, Error> {
    let keys = ids.iter().map(|id| keys::status(*id)).collect();
    let mut unknown_likes = Vec::new();
    let viewer_commands = |cached: &[Option<Arc<Status>>]| {
        let Some(viewer) = viewer else { return Vec::new() };
        unknown_likes = (0..ids.len()).filter(|at| !cached[*at].as_deref().is_some_and(is_liked_by_nobody)).collect();
        let likes = unknown_likes.iter().map(|at| cmd("ZSCORE").arg(keys::likers(ids[*at])).arg(viewer.0).take());
        likes.chain(bookmarks.command(ids)).collect()
    };
    let (found, mut scores) = db.read_cached(since, keys, Status::read, viewer_commands).await?;
    let bookmarked = scores.split_off(unknown_likes.len()).pop();
    let bookmarked = bookmarks.read(ids.len(), bookmarked)?;
    let mut liked = vec![false; ids.len()];
    for (at, score) in unknown_likes.into_iter().zip(scores) {
        liked[at] = score != Value::Nil;
    }
    let marked = |((status, liked), bookmarked): ((Option<_>, _), _)| status.map(|status| (status, liked, bookmarked));
    Ok(found.into_iter().zip(liked).zip(bookmarked).map(marked).collect())
}

/// Loads a status; `None` for an unknown id. One pipeline.
pub(super) async fn get(db: &Db, id: StatusId) -> Result<Option<Arc<Status>>, Error> {
    let found = load(db, db.read_barrier(), &[id], None, BookmarkLookup::NotSelected).await?.pop();
    Ok(found.flatten().map(|(status, ..)| status))
}

/// The cached status, which may be out of date; `None` if it is not cached.
pub(super) fn get_speculative(db: &Db, id: StatusId) -> Option<Arc<Status>> {
    Some(db.get_speculative(keys::status(id))?.value)
}

/// As [`load`], if all of the statuses are cached and `viewer` certainly likes none of them.
pub(super) fn get_cached(db: &Db, since: ReadBarrier, ids: &[StatusId], viewer: Option<UserId>) -> Option<Vec<Arc<Status>>> {
    db.get_cached(since, ids.iter().map(|id| keys::status(*id)), |status| viewer.is_none() || is_liked_by_nobody(status))
}

/// Whether a status has no likes: then the viewer's like is not looked up.
fn is_liked_by_nobody(status: &Status) -> bool {
    status.likes == 0
}

hash_record!(Status {
    "id" => id,
    "uid" => author,
    "message" => message,
    "posted" => posted_at,
    "likes" => likes,
    "comments" => comments,
    "lat" & "lon" => location,
    "audience" & "circle" => audience,
    "entities" => entities,
    "reply" => reply,
    "policy" => reply_policy,
    "replies" => replies,
    "edited" => last_edit,
    "reposts" => reposts,
    "quote" => quote,
    "quotes" => quotes
});

impl HashValue<2> for Option<Location> {
    const FORM: Form = Form::Optional;

    fn read([latitude, longitude]: [Option<StoredText>; 2]) -> Result<Option<Self>, Error> {
        let degrees = |text: Option<StoredText>| text.map(|text| text.number()).transpose();
        let place = degrees(latitude)?.zip(degrees(longitude)?);
        Ok(Some(place.map(|(latitude, longitude)| Location { latitude, longitude })))
    }

    fn write(&self) -> Option<[String; 2]> {
        self.map(|place| [place.latitude.to_string(), place.longitude.to_string()])
    }
}

/// A status without these fields is public. The second field is empty without a list.
impl HashValue<2> for ChosenAudience {
    const FORM: Form = Form::Optional;

    fn read(texts: [Option<StoredText>; 2]) -> Result<Option<Self>, Error> {
        Ok(Some(audience_of(&texts.map(|text| text.map(|text| text.0)))))
    }

    fn write(&self) -> Option<[String; 2]> {
        (*self != Self::Public)
            .then(|| [self.kind().name().to_owned(), self.list().map(|list| list.0.to_string()).unwrap_or_default()])
    }
}

/// Writes a status once; `false` if it was deleted.
pub(super) async fn create(db: &Db, status: &Status) -> Result<bool, Error> {
    let mut call = Call::new(&CREATE_STATUS, [keys::status(status.id), keys::tombstone(status.id)]);
    for (name, value) in status.fields() {
        call = call.arg(name).arg(value);
    }
    db.call(call).await
}

/// The content of a status that was deleted just now.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeletedStatus {
    pub message: String,
    pub entities: TextEntities,
    pub location: Option<Location>,
    pub audience: ChosenAudience,
    /// Its entry in a conversation, if it has one.
    pub entry: Option<DeletedEntry>,
    /// The status that it quoted.
    pub quote: Option<StatusId>,
}

/// Result of deleting a status.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DeleteStatusResult {
    /// The status is deleted; its content.
    Deleted(DeletedStatus),
    /// The author has no such status.
    NotFound,
    /// The status has another last edit than expected.
    Edited,
}

/// Deletes a status of `author` if the stored field of its last edit equals `last_edit`: the commit.
pub(super) async fn delete(db: &Db, id: StatusId, author: UserId, last_edit: &str) -> Result<DeleteStatusResult, Error> {
    let fields = db.call::<Vec<Option<String>>>(delete_call(id, author, Some(last_edit))).await?;
    if fields.len() == 1 {
        return Ok(DeleteStatusResult::Edited);
    }
    let mut fields = fields.into_iter();
    let Some(message) = fields.next() else { return Ok(DeleteStatusResult::NotFound) };
    let mut degrees = || fields.next().flatten().and_then(|text| text.parse().ok());
    let location = degrees().zip(degrees()).map(|(latitude, longitude)| Location { latitude, longitude });
    let audience = audience_of(&[fields.next().flatten(), fields.next().flatten()]);
    let tombstone = fields.next().flatten().unwrap_or_default();
    let (entry, quote) = (DeletedEntry::parse(id, &tombstone), quotes::parse_tombstone(&tombstone));
    let message = message.unwrap_or_default();
    let entities = fields.next().flatten().and_then(|record| TextEntities::parse(&record)).unwrap_or_default();
    Ok(DeleteStatusResult::Deleted(DeletedStatus { message, entities, location, audience, entry, quote }))
}

fn audience_of([kind, list]: &[Option<String>; 2]) -> ChosenAudience {
    ChosenAudience::parse(kind.as_deref(), list.as_deref()).unwrap_or(ChosenAudience::UNREADABLE)
}

/// The audience of a status as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredAudience {
    pub(super) audience: ChosenAudience,
    texts: [Option<String>; 2],
}

/// Result of changing the audience of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetAudienceResult {
    /// It is changed.
    Set,
    /// The author has no such status.
    NotFound,
    /// Its audience is another one than expected.
    Changed,
}

/// Changes the audience of a status of `author` from `before`, as it was read, to `after`: the commit. One script on the status's hash tag.
pub(super) async fn set_audience(
    db: &Db,
    id: StatusId,
    author: UserId,
    before: &StoredAudience,
    after: ChosenAudience,
) -> Result<SetAudienceResult, Error> {
    let mut call = Call::new(&SET_AUDIENCE, [keys::status(id)]).arg(author.0);
    let before = before.texts.iter().map(|text| text.clone().unwrap_or_default());
    for text in before.chain(after.write().unwrap_or_default()) {
        call = call.arg(text);
    }
    Ok(match db.call::<u8>(call).await? {
        1 => SetAudienceResult::Set,
        0 => SetAudienceResult::NotFound,
        _ => SetAudienceResult::Changed,
    })
}

/// The audience of a status of `author`; `None` if there is no such status. One command, not from the cache.
pub(super) async fn audience(db: &Db, id: StatusId, author: UserId) -> Result<Option<StoredAudience>, Error> {
    let fields = cmd("HMGET").arg(keys::status(id)).arg(&["uid", "audience", "circle"]).take();
    let (stored_author, kind, list): (Option<u64>, Option<String>, Option<String>) = db.read(fields).await?;
    let texts = [kind, list];
    Ok((stored_author == Some(author.0)).then(|| StoredAudience { audience: audience_of(&texts), texts }))
}

fn delete_call(id: StatusId, author: UserId, last_edit: Option<&str>) -> Call {
    let keys = [keys::status(id), keys::tombstone(id), conversation_key(id), keys::versions(id), keys::quotes(id)];
    Call::new(&DELETE_STATUS, keys).arg(author.0).arg(TOMBSTONE_TTL).arg(last_edit.unwrap_or("*"))
}

/// Deletes statuses of `author`; ignores statuses of other authors and unknown ids. One pipeline of scripts.
pub(super) async fn delete_many(db: &Db, author: UserId, ids: &[StatusId]) -> Result<(), Error> {
    db.call_many(ids.iter().map(|id| delete_call(*id, author, None)).collect()).await.map(drop)
}

/// Result of adding a status to its author's profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddToProfileResult {
    /// It is in the profile; the author's followers at that time, and whether the author was private.
    Listed(FollowerStats, bool),
    NoAccount,
    LimitReached,
}

/// Adds a status to its author's profile.
pub(super) async fn index(db: &Db, author: UserId, id: StatusId) -> Result<AddToProfileResult, Error> {
    let call = Call::new(&INDEX_STATUS, [keys::profile(author), user_key(author)]).arg(id.0).arg(MAX_STATUSES);
    let (listed, followers, mode, is_private): (i64, u64, String, bool) = db.call(call).await?;
    Ok(match listed {
        1 => AddToProfileResult::Listed(FollowerStats { followers, mode: FanoutMode::parse(&mode)? }, is_private),
        0 => AddToProfileResult::NoAccount,
        _ => AddToProfileResult::LimitReached,
    })
}

/// Removes statuses from their author's profile and pins. One pipeline of scripts.
pub(super) async fn unindex(db: &Db, author: UserId, ids: &[StatusId]) -> Result<(), Error> {
    let keys = || [keys::profile(author), user_key(author), keys::pins(author)];
    let call = |id: &StatusId| Call::new(&UNINDEX_STATUS, keys()).arg(id.0);
    db.call_many(ids.iter().map(call).collect()).await.map(drop)
}

/// The status's side of a like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LikeResult {
    /// The account likes the status; the like's id.
    Liked(u64),
    /// The account does not like it.
    NotLiked,
    /// There is no such status.
    NoStatus,
}

/// Adds a like, or removes it (`None`): the commit, on the status's hash tag.
pub(super) async fn like(db: &Db, id: StatusId, user: UserId, like: Option<u64>) -> Result<LikeResult, Error> {
    Ok(match db.call::<i64>(like_call(id, user, like)).await? {
        -1 => LikeResult::NoStatus,
        0 => LikeResult::NotLiked,
        like => LikeResult::Liked(like.unsigned_abs()),
    })
}

fn like_call(id: StatusId, user: UserId, like: Option<u64>) -> Call {
    Call::new(&LIKE_STATUS, [keys::status(id), keys::likers(id)]).arg(user.0).arg(like.unwrap_or(0))
}

/// The id of a like on the status's side; `None` also if there is no such status. One pipeline on its hash tag.
pub(super) async fn current_like(db: &Db, id: StatusId, user: UserId) -> Result<Option<u64>, Error> {
    let score = cmd("ZSCORE").arg(keys::likers(id)).arg(user.0).take();
    let mut replies = db.read_many(vec![score, cmd("EXISTS").arg(keys::status(id)).take()]).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (score, status_exists): (Option<f64>, bool) = (decode::value(reply())?, decode::value(reply())?);
    Ok(score.filter(|_| status_exists).map(|score| score as u64))
}

/// Result of writing the liker's side of a like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LikeIndexResult {
    Indexed,
    NoAccount,
    LimitReached,
}

/// Writes the liker's side of a like. One script on the liker's hash tag.
pub(super) async fn add_liked(db: &Db, user: UserId, id: StatusId, like: u64) -> Result<LikeIndexResult, Error> {
    let call = Call::new(&ADD_LIKED, [keys::liked(user), user_key(user)]).arg(id.0).arg(like).arg(MAX_LIKED);
    Ok(match db.call::<i64>(call).await? {
        1 => LikeIndexResult::Indexed,
        0 => LikeIndexResult::NoAccount,
        _ => LikeIndexResult::LimitReached,
    })
}

/// Removes the likers' sides of likes. One pipeline; no round trip if `likes` is empty.
pub(super) async fn remove_liked(db: &Db, likes: &[(UserId, StatusId)]) -> Result<(), Error> {
    let command = |(user, id): &(UserId, StatusId)| cmd("ZREM").arg(keys::liked(*user)).arg(id.0).take();
    db.write_many(likes.iter().map(command).collect()).await.map(drop)
}

/// Up to `limit` likers of each deleted status; no likers of a status that exists. One pipeline.
pub(super) async fn remaining_likers(db: &Db, ids: &[StatusId], limit: usize) -> Result<Vec<(StatusId, Vec<UserId>)>, Error> {
    members::list_remaining(db, ids, keys::likers, limit).await
}

/// Removes likers of deleted statuses. One pipeline; no round trip without likers.
pub(super) async fn remove_likers(db: &Db, likers: &[(StatusId, Vec<UserId>)]) -> Result<(), Error> {
    members::remove(db, likers, keys::likers).await
}

/// Windows of the statuses that an account likes. One pipeline.
pub(super) async fn liked(db: &Db, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::liked(user), windows).await
}

/// Removes likes of an account on the statuses' sides; ignores likes that do not exist. One pipeline of scripts.
pub(super) async fn unlike_many(db: &Db, user: UserId, ids: &[StatusId]) -> Result<(), Error> {
    db.call_many(ids.iter().map(|id| like_call(*id, user, None)).collect()).await.map(drop)
}

/// Windows of the accounts that like a status. One pipeline.
pub(super) async fn likers(db: &Db, id: StatusId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::likers(id), windows).await
}

/// Windows of an author's statuses. One pipeline.
pub(super) async fn profile(db: &Db, author: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    let windows: Vec<_> = windows.iter().map(|window| (author, *window)).collect();
    profiles(db, &windows).await
}

/// Windows of several authors' statuses, in the order of `windows`. One pipeline.
pub(super) async fn profiles(db: &Db, windows: &[(UserId, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    let commands = windows.iter().map(|(author, window)| ranges::ids_command(&keys::profile(*author), window)).collect();
    db.read_many(commands).await?.into_iter().map(decode::ids).collect()
}

/// Windows of the statuses of accounts, or of their reposts, in the order of `windows`. The position of a repost is its id. One pipeline.
pub(super) async fn profile_parts(db: &Db, windows: &[(UserId, ProfilePart, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    let command = |(user, part, window): &(UserId, ProfilePart, Window)| match part {
        ProfilePart::Statuses => ranges::ids_command(&keys::profile(*user), window),
        ProfilePart::Reposts => ranges::command(&keys::marked(Mark::Repost, *user), window),
    };
    let replies = db.read_many(windows.iter().map(command).collect()).await?;
    let rows = |((_, part, _), reply): (&(UserId, ProfilePart, Window), Value)| match part {
        ProfilePart::Statuses => decode::ids(reply),
        ProfilePart::Reposts => decode::rows(reply),
    };
    windows.iter().zip(replies).map(rows).collect()
}

/// The author of a status; `None` for an unknown id.
pub(super) async fn author(db: &Db, id: StatusId) -> Result<Option<UserId>, Error> {
    Ok(db.read::<Option<u64>>(cmd("HGET").arg(keys::status(id)).arg("uid").take()).await?.map(UserId))
}

/// The authors of statuses, in the order of `ids`. One pipeline; no round trip if `ids` is empty.
pub(super) async fn authors(db: &Db, ids: &[StatusId]) -> Result<Vec<Option<UserId>>, Error> {
    let commands = ids.iter().map(|id| cmd("HGET").arg(keys::status(*id)).arg("uid").take()).collect();
    let author = |reply| Ok(decode::value::<Option<u64>>(reply)?.map(UserId));
    db.read_many(commands).await?.into_iter().map(author).collect()
}

/// Whether statuses exist, in the order of `ids`. One pipeline; no round trip if `ids` is empty.
pub(super) async fn exist(db: &Db, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    let commands = ids.iter().map(|id| cmd("EXISTS").arg(keys::status(*id)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::value).collect()
}

/// Plain writes for bulk loads, which set the counts themselves.
pub(super) struct StatusBulkCommands;

impl StatusBulkCommands {
    /// A status.
    pub(super) fn status(status: &Status) -> Cmd {
        let mut command = cmd("HSET");
        command.arg(keys::status(status.id));
        for (name, value) in status.fields() {
            command.arg(name).arg(value);
        }
        command
    }

    /// Statuses of one author's profile.
    pub(super) fn profile(author: UserId, ids: &[StatusId]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(keys::profile(author));
        for id in ids {
            command.arg(id.0).arg(id.0);
        }
        command
    }

    /// A status that an account likes, with the like's id: the other side of [`Self::likers`].
    pub(super) fn liked(user: UserId, id: StatusId, like: u64) -> Cmd {
        cmd("ZADD").arg(keys::liked(user)).arg(like).arg(id.0).take()
    }

    /// The accounts that like a status, with the likes' ids.
    pub(super) fn likers(id: StatusId, likers: &[(UserId, u64)]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(keys::likers(id));
        for (user, like) in likers {
            command.arg(*like).arg(user.0);
        }
        command
    }
}
