//! `backup.json`: the manifest of a backup.

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const NAME: &str = "backup.json";
/// The version of the format of the folder.
const FORMAT: u64 = 1;

/// The manifest of a backup.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    format: u64,
    /// The version of the program that made the backup.
    waxwing: String,
    /// The version of the store (`cli::migrations`).
    pub(super) store_version: u64,
    made_at: String,
    /// A file for each primary.
    pub(super) nodes: Vec<NodeCopy>,
}

/// The data of one primary.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodeCopy {
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Manifest {
    pub(super) fn new(store_version: u64, nodes: Vec<NodeCopy>) -> Self {
        let made_at = jiff::Timestamp::now().to_string();
        Self { format: FORMAT, waxwing: env!("CARGO_PKG_VERSION").to_owned(), store_version, made_at, nodes }
    }

    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(NAME))?;
        file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
        Ok(file.sync_all()?)
    }

    /// Reads the manifest, and verifies the length and digest of each file.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(NAME);
        let text =
            fs::read_to_string(&path).with_context(|| format!("{} is not a backup: {NAME} cannot be read", folder.display()))?;
        let manifest: Self = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        if manifest.format != FORMAT {
            bail!(
                "this backup has format {}, made by Waxwing {}; this Waxwing reads format {FORMAT}",
                manifest.format,
                manifest.waxwing
            );
        }
        if manifest.nodes.is_empty() {
            bail!("this backup has no files");
        }
        manifest.nodes.iter().try_for_each(|node| node.check(folder))?;
        Ok(manifest)
    }

    /// The files with the data.
    pub(super) fn files(&self, folder: &Path) -> Vec<PathBuf> {
        self.nodes.iter().map(|node| folder.join(&node.file)).collect()
    }

    /// The version and time of the backup, for messages.
    pub(super) fn origin(&self) -> String {
        format!("made by Waxwing {} at {}", self.waxwing, self.made_at)
    }
}

impl NodeCopy {
    fn check(&self, folder: &Path) -> anyhow::Result<()> {
        // Somebody may have written the manifest by hand.
        if self.file.contains('/') || self.file.starts_with('.') {
            bail!("{:?} is not a valid name of a file in a backup", self.file);
        }
        let path = folder.join(&self.file);
        let mut file = File::open(&path).with_context(|| path.display().to_string())?;
        let (mut digest, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
        loop {
            let read = file.read(&mut buffer).with_context(|| path.display().to_string())?;
            if read == 0 {
                break;
            }
            digest.update(&buffer[..read]);
            bytes += read as u64;
        }
        let sha256: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if (bytes, &sha256) != (self.bytes, &self.sha256) {
            bail!("{} is damaged: its length or digest is not that of the backup", path.display());
        }
        Ok(())
    }
}
