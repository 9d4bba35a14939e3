//! `graphql-transport-ws`: every message and every code of its protocol, from a client that says what it is told to.

mod bounds;
mod ends;
mod handshake;
mod messages;
mod streams;

/// A subscription that says nothing by itself.
pub(crate) const QUIET: &str = "subscription { statusEvents(filter: { sample: { percent: 1 } }) { cursor } }";
