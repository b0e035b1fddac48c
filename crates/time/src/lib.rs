//! Points in time: [`Timestamp`], the only calendar of the workspace.
//!
//! A timestamp is a count of microseconds since 1970-01-01T00:00:00Z, so it is small, exact and ordered,
//! and a database column holds it as an integer. The calendar itself (which days exist, how many days
//! lie between two dates) is jiff's; time zone rules are not needed and not compiled in, because a
//! text either names its offset or means UTC.
//!
//! ```
//! use wonbon_time::Timestamp;
//!
//! let time: Timestamp = "2024-02-29T12:30:15.5+09:00".parse()?;
//! assert_eq!(time.to_string(), "2024-02-29T03:30:15.5Z");
//! assert_eq!(Timestamp::from_number(1.7e9)?, Timestamp::from_number(1.7e12)?);
//! assert!("2024-02-31".parse::<Timestamp>().is_err());
//! # Ok::<(), wonbon_time::NotATime>(())
//! ```
//!
//! Cost: 100 nanoseconds or so to read or to write one.
//!
//! Guarantees: what is read is written so that it is read again exactly; texts are compared as the
//! times that they name. Also here: [`Dates`], the choice of which date decides who is the original. Not here: time zones by name, durations in words, HTTP dates.

mod dates;
mod format;
mod parse;
mod serialize;

use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use dates::{Dates, NotDates};
pub use serialize::microseconds;

/// A point in time, to the microsecond.
///
/// What [`parse_text`](Timestamp::parse_text) and [`from_number`](Timestamp::from_number) give lies in
/// the years 0 to 9999, which four digits can write. [`from_microseconds`](Timestamp::from_microseconds)
/// takes any number, so that what a database holds comes back as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// A value that names no point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a time: write ISO 8601 such as 2024-05-01 or 2024-05-01T09:00:00Z, or a number of seconds, milliseconds or microseconds since 1970"
)]
pub struct NotATime;

const SECOND: i64 = 1_000_000;
/// The first and the last moment of the years that four digits can write.
const FIRST: i64 = -62_167_219_200 * SECOND;
const LAST: i64 = 253_402_300_800 * SECOND - 1;

impl Timestamp {
    /// The beginning of 1970.
    pub const EPOCH: Timestamp = Timestamp(0);
    /// Before everything.
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    /// After everything.
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// The present, by the clock of the system.
    #[must_use]
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// So many microseconds after the beginning of 1970.
    #[must_use]
    pub const fn from_microseconds(microseconds: i64) -> Self {
        Timestamp(microseconds)
    }

    /// So many milliseconds after the beginning of 1970.
    #[must_use]
    pub const fn from_milliseconds(milliseconds: i64) -> Self {
        Timestamp(milliseconds.saturating_mul(1000))
    }

    /// So many seconds after the beginning of 1970.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Timestamp(seconds.saturating_mul(SECOND))
    }

    /// Microseconds since the beginning of 1970.
    #[must_use]
    pub const fn as_microseconds(self) -> i64 {
        self.0
    }

    /// Seconds since the beginning of 1970, as far as a floating point number holds them.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }

    /// How much later it is than another time; nothing if it is earlier.
    #[must_use]
    pub fn since(self, earlier: Timestamp) -> Duration {
        let apart = i128::from(self.0) - i128::from(earlier.0);
        Duration::from_micros(u64::try_from(apart).unwrap_or(0))
    }

    /// The last whole second that is not after it.
    #[must_use]
    pub fn floor_to_second(self) -> Self {
        Timestamp(self.0.saturating_sub(self.0.rem_euclid(SECOND)))
    }

    /// The last whole millisecond that is not after it: what a WARC-Date can say.
    #[must_use]
    pub fn floor_to_millisecond(self) -> Self {
        Timestamp(self.0.saturating_sub(self.0.rem_euclid(1_000)))
    }

    fn within_four_digits(microseconds: i128) -> Result<Self, NotATime> {
        let microseconds = i64::try_from(microseconds).map_err(|_| NotATime)?;
        if (FIRST..=LAST).contains(&microseconds) {
            Ok(Timestamp(microseconds))
        } else {
            Err(NotATime)
        }
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let microseconds = |apart: Duration| i64::try_from(apart.as_micros()).unwrap_or(i64::MAX);
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp(microseconds(since)),
            Err(before) => Timestamp(-microseconds(before.duration())),
        }
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    /// The nearest timestamp there is, if the sum is none.
    fn add(self, later: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(later.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;

    /// The nearest timestamp there is, if the difference is none.
    fn sub(self, earlier: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(earlier.as_micros()).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_move_a_time_and_lie_between_two() {
        let (time, hour) = (Timestamp::from_seconds(1_700_000_000), Duration::from_secs(3600));
        assert_eq!((time + hour).since(time), hour);
        assert_eq!(time.since(time + hour), Duration::ZERO);
        assert_eq!(time + hour - hour, time);
        assert_eq!(Timestamp::MAX + hour, Timestamp::MAX);
        assert_eq!(Timestamp::MIN - Duration::MAX, Timestamp::MIN);
        assert_eq!(Timestamp::MAX.since(Timestamp::MIN), Duration::from_micros(u64::MAX));
    }

    #[test]
    fn a_clock_before_1970_is_read_too() {
        let early = UNIX_EPOCH - Duration::from_millis(1500);
        assert_eq!(Timestamp::from(early), Timestamp::from_milliseconds(-1500));
        assert_eq!(Timestamp::from(early).floor_to_second(), Timestamp::from_seconds(-2));
        assert!(Timestamp::now() > Timestamp::from_seconds(1_700_000_000));
    }
}
