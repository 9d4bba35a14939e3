//! The viewer: the account and the session of a request.

use crate::base::ids::{SessionId, UserId};

/// The authenticated account of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The account.
    pub user: UserId,
    /// The session, whose id contains its start.
    pub session: SessionId,
    /// The session's digest, which is its key in the store. The token itself is not stored.
    pub digest: String,
}
