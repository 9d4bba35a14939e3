//! Impression tokens: signed and encrypted records of an impression, its visitor and its price. A token is verified without a read from the
//! store, and nobody who sees a link can read the advertiser's price or recognize the visitor.
//!
//! The format is `base64url(version of the key, encrypted fields at fixed positions, 16 bytes of HMAC-SHA256 over the version and the plain
//! fields)`. The encryption follows SIV: the HMAC is the nonce of XChaCha20, so two different tokens have different nonces, even if ids are reused or
//! clocks are set back. The cipher's key is derived from the signing key.

use crate::base::clock::{MINUTE, Millis};
use crate::base::ids::CampaignId;
use crate::domains::ads::budget::store::reservations::ClickFunding;
use crate::domains::ads::model::CLICK_WINDOW;
use crate::domains::ads::model::{Money, Pricing, Share, Visitor};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20::XChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;

/// The time for which the key before the newest stays valid: longer than any token.
pub(in crate::domains::ads) const OVERLAP: Millis = 120 * MINUTE;

/// The purpose of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum Purpose {
    /// An ad whose impression is counted already.
    Ad,
    /// A promoted status whose impression is not counted yet.
    Promotion,
}

/// The content of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) struct Token {
    pub(in crate::domains::ads) purpose: Purpose,
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) ad: u64,
    pub(in crate::domains::ads) impression: u64,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
    pub(in crate::domains::ads) pricing: Pricing,
    /// The price of the impression, or of its click.
    pub(in crate::domains::ads) price: Money,
    /// The time at which the token was issued.
    pub(in crate::domains::ads) at: Millis,
    /// The day to which the impression counts.
    pub(in crate::domains::ads) day: u64,
    /// The website that shows the ad, or the viewer whose home timeline shows the status.
    pub(in crate::domains::ads) placement_id: u64,
    /// The nonce of a promotion, which is recorded once.
    pub(in crate::domains::ads) nonce: [u8; 8],
    /// The funding of the click.
    pub(in crate::domains::ads) click_funding: ClickFunding,
}

/// A signing key.
pub(in crate::domains::ads) type SigningKey = [u8; 32];

const VERSION: usize = 4;
const TAG: usize = 16;
const LENGTH: usize = 77;

impl Token {
    /// Whether a click on this impression can still count.
    pub(in crate::domains::ads) const fn is_in_time(&self, now: Millis) -> bool {
        now < self.at + CLICK_WINDOW
    }

    fn bytes(&self, version: u32) -> Vec<u8> {
        let flags = u8::from(self.purpose == Purpose::Promotion)
            | u8::from(self.pricing == Pricing::Cpc) << 1
            | u8::from(self.visitor.is_some()) << 2
            | u8::from(self.click_funding == ClickFunding::Invalid) << 3
            | u8::from(self.click_funding == ClickFunding::Unreserved) << 4;
        let mut bytes = version.to_be_bytes().to_vec();
        bytes.extend([flags, self.share.n as u8]);
        for id in [self.share.campaign.0, self.ad, self.impression, self.placement_id] {
            bytes.extend(&id.to_be_bytes()[1..]);
        }
        bytes.extend(self.visitor.map_or([0; 16], |visitor| visitor.0));
        bytes.extend(self.price.0.to_be_bytes());
        bytes.extend(&self.at.to_be_bytes()[1..]);
        bytes.extend((self.day as u32).to_be_bytes());
        bytes.extend(self.nonce);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let number = |from: usize, length: usize| {
            Some(bytes.get(from..from + length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        };
        let flags = *bytes.get(4)?;
        let visitor = Visitor(bytes.get(34..50)?.try_into().ok()?);
        Some(Self {
            purpose: if flags & 1 == 0 { Purpose::Ad } else { Purpose::Promotion },
            pricing: if flags & 2 == 0 { Pricing::Cpm } else { Pricing::Cpc },
            visitor: (flags & 4 != 0).then_some(visitor),
            share: Share { n: number(5, 1)?, campaign: CampaignId(number(6, 7)?) },
            ad: number(13, 7)?,
            impression: number(20, 7)?,
            placement_id: number(27, 7)?,
            price: Money(number(50, 8)?),
            at: number(58, 7)?,
            day: number(65, 4)?,
            nonce: bytes.get(69..LENGTH)?.try_into().ok()?,
            click_funding: match flags & 24 {
                8 => ClickFunding::Invalid,
                16 => ClickFunding::Unreserved,
                _ => ClickFunding::Held,
            },
        })
    }
}

/// The signing keys of a deployment: the newest one signs, the one before stays valid for [`OVERLAP`] after the newest was created.
#[derive(Clone, Debug, Default)]
pub(in crate::domains::ads) struct KeyRing {
    pub(in crate::domains::ads) newest: u32,
    /// The time at which the newest key was created.
    pub(in crate::domains::ads) made: Millis,
    pub(in crate::domains::ads) keys: BTreeMap<u32, SigningKey>,
}

impl KeyRing {
    /// Signs a token with the newest key; `None` without a key.
    pub(in crate::domains::ads) fn sign(&self, token: &Token) -> Option<String> {
        let mut bytes = token.bytes(self.newest);
        let key = self.keys.get(&self.newest)?;
        let tag: [u8; TAG] = mac(key, &bytes)?.finalize().into_bytes()[..TAG].try_into().ok()?;
        apply_cipher(key, &tag, bytes.get_mut(VERSION..)?)?;
        Some(URL_SAFE_NO_PAD.encode([&bytes[..], &tag[..]].concat()))
    }

    /// Returns the content of a token that one of these keys has signed and that is valid now.
    pub(in crate::domains::ads) fn open(&self, text: &str, now: Millis) -> Option<Token> {
        let (version, mut bytes) = parse_unverified(text)?;
        let is_valid = version == self.newest || version + 1 == self.newest && now < self.made + OVERLAP;
        let key = self.keys.get(&version).filter(|_| is_valid)?;
        let tag: [u8; TAG] = bytes.split_off(LENGTH).try_into().ok()?;
        apply_cipher(key, &tag, bytes.get_mut(VERSION..)?)?;
        mac(key, &bytes)?.verify_truncated_left(&tag).ok()?;
        Token::read(&bytes)
    }
}

/// Returns the version of the key that a text claims, and its bytes; `None` if the text does not have the form of a token.
pub(in crate::domains::ads) fn parse_unverified(text: &str) -> Option<(u32, Vec<u8>)> {
    let bytes = (text.len() == (LENGTH + TAG) * 4 / 3).then(|| URL_SAFE_NO_PAD.decode(text))?.ok()?;
    let version = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?);
    (version < u32::MAX).then_some((version, bytes))
}

fn mac(key: &SigningKey, bytes: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(bytes);
    Some(mac)
}

/// Encrypts or decrypts the fields of a token.
fn apply_cipher(key: &SigningKey, tag: &[u8; TAG], fields: &mut [u8]) -> Option<()> {
    // No token is as short as this text, so no token has the same MAC.
    let key = mac(key, b"sealed")?.finalize().into_bytes();
    let mut nonce = [0; 24];
    nonce[..TAG].copy_from_slice(tag);
    XChaCha20::new_from_slices(&key, &nonce).ok()?.try_apply_keystream(fields).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token {
            purpose: Purpose::Promotion,
            share: Share { campaign: CampaignId(1 << 40), n: 3 },
            ad: 7,
            impression: (1 << 53) - 1,
            visitor: Some(Visitor([9; 16])),
            pricing: Pricing::Cpc,
            price: Money(9_000_000_000_000_000),
            at: 1_772_323_200_000,
            day: 20_513,
            placement_id: 42,
            nonce: [5; 8],
            click_funding: ClickFunding::Unreserved,
        }
    }

