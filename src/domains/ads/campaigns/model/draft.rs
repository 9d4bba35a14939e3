//! New campaigns and ads, before and after validation.

use crate::base::clock::Millis;
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{CampaignId, StatusId};
use crate::base::text::{TextRules, max_bytes};
use crate::domains::ads::campaigns::model::{Cap, Creative, Pacing};
use crate::domains::ads::model::{
    MAX_CAP_PERIOD, MAX_KEYWORDS, MAX_URL, Money, Pricing, Slot, invalid, money, name, normalize_keyword, not_found,
    ok_or_collect, ok_or_collect_all, parse_url, too_long,
};
use crate::platform::idempotency::check_key;
use rust_decimal::Decimal;
use std::collections::HashSet;

const KEYWORD: TextRules = TextRules { name: "A keyword", min: 1, max: 80, bytes: max_bytes(80), newlines: false };
/// The rules for existing keywords: an older version accepted keywords with more bytes.
const KEPT_KEYWORD: TextRules = TextRules { bytes: 40 * KEYWORD.max, ..KEYWORD };
/// Maximum length of all keywords of a campaign, in bytes.
pub const KEYWORDS_BYTES: usize = MAX_KEYWORDS * KEYWORD.bytes;
/// Maximum length of a snippet, in bytes.
pub const SNIPPET_BYTES: usize = max_bytes(2_000);
const SNIPPET: TextRules = TextRules { name: "The snippet", min: 1, max: 2_000, bytes: SNIPPET_BYTES, newlines: true };
/// Maximum number of impressions of a cap.
const MAX_IMPRESSIONS: i64 = 1_000_000;
/// Maximum period of a cap in seconds.
const MAX_SECONDS: i64 = (MAX_CAP_PERIOD / 1_000) as i64;
/// The latest valid time: the end of the year 9999.
const MAX_TIME: Millis = 253_402_300_799_999;

/// A frequency cap before validation.
#[derive(Clone, Copy, Debug)]
pub struct CapInput {
    /// Maximum number of impressions.
    pub impressions: i64,
    /// The period in seconds.
    pub per_seconds: i64,
}

/// A new campaign before validation.
#[derive(Clone, Debug)]
pub struct NewCampaign {
    /// Its name.
    pub name: String,
    /// The total budget.
    pub budget: Decimal,
    /// The daily budget.
    pub daily: Option<Decimal>,
    /// The start.
    pub starts: Option<Millis>,
    /// The end.
    pub ends: Option<Millis>,
    /// Its keywords.
    pub keywords: Vec<String>,
    /// The frequency cap.
    pub cap: Option<CapInput>,
    /// The pacing of the daily budget.
    pub pacing: Pacing,
    /// The idempotency key of the request.
    pub idempotency_key: Option<String>,
}

/// A validated new campaign.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct CampaignDraft {
    pub(in crate::domains::ads) name: String,
    pub(in crate::domains::ads) budget: Money,
    pub(in crate::domains::ads) daily: Option<Money>,
    pub(in crate::domains::ads) starts: Option<Millis>,
    pub(in crate::domains::ads) ends: Option<Millis>,
    pub(in crate::domains::ads) keywords: Vec<String>,
    pub(in crate::domains::ads) cap: Option<Cap>,
    pub(in crate::domains::ads) pacing: Pacing,
}

