//! Where campaigns stand, and when they are looked at: listings, the schedule, and what shares know.

use super::super::keys::{self, KeyKind};
use super::super::model::{Listing, MAX_ADS, MAX_KEYWORDS, Share, Slot, from_member, schedule_partition, to_member};
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, StatusId};
use crate::db::audit_reader::AuditReader;
use crate::domains::statuses::audit::{StatusRecord, status_records};
use redis::cmd;
use std::collections::{BTreeSet, HashSet};

/// Members of a set that are looked at at once.
const PAGE: usize = 2_000;

/// Every campaign in a listing or the schedule is there, and knows of it.
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
            found.add_repairable(key, "holds what is no campaign", odd);
        }
        let text = listing.to_string();
        let known = reader.query(campaigns.iter().copied(), |id| cmd("ZSCORE").arg(keys::listed(id)).arg(&text).take()).await?;
        for id in campaigns.iter().filter(|id| known.read::<Option<f64>>(*id).flatten().is_none()) {
            let delist = Remedy::Delist { key: key.to_owned(), member: to_member(*id).to_vec(), campaign: *id };
            found.add_repairable(key, format!("campaign {} stands in it and does not know", id.0), [delist]);
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
            found.add_repairable(key, "holds what is no campaign", odd);
        }
        let there = reader.query(campaigns.iter().copied(), |id| cmd("HEXISTS").arg(keys::campaign(id)).arg("id").take()).await?;
        for id in campaigns {
            let is_there = there.read::<u64>(&id) == Some(1);
            if !is_there && !reader.is_young(id.0) {
                let delist = Remedy::Delist { key: key.to_owned(), member: id.0.to_string().into_bytes(), campaign: id };
                found.add_repairable(key, format!("there is no campaign {}", id.0), [delist]);
            } else if is_there && schedule_partition(id) != n {
                let delist = Remedy::Delist { key: key.to_owned(), member: id.0.to_string().into_bytes(), campaign: id };
                found.add_repairable(key, format!("campaign {} belongs into another part", id.0), [delist]);
            }
        }
        if members.len() < PAGE {
            break;
        }
    }
    Ok(())
}

/// Where a campaign stands follows from what it is.
const fn settle(campaign: CampaignId) -> Remedy {
    Remedy::SettleCampaign { owner: None, campaign }
}

/// What a campaign is, as far as it matters here.
struct Seen {
    id: CampaignId,
    shares: u64,
    version: Option<String>,
    /// Whether it may stand anywhere, whatever money it has.
    runs: bool,
    over: bool,
    ads: Vec<(u64, Slot)>,
    /// Those of them whose status is gone: they are ranked until somebody finds that.
    gone: BTreeSet<u64>,
    keywords: Vec<String>,
}

/// A campaign stands where it may, and only there; its shares know its ads; somebody looks after it.
pub(super) async fn check_campaign(reader: &AuditReader, id: CampaignId, found: &mut Findings) -> Result<(), Error> {
    let seen = read(reader, id).await?;
    let schedule = keys::schedule(schedule_partition(id));
    let at = reader.query([id], |id| cmd("ZSCORE").arg(&schedule).arg(id.0).take()).await?.read::<Option<f64>>(&id).flatten();
    if at.is_none() && !seen.over && !reader.is_young(id.0) {
        found.add_repairable(&keys::campaign(id), format!("does not stand in {schedule}"), [settle(id)]);
    }
    // What is due may not have been done yet.
    if at.is_some_and(|at| at as u64 <= reader.now()) {
        return Ok(());
    }
    check_stands(reader, &seen, found).await?;
    for n in 0..seen.shares {
        check_copy(reader, &seen, Share { campaign: id, n }, found).await?;
    }
    Ok(())
}

async fn read(reader: &AuditReader, id: CampaignId) -> Result<Seen, Error> {
    let names = ["shares", "version", "state", "starts", "ends", "suspended"];
    let fields = reader.query([id], |id| cmd("HMGET").arg(keys::campaign(id)).arg(&names).take()).await?;
    let fields: Vec<Option<String>> = fields.read(&id).unwrap_or_else(|| vec![None; names.len()]);
    let number = |at: usize| fields[at].as_deref().and_then(crate::base::audit::number);
    let range = |key: String, most: usize| cmd("ZRANGE").arg(key).arg(0).arg(most - 1).take();
    let ads = reader.query([id], |id| range(keys::ads(id), MAX_ADS)).await?.read::<Vec<u64>>(&id).unwrap_or_default();
    let show = |number| cmd("HMGET").arg(keys::ad(AdId { campaign: id, number })).arg(&["slot", "status"]).take();
    let shows = reader.query(ads.iter().copied(), show).await?;
    let shows = |number: u64| shows.read::<(Option<String>, Option<u64>)>(&number).unwrap_or_default();
    let slot = |number: u64| Some((number, Slot::named(&shows(number).0?)?));
    let promoted: Vec<(u64, StatusId)> = ads.iter().filter_map(|ad| Some((*ad, StatusId(shows(*ad).1?)))).collect();
    let standings = status_records(reader, promoted.iter().map(|(_, status)| *status)).await?;
    let is_there = |status: &StatusId| matches!(standings.get(status), Some(StatusRecord::By(_)));
    let over = number(4).is_some_and(|ends| ends <= reader.now()) || fields[2].as_deref() == Some("stopped");
    let begun = number(3).is_none_or(|starts| starts <= reader.now());
    Ok(Seen {
        id,
        shares: number(0).unwrap_or(0),
        version: fields[1].clone(),
        runs: begun && !over && fields[2].as_deref() == Some("on") && fields[5].is_none(),
        over,
        ads: ads.into_iter().filter_map(slot).collect(),
        gone: promoted.into_iter().filter(|(_, status)| !is_there(status)).map(|(ad, _)| ad).collect(),
        keywords: reader.query([id], |id| range(keys::keywords(id), MAX_KEYWORDS)).await?.read(&id).unwrap_or_default(),
    })
}

