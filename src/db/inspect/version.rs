//! Versions of Redis and Valkey.

use std::fmt;
use std::str::FromStr;

/// The product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Product {
    /// Redis.
    #[default]
    Redis,
    /// Valkey, a fork of Redis 7.2.4, which reports that version as Redis's.
    Valkey,
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Redis => "Redis",
            Self::Valkey => "Valkey",
        })
    }
}

/// A version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The oldest supported version: the first with sharded pub/sub and multi-part append-only files.
    pub const OLDEST: Self = Self(7, 0, 0);
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The text does not begin with a number.
#[derive(Debug, thiserror::Error)]
#[error("not a version: {0:?}")]
pub struct VersionError(String);

impl FromStr for Version {
    type Err = VersionError;

    /// Parses a version, leniently after the first number: "8.0" is 8.0.0 and "8.2.0-rc1" is 8.2.0.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let mut numbers = text.splitn(3, '.').map(leading_number);
        let major = numbers.next().flatten().ok_or_else(|| VersionError(text.to_owned()))?;
        let mut next = || numbers.next().flatten().unwrap_or(0);
        Ok(Self(major, next(), next()))
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_version_strings_are_parsed() {
        for (text, expected) in [
            ("7.0.15", Some(Version(7, 0, 15))),
            ("8.0", Some(Version(8, 0, 0))),
            ("8.2.0-rc1", Some(Version(8, 2, 0))),
            ("255.255.255", Some(Version(255, 255, 255))),
            ("unstable", None),
            ("", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }

    #[test]
    fn versions_are_ordered_by_number() {
        assert!(Version(7, 0, 9) < Version(7, 0, 15) && Version(6, 9, 99) < Version::OLDEST);
    }
}
