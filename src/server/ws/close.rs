//! The codes and reasons with which sockets are closed: those of `graphql-transport-ws`, and those of RFC 6455 where it has none.

use axum::extract::ws::CloseFrame;
use std::borrow::Cow;

/// The longest reason that fits a frame, in bytes.
const MAX_REASON: usize = 123;

/// The code and the reason with which a socket is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CloseReason {
    pub(super) code: u16,
    pub(super) reason: Cow<'static, str>,
}

impl CloseReason {
    const fn new(code: u16, reason: &'static str) -> Self {
        Self { code, reason: Cow::Borrowed(reason) }
    }

    /// A text is no message of the protocol.
    pub(super) const fn bad(reason: &'static str) -> Self {
        Self::new(4400, reason)
    }

    /// A text is no message of the protocol, for this reason.
    pub(super) fn bad_json(reason: String) -> Self {
        Self::with_reason(4400, reason)
    }

    /// The client has sent an operation before `connection_init` was acknowledged.
    pub(super) const UNAUTHORIZED: Self = Self::new(4401, "Unauthorized");
    /// The token belongs to no live session or is refused as a JWT, or the session or JWT has ended; or the token is a server key.
    pub(super) const FORBIDDEN: Self = Self::new(4403, "Forbidden");
    /// The client requests another sub-protocol.
    pub(super) const UNSUPPORTED_SUBPROTOCOL: Self = Self::new(4406, "Subprotocol not acceptable");
    /// The client has not sent `connection_init` in time.
    pub(super) const INIT_TIMEOUT: Self = Self::new(4408, "Connection initialisation timeout");
    /// The client has sent `connection_init` twice.
    pub(super) const SECOND_INIT: Self = Self::new(4429, "Too many initialisation requests");
    /// The rate limit of messages is reached, or too many replies to pings are unread. Clients do not reconnect after this code.
    pub(super) const MESSAGES: Self = Self::new(4429, "Too many messages");
    /// The limit of sockets for an account is reached.
    pub(super) const SOCKETS: Self = Self::new(4429, "Too many sockets");
    /// Too many bytes are unread in all, and the client's address has the most of them.
    pub(super) const UNREAD: Self = Self::new(4429, "Too many unread responses");
    /// A message is too long.
    pub(super) const TOO_LONG: Self = Self::new(1009, "Message too long");
    /// A text is not in UTF-8.
    pub(super) const INVALID_UTF8: Self = Self::new(1007, "Text must be UTF-8");
    /// A frame violates RFC 6455.
    pub(super) const PROTOCOL_ERROR: Self = Self::new(1002, "Protocol error");
    /// The client has not replied to a ping in time.
    pub(super) const NO_PONG: Self = Self::new(1001, "No reply to a ping");
    /// The storage does not respond, so the token cannot be verified. Clients reconnect after this code.
    pub(super) const TRY_AGAIN: Self = Self::new(1013, "Try again later");

    /// Another operation has this id.
    pub(super) fn id_taken(id: &str) -> Self {
        Self::with_reason(4409, format!("Subscriber for {id} already exists"))
    }

    /// The server stops.
    pub(super) fn going_away(seconds: u64) -> Self {
        Self::with_reason(1001, format!("Going away, retry in {seconds} s"))
    }

    fn with_reason(code: u16, mut reason: String) -> Self {
        reason.truncate(reason.floor_char_boundary(MAX_REASON));
        Self { code, reason: reason.into() }
    }

    pub(super) fn frame(&self) -> CloseFrame {
        CloseFrame { code: self.code, reason: self.reason.as_ref().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_reason_fits_its_frame_with_any_id() {
        for id in ["x".repeat(255), "é".repeat(120), "\u{1f985}".repeat(60)] {
            assert!((100..=MAX_REASON).contains(&CloseReason::id_taken(&id).reason.len()));
        }
        assert_eq!(CloseReason::id_taken("a").reason, "Subscriber for a already exists");
    }
}
