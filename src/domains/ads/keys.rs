//! The Redis keys of ads. A campaign's definition has its own hash tag, each of its shares has another, and a listing has one for slot and
//! keyword.
//!
//! Some stored names are older than the names of their functions: `standing:` ([`suspensions`]), `frozen:` ([`freeze`]), `listed:`
//! ([`campaign_listings`]), `offered:` ([`ad_stats`]), `seen:` ([`frequency`]), `clicked:` ([`clicked_impressions`]), `recorded:`
//! ([`recorded_nonces`]), `tally:` ([`daily_stats`]), `reached:` ([`daily_reach`]), `capped:` ([`capped_campaigns`]), `clicker:`
//! ([`visitor_clicks`]), `traffic:` ([`address_traffic`]) and `shown:` ([`origin_impressions`]). They stay: some of them have data for months, and
//! renaming these needs a migration of accounts, campaigns and shares while no server runs.

use crate::base::audit;
use crate::base::ids::{AdId, CampaignId, UserId, WebsiteId};
use crate::domains::ads::model::{Listing, SCHEDULES, Share, Slot, Visitor};

/// The prefixes of the keys, before the first colon.
pub const KINDS: [&str; 28] = [
    "campaigns",
    "websites",
    "standing",
    "campaign",
    "frozen",
    "keywords",
    "ads",
    "ad",
    "listed",
    "website",
    "share",
    "rank",
    "offered",
    "holds",
    "seen",
    "impression",
    "clicked",
    "recorded",
    "tally",
    "reach",
    "reached",
    "offers",
    "capped",
    "clicker",
    "traffic",
    "shown",
    "schedule",
    "signing",
];

/// ZSET, campaign → itself. At most [`super::model::MAX_CAMPAIGNS`], no time to live.
pub(super) fn campaigns(owner: UserId) -> String {
    format!("campaigns:{{{}}}", owner.0)
}

/// ZSET, website → itself. At most [`super::model::MAX_WEBSITES`], no time to live.
pub(super) fn websites(owner: UserId) -> String {
    format!("websites:{{{}}}", owner.0)
}

/// HASH `advertiser publisher`: `1` if the account is suspended in this role. No time to live. The stored name `standing` is older than the
/// name of the function, and stays: renaming it needs a migration.
pub(super) fn suspensions(user: UserId) -> String {
    format!("standing:{{{}}}", user.0)
}

/// HASH: the definition of a campaign, `id uid name budget daily pacing starts ends from cap per state suspended shares version made`; the
/// money granted to shares and not returned, in total and on `day`: `out today day`; and for each share, such as share 0, `g0 b0 r0 q0`: the money
/// granted in total and before `day`, and returned in total and on `day`. Money in billionths, times in ms; `pacing` is `EVEN`
/// or `ASAP`, `state` is `on`, `paused` or `stopped`; `from` is the earliest time of activity, `per` the cap's period in seconds, `made` the number of
/// ads ever created; `daily starts ends cap per suspended` exist only if they are set. No time to live.
pub(super) fn campaign(id: CampaignId) -> String {
    format!("campaign:{{{}}}", id.0)
}

/// STRING, the token of a freeze: while it exists, the campaign's pool grants nothing. Time to live: [`super::model::FREEZE_TTL`].
pub(super) fn freeze(id: CampaignId) -> String {
    format!("frozen:{{{}}}", id.0)
}

/// ZSET, keyword in its displayed form → id of its addition. At most [`super::model::MAX_KEYWORDS`], no time to live.
pub(super) fn keywords(id: CampaignId) -> String {
    format!("keywords:{{{}}}", id.0)
}

/// ZSET, ad → itself. At most [`super::model::MAX_ADS`], no time to live.
pub(super) fn ads(id: CampaignId) -> String {
    format!("ads:{{{}}}", id.0)
}

/// HASH `id slot snippet target pricing bid status`: the definition of an ad, which never changes. The bid is in billionths; an in-feed ad
/// has `status` instead of `snippet target`. No time to live, except for a removed ad: it has `removed`, the time of the removal, and
/// expires after [`super::model::REMOVED_AD_TTL`].
pub(super) fn ad(id: AdId) -> String {
    format!("ad:{{{}}}:{}", id.campaign.0, id.number)
}

/// ZSET, listing that may contain the campaign → time of the last write, ms. One for each slot and keyword, and those of the minute before;
/// no time to live.
pub(super) fn campaign_listings(id: CampaignId) -> String {
    format!("listed:{{{}}}", id.0)
}

/// HASH `id uid name origin off`, `off` is `1` where its owner is suspended; `key`, the version of its server key, where it requires one; and its
/// traffic: `hour`, in hours since 1970, the impressions and clicks in that hour, `i c`, and their hourly means before that hour, `mi mc`. No
/// time to live.
pub(super) fn website(id: WebsiteId) -> String {
    format!("website:{{{}}}", id.0)
}

