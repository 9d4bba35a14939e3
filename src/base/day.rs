//! Days of the calendar in UTC.

use super::clock::{DAY, Millis};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::tz::Offset;
use std::fmt::{self, Display, Formatter};

/// A day of the calendar. `Display` is the form of RFC 3339, such as `2026-03-01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

impl Day {
    /// The first day that a birth date can have.
    pub const FIRST_BIRTH: Self = Self(date(1900, 1, 1));

    /// The day of a point in time, in UTC.
    pub fn at(time: Millis) -> Self {
        let timestamp = i64::try_from(time).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        Self(Offset::UTC.to_datetime(timestamp.unwrap_or(Timestamp::UNIX_EPOCH)).date())
    }

    /// The day with this number, counted from 1970.
    pub fn of_number(number: u64) -> Self {
        Self::at(number.saturating_mul(DAY))
    }

    /// Parses the form of RFC 3339; `None` for any other text, and for a day that the calendar does not have.
    pub fn parse(text: &str) -> Option<Self> {
        let is_expected = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
        let has_form = text.len() == 10 && text.bytes().enumerate().all(is_expected);
        has_form.then(|| text.parse().ok().map(Self))?
    }

    /// The age in whole years, on `today`, of somebody who was born on this day. In a common year, an age changes on 1 March for a birth on 29 February.
    pub fn age_on(self, today: Self) -> u32 {
        let (born, today) = (self.0, today.0);
        let is_before_birthday = (today.month(), today.day()) < (born.month(), born.day());
        let years = i32::from(today.year()) - i32::from(born.year()) - i32::from(is_before_birthday);
        u32::try_from(years).unwrap_or_default()
    }
}

impl Display for Day {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap_or_else(|| panic!("{text} is no day"))
    }

    #[test]
    fn only_days_of_the_calendar_in_their_one_form_are_parsed() {
        for text in ["1900-01-01", "2000-02-29", "2026-12-31", "0001-01-01", "9999-12-31"] {
            assert_eq!(day(text).to_string(), text);
        }
        for text in [
            "",
            "2026-3-01",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "20260301",
            "2026-03-01 ",
            "+2026-03-1",
            "2026-03-01T00:00:00Z",
            "２026-3-1",
            "-026-03-01",
        ] {
            assert_eq!(Day::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_point_in_time_is_on_its_day_in_utc() {
        assert_eq!((Day::at(0), Day::at(DAY - 1), Day::at(DAY)), (day("1970-01-01"), day("1970-01-01"), day("1970-01-02")));
        assert_eq!(Day::of_number(20_513), day("2026-03-01"));
        assert_eq!(Day::FIRST_BIRTH, day("1900-01-01"));
    }

    #[test]
    fn an_age_is_in_whole_years() {
        for (born, today, age) in [
            ("1990-06-15", "2026-06-14", 35),
            ("1990-06-15", "2026-06-15", 36),
            ("1990-06-15", "2026-12-31", 36),
            ("1990-06-15", "2027-01-01", 36),
            // Born on 29 February.
            ("2004-02-29", "2026-02-28", 21),
            ("2004-02-29", "2026-03-01", 22),
            ("2004-02-29", "2028-02-28", 23),
            ("2004-02-29", "2028-02-29", 24),
            ("1896-02-29", "1900-02-28", 3),
            ("1896-02-29", "1900-03-01", 4),
            ("2026-03-01", "2026-03-01", 0),
            ("2026-03-02", "2026-03-01", 0),
            ("1900-01-01", "2026-03-01", 126),
        ] {
            assert_eq!(day(born).age_on(day(today)), age, "{born} on {today}");
        }
    }
}
