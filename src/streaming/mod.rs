//! Live: what is posted and deleted, told to whoever waits for it. "Redis in Action" 8.5.

mod graphql;
mod model;
pub mod service;

pub use graphql::StreamSubscription;
pub use model::{Event, GapReason, What};
