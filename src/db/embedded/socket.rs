//! The location of the unix socket: in the data folder, or in a folder of its own if that path is too long.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::EmbeddedError;
use super::folder;

/// The limit of `sockaddr_un`: 108 bytes with the closing zero on Linux, 104 on macOS and the BSDs (minus a margin).
const LONGEST_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 100 };
const NAME: &str = "redis.sock";

/// The socket of Redis. Dropping it removes its files, so it must be created after the folder is locked, and dropped before the folder is unlocked.
#[derive(Debug)]
pub(super) struct RedisSocket {
    path: PathBuf,
    /// A private folder that is removed with the socket.
    temporary: Option<PathBuf>,
}

impl RedisSocket {
    /// Chooses the location and creates its folder. Redis itself replaces a stale socket.
    pub(super) fn choose(data: &Path) -> Result<Self, EmbeddedError> {
        let path = data.join(NAME);
        if fits(&path) {
            return Ok(Self { path, temporary: None });
        }
        let temporary = temporary_folder(data)?;
        Ok(Self { path: temporary.join(NAME), temporary: Some(temporary) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RedisSocket {
    fn drop(&mut self) {
        // Redis has removed it, unless it was killed.
        fs::remove_file(&self.path).ok();
        if let Some(temporary) = &self.temporary {
            fs::remove_dir(temporary).ok();
        }
    }
}

fn fits(path: &Path) -> bool {
    path.as_os_str().as_bytes().len() <= LONGEST_PATH
}

/// Creates a folder for the socket with a shorter path. Its name is derived from the identity of the data folder, so a restart uses the same folder, and
/// crashes leave no further ones.
fn temporary_folder(data: &Path) -> Result<PathBuf, EmbeddedError> {
    let metadata = fs::metadata(data).map_err(EmbeddedError::folder(data))?;
    let name = format!("waxwing-{:x}-{:x}", metadata.dev(), metadata.ino());
    let folder = [std::env::temp_dir(), PathBuf::from("/tmp")]
        .into_iter()
        .map(|parent| parent.join(&name))
        .find(|folder| fits(&folder.join(NAME)))
        .ok_or_else(|| EmbeddedError::SocketPathTooLong { path: std::env::temp_dir().join(&name) })?;
    folder::make_private(&folder)?;
    check_owner(&folder)?;
    Ok(folder)
}

/// Checks that a folder belongs to this user and is no link: in a world-writable parent, another user may have created it first.
fn check_owner(folder: &Path) -> Result<(), EmbeddedError> {
    let metadata = fs::symlink_metadata(folder).map_err(EmbeddedError::folder(folder))?;
    if metadata.is_dir() && folder::is_own(&metadata) {
        return Ok(());
    }
    let source = io::Error::other("it belongs to another user");
    Err(EmbeddedError::Folder { path: folder.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_moves_the_socket_to_a_private_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let long = folder.path().join("x".repeat(100));
        fs::create_dir(&long).expect("writable");
        let socket = RedisSocket::choose(&long).expect("it moves");
        assert!(fits(socket.path()) && !socket.path().starts_with(&long));
        let home = socket.path().parent().expect("it lies in a folder").to_owned();
        assert_eq!(fs::metadata(&home).expect("made").mode() & 0o777, 0o700);
        drop(socket);
        assert!(!home.exists());
    }

    #[test]
    fn a_symbolic_link_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::create_dir(&target).expect("writable");
        std::os::unix::fs::symlink(&target, &link).expect("writable");
        check_owner(&target).expect("the folder belongs to this user");
        check_owner(&link).expect_err("not a folder");
    }
}
