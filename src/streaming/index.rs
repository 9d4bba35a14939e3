//! Whom an event concerns, found by what it says.

use super::filter::{self, Filter};
use super::model::Area;
use crate::events::{Event, Marker, RING};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A subscription.
pub(super) type Id = u64;

/// The sides of the cells of each grid, in degrees: a box stands in the finest grid where it takes few cells.
const CELLS: [f64; 4] = [0.5, 5.0, 45.0, 360.0];
/// The most cells of a box.
const FEW: usize = 64;

/// Places of the ring of samples that are looked up together.
const STRETCH: u64 = 100;

/// A phrase that a subscription waits for.
type Phrase = (Id, Arc<[u32]>);

/// Who waits for what.
#[derive(Default)]
pub(super) struct Index {
    /// Phrases by one of their words. A mention is a phrase of one word.
    words: HashMap<u32, Vec<Phrase>>,
    /// Subscriptions by an author's mark.
    authors: HashMap<u64, Vec<Id>>,
    /// Feeds by an author's mark.
    sources: HashMap<u64, Vec<u64>>,
    /// Subscriptions to a feed.
    feeds: HashMap<u64, Vec<Id>>,
    /// Those who wait for everything.
    everything: HashSet<Id>,
    /// Samples by each stretch of the ring that they touch.
    samples: HashMap<u64, HashMap<Id, filter::Arc>>,
    /// By grid and cell.
    cells: HashMap<(usize, i32, i32), Vec<(Id, Area)>>,
}

impl Index {
    /// Everybody whom an event concerns, each once.
    pub(super) fn find(&self, marker: &Marker, event: &Event) -> HashSet<Id> {
        let (marks, mut found) = (&event.marks, HashSet::new());
        for word in &marks.words {
            let phrases = self.words.get(word).into_iter().flatten();
            found.extend(phrases.filter(|(_, phrase)| marks.has_all(phrase)).map(|(id, _)| *id));
        }
        found.extend(self.authors.get(&marks.author).into_iter().flatten());
        for feed in self.sources.get(&marks.author).into_iter().flatten() {
            found.extend(self.feeds.get(feed).into_iter().flatten());
        }
        let place = marker.place_on_ring(event.status.0);
        let samples = self.samples.get(&(place / STRETCH)).into_iter().flatten();
        found.extend(samples.filter(|(_, arc)| arc.holds(place)).map(|(id, _)| *id));
        found.extend(&self.everything);
        if let Some(place) = marks.place {
            for (grid, side) in CELLS.into_iter().enumerate() {
                let areas = self.cells.get(&(grid, cell(place.0, side), cell(place.1, side))).into_iter().flatten();
                found.extend(areas.filter(|(_, area)| area.holds(place)).map(|(id, _)| *id));
            }
        }
        found
    }

    /// A subscription waits for what a filter wants.
    pub(super) fn add(&mut self, id: Id, filter: &Filter) {
        match filter {
            Filter::Sample(arc) if arc.length >= RING => drop(self.everything.insert(id)),
            Filter::Sample(arc) => {
                for stretch in stretches_of(*arc) {
                    self.samples.entry(stretch).or_default().insert(id, *arc);
                }
            }
            Filter::Track(phrases) => {
                for phrase in phrases {
                    // The last is as good as any other: which are rare is not known.
                    let Some(word) = phrase.last() else { continue };
                    self.words.entry(*word).or_default().push((id, phrase.as_slice().into()));
                }
            }
            Filter::Follow(authors, mentions) => {
                authors.iter().for_each(|author| self.authors.entry(*author).or_default().push(id));
                mentions.iter().for_each(|word| self.words.entry(*word).or_default().push((id, [*word].into())));
            }
            Filter::Locations(areas) => {
                for area in areas {
                    cells_of(area).for_each(|cell| self.cells.entry(cell).or_default().push((id, *area)));
                }
            }
        }
    }

    /// It waits no longer.
    pub(super) fn remove(&mut self, id: Id, filter: &Filter) {
        match filter {
            Filter::Sample(arc) if arc.length >= RING => drop(self.everything.remove(&id)),
            Filter::Sample(arc) => {
                for stretch in stretches_of(*arc) {
                    let Some(all) = self.samples.get_mut(&stretch) else { continue };
                    all.remove(&id);
                    if all.is_empty() {
                        self.samples.remove(&stretch);
                    }
                }
            }
            Filter::Track(phrases) => {
                // Once a word, however many phrases stand under it.
                let last: HashSet<&u32> = phrases.iter().filter_map(|phrase| phrase.last()).collect();
                last.into_iter().for_each(|word| drop_from(&mut self.words, word, |(other, _)| *other != id));
            }
            Filter::Follow(authors, mentions) => {
                authors.iter().for_each(|author| drop_from(&mut self.authors, author, |other| *other != id));
                mentions.iter().for_each(|word| drop_from(&mut self.words, word, |(other, _)| *other != id));
            }
            Filter::Locations(areas) => {
                let cells: HashSet<_> = areas.iter().flat_map(cells_of).collect();
                cells.iter().for_each(|cell| drop_from(&mut self.cells, cell, |(other, _)| *other != id));
            }
        }
    }

