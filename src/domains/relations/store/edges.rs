//! Common storage of mutes and blocks: both are on two sides with one id, and the side of the account that decides is authoritative.

use super::super::keys;
use super::super::model::OneWayRelation;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::cmd;

static UNMUTE_USER: Script = Script::allow_oom(include_str!("../lua/unmute_user.lua"));
static ADD_MUTER: Script = Script::allow_oom(include_str!("../lua/add_muter.lua"));
static ADD_BLOCKER: Script = Script::allow_oom(include_str!("../lua/add_blocker.lua"));
static REMOVE_BLOCKS: Script = Script::allow_oom(include_str!("../lua/remove_blocks.lua"));

/// The key of the accounts to which `id` has the relation.
fn own_side(kind: OneWayRelation, id: UserId) -> String {
    match kind {
        OneWayRelation::Mute => keys::mutes(id),
        OneWayRelation::Block => keys::blocks(id),
    }
}

/// The key of the accounts that have the relation to `id`.
fn other_side(kind: OneWayRelation, id: UserId) -> String {
    match kind {
        OneWayRelation::Mute => keys::muters(id),
        OneWayRelation::Block => keys::blockers(id),
    }
}

/// The id of `a`'s relation to `b`; `None` if there is no relation, or if `a` was deleted. One pipeline on the hash tag of `a`.
pub(in super::super) async fn id(db: &Db, kind: OneWayRelation, a: UserId, b: UserId) -> Result<Option<u64>, Error> {
    let commands = vec![cmd("EXISTS").arg(user_key(a)).take(), cmd("ZSCORE").arg(own_side(kind, a)).arg(b.0).take()];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (exists, id): (bool, Option<f64>) = (decode::value(reply())?, decode::value(reply())?);
    Ok(id.filter(|_| exists).map(|id| id as u64))
}

/// Removes relations of `a`: the commit, on the hash tag of `a`. One script; no round trip if `others` is empty.
pub(in super::super) async fn remove_targets(db: &Db, kind: OneWayRelation, a: UserId, others: &[UserId]) -> Result<(), Error> {
    if others.is_empty() {
        return Ok(());
    }
    db.call::<u64>(others.iter().fold(removal(kind, a), |call, other| call.arg(other.0))).await.map(drop)
}

/// Removes the relations of many accounts to `b`. One pipeline of scripts; no round trip if `accounts` is empty.
pub(in super::super) async fn remove_target(db: &Db, kind: OneWayRelation, accounts: &[UserId], b: UserId) -> Result<(), Error> {
    db.call_many(accounts.iter().map(|account| removal(kind, *account).arg(b.0)).collect()).await.map(drop)
}

fn removal(kind: OneWayRelation, a: UserId) -> Call {
    match kind {
        OneWayRelation::Mute => Call::new(&UNMUTE_USER, [keys::mutes(a), keys::mute_ends(a), user_key(a)]),
        OneWayRelation::Block => Call::new(&REMOVE_BLOCKS, [keys::blocks(a), user_key(a)]).arg("blocks"),
    }
}

/// Writes the other side of `a`'s relation to `b`; `false` if `b` was deleted. One script.
pub(in super::super) async fn add_source(db: &Db, kind: OneWayRelation, b: UserId, a: UserId, id: u64) -> Result<bool, Error> {
    let script = match kind {
        OneWayRelation::Mute => &ADD_MUTER,
        OneWayRelation::Block => &ADD_BLOCKER,
    };
    db.call(Call::new(script, [other_side(kind, b), user_key(b)]).arg(a.0).arg(id)).await
}

/// Removes `a` from the other sides of its relations to `others`: a key of each. One pipeline; no round trip if `others` is empty.
pub(in super::super) async fn remove_source(db: &Db, kind: OneWayRelation, others: &[UserId], a: UserId) -> Result<(), Error> {
    let accounts = others.iter();
    match kind {
        OneWayRelation::Mute => {
            let command = |other: &UserId| cmd("ZREM").arg(keys::muters(*other)).arg(a.0).take();
            db.write_many_allow_oom(accounts.map(command).collect()).await.map(drop)
        }
        OneWayRelation::Block => db.call_many(accounts.map(|other| blockers_removal(*other).arg(a.0)).collect()).await.map(drop),
    }
}

/// Removes accounts from the set of those that have the relation to `b`. One command; no round trip if `accounts` is empty.
pub(in super::super) async fn remove_sources(db: &Db, kind: OneWayRelation, b: UserId, accounts: &[UserId]) -> Result<(), Error> {
    if accounts.is_empty() {
        return Ok(());
    }
    let members = accounts.iter().map(|account| account.0);
    match kind {
        OneWayRelation::Mute => {
            let command = cmd("ZREM").arg(keys::muters(b)).arg(members.collect::<Vec<u64>>()).take();
            db.write_many_allow_oom(vec![command]).await.map(drop)
        }
        OneWayRelation::Block => db.call::<u64>(members.fold(blockers_removal(b), Call::arg)).await.map(drop),
    }
}

fn blockers_removal(b: UserId) -> Call {
    Call::new(&REMOVE_BLOCKS, [keys::blockers(b), user_key(b)]).arg("blocked_by")
}

/// Windows of the accounts to which `id` has the relation. One pipeline.
pub(in super::super) async fn read_targets(
    db: &Db,
    kind: OneWayRelation,
    id: UserId,
    windows: &[Window],
) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &own_side(kind, id), windows).await
}

/// Windows of the accounts that have the relation to `id`. One pipeline.
pub(in super::super) async fn read_sources(
    db: &Db,
    kind: OneWayRelation,
    id: UserId,
    windows: &[Window],
) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &other_side(kind, id), windows).await
}
