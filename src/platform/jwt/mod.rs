//! JSON Web Tokens (RFC 7519) of one external issuer: their form, their signature and their claims, and the issuer's public keys. Higher
//! layers decide to which account a token belongs.
//!
//! | key | type | contents | bound |
//! |---|---|---|---|
//! | `jwks:{issuer}` | HASH | `source fetched keys`: the keys that were fetched last | one key, 64 public keys, no time to live |
//!
//! **Tokens.** A compact JWS (RFC 7515) of at most 8 KiB, signed with RS256, ES256 or EdDSA (Ed25519). The algorithm must fit the type of the key, its
//! `alg` and its `use`. Keys and certificates in a header (`jwk`, `jku`, `x5u`, `x5c`) are ignored. A header with `crit` is refused, because no extension
//! is known. All base64url is without padding and canonical. A header or a payload with a repeated member is refused.
//!
//! **Claims.** `iss`, `aud`, `sub`, `iat` and `exp` are required. `exp`, `nbf` and `iat` have a leeway of 60 seconds; a token lives for at most 24 hours.
//!
//! **Keys.** A set (RFC 7517) from a file or a URL, of at most 1 MiB, in 5 seconds, without redirects. It is fetched at start, every ten minutes, and for a
//! token with an unknown `kid`, at most once a minute. A key that is no longer in the set is refused from then on. If a fetch fails, the last set stays in
//! use. The last set is kept in Redis for restarts and for servers that cannot reach the issuer; sets of another source are ignored.
//!
//! **Cache.** A verified token is kept by its digest until it expires, at most some 8 MiB of them, while its key is in the set. Then its verification costs
//! no signature. Verification never costs a round trip, except for an unknown `kid`.
//!
//! **Secrets.** No error, no metric and no line of the log has a token or a part of one.

pub mod audit;
mod cache;
mod claims;
mod encoding;
mod fetch;
mod key_set;
mod keys;
mod members;
mod model;
pub mod service;
mod store;
mod token;

pub use model::TokenRefusal;
