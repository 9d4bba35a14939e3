//! Device tokens: proof that an account has logged in on a device before.
//!
//! A token grants only a bucket of its own for failed log-ins, so that guesses from elsewhere cannot lock its owner out. Only the client
//! stores it: `base64url(version 1, account 8, device 8, expiry 8, fingerprint 8, tag 16 bytes)`. The tag is an HMAC-SHA256 of the bytes
//! before it, compared in constant time. The fingerprint covers the account's password hash and its device epoch. A new password revokes
//! all tokens, and so do ending all other sessions, which sets a new epoch, and the deletion of the account.

use super::model::PasswordRecord;
use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::UserId;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// The validity of a token.
const LIFETIME: Millis = 90 * DAY;
/// A log-in with a token older than this returns a new one.
const RENEW_AFTER: Millis = 7 * DAY;

const VERSION: u8 = 1;
/// Bytes before the tag.
const CLAIMS: usize = 33;
/// Bytes of the tag.
const TAG: usize = 16;
/// Characters of a token.
const LENGTH: usize = 66;

/// The claims of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceClaims {
    /// The account that has logged in.
    pub(super) account: UserId,
    /// The device, a random number.
    pub(super) id: u64,
    expires: Millis,
    fingerprint: [u8; 8],
}

/// Signs and verifies the tokens of a deployment.
#[derive(Clone)]
pub(super) struct DeviceTokens {
    mac: Hmac<Sha256>,
}

