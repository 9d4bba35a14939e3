//! The viewer: the account of a request, and the credential that proves it.

use crate::base::error::Error;
use crate::base::ids::{SessionId, UserId};
use crate::base::jwt::VerifiedToken;
use std::sync::Arc;

/// The authenticated account of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The account.
    pub user: UserId,
    /// The credential of the request.
    pub credential: Credential,
}

/// The credential that proves the account of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// The token of a session.
    Session {
        /// The session, whose id contains its start.
        id: SessionId,
        /// The digest of the session's token: the hash tag of the session's key. The token itself is not stored.
        digest: String,
    },
    /// A server key, which names the account by its id in another system.
    ServerKey,
    /// A JSON Web Token of an external issuer.
    Jwt(Arc<VerifiedToken>),
}

impl Viewer {
    /// The viewer of a session.
    pub const fn of_session(user: UserId, id: SessionId, digest: String) -> Self {
        Self { user, credential: Credential::Session { id, digest } }
    }

    /// The viewer for whom a server key acts.
    pub const fn of_server_key(user: UserId) -> Self {
        Self { user, credential: Credential::ServerKey }
    }

    /// The viewer of a JSON Web Token.
    pub const fn of_jwt(user: UserId, token: Arc<VerifiedToken>) -> Self {
        Self { user, credential: Credential::Jwt(token) }
    }

    /// The JSON Web Token; `None` for another credential.
    pub const fn jwt(&self) -> Option<&Arc<VerifiedToken>> {
        match &self.credential {
            Credential::Jwt(token) => Some(token),
            Credential::Session { .. } | Credential::ServerKey => None,
        }
    }

    /// The session; `None` for another credential.
    pub const fn session(&self) -> Option<SessionId> {
        match &self.credential {
            Credential::Session { id, .. } => Some(*id),
            Credential::ServerKey | Credential::Jwt(_) => None,
        }
    }

    /// The digest of the session's token; `None` for another credential.
    pub fn session_digest(&self) -> Option<&str> {
        match &self.credential {
            Credential::Session { digest, .. } => Some(digest),
            Credential::ServerKey | Credential::Jwt(_) => None,
        }
    }

    /// The session, with the digest of its token.
    ///
    /// # Errors
    /// `FORBIDDEN` for another credential.
    pub fn require_session(&self) -> Result<(SessionId, &str), Error> {
        match &self.credential {
            Credential::Session { id, digest } => Ok((*id, digest)),
            Credential::ServerKey | Credential::Jwt(_) => {
                Err(Error::Forbidden("This requires a session: the request has another credential."))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_session_passes_where_a_session_is_required() {
        let session = Viewer::of_session(UserId(1), SessionId(2), "digest".into());
        assert_eq!((session.session(), session.session_digest()), (Some(SessionId(2)), Some("digest")));
        assert_eq!(session.require_session().ok(), Some((SessionId(2), "digest")));
        let key = Viewer::of_server_key(UserId(1));
        assert_eq!((key.session(), key.session_digest()), (None, None));
        assert!(matches!(key.require_session(), Err(Error::Forbidden(_))));
    }
}