impl NewCampaign {
    /// Validates the campaign. Fails with every mistake. Otherwise returns an end in the past as a separate error, because it does not apply to a
    /// repeated request.
    pub(in crate::domains::ads) fn check(self, now: Millis) -> Result<(CampaignDraft, Option<UserError>), Vec<UserError>> {
        let mut errors = Vec::new();
        let key = self.idempotency_key.as_deref().map_or(Ok(()), check_key);
        let name = ok_or_collect(name(&self.name), &mut errors);
        let budget = ok_or_collect(money(self.budget, "The budget", "budget"), &mut errors);
        let daily = self.daily.and_then(|daily| ok_or_collect(money(daily, "The daily budget", "dailyBudget"), &mut errors));
        for checked in [check_time(self.starts, "startsAt"), check_times(self.starts, self.ends)] {
            ok_or_collect(checked, &mut errors);
        }
        let keywords = ok_or_collect(check_keywords(&self.keywords), &mut errors);
        let cap = self.cap.and_then(|input| ok_or_collect_all(cap(input), &mut errors));
        ok_or_collect(key, &mut errors);
        let late = self.ends.filter(|ends| *ends <= now).map(|_| end_in_past());
        match (name, budget, keywords) {
            (Some(name), Some(budget), Some(keywords)) if errors.is_empty() => {
                let (starts, ends, pacing) = (self.starts, self.ends, self.pacing);
                Ok((CampaignDraft { name, budget, daily, starts, ends, keywords, cap, pacing }, late))
            }
            _ => Err(errors.into_iter().chain(late).collect()),
        }
    }
}

/// A new ad before validation.
#[derive(Clone, Debug)]
pub struct NewAd {
    /// The campaign; `None` for an invalid id.
    pub campaign: Option<CampaignId>,
    /// The slot of the ad.
    pub slot: Slot,
    /// Its text.
    pub snippet: Option<String>,
    /// The destination URL.
    pub target: Option<String>,
    /// The global id of the status to promote.
    pub status: Option<String>,
    /// The pricing.
    pub pricing: Pricing,
    /// The bid.
    pub bid: Decimal,
    /// The idempotency key of the request.
    pub idempotency_key: Option<String>,
}

/// A validated new ad.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct AdDraft {
    pub(in crate::domains::ads) campaign: CampaignId,
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) creative: Creative,
    pub(in crate::domains::ads) pricing: Pricing,
    pub(in crate::domains::ads) bid: Money,
}

impl NewAd {
    /// Validates the ad. Fails with every mistake.
    pub(in crate::domains::ads) fn check(self) -> Result<AdDraft, Vec<UserError>> {
        let mut errors = Vec::new();
        if self.campaign.is_none() {
            errors.push(not_found("There is no such campaign, or it is not yours.", "campaignId"));
        }
        let creative = ok_or_collect_all(self.creative(), &mut errors);
        let bid = ok_or_collect(money(self.bid, "The bid", "bid"), &mut errors);
        ok_or_collect(self.idempotency_key.as_deref().map_or(Ok(()), check_key), &mut errors);
        match (self.campaign, creative, bid) {
            (Some(campaign), Some(creative), Some(bid)) if errors.is_empty() => {
                Ok(AdDraft { campaign, slot: self.slot, creative, pricing: self.pricing, bid })
            }
            _ => Err(errors),
        }
    }

    fn creative(&self) -> Result<Creative, Vec<UserError>> {
        if self.slot == Slot::InFeed { self.status_creative() } else { self.snippet_creative() }
    }

    fn status_creative(&self) -> Result<Creative, Vec<UserError>> {
        let with_status = "An ad in the slot `IN_FEED` shows a status: omit this field.";
        let mut errors: Vec<UserError> = Vec::new();
        errors.extend(self.snippet.as_ref().map(|_| invalid(with_status, &["snippet"])));
        errors.extend(self.target.as_ref().map(|_| invalid(with_status, &["targetUrl"])));
        let status = match &self.status {
            None => Err(invalid("An ad in the slot `IN_FEED` needs `statusId`, the status that it shows.", &["statusId"])),
            Some(id) => StatusId::from_global(id).ok_or_else(|| not_found("There is no such status.", "statusId")),
        };
        match status {
            Ok(status) if errors.is_empty() => Ok(Creative::Status(status)),
            status => Err(errors.into_iter().chain(status.err()).collect()),
        }
    }

    fn snippet_creative(&self) -> Result<Creative, Vec<UserError>> {
        let text = match &self.snippet {
            None => Err(invalid("An ad needs `snippet`, unless its slot is `IN_FEED`.", &["snippet"])),
            Some(text) => SNIPPET.check(text).map_err(|message| invalid(message, &["snippet"])),
        };
        let target = match &self.target {
            None => Err(invalid("An ad needs `targetUrl`, unless its slot is `IN_FEED`.", &["targetUrl"])),
            Some(url) => target(url),
        };
        let status = self.status.as_ref().map(|_| invalid("Omit `statusId`, or use the slot `IN_FEED`.", &["statusId"]));
        match (text, target, status) {
            (Ok(text), Ok(target), None) => Ok(Creative::Snippet { text, target }),
            (text, target, status) => Err(text.err().into_iter().chain(target.err()).chain(status).collect()),
        }
    }
}

