//! Campaigns whose frequency cap a visitor has reached.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::{MAX_CAPPED, Visitor};
use redis::{Cmd, Value, cmd};
use std::collections::HashMap;

static ADD_CAPPED_CAMPAIGNS: Script = Script::new(include_str!("../../lua/add_capped_campaigns.lua"));

pub(in crate::domains::ads) fn capped_command(visitor: Visitor, now: Millis) -> Cmd {
    let mut range = cmd("ZRANGE");
    range.arg(keys::capped_campaigns(visitor)).arg(format!("({now}")).arg("+inf").arg("BYSCORE");
    range.arg("LIMIT").arg(0).arg(MAX_CAPPED).arg("WITHSCORES").take()
}

pub(in crate::domains::ads) fn decode_capped(reply: Value) -> Result<HashMap<CampaignId, Millis>, Error> {
    Ok(decode::rows(reply)?.into_iter().map(|row| (CampaignId(row.member), row.position)).collect())
}

/// Records campaigns whose cap a visitor has reached, each with the end of its cap period. One script; none if all periods have ended.
pub(in crate::domains::ads) async fn add_capped_campaigns(
    db: &Db,
    now: Millis,
    visitor: Visitor,
    capped: &[(CampaignId, Millis)],
) -> Result<(), Error> {
    if capped.iter().all(|(_, until)| *until <= now) {
        return Ok(());
    }
    let call = Call::new(&ADD_CAPPED_CAMPAIGNS, [keys::capped_campaigns(visitor)]).arg(now).arg(MAX_CAPPED);
    let call = capped.iter().fold(call, |call, (campaign, until)| call.arg(*until).arg(campaign.0));
    db.call_untracked(vec![call]).await.map(drop)
}
