//! Writing times.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::{FIRST, LAST, SECOND, Timestamp};

/// The time in UTC as ISO 8601 writes it, with as many digits as it needs:
/// `2024-02-29T03:30:15.5Z`. A precision asks for so many digits below the second, six at most, and
/// drops the others: `{time:.0}` writes whole seconds. What lies outside the years 0 to 9999 is
/// written as the nearest moment inside.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = self.as_microseconds().clamp(FIRST, LAST);
        let time = civil_time(moment);
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        let year = time.year().unsigned_abs();
        write_digits(&mut text[0..2], u32::from(year / 100));
        write_digits(&mut text[2..4], u32::from(year % 100));
        for (at, value) in [
            (5, time.month()),
            (8, time.day()),
            (11, time.hour()),
            (14, time.minute()),
            (17, time.second()),
        ] {
            write_digits(&mut text[at..at + 2], u32::from(value.unsigned_abs()));
        }
        let fraction = moment.rem_euclid(SECOND) as u32;
        for (at, value) in
            [(20, fraction / 10_000), (22, fraction / 100 % 100), (24, fraction % 100)]
        {
            write_digits(&mut text[at..at + 2], value);
        }
        let digits =
            f.precision().map_or_else(|| significant_digits(fraction), |digits| digits.min(6));
        let end = if digits == 0 { SECONDS_END } else { SECONDS_END + 1 + digits };
        text[end] = b'Z';
        f.write_str(str::from_utf8(&text[..=end]).expect("digits and marks are ASCII"))
    }
}

/// The date and time of day in UTC. jiff's own moments, which are fast, end a day before the year 9999 does.
fn civil_time(microseconds: i64) -> DateTime {
    match jiff::Timestamp::from_microsecond(microseconds) {
        Ok(moment) => Offset::UTC.to_datetime(moment),
        Err(_) => DateTime::constant(1970, 1, 1, 0, 0, 0, 0)
            .checked_add(SignedDuration::from_micros(microseconds))
            .expect("the years 0 to 9999 are in the calendar"),
    }
}

/// Where a time in whole seconds ends.
const SECONDS_END: usize = "0000-00-00T00:00:00".len();

/// Writes a number below 100 as two digits.
fn write_digits(to: &mut [u8], value: u32) {
    to[0] = b'0' + (value / 10) as u8;
    to[1] = b'0' + (value % 10) as u8;
}

/// How many of six digits stand before the zeros at the end.
fn significant_digits(mut microseconds: u32) -> usize {
    if microseconds == 0 {
        return 0;
    }
    let mut digits = 6;
    while microseconds.is_multiple_of(10) {
        microseconds /= 10;
        digits -= 1;
    }
    digits
}

impl Timestamp {
    /// As short as it can be read: only the date if it is a midnight in UTC, as dates of sweeps are.
    #[must_use]
    pub fn to_short_text(self) -> String {
        let mut text = self.to_string();
        if text.ends_with("T00:00:00Z") {
            text.truncate(text.len() - "T00:00:00Z".len());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_is_written_with_the_digits_it_needs_or_those_asked_for() {
        let time = Timestamp::from_microseconds(1_709_177_415_120_000);
        assert_eq!(time.to_string(), "2024-02-29T03:30:15.12Z");
        assert_eq!(format!("{time:.0}"), "2024-02-29T03:30:15Z");
        assert_eq!(format!("{time:.3}"), "2024-02-29T03:30:15.120Z");
        assert_eq!(format!("{time:.9}"), "2024-02-29T03:30:15.120000Z");
        assert_eq!(time.to_short_text(), "2024-02-29T03:30:15.12Z");
        assert_eq!(Timestamp::EPOCH.to_short_text(), "1970-01-01");
        assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00Z");
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999999Z");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(microseconds in FIRST..=LAST) {
            let time = Timestamp::from_microseconds(microseconds);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            prop_assert_eq!(time.to_short_text().parse(), Ok(time));
            prop_assert_eq!(format!("{time:.0}").parse(), Ok(time.floor_to_second()));
        }

        #[test]
        fn texts_have_the_order_of_their_times(one in FIRST..=LAST, other in FIRST..=LAST) {
            let text = |time| format!("{:.6}", Timestamp::from_microseconds(time));
            prop_assert_eq!(text(one).cmp(&text(other)), one.cmp(&other));
        }
    }
}