/// Checks that a time is not after the maximum.
pub(in crate::domains::ads) fn check_time(time: Option<Millis>, field: &'static str) -> Result<(), UserError> {
    if time.is_none_or(|time| time <= MAX_TIME) { Ok(()) } else { Err(invalid("This time is too far in the future.", &[field])) }
}

/// Checks that the end of a campaign is not after the maximum, and is after the start.
pub(in crate::domains::ads) fn check_times(starts: Option<Millis>, ends: Option<Millis>) -> Result<(), UserError> {
    check_time(ends, "endsAt")?;
    match ends {
        Some(ends) if starts.is_some_and(|starts| ends <= starts) => {
            Err(invalid("The end must be after the start.", &["endsAt"]))
        }
        _ => Ok(()),
    }
}

/// Returns the error for an end in the past.
pub(in crate::domains::ads) fn end_in_past() -> UserError {
    invalid("The end must be in the future. To end a campaign now, stop it.", &["endsAt"])
}

/// Validates a frequency cap.
pub(in crate::domains::ads) fn cap(input: CapInput) -> Result<Cap, Vec<UserError>> {
    let within = |number: i64, most: i64, field| {
        let sound = (1..=most).contains(&number).then_some(number.unsigned_abs());
        sound.ok_or_else(|| invalid(format!("`{field}` must be from 1 to {most}."), &["frequencyCap", field]))
    };
    match (within(input.impressions, MAX_IMPRESSIONS, "impressions"), within(input.per_seconds, MAX_SECONDS, "perSeconds")) {
        (Ok(impressions), Ok(per_seconds)) => Ok(Cap { impressions, per_seconds }),
        (one, other) => Err(one.err().into_iter().chain(other.err()).collect()),
    }
}

/// Validates keywords and returns each of them once.
pub(in crate::domains::ads) fn check_keywords(texts: &[String]) -> Result<Vec<String>, UserError> {
    keywords_by(KEYWORD, texts)
}

/// Validates keywords that may exist already, and returns each of them once.
pub(in crate::domains::ads) fn check_existing_keywords(texts: &[String]) -> Result<Vec<String>, UserError> {
    keywords_by(KEPT_KEYWORD, texts)
}

fn keywords_by(rules: TextRules, texts: &[String]) -> Result<Vec<String>, UserError> {
    let (mut kept, mut seen) = (Vec::new(), HashSet::new());
    for (at, text) in texts.iter().enumerate() {
        let error = |message: String| invalid(format!("Keyword {}: {message}", at + 1), &["keywords"]);
        // Any white space between words counts as one space.
        let spaced: Vec<&str> = text.split_whitespace().collect();
        let keyword = rules.check(&spaced.join(" ")).map_err(error)?;
        if seen.insert(normalize_keyword(&keyword)) {
            kept.push(keyword);
        }
    }
    if kept.len() > MAX_KEYWORDS {
        return Err(too_many_keywords());
    }
    Ok(kept)
}

/// The error for more keywords than a campaign can have.
pub(in crate::domains::ads) fn too_many_keywords() -> UserError {
    UserError::new(
        UserErrorCode::LimitReached,
        format!("A campaign has at most {MAX_KEYWORDS} keywords. Remove one first."),
        &["keywords"],
    )
}

