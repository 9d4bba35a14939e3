//! Tags in GraphQL.

mod follows;

pub use follows::{FollowedTagMutation, FollowedTagQuery};
