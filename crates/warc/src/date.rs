//! Moments as WARC writes them.

use std::fmt;

/// A moment in UTC, to the millisecond. WARC 1.1 allows fractions of a second; a whole second is
/// written as WARC 1.0 does.
///
/// ```
/// use wonbon_warc::Date;
/// let date: Date = "2026-11-16T06:20:00.125Z".parse()?;
/// assert_eq!(date.unix_milliseconds(), 1_794_810_000_125);
/// assert_eq!(Date::from_unix_milliseconds(0).to_string(), "1970-01-01T00:00:00Z");
/// # Ok::<(), wonbon_warc::NotADate>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i64);

/// A text that is no date of WARC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date like 2026-11-16T06:20:00Z")]
pub struct NotADate;

const DAY: i64 = 86_400_000;
/// The years that have four digits.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_402_300_799_999;

impl Date {
    /// The moment so many milliseconds after the beginning of 1970, moved into the years 0 to 9999.
    #[must_use]
    pub fn from_unix_milliseconds(milliseconds: i64) -> Self {
        Date(milliseconds.clamp(FIRST, LAST))
    }

    /// Milliseconds since the beginning of 1970.
    #[must_use]
    pub fn unix_milliseconds(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        let of_day = self.0.rem_euclid(DAY);
        let (seconds, milliseconds) = (of_day / 1000, of_day % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if milliseconds > 0 {
            write!(f, ".{milliseconds:03}")?;
        }
        f.write_str("Z")
    }
}

impl std::str::FromStr for Date {
    type Err = NotADate;

    /// Reads `YYYY-MM-DDThh:mm:ss`, a fraction of up to nine digits, and `Z`. What lies below a
    /// millisecond is dropped.
    fn from_str(text: &str) -> Result<Self, NotADate> {
        read(text.trim()).ok_or(NotADate)
    }
}

fn read(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    };
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|&(at, byte)| bytes.get(at) != Some(&byte)) {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let fraction = text.get(19..)?.strip_suffix('Z')?;
    let milliseconds = match fraction.strip_prefix('.') {
        None if fraction.is_empty() => 0,
        Some(digits)
            if (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("{digits:0<3}")[..3].parse().ok()?
        }
        _ => return None,
    };
    let days = days(year, month, day);
    if civil(days) != (year, month, day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = hour * 3600 + minute * 60 + second;
    Some(Date::from_unix_milliseconds(days * DAY + seconds * 1000 + milliseconds))
}

/// Days since 1970-01-01 in the Gregorian calendar; years are counted from March, so that the leap
/// day is the last of a year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The other way round.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day)
}
