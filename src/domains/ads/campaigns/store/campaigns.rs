//! Campaigns in Redis: their definitions and their owners.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::ads::budget::model::ShareBalance;
use crate::domains::ads::budget::store::shares::{balance_command, balances_of, decode_balance};
use crate::domains::ads::campaigns::model::{Campaign, Cap, Pacing};
use crate::domains::ads::keys;
use crate::domains::ads::model::MAX_LISTED;
use crate::domains::ads::model::Share;
use crate::domains::ads::model::{MAX_ADS, MAX_KEYWORDS, Money};
use redis::{Value, cmd};

static WRITE_CAMPAIGN: Script = Script::new(include_str!("../../lua/write_campaign.lua"));
static CHANGE_CAMPAIGN: Script = Script::allow_oom(include_str!("../../lua/change_campaign.lua"));

/// Writes the definition of a campaign, unless it exists. The definition is the source of truth. One script on its hash tag.
pub(in crate::domains::ads) async fn write(db: &Db, campaign: &Campaign, keywords: &[(u64, String)]) -> Result<(), Error> {
    let (fields, _) = fields_of(campaign);
    let call = Call::new(&WRITE_CAMPAIGN, [keys::campaign(campaign.id), keys::keywords(campaign.id)]);
    let own = [("id", campaign.id.0), ("uid", campaign.owner.0), ("shares", campaign.shares), ("version", 1)];
    let call = call.arg(fields.len() + own.len()).arg(&fields[..]).arg(&own[..]);
    db.call::<u64>(call.arg(keywords)).await.map(drop)
}

/// The result of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum ChangeResult {
    /// The change was made.
    Done,
    /// The campaign does not exist.
    NotFound,
    /// The campaign was changed concurrently, or the freeze has ended.
    Conflict,
    /// The shares hold more than the new budget.
    OverBudget,
}

/// Changes a campaign to `new` if its version is still that of `new`, and adds and removes keywords. `frozen` is the token of the freeze of its pool,
/// which must still exist. One script on its hash tag.
pub(in crate::domains::ads) async fn change(
    db: &Db,
    new: &Campaign,
    frozen: Option<u64>,
    add: &[(u64, String)],
    remove: &[String],
) -> Result<ChangeResult, Error> {
    let (fields, absent) = fields_of(new);
    let keys = [keys::campaign(new.id), keys::keywords(new.id), keys::freeze(new.id)];
    let freeze_token = frozen.map(|token| token.to_string()).unwrap_or_default();
    let call = Call::new(&CHANGE_CAMPAIGN, keys).arg(new.version).arg(freeze_token);
    let call = call.arg(2 * fields.len()).arg(absent.len()).arg(2 * add.len()).arg(remove.len());
    Ok(match db.call::<i64>(call.arg(&fields[..]).arg(&absent[..]).arg(add).arg(remove)).await? {
        1 => ChangeResult::Done,
        0 => ChangeResult::NotFound,
        -1 => ChangeResult::Conflict,
        _ => ChangeResult::OverBudget,
    })
}

