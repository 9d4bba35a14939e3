//! Why a snapshot could not be downloaded.

use std::io;
use std::time::Duration;

/// The longest time to open a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest silence of a server. While it prepares a snapshot, it sends a newline now and then.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// A failed download of a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The connection or the access to the file failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The connection could not be opened in time.
    #[error("the connection could not be opened within {} s", CONNECT_TIMEOUT.as_secs())]
    ConnectTimeout,
    /// The server was silent for too long.
    #[error("the server sent nothing for {} s", READ_TIMEOUT.as_secs())]
    Silent,
    /// The server refused, with its message.
    #[error("the server refuses: {0}")]
    Refused(String),
    /// The reply is no snapshot.
    #[error("the server sent something else than a snapshot")]
    NotASnapshot,
    /// An unsupported kind of address.
    #[error("this kind of address cannot be used for a backup")]
    Address,
}
