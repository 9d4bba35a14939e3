//! Mail addresses of accounts: the confirmed and the pending one, who holds an address, and tokens.

use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::email::EmailAddress;
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{UserId, source};
use crate::base::token::digest;
use crate::platform::mail::LinkToken;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The time for which an address is pending after it was set, or after its link was sent, which is the validity of that link.
pub(in super::super) const PENDING_EMAIL_TTL: Millis = DAY;
/// The validity of a link that resets a password.
pub(in super::super) const RESET_TTL: Millis = 30 * MINUTE;
/// The time for which the address of a message about a change of an account is kept. The delivery of a message is retried for a day.
pub const NOTICE_TTL: Millis = 2 * DAY;

/// The confirmed address of an account.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct AccountEmail {
    /// The address with the id of its confirmation; `None` if none is confirmed.
    pub(in super::super) confirmed: Option<(EmailAddress, u64)>,
    /// The version: every change of the confirmed address raises it, also a cancelled one.
    pub(in super::super) version: u64,
    /// The version with the last confirmation, also after its address was removed; 0 before the first.
    pub(in super::super) confirmed_version: u64,
}

/// The pending address of an account.
#[derive(Clone, Debug)]
pub(in super::super) struct PendingEmail {
    pub(in super::super) address: EmailAddress,
    /// Until when it is pending.
    pub(in super::super) until: Millis,
    /// The id of the message with its link.
    pub(in super::super) message: u64,
    /// The id of the address's last confirmation by any account, when the pending address was set.
    pub(in super::super) last_confirmation: Option<u64>,
    /// The digest of the token, once the message was handed over.
    pub(in super::super) token: Option<String>,
}

/// The account that has claimed an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct EmailHolder {
    /// The account that has confirmed the address, or is about to.
    pub(in super::super) user: Option<UserId>,
    /// The version of the account's address with this confirmation.
    pub(in super::super) version: u64,
    /// The id of the last confirmation.
    pub(in super::super) confirmation: Option<u64>,
    /// When the address was claimed.
    pub(in super::super) claimed_at: Millis,
}

impl PendingEmail {
    /// Whether the address is no longer pending for the account `user`: its time has passed, or another account has confirmed the address since, or has
    /// claimed it for a confirmation.
    pub(in super::super) fn has_ended(&self, user: UserId, holder: &EmailHolder, now: Millis) -> bool {
        let is_confirmed_since =
            holder.confirmation.is_some() && holder.confirmation != self.last_confirmation && holder.user != Some(user);
        self.until <= now || is_confirmed_since
    }
}

/// The addresses of an account, for its owner.
#[derive(Clone, Debug, Default)]
pub struct EmailAddresses {
    /// The confirmed one.
    pub confirmed: Option<EmailAddress>,
    /// The pending one.
    pub pending: Option<EmailAddress>,
}

/// The error for a token that confirms nothing, or resets nothing: the same for every cause.
pub fn invalid_token() -> UserError {
    let message = "The link is invalid or has expired, or was used. Request another one.";
    UserError::new(UserErrorCode::InvalidToken, message, &["token"])
}

/// Makes a token for the account: its id, so that the token leads to the account, and 192 random bits. Returns it with its digest.
pub(in super::super) fn new_token(user: UserId) -> (LinkToken, String) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&user.0.to_be_bytes());
    bytes[8..].copy_from_slice(&rand::random::<[u8; 24]>());
    let token = URL_SAFE_NO_PAD.encode(bytes);
    let digest = digest(&token);
    (LinkToken(token), digest)
}

/// The account and the digest of a token; `None` for a text that is no token.
pub(in super::super) fn parse_token(text: &str) -> Option<(UserId, String)> {
    let bytes = (text.len() == 43).then(|| URL_SAFE_NO_PAD.decode(text))?.ok()?;
    let id = u64::from_be_bytes(bytes.get(..8)?.try_into().ok()?);
    (1..=source::MAX).contains(&id).then(|| (UserId(id), digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_to_its_account() {
        let (token, digest) = new_token(UserId(42));
        assert_eq!(token.0.len(), 43);
        assert_eq!(parse_token(&token.0), Some((UserId(42), digest)));
        assert_ne!(new_token(UserId(42)).0.0, token.0);
        for text in ["", &token.0[1..], &format!("{}=", &token.0[1..]), &"_".repeat(43), &"A".repeat(43), &"é".repeat(21)] {
            assert_eq!(parse_token(text), None, "{text}");
        }
    }

    #[test]
    fn a_pending_address_ends_with_its_time_or_with_a_confirmation_by_another() {
        let pending = |last_confirmation| PendingEmail {
            address: EmailAddress::parse("ada@example.org").expect("an address"),
            until: 10,
            message: 1,
            last_confirmation,
            token: None,
        };
        let holder = |user, confirmation| EmailHolder { user, confirmation, ..EmailHolder::default() };
        let (own, other) = (Some(UserId(1)), Some(UserId(2)));
        for (last_confirmation, holder, ended) in [
            (None, holder(None, None), false),
            (None, holder(other, Some(5)), true),
            (None, holder(None, Some(5)), true),
            (None, holder(own, Some(5)), false),
            (Some(5), holder(other, Some(5)), false),
            (Some(5), holder(None, Some(5)), false),
            (Some(5), holder(None, None), false),
            (Some(5), holder(other, Some(6)), true),
        ] {
            assert_eq!(pending(last_confirmation).has_ended(UserId(1), &holder, 9), ended, "{last_confirmation:?} {holder:?}");
        }
        assert!(pending(None).has_ended(UserId(1), &EmailHolder::default(), 10));
    }
}
