//! Checks listings, the schedule, and the copies that shares have of campaigns.

use super::super::keys::{self, KeyKind};
use super::super::model::{Listing, MAX_ADS, MAX_KEYWORDS, Share, Slot, from_member, schedule_partition, to_member};
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, StatusId};
use crate::db::audit_reader::AuditReader;
use crate::domains::statuses::audit::{StatusRecord, status_records};
use redis::cmd;
use std::collections::{BTreeSet, HashSet};

/// The number of members of a set that are checked together.
const PAGE: usize = 2_000;

/// Checks that every campaign in a listing has a record of the listing, and that every campaign in the schedule exists and is in its partition.
pub(super) async fn check(reader: &AuditReader, all: &[(KeyKind, &str)], found: &mut Findings) -> Result<(), Error> {
    for (owned, key) in all {
        match owned {
            KeyKind::Offers(listing) => check_offers(reader, key, listing, found).await?,
            KeyKind::Schedule(n) => check_schedule(reader, key, *n, found).await?,
            _ => {}
        }
    }
    Ok(())
}

async fn page(reader: &AuditReader, key: &str, from: usize) -> Result<Vec<Vec<u8>>, Error> {
    let range = |key: &str| cmd("ZRANGE").arg(key).arg(from).arg(from + PAGE - 1).take();
    Ok(reader.query([key], range).await?.read(&key).unwrap_or_default())
}

async fn check_offers(reader: &AuditReader, key: &str, listing: &Listing, found: &mut Findings) -> Result<(), Error> {
    for from in (0..).step_by(PAGE) {
        let members = page(reader, key, from).await?;
        let campaigns: Vec<CampaignId> = members.iter().filter_map(|it| from_member(it)).collect();
        let remove = |member: &Vec<u8>| Remedy::RemoveMember { key: key.to_owned(), member: member.clone() };
        if campaigns.len() < members.len() {
            let odd = members.iter().filter(|it| from_member(it).is_none()).map(remove);
            found.add_repairable(key, "has a member that is not a campaign", odd);
        }
        let text = listing.to_string();
        let recorded = reader
            .query(campaigns.iter().copied(), |id| cmd("ZSCORE").arg(keys::campaign_listings(id)).arg(&text).take())
            .await?;
        for id in campaigns.iter().filter(|id| recorded.read::<Option<f64>>(*id).flatten().is_none()) {
            let remedy = Remedy::RemoveFromListing { key: key.to_owned(), member: to_member(*id).to_vec(), campaign: *id };
            found.add_repairable(key, format!("contains campaign {}, which has no record of the listing", id.0), [remedy]);
        }
        if members.len() < PAGE {
            break;
        }
    }
    Ok(())
}

async fn check_schedule(reader: &AuditReader, key: &str, n: u64, found: &mut Findings) -> Result<(), Error> {
    for from in (0..).step_by(PAGE) {
        let members = page(reader, key, from).await?;
        let read = |it: &Vec<u8>| std::str::from_utf8(it).ok().and_then(crate::base::audit::id).map(CampaignId);
        let campaigns: Vec<CampaignId> = members.iter().filter_map(read).collect();
        let remove = |member: &Vec<u8>| Remedy::RemoveMember { key: key.to_owned(), member: member.clone() };
        if campaigns.len() < members.len() {
            let odd = members.iter().filter(|it| read(it).is_none()).map(remove);
            found.add_repairable(key, "has a member that is not a campaign", odd);
        }
        let existing_campaigns =
            reader.query(campaigns.iter().copied(), |id| cmd("HEXISTS").arg(keys::campaign(id)).arg("id").take()).await?;
        for id in campaigns {
            let exists = existing_campaigns.read::<u64>(&id) == Some(1);
            if !exists && !reader.is_young(id.0) {
                let remedy =
                    Remedy::RemoveFromListing { key: key.to_owned(), member: id.0.to_string().into_bytes(), campaign: id };
                found.add_repairable(key, format!("there is no campaign {}", id.0), [remedy]);
            } else if exists && schedule_partition(id) != n {
                let remedy =
                    Remedy::RemoveFromListing { key: key.to_owned(), member: id.0.to_string().into_bytes(), campaign: id };
                found.add_repairable(key, format!("campaign {} belongs to another partition", id.0), [remedy]);
            }
        }
        if members.len() < PAGE {
            break;
        }
    }
    Ok(())
}