/// It stands nowhere where it has nothing to show, and in all listings of a slot or in none.
async fn check_stands(reader: &AuditReader, seen: &Seen, found: &mut Findings) -> Result<(), Error> {
    let key = keys::campaign(seen.id);
    let listed = |id| cmd("ZRANGE").arg(keys::listed(id)).arg(0).arg(8 * MAX_KEYWORDS).take();
    let listed: Vec<String> = reader.query([seen.id], listed).await?.read(&seen.id).unwrap_or_default();
    let mut listings: BTreeSet<Listing> = listed.iter().filter_map(|text| Listing::parse(text)).collect();
    if listings.len() < listed.len() {
        let odd = listed.iter().filter(|text| Listing::parse(text).is_none());
        let remove = |text: &String| Remedy::RemoveMember { key: keys::listed(seen.id), member: text.clone().into_bytes() };
        found.add_repairable(&key, format!("{}: holds what is no listing", keys::listed(seen.id)), odd.map(remove));
    }
    let slots: BTreeSet<Slot> = seen.ads.iter().map(|(_, slot)| *slot).collect();
    let of = |slot: &Slot| -> Vec<Listing> {
        if seen.keywords.is_empty() {
            return vec![Listing::untargeted(*slot)];
        }
        seen.keywords.iter().map(|keyword| Listing::for_keyword(*slot, keyword)).collect()
    };
    let fitting: HashSet<Listing> = slots.iter().filter(|_| seen.runs).flat_map(of).collect();
    listings.extend(fitting.iter().copied());
    let score = |it: Listing| cmd("ZSCORE").arg(keys::offers(&it)).arg(&to_member(seen.id)[..]).take();
    let scores = reader.query(listings.iter().copied(), score).await?;
    let stands = |it: &Listing| scores.read::<Option<f64>>(it).flatten().is_some();
    for listing in listings.iter().filter(|it| stands(it) && !fitting.contains(it)) {
        found.add_repairable(&key, format!("stands in {} where it should not", keys::offers(listing)), [settle(seen.id)]);
    }
    for slot in slots.iter().filter(|_| seen.runs) {
        let all = of(slot);
        let count = all.iter().filter(|it| stands(it)).count();
        if count > 0 && count < all.len() {
            let what = format!("stands in some listings of {} and not in others", slot.name());
            found.add_repairable(&key, what, [settle(seen.id)]);
        }
    }
    Ok(())
}

/// A share knows the campaign as it is, and ranks its ads, each in its slot.
async fn check_copy(reader: &AuditReader, seen: &Seen, share: Share, found: &mut Findings) -> Result<(), Error> {
    let key = keys::share(share);
    let version = reader.query([key.as_str()], |key| cmd("HGET").arg(key).arg("v").take()).await?;
    if version.read::<Option<String>>(&key.as_str()).flatten() != seen.version && !reader.is_young(seen.id.0) {
        found.add_repairable(&keys::campaign(seen.id), format!("{key}: does not know its campaign as it is"), [settle(seen.id)]);
    }
    for slot in Slot::ALL {
        let rank = keys::rank(share, slot);
        let ranked = reader.query([rank.as_str()], |key| cmd("ZRANGE").arg(key).arg(0).arg(MAX_ADS).take()).await?;
        let ranked: BTreeSet<u64> = ranked.read::<Vec<u64>>(&rank.as_str()).unwrap_or_default().into_iter().collect();
        let ads: BTreeSet<u64> = seen.ads.iter().filter(|(_, of)| *of == slot).map(|(number, _)| *number).collect();
        if !ranked.is_subset(&ads) || ads.difference(&ranked).any(|ad| !seen.gone.contains(ad)) {
            let what = format!("{rank}: does not rank the ads of its slot");
            found.add_repairable(&keys::campaign(seen.id), what, [settle(seen.id)]);
        }
    }
    Ok(())
}
