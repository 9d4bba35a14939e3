//! The request of a resolver.

use crate::base::request::Request;
use async_graphql::{Context, Result};

/// The request of a resolver.
///
/// # Errors
/// Internal: the schema was executed without a request.
pub fn request<'a>(ctx: &Context<'a>) -> Result<&'a Request> {
    ctx.data::<Request>()
}
