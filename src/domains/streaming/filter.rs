//! Filters of the public stream: checked, and made into what can be asked of marks.

use super::grid::cells_of;
use super::index::{EVERYTHING, Entry, Kind};
use super::model::{Area, Given};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::platform::events::{Event, SAMPLE_RING, TermHasher};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The most phrases, logins and boxes of a filter.
const MOST: [(&str, usize); 3] = [("track", 400), ("follow", 5_000), ("locations", 25)];
/// The longest phrase, in bytes; and how many words it has at most.
const PHRASE: (usize, usize) = (240, 20);
/// The longest name of a sample, in bytes.
const IDENTIFIER: usize = 64;

/// Places of the ring of samples that are looked up together.
const STRETCH: u64 = 500;

/// What is wanted of the public stream. Equal filters are equal in memory too: their lists are sorted, and have nothing twice.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    /// An arc of the ring.
    Sample(Arc),
    /// All words of any one phrase; each phrase sorted, none empty.
    Track(Vec<Vec<u32>>),
    /// Marks of authors, and of mentions.
    Follow(Vec<u64>, Vec<u32>),
    /// Boxes.
    Locations(Vec<Area>),
}

/// A part of the ring of samples. A status is in a sample of any percent if it is in one of fewer, under the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arc {
    /// Where it begins.
    pub(super) start: u64,
    /// How many places it has.
    pub(super) length: u64,
}

impl Arc {
    /// Whether a place lies in it.
    pub(super) const fn holds(self, place: u64) -> bool {
        (place + SAMPLE_RING - self.start) % SAMPLE_RING < self.length
    }
}

/// A filter whose logins are not looked up yet.
pub(super) enum Checked {
    Ready(Filter),
    Logins(Vec<String>),
}

impl Filter {
    /// Whether it wants a status with these marks.
    pub(super) fn wants(&self, term_hasher: &TermHasher, event: &Event) -> bool {
        let terms = &event.terms;
        match self {
            Self::Sample(arc) => arc.holds(term_hasher.sample_position(event.status.0)),
            Self::Track(phrases) => phrases.iter().any(|phrase| terms.has_all(phrase)),
            Self::Follow(authors, mentions) => {
                authors.binary_search(&terms.author).is_ok()
                    || terms.words.iter().any(|word| mentions.binary_search(word).is_ok())
            }
            Self::Locations(areas) => terms.place.is_some_and(|place| areas.iter().any(|area| area.holds(place))),
        }
    }

    /// Whether it wants an event for the part whose entry the event was found by.
    pub(super) fn part_wants(&self, part: u32, term_hasher: &TermHasher, event: &Event) -> bool {
        let part = part as usize;
        match self {
            Self::Sample(_) => self.wants(term_hasher, event),
            Self::Track(phrases) => phrases.get(part).is_some_and(|phrase| event.terms.has_all(phrase)),
            // The mark is all that is asked for.
            Self::Follow(..) => true,
            Self::Locations(areas) => event.terms.place.zip(areas.get(part)).is_some_and(|(place, area)| area.holds(place)),
        }
    }

    /// A filter for what is posted by, or mentions, any of these: logins, and the accounts that have them.
    pub(super) fn follow(term_hasher: &TermHasher, logins: &[String], accounts: &[UserId]) -> Self {
        let authors: BTreeSet<u64> = accounts.iter().map(|id| term_hasher.author(*id)).collect();
        let mentions: BTreeSet<u32> = logins.iter().map(|login| term_hasher.mention(login)).collect();
        Self::Follow(authors.into_iter().collect(), mentions.into_iter().collect())
    }

