//! Services that all domains use: the journal of changes, the event log, rate limits, idempotency keys, mail and JSON Web Tokens.

pub mod journal;
pub mod events;
pub mod rates;
pub mod idempotency;
pub mod mail;
pub mod jwt;