/// Validates a destination URL and returns the URL in ASCII, as the redirect sends it to a browser.
fn target(text: &str) -> Result<String, UserError> {
    let url = parse_url(text, "targetUrl")?;
    let is_ascii = text.bytes().all(|byte| byte.is_ascii_graphic());
    let kept = if is_ascii { text.to_owned() } else { url.to_string() };
    if kept.len() > MAX_URL { Err(too_long("targetUrl")) } else { Ok(kept) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign() -> NewCampaign {
        NewCampaign {
            name: " Shoes ".into(),
            budget: "10".parse().expect("a number"),
            daily: None,
            starts: None,
            ends: None,
            keywords: vec![],
            cap: None,
            pacing: Pacing::Even,
            idempotency_key: None,
        }
    }

    #[test]
    fn texts_are_limited_in_bytes_and_characters() {
        for (rules, bytes) in [(KEYWORD, 896), (SNIPPET, 16_256)] {
            let family = "👨‍👩‍👧‍👦";
            let fits = bytes / family.len();
            assert!(rules.check(&family.repeat(fits)).is_ok(), "{rules:?}");
            assert!(fits < rules.max && rules.check(&family.repeat(fits + 1)).is_err(), "{rules:?}");
        }
        assert!(KEPT_KEYWORD.check(&"👨‍👩‍👧‍👦".repeat(80)).is_ok(), "keywords of before can be removed");
    }

    #[test]
    fn all_errors_of_a_new_campaign_are_reported() {
        assert_eq!(campaign().check(5).expect("a campaign").0.name, "Shoes");
        let wrong = NewCampaign {
            name: "x".repeat(101),
            budget: "0".parse().expect("a number"),
            daily: Some("0.0000001".parse().expect("a number")),
            starts: Some(9),
            ends: Some(9),
            keywords: vec!["ok".into(), "k".repeat(81)],
            cap: Some(CapInput { impressions: 0, per_seconds: 31_536_001 }),
            idempotency_key: Some("a b".into()),
            ..campaign()
        };
        let errors = wrong.check(10).expect_err("mistakes");
        let paths: Vec<String> = errors.iter().map(|error| error.path.join(".")).collect();
        let expected = [
            "name",
            "budget",
            "dailyBudget",
            "endsAt",
            "keywords",
            "frequencyCap.impressions",
            "frequencyCap.perSeconds",
            "idempotencyKey",
            "endsAt",
        ];
        assert_eq!(paths, expected);
        assert!(NewCampaign { starts: Some(1), ends: Some(u64::MAX), ..campaign() }.check(5).is_err());
        let (_, late) = NewCampaign { ends: Some(5), ..campaign() }.check(5).expect("a campaign");
        assert!(late.is_some(), "unless a request with this idempotency key succeeded before");
    }

    #[test]
    fn keywords_keep_their_spelling_and_are_deduplicated_without_case() {
        let kept = check_keywords(&["Running\t\n Shoes ", "RUNNING shoes", "Cafe\u{301}"].map(str::to_owned)).expect("keywords");
        assert_eq!(kept, ["Running Shoes", "Café"]);
        assert_eq!(check_keywords(&["k".repeat(80)]).expect("one").len(), 1);
        for text in ["", " ", "a\0b", "\u{200b}", &"k".repeat(81)] {
            assert!(check_keywords(&[text.to_owned()]).is_err(), "{text:?}");
        }
        let many = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        assert!(check_keywords(&many(250)).is_ok() && check_keywords(&many(251)).is_err());
    }

    #[test]
    fn a_destination_must_be_http_or_https() {
        for url in ["https://shop.example", "http://shop.example:8080/a?b=c#d", "https://[::1]/", "HTTPS://shop.example/"] {
            assert_eq!(target(url), Ok(url.to_owned()));
        }
        assert_eq!(target("https://b\u{fc}cher.example/\u{e4}").expect("one"), "https://xn--bcher-kva.example/%C3%A4");
        let long = format!("https://shop.example/{}", "x".repeat(2_048));
        for url in [
            "",
            "shop.example",
            "/a",
            "javascript:alert(1)",
            "data:text/html,x",
            "ftp://a",
            "https://u:p@shop.example",
            "https://",
            "https:shop.example",
            "https:/shop.example",
            "https:\\\\shop.example",
            "https:///shop.example",
            "https://\\shop.example",
            "https://shop.example\\@evil.example",
            "https://shop.example/a\\b",
            &long,
        ] {
            assert!(target(url).is_err(), "{url}");
        }
    }
}
