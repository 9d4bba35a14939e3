//! Label values that clients choose: bounded in number and length.

use super::OTHER;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

/// The longest label value, in bytes.
const MAX_LABEL_BYTES: usize = 64;

/// The first names up to a bound; later ones become [`OTHER`].
pub(super) struct LabelNames {
    labels: RwLock<HashSet<Arc<str>>>,
    capacity: usize,
    other: Arc<str>,
}

impl LabelNames {
    /// Labels for the `reserved` names and `capacity` others.
    pub(super) fn new(capacity: usize, reserved: &[&str]) -> Self {
        let labels = reserved.iter().map(|name| Arc::from(*name)).collect();
        Self { labels: RwLock::new(labels), capacity: capacity + reserved.len(), other: OTHER.into() }
    }

    /// The name itself if it is a label already, or is a GraphQL name and the table is not full; else [`OTHER`]. Allocates for a new name only.
    pub(super) fn admit(&self, name: &str) -> Arc<str> {
        {
            let labels = self.labels.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(label) = labels.get(name) {
                return label.clone();
            }
            if labels.len() >= self.capacity || !is_name(name) {
                return self.other.clone();
            }
        }
        let mut labels = self.labels.write().unwrap_or_else(PoisonError::into_inner);
        if labels.len() >= self.capacity && !labels.contains(name) {
            return self.other.clone(); // Another thread has added the last name.
        }
        let name: Arc<str> = labels.get(name).cloned().unwrap_or_else(|| name.into());
        labels.insert(name.clone());
        name
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.len() <= MAX_LABEL_BYTES && bytes.next().is_some_and(letter) && bytes.all(|byte| letter(byte) || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_and_long_names_become_other() {
        let names = LabelNames::new(10, &[OTHER]);
        for name in ["Home", "_", "a1", &"x".repeat(64)] {
            assert_eq!(&*names.admit(name), name);
        }
        for name in ["", "1a", "a b", "a\"} 1\nfake{x=\"", "\u{1b}[31m", "é", &"x".repeat(65)] {
            assert_eq!(&*names.admit(name), OTHER, "{name}");
        }
    }

    #[test]
    fn the_number_of_labels_is_bounded_also_under_concurrency() {
        let names = LabelNames::new(20, &[OTHER, "ok"]);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let names = &names;
                scope.spawn(move || (0..100).for_each(|at| drop(names.admit(&format!("n{thread}_{at}")))));
            }
        });
        assert_eq!(names.labels.read().expect("no panic while held").len(), 22);
        assert_eq!(&*names.admit("late"), OTHER);
        assert_eq!(&*names.admit("ok"), "ok");
    }
}
