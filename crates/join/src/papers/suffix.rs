//! The suffix filter of PPJoin+: a lower bound of how much two sorted slices differ.
//!
//! Take the middle token of one slice and find its place in the other: tokens below it can
//! only be shared with tokens below it, so the two lower parts differ by at least the
//! difference of their lengths, and likewise the upper parts. Splitting the parts again
//! sharpens the bound.
//!
//! Guarantee: never more than the true number of tokens in exactly one of the two slices.

/// At least this many tokens are in exactly one of the two ascending slices. The work stops
/// early once the bound exceeds `allowed` or after `depth` splits.
#[must_use]
pub(super) fn least_difference(x: &[u32], y: &[u32], allowed: i64, depth: u32) -> i64 {
    let by_length = x.len().abs_diff(y.len()) as i64;
    if depth == 0 || x.is_empty() || y.is_empty() || by_length > allowed {
        return by_length;
    }
    let middle = y.len() / 2;
    let token = y[middle];
    let (below_x, from_x) = x.split_at(x.partition_point(|&other| other < token));
    let found = from_x.first() == Some(&token);
    let above_x = &from_x[usize::from(found)..];
    let (below_y, above_y) = (&y[..middle], &y[middle + 1..]);
    let alone = i64::from(!found);

    let above_at_least = above_x.len().abs_diff(above_y.len()) as i64;
    let below_allowed = allowed - above_at_least - alone;
    let below = least_difference(below_x, below_y, below_allowed, depth - 1);
    if below > below_allowed {
        return below + above_at_least + alone;
    }
    let above = least_difference(above_x, above_y, allowed - below - alone, depth - 1);
    below + above + alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_exceeds_the_true_difference(
            x in btree_set(0_u32..60, 0..40),
            y in btree_set(0_u32..60, 0..40),
            allowed in -5_i64..60,
            depth in 0_u32..5,
        ) {
            let difference = x.symmetric_difference(&y).count() as i64;
            let (x, y) = (Vec::from_iter(x), Vec::from_iter(y));
            prop_assert!(least_difference(&x, &y, allowed, depth) <= difference);
        }
    }
}
