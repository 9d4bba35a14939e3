//! The use cases of what is live.

use super::model::Event;
use crate::app::App;
use crate::error::Error;
use futures_util::stream::{self, BoxStream};

/// What is followed.
#[derive(Clone, Debug)]
pub enum Source {
    /// The viewer's home.
    Home,
    /// A list of the viewer's.
    List(String),
    /// The public stream.
    Public,
}

/// What happens from `after` on, or from now.
///
/// # Errors
/// `UNAUTHENTICATED`, `BAD_USER_INPUT`.
pub async fn events(_app: &App, _source: Source, _after: Option<String>) -> Result<BoxStream<'static, Event>, Error> {
    Ok(Box::pin(stream::pending()))
}