/// HASH: a copy of the campaign for decisions, `v off starts ends cap per`, of which `v` is the version, `off` is `1` or `0`, `per` is the cap's period
/// in seconds, and `starts ends cap per` are 0 if they are not set; the money of this share, `g r q day spent held used`, of which `g` was granted in
/// total, `r` was returned in total and `q` on `day`, `held` is reserved for clicks, and `used` was spent or reserved on `day`; its impressions,
/// clicks, invalid clicks, invalid impressions, `i c x y`; and its invalid clicks by reason, `x-REASON`, if there were any. No time to live.
pub(super) fn share(share: Share) -> String {
    format!("share:{{{share}}}")
}

/// ZSET, ad of a slot → its eCPM in millionths. At most [`super::model::MAX_ADS`], no time to live.
pub(super) fn rank(share: Share, slot: Slot) -> String {
    format!("rank:{{{share}}}:{}", slot.name())
}

/// HASH, ad → `CPM bid` or `CPC bid`, the bid in millionths; `ad:i`, `ad:c`, `ad:x`, `ad:y`, `ad:s`: its impressions, clicks, invalid clicks,
/// invalid impressions, spend in billionths; `ad:x-REASON`: its invalid clicks by reason; `ad:l`: its impressions when it was last listed. At most
/// [`super::model::AD_FIELDS`] for each ad that the campaign ever had, no time to live.
pub(super) fn ad_stats(share: Share) -> String {
    format!("offered:{{{share}}}")
}

/// ZSET of holds, `impression.ad.price.day` → the time at which the hold expires, ms. A hold is the amount reserved for the click of one
/// impression. At most the impressions of an hour that have holds.
pub(super) fn holds(share: Share) -> String {
    format!("holds:{{{share}}}")
}

/// STRING `until.count`: impressions of the campaign to a visitor. Time to live: the cap's period.
pub(super) fn frequency(share: Share, visitor: Visitor) -> String {
    format!("seen:{{{share}}}:{visitor}")
}

/// STRING: the result of a reservation or a click, for a retry whose reply was lost. Time to live: [`super::model::REPLY_TTL`].
pub(super) fn impression(share: Share, id: u64) -> String {
    format!("impression:{{{share}}}:{id}")
}

/// SET of the clicked impressions of an hour that have no hold. Time to live: two hours.
pub(super) fn clicked_impressions(share: Share, hour: u64) -> String {
    format!("clicked:{{{share}}}:{hour}")
}

/// SET of the nonces that were recorded in ten minutes, 8 bytes each. Time to live: 25 minutes.
pub(super) fn recorded_nonces(share: Share, span: u64) -> String {
    format!("recorded:{{{share}}}:{span}")
}

/// HASH `i c s x y`, `x-REASON`, and the same for each ad after the prefix `ad.`: the impressions, clicks, spend, invalid clicks, invalid
/// impressions, and invalid clicks by reason of a day. Time to live: [`super::model::DAILY_STATS_TTL`].
pub(super) fn daily_stats(share: Share, day: u64) -> String {
    format!("tally:{{{share}}}:{day}")
}

/// HyperLogLog of visitors. 12 KiB at most, no time to live.
pub(super) fn reach(share: Share) -> String {
    format!("reach:{{{share}}}")
}

/// HyperLogLog of the visitors of a day. 12 KiB at most; time to live: [`super::model::DAILY_STATS_TTL`].
pub(super) fn daily_reach(share: Share, day: u64) -> String {
    format!("reached:{{{share}}}:{day}")
}

/// ZSET, campaign (7 bytes) → the eCPM of its best ad in the slot that the campaign can pay for, in millionths. No time to live.
pub(super) fn offers(listing: &Listing) -> String {
    format!("offers:{{{listing}}}")
}

/// ZSET, campaign → end of the visitor's cap period, ms. Decisions skip these campaigns. At most [`super::model::MAX_CAPPED`]; time to
/// live: until the last of these ends.
pub(super) fn capped_campaigns(visitor: Visitor) -> String {
    format!("capped:{{{visitor}}}")
}

/// STRING `until.count`: the clicks of a visitor in a minute. Time to live: a minute.
pub(super) fn visitor_clicks(visitor: Visitor) -> String {
    format!("clicker:{{{visitor}}}")
}

/// STRING `until.count`: the clicks or impressions of an address in an hour, or its clicks on ads of one campaign; `address` is a keyed hash of
/// an IP network and the counter's name. Time to live: an hour.
pub(super) fn address_traffic(address: Visitor) -> String {
    format!("traffic:{{{address}}}")
}