    /// Its entries in the index.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let parts = 0_u32..;
        match self {
            Self::Sample(arc) if arc.length >= SAMPLE_RING => vec![Entry { kind: Kind::Sample, mark: EVERYTHING, part: 0 }],
            Self::Sample(arc) => stretches_of(*arc).map(|mark| Entry { kind: Kind::Sample, mark, part: 0 }).collect(),
            // The last word is as good as any other: which are rare is not known.
            Self::Track(phrases) => {
                let last = phrases.iter().zip(parts).filter_map(|(phrase, part)| Some((*phrase.last()?, part)));
                last.map(|(word, part)| Entry { kind: Kind::Word, mark: word.into(), part }).collect()
            }
            Self::Follow(authors, mentions) => {
                let authors = authors.iter().map(|author| Entry { kind: Kind::Author, mark: *author, part: 0 });
                let mentions = mentions.iter().map(|word| Entry { kind: Kind::Word, mark: (*word).into(), part: 0 });
                authors.chain(mentions).collect()
            }
            Self::Locations(areas) => {
                let cells = areas.iter().zip(parts).flat_map(|(area, part)| cells_of(area).into_iter().map(move |it| (it, part)));
                cells.map(|(mark, part)| Entry { kind: Kind::Cell, mark, part }).collect()
            }
        }
    }

    /// The digest of its content, by which equal filters are found.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        let mut number = |number: u64| hasher.update(number.to_be_bytes());
        match self {
            Self::Sample(arc) => [0, arc.start, arc.length].into_iter().for_each(number),
            Self::Track(phrases) => {
                number(1);
                for phrase in phrases {
                    number(phrase.len() as u64);
                    phrase.iter().for_each(|word| number((*word).into()));
                }
            }
            Self::Follow(authors, mentions) => {
                [2, authors.len() as u64].into_iter().for_each(&mut number);
                authors.iter().copied().for_each(&mut number);
                mentions.iter().for_each(|word| number((*word).into()));
            }
            Self::Locations(areas) => {
                number(3);
                areas.iter().flat_map(Area::bits).for_each(number);
            }
        }
        hasher.finalize().into()
    }
}

/// The stretch of the ring that a place lies in.
pub(super) const fn stretch_of(place: u64) -> u64 {
    place / STRETCH
}

/// The stretches of the ring that an arc touches, each once.
fn stretches_of(arc: Arc) -> impl Iterator<Item = u64> {
    let all = SAMPLE_RING / STRETCH;
    let count = (arc.start % STRETCH + arc.length).div_ceil(STRETCH).min(all);
    (0..count).map(move |step| (arc.start / STRETCH + step) % all)
}

/// Checks a filter.
///
/// # Errors
/// `BAD_USER_INPUT`: none or several kinds, or one that is out of bounds.
pub(super) fn check(term_hasher: &TermHasher, given: Given) -> Result<Checked, Error> {
    let refused = |why: String| Err(Error::BadUserInput(why));
    let kinds = [given.sample.is_some(), given.track.is_some(), given.follow.is_some(), given.locations.is_some()];
    if kinds.into_iter().filter(|given| *given).count() != 1 {
        return refused("`filter` takes exactly one of `sample`, `track`, `follow` and `locations`.".into());
    }
    let lengths = [&given.track, &given.follow].map(|list| list.as_ref().map(Vec::len));
    let lengths = [lengths[0], lengths[1], given.locations.as_ref().map(Vec::len)];
    for ((name, most), length) in MOST.into_iter().zip(lengths) {
        if length.is_some_and(|length| length == 0 || length > most) {
            return refused(format!("`{name}` has 1 to {most} elements."));
        }
    }
    if let Some(percent) = given.sample {
        let identifier = given.identifier.unwrap_or_default();
        if !(percent > 0.0 && percent <= 100.0) {
            return refused(format!("`percent` is {percent}: it is above 0 and at most 100."));
        }
        if identifier.len() > IDENTIFIER {
            return refused(format!("`identifier` has at most {IDENTIFIER} bytes."));
        }
        // A percent that has no exact double is no place more.
        let length = (percent * (SAMPLE_RING / 100) as f64 - 1e-6).ceil() as u64;
        return Ok(Checked::Ready(Filter::Sample(Arc { start: term_hasher.sample_start(&identifier), length })));
    }
    if given.identifier.is_some() {
        return refused("`identifier` names a sample: it goes with `sample` alone.".into());
    }
    if let Some(phrases) = given.track {
        let mut words = phrases.iter().map(|phrase| check_phrase(term_hasher, phrase)).collect::<Result<Vec<_>, _>>()?;
        words.sort_unstable();
        words.dedup();
        return Ok(Checked::Ready(Filter::Track(words)));
    }
    if let Some(areas) = given.locations {
        if let Some(Area { west, south, east, north }) = areas.iter().find(|area| !is_box(area)) {
            return refused(format!(
                "West {west}, south {south}, east {east}, north {north} of `locations` is no box: latitudes are -90 to 90, \
                 longitudes -180 to 180, south is below north."
            ));
        }
        let mut areas = areas;
        areas.sort_unstable_by_key(Area::bits);
        areas.dedup_by_key(|area| area.bits());
        return Ok(Checked::Ready(Filter::Locations(areas)));
    }
    Ok(Checked::Logins(given.follow.unwrap_or_default()))
}

