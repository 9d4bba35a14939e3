//! The data folder: created, and private to this user.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::error::EmbeddedError;
use super::lock;

/// The folder of the append-only files in Redis 7 (the default name).
pub(super) const AOF_FOLDER: &str = "appendonlydir";

/// Creates the folder or makes it private; returns its absolute path.
pub(super) fn prepare(data_dir: &Path) -> Result<PathBuf, EmbeddedError> {
    // Redis changes its working directory to the folder, so a relative path would be wrong.
    let data = std::path::absolute(data_dir).map_err(EmbeddedError::folder(data_dir))?;
    make_private(&data)?;
    Ok(data)
}

/// Creates the folder with mode 0700. Changes the mode of an existing folder only if the folder belongs to the user of this process, and is empty or was used
/// by a server.
pub(super) fn make_private(path: &Path) -> Result<(), EmbeddedError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(EmbeddedError::folder(path))?;
    let metadata = fs::metadata(path).map_err(EmbeddedError::folder(path))?;
    if metadata.mode() & 0o077 == 0 {
        return Ok(());
    }
    // `--data-dir /tmp` by root, or a home folder, must not change permissions that others rely on.
    if !is_own(&metadata) {
        return Err(foreign(path, "belongs to another user"));
    }
    if !is_empty_or_used(path).map_err(EmbeddedError::folder(path))? {
        return Err(foreign(path, "holds other files"));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(EmbeddedError::folder(path))
}

fn foreign(path: &Path, reason: &'static str) -> EmbeddedError {
    EmbeddedError::ForeignFolder { path: path.to_owned(), reason }
}

/// Whether a file or folder belongs to the user of this process.
pub(super) fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Whether the folder is empty, was used by a server, or is a restored backup.
fn is_empty_or_used(path: &Path) -> io::Result<bool> {
    let is_used = path.join(lock::SERVER_LOCK).exists() || path.join(AOF_FOLDER).exists();
    Ok(is_used || fs::read_dir(path)?.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it exists").mode() & 0o7777
    }

    fn folder_with_mode(mode: u32) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).expect("the folder belongs to this user");
        folder
    }

    #[test]
    fn an_empty_folder_becomes_private() {
        let folder = folder_with_mode(0o755);
        prepare(folder.path()).expect("the folder is empty and belongs to this user");
        assert_eq!(mode(folder.path()), 0o700);
    }

    #[test]
    fn a_restored_backup_becomes_private() {
        let folder = folder_with_mode(0o755);
        fs::create_dir(folder.path().join(AOF_FOLDER)).expect("writable");
        fs::write(folder.path().join("notes.txt"), "").expect("writable");
        prepare(folder.path()).expect("it holds our data");
        assert_eq!(mode(folder.path()), 0o700);
    }

    #[test]
    fn a_shared_folder_with_other_files_is_refused_unchanged() {
        let folder = folder_with_mode(0o1777);
        fs::write(folder.path().join("somebody's"), "").expect("writable");
        let error = prepare(folder.path()).expect_err("it is not meant for this");
        assert!(error.to_string().contains("holds other files"), "{error}");
        assert_eq!(mode(folder.path()), 0o1777);
    }
}
