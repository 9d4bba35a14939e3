//! Why a socket is closed: the codes of `graphql-transport-ws`, and those of WebSockets where it has none.

use axum::extract::ws::CloseFrame;
use std::borrow::Cow;

/// The longest reason that fits a frame, in bytes.
const MAX_REASON: usize = 123;

/// A code and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) code: u16,
    pub(super) reason: Cow<'static, str>,
}

impl Close {
    const fn new(code: u16, reason: &'static str) -> Self {
        Self { code, reason: Cow::Borrowed(reason) }
    }

    /// What came is no message of the protocol.
    pub(super) const fn bad(reason: &'static str) -> Self {
        Self::new(4400, reason)
    }

    /// What came is no message of the protocol, for this reason.
    pub(super) fn bad_json(reason: String) -> Self {
        Self::told(4400, reason)
    }

    /// An operation was asked for before it was known who asks.
    pub(super) const UNAUTHORIZED: Self = Self::new(4401, "Unauthorized");
    /// Who asks has no live session, or no more.
    pub(super) const FORBIDDEN: Self = Self::new(4403, "Forbidden");
    /// The client speaks another sub-protocol.
    pub(super) const PROTOCOL: Self = Self::new(4406, "Subprotocol not acceptable");
    /// The client did not say who it is.
    pub(super) const INIT_TIMEOUT: Self = Self::new(4408, "Connection initialisation timeout");
    /// The client said twice who it is.
    pub(super) const SECOND_INIT: Self = Self::new(4429, "Too many initialisation requests");
    /// More messages than are taken. Clients do not come back by themselves after this one and the next.
    pub(super) const MESSAGES: Self = Self::new(4429, "Too many messages");
    /// More sockets than one account may have.
    pub(super) const SOCKETS: Self = Self::new(4429, "Too many sockets");
    /// More unread answers than all clients together may have, and this one's address has the most.
    pub(super) const UNREAD: Self = Self::new(4429, "Too many unread answers");
    /// A message is longer than a message may be.
    pub(super) const TOO_LONG: Self = Self::new(1009, "Message too long");
    /// A text is not in UTF-8.
    pub(super) const NO_TEXT: Self = Self::new(1007, "Text must be UTF-8");
    /// A frame is not as RFC 6455 has it.
    pub(super) const BROKEN: Self = Self::new(1002, "Protocol error");
    /// The client did not answer a ping.
    pub(super) const NO_PONG: Self = Self::new(1001, "No answer to a ping");
    /// The storage cannot be asked who this is. Clients come back after this one.
    pub(super) const TRY_AGAIN: Self = Self::new(1013, "Try again later");

    /// Another operation has this id.
    pub(super) fn taken(id: &str) -> Self {
        Self::told(4409, format!("Subscriber for {id} already exists"))
    }

    /// The server stops.
    pub(super) fn farewell(seconds: u64) -> Self {
        Self::told(1001, format!("Going away, retry in {seconds} s"))
    }

    fn told(code: u16, mut reason: String) -> Self {
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
    fn a_reason_fits_its_frame_whatever_the_id_is() {
        for id in ["x".repeat(255), "é".repeat(120), "\u{1f985}".repeat(60)] {
            assert!((100..=MAX_REASON).contains(&Close::taken(&id).reason.len()));
        }
        assert_eq!(Close::taken("a").reason, "Subscriber for a already exists");
    }
}
