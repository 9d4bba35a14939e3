//! Accounts of other systems: the external ids of accounts, and the revocations of their JWTs.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `external_id:{digest}` | HASH | the account that has an external id, by the digest of the id; after the deletion of the account, the time of the deletion | one for each external id; 24 hours and 3 minutes after a deletion |
//! | `identity:{uid}` | HASH | the external id of an account, the issuer of its JWTs, and the time of the last revocation: JWTs that were issued up to then are revoked | 4 fields |
//! | `revoked_jwt:{digest}` | STRING | the time when a JWT, or all JWTs of a session, were revoked, by the digest of the `jti` or `sid` | 24 hours and 3 minutes |
//!
//! **Creating an account.** The external id is claimed under its own hash tag before anything else, so of concurrent requests with one external id exactly one
//! creates the account; the others wait for it, and then find that account. The login and a confirmed mail address are claimed next. One script on
//! the account's hash tag writes the account with its addresses and its identity: the commit. If a process dies before it, a worker releases the claims. A
//! claim without an account that is ten seconds old counts as abandoned, and another request takes it over; a stalled process notices this after its
//! commit, and deletes the account again. If the commit was made just before the claim was taken over, the other request finds the account, and
//! returns the claim. The ten seconds are those of a lease of the journal, after which the login and the address are free as well. A request that is
//! repeated with its idempotency key has the id of the claim, and does not wait.
//!
//! **Invariants.** An external id names at most one account, and an account has at most one external id, which never changes. The id is free again when
//! the account is deleted.
//!
//! **JWTs.** The account of a JWT ([`crate::platform::jwt`]) is the holder of its `sub`. A JWT is refused if it was issued up to the time of a revocation or
//! deletion that is stored here, or if its `jti` or `sid` was revoked. The first JWT of an account records the issuer. All of this is read through the
//! client-side cache, also that a `jti` was not revoked: a write to the key invalidates it. Revocations are published, so that sockets end.
//!
//! **Costs.** The account of an external id: one HMGET, and one HGETALL if the account is not cached.

pub mod audit;
mod graphql;
mod keys;
mod model;
pub mod service;
mod store;

pub use graphql::{IdentityMutation, IdentityObject};
pub use model::Identity;
