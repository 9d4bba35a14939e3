//! Slots, listings, shares and visitors. Each of them is part of Redis keys.

use crate::base::audit;
use crate::base::ids::{CampaignId, source};
use crate::base::named::named_enum;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use caseless::default_case_fold_str;
use sha2::{Digest, Sha256};
use siphasher::sip128::{Hasher128, SipHasher24};
use std::fmt;
use std::hash::Hasher;
use unicode_normalization::UnicodeNormalization;

named_enum! {
    /// Slot of a page in which an ad is shown.
    pub enum Slot {
        /// Banner across the top of a page.
        Banner = "banner",
        /// Tall ad at the side of a page.
        Skyscraper = "skyscraper",
        /// Square ad within the text of a page.
        Square = "square",
        /// Promoted status among the entries of a home timeline.
        InFeed = "in-feed",
    }
}

/// A listing: the eligible campaigns of a slot that have no keywords, or that have one particular keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Listing {
    /// The slot.
    pub slot: Slot,
    /// The digest of the normalized keyword; `None` for the campaigns without keywords, which fit every page.
    keyword: Option<[u8; 16]>,
}

impl Listing {
    /// Returns the listing of campaigns without keywords.
    pub const fn untargeted(slot: Slot) -> Self {
        Self { slot, keyword: None }
    }

    /// Returns the listing of campaigns with this keyword. Case and the form of spaces do not matter.
    pub fn for_keyword(slot: Slot, keyword: &str) -> Self {
        let mut digest = [0; 16];
        digest.copy_from_slice(&Sha256::digest(normalize_keyword(keyword))[..16]);
        Self { slot, keyword: Some(digest) }
    }

    /// Parses the tag of a listing.
    pub fn parse(text: &str) -> Option<Self> {
        let (slot, keyword) = text.split_once('.').map_or((text, None), |(slot, keyword)| (slot, Some(keyword)));
        let keyword = match keyword {
            Some(keyword) => Some(decode_16_bytes(keyword)?),
            None => None,
        };
        Some(Self { slot: Slot::from_name(slot)?, keyword })
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.slot.name())?;
        self.keyword.map_or(Ok(()), |digest| write!(f, ".{}", URL_SAFE_NO_PAD.encode(digest)))
    }
}

/// Normalizes a keyword for comparison: words separated by one space, in NFC, case folded.
pub(crate) fn normalize_keyword(keyword: &str) -> String {
    let spaced: Vec<&str> = keyword.split_whitespace().collect();
    if keyword.is_ascii() {
        return spaced.join(" ").to_ascii_lowercase();
    }
    // Composes again after folding, because folding can decompose characters.
    let composed: String = spaced.join(" ").nfc().collect();
    default_case_fold_str(&composed).nfc().collect()
}

/// A share: a part of a campaign's money and visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    /// The campaign.
    pub campaign: CampaignId,
    /// The number of the share, from 0.
    pub n: u64,
}

impl Share {
    /// Returns all shares of a campaign with this number of shares.
    pub fn all(campaign: CampaignId, shares: u64) -> impl Iterator<Item = Self> {
        (0..shares).map(move |n| Self { campaign, n })
    }

    /// Parses the tag of a share.
    pub fn parse(text: &str) -> Option<Self> {
        let (campaign, n) = text.split_once('.')?;
        Some(Self { campaign: CampaignId(audit::id(campaign)?), n: audit::number(n)? })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.campaign.0, self.n)
    }
}

/// A visitor: a keyed hash of the publisher's name for the visitor, or of the account that reads its home timeline. Counters of traffic also use it
/// for addresses and publishers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Visitor(pub [u8; 16]);

impl Visitor {
    /// Returns the visitor with this name, hashed with the deployment's secret.
    pub fn new(secret: [u8; 16], name: &str) -> Self {
        let mut hasher = SipHasher24::new_with_key(&secret);
        hasher.write(b"visitor");
        hasher.write(name.as_bytes());
        Self(hasher.finish128().as_bytes())
    }

