//! Reads a follow graph from a file.

use anyhow::{Context, bail};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A follow graph: users are 0, 1, … in the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct FollowGraph {
    /// The number of users.
    pub(super) users: usize,
    /// (follower, followed), in the order of the file, without duplicates and without users that follow themselves.
    pub(super) edges: Vec<(usize, usize)>,
    /// The first eight bytes of the file's SHA-256, in hexadecimal.
    pub(super) digest: String,
}

/// Reads lines of "A B"; `#` begins a comment.
pub(super) fn read(file: &Path) -> anyhow::Result<FollowGraph> {
    parse(&std::fs::read_to_string(file)?)
}

fn parse(text: &str) -> anyhow::Result<FollowGraph> {
    let (mut follows, mut numbers, mut seen) = (FollowGraph::default(), HashMap::new(), HashSet::new());
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let mut words = line.split_whitespace();
        let pair = words.next().zip(words.next()).filter(|_| words.next().is_none());
        let (a, b) = pair.with_context(|| format!("line {}: expected two names, as in \"A B\"", index + 1))?;
        let mut number = |name| {
            let next = numbers.len();
            *numbers.entry(name).or_insert(next)
        };
        let edge = (number(a), number(b));
        if edge.0 != edge.1 && seen.insert(edge) {
            follows.edges.push(edge);
        }
    }
    if numbers.is_empty() {
        bail!("the file has no follows");
    }
    follows.users = numbers.len();
    follows.digest = digest(text);
    Ok(follows)
}

fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_numbered_by_first_appearance() {
        let follows = parse("# a graph\n30 1412\n30\t7 # a remark\n\n7 30\n7 30\n7 7\n").expect("a graph");
        assert_eq!((follows.users, follows.edges), (3, vec![(0, 1), (0, 2), (2, 0)]));
        assert!(parse("1 2\n3\n").expect_err("one name").to_string().contains("line 2"));
        assert!(parse("1 2 3\n").is_err());
        assert!(parse("# nothing\n").is_err());
    }
}