type Fields = Vec<(&'static str, String)>;

/// Returns the changeable fields of a campaign with their values, and the optional fields that it does not have.
fn fields_of(it: &Campaign) -> (Fields, Vec<&'static str>) {
    let state = if it.stopped {
        "stopped"
    } else if it.paused {
        "paused"
    } else {
        "on"
    };
    let mut fields: Fields =
        [("name", it.name.clone()), ("state", state.to_owned()), ("pacing", it.pacing.name().to_owned())].into();
    fields.extend([("budget", it.budget.0.to_string()), ("from", it.active_from().to_string())]);
    let (impressions, seconds) = (it.cap.map(|cap| cap.impressions), it.cap.map(|cap| cap.per_seconds));
    let suspended = it.suspended.then_some(1);
    let mut absent = Vec::new();
    let maybe = [("daily", it.daily.map(|daily| daily.0)), ("starts", it.starts), ("ends", it.ends), ("cap", impressions)];
    for (name, value) in maybe.into_iter().chain([("per", seconds), ("suspended", suspended)]) {
        match value {
            Some(value) => fields.push((name, value.to_string())),
            None => absent.push(name),
        }
    }
    (fields, absent)
}

/// A campaign with its keywords and balances.
#[derive(Clone, Debug)]
pub struct CampaignDetails {
    /// The definition.
    pub campaign: Campaign,
    /// The keywords in their displayed form, the oldest first.
    pub keywords: Vec<String>,
    /// The balances of the shares.
    pub balances: Vec<ShareBalance>,
}

/// Loads campaigns by id, in the order of `ids`; `None` for a campaign that does not exist. Two pipelines: the definitions, and the balances of
/// the shares.
pub(in crate::domains::ads) async fn load(db: &Db, ids: &[CampaignId]) -> Result<Vec<Option<CampaignDetails>>, Error> {
    let commands = ids.iter().flat_map(|id| definition(*id)).collect();
    let mut replies = db.read_many(commands).await?.into_iter();
    let found: Vec<Option<WithKeywords>> = ids.iter().map(|_| decode_definition(&mut replies)).collect::<Result<_, _>>()?;
    let shares: Vec<(CampaignId, u64)> = found.iter().flatten().map(|(it, _)| (it.id, it.shares)).collect();
    let mut balances = balances_of(db, &shares).await?.into_iter();
    let mut whole = |(campaign, keywords)| CampaignDetails { campaign, keywords, balances: balances.next().unwrap_or_default() };
    Ok(found.into_iter().map(|it| it.map(&mut whole)).collect())
}

/// A definition, and the balances of its shares.
pub(in crate::domains::ads) type CampaignWithBalances = (Campaign, Vec<ShareBalance>);

/// Loads the definitions and balances of campaigns whose numbers of shares are known. These numbers never change. One pipeline.
pub(in crate::domains::ads) async fn load_known(
    db: &Db,
    campaigns: &[(CampaignId, u64)],
) -> Result<Vec<Option<CampaignWithBalances>>, Error> {
    let of_one = |(id, shares): &(CampaignId, u64)| {
        let definition = cmd("HGETALL").arg(keys::campaign(*id)).take();
        [definition].into_iter().chain(Share::all(*id, *shares).map(balance_command))
    };
    let mut replies = db.read_many(campaigns.iter().flat_map(of_one).collect()).await?.into_iter();
    let mut found = Vec::with_capacity(campaigns.len());
    for (_, shares) in campaigns {
        let campaign = decode_campaign(replies.next().unwrap_or_default())?;
        let balances = (0..*shares).map(|_| decode_balance(replies.next().unwrap_or_default()));
        let balances = balances.collect::<Result<Vec<_>, _>>()?;
        found.push(campaign.map(|campaign| (campaign, balances)));
    }
    Ok(found)
}

/// A definition and its keywords.
type WithKeywords = (Campaign, Vec<String>);

fn definition(id: CampaignId) -> [redis::Cmd; 2] {
    [cmd("HGETALL").arg(keys::campaign(id)).take(), range(keys::keywords(id), MAX_KEYWORDS)]
}

fn decode_definition(replies: &mut impl Iterator<Item = Value>) -> Result<Option<WithKeywords>, Error> {
    let mut reply = || replies.next().unwrap_or_default();
    let (campaign, keywords) = (decode_campaign(reply())?, decode::value(reply())?);
    Ok(campaign.map(|campaign| (campaign, keywords)))
}

fn range(key: String, most: usize) -> redis::Cmd {
    cmd("ZRANGE").arg(key).arg(0).arg(most - 1).take()
}

/// A campaign with its keywords, the ids of its ads and the record of its listings.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct CampaignSnapshot {
    /// The definition.
    pub campaign: Campaign,
    /// The keywords in their displayed form.
    pub keywords: Vec<String>,
    /// The ids of the ads.
    pub ads: Vec<AdId>,
    /// The tags of listings that may contain the campaign, each with the time of its last write; the oldest first.
    pub recorded_listings: Vec<(String, Millis)>,
}

