//! Random numbers that are the same everywhere: a counter through a mixing bijection.
//!
//! The state advances by an odd constant and each value is the state mixed by two rounds of shift
//! and multiplication (the construction known as SplitMix64). Streams are told apart by hashing
//! what they are for into their first state. Good enough for made-up texts, no good for secrets.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    /// The stream for one purpose and one number under a seed.
    #[must_use]
    pub fn new(seed: u64, purpose: u64, number: u64) -> Self {
        let state = [seed, purpose, number]
            .into_iter()
            .fold(0, |state: u64, part| mix(state.wrapping_add(STEP) ^ mix(part)));
        Random { state }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number below `bound`, which is not 0; off from uniform by less than `bound / 2^64`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 up to but not 1, in steps of 2^-53: exact, so the same on every machine.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_bound_reach_all_of_it_and_no_more() {
        let mut random = Random::new(1, 2, 3);
        let mut seen = [0_u32; 7];
        for _ in 0..7000 {
            seen[random.below(7) as usize] += 1;
        }
        // 1000 expected, standard deviation 29.
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }

    #[test]
    fn streams_differ_in_every_part_of_their_name() {
        let first = |seed, purpose, number| Random::new(seed, purpose, number).bits();
        let all = [first(1, 2, 3), first(3, 2, 1), first(0, 2, 3), first(1, 0, 3), first(1, 2, 0)];
        for (at, value) in all.iter().enumerate() {
            assert!(!all[..at].contains(value));
        }
    }

    #[test]
    fn fractions_stay_below_one() {
        let mut random = Random::new(9, 9, 9);
        let fractions: Vec<f64> = (0..10_000).map(|_| random.fraction()).collect();
        assert!(fractions.iter().all(|fraction| (0.0..1.0).contains(fraction)));
        let mean = fractions.iter().sum::<f64>() / 10_000.0;
        // Standard error 0.0029.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
    }
}
