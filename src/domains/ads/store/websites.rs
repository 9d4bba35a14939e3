//! Websites, and whether an account is held back as an advertiser or a publisher.

use super::super::keys;
use super::super::model::{Website, WebsiteDraft};
use crate::base::error::Error;
use crate::base::ids::{UserId, WebsiteId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::{Value, cmd};

static WRITE_WEBSITE: Script = Script::new(include_str!("../lua/write_website.lua"));
static RENEW_SERVER_KEY: Script = Script::allow_oom(include_str!("../lua/renew_server_key.lua"));
static MARK_WEBSITE: Script = Script::allow_oom(include_str!("../lua/mark_website.lua"));

/// Writes what a website is, unless it is written: the truth of it. One script on its tag.
pub(in crate::domains::ads) async fn write_website(
    db: &Db,
    owner: UserId,
    id: WebsiteId,
    draft: &WebsiteDraft,
) -> Result<(), Error> {
    let call = Call::new(&WRITE_WEBSITE, [keys::website(id)]).arg("id").arg(id.0).arg("uid").arg(owner.0);
    let call = call.arg("name").arg(&draft.name).arg("origin").arg(&draft.origin).arg("off").arg(0);
    let call = if draft.server_key > 0 { call.arg("key").arg(draft.server_key) } else { call };
    db.call::<u64>(call).await.map(drop)
}

/// Notes whether a website is served; `false` when there is none. One script.
pub(in crate::domains::ads) async fn mark_website(db: &Db, id: WebsiteId, off: bool) -> Result<bool, Error> {
    db.call(Call::new(&MARK_WEBSITE, [keys::website(id)]).arg(u8::from(off))).await
}

/// Gives a website another server key, and its first where it had none; `false` when there is no such website of `owner`. One script.
pub(in crate::domains::ads) async fn renew_server_key(db: &Db, owner: UserId, id: WebsiteId) -> Result<bool, Error> {
    db.call(Call::new(&RENEW_SERVER_KEY, [keys::website(id)]).arg(owner.0)).await
}

/// Websites by id, in their order; `None` for what is not there. One pipeline.
pub(in crate::domains::ads) async fn load_websites(db: &Db, ids: &[WebsiteId]) -> Result<Vec<Option<Website>>, Error> {
    let commands = ids.iter().map(|id| cmd("HGETALL").arg(keys::website(*id)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode_website).collect()
}

fn decode_website(reply: Value) -> Result<Option<Website>, Error> {
    let (name, origin) = (String::new(), String::new());
    let mut it = Website { id: WebsiteId(0), owner: UserId(0), name, origin, suspended: false, server_key: 0 };
    decode::fields(reply, |name, value| {
        match name {
            "id" => it.id = WebsiteId(value.number()?),
            "uid" => it.owner = UserId(value.number()?),
            "name" => it.name = value.0,
            "origin" => it.origin = value.0,
            "off" => it.suspended = value.0 == "1",
            "key" => it.server_key = value.number()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((it.id.0 > 0 && it.owner.0 > 0).then_some(it))
}

/// Takes a website away. One command.
pub(in crate::domains::ads) async fn erase_website(db: &Db, id: WebsiteId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::website(id)).take()]).await.map(drop)
}

/// Windows of an account's websites. One pipeline.
pub(in crate::domains::ads) async fn websites_page(db: &Db, owner: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::websites(owner), windows).await
}

/// Up to `limit` of an account's websites, whether the account is there or not. One command.
pub(in crate::domains::ads) async fn some_websites(db: &Db, owner: UserId, limit: usize) -> Result<Vec<WebsiteId>, Error> {
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
pub(in crate::domains::ads) struct Standing {
    /// Whether the account is there.
    pub there: bool,
    /// Its campaigns show nothing.
    pub advertiser: bool,
    /// Its websites are shown nothing.
    pub publisher: bool,
}

/// Whether an account is there, and held back. One pipeline on its tag.
pub(in crate::domains::ads) async fn standing(db: &Db, user: UserId) -> Result<Standing, Error> {
    let fields = cmd("HMGET").arg(keys::standing(user)).arg(&["advertiser", "publisher"]).take();
    let mut replies = db.read_many(vec![cmd("EXISTS").arg(user_key(user)).take(), fields]).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let there: bool = decode::one(reply())?;
    let (advertiser, publisher): (Option<u8>, Option<u8>) = decode::one(reply())?;
    Ok(Standing { there, advertiser: advertiser == Some(1), publisher: publisher == Some(1) })
}

/// Holds an account back in a role, or does so no more: the commit. One command.
pub(in crate::domains::ads) async fn set_standing(
    db: &Db,
    user: UserId,
    role: &'static str,
    held_back: bool,
) -> Result<(), Error> {
    let key = keys::standing(user);
    let command = if held_back { cmd("HSET").arg(key).arg(role).arg(1).take() } else { cmd("HDEL").arg(key).arg(role).take() };
    db.write_many_allow_oom(vec![command]).await.map(drop)
}

/// Forgets whether an account that is gone was held back. One command.
pub(in crate::domains::ads) async fn erase_standing(db: &Db, user: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::standing(user)).take()]).await.map(drop)
}
