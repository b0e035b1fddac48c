//! Sizes of memory in flags, and what a limit leaves for a join's index.

use anyhow::{Result, bail};

/// Reads `4G`, `512M`, `100K` or a number of bytes.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size such as 512M or 4G");
    let trimmed = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (digits, shift) = match trimmed.char_indices().last().ok_or_else(wrong)? {
        (at, 'K' | 'k') => (&trimmed[..at], 10),
        (at, 'M' | 'm') => (&trimmed[..at], 20),
        (at, 'G' | 'g') => (&trimmed[..at], 30),
        (at, 'T' | 't') => (&trimmed[..at], 40),
        _ => (trimmed, 0),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0).ok_or_else(wrong)
}

/// What remains of the limit for the index when the records are in memory. `tables` is the part of
/// an index that does not get smaller when the work is split.
pub(crate) fn left_for_index(limit: u64, records: u64, tables: u64) -> Result<u64> {
    // A quarter is kept for pairs waiting to be sorted, threads and the program itself.
    let left = (limit - limit / 4).saturating_sub(records);
    let held = records + tables;
    if left < tables + held / 64 + (1 << 20) {
        bail!(
            "the records and their table of tokens take {} MB, so --memory {} MB is too little; \
             {} MB would do",
            held.div_ceil(1 << 20),
            limit >> 20,
            ((held + held / 32 + (2 << 20)) * 4 / 3).div_ceil(1 << 20)
        );
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_units() {
        assert_eq!(parse("4G"), Ok(4 << 30));
        assert_eq!(parse("512MiB"), Ok(512 << 20));
        assert_eq!(parse("100k"), Ok(100 << 10));
        assert_eq!(parse("77"), Ok(77));
        for wrong in ["", "G", "-1", "4X", "1.5G", "0", "99999999999T"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