    /// Parses the text form of a visitor.
    pub fn parse(text: &str) -> Option<Self> {
        decode_16_bytes(text).map(Self)
    }

    /// Returns the share of a campaign that a visitor belongs to. The share differs between campaigns.
    pub fn share_of(self, campaign: CampaignId, shares: u64) -> Share {
        let [first @ .., _, _, _, _, _, _, _, _] = self.0;
        // The hash includes the campaign, so a visitor is not in the first share of every campaign.
        let mixed = (u64::from_be_bytes(first) ^ campaign.0).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        Share { campaign, n: mixed % shares.max(1) }
    }
}

impl fmt::Display for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

/// Decodes sixteen bytes from their only valid text form.
fn decode_16_bytes(text: &str) -> Option<[u8; 16]> {
    let bytes: [u8; 16] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
    (URL_SAFE_NO_PAD.encode(bytes) == text).then_some(bytes)
}

/// Returns the partition of the schedule that contains a campaign.
pub(crate) const fn schedule_partition(campaign: CampaignId) -> u64 {
    source::partition(campaign.0, super::SCHEDULES)
}

/// Encodes a campaign as a member of listings: 7 bytes, in an order that puts the newer of two campaigns with the same eCPM first.
pub(crate) fn to_member(campaign: CampaignId) -> [u8; 7] {
    let [_, bytes @ ..] = campaign.0.to_be_bytes();
    bytes
}

/// Decodes a member of a listing.
pub(crate) fn from_member(bytes: &[u8]) -> Option<CampaignId> {
    let bytes: [u8; 7] = bytes.try_into().ok()?;
    let id = bytes.iter().fold(0, |id, byte| id << 8 | u64::from(*byte));
    (1..=source::MAX).contains(&id).then_some(CampaignId(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsed_tags_equal_the_formatted_ones() {
        let share = Share { campaign: CampaignId(42), n: 3 };
        assert_eq!(Share::parse(&share.to_string()), Some(share));
        for listing in [Listing::untargeted(Slot::InFeed), Listing::for_keyword(Slot::Banner, "running shoes")] {
            assert_eq!(Listing::parse(&listing.to_string()), Some(listing));
        }
        let visitor = Visitor::new([7; 16], "v1");
        assert_eq!(Visitor::parse(&visitor.to_string()), Some(visitor));
        assert_eq!(from_member(&to_member(CampaignId(source::MAX))), Some(CampaignId(source::MAX)));
        assert!(Visitor::new([7; 16], "v2") != visitor && Visitor::new([8; 16], "v1") != visitor);
        assert!(Listing::parse("banner.").is_none() && Listing::parse("corner").is_none() && Share::parse("42").is_none());
    }

    #[test]
    fn keywords_are_compared_without_case_and_spacing() {
        for same in ["Running  Shoes", " running shoes ", "RUNNING\u{a0}SHOES"] {
            assert_eq!(Listing::for_keyword(Slot::Banner, same), Listing::for_keyword(Slot::Banner, "running shoes"), "{same:?}");
        }
        assert_eq!(normalize_keyword("Cafe\u{301} STRASSE"), normalize_keyword("CAFÉ straße"));
        assert_ne!(Listing::for_keyword(Slot::Banner, "shoes"), Listing::for_keyword(Slot::Banner, "running shoes"));
        assert_ne!(Listing::for_keyword(Slot::Banner, "shoes"), Listing::for_keyword(Slot::Square, "shoes"));
    }

    #[test]
    fn visitors_spread_over_shares() {
        let mut found = [0; 4];
        for name in 0..1_000 {
            let visitor = Visitor::new([1; 16], &name.to_string());
            found[visitor.share_of(CampaignId(99), 4).n as usize] += 1;
        }
        assert!(found.iter().all(|count| (200..300).contains(count)), "{found:?}");
    }
}
