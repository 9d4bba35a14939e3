//! Checks the records of campaigns, ads and websites, and the lists of their owners.

use super::super::keys::{self, KeyKind};
use super::super::model::{
    AD_FIELDS, MAX_ADS, MAX_ADS_WITH_REMOVED, MAX_CAMPAIGNS, MAX_CAPPED, MAX_KEYWORDS, MAX_WEBSITES, Pricing, Slot,
};
use crate::base::audit::{self, Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, UserId, WebsiteId};
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow};
use redis::cmd;

const CAMPAIGN: [&str; 10] = ["id", "uid", "name", "budget", "pacing", "from", "state", "shares", "version", "daily"];
const WEBSITE: [&str; 5] = ["id", "uid", "name", "origin", "off"];
const AD: [&str; 7] = ["id", "slot", "pricing", "bid", "target", "status", "removed"];

pub(super) async fn check(reader: &AuditReader, all: &[(KeyKind, &str)], found: &mut Findings) -> Result<(), Error> {
    check_bounds(reader, all, found).await?;
    for (owned, key) in all {
        match owned {
            KeyKind::Campaign(id) => {
                let fields: Vec<Option<String>> = fields(reader, key, &CAMPAIGN).await?;
                check_owned(reader, key, &fields, keys::campaigns, settle_campaign, id.0, found).await?;
                check_campaign(key, &fields, found);
            }
            KeyKind::Website(id) => {
                let fields = fields(reader, key, &WEBSITE).await?;
                check_owned(reader, key, &fields, keys::websites, settle_website, id.0, found).await?;
                if fields.iter().any(Option::is_none) {
                    found.add(key, format!("its fields are not {}", WEBSITE.join(", ")));
                }
            }
            KeyKind::Ad(id) => check_ad(reader, key, *id, found).await?,
            KeyKind::Suspensions(user) if reader.missing_accounts([*user]).await?.contains(user) => {
                found.add_repairable(key, "there is no such account", [Remedy::PurgeAccount(*user)]);
            }
            _ => {}
        }
    }
    let listed = |(owned, key): &(KeyKind, &str)| match owned {
        KeyKind::Campaigns(user) => Some(((*user, true), (*key).to_owned())),
        KeyKind::Websites(user) => Some(((*user, false), (*key).to_owned())),
        _ => None,
    };
    let mut scan = SetScan::start(reader, all.iter().filter_map(listed).collect(), correct_score, found).await?;
    loop {
        let windows = scan.next(reader, found).await?;
        if windows.is_empty() {
            return Ok(());
        }
        for window in windows {
            check_list(reader, &window, found).await?;
        }
    }
}

async fn fields(reader: &AuditReader, key: &str, names: &[&str]) -> Result<Vec<Option<String>>, Error> {
    let reply = reader.query([key], |key| cmd("HMGET").arg(key).arg(names).take()).await?;
    Ok(reply.read(&key).unwrap_or_else(|| vec![None; names.len()]))
}

const fn settle_campaign(owner: UserId, id: u64) -> Remedy {
    Remedy::SettleCampaign { owner: Some(owner), campaign: CampaignId(id) }
}

const fn settle_website(owner: UserId, id: u64) -> Remedy {
    Remedy::SettleWebsite { owner, website: WebsiteId(id) }
}

fn correct_score(_: (UserId, bool), key: &str, member: u64) -> Vec<Remedy> {
    vec![Remedy::CorrectScore { key: key.to_owned(), member }]
}

/// Checks the id and the owner of a record, and that the owner's list contains it.
async fn check_owned(
    reader: &AuditReader,
    key: &str,
    fields: &[Option<String>],
    list: fn(UserId) -> String,
    settle: fn(UserId, u64) -> Remedy,
    id: u64,
    found: &mut Findings,
) -> Result<(), Error> {
    if fields[0].as_deref() != Some(id.to_string().as_str()) {
        let value = Some(id.to_string());
        let remedy = Remedy::SetField { key: key.to_owned(), field: "id".to_owned(), found: fields[0].clone(), value };
        found.add_repairable(key, "has another id", [remedy]);
    }
    let Some(owner) = fields[1].as_deref().and_then(audit::id).map(UserId) else {
        found.add(key, "has no owner");
        return Ok(());
    };
    if reader.missing_accounts([owner]).await?.contains(&owner) {
        let remedies = [settle(owner, id)].into_iter().filter(|_| !reader.is_young(id));
        found.add_repairable(key, format!("its owner {} does not exist", owner.0), remedies);
    } else if !reader.is_young(id) && reader.holders(&[list(owner)], id).await?.is_empty() {
        found.add_repairable(key, format!("is missing in {}", list(owner)), [settle(owner, id)]);
    }
    Ok(())
}

