//! Reading times as people and programs write them.
//!
//! One reading for every way in, so that the same row gets the same time wherever it comes from. A text
//! is ISO 8601 with some tolerance, or else a number; a number counts seconds, milliseconds or
//! microseconds, as its size says.

use std::str::FromStr;

use jiff::civil;

use crate::{NotATime, SECOND, Timestamp};

const HOUR: i64 = 3600;
/// Numbers from here on count milliseconds: as seconds they would lie after the year 5138.
const MILLISECONDS_FROM: u64 = 100_000_000_000;
/// Numbers from here on count microseconds.
const MICROSECONDS_FROM: u64 = 100_000_000_000_000;
/// Numbers of four digits are years.
const YEARS_FROM: f64 = 1000.0;
/// Numbers of five digits count seconds.
const SECONDS_AGAIN_FROM: f64 = 10_000.0;

impl Timestamp {
    /// Reads a text: ISO 8601 as [`parse_iso`](Timestamp::parse_iso) does, or a number as
    /// [`from_number`](Timestamp::from_number) does. Four digits are a year.
    ///
    /// # Errors
    ///
    /// If it names no time, or one outside the years 0 to 9999.
    pub fn parse_text(text: &str) -> Result<Self, NotATime> {
        Self::parse_iso(text).or_else(|_| {
            let text = text.trim();
            match text.parse() {
                Ok(whole) => Self::from_integer(whole),
                Err(_) => Self::from_number(text.parse().map_err(|_| NotATime)?),
            }
        })
    }

    /// Reads ISO 8601: a year, a year and month or a date, parted by `-`, `/` or `.`; then perhaps a
    /// time behind `T` or a space, then perhaps `Z`, `UTC` or an offset. What is left out is its first
    /// moment, in UTC. What lies below a microsecond is dropped.
    ///
    /// # Errors
    ///
    /// If it names no time that exists, or one outside the years 0 to 9999.
    pub fn parse_iso(text: &str) -> Result<Self, NotATime> {
        read_iso(text.trim()).ok_or(NotATime).and_then(Self::within_four_digits)
    }

    /// Reads ISO 8601 in the four forms that leave nothing to guess: `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, and
    /// `YYYY-MM-DDThh:mm:ss`, perhaps with a fraction, with `Z` or `±hh:mm` behind it. For queries and
    /// headers, where a text of another form is more likely a mistake than a date.
    ///
    /// # Errors
    ///
    /// If it has another form, or names no time that exists.
    pub fn parse_strict(text: &str) -> Result<Self, NotATime> {
        let text = text.trim();
        if has_strict_form(text) { Self::parse_iso(text) } else { Err(NotATime) }
    }

    /// Reads a number: microseconds since 1970 from 10^14 on, milliseconds from 10^11 on, otherwise
    /// seconds. Four digits are a year, because CSV cannot tell the number from the text.
    ///
    /// # Errors
    ///
    /// If it is not finite, lies outside the years 0 to 9999, or is no year and no moment that anybody
    /// means: a number with a fraction from 1000 to 9999.
    pub fn from_number(number: f64) -> Result<Self, NotATime> {
        if (YEARS_FROM..SECONDS_AGAIN_FROM).contains(&number) {
            let year = if number.fract() == 0.0 { number as i64 } else { return Err(NotATime) };
            return Self::from_integer(year);
        }
        let size = number.abs();
        let microseconds = if size >= MICROSECONDS_FROM as f64 {
            number
        } else if size >= MILLISECONDS_FROM as f64 {
            number * 1e3
        } else {
            number * 1e6
        };
        if !microseconds.is_finite() {
            return Err(NotATime);
        }
        Self::within_four_digits(microseconds.round() as i128)
    }

    /// Reads a whole number as [`from_number`](Timestamp::from_number) does, exactly.
    ///
    /// # Errors
    ///
    /// If it lies outside the years 0 to 9999.
    pub fn from_integer(number: i64) -> Result<Self, NotATime> {
        if (YEARS_FROM as i64..SECONDS_AGAIN_FROM as i64).contains(&number) {
            return Self::parse_iso(&number.to_string());
        }
        let factor = match number.unsigned_abs() {
            MICROSECONDS_FROM.. => 1,
            MILLISECONDS_FROM.. => 1000,
            _ => SECOND,
        };
        Self::within_four_digits(i128::from(number) * i128::from(factor))
    }
}

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        Self::parse_text(text)
    }
}

/// Whether a text has one of the forms of [`Timestamp::parse_strict`]; its numbers are not looked at.
fn has_strict_form(text: &str) -> bool {
    let fits = |text: &str, form: &str| {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                wanted => byte == wanted,
            })
    };
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return ["0000", "0000-00", "0000-00-00"].iter().any(|form| fits(text, form));
    };
    let Some(zone) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (clock, zone) = time.split_at(zone);
    let clock = clock.split_once('.').map_or(clock, |(clock, _)| clock);
    fits(date, "0000-00-00")
        && fits(clock, "00:00:00")
        && !clock.starts_with("24")
        && (matches!(zone, "Z" | "z") || fits(&zone[1..], "00:00"))
}

