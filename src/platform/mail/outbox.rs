//! The outbox: messages as files, where no mail server is set. In development, the playground lists them.

use super::message::{MailFailure, StoredMessage};
use crate::base::clock::Millis;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Maximum number of files that are kept; the oldest are deleted.
const MAX_FILES: usize = 1_000;
/// An unfinished file is deleted after this time: its process has died.
const ABANDONED_AFTER: Millis = 3_600_000;

/// Writes a message to a file of its own, which only the user of the server can read. Its name has the time and a random number.
pub(super) async fn write(folder: &Path, message: Vec<u8>, now: Millis) -> Result<(), MailFailure> {
    let folder = folder.to_owned();
    let written = tokio::task::spawn_blocking(move || write_blocking(&folder, &message, now)).await;
    match written.map_err(io::Error::other).flatten() {
        Ok(()) => Ok(()),
        Err(error) => Err(MailFailure::temporary(format!("the outbox cannot be written: {error}"))),
    }
}

/// The newest messages, the newest first.
pub(super) async fn newest(folder: &Path, count: usize) -> io::Result<Vec<StoredMessage>> {
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || newest_blocking(&folder, count)).await.map_err(io::Error::other).flatten()
}

fn newest_blocking(folder: &Path, count: usize) -> io::Result<Vec<StoredMessage>> {
    // Without a message yet there is no folder.
    let Some(entries) = none_if_missing(std::fs::read_dir(folder))? else { return Ok(Vec::new()) };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut files = names.collect::<io::Result<Vec<String>>>()?;
    files.retain(|name| name.ends_with(".eml") && !name.starts_with('.'));
    files.sort_unstable_by(|a, b| b.cmp(a));
    files.truncate(count);
    let read = |name: String| {
        // Another process may have deleted the file.
        let source = none_if_missing(std::fs::read(folder.join(&name)))?;
        Ok(source.map(|source| StoredMessage { source: String::from_utf8_lossy(&source).into_owned(), name }))
    };
    files.into_iter().filter_map(|name| read(name).transpose()).collect()
}

/// The result of an access to a file; `None` if the file is missing.
fn none_if_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

fn write_blocking(folder: &Path, message: &[u8], now: Millis) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // The folder may have existed before.
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    let name = format!("{now:015}-{:08x}.eml", rand::random::<u32>());
    // A reader never finds a part of a message.
    let unfinished = folder.join(format!(".{name}"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(message)?;
    // The file must be durable, because the journal deletes its entry afterwards.
    file.sync_all()?;
    std::fs::rename(&unfinished, folder.join(name))?;
    File::open(folder)?.sync_all()?;
    trim(folder, now)
}

/// Deletes the oldest files beyond the bound, and unfinished files of processes that died. Another process may delete them, too.
fn trim(folder: &Path, now: Millis) -> io::Result<()> {
    let (mut files, mut abandoned) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".eml") else { continue };
        match stem.strip_prefix('.') {
            None => files.push((name, entry.path())),
            Some(unfinished) => {
                let begun = unfinished.split('-').next().and_then(|time| time.parse::<Millis>().ok());
                if begun.is_some_and(|begun| begun + ABANDONED_AFTER < now) {
                    abandoned.push(entry.path());
                }
            }
        }
    }
    files.sort_unstable_by(|a, b| b.cmp(a));
    for file in files.into_iter().skip(MAX_FILES).map(|(_, path)| path).chain(abandoned) {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_newest_thousand_are_kept_and_private() {
        let root = std::env::temp_dir().join(format!("waxwing-outbox-{}", std::process::id()));
        let folder = root.join("outbox");
        for at in 0..MAX_FILES as u64 + 5 {
            write_blocking(&folder, format!("message {at}").as_bytes(), at).expect("a file");
        }
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        assert_eq!(files.len(), MAX_FILES);
        assert_eq!(std::fs::read_to_string(&files[0]).expect("text"), "message 5");
        assert!(files.iter().all(|file| mode(file) == 0o600));
        std::fs::remove_dir_all(&root).expect("it is there");
    }

    #[test]
    fn files_of_another_process_are_kept_and_an_open_folder_becomes_private() {
        let folder = std::env::temp_dir().join(format!("waxwing-unfinished-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("a mode");
        let now = 10 * ABANDONED_AFTER;
        let unfinished = |at: Millis| folder.join(format!(".{at:015}-0000000a.eml"));
        let (fresh, old) = (unfinished(now - 1_000), unfinished(now - ABANDONED_AFTER - 1));
        for file in [&fresh, &old] {
            std::fs::write(file, "half").expect("a file");
        }
        for at in 0..=MAX_FILES {
            std::fs::write(folder.join(format!("{:015}-0000000b.eml", now + at as Millis)), "x").expect("a file");
        }
        write_blocking(&folder, b"message", now).expect("a file");
        assert!(fresh.exists() && !old.exists());
        assert_eq!(std::fs::metadata(&folder).expect("it is there").permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), MAX_FILES + 1, "with the unfinished one");
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}