/// Reads a campaign with its keywords, the ids of its ads and the record of its listings; `None` if the campaign does not exist. One pipeline.
pub(in crate::domains::ads) async fn read(db: &Db, id: CampaignId) -> Result<Option<CampaignSnapshot>, Error> {
    let commands = vec![
        cmd("HGETALL").arg(keys::campaign(id)).take(),
        range(keys::keywords(id), MAX_KEYWORDS),
        range(keys::ads(id), MAX_ADS),
        range(keys::campaign_listings(id), MAX_LISTED).arg("WITHSCORES").take(),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let campaign = decode_campaign(reply())?;
    let (keywords, ads): (_, Vec<u64>) = (decode::value(reply())?, decode::value(reply())?);
    let listed: Vec<(String, f64)> = decode::value(reply())?;
    let listed = listed.into_iter().map(|(listing, at)| (listing, at as Millis)).collect();
    let ads = ads.into_iter().map(|number| AdId { campaign: id, number }).collect();
    Ok(campaign.map(|campaign| CampaignSnapshot { campaign, keywords, ads, recorded_listings: listed }))
}

/// Returns a campaign's keywords and ads. One pipeline.
pub(in crate::domains::ads) async fn targeting(db: &Db, id: CampaignId) -> Result<(Vec<String>, Vec<AdId>), Error> {
    let commands = vec![range(keys::keywords(id), MAX_KEYWORDS), range(keys::ads(id), MAX_ADS)];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (keywords, ads): (_, Vec<u64>) = (decode::value(reply())?, decode::value(reply())?);
    Ok((keywords, ads.into_iter().map(|number| AdId { campaign: id, number }).collect()))
}

/// Returns whether a campaign of any owner exists. One command.
pub(in crate::domains::ads) async fn exists(db: &Db, id: CampaignId) -> Result<bool, Error> {
    db.read(cmd("HEXISTS").arg(keys::campaign(id)).arg("id").take()).await
}

/// Deletes the data on a campaign's hash tag except the record of its listings: the campaign does not exist any more, but a concurrent settling may
/// have added it to a listing, which only the record knows. Removed ads expire. One command.
pub(in crate::domains::ads) async fn purge_campaign(db: &Db, id: CampaignId, ads: &[AdId]) -> Result<(), Error> {
    let mut own: Vec<String> = ads.iter().map(|ad| keys::ad(*ad)).collect();
    own.extend([keys::ads(id), keys::keywords(id), keys::campaign(id)]);
    db.write_many(vec![cmd("UNLINK").arg(own).take()]).await.map(drop)
}

/// Decodes the fields of a definition; `None` without an id or an owner.
fn decode_campaign(reply: Value) -> Result<Option<Campaign>, Error> {
    let mut it = Campaign {
        id: CampaignId(0),
        owner: UserId(0),
        name: String::new(),
        budget: Money(0),
        daily: None,
        pacing: Pacing::Even,
        starts: None,
        ends: None,
        cap: None,
        paused: false,
        stopped: false,
        suspended: false,
        shares: 1,
        version: 0,
    };
    let (mut impressions, mut seconds) = (None, None);
    decode::fields(reply, |name, value| {
        match name {
            "id" => it.id = CampaignId(value.number()?),
            "uid" => it.owner = UserId(value.number()?),
            "name" => it.name = value.0,
            "budget" => it.budget = Money(value.number()?),
            "daily" => it.daily = Some(Money(value.number()?)),
            "pacing" => it.pacing = Pacing::from_name(&value.0).unwrap_or_default(),
            "starts" => it.starts = Some(value.number()?),
            "ends" => it.ends = Some(value.number()?),
            "cap" => impressions = Some(value.number()?),
            "per" => seconds = Some(value.number()?),
            "state" => (it.paused, it.stopped) = (value.0 == "paused", value.0 == "stopped"),
            "suspended" => it.suspended = value.0 == "1",
            "shares" => it.shares = value.number()?,
            "version" => it.version = value.number()?,
            _ => {}
        }
        Ok(())
    })?;
    it.cap = impressions.zip(seconds).map(|(impressions, per_seconds)| Cap { impressions, per_seconds });
    Ok((it.id.0 > 0 && it.owner.0 > 0).then_some(it))
}
