//! Limits of sockets, event streams and filter entries for each account or address. Each process counts its own.

use crate::platform::rates::Subject;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The kind of a slot. Each kind has its own limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::server) enum SlotKind {
    /// A socket.
    Socket,
    /// An event stream.
    Events,
    /// An entry of a live filter.
    FilterEntry,
}

type SlotKey = (SlotKind, Subject);

/// The slots in use, by account or address. Cheap to clone; clones share the counts.
#[derive(Clone, Default)]
pub(in crate::server) struct Slots(Arc<Mutex<HashMap<SlotKey, usize>>>);

/// One or more slots, which are free again when this is dropped.
pub(in crate::server) struct LiveSlot {
    slots: Slots,
    key: Option<SlotKey>,
    count: usize,
}

impl Slots {
    /// Takes a slot; `None` when `max` slots are in use. A client that has neither an account nor an address is not counted.
    pub(in crate::server) fn take(&self, kind: SlotKind, subject: Option<Subject>, max: usize) -> Option<LiveSlot> {
        self.take_many(kind, subject, 1, max)
    }

    /// Takes `count` slots, all or none.
    pub(in crate::server) fn take_many(
        &self,
        kind: SlotKind,
        subject: Option<Subject>,
        count: usize,
        max: usize,
    ) -> Option<LiveSlot> {
        let key = subject.map(|subject| (kind, subject));
        if let Some(key) = key {
            let mut taken = self.lock();
            let sum = taken.get(&key).copied().unwrap_or_default().saturating_add(count);
            if sum > max {
                return None;
            }
            taken.insert(key, sum);
        }
        Some(LiveSlot { slots: self.clone(), key, count })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SlotKey, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LiveSlot {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        if let Entry::Occupied(mut taken) = self.slots.lock().entry(key) {
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
    fn slots_are_limited_per_subject_and_returned() {
        let (slots, [ada, bob]) = (Slots::default(), [1, 2].map(|id| Some(Subject::Account(UserId(id)))));
        let held: Vec<_> = (0..2).map(|_| slots.take(SlotKind::Socket, ada, 2)).collect();
        assert!(held.iter().all(Option::is_some) && slots.take(SlotKind::Socket, ada, 2).is_none());
        assert!(slots.take(SlotKind::Events, ada, 2).is_some() && slots.take(SlotKind::Socket, bob, 2).is_some());
        assert!(slots.take(SlotKind::Socket, None, 0).is_some(), "without a subject there is no limit");
        let entries = slots.take_many(SlotKind::FilterEntry, ada, 7, 10);
        assert!(entries.is_some() && slots.take_many(SlotKind::FilterEntry, ada, 4, 10).is_none());
        assert!(
            slots.take_many(SlotKind::FilterEntry, ada, 3, 10).is_some()
                && slots.take_many(SlotKind::FilterEntry, bob, 10, 10).is_some()
        );
        assert!(slots.take_many(SlotKind::FilterEntry, bob, usize::MAX, 10).is_none());
        drop(entries);
        assert!(slots.take_many(SlotKind::FilterEntry, ada, 10, 10).is_some());
        drop(held);
        assert!(slots.take(SlotKind::Socket, ada, 1).is_some());
        assert!(slots.lock().is_empty(), "subjects without slots are removed");
    }
}
