//! How many sockets, event streams and filter entries one may have. Each process counts its own.

use crate::platform::rates::Subject;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::server) enum Kind {
    /// A socket.
    Socket,
    /// An event stream.
    Events,
    /// An entry of a live filter.
    FilterEntry,
}

type Key = (Kind, Subject);

/// Who has how many. Cheap to clone; clones are the same.
#[derive(Clone, Default)]
pub(in crate::server) struct Places(Arc<Mutex<HashMap<Key, usize>>>);

/// One or more of them, until it is dropped.
pub(in crate::server) struct Place {
    places: Places,
    key: Option<Key>,
    count: usize,
}

impl Places {
    /// A place for one more; `None` when `max` are taken. Whoever is not known by account or address is not counted.
    pub(in crate::server) fn take(&self, kind: Kind, subject: Option<Subject>, max: usize) -> Option<Place> {
        self.take_many(kind, subject, 1, max)
    }

    /// Places for `count` more, all or none.
    pub(in crate::server) fn take_many(&self, kind: Kind, subject: Option<Subject>, count: usize, max: usize) -> Option<Place> {
        let key = subject.map(|subject| (kind, subject));
        if let Some(key) = key {
            let mut taken = self.taken();
            let together = taken.get(&key).copied().unwrap_or_default().saturating_add(count);
            if together > max {
                return None;
            }
            taken.insert(key, together);
        }
        Some(Place { places: self.clone(), key, count })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Key, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        if let Entry::Occupied(mut taken) = self.places.taken().entry(key) {
            *taken.get_mut() -= self.count;
            if *taken.get() == 0 {
                taken.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserId;

    #[test]
    fn each_has_so_many_and_gets_them_back() {
        let (places, [ada, bob]) = (Places::default(), [1, 2].map(|id| Some(Subject::Account(UserId(id)))));
        let held: Vec<_> = (0..2).map(|_| places.take(Kind::Socket, ada, 2)).collect();
        assert!(held.iter().all(Option::is_some) && places.take(Kind::Socket, ada, 2).is_none());
        assert!(places.take(Kind::Events, ada, 2).is_some() && places.take(Kind::Socket, bob, 2).is_some());
        assert!(places.take(Kind::Socket, None, 0).is_some(), "nobody to count");
        let entries = places.take_many(Kind::FilterEntry, ada, 7, 10);
        assert!(entries.is_some() && places.take_many(Kind::FilterEntry, ada, 4, 10).is_none());
        assert!(
            places.take_many(Kind::FilterEntry, ada, 3, 10).is_some()
                && places.take_many(Kind::FilterEntry, bob, 10, 10).is_some()
        );
        assert!(places.take_many(Kind::FilterEntry, bob, usize::MAX, 10).is_none());
        drop(entries);
        assert!(places.take_many(Kind::FilterEntry, ada, 10, 10).is_some());
        drop(held);
        assert!(places.take(Kind::Socket, ada, 1).is_some());
        assert!(places.taken().is_empty(), "who has none is not remembered");
    }
}