fn check_phrase(term_hasher: &TermHasher, phrase: &str) -> Result<Vec<u32>, Error> {
    let (bytes, most) = PHRASE;
    let words = if phrase.len() <= bytes { term_hasher.phrase(phrase) } else { Vec::new() };
    if words.is_empty() || words.len() > most {
        return Err(Error::BadUserInput(format!("A phrase of `track` has 1 to {most} words and at most {bytes} bytes.")));
    }
    Ok(words)
}

fn is_box(area: &Area) -> bool {
    let [longitude, latitude] = [-180.0..=180.0, -90.0..=90.0];
    [area.west, area.east].iter().all(|degrees| longitude.contains(degrees))
        && [area.south, area.north].iter().all(|degrees| latitude.contains(degrees))
        && area.south <= area.north
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arc_is_found_at_each_of_its_places_and_nowhere_else() {
        for (start, length) in [
            (0, 1),
            (0, SAMPLE_RING),
            (50, 100),
            (99, 1),
            (9_950, 100),
            (9_999, 2),
            (1, SAMPLE_RING - 1),
            (123, 4_567),
            (77, SAMPLE_RING),
        ] {
            let arc = Arc { start, length };
            let terms: Vec<u64> = Filter::Sample(arc).entries().iter().map(|entry| entry.mark).collect();
            let each_once: BTreeSet<_> = terms.iter().collect();
            assert_eq!(each_once.len(), terms.len(), "{start} {length}");
            let is_found = |place: u64| terms == [EVERYTHING] || (terms.contains(&stretch_of(place)) && arc.holds(place));
            let found = (0..SAMPLE_RING).filter(|place| is_found(*place)).count() as u64;
            let held = (0..SAMPLE_RING).filter(|place| (place + SAMPLE_RING - start) % SAMPLE_RING < length).count() as u64;
            assert_eq!((found, held), (length, length), "{start} {length}");
        }
    }

    #[test]
    fn equal_filters_have_one_digest_and_others_another() {
        let term_hasher = TermHasher::new([7; 16]);
        let track = |phrases: &[&str]| {
            let given = Given { track: Some(phrases.iter().map(ToString::to_string).collect()), ..Given::default() };
            match check(&term_hasher, given) {
                Ok(Checked::Ready(filter)) => filter.digest(),
                _ => panic!("no filter: {phrases:?}"),
            }
        };
        assert_eq!(track(&["rust redis", "tea"]), track(&["TEA", "Redis, Rust", "tea"]));
        let follow = |logins: &[&str], ids: &[u64]| {
            let logins: Vec<String> = logins.iter().map(ToString::to_string).collect();
            Filter::follow(&term_hasher, &logins, &ids.iter().copied().map(UserId).collect::<Vec<_>>()).digest()
        };
        assert_eq!(follow(&["ada", "bob"], &[1, 2]), follow(&["BOB", "ada"], &[2, 1]));
        let all = [
            track(&["a b", "c"]),
            track(&["a", "b c"]),
            track(&["a", "b", "c"]),
            follow(&["ada"], &[1]),
            follow(&["ada"], &[2]),
            follow(&["ada"], &[]),
            Filter::Sample(Arc { start: 1, length: 2 }).digest(),
            Filter::Sample(Arc { start: 2, length: 1 }).digest(),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}
