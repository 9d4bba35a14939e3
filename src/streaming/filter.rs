//! Filters of the public stream: checked, and made into what can be asked of marks.

use super::model::{Area, Given};
use crate::error::Error;
use crate::events::{Event, Marker, RING};
use crate::ids::UserId;
use std::collections::BTreeSet;

/// The most phrases, logins and boxes of a filter.
const MOST: [(&str, usize); 3] = [("track", 400), ("follow", 5_000), ("locations", 25)];
/// The longest phrase, in bytes; and how many words it has at most.
const PHRASE: (usize, usize) = (240, 20);
/// The longest name of a sample, in bytes.
const IDENTIFIER: usize = 64;

/// What is wanted of the public stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    /// An arc of the ring.
    Sample(Arc),
    /// All words of any one phrase; each phrase sorted, none empty and none twice.
    Track(Vec<Vec<u32>>),
    /// Marks of authors, and of mentions.
    Follow(BTreeSet<u64>, BTreeSet<u32>),
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
        (place + RING - self.start) % RING < self.length
    }
}

/// A filter whose logins are not looked up yet.
pub(super) enum Checked {
    Ready(Filter),
    Logins(Vec<String>),
}

impl Filter {
    /// Whether it wants a status with these marks.
    pub(super) fn wants(&self, marker: &Marker, event: &Event) -> bool {
        let marks = &event.marks;
        match self {
            Self::Sample(arc) => arc.holds(marker.place_on_ring(event.status.0)),
            Self::Track(phrases) => phrases.iter().any(|phrase| marks.has_all(phrase)),
            Self::Follow(authors, mentions) => {
                authors.contains(&marks.author) || marks.words.iter().any(|word| mentions.contains(word))
            }
            Self::Locations(areas) => marks.place.is_some_and(|place| areas.iter().any(|area| area.holds(place))),
        }
    }

    /// Whoever is posted by, or mentions, any of these: logins, and the accounts that have them.
    pub(super) fn follow(marker: &Marker, logins: &[String], accounts: &[UserId]) -> Self {
        let authors = accounts.iter().map(|id| marker.author(*id)).collect();
        Self::Follow(authors, logins.iter().map(|login| marker.mention(login)).collect())
    }
}

/// Checks a filter.
///
/// # Errors
/// `BAD_USER_INPUT`: none or several kinds, or one that is out of bounds.
pub(super) fn check(marker: &Marker, given: Given) -> Result<Checked, Error> {
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
        let length = (percent * (RING / 100) as f64 - 1e-6).ceil() as u64;
        return Ok(Checked::Ready(Filter::Sample(Arc { start: marker.start_on_ring(&identifier), length })));
    }
    if given.identifier.is_some() {
        return refused("`identifier` names a sample: it goes with `sample` alone.".into());
    }
    if let Some(phrases) = given.track {
        let mut words = phrases.iter().map(|phrase| check_phrase(marker, phrase)).collect::<Result<Vec<_>, _>>()?;
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
        return Ok(Checked::Ready(Filter::Locations(areas)));
    }
    Ok(Checked::Logins(given.follow.unwrap_or_default()))
}

fn check_phrase(marker: &Marker, phrase: &str) -> Result<Vec<u32>, Error> {
    let (bytes, most) = PHRASE;
    let words = if phrase.len() <= bytes { marker.phrase(phrase) } else { Vec::new() };
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
