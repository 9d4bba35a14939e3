//! The outbox: messages as files, where no mail server is set.

use super::message::MailFailure;
use crate::base::clock::Millis;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The most files that are kept; the oldest are deleted.
const MAX_FILES: usize = 1_000;

/// Writes a message to a file of its own, which only the user of the server can read. Its name has the time and a random number.
pub(super) async fn write(folder: &Path, message: Vec<u8>, now: Millis) -> Result<(), MailFailure> {
    let folder = folder.to_owned();
    let written = tokio::task::spawn_blocking(move || write_now(&folder, &message, now)).await;
    match written.map_err(io::Error::other).flatten() {
        Ok(()) => Ok(()),
        Err(error) => Err(MailFailure::temporary(format!("the outbox cannot be written: {error}"))),
    }
}

fn write_now(folder: &Path, message: &[u8], now: Millis) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = format!("{now:015}-{:08x}.eml", rand::random::<u32>());
    // A reader never finds a part of a message.
    let unfinished = folder.join(format!(".{name}"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(message)?;
    std::fs::rename(&unfinished, folder.join(name))?;
    trim(folder)
}

/// Deletes the oldest files beyond the bound. Another process may delete them, too.
fn trim(folder: &Path) -> io::Result<()> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "eml"));
    files.sort_unstable_by(|a, b| b.file_name().cmp(&a.file_name()));
    for file in files.iter().skip(MAX_FILES) {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_newest_thousand_are_kept_and_private() {
        let root = std::env::temp_dir().join(format!("waxwing-outbox-{}", std::process::id()));
        let folder = root.join("outbox");
        for at in 0..MAX_FILES as u64 + 5 {
            write_now(&folder, format!("message {at}").as_bytes(), at).expect("a file");
        }
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).expect("a folder").map(|it| it.expect("a file").path()).collect();
        files.sort();
        assert_eq!(files.len(), MAX_FILES);
        assert_eq!(std::fs::read_to_string(&files[0]).expect("text"), "message 5");
        assert!(files.iter().all(|file| mode(file) == 0o600));
        std::fs::remove_dir_all(&root).expect("it is there");
    }
}
