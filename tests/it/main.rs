//! The suite: one binary, every test on a real redis-server of its own.

mod support;

mod accounts;
mod embedded;
mod inspect;
