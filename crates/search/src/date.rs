//! Dates in queries: a year, a month, a day or a moment, all in UTC unless an offset says otherwise.

/// Microseconds since 1970 of the first moment that `text` names; `None` if it names none.
pub(crate) fn first_moment(text: &str) -> Option<i64> {
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map(|part| digits(part, 2));
    let day = parts.next().map(|part| digits(part, 2));
    if parts.next().is_some() {
        return None;
    }
    let whole_day = day.is_some();
    let (month, day) = (month.unwrap_or(Some(1))?, day.unwrap_or(Some(1))?);
    if !(1..=12).contains(&month) || !(1..=days_of_month(year, month)).contains(&day) {
        return None;
    }
    let midnight = days_since_1970(year, month, day) * 86_400_000_000;
    match time {
        None => Some(midnight),
        Some(time) if whole_day => Some(midnight + time_of_day(time)?),
        Some(_) => None,
    }
}

/// Microseconds from midnight UTC of `HH:MM:SS[.fraction](Z|±HH:MM)`.
fn time_of_day(text: &str) -> Option<i64> {
    let zone = text.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = text.split_at(zone);
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) => (clock, microseconds(fraction)?),
        None => (clock, 0),
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) =
        (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    // The sixtieth second exists when one is leapt.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let east = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 60 + minutes) * if zone.starts_with('-') { -1 } else { 1 }
        }
    };
    Some((((hour * 60 + minute - east) * 60) + second) * 1_000_000 + fraction)
}

fn microseconds(fraction: &str) -> Option<i64> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(6);
    Some(digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

fn digits(text: &str, length: usize) -> Option<i64> {
    let right = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    right.then(|| text.bytes().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let leap_days = |year: i64| {
        let before = year - 1;
        before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400)
    };
    let years = (year - 1970) * 365 + leap_days(year) - leap_days(1970);
    let months: i64 = (1..month).map(|month| days_of_month(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn years_months_days_and_moments_begin_where_they_begin() {
        assert_eq!(first_moment("1970"), Some(0));
        assert_eq!(first_moment("2024-03"), Some(1_709_251_200 * SECOND));
        assert_eq!(first_moment("2024-02-29"), Some(1_709_164_800 * SECOND));
        assert_eq!(first_moment("2001-09-09T01:46:40Z"), Some(1_000_000_000 * SECOND));
        assert_eq!(
            first_moment("2001-09-09T10:46:40.5+09:00"),
            Some(1_000_000_000 * SECOND + 500_000)
        );
        assert_eq!(first_moment("1969-12-31t23:59:59z"), Some(-SECOND));
        assert_eq!(first_moment("0000-01-01"), Some(-62_167_219_200 * SECOND));
    }

    #[test]
    fn days_follow_each_other_without_gap() {
        let mut day = first_moment("1899-12-31").unwrap();
        for year in 1900..2105 {
            for month in 1..=12 {
                for date in 1..=days_of_month(year, month) {
                    let next = first_moment(&format!("{year}-{month:02}-{date:02}")).unwrap();
                    assert_eq!(next - day, 86_400 * SECOND);
                    day = next;
                }
            }
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
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
            "2024T00:00:00Z",
            "2024-01-01T",
            "2024-01-01T00:00",
            "2024-01-01T00:00:00",
            "２０２４",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+9",
            "2024-01-01T00:00:00Zz",
        ] {
            assert_eq!(first_moment(text), None, "{text}");
        }
    }
}
