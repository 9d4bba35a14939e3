//! Statuses in Redis.

use super::keys;
use super::model::{GONE_FOR, Location, MAX_STATUSES, Status};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::error::Error;
use crate::graph::Reach;
use crate::ids::{StatusId, UserId};
use crate::page::{Row, Window};
use crate::users::user_key;
use redis::{Cmd, Value, cmd};

static CREATE_STATUS: Script = Script::new(include_str!("lua/create_status.lua"));
static DELETE_STATUS: Script = Script::new(include_str!("lua/delete_status.lua"));
static LIKE_STATUS: Script = Script::new(include_str!("lua/like_status.lua"));
static INDEX_STATUS: Script = Script::new(include_str!("lua/index_status.lua"));
static UNINDEX_STATUS: Script = Script::new(include_str!("lua/unindex_status.lua"));

/// Statuses by id with whether `viewer` likes each, in their order; `None` for what is not there. One pipeline.
pub(super) async fn load(db: &Db, ids: &[StatusId], viewer: Option<UserId>) -> Result<Vec<Option<(Status, bool)>>, Error> {
    let mut commands: Vec<Cmd> = ids.iter().map(|id| cmd("HGETALL").arg(keys::status(*id)).take()).collect();
    if let Some(viewer) = viewer {
        commands.extend(ids.iter().map(|id| cmd("ZSCORE").arg(keys::likers(*id)).arg(viewer.0).take()));
    }
    let mut replies = db.read_many(commands).await?;
    let liked = replies.split_off(ids.len());
    let mut liked = liked.into_iter().map(|score| score != Value::Nil);
    let with_like = |reply| {
        let liked = liked.next().unwrap_or(false);
        Ok(decode_status(reply)?.map(|status| (status, liked)))
    };
    replies.into_iter().map(with_like).collect()
}

fn decode_status(reply: Value) -> Result<Option<Status>, Error> {
    let (id, author) = (StatusId(0), UserId(0));
    let mut status = Status { id, author, message: String::new(), posted_at: 0, likes: 0, comments: 0, location: None };
    let (mut latitude, mut longitude) = (None, None);
    decode::fields(reply, |name, value| {
        match name {
            "id" => status.id = StatusId(value.number()?),
            "uid" => status.author = UserId(value.number()?),
            "message" => status.message = value.0,
            "posted" => status.posted_at = value.number()?,
            "likes" => status.likes = value.number()?,
            "comments" => status.comments = value.number()?,
            "lat" => latitude = Some(value.number()?),
            "lon" => longitude = Some(value.number()?),
            _ => {}
        }
        Ok(())
    })?;
    status.location = latitude.zip(longitude).map(|(latitude, longitude)| Location { latitude, longitude });
    Ok((status.id.0 > 0 && status.author.0 > 0).then_some(status))
}

/// Writes a status once; `false` when it was deleted since.
pub(super) async fn create(db: &Db, status: &Status) -> Result<bool, Error> {
    let mut call = Call::new(&CREATE_STATUS, [keys::status(status.id), keys::gone(status.id)]);
    for (name, value) in hash_of(status) {
        call = call.arg(name).arg(value);
    }
    db.call(call).await
}

fn hash_of(status: &Status) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("id", status.id.0.to_string()),
        ("uid", status.author.0.to_string()),
        ("message", status.message.clone()),
        ("posted", status.posted_at.to_string()),
        ("likes", status.likes.to_string()),
        ("comments", status.comments.to_string()),
    ];
    if let Some(place) = status.location {
        fields.push(("lat", place.latitude.to_string()));
        fields.push(("lon", place.longitude.to_string()));
    }
    fields
}

/// Takes a status of `author` away: the commit. `false` when there is none.
pub(super) async fn delete(db: &Db, id: StatusId, author: UserId) -> Result<bool, Error> {
    let keys = [keys::status(id), keys::gone(id), keys::likers(id)];
    db.call(Call::new(&DELETE_STATUS, keys).arg(author.0).arg(GONE_FOR)).await
}

/// What listing a status in its author's profile came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexed {
    /// It is listed, and statuses that are listed now reach the author's followers in this way.
    Listed(Reach),
    NoAccount,
    LimitReached,
}

/// Lists a status in its author's profile.
pub(super) async fn index(db: &Db, author: UserId, id: StatusId) -> Result<Indexed, Error> {
    let call = Call::new(&INDEX_STATUS, [keys::profile(author), user_key(author)]).arg(id.0).arg(MAX_STATUSES);
    let (listed, reach): (i64, String) = db.call(call).await?;
    Ok(match listed {
        1 => Indexed::Listed(Reach::of(&reach)?),
        0 => Indexed::NoAccount,
        _ => Indexed::LimitReached,
    })
}

/// Takes a status out of its author's profile.
pub(super) async fn unindex(db: &Db, author: UserId, id: StatusId) -> Result<(), Error> {
    let call = Call::new(&UNINDEX_STATUS, [keys::profile(author), user_key(author)]).arg(id.0);
    db.call::<u64>(call).await.map(drop)
}

/// Sets or (with `None`) takes back a like; `false` when there is no such status.
pub(super) async fn like(db: &Db, id: StatusId, user: UserId, like: Option<u64>) -> Result<bool, Error> {
    db.call(Call::new(&LIKE_STATUS, [keys::status(id), keys::likers(id)]).arg(user.0).arg(like.unwrap_or(0))).await
}

/// Windows of who likes a status. One pipeline.
pub(super) async fn likers(db: &Db, id: StatusId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::likers(id), windows).await
}

/// Windows of an author's statuses. One pipeline.
pub(super) async fn profile(db: &Db, author: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::profile(author), windows).await
}

/// Windows of several authors' statuses, in their order. One pipeline.
pub(super) async fn profiles(db: &Db, windows: &[(UserId, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    let commands = windows.iter().map(|(author, window)| ranges::command(&keys::profile(*author), window)).collect();
    db.read_many(commands).await?.into_iter().map(decode::rows).collect()
}

/// Whose a status is; `None` when it is not there.
pub(super) async fn author(db: &Db, id: StatusId) -> Result<Option<UserId>, Error> {
    Ok(db.read::<Option<u64>>(cmd("HGET").arg(keys::status(id)).arg("uid").take()).await?.map(UserId))
}

/// Whose each of `ids` is, in their order. One pipeline; none costs nothing.
pub(super) async fn authors(db: &Db, ids: &[StatusId]) -> Result<Vec<Option<UserId>>, Error> {
    let commands = ids.iter().map(|id| cmd("HGET").arg(keys::status(*id)).arg("uid").take()).collect();
    let author = |reply| Ok(decode::one::<Option<u64>>(reply)?.map(UserId));
    db.read_many(commands).await?.into_iter().map(author).collect()
}

/// Which of `ids` are there, in their order. One pipeline; none costs nothing.
pub(super) async fn exist(db: &Db, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    let commands = ids.iter().map(|id| cmd("EXISTS").arg(keys::status(*id)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::one).collect()
}

/// Plain writes for bulk loads, which set the counts themselves.
pub(super) struct BulkCommands;

impl BulkCommands {
    /// A status.
    pub(super) fn status(status: &Status) -> Cmd {
        let mut command = cmd("HSET");
        command.arg(keys::status(status.id));
        for (name, value) in hash_of(status) {
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

    /// Who likes a status, with the likes' ids.
    pub(super) fn likers(id: StatusId, likers: &[(UserId, u64)]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(keys::likers(id));
        for (user, like) in likers {
            command.arg(*like).arg(user.0);
        }
        command
    }
}
