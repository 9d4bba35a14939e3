//! `graphql-transport-ws`: every message and every code of the protocol, with a client that sends the exact messages of a test.

mod bounds;
mod ends;
mod handshake;
mod messages;
mod streams;

/// A subscription that sends no events by itself.
pub(crate) const QUIET: &str = "subscription { statusEvents(filter: { sample: { percent: 1 } }) { cursor } }";