/// Microseconds since 1970.
fn read_iso(text: &str) -> Option<i128> {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], text[at + 1..].trim()),
        None => (text, ""),
    };
    let mut parts = date.split(['-', '/', '.']);
    let year = parts.next().filter(|part| part.len() == 4).and_then(whole)?;
    let month = parts.next().map_or(Some(1), two_digits)?;
    let day = parts.next().map_or(Some(1), two_digits)?;
    if parts.next().is_some() {
        return None;
    }
    let date = civil::Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    );
    let midnight = date.ok()?.duration_since(civil::Date::constant(1970, 1, 1)).as_micros();
    let of_day = if time.is_empty() { 0 } else { read_time_of_day(time)? };
    Some(midnight + i128::from(of_day))
}

/// Microseconds from midnight UTC.
fn read_time_of_day(text: &str) -> Option<i64> {
    let end = text.find(['Z', 'z', '+', '-', ' ', 'U']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(end);
    let east = read_offset(zone.trim())?;
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, read_fraction(fraction)?),
        None => (clock, 0),
    };
    let mut parts = clock.split(':');
    let hours = two_digits(parts.next()?)?;
    let minutes = parts.next().map_or(Some(0), two_digits)?;
    let seconds = parts.next();
    let has_seconds = seconds.is_some();
    let seconds = seconds.map_or(Some(0), two_digits)?;
    // The sixtieth second is a leap second, which a count since 1970 gives to the next minute.
    let exists = parts.next().is_none()
        && (has_seconds || !text[..end].contains('.'))
        && minutes < 60
        && seconds <= 60
        && (hours < 24 || (hours, minutes, seconds, fraction) == (24, 0, 0, 0));
    exists.then_some((hours * HOUR + minutes * 60 + seconds - east) * SECOND + fraction)
}

/// Seconds that a zone lies east of Greenwich.
fn read_offset(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "z" | "UTC") {
        return Some(0);
    }
    let digits = zone.strip_prefix(['+', '-'])?;
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    let east = hours * HOUR + minutes * 60;
    (hours < 24 && minutes < 60).then_some(if zone.starts_with('-') { -east } else { east })
}