    /// A subscription waits for what comes into a feed.
    pub(super) fn add_to_feed(&mut self, id: Id, feed: u64) {
        self.feeds.entry(feed).or_default().push(id);
    }

    /// It waits no longer.
    pub(super) fn remove_from_feed(&mut self, id: Id, feed: u64) {
        drop_from(&mut self.feeds, &feed, |other| *other != id);
    }

    /// The sources of a feed are others now.
    pub(super) fn change_sources(&mut self, feed: u64, before: &HashSet<u64>, now: &HashSet<u64>) {
        before.difference(now).for_each(|author| drop_from(&mut self.sources, author, |other| *other != feed));
        now.difference(before).for_each(|author| self.sources.entry(*author).or_default().push(feed));
    }

    /// Whether nobody waits for anything.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.authors.is_empty()
            && self.sources.is_empty()
            && self.feeds.is_empty()
            && self.samples.is_empty()
            && self.everything.is_empty()
            && self.cells.is_empty()
    }
}

fn drop_from<K: Eq + std::hash::Hash, T>(map: &mut HashMap<K, Vec<T>>, key: &K, stays: impl Fn(&T) -> bool) {
    if let Some(all) = map.get_mut(key) {
        all.retain(stays);
        if all.is_empty() {
            map.remove(key);
        } else if all.capacity() > 4 * all.len() {
            all.shrink_to_fit();
        }
    }
}

/// The stretches of the ring that an arc touches, each once.
fn stretches_of(arc: filter::Arc) -> impl Iterator<Item = u64> {
    let all = RING / STRETCH;
    let count = (arc.start % STRETCH + arc.length).div_ceil(STRETCH).min(all);
    (0..count).map(move |step| (arc.start / STRETCH + step) % all)
}

fn cell(degrees: f64, side: f64) -> i32 {
    (degrees / side).floor() as i32
}

/// The cells of a box in the finest grid where they are few.
fn cells_of(area: &Area) -> impl Iterator<Item = (usize, i32, i32)> + use<> {
    // Across the antimeridian there are two parts; both names of that meridian are one place.
    let mut parts =
        if area.west <= area.east { vec![(area.west, area.east)] } else { vec![(area.west, 180.0), (-180.0, area.east)] };
    if area.west == -180.0 || area.east == 180.0 {
        parts.extend([(180.0, 180.0), (-180.0, -180.0)]);
    }
    let (south, north) = (area.south, area.north);
    let count = |side: f64| {
        let wide: i64 = parts.iter().map(|(west, east)| i64::from(cell(*east, side) - cell(*west, side) + 1)).sum();
        wide * i64::from(cell(north, side) - cell(south, side) + 1)
    };
    let grid = CELLS.iter().position(|side| count(*side) <= FEW as i64).unwrap_or(CELLS.len() - 1);
    let side = CELLS[grid];
    let found: HashSet<_> = parts
        .into_iter()
        .flat_map(|(west, east)| cell(west, side)..=cell(east, side))
        .flat_map(|column| (cell(south, side)..=cell(north, side)).map(move |row| (grid, row, column)))
        .collect();
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arc_is_found_at_each_of_its_places_and_nowhere_else() {
        for (start, length) in
            [(0, 1), (0, RING), (50, 100), (99, 1), (9_950, 100), (9_999, 2), (1, RING - 1), (123, 4_567), (77, RING)]
        {
            let (arc, mut index) = (filter::Arc { start, length }, Index::default());
            index.add(7, &Filter::Sample(arc));
            let all = index.everything.contains(&7);
            let is_found = |place: u64| all || index.samples.get(&(place / STRETCH)).is_some_and(|it| it[&7].holds(place));
            let found = (0..RING).filter(|place| is_found(*place)).count() as u64;
            let held = (0..RING).filter(|place| (place + RING - start) % RING < length).count() as u64;
            assert_eq!((found, held), (length, length), "{start} {length}");
            index.remove(7, &Filter::Sample(arc));
            assert!(index.is_empty());
        }
    }
}
