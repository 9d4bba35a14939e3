//! The campaigns and websites of an account, and its suspensions.

use crate::base::error::Error;
use crate::base::ids::{CampaignId, UserId, WebsiteId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::ads::keys;
use crate::domains::users::user_key;
use redis::cmd;

static ADD_OWNED: Script = Script::new(include_str!("../lua/add_owned.lua"));

/// The result of adding an item to its owner's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum AddOwnedResult {
    /// The item is in the list, since now or before.
    Added,
    /// The owner's account was deleted.
    NoAccount,
    /// The account has the maximum number of items.
    LimitReached,
}

/// An item of an account: a campaign, or a website.
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

/// Adds a campaign or a website to its owner's list, up to a maximum. One script on the owner's hash tag.
pub(in crate::domains::ads) async fn add_owned(
    db: &Db,
    owner: UserId,
    item: OwnedItem,
    most: usize,
) -> Result<AddOwnedResult, Error> {
    let call = Call::new(&ADD_OWNED, [item.key(owner), user_key(owner)]).arg(item.id()).arg(most);
    Ok(match db.call::<i64>(call).await? {
        1 => AddOwnedResult::Added,
        0 => AddOwnedResult::NoAccount,
        _ => AddOwnedResult::LimitReached,
    })
}

/// Removes a campaign or a website from its owner's list. One command.
pub(in crate::domains::ads) async fn remove_owned(db: &Db, owner: UserId, item: OwnedItem) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(item.key(owner)).arg(item.id()).take()]).await.map(drop)
}

/// Returns up to `limit` of an account's campaigns below `below`, the newest first, also of a deleted account. One command.
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

/// Returns the number of campaigns of an account. One command.
pub(in crate::domains::ads) async fn count(db: &Db, owner: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::campaigns(owner)).take()).await
}

/// Reads windows of an account's campaigns. One pipeline.
pub(in crate::domains::ads) async fn campaigns_page(db: &Db, owner: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::campaigns(owner), windows).await
}

/// Reads windows of an account's websites. One pipeline.
pub(in crate::domains::ads) async fn websites_page(db: &Db, owner: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::websites(owner), windows).await
}

/// Returns up to `limit` of an account's websites, the newest first, also of a deleted account. One command.
pub(in crate::domains::ads) async fn newest_websites(db: &Db, owner: UserId, limit: usize) -> Result<Vec<WebsiteId>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit };
    let rows = websites_page(db, owner, &[window]).await?.pop().unwrap_or_default();
    Ok(rows.into_iter().map(|row| WebsiteId(row.member)).collect())
}

/// Returns the number of websites of an account. One command.
pub(in crate::domains::ads) async fn count_websites(db: &Db, owner: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::websites(owner)).take()).await
}

/// The suspensions of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct Suspension {
    /// Whether the account exists.
    pub account_exists: bool,
    /// Whether the account's campaigns are not shown.
    pub advertiser: bool,
    /// Whether the account's websites show no ads.
    pub publisher: bool,
}

/// Returns whether an account exists, and its suspensions. One pipeline on its hash tag.
pub(in crate::domains::ads) async fn suspension(db: &Db, user: UserId) -> Result<Suspension, Error> {
    let fields = cmd("HMGET").arg(keys::suspensions(user)).arg(&["advertiser", "publisher"]).take();
    let mut replies = db.read_many(vec![cmd("EXISTS").arg(user_key(user)).take(), fields]).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let account_exists: bool = decode::value(reply())?;
    let (advertiser, publisher): (Option<u8>, Option<u8>) = decode::value(reply())?;
    Ok(Suspension { account_exists, advertiser: advertiser == Some(1), publisher: publisher == Some(1) })
}

/// Suspends an account in a role, or ends the suspension: the commit. One command.
pub(in crate::domains::ads) async fn set_suspended(
    db: &Db,
    user: UserId,
    role: &'static str,
    suspended: bool,
) -> Result<(), Error> {
    let key = keys::suspensions(user);
    let command = if suspended { cmd("HSET").arg(key).arg(role).arg(1).take() } else { cmd("HDEL").arg(key).arg(role).take() };
    db.write_many_allow_oom(vec![command]).await.map(drop)
}

/// Deletes the suspensions of a deleted account. One command.
pub(in crate::domains::ads) async fn purge_suspension(db: &Db, user: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::suspensions(user)).take()]).await.map(drop)
}
