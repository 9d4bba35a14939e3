//! Append-only files: their sizes, and the state after a power failure.
//!
//! With `appendfsync everysec` a power failure takes up to the last second of a server's writes, and leaves a file that ends anywhere. Redis drops
//! an incomplete command at the end (`aof-load-truncated yes`). These truncations end between two commands and never inside a MULTI, the form in
//! which Redis writes a script; another test truncates inside of one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The sampling interval.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(3);

/// A time, and the sizes of the files then.
pub type Sample = (Instant, Vec<u64>);

/// The append-only files of some servers, with their sizes over time.
pub struct FileSizeSampler {
    stop: Arc<AtomicBool>,
    sampler: Option<JoinHandle<Vec<Sample>>>,
}

impl FileSizeSampler {
    /// Samples the files in these data folders until it is stopped.
    pub fn start(folders: &[PathBuf]) -> Self {
        let files: Vec<PathBuf> = folders.iter().map(|folder| incremental(folder)).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let sampler = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !stopped.load(Ordering::SeqCst) {
                samples.push((Instant::now(), files.iter().map(|file| size(file)).collect()));
                std::thread::sleep(SAMPLE_INTERVAL);
            }
            samples
        });
        Self { stop, sampler: Some(sampler) }
    }

    /// Stops sampling; returns the sizes so far, the oldest first.
    pub fn end(mut self) -> Vec<Sample> {
        self.stop.store(true, Ordering::SeqCst);
        self.sampler.take().expect("it runs").join().expect("it samples")
    }
}

impl Drop for FileSizeSampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).expect("a file").len()
}

/// The file to which a server with this data folder appends.
fn incremental(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder.join("appendonlydir")).expect("an append-only folder");
    let mut paths = files.map(|file| file.expect("a file").path());
    paths.find(|path| path.to_string_lossy().ends_with(".incr.aof")).expect("a server that appends has such a file")
}

/// Truncates the file of a stopped server to at most `keep` bytes, after the last complete command; returns the number of lost bytes.
pub fn truncate(folder: &Path, keep: u64) -> u64 {
    let file = incremental(folder);
    let bytes = fs::read(&file).expect("a file");
    let end = last_command_end(&bytes, usize::try_from(keep).expect("it fits"));
    fs::OpenOptions::new().write(true).open(&file).expect("a file").set_len(end as u64).expect("it is cut");
    (bytes.len() - end) as u64
}

/// The last offset up to `limit` at which a command outside of any MULTI ends.
fn last_command_end(bytes: &[u8], limit: usize) -> usize {
    let (mut at, mut end, mut open) = (0, 0, false);
    while let Some((name, next)) = command(bytes, at) {
        if next > limit {
            break;
        }
        open = if name.eq_ignore_ascii_case(b"multi") { true } else { open && !name.eq_ignore_ascii_case(b"exec") };
        at = next;
        if !open {
            end = at;
        }
    }
    end
}

/// The name of the command at an offset, and its end; `None` if it is incomplete.
fn command(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let (count, mut at) = number(bytes, at, b'*')?;
    let mut name = None;
    for _ in 0..count {
        let (length, begin) = number(bytes, at, b'$')?;
        name = name.or(bytes.get(begin..begin + length));
        at = begin + length + 2;
    }
    (at <= bytes.len()).then_some((name?, at))
}

/// The number after a mark, and the end of its line.
fn number(bytes: &[u8], at: usize, mark: u8) -> Option<(usize, usize)> {
    let line = bytes.get(at..)?.split(|byte| *byte == b'\n').next()?;
    let digits = line.strip_prefix(&[mark])?.strip_suffix(b"\r")?;
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, at + line.len() + 1))
}
