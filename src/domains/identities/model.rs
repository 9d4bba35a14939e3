//! Accounts of other systems: plain types and limits.

use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::ids::UserId;

/// The time for which a revocation of JWTs is kept: the longest validity of a JWT, and three minutes for the clocks of the server and the issuer.
pub(super) const REVOCATION_TTL: Millis = DAY + 3 * MINUTE;

/// The account of another system to which an account belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The issuer of its JWTs; `None` before the first one.
    pub issuer: Option<String>,
    /// The external id.
    pub subject: String,
    /// When the account got the external id.
    pub linked_at: Millis,
    /// The time of the last revocation: JWTs that were issued up to then are revoked. 0 for none.
    pub revoked_at: Millis,
}

/// The account that holds an external id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExternalIdHolder {
    /// The account that has the external id, or that is being created with it.
    pub(super) user: Option<UserId>,
    /// When it was claimed.
    pub(super) claimed_at: Millis,
    /// When the last account with the external id was deleted; `None` if none was, or the record of the deletion has expired.
    pub(super) removed_at: Option<Millis>,
}
