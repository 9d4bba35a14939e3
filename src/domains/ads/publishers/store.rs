//! Websites in Redis.

use crate::base::error::Error;
use crate::base::ids::{UserId, WebsiteId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::publishers::model::{Website, WebsiteDraft};
use redis::{Value, cmd};

static WRITE_WEBSITE: Script = Script::new(include_str!("../lua/write_website.lua"));
static RENEW_SERVER_KEY: Script = Script::allow_oom(include_str!("../lua/renew_server_key.lua"));
static MARK_WEBSITE: Script = Script::allow_oom(include_str!("../lua/mark_website.lua"));

/// Writes the definition of a website, unless it exists. The definition is the source of truth. One script on its hash tag.
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

/// Records whether a website is suspended; `false` if the website does not exist. One script.
pub(in crate::domains::ads) async fn set_website_suspended(db: &Db, id: WebsiteId, suspended: bool) -> Result<bool, Error> {
    db.call(Call::new(&MARK_WEBSITE, [keys::website(id)]).arg(u8::from(suspended))).await
}

/// Gives a website the next version of its server key, or its first; `false` if `owner` has no such website. One script.
pub(in crate::domains::ads) async fn renew_server_key(db: &Db, owner: UserId, id: WebsiteId) -> Result<bool, Error> {
    db.call(Call::new(&RENEW_SERVER_KEY, [keys::website(id)]).arg(owner.0)).await
}

/// Loads websites by id, in the order of `ids`; `None` for a website that does not exist. One pipeline.
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

/// Deletes a website. One command.
pub(in crate::domains::ads) async fn purge_website(db: &Db, id: WebsiteId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::website(id)).take()]).await.map(drop)
}
