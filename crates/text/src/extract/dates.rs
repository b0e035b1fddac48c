//! Dates as pages write them, to ISO 8601.
//!
//! Read: ISO 8601 itself (date, or date and time with or without zone), `2024.3.5`, `2024/03/05`,
//! `20240305`, `2024년 3월 5일`, `2024年3月5日`, and the English forms `5 March 2024`,
//! `March 5, 2024`, `Tue, 05 Mar 2024 10:11:12 GMT`. `03/05/2024` is not: nobody can tell which
//! is the month. Words in any other language are not read either.

/// The date (`2024-03-05`) or date and time (`2024-03-05T10:11:12+09:00`) that `value` starts
/// with, after an optional weekday. `None` when it is not a date of the Gregorian calendar from
/// 1000 to 9999.
pub(crate) fn iso(value: &str) -> Option<String> {
    let value = value.trim();
    if value.len() > 100 {
        return None;
    }
    let mut reader = Reader { rest: value };
    let (year, month, day) = reader.date()?;
    let days = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) || !(1000..=9999).contains(&year) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match reader.time() {
        Some(time) => format!("{date}T{time}"),
        None => date,
    })
}

struct Reader<'value> {
    rest: &'value str,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl Reader<'_> {
    fn skip(&mut self, what: &[char]) {
        self.rest = self.rest.trim_start_matches(what);
    }

    fn number(&mut self, max_digits: usize) -> Option<(u32, usize)> {
        let digits = self.rest.bytes().take(max_digits).take_while(u8::is_ascii_digit).count();
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some((number, digits))
    }

    fn month_name(&mut self) -> Option<u32> {
        let letters = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = self.rest[..letters].to_ascii_lowercase();
        let at = MONTHS.iter().position(|name| word.starts_with(name))?;
        self.rest = &self.rest[letters..];
        Some(at as u32 + 1)
    }

    fn date(&mut self) -> Option<(u32, u32, u32)> {
        // A weekday in front.
        if let Some((word, behind)) = self.rest.split_once([',', ' '])
            && ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
                .iter()
                .any(|day| word.to_ascii_lowercase().starts_with(day))
        {
            self.rest = behind.trim_start();
        }
        if let Some(month) = self.month_name() {
            self.skip(&['.', ' ']);
            let (day, _) = self.number(2)?;
            self.rest = ["st", "nd", "rd", "th"]
                .iter()
                .find_map(|ending| self.rest.strip_prefix(ending))
                .unwrap_or(self.rest);
            self.skip(&[',', ' ']);
            let (year, digits) = self.number(4)?;
            return (digits == 4).then_some((year, month, day));
        }
        let (first, digits) = self.number(4)?;
        if digits <= 2 {
            self.skip(&['-', ' ', '.']);
            let month = self.month_name()?;
            self.skip(&['-', ',', ' ', '.']);
            let (year, digits) = self.number(4)?;
            return (digits == 4).then_some((year, month, first));
        }
        if digits != 4 {
            return None;
        }
        let packed = self.rest.starts_with(|c: char| c.is_ascii_digit());
        let separators = &['-', '/', '.', ' ', '년', '年', '월', '月'];
        self.skip(separators);
        let (month, _) = self.number(2)?;
        if !packed && !self.rest.starts_with(separators) {
            return None;
        }
        self.skip(separators);
        let (day, _) = self.number(2)?;
        self.skip(&['일', '日']);
        Some((first, month, day))
    }

    fn time(&mut self) -> Option<String> {
        let rest = self.rest;
        self.skip(&['T', 't', ' ', '.', ',']);
        if self.rest.len() == rest.len() {
            return None;
        }
        let (hour, digits) = self.number(2)?;
        let minutes = self.rest.strip_prefix(':')?;
        self.rest = minutes;
        let (minute, minute_digits) = self.number(2)?;
        if digits == 0 || minute_digits != 2 || hour > 23 || minute > 59 {
            return None;
        }
        let mut second = 0;
        if let Some(seconds) = self.rest.strip_prefix(':') {
            self.rest = seconds;
            second = self.number(2)?.0.min(59);
            if let Some(fraction) = self.rest.strip_prefix('.') {
                self.rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            }
        }
        let time = format!("{hour:02}:{minute:02}:{second:02}");
        let zone = self.zone().unwrap_or_default();
        Some(time + &zone)
    }

    fn zone(&mut self) -> Option<String> {
        self.skip(&[' ']);
        if self.rest.starts_with(['Z', 'z'])
            || self.rest.starts_with("GMT")
            || self.rest.starts_with("UTC")
        {
            return Some("Z".to_owned());
        }
        let sign = self.rest.chars().next().filter(|c| matches!(c, '+' | '-'))?;
        self.rest = &self.rest[1..];
        let (hour, digits) = self.number(2)?;
        self.skip(&[':']);
        let minute = self.number(2).map_or(0, |(minute, _)| minute);
        (digits == 2 && hour <= 14 && minute <= 59).then(|| format!("{sign}{hour:02}:{minute:02}"))
    }
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn dates_of_every_listed_form_are_read() {
        for (written, meant) in [
            ("2024-03-05", "2024-03-05"),
            ("2024-03-05T10:11:12.345+09:00", "2024-03-05T10:11:12+09:00"),
            ("2024-03-05T10:11:12Z", "2024-03-05T10:11:12Z"),
            ("2024-03-05 10:11", "2024-03-05T10:11:00"),
            ("2024-03-05T10:11:12+0900", "2024-03-05T10:11:12+09:00"),
            ("2024. 3. 5. 14:20", "2024-03-05T14:20:00"),
            ("2024/03/05", "2024-03-05"),
            ("20240305", "2024-03-05"),
            ("2024년 3월 5일", "2024-03-05"),
            ("2024年3月5日", "2024-03-05"),
            ("March 5, 2024", "2024-03-05"),
            ("Mar. 5th, 2024", "2024-03-05"),
            ("5 March 2024", "2024-03-05"),
            ("Tue, 05 Mar 2024 10:11:12 GMT", "2024-03-05T10:11:12Z"),
            ("Tuesday, March 5, 2024", "2024-03-05"),
        ] {
            assert_eq!(iso(written).as_deref(), Some(meant), "{written}");
        }
    }

    #[test]
    fn what_is_not_a_date_is_refused() {
        for written in
            ["", "yesterday", "03/05/2024", "2024-13-01", "2023-02-29", "12", "2024", "1709600000"]
        {
            assert_eq!(iso(written), None, "{written}");
        }
    }
}
