//! The last step of every join: how many tokens do two sorted records really share?
//!
//! [`overlap_at_least`] is the readable merge with early termination: it stops as soon as the
//! tokens left over on either side cannot reach what is required. It is the oracle of the
//! vector kernel in [`crate::vector`] and what the paper's algorithms call (`VerifyZip`).
//!
//! Cost: at most `x + y` steps; with early termination about as many steps as tokens may be
//! missing, for pairs that do not reach the bound.

/// Shared tokens of two ascending records, if at least `required`.
///
/// `[1, 3, 5]` and `[2, 3, 5]` share 2 tokens: `Some(2)` if 2 are required, `None` if 3 are.
#[must_use]
pub(crate) fn overlap_at_least(x: &[u32], y: &[u32], required: u32) -> Option<u32> {
    overlap_from(0, x, y, required)
}

/// As [`overlap_at_least`] for records of which `already` shared tokens were counted: `x` and
/// `y` are what is left of them.
#[must_use]
pub(crate) fn overlap_from(already: u32, x: &[u32], y: &[u32], required: u32) -> Option<u32> {
    let required = required as usize;
    let mut overlap = already as usize;
    // How many tokens of each may still be skipped before the bound is out of reach.
    let mut skips_x = (overlap + x.len()).checked_sub(required)?;
    let mut skips_y = (overlap + y.len()).checked_sub(required)?;
    let (mut i, mut j) = (0, 0);
    while i < x.len() && j < y.len() {
        if x[i] == y[j] {
            overlap += 1;
            i += 1;
            j += 1;
        } else if x[i] < y[j] {
            skips_x = skips_x.checked_sub(1)?;
            i += 1;
        } else {
            skips_y = skips_y.checked_sub(1)?;
            j += 1;
        }
    }
    (overlap >= required).then_some(overlap as u32)
}
