//! The copies of a campaign in its shares.

use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::{Share, Slot};
use crate::domains::ads::targeting::model::ListingInputs;

static PURGE_LATE_SHARE: Script = Script::new(include_str!("../../lua/purge_late_share.lua"));
static WRITE_SHARE: Script = Script::allow_oom(include_str!("../../lua/write_share.lua"));

/// Copies a campaign's definition and the order of its ads to its shares, unless a share has a newer copy. One script for each share, in one pipeline.
pub(in crate::domains::ads) async fn write_shares(db: &Db, facts: &ListingInputs) -> Result<(), Error> {
    let it = &facts.campaign;
    let off = it.paused || it.stopped || it.suspended;
    let cap = it.cap.map_or((0, 0), |cap| (cap.impressions, cap.per_seconds));
    let call = |share: Share| {
        let ranks = Slot::ALL.map(|slot| keys::rank(share, slot));
        let keys = [keys::share(share), keys::ad_stats(share)].into_iter().chain(ranks).collect::<Vec<_>>();
        let call = Call::with_keys(&WRITE_SHARE, keys).arg(it.version).arg(u8::from(off));
        let call = call.arg(it.starts.unwrap_or(0)).arg(it.ends.unwrap_or(0)).arg(cap.0).arg(cap.1);
        facts.ads.iter().fold(call, |call, entry| {
            let ad = &entry.0;
            let slot = Slot::ALL.iter().position(|slot| *slot == ad.slot).unwrap_or_default() + 1;
            let terms = format!("{} {}", ad.pricing.name(), ad.bid.in_millionths());
            call.arg(ad.id.number).arg(slot).arg(ListingInputs::ecpm(entry)).arg(terms)
        })
    };
    db.call_many(Share::all(it.id, it.shares).map(call).collect()).await.map(drop)
}

/// Removes late writes to the shares of a deleted campaign. Returns whether shares were kept, because they were granted money. One script for each share,
/// in one pipeline.
pub(in crate::domains::ads) async fn purge_late_shares(db: &Db, id: CampaignId, shares: u64) -> Result<bool, Error> {
    let call = |share: Share| {
        let ranks = Slot::ALL.map(|slot| keys::rank(share, slot));
        Call::with_keys(
            &PURGE_LATE_SHARE,
            [keys::share(share), keys::ad_stats(share)].into_iter().chain(ranks).collect::<Vec<_>>(),
        )
    };
    let replies = db.call_many(Share::all(id, shares).map(call).collect()).await?;
    let are_deleted = replies.into_iter().map(decode::value::<bool>).collect::<Result<Vec<_>, _>>()?;
    Ok(are_deleted.contains(&false))
}