/// The remedy for wrong listings and copies: settling derives them from the definition.
const fn settle(campaign: CampaignId) -> Remedy {
    Remedy::SettleCampaign { owner: None, campaign }
}

/// The fields of a campaign that determine its listings.
struct CampaignRecord {
    id: CampaignId,
    shares: u64,
    version: Option<String>,
    /// Whether the campaign can be listed, regardless of its money.
    is_active: bool,
    has_ended: bool,
    ads: Vec<(u64, Slot)>,
    /// The ads whose status was deleted. They may be ranked until a decision finds the deletion.
    without_status: BTreeSet<u64>,
    keywords: Vec<String>,
}

/// Checks that a campaign is scheduled, is in the right listings, and that its shares have a current copy.
pub(super) async fn check_campaign(reader: &AuditReader, id: CampaignId, found: &mut Findings) -> Result<(), Error> {
    let record = read(reader, id).await?;
    let schedule = keys::schedule(schedule_partition(id));
    let at = reader.query([id], |id| cmd("ZSCORE").arg(&schedule).arg(id.0).take()).await?.read::<Option<f64>>(&id).flatten();
    if at.is_none() && !record.has_ended && !reader.is_young(id.0) {
        found.add_repairable(&keys::campaign(id), format!("is missing in {schedule}"), [settle(id)]);
    }
    // An evaluation that is due may not have run yet.
    if at.is_some_and(|at| at as u64 <= reader.now()) {
        return Ok(());
    }
    check_listings(reader, &record, found).await?;
    for n in 0..record.shares {
        check_copy(reader, &record, Share { campaign: id, n }, found).await?;
    }
    Ok(())
}

async fn read(reader: &AuditReader, id: CampaignId) -> Result<CampaignRecord, Error> {
    let names = ["shares", "version", "state", "starts", "ends", "suspended"];
    let fields = reader.query([id], |id| cmd("HMGET").arg(keys::campaign(id)).arg(&names).take()).await?;
    let fields: Vec<Option<String>> = fields.read(&id).unwrap_or_else(|| vec![None; names.len()]);
    let number = |at: usize| fields[at].as_deref().and_then(crate::base::audit::number);
    let range = |key: String, most: usize| cmd("ZRANGE").arg(key).arg(0).arg(most - 1).take();
    let ads = reader.query([id], |id| range(keys::ads(id), MAX_ADS)).await?.read::<Vec<u64>>(&id).unwrap_or_default();
    let show = |number| cmd("HMGET").arg(keys::ad(AdId { campaign: id, number })).arg(&["slot", "status"]).take();
    let shows = reader.query(ads.iter().copied(), show).await?;
    let shows = |number: u64| shows.read::<(Option<String>, Option<u64>)>(&number).unwrap_or_default();
    let slot = |number: u64| Some((number, Slot::from_name(&shows(number).0?)?));
    let promoted: Vec<(u64, StatusId)> = ads.iter().filter_map(|ad| Some((*ad, StatusId(shows(*ad).1?)))).collect();
    let statuses = status_records(reader, promoted.iter().map(|(_, status)| *status)).await?;
    let exists = |status: &StatusId| matches!(statuses.get(status), Some(StatusRecord::By(_)));
    let has_ended = number(4).is_some_and(|ends| ends <= reader.now()) || fields[2].as_deref() == Some("stopped");
    let has_started = number(3).is_none_or(|starts| starts <= reader.now());
    Ok(CampaignRecord {
        id,
        shares: number(0).unwrap_or(0),
        version: fields[1].clone(),
        is_active: has_started && !has_ended && fields[2].as_deref() == Some("on") && fields[5].is_none(),
        has_ended,
        ads: ads.into_iter().filter_map(slot).collect(),
        without_status: promoted.into_iter().filter(|(_, status)| !exists(status)).map(|(ad, _)| ad).collect(),
        keywords: reader.query([id], |id| range(keys::keywords(id), MAX_KEYWORDS)).await?.read(&id).unwrap_or_default(),
    })
}

