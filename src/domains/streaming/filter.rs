//! Filters of the public stream, of tags and of mentions: their validation, which events they match, and their entries in the index.

use super::grid::cells_of;
use super::model::{BoundingBox, FilterInput};
use super::posting::{IndexEntry, MATCH_ALL, TermKind};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::platform::events::{Event, SAMPLE_RING, TermHasher};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The maximum numbers of phrases, logins and boxes of a filter.
const MAX_LENGTH: [(&str, usize); 3] = [("track", 400), ("follow", 5_000), ("locations", 25)];
/// The maximum number of bytes and of words of a phrase.
const PHRASE: (usize, usize) = (240, 20);
/// The maximum number of bytes of `identifier`.
const IDENTIFIER: usize = 64;

/// The number of positions on the ring of samples that share an index entry.
const RING_SEGMENT: u64 = 500;

/// A validated filter of the public stream, of a tag, or of mentions. Equal filters have equal values: their lists are sorted and have no duplicates.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    /// Statuses whose position on the ring of samples is on this arc.
    Sample(RingArc),
    /// Phrases: statuses that contain all words of at least one of them. The words of each phrase are sorted; no phrase is empty.
    Track(Vec<Vec<u32>>),
    /// Statuses by, or mentioning, accounts: the hashes of the authors, of the mentions of logins that no account has, and of the mentioned accounts.
    Follow(Vec<u64>, Vec<u32>, Vec<u64>),
    /// Statuses posted in any of these boxes.
    Locations(Vec<BoundingBox>),
    /// Statuses with a tag or a mentioned account, by its hash, except those by this author.
    Name(u64, Option<u64>),
}

/// An arc of the ring of samples. Samples with one `identifier` begin at one position, so a smaller sample is part of every larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingArc {
    /// The first position.
    pub(super) start: u64,
    /// The number of positions.
    pub(super) length: u64,
}

impl RingArc {
    /// Whether the arc contains a position.
    pub(super) const fn contains(self, position: u64) -> bool {
        (position + SAMPLE_RING - self.start) % SAMPLE_RING < self.length
    }
}

/// The result of [`check`]: a complete filter, or the logins of `follow`, which must be looked up first.
pub(super) enum ParsedFilter {
    Ready(Filter),
    Logins(Vec<String>),
}

impl Filter {
    /// Whether the filter matches an event.
    pub(super) fn matches(&self, term_hasher: &TermHasher, event: &Event) -> bool {
        let terms = &event.terms;
        match self {
            Self::Sample(arc) => arc.contains(term_hasher.sample_position(event.status.0)),
            Self::Track(phrases) => phrases.iter().any(|phrase| terms.has_all(phrase)),
            Self::Follow(authors, mentions, accounts) => {
                authors.binary_search(&terms.author).is_ok()
                    || terms.has_any_name(accounts)
                    || terms.all_words().any(|word| mentions.binary_search(&word).is_ok())
            }
            Self::Locations(areas) => terms.location.is_some_and(|location| areas.iter().any(|area| area.contains(location))),
            Self::Name(name, excluded) => terms.names.binary_search(name).is_ok() && Some(terms.author) != *excluded,
        }
    }

    /// Whether the filter, which matches an edit, matches only the text before the edit: then this is the status's last event in the stream, unless a
    /// later edit makes it match again. Always `false` for samples and locations, which do not depend on the text, and for tags and mentions: a
    /// deletion has the names of the texts before and after edits, so their streams still receive the deletion.
    pub(super) fn stops_matching(&self, event: &Event) -> bool {
        let terms = &event.terms;
        match self {
            Self::Track(phrases) => !phrases.iter().any(|phrase| terms.has_all_now(phrase)),
            Self::Follow(authors, mentions, accounts) => {
                authors.binary_search(&terms.author).is_err()
                    && !terms.has_any_name_now(accounts)
                    && !terms.words.iter().any(|word| mentions.binary_search(word).is_ok())
            }
            Self::Sample(_) | Self::Locations(_) | Self::Name(..) => false,
        }
    }

    /// Whether a part of the filter (a phrase or a box) matches an event, given that an index entry of this part has matched the event.
    pub(super) fn part_matches(&self, part: u32, term_hasher: &TermHasher, event: &Event) -> bool {
        let part = part as usize;
        match self {
            Self::Sample(_) | Self::Name(..) => self.matches(term_hasher, event),
            Self::Track(phrases) => phrases.get(part).is_some_and(|phrase| event.terms.has_all(phrase)),
            // The index entry is the whole condition.
            Self::Follow(..) => true,
            Self::Locations(areas) => {
                event.terms.location.zip(areas.get(part)).is_some_and(|(location, area)| area.contains(location))
            }
        }
    }

