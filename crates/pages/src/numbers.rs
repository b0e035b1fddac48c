//! Numbers as people read them.

/// A number with its thousands apart, by a narrow space that does not break.
///
/// ```
/// assert_eq!(wonbon_pages::thousands(1234567), "1\u{202F}234\u{202F}567");
/// ```
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut apart = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push('\u{202F}');
        }
        apart.push(digit);
    }
    apart
}

/// A number of bytes in the unit that suits it.
///
/// ```
/// assert_eq!(wonbon_pages::bytes(2_300_000), "2.3 MB");
/// ```
#[must_use]
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.2} GB", count as f64 / 1e9),
    }
}
