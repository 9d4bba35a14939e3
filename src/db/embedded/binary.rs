//! Finds the program: `redis-server`, else `valkey-server`, and checks that it is new enough.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::EmbeddedError;
use crate::db::inspect::Version;

/// The names of the program, in the order of the search. Debian, Homebrew and the official images have the first, Fedora the second.
const NAMES: [&str; 2] = ["redis-server", "valkey-server"];

/// Finds the program to run, and queries its version (some milliseconds). A program that is too old is skipped if the one of the other name is usable.
pub(super) fn find(configured: Option<&Path>) -> Result<PathBuf, EmbeddedError> {
    if let Some(program) = configured {
        return check(program);
    }
    let mut first_failure = None;
    for name in NAMES {
        match check(Path::new(name)) {
            Ok(program) => return Ok(program),
            Err(EmbeddedError::NotInstalled) => {}
            Err(other) => first_failure = first_failure.or(Some(other)),
        }
    }
    Err(first_failure.unwrap_or(EmbeddedError::NotInstalled))
}

/// Checks that a program runs and is new enough. The system looks up a bare name on `PATH`, here and at the start.
fn check(program: &Path) -> Result<PathBuf, EmbeddedError> {
    let not_runnable = |reason: String| EmbeddedError::NotRunnable { program: program.to_owned(), reason };
    let output = match Command::new(program).arg("--version").output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_bare_name(program) => {
            return Err(EmbeddedError::NotInstalled);
        }
        Err(error) => return Err(not_runnable(error.to_string())),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let version = version_in(&text).ok_or_else(|| not_runnable(format!("it does not say its version but {:?}", text.trim())))?;
    if version < Version::OLDEST {
        return Err(EmbeddedError::TooOld { program: program.to_owned(), found: version.to_string() });
    }
    Ok(program.to_owned())
}

fn is_bare_name(program: &Path) -> bool {
    NAMES.iter().any(|name| program == Path::new(name))
}

/// Parses "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 ...".
fn version_in(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| word.strip_prefix("v=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_redis_and_valkey_are_parsed() {
        let version_of = |text| version_in(text).map(|version| version.to_string());
        assert_eq!(version_of("Redis server v=7.0.15 sha=00000000:0 bits=64"), Some("7.0.15".to_owned()));
        assert_eq!(version_of("Valkey server v=8.1.4 sha=00000000:0"), Some("8.1.4".to_owned()));
        assert_eq!(version_of("usage: redis-server"), None);
    }

    #[test]
    fn a_missing_configured_program_is_named_in_the_error() {
        let error = find(Some(Path::new("/nowhere/redis-server"))).expect_err("there is no such file");
        assert!(error.to_string().starts_with("cannot run /nowhere/redis-server: "), "{error}");
    }
}
