//! The suite: one binary, every test on a real redis-server of its own.

mod support;

mod accounts;
mod acl;
mod architecture;
mod cluster;
mod config;
mod conformance;
mod cost;
mod demo;
mod documents;
mod edge;
mod embedded;
mod fsck;
mod faults;
mod follows;
mod fuzz;
mod hashing;
mod homes;
mod hostile;
mod http;
mod idempotency;
mod inspect;
mod logs;
mod metrics;
mod model;
mod nodes;
mod paging;
mod rates;
mod schema;
mod sessions;
mod statuses;
mod storage_down;
mod supply;
mod timelines;
mod traces;