    fn ring() -> KeyRing {
        KeyRing { newest: 2, made: 1_000, keys: [(1, [1; 32]), (2, [2; 32])].into() }
    }

    #[test]
    fn a_token_with_a_changed_bit_is_rejected() {
        for token in [
            token(),
            Token { purpose: Purpose::Ad, visitor: None, ..token() },
            Token { pricing: Pricing::Cpm, price: Money(0), ..token() },
        ] {
            let text = ring().sign(&token).expect("a key");
            assert_eq!(ring().open(&text, 1_000), Some(token));
            let (_, bytes) = parse_unverified(&text).expect("a token");
            for bit in 0..bytes.len() * 8 {
                let mut forged = bytes.clone();
                forged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(ring().open(&URL_SAFE_NO_PAD.encode(forged), 1_000), None, "bit {bit}");
            }
            for cut in 0..text.len() {
                assert_eq!(ring().open(&text[..cut], 1_000), None);
            }
        }
        assert_eq!(ring().open(&"é".repeat(62), 1_000), None);
    }

    #[test]
    fn a_token_is_encrypted() {
        let token = token();
        let text = ring().sign(&token).expect("a key");
        let (_, bytes) = parse_unverified(&text).expect("a token");
        let holds = |field: &[u8]| bytes.windows(field.len()).any(|window| window == field);
        let fields: [&[u8]; 7] = [
            &token.visitor.expect("one").0[..4],
            &token.price.0.to_be_bytes()[1..],
            &token.share.campaign.0.to_be_bytes()[1..],
            &token.impression.to_be_bytes()[1..],
            &token.at.to_be_bytes()[1..],
            &token.placement_id.to_be_bytes()[1..],
            &token.nonce[..4],
        ];
        for field in fields {
            assert!(!holds(field), "{field:?} in {bytes:?}");
        }
        // Two tokens that differ in one bit of one field have nothing in common except the version of the key.
        let other = ring().sign(&Token { ad: 6, ..token }).expect("a key");
        let (_, other) = parse_unverified(&other).expect("a token");
        let same = bytes.iter().zip(&other).skip(4).filter(|(one, other)| one == other).count();
        assert!(same < 8, "{same} of {} bytes", bytes.len() - 4);
    }

    #[test]
    fn the_previous_key_is_valid_for_two_hours() {
        let before = KeyRing { newest: 1, ..ring() }.sign(&token()).expect("a key");
        assert_eq!(ring().open(&before, 1_000 + OVERLAP - 1), Some(token()));
        assert_eq!(ring().open(&before, 1_000 + OVERLAP), None);
        let third = KeyRing { newest: 3, made: 1_000, keys: [(2, [2; 32]), (3, [3; 32])].into() };
        assert_eq!(third.open(&before, 1_000), None);
    }
}
