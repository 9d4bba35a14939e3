//! The suite: one binary, every test on a real redis-server of its own.

mod support;

mod accounts;
mod architecture;
mod cluster;
mod conformance;
mod cost;
mod demo;
mod embedded;
mod fsck;
mod inspect;
mod schema;