    /// A filter for statuses by any of these accounts, or mentioning them by their current or an earlier login, or mentioning one of `logins`, which no
    /// account has.
    pub(super) fn follow(term_hasher: &TermHasher, logins: &[String], accounts: &[UserId]) -> Self {
        let authors: BTreeSet<u64> = accounts.iter().map(|id| term_hasher.author(*id)).collect();
        let mentions: BTreeSet<u32> = logins.iter().map(|login| term_hasher.mention(login)).collect();
        let names: BTreeSet<u64> = accounts.iter().map(|id| term_hasher.mentioned_account(*id)).collect();
        Self::Follow(authors.into_iter().collect(), mentions.into_iter().collect(), names.into_iter().collect())
    }

    /// The entries of the filter in the index.
    pub(super) fn entries(&self) -> Vec<IndexEntry> {
        let parts = 0_u32..;
        match self {
            Self::Sample(arc) if arc.length >= SAMPLE_RING => {
                vec![IndexEntry { kind: TermKind::Sample, term: MATCH_ALL, part: 0 }]
            }
            Self::Sample(arc) => {
                ring_segments_of(*arc).map(|term| IndexEntry { kind: TermKind::Sample, term, part: 0 }).collect()
            }
            // One word of each phrase is indexed. Which one does not matter, since the frequency of words is unknown.
            Self::Track(phrases) => {
                let last = phrases.iter().zip(parts).filter_map(|(phrase, part)| Some((*phrase.last()?, part)));
                last.map(|(word, part)| IndexEntry { kind: TermKind::Word, term: word.into(), part }).collect()
            }
            Self::Follow(authors, mentions, accounts) => {
                let authors = authors.iter().map(|author| IndexEntry { kind: TermKind::Author, term: *author, part: 0 });
                let mentions = mentions.iter().map(|word| IndexEntry { kind: TermKind::Word, term: (*word).into(), part: 0 });
                let accounts = accounts.iter().map(|name| IndexEntry { kind: TermKind::Name, term: *name, part: 0 });
                authors.chain(mentions).chain(accounts).collect()
            }
            Self::Locations(areas) => {
                let cells = areas.iter().zip(parts).flat_map(|(area, part)| cells_of(area).into_iter().map(move |it| (it, part)));
                cells.map(|(term, part)| IndexEntry { kind: TermKind::Cell, term, part }).collect()
            }
            Self::Name(name, _) => vec![IndexEntry { kind: TermKind::Name, term: *name, part: 0 }],
        }
    }

    /// The digest of the content, by which equal filters are found.
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
            // The hashes of mentioned accounts are not needed: the mentioned accounts are the same accounts as the authors.
            Self::Follow(authors, mentions, _) => {
                [2, authors.len() as u64].into_iter().for_each(&mut number);
                authors.iter().copied().for_each(&mut number);
                mentions.iter().for_each(|word| number((*word).into()));
            }
            Self::Locations(areas) => {
                number(3);
                areas.iter().flat_map(BoundingBox::bits).for_each(number);
            }
            Self::Name(name, excluded) => {
                [4, *name, u64::from(excluded.is_some()), excluded.unwrap_or_default()].into_iter().for_each(number);
            }
        }
        hasher.finalize().into()
    }
}

/// The number of the segment of the ring that contains a position.
pub(super) const fn ring_segment_of(position: u64) -> u64 {
    position / RING_SEGMENT
}

/// The numbers of the ring segments that an arc overlaps, each once.
fn ring_segments_of(arc: RingArc) -> impl Iterator<Item = u64> {
    let all = SAMPLE_RING / RING_SEGMENT;
    let count = (arc.start % RING_SEGMENT + arc.length).div_ceil(RING_SEGMENT).min(all);
    (0..count).map(move |step| (arc.start / RING_SEGMENT + step) % all)
}