/// STRING `until.count`: the impressions of the campaign for a traffic origin in an hour; `origin` is a keyed hash of an IP network, or of the
/// account whose server requests the ads. Time to live: an hour.
pub(super) fn origin_impressions(share: Share, origin: Visitor) -> String {
    format!("shown:{{{share}}}:{origin}")
}

/// ZSET, campaign → time of its next evaluation, ms. Every campaign, unless it has ended or was stopped and has no holds; no time to live.
pub(super) fn schedule(n: u64) -> String {
    format!("schedule:{{{n}}}")
}

/// HASH `newest made`, and version → key: the keys that sign impression tokens. The newest and the one before; no time to live.
pub(super) const SIGNING: &str = "signing:{ads}";

/// A parsed key: its kind and the parts that the audit needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    Campaigns(UserId),
    Websites(UserId),
    Suspensions(UserId),
    Campaign(CampaignId),
    Freeze(CampaignId),
    Keywords(CampaignId),
    Ads(CampaignId),
    Ad(AdId),
    CampaignListings(CampaignId),
    Website(WebsiteId),
    Share(Share),
    Rank(Share, Slot),
    AdStats(Share),
    Holds(Share),
    Frequency(Share),
    Impression(Share),
    ClickedImpressions(Share),
    RecordedNonces(Share),
    DailyStats(Share, u64),
    Reach(Share),
    DailyReach(Share, u64),
    Offers(Listing),
    CappedCampaigns(Visitor),
    VisitorClicks(Visitor),
    AddressTraffic(Visitor),
    OriginImpressions(Share),
    Schedule(u64),
    Signing,
}

/// Parses a key; `None` for a key of another domain, and for an invalid key.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    if key == SIGNING {
        return Some(KeyKind::Signing);
    }
    let (kind, rest) = key.split_once(':')?;
    let rest = rest.strip_prefix('{')?;
    let (tag, part) = match rest.split_once("}:") {
        Some((tag, part)) => (tag, Some(part)),
        None => (rest.strip_suffix('}')?, None),
    };
    match part {
        Some(part) => parse_part(kind, tag, part),
        None => parse_whole(kind, tag),
    }
}

fn parse_whole(kind: &str, tag: &str) -> Option<KeyKind> {
    let (user, campaign) = (|| audit::id(tag).map(UserId), || audit::id(tag).map(CampaignId));
    match kind {
        "campaigns" => user().map(KeyKind::Campaigns),
        "websites" => user().map(KeyKind::Websites),
        "standing" => user().map(KeyKind::Suspensions),
        "campaign" => campaign().map(KeyKind::Campaign),
        "frozen" => campaign().map(KeyKind::Freeze),
        "keywords" => campaign().map(KeyKind::Keywords),
        "ads" => campaign().map(KeyKind::Ads),
        "listed" => campaign().map(KeyKind::CampaignListings),
        "website" => audit::id(tag).map(|id| KeyKind::Website(WebsiteId(id))),
        "share" => Share::parse(tag).map(KeyKind::Share),
        "offered" => Share::parse(tag).map(KeyKind::AdStats),
        "holds" => Share::parse(tag).map(KeyKind::Holds),
        "reach" => Share::parse(tag).map(KeyKind::Reach),
        "offers" => Listing::parse(tag).map(KeyKind::Offers),
        "capped" => Visitor::parse(tag).map(KeyKind::CappedCampaigns),
        "clicker" => Visitor::parse(tag).map(KeyKind::VisitorClicks),
        "traffic" => Visitor::parse(tag).map(KeyKind::AddressTraffic),
        "schedule" => audit::number(tag).filter(|n| *n < SCHEDULES).map(KeyKind::Schedule),
        _ => None,
    }
}

fn parse_part(kind: &str, tag: &str, part: &str) -> Option<KeyKind> {
    if kind == "ad" {
        let campaign = CampaignId(audit::id(tag)?);
        return audit::id(part).map(|number| KeyKind::Ad(AdId { campaign, number }));
    }
    let share = Share::parse(tag)?;
    match kind {
        "rank" => Slot::from_name(part).map(|slot| KeyKind::Rank(share, slot)),
        "seen" => Visitor::parse(part).map(|_| KeyKind::Frequency(share)),
        "shown" => Visitor::parse(part).map(|_| KeyKind::OriginImpressions(share)),
        "impression" => audit::id(part).map(|_| KeyKind::Impression(share)),
        "clicked" => audit::number(part).map(|_| KeyKind::ClickedImpressions(share)),
        "recorded" => audit::number(part).map(|_| KeyKind::RecordedNonces(share)),
        "tally" => audit::number(part).map(|day| KeyKind::DailyStats(share, day)),
        "reached" => audit::number(part).map(|day| KeyKind::DailyReach(share, day)),
        _ => None,
    }
}
