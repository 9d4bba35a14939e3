//! What an account owns, and as what it is suspended.

use crate::base::error::Error;
use crate::base::ids::{CampaignId, UserId, WebsiteId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::ads::keys;
use crate::domains::users::user_key;
use redis::cmd;

static ADD_OWNED: Script = Script::new(include_str!("../lua/add_owned.lua"));

/// What noting something with its owner came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum AddOwnedResult {
    /// It is noted, since now or before.
    Added,
    /// The owner's account is gone.
    NoAccount,
    /// One more is too many.
    LimitReached,
}

/// Whose list it is: campaigns, or websites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum OwnedItem {
    /// A campaign.
    Campaign(CampaignId),
    /// A website.
    Website(WebsiteId),
}

impl OwnedItem {
    fn key(self, owner: UserId) -> String {
        match self {
            Self::Campaign(_) => keys::campaigns(owner),
            Self::Website(_) => keys::websites(owner),
        }
    }

    const fn id(self) -> u64 {
        match self {
            Self::Campaign(id) => id.0,
            Self::Website(id) => id.0,
        }
    }
}

/// Notes a campaign or a website with its owner, who may have so many. One script on the owner's tag.
pub(in crate::domains::ads) async fn add_owned(
    db: &Db,
    owner: UserId,
    what: OwnedItem,
    most: usize,
) -> Result<AddOwnedResult, Error> {
    let call = Call::new(&ADD_OWNED, [what.key(owner), user_key(owner)]).arg(what.id()).arg(most);
    Ok(match db.call::<i64>(call).await? {
        1 => AddOwnedResult::Added,
        0 => AddOwnedResult::NoAccount,
        _ => AddOwnedResult::LimitReached,
    })
}

/// Takes a campaign or a website from its owner. One command.
pub(in crate::domains::ads) async fn remove_owned(db: &Db, owner: UserId, what: OwnedItem) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(what.key(owner)).arg(what.id()).take()]).await.map(drop)
}

/// Up to `limit` of an account's campaigns, whether the account is there or not, the newest below `below` first. One command.
pub(in crate::domains::ads) async fn campaigns_below(
    db: &Db,
    owner: UserId,
    below: u64,
    limit: usize,
) -> Result<Vec<CampaignId>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    let rows = ranges::read(db, &keys::campaigns(owner), &[window]).await?.pop().unwrap_or_default();
    Ok(rows.into_iter().map(|row| CampaignId(row.member)).collect())
}

/// How many campaigns an account has. One command.
pub(in crate::domains::ads) async fn count(db: &Db, owner: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::campaigns(owner)).take()).await
}

/// Windows of an account's campaigns. One pipeline.
pub(in crate::domains::ads) async fn campaigns_page(db: &Db, owner: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::campaigns(owner), windows).await
}

/// Windows of an account's websites. One pipeline.
pub(in crate::domains::ads) async fn websites_page(db: &Db, owner: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::websites(owner), windows).await
}

/// Up to `limit` of an account's websites, whether the account is there or not. One command.
pub(in crate::domains::ads) async fn newest_websites(db: &Db, owner: UserId, limit: usize) -> Result<Vec<WebsiteId>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit };
    let rows = websites_page(db, owner, &[window]).await?.pop().unwrap_or_default();
    Ok(rows.into_iter().map(|row| WebsiteId(row.member)).collect())
}

/// How many websites an account has. One command.
pub(in crate::domains::ads) async fn count_websites(db: &Db, owner: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::websites(owner)).take()).await
}

/// Whether an account is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct Suspension {
    /// Whether the account is there.
    pub there: bool,
    /// Its campaigns show nothing.
    pub advertiser: bool,
    /// Its websites are shown nothing.
    pub publisher: bool,
}

/// Whether an account is there, and held back. One pipeline on its tag.
pub(in crate::domains::ads) async fn standing(db: &Db, user: UserId) -> Result<Suspension, Error> {
    let fields = cmd("HMGET").arg(keys::standing(user)).arg(&["advertiser", "publisher"]).take();
    let mut replies = db.read_many(vec![cmd("EXISTS").arg(user_key(user)).take(), fields]).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let there: bool = decode::one(reply())?;
    let (advertiser, publisher): (Option<u8>, Option<u8>) = decode::one(reply())?;
    Ok(Suspension { there, advertiser: advertiser == Some(1), publisher: publisher == Some(1) })
}

/// Holds an account back in a role, or does so no more: the commit. One command.
pub(in crate::domains::ads) async fn set_suspended(
    db: &Db,
    user: UserId,
    role: &'static str,
    suspended: bool,
) -> Result<(), Error> {
    let key = keys::standing(user);
    let command = if suspended { cmd("HSET").arg(key).arg(role).arg(1).take() } else { cmd("HDEL").arg(key).arg(role).take() };
    db.write_many_allow_oom(vec![command]).await.map(drop)
}

/// Forgets whether an account that is gone was held back. One command.
pub(in crate::domains::ads) async fn delete_suspension(db: &Db, user: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::standing(user)).take()]).await.map(drop)
}
