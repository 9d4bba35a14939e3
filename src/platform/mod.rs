//! Services that all domains use: the journal of changes, the event log, rate limits and idempotency keys.

pub mod journal;
pub mod events;
pub mod rates;
pub mod idempotency;
