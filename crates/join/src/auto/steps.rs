//! A quantity that grows along a range of numbers, at a constant rate between few points: how
//! much comes before a number, and before which number comes so much?
//!
//! Records of one size cost about the same, so costs along the records are of this kind.

/// A growing quantity.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    /// Where each step begins, what came before it, and how much each number of it adds.
    steps: Vec<(u32, f64, f64)>,
    end: u32,
    total: f64,
}

impl Steps {
    /// Nothing yet; numbers begin at `start`.
    pub(super) fn from(start: u32) -> Self {
        Self { steps: Vec::new(), end: start, total: 0.0 }
    }

    /// Goes on until `end`, `each` a number.
    pub(super) fn extend(&mut self, end: u32, each: f64) {
        if end > self.end {
            self.steps.push((self.end, self.total, each));
            self.total += f64::from(end - self.end) * each;
            self.end = end;
        }
    }

    /// How much comes before `at`.
    pub(super) fn before(&self, at: u32) -> f64 {
        let at = at.min(self.end);
        match self.steps.partition_point(|&(start, ..)| start <= at).checked_sub(1) {
            None => 0.0,
            Some(step) => {
                let (start, before, each) = self.steps[step];
                before + f64::from(at - start) * each
            }
        }
    }

    /// The last number before which at most so much comes.
    pub(super) fn find(&self, much: f64) -> u32 {
        match self.steps.partition_point(|&(_, before, _)| before <= much).checked_sub(1) {
            None => self.steps.first().map_or(self.end, |&(start, ..)| start),
            Some(step) => {
                let (start, before, each) = self.steps[step];
                let end = self.steps.get(step + 1).map_or(self.end, |&(start, ..)| start);
                let ahead = (much - before) / each;
                // Also true when nothing is added and the quotient is no number.
                if ahead < f64::from(end - start) { start + ahead as u32 } else { end }
            }
        }
    }

    /// All of it.
    pub(super) fn total(&self) -> f64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_found_has_as_much_before_it(
            lengths in prop::collection::vec((1_u32..50, 1_u32..9), 1..20),
            start in 0_u32..100,
            part in 0.0_f64..1.0,
        ) {
            let mut steps = Steps::from(start);
            let mut slow = Vec::new();
            for (length, each) in lengths {
                let end = start + slow.len() as u32 + length;
                steps.extend(end, f64::from(each));
                slow.extend((0..length).map(|_| f64::from(each)));
            }
            let sum: f64 = slow.iter().sum();
            prop_assert!((steps.total() - sum).abs() < 1e-6);
            let much = part * sum;
            let found = steps.find(much);
            prop_assert!(steps.before(found) <= much + 1e-6);
            prop_assert!(steps.before(found + 1) >= much - 1e-6);
            let at = (found - start) as usize;
            prop_assert!((steps.before(found) - slow[..at].iter().sum::<f64>()).abs() < 1e-6);
        }
    }

    #[test]
    fn numbers_that_add_nothing_are_no_trouble() {
        let mut steps = Steps::from(3);
        assert_eq!(steps.find(1.0), 3);
        steps.extend(5, 0.0);
        assert_eq!((steps.find(0.0), steps.before(4)), (5, 0.0));
        steps.extend(7, 2.0);
        assert_eq!((steps.find(2.0), steps.find(100.0), steps.before(100)), (6, 7, 4.0));
    }
}