impl DeviceTokens {
    /// The signer of this deployment. One round trip in the life of a process.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(super) async fn of(app: &App) -> Result<Self, Error> {
        Self::new(app.cursors().await?.secret())
    }

    /// Makes a signer with a key that is derived from the deployment's secret.
    fn new(secret: [u8; 16]) -> Result<Self, Error> {
        let mac = |key: &[u8]| Hmac::<Sha256>::new_from_slice(key).map_err(Error::internal);
        let key = mac(&secret)?.chain_update(b"device tokens").finalize().into_bytes();
        Ok(Self { mac: mac(&key)? })
    }

    /// The claims of a token that this deployment has signed and that has not expired; `None` for any other text.
    pub(super) fn open(&self, token: &str, now: Millis) -> Option<DeviceClaims> {
        let bytes = (token.len() == LENGTH).then(|| URL_SAFE_NO_PAD.decode(token))?.ok()?;
        let (claims, tag) = bytes.split_at_checked(CLAIMS).filter(|(_, tag)| tag.len() == TAG)?;
        self.mac.clone().chain_update(claims).verify_truncated_left(tag).ok()?;
        let number = |from: usize| Some(u64::from_be_bytes(claims.get(from..from + 8)?.try_into().ok()?));
        let fingerprint = claims.get(25..)?.try_into().ok()?;
        let device = DeviceClaims { account: UserId(number(1)?), id: number(9)?, expires: number(17)?, fingerprint };
        (claims.first() == Some(&VERSION) && now < device.expires).then_some(device)
    }

    /// Whether a device is known for the account with this id and password. It is unknown for other accounts, and for the same account with another
    /// password or device epoch.
    pub(super) fn is_known(&self, device: &DeviceClaims, account: UserId, password: &PasswordRecord) -> bool {
        device.account == account && device.fingerprint == self.fingerprint(password)
    }

    /// Issues a token for a device that has just logged in. A `known` device keeps its id, and keeps its token while the token is young and
    /// not revoked.
    pub(super) fn issue(&self, account: UserId, password: &PasswordRecord, known: Option<DeviceClaims>, now: Millis) -> String {
        let fingerprint = self.fingerprint(password);
        let is_young = |device: &DeviceClaims| now + LIFETIME < device.expires + RENEW_AFTER;
        let young = known.filter(|device| is_young(device) && device.fingerprint == fingerprint);
        let renewed = || DeviceClaims {
            account,
            id: known.map_or_else(rand::random, |device| device.id),
            expires: now + LIFETIME,
            fingerprint,
        };
        self.sign(&young.unwrap_or_else(renewed))
    }

    fn sign(&self, device: &DeviceClaims) -> String {
        let mut bytes = vec![VERSION];
        for number in [device.account.0, device.id, device.expires] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(device.fingerprint);
        let tag = self.mac.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(tag.iter().take(TAG));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The fingerprint of a password and a device epoch. The HMAC input never equals the claims of a token, which begin with their version; two
    /// different pairs never have the same input, because a hash contains no NUL.
    fn fingerprint(&self, password: &PasswordRecord) -> [u8; 8] {
        let mut mac = self.mac.clone().chain_update(b"password").chain_update(&password.hash);
        if !password.device_epoch.is_empty() {
            mac = mac.chain_update(b"\0").chain_update(&password.device_epoch);
        }
        let whole = mac.finalize().into_bytes();
        let mut fingerprint = [0; 8];
        fingerprint.copy_from_slice(&whole[..8]);
        fingerprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_772_323_200_000;
    const ADA: UserId = UserId(42);

    fn tokens() -> DeviceTokens {
        DeviceTokens::new([7; 16]).expect("a key")
    }

    fn password(hash: &str, device_epoch: &str) -> PasswordRecord {
        PasswordRecord { hash: hash.to_owned(), device_epoch: device_epoch.to_owned() }
    }

    #[test]
    fn a_token_is_valid_for_ninety_days() {
        let token = tokens().issue(ADA, &password("hash", ""), None, NOW);
        let device = tokens().open(&token, NOW).expect("the token is valid");
        assert_eq!((device.account, token.len()), (ADA, LENGTH));
        assert_eq!(tokens().open(&token, NOW + LIFETIME - 1), Some(device));
        assert_eq!(tokens().open(&token, NOW + LIFETIME), None);
    }

    #[test]
    fn forged_and_altered_tokens_are_refused() {
        let token = tokens().issue(ADA, &password("hash", ""), None, NOW);
        let bytes = URL_SAFE_NO_PAD.decode(&token).expect("base64");
        for bit in 0..bytes.len() * 8 {
            let mut forged = bytes.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(tokens().open(&URL_SAFE_NO_PAD.encode(forged), NOW), None, "bit {bit}");
        }
        for other in ["", "x", &"A".repeat(LENGTH), &"é".repeat(LENGTH / 2), &token[..LENGTH - 2], &format!("{token}AA")] {
            assert_eq!(tokens().open(other, NOW), None, "{other}");
        }
        assert_eq!(DeviceTokens::new([8; 16]).expect("a key").open(&token, NOW), None, "another deployment's");
    }

    #[test]
    fn a_device_is_known_for_one_account_and_password() {
        let device = tokens().open(&tokens().issue(ADA, &password("hash", ""), None, NOW), NOW).expect("the token is valid");
        assert!(tokens().is_known(&device, ADA, &password("hash", "")));
        assert!(!tokens().is_known(&device, UserId(43), &password("hash", "")));
        assert!(!tokens().is_known(&device, ADA, &password("another hash", "")));
    }

    #[test]
    fn a_new_epoch_revokes_a_token_and_renews_a_young_one() {
        let (before, after) = (password("hash", "1"), password("hash", "2"));
        let first = tokens().issue(ADA, &before, None, NOW);
        let device = tokens().open(&first, NOW).expect("the token is valid");
        assert!(tokens().is_known(&device, ADA, &before));
        assert!(
            ![&after, &password("hash", ""), &password("hash1", "")].into_iter().any(|it| tokens().is_known(&device, ADA, it))
        );
        let renewed = tokens().open(&tokens().issue(ADA, &after, Some(device), NOW), NOW).expect("the token is valid");
        assert!(tokens().is_known(&renewed, ADA, &after) && renewed.id == device.id);
    }

    #[test]
    fn a_token_is_renewed_after_a_week_and_keeps_its_device() {
        let first = tokens().issue(ADA, &password("hash", ""), None, NOW);
        let device = tokens().open(&first, NOW);
        assert_eq!(tokens().issue(ADA, &password("hash", ""), device, NOW + RENEW_AFTER - 1), first);
        let renewed = tokens().issue(ADA, &password("hash", ""), device, NOW + RENEW_AFTER);
        assert_ne!(renewed, first);
        let valid_then = tokens().open(&renewed, NOW + RENEW_AFTER + LIFETIME - 1);
        assert_eq!(valid_then.map(|it| it.id), device.map(|it| it.id));
        assert_ne!(tokens().issue(ADA, &password("hash", ""), None, NOW), first, "another device");
    }
}
