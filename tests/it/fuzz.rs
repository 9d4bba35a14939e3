//! Replays the corpus of the fuzz targets (`make fuzz`): seeds, and inputs that once failed.

#[path = "../fuzz/checks.rs"]
mod checks;

use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut files: Vec<_> = fs::read_dir(&folder).expect("a corpus").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 5, "{} files in {}", files.len(), folder.display());
    for file in files {
        let bytes = fs::read(&file).expect("it is read");
        // The complete input, and truncated inputs.
        for length in [bytes.len(), bytes.len() / 2, bytes.len() / 3] {
            println!("{} up to {length}", file.display());
            check(&bytes[..length]);
        }
    }
}

#[test]
fn documents() {
    replay("document", checks::document);
}

#[test]
fn cursors_and_ids() {
    replay("cursor", checks::cursor);
}

#[test]
fn entities() {
    replay("entities", checks::entities);
}

#[test]
fn tokens() {
    replay("token", checks::token);
}