/// Checks that a campaign is in no other listing than those of its slots, and for each slot in all of them or in none.
async fn check_listings(reader: &AuditReader, record: &CampaignRecord, found: &mut Findings) -> Result<(), Error> {
    let key = keys::campaign(record.id);
    let listed = |id| cmd("ZRANGE").arg(keys::campaign_listings(id)).arg(0).arg(8 * MAX_KEYWORDS).take();
    let listed: Vec<String> = reader.query([record.id], listed).await?.read(&record.id).unwrap_or_default();
    let mut listings: BTreeSet<Listing> = listed.iter().filter_map(|text| Listing::parse(text)).collect();
    if listings.len() < listed.len() {
        let odd = listed.iter().filter(|text| Listing::parse(text).is_none());
        let remove =
            |text: &String| Remedy::RemoveMember { key: keys::campaign_listings(record.id), member: text.clone().into_bytes() };
        found.add_repairable(
            &key,
            format!("{}: has a member that is not a listing", keys::campaign_listings(record.id)),
            odd.map(remove),
        );
    }
    let slots: BTreeSet<Slot> = record.ads.iter().map(|(_, slot)| *slot).collect();
    let listings_of = |slot: &Slot| -> Vec<Listing> {
        if record.keywords.is_empty() {
            return vec![Listing::untargeted(*slot)];
        }
        record.keywords.iter().map(|keyword| Listing::for_keyword(*slot, keyword)).collect()
    };
    let expected: HashSet<Listing> = slots.iter().filter(|_| record.is_active).flat_map(listings_of).collect();
    listings.extend(expected.iter().copied());
    let score = |it: Listing| cmd("ZSCORE").arg(keys::offers(&it)).arg(&to_member(record.id)[..]).take();
    let scores = reader.query(listings.iter().copied(), score).await?;
    let is_listed = |it: &Listing| scores.read::<Option<f64>>(it).flatten().is_some();
    for listing in listings.iter().filter(|it| is_listed(it) && !expected.contains(it)) {
        found.add_repairable(&key, format!("is in {} but should not be", keys::offers(listing)), [settle(record.id)]);
    }
    for slot in slots.iter().filter(|_| record.is_active) {
        let all = listings_of(slot);
        let count = all.iter().filter(|it| is_listed(it)).count();
        if count > 0 && count < all.len() {
            let problem = format!("is in some listings of {} but not in others", slot.name());
            found.add_repairable(&key, problem, [settle(record.id)]);
        }
    }
    Ok(())
}

/// Checks that a share has the current version of the campaign and ranks each of its ads in its slot.
async fn check_copy(reader: &AuditReader, record: &CampaignRecord, share: Share, found: &mut Findings) -> Result<(), Error> {
    let key = keys::share(share);
    let version = reader.query([key.as_str()], |key| cmd("HGET").arg(key).arg("v").take()).await?;
    if version.read::<Option<String>>(&key.as_str()).flatten() != record.version && !reader.is_young(record.id.0) {
        found.add_repairable(
            &keys::campaign(record.id),
            format!("{key}: has an outdated copy of its campaign"),
            [settle(record.id)],
        );
    }
    for slot in Slot::ALL {
        let rank = keys::rank(share, slot);
        let ranked = reader.query([rank.as_str()], |key| cmd("ZRANGE").arg(key).arg(0).arg(MAX_ADS).take()).await?;
        let ranked: BTreeSet<u64> = ranked.read::<Vec<u64>>(&rank.as_str()).unwrap_or_default().into_iter().collect();
        let ads: BTreeSet<u64> = record.ads.iter().filter(|(_, ad_slot)| *ad_slot == slot).map(|(number, _)| *number).collect();
        if !ranked.is_subset(&ads) || ads.difference(&ranked).any(|ad| !record.without_status.contains(ad)) {
            let problem = format!("{rank}: does not rank the ads of its slot");
            found.add_repairable(&keys::campaign(record.id), problem, [settle(record.id)]);
        }
    }
    Ok(())
}
