//! How many sockets and event streams one may have. Each process counts its own.

use crate::rates::Subject;
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
}

type Key = (Kind, Subject);

/// Who has how many. Cheap to clone; clones are the same.
#[derive(Clone, Default)]
pub(in crate::server) struct Places(Arc<Mutex<HashMap<Key, usize>>>);

/// One of them, until it is dropped.
pub(in crate::server) struct Place {
    places: Places,
    key: Option<Key>,
}

impl Places {
    /// A place for one more; `None` when `max` are taken. Whoever is not known by account or address is not counted.
    pub(in crate::server) fn take(&self, kind: Kind, subject: Option<Subject>, max: usize) -> Option<Place> {
        let key = subject.map(|subject| (kind, subject));
        if let Some(key) = key {
            let mut taken = self.taken();
            let count = taken.get(&key).copied().unwrap_or_default();
            if count >= max {
                return None;
            }
            taken.insert(key, count + 1);
        }
        Some(Place { places: self.clone(), key })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Key, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        if let Entry::Occupied(mut count) = self.places.taken().entry(key) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::UserId;

    #[test]
    fn each_has_so_many_and_gets_them_back() {
        let (places, [ada, bob]) = (Places::default(), [1, 2].map(|id| Some(Subject::Account(UserId(id)))));
        let held: Vec<_> = (0..2).map(|_| places.take(Kind::Socket, ada, 2)).collect();
        assert!(held.iter().all(Option::is_some) && places.take(Kind::Socket, ada, 2).is_none());
        assert!(places.take(Kind::Events, ada, 2).is_some() && places.take(Kind::Socket, bob, 2).is_some());
        assert!(places.take(Kind::Socket, None, 0).is_some(), "nobody to count");
        drop(held);
        assert!(places.take(Kind::Socket, ada, 1).is_some());
        assert!(places.taken().is_empty(), "who has none is not remembered");
    }
}
