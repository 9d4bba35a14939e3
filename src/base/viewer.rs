//! Who asks: the account and the session behind a request, or nobody.

use crate::base::ids::{SessionId, UserId};

/// The account that a request's session belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The account.
    pub user: UserId,
    /// The session, whose id is also when it began.
    pub session: SessionId,
    /// The session's digest, its key in the store. Not the token: that is kept nowhere.
    pub digest: String,
}
