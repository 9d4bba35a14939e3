//! Creates a data folder from a snapshot: Redis loads it as the base of its append-only file.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// The default names of Redis for the folder of the append-only file, its base file and its manifest.
const FOLDER: &str = "appendonlydir";
const BASE: &str = "appendonly.aof.1.base.rdb";
const MANIFEST: &str = "appendonly.aof.manifest";

/// Whether the folder does not exist, or is empty.
///
/// # Errors
/// If it cannot be read.
pub fn is_free_folder(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Creates the data folder with the contents of `snapshot`, private to this user, and synced to disk.
///
/// # Errors
/// If the folder exists, or cannot be written.
pub fn write_data_folder(snapshot: &Path, folder: &Path) -> io::Result<()> {
    let parts = folder.join(FOLDER);
    DirBuilder::new().mode(0o700).create(folder)?;
    DirBuilder::new().mode(0o700).create(&parts)?;
    let mut base = create(&parts.join(BASE))?;
    io::copy(&mut File::open(snapshot)?, &mut base)?;
    base.sync_all()?;
    let mut manifest = create(&parts.join(MANIFEST))?;
    manifest.write_all(format!("file {BASE} seq 1 type b\n").as_bytes())?;
    manifest.sync_all()?;
    File::open(&parts)?.sync_all()?;
    File::open(folder)?.sync_all()
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
