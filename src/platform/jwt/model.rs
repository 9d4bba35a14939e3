//! Limits of tokens, algorithms, and the reasons why tokens are refused.

use crate::base::clock::Millis;
use crate::base::named::named_enum;

/// The longest token in bytes.
pub(super) const MAX_TOKEN: usize = 8 << 10;
/// The tolerated difference of the clocks of the issuer and of this server.
pub(super) const LEEWAY: Millis = 60_000;
/// The longest lifetime of a token.
pub(super) const MAX_LIFETIME: Millis = 24 * 60 * 60_000;

named_enum! {
    /// An algorithm of signatures (RFC 7518, RFC 8037).
    pub(super) enum Algorithm {
        /// RSA with PKCS #1 v1.5 and SHA-256.
        Rs256 = "RS256",
        /// ECDSA with P-256 and SHA-256.
        Es256 = "ES256",
        /// Ed25519.
        EdDsa = "EdDSA",
    }
}

named_enum! {
    /// Reason why a token is refused: a label of a metric. Responses do not contain it.
    pub enum TokenRefusal {
        /// It is no compact JWS with a JSON header and payload, or it is too long, or its header has an extension, or a `typ` that is not for access.
        Malformed = "malformed",
        /// Its algorithm is not accepted, or does not fit the key.
        Algorithm = "algorithm",
        /// No key, or more than one, fits it.
        Key = "key",
        /// Its signature is wrong.
        Signature = "signature",
        /// Its issuer or audience is another one, or a claim is missing or invalid.
        Claims = "claims",
        /// It has expired, or is not valid yet.
        Expired = "expired",
        /// It was revoked, or its account was deleted.
        Revoked = "revoked",
        /// It belongs to no account.
        NotProvisioned = "not_provisioned",
    }
}
