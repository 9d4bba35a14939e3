//! The suite: one binary, every test on a real redis-server of its own.

mod support;

mod accounts;
mod acl;
mod architecture;
mod cluster;
mod conformance;
mod cost;
mod demo;
mod embedded;
mod fsck;
mod faults;
mod follows;
mod fuzz;
mod hashing;
mod hostile;
mod http;
mod inspect;
mod nodes;
mod paging;
mod schema;
mod sessions;
mod statuses;
mod storage_down;
mod supply;
mod timelines;