/// Microseconds of the digits behind the point.
fn read_fraction(digits: &str) -> Option<i64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let six = digits.bytes().chain(std::iter::repeat(b'0')).take(6);
    Some(six.fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

fn two_digits(text: &str) -> Option<i64> {
    if text.len() <= 2 { whole(text) } else { None }
}

fn whole(digits: &str) -> Option<i64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn iso(text: &str) -> Option<i64> {
        Timestamp::parse_iso(text).ok().map(Timestamp::as_microseconds)
    }

    #[test]
    fn times_are_read_as_iso_writes_them() {
        for (text, seconds) in [
            ("1970", 0),
            ("1969", -31_536_000),
            ("1970-01-02T00:00:01Z", 86_401),
            ("2000-03-01", 951_868_800),
            ("2024-03", 1_709_251_200),
            ("2024-02-29", 1_709_164_800),
            ("2024-2-9", 1_707_436_800),
            ("2004.05.06", 1_083_801_600),
            ("2004/05/06", 1_083_801_600),
            (" 2004/05/06 09 ", 1_083_834_000),
            ("2024-02-29 12:30", 1_709_209_800),
            ("2024-02-29T12:30:15", 1_709_209_815),
            ("2024-02-29T12:30:15 UTC", 1_709_209_815),
            ("2024-02-29T12:30:15UTC", 1_709_209_815),
            ("2024-02-29t12:30:15z", 1_709_209_815),
            ("2024-02-29 12:30:15 +0900", 1_709_177_415),
            ("2024-02-29T12:30:15+9", 1_709_177_415),
            ("2024-02-29T12:30:15-05:30", 1_709_229_615),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("2024-01-01T24:00:00Z", 1_704_153_600),
            ("0000-01-01", -62_167_219_200),
            ("9999-12-31", 253_402_214_400),
        ] {
            assert_eq!(iso(text), Some(seconds * SECOND), "{text}");
        }
        assert_eq!(iso("1970-01-01T00:00:00.5Z"), Some(500_000));
        assert_eq!(iso("1970-01-01T00:00:00.000001Z"), Some(1));
        assert_eq!(iso("1969-12-31T23:59:59.9999999999Z"), Some(-1));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "yesterday",
            "2024-",
            "2024-13",
            "2024-00-01",
            "2024-02-31",
            "2023-02-29",
            "1900-02-29",
            "2024-04-31T09:00:00Z",
            "2024-01-01-01",
            "2024-01-001",
            "2024-01-01T1x:00",
            "2024-01-01T24:00:01Z",
            "2024-01-01T25:00:00Z",
            "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:61Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00.5Z",
            "2024-01-01T00:00:00Zz",
            "2024-01-01T00:00:00+24:00",
            "2024-01-01T00:00:00+9:0:0",
            "2024-01-01T00:00:00+é9",
            "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "２０２４",
            "inf",
            "NaN",
            "1e300",
        ] {
            assert_eq!(Timestamp::parse_text(text), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn strict_dates_are_a_year_a_month_a_day_or_a_moment_with_its_zone() {
        for (text, seconds) in [
            ("1970", 0),
            ("2024-03", 1_709_251_200),
            ("2024-02-29", 1_709_164_800),
            (" 2001-09-09T01:46:40Z ", 1_000_000_000),
            ("2001-09-09T10:46:40+09:00", 1_000_000_000),
            ("1969-12-31t23:59:59z", -1),
            ("0000-01-01", -62_167_219_200),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
        ] {
            assert_eq!(Timestamp::parse_strict(text), Ok(Timestamp::from_seconds(seconds)));
        }
        let half = Timestamp::parse_strict("2001-09-09T10:46:40.5+09:00");
        assert_eq!(half, Ok(Timestamp::from_milliseconds(1_000_000_000_500)));
        for text in [
            "",
            "24",
            "2024-",
            "2024-1",
            "2024-13",
            "2023-02-29",
            "2024-01-01-01",
            "yesterday",
            "-2024",
            "2024.05.01",
            "2024-01-01 09:00:00Z",
            "2024T00:00:00Z",
            "2024-01-01T",
            "2024-01-01T00:00",
            "2024-01-01T00:00Z",
            "2024-01-01T00:00:00",
            "２０２４",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+9",
            "2024-01-01T00:00:00+0900",
            "2024-01-01T00:00:00Zz",
            "2024-01-01T00:00:00é",
        ] {
            assert_eq!(Timestamp::parse_strict(text), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn numbers_count_what_their_size_says() {
        let second = Timestamp::from_seconds(1_700_000_000);
        for number in [1.7e9, 1.7e12, 1.7e15] {
            assert_eq!(Timestamp::from_number(number), Ok(second));
            assert_eq!(Timestamp::from_integer(number as i64), Ok(second));
            assert_eq!(Timestamp::parse_text(&format!(" {number} ")), Ok(second));
        }
        assert_eq!(
            Timestamp::from_number(99_999_999_999.0).unwrap().to_string(),
            "5138-11-16T09:46:39Z"
        );
        assert_eq!(Timestamp::from_number(1e11).unwrap().to_string(), "1973-03-03T09:46:40Z");
        assert_eq!(Timestamp::from_number(-1.5), Ok(Timestamp::from_milliseconds(-1500)));
        assert_eq!(
            Timestamp::parse_text("1700000000.123456"),
            Ok(Timestamp::from_microseconds(1_700_000_000_123_456))
        );
        assert_eq!(Timestamp::parse_text("1.7e9"), Ok(second));
        assert_eq!(Timestamp::parse_text("12345678"), Ok(Timestamp::from_seconds(12_345_678)));
        assert_eq!(Timestamp::parse_text("2024"), Timestamp::parse_text("2024-01-01"));
        for wrong in [f64::NAN, f64::INFINITY, 1e18, -1e17] {
            assert_eq!(Timestamp::from_number(wrong), Err(NotATime));
        }
    }

    #[test]
    fn four_digits_are_a_year_however_they_are_written() {
        let year = Timestamp::parse_iso("2024-01-01");
        assert_eq!(Timestamp::from_integer(2024), year);
        assert_eq!(Timestamp::from_number(2024.0), year);
        for text in ["2024", " 2024 ", "2024.0", "2024.00", "+2024", "2.024e3"] {
            assert_eq!(Timestamp::parse_text(text), year, "{text}");
        }
        assert_eq!(Timestamp::parse_text("2024.5"), Timestamp::parse_iso("2024-05"));
        for text in ["2024.13", "2024.125", "1999.50"] {
            assert_eq!(Timestamp::parse_text(text), Err(NotATime), "{text}");
        }
        assert_eq!(Timestamp::from_number(2024.5), Err(NotATime));
        for (number, seconds) in [(999, 999), (10_000, 10_000), (-2024, -2024)] {
            let second = Ok(Timestamp::from_seconds(seconds));
            assert_eq!(Timestamp::from_integer(number), second);
            assert_eq!(Timestamp::from_number(number as f64), second);
        }
    }

    #[test]
    fn days_follow_each_other_without_gap() {
        let mut before = Timestamp::parse_iso("1899-12-31").unwrap();
        for year in 1900..2105 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let Ok(next) = Timestamp::parse_iso(&format!("{year}-{month:02}-{day:02}"))
                    else {
                        assert!(day > 28);
                        continue;
                    };
                    assert_eq!(next.since(before).as_secs(), 86_400);
                    before = next;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[0-9TtZz+\\-:./ UTCé]{0,30}") {
            if let Ok(time) = Timestamp::parse_strict(&text) {
                prop_assert_eq!(Timestamp::parse_iso(&text), Ok(time));
            }
            if let Ok(time) = Timestamp::parse_text(&text) {
                prop_assert_eq!(time.to_string().parse(), Ok(time));
            }
        }

        #[test]
        fn numbers_and_texts_of_numbers_are_one(number in any::<i64>()) {
            prop_assert_eq!(Timestamp::from_integer(number), Timestamp::parse_text(&format!("{number:06}")));
        }
    }
}
