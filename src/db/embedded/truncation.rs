//! Parses the log of Redis for truncations of the append-only file and for the end of loading.

use std::collections::HashMap;

/// A truncation that the log of Redis reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Truncation {
    pub(super) file: String,
    offset: u64,
}

impl Truncation {
    /// Parses "... # !!! Truncating the AOF appendonly.aof.1.incr.aof at offset 140 !!!", which all versions since 7.0 write.
    pub(super) fn in_line(line: &str) -> Option<Self> {
        let (file, rest) = line.split_once("Truncating the AOF ")?.1.split_once(" at offset ")?;
        let offset = rest.split_whitespace().next()?.parse().ok()?;
        Some(Self { file: file.to_owned(), offset })
    }

    /// Returns the number of lost bytes, from the sizes of the files before Redis started.
    fn lost_bytes(&self, sizes: &HashMap<String, u64>) -> Option<u64> {
        sizes.get(&self.file)?.checked_sub(self.offset)
    }
}

/// Returns whether a line marks the end of loading.
pub(super) fn ends_load(line: &str) -> bool {
    line.to_ascii_lowercase().contains("ready to accept connections")
}

/// Returns the truncation that a line reports, and the number of lost bytes if known.
pub(super) fn truncation(line: &str, sizes: &HashMap<String, u64>) -> Option<(Truncation, Option<u64>)> {
    let cut = Truncation::in_line(line)?;
    let lost = cut.lost_bytes(sizes);
    Some((cut, lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncation_is_parsed_with_the_number_of_lost_bytes() {
        let line = "21761:M 22 Nov 2026 22:56:49.628 # !!! Truncating the AOF appendonly.aof.1.incr.aof at offset 140 !!!";
        let sizes = HashMap::from([("appendonly.aof.1.incr.aof".to_owned(), 159)]);
        let (cut, lost) = truncation(line, &sizes).expect("a cut");
        assert_eq!((cut.file.as_str(), cut.offset, lost), ("appendonly.aof.1.incr.aof", 140, Some(19)));
        assert_eq!(truncation(line, &HashMap::new()).expect("a cut").1, None);
        assert_eq!(truncation("21761:M 22 Nov 2026 22:56:49.628 * DB loaded from append only file: 0.000 seconds", &sizes), None);
    }

    #[test]
    fn the_end_of_loading_is_recognized_in_every_wording() {
        for line in [
            "1:M 22 Nov 2026 22:56:49.628 * The server is now ready to accept connections at /data/redis.sock",
            "1:M 22 Nov 2026 22:56:49.628 * Ready to accept connections unix",
        ] {
            assert!(ends_load(line), "{line}");
        }
        assert!(!ends_load("1:M 22 Nov 2026 22:56:49.628 * DB loaded from append only file: 0.000 seconds"));
    }
}
