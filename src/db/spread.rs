//! Hash tags that are spread evenly over the slots of a cluster, so that every primary holds some of them.

use redis::cluster_routing::Slot;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The number of hash tags, one for each range of 128 slots. A primary with 256 consecutive slots contains a whole range, so it always holds a hash tag.
const TAGS: u16 = 128;
/// Slots of a cluster.
const SLOTS: u16 = 16_384;

/// The hash tags: for each range of slots, the smallest number whose slot is in it.
pub fn tags() -> &'static [u64] {
    static FOUND: LazyLock<Vec<u64>> = LazyLock::new(|| {
        let range_of = |slot: u16| Some((Slot::new(slot)?, slot / (SLOTS / TAGS)));
        let ranges: HashMap<Slot, u16> = (0..SLOTS).filter_map(range_of).collect();
        let mut found = vec![None; usize::from(TAGS)];
        let mut tag = 0_u64;
        while found.contains(&None) {
            let entry = ranges.get(&Slot::for_key(tag.to_string())).and_then(|range| found.get_mut(usize::from(*range)));
            if let Some(entry @ None) = entry {
                *entry = Some(tag);
            }
            tag += 1;
        }
        found.into_iter().flatten().collect()
    });
    &FOUND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_of_slots_has_a_hash_tag() {
        assert_eq!(tags().len(), usize::from(TAGS));
        let slot_of = |tag: &u64| (0..SLOTS).find(|slot| Slot::new(*slot) == Some(Slot::for_key(tag.to_string())));
        let ranges: Vec<u16> = tags().iter().map(|tag| slot_of(tag).expect("a slot") / (SLOTS / TAGS)).collect();
        assert_eq!(ranges, (0..TAGS).collect::<Vec<_>>());
    }
}