fn check_campaign(key: &str, fields: &[Option<String>], found: &mut Findings) {
    let text = |at: usize| fields[at].as_deref().unwrap_or_default();
    for at in [3, 5, 7, 8] {
        if audit::number(text(at)).is_none() {
            found.add(key, format!("its {} is not a number", CAMPAIGN[at]));
        }
    }
    if !matches!(text(4), "EVEN" | "ASAP") || !matches!(text(6), "on" | "paused" | "stopped") || text(2).is_empty() {
        found.add(key, "its name, pacing or state is invalid");
    }
    if fields[9].as_deref().is_some_and(|daily| audit::number(daily).is_none()) {
        found.add(key, "its daily is not a number");
    }
}

/// Checks the record of an ad, and that its campaign lists it unless it was removed.
async fn check_ad(reader: &AuditReader, key: &str, id: AdId, found: &mut Findings) -> Result<(), Error> {
    let fields = fields(reader, key, &AD).await?;
    let text = |at: usize| fields[at].as_deref().unwrap_or_default();
    let whole = text(0) == id.number.to_string() && Slot::from_name(text(1)).is_some() && Pricing::from_name(text(2)).is_some();
    let creative = if text(1) == Slot::InFeed.name() { fields[5].is_some() } else { fields[4].is_some() };
    if !whole || audit::number(text(3)).is_none() || !creative {
        found.add(key, "has no valid slot, pricing, bid or creative");
    }
    let is_listed = !reader.holders(&[keys::ads(id.campaign)], id.number).await?.is_empty();
    match (&fields[6], is_listed) {
        (Some(_), true) => found.add(key, format!("was removed but is in {}", keys::ads(id.campaign))),
        (None, false) if !reader.is_young(id.number) => found.add(key, format!("is missing in {}", keys::ads(id.campaign))),
        _ => {}
    }
    Ok(())
}

/// Checks that the members of an owner's list exist and belong to the owner.
async fn check_list(reader: &AuditReader, window: &SetWindow<(UserId, bool)>, found: &mut Findings) -> Result<(), Error> {
    let (owner, campaigns) = window.set;
    let key = |id: u64| {
        if campaigns { keys::campaign(crate::base::ids::CampaignId(id)) } else { keys::website(crate::base::ids::WebsiteId(id)) }
    };
    let owners = reader.query(window.rows.iter().map(|row| row.member), |id| cmd("HGET").arg(key(id)).arg("uid").take()).await?;
    for row in &window.rows {
        if row.member != row.position {
            let problem = format!("the score of {} is not its id", row.member);
            found.add_repairable(&window.key, problem, correct_score(window.set, &window.key, row.member));
        }
        match owners.read::<Option<u64>>(&row.member).flatten() {
            Some(other) if other != owner.0 => {
                let remove = Remedy::RemoveMember { key: window.key.clone(), member: row.member.to_string().into_bytes() };
                found.add_repairable(&window.key, format!("{} belongs to {other}", row.member), [remove]);
            }
            None if !reader.is_young(row.member) => {
                let settle = if campaigns { settle_campaign } else { settle_website };
                found.add_repairable(&window.key, format!("there is no {}", key(row.member)), [settle(owner, row.member)]);
            }
            _ => {}
        }
    }
    if reader.missing_accounts([owner]).await?.contains(&owner) {
        found.add_repairable(&window.key, "there is no such account", [Remedy::PurgeAccount(owner)]);
    }
    Ok(())
}

async fn check_bounds(reader: &AuditReader, all: &[(KeyKind, &str)], found: &mut Findings) -> Result<(), Error> {
    let most = |owned: &KeyKind| match owned {
        KeyKind::Campaigns(_) => Some(MAX_CAMPAIGNS),
        KeyKind::Websites(_) => Some(MAX_WEBSITES),
        KeyKind::Keywords(_) => Some(MAX_KEYWORDS),
        KeyKind::Ads(_) | KeyKind::Rank(..) => Some(MAX_ADS),
        KeyKind::CappedCampaigns(_) => Some(MAX_CAPPED),
        _ => None,
    };
    let bounded: Vec<(&str, usize)> = all.iter().filter_map(|(owned, key)| Some((*key, most(owned)?))).collect();
    let sizes = reader.query(bounded.iter().map(|(key, _)| *key), |key| cmd("ZCARD").arg(key).take()).await?;
    for (key, most) in bounded {
        if let Some(size) = sizes.read::<usize>(&key).filter(|size| *size > most) {
            found.add_with(key, format!("holds more than {most}"), size.to_string());
        }
    }
    let offered = all.iter().filter(|(owned, _)| matches!(owned, KeyKind::AdStats(_))).map(|(_, key)| *key);
    let sizes = reader.query(offered.clone(), |key| cmd("HLEN").arg(key).take()).await?;
    for key in offered {
        if let Some(size) = sizes.read::<usize>(&key).filter(|size| *size > AD_FIELDS * MAX_ADS_WITH_REMOVED) {
            found.add_with(key, format!("holds more than {}", AD_FIELDS * MAX_ADS_WITH_REMOVED), size.to_string());
        }
    }
    Ok(())
}