/// Validates the filter of a request. Does no I/O: the logins of `follow` are returned, to be looked up.
///
/// # Errors
/// `BAD_USER_INPUT` unless exactly one of the kinds is given, and for values that are out of bounds.
pub(super) fn check(term_hasher: &TermHasher, input: FilterInput) -> Result<ParsedFilter, Error> {
    let refused = |why: String| Err(Error::BadUserInput(why));
    let kinds = [input.sample.is_some(), input.track.is_some(), input.follow.is_some(), input.locations.is_some()];
    if kinds.into_iter().filter(|input| *input).count() != 1 {
        return refused("`filter` takes exactly one of `sample`, `track`, `follow` and `locations`.".into());
    }
    let lengths = [&input.track, &input.follow].map(|list| list.as_ref().map(Vec::len));
    let lengths = [lengths[0], lengths[1], input.locations.as_ref().map(Vec::len)];
    for ((name, most), length) in MAX_LENGTH.into_iter().zip(lengths) {
        if length.is_some_and(|length| length == 0 || length > most) {
            return refused(format!("`{name}` must have 1 to {most} elements."));
        }
    }
    if let Some(percent) = input.sample {
        let identifier = input.identifier.unwrap_or_default();
        if !(percent > 0.0 && percent <= 100.0) {
            return refused(format!("`percent` must be above 0 and at most 100, not {percent}."));
        }
        if identifier.len() > IDENTIFIER {
            return refused(format!("`identifier` must have at most {IDENTIFIER} bytes."));
        }
        // A millionth is subtracted, so that rounding adds no position: most percentages have no exact binary representation.
        let length = (percent * (SAMPLE_RING / 100) as f64 - 1e-6).ceil() as u64;
        return Ok(ParsedFilter::Ready(Filter::Sample(RingArc { start: term_hasher.sample_start(&identifier), length })));
    }
    if input.identifier.is_some() {
        return refused("`identifier` can only be combined with `sample`.".into());
    }
    if let Some(phrases) = input.track {
        let mut words = phrases.iter().map(|phrase| check_phrase(term_hasher, phrase)).collect::<Result<Vec<_>, _>>()?;
        words.sort_unstable();
        words.dedup();
        return Ok(ParsedFilter::Ready(Filter::Track(words)));
    }
    if let Some(areas) = input.locations {
        if let Some(BoundingBox { west, south, east, north }) = areas.iter().find(|area| !is_box(area)) {
            return refused(format!(
                "West {west}, south {south}, east {east}, north {north} of `locations` is not a box: latitudes are -90 to 90, \
                 longitudes -180 to 180, south is below north."
            ));
        }
        let mut areas = areas;
        areas.sort_unstable_by_key(BoundingBox::bits);
        areas.dedup_by_key(|area| area.bits());
        return Ok(ParsedFilter::Ready(Filter::Locations(areas)));
    }
    Ok(ParsedFilter::Logins(input.follow.unwrap_or_default()))
}

fn check_phrase(term_hasher: &TermHasher, phrase: &str) -> Result<Vec<u32>, Error> {
    let (bytes, most) = PHRASE;
    let words = if phrase.len() <= bytes { term_hasher.phrase(phrase) } else { Vec::new() };
    if words.is_empty() || words.len() > most {
        return Err(Error::BadUserInput(format!("A phrase of `track` must have 1 to {most} words and at most {bytes} bytes.")));
    }
    Ok(words)
}

fn is_box(area: &BoundingBox) -> bool {
    let [longitude, latitude] = [-180.0..=180.0, -90.0..=90.0];
    [area.west, area.east].iter().all(|degrees| longitude.contains(degrees))
        && [area.south, area.north].iter().all(|degrees| latitude.contains(degrees))
        && area.south <= area.north
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arc_matches_exactly_the_positions_it_covers() {
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
            let arc = RingArc { start, length };
            let terms: Vec<u64> = Filter::Sample(arc).entries().iter().map(|entry| entry.term).collect();
            let distinct: BTreeSet<_> = terms.iter().collect();
            assert_eq!(distinct.len(), terms.len(), "{start} {length}");
            let is_found =
                |position: u64| terms == [MATCH_ALL] || (terms.contains(&ring_segment_of(position)) && arc.contains(position));
            let found = (0..SAMPLE_RING).filter(|position| is_found(*position)).count() as u64;
            let on_arc =
                (0..SAMPLE_RING).filter(|position| (position + SAMPLE_RING - start) % SAMPLE_RING < length).count() as u64;
            assert_eq!((found, on_arc), (length, length), "{start} {length}");
        }
    }

    #[test]
    fn equal_filters_have_equal_digests_and_others_differ() {
        let term_hasher = TermHasher::new([7; 16]);
        let track = |phrases: &[&str]| {
            let input = FilterInput { track: Some(phrases.iter().map(ToString::to_string).collect()), ..FilterInput::default() };
            match check(&term_hasher, input) {
                Ok(ParsedFilter::Ready(filter)) => filter.digest(),
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
            Filter::Sample(RingArc { start: 1, length: 2 }).digest(),
            Filter::Sample(RingArc { start: 2, length: 1 }).digest(),
        ];
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}
