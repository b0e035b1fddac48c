//! The probability with which copies are found: the curve of DESIGN.md.

/// The probability that two sets of the given resemblance agree in at least `least_agreeing`
/// of `groups` features of `group_size` min-values each.
///
/// One feature agrees when its min-values all do, with probability `p = resemblance^group_size`;
/// the features are independent, so the answer is the upper tail of a binomial distribution.
/// A resemblance outside 0 to 1 is taken as the nearer end.
///
/// ```
/// use wonbon_sketch::copy_probability;
/// assert!((copy_probability(0.95, 6, 14, 2) - 0.879).abs() < 5e-4);
/// ```
#[must_use]
pub fn copy_probability(
    resemblance: f64,
    groups: usize,
    group_size: usize,
    least_agreeing: usize,
) -> f64 {
    if least_agreeing == 0 {
        return 1.0;
    }
    let agree = resemblance.clamp(0.0, 1.0).powf(group_size as f64);
    if agree >= 1.0 {
        return if least_agreeing <= groups { 1.0 } else { 0.0 };
    }
    // Terms C(groups, i) p^i (1 - p)^(groups - i) one from another, from i = 0 upwards.
    let odds = agree / (1.0 - agree);
    let mut term = (1.0 - agree).powf(groups as f64);
    let mut sum = 0.0;
    for i in 0..=groups {
        if i >= least_agreeing {
            sum += term;
        }
        term *= odds * (groups - i) as f64 / (i + 1) as f64;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_six_by_fourteen_is_the_table_of_the_design() {
        let table = [(0.77, 0.0093, 4), (0.80, 0.026, 3), (0.90, 0.415, 3), (0.95, 0.879, 3)];
        for (resemblance, expected, digits) in table.into_iter().chain([(0.975, 0.989, 3)]) {
            let scale = 10f64.powi(digits);
            let rounded = (copy_probability(resemblance, 6, 14, 2) * scale).round() / scale;
            assert_eq!(rounded, expected, "at {resemblance}");
        }
    }

    #[test]
    fn it_is_the_sum_over_all_outcomes() {
        // Six features agree or not: add up the 64 cases.
        for resemblance in [0.0, 0.3, 0.7, 0.9, 0.99, 1.0_f64] {
            let p = resemblance.powi(3);
            for least in 0..=7 {
                let mut expected = 0.0;
                for outcome in 0u32..64 {
                    let agreeing = outcome.count_ones();
                    if agreeing >= least {
                        let (yes, no) = (agreeing as i32, 6 - agreeing as i32);
                        expected += p.powi(yes) * (1.0 - p).powi(no);
                    }
                }
                let got = copy_probability(resemblance, 6, 3, least as usize);
                assert!((got - expected).abs() < 1e-12, "{resemblance} {least}: {got} {expected}");
            }
        }
    }
}
