//! Fast code equals the slow, obvious code of the testkit, on every path of this CPU.
#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use std::hash::Hasher;
use wonbon_sketch::rabin::{RABIN_40, RABIN_64, RabinHasher, RabinPath};
use wonbon_sketch::{
    ElementSet, FeatureMaker, FeatureParams, ModulusMaker, ModulusParams, PermutationPath,
    ScaledMaker, ScaledParams, Seed, SmallestMaker, SmallestParams, Width, super_shingles,
};
use wonbon_testkit::sketch::{
    is_irreducible, slow_containment, slow_features, slow_min_values, slow_modulus,
    slow_permuted_40, slow_permuted_64, slow_rabin, slow_resemblance, slow_scaled, slow_smallest,
    slow_super_shingles,
};

/// Elements that repeat and elements that do not.
fn elements(most: usize) -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![vec(any::<u64>(), 0..most), vec(0u64..200, 0..most)]
}

fn permuted(width: Width, seed: u64) -> impl Fn(u64) -> u64 + Copy {
    move |element| match width {
        Width::Bits40 => slow_permuted_40(element, seed),
        Width::Bits64 => slow_permuted_64(element, seed),
    }
}

fn width() -> impl Strategy<Value = Width> {
    prop_oneof![Just(Width::Bits40), Just(Width::Bits64)]
}

#[test]
fn both_polynomials_are_irreducible() {
    for function in [&RABIN_64, &RABIN_40] {
        assert!(is_irreducible(function.degree(), function.low_terms()));
    }
    // The test can say no: t^64 + 1 is (t + 1)^64.
    assert!(!is_irreducible(64, 1));
}

#[test]
fn every_length_around_the_block_sizes_is_fingerprinted_alike_on_every_path() {
    let bytes: Vec<u8> = (0..400u32).map(|i| (i * i + 7 * i) as u8).collect();
    for length in 0..bytes.len() {
        let bytes = &bytes[..length];
        for function in [&RABIN_64, &RABIN_40] {
            let expected = slow_rabin(bytes, function.degree(), function.low_terms());
            assert_eq!(function.fingerprint(bytes), expected, "{length}");
            for path in RabinPath::available() {
                assert_eq!(function.fingerprint_by(*path, bytes), Some(expected), "{path:?}");
            }
        }
    }
}

#[test]
fn every_size_around_the_vector_and_chunk_lengths_has_the_same_min_values_on_every_path() {
    let elements: Vec<u64> = (0..2_200).collect();
    let sizes = (1..70).chain([1_023, 1_024, 1_025, 1_039, 1_040, 1_041, 2_048, 2_049, 2_200]);
    for size in sizes {
        for (groups, group_size) in [(6, 14), (1, 1), (3, 5), (16, 8)] {
            let params = FeatureParams { groups, group_size, seed: Seed::default() };
            let scalar = FeatureMaker::on_path(params.clone(), PermutationPath::Scalar).unwrap();
            let expected = scalar.min_values(&elements[..size]);
            for path in PermutationPath::available() {
                let maker = FeatureMaker::on_path(params.clone(), path).unwrap();
                assert_eq!(maker.min_values(&elements[..size]), expected, "{path} {size}");
            }
        }
    }
}

proptest! {
    #[test]
    fn fingerprints_equal_long_division(bytes in vec(any::<u8>(), 0..300)) {
        for function in [&RABIN_64, &RABIN_40] {
            let expected = slow_rabin(&bytes, function.degree(), function.low_terms());
            prop_assert_eq!(function.fingerprint(&bytes), expected);
            for path in RabinPath::available() {
                prop_assert_eq!(function.fingerprint_by(*path, &bytes), Some(expected));
            }
        }
    }

    #[test]
    fn a_fingerprint_does_not_depend_on_where_the_string_was_cut(
        bytes in vec(any::<u8>(), 0..300),
        cuts in vec(0usize..300, 0..4),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        for function in [&RABIN_64, &RABIN_40] {
            let mut hasher = RabinHasher::new(function);
            for piece in cuts.windows(2) {
                hasher.write(&bytes[piece[0]..piece[1]]);
            }
            prop_assert_eq!(hasher.finish(), function.fingerprint(&bytes));
        }
    }

    #[test]
    fn min_values_and_features_equal_the_oracle_on_every_path(
        elements in elements(120),
        seed in any::<u64>(),
        groups in 1usize..8,
        group_size in 1usize..16,
    ) {
        let expected = slow_min_values(&elements, seed, groups * group_size);
        let features = slow_features(&elements, seed, groups, group_size);
        let params = FeatureParams { groups, group_size, seed: Seed::number(seed) };
        for path in PermutationPath::available() {
            let maker = FeatureMaker::on_path(params.clone(), path).unwrap();
            let min_values = maker.min_values(&elements);
            prop_assert_eq!(min_values.values(), &expected);
            let made = maker.features(&elements);
            prop_assert_eq!(made.values(), &features);
            prop_assert_eq!(made.is_empty(), elements.is_empty());
        }
    }

    #[test]
    fn a_set_in_pieces_has_the_features_of_the_whole(
        elements in vec(any::<u64>(), 0..3_000),
        cut in 0usize..3_000,
    ) {
        let maker = FeatureMaker::new(FeatureParams::default()).unwrap();
        let mut builder = maker.builder();
        builder.update(&[1, 2, 3]);
        builder.clear();
        let (front, back) = elements.split_at(cut.min(elements.len()));
        builder.update(back);
        builder.update(front);
        prop_assert_eq!(builder.features(), maker.features(&elements));
    }

    #[test]
    fn exact_values_equal_those_of_plain_sets(
        left in elements(200),
        right in elements(200),
        many in elements(6_000),
    ) {
        for right in [&right, &many] {
            let sets = [ElementSet::new(left.clone()), ElementSet::new(right.clone())];
            prop_assert_eq!(sets[0].resemblance(&sets[1]), slow_resemblance(&left, right));
            prop_assert_eq!(sets[0].containment_in(&sets[1]), slow_containment(&left, right));
            prop_assert_eq!(sets[1].containment_in(&sets[0]), slow_containment(right, &left));
        }
    }

    #[test]
    fn a_small_set_is_found_in_a_large_one(
        large in vec(any::<u64>(), 1..3_000),
        places in vec(any::<proptest::sample::Index>(), 0..20),
        others in vec(any::<u64>(), 0..20),
    ) {
        let mut small: Vec<u64> = places.iter().map(|place| *place.get(&large)).collect();
        small.extend(others);
        let expected = slow_containment(&small, &large);
        let (small, large) = (ElementSet::new(small), ElementSet::new(large));
        prop_assert_eq!(small.containment_in(&large), expected);
        prop_assert_eq!(large.overlap(&small).right_in_left(), expected);
    }

    #[test]
    fn smallest_sketches_and_estimates_equal_the_oracle(
        left in elements(300),
        right in elements(300),
        count in 1usize..60,
        seed in any::<u64>(),
        cut in 0usize..300,
    ) {
        let params = SmallestParams { count, seed: Seed::number(seed) };
        let maker = SmallestMaker::new(params).unwrap();
        let mut builder = maker.builder();
        let (front, back) = left.split_at(cut.min(left.len()));
        builder.update(front);
        builder.update(back);
        let (a, b) = (builder.finish(), maker.sketch(&right));
        let slow = [&left, &right].map(|set| slow_smallest(set, seed, count));
        prop_assert_eq!(a.values(), &slow[0]);
        prop_assert_eq!(b.values(), &slow[1]);

        let estimate = a.estimate_resemblance(&b).unwrap();
        if slow.iter().all(|sketch| sketch.len() < count) {
            prop_assert_eq!(estimate.value, slow_resemblance(&left, &right));
            prop_assert_eq!(estimate.standard_error, 0.0);
        } else {
            // The theorem: of the smallest `count` of the union, those in both.
            let both = [left, right].concat();
            let union = slow_smallest(&both, seed, count);
            let in_both =
                union.iter().filter(|v| slow[0].contains(v) && slow[1].contains(v)).count();
            prop_assert_eq!(estimate.value, in_both as f64 / union.len() as f64);
            prop_assert_eq!(estimate.samples, union.len() as u64);
        }
    }

    #[test]
    fn modulus_sketches_and_estimates_equal_the_oracle(
        left in elements(300),
        right in elements(300),
        modulus in 1u64..30,
        width in width(),
        seed in any::<u64>(),
    ) {
        let params = ModulusParams { modulus, width, seed: Seed::number(seed) };
        let maker = ModulusMaker::new(params).unwrap();
        let (a, b) = (maker.sketch(&left), maker.sketch(&right));
        let slow = [&left, &right].map(|set| slow_modulus(set, modulus, permuted(width, seed)));
        prop_assert_eq!(a.values(), &slow[0]);
        prop_assert_eq!(b.values(), &slow[1]);
        let resemblance = a.estimate_resemblance(&b).unwrap();
        prop_assert_eq!(resemblance.value, slow_resemblance(&slow[0], &slow[1]));
        let containment = a.estimate_containment_in(&b).unwrap();
        prop_assert_eq!(containment.value, slow_containment(&slow[0], &slow[1]));
    }

    #[test]
    fn scaled_sketches_are_compared_at_the_larger_modulus(
        left in elements(100),
        right in elements(2_000),
        base in 2u32..5,
        most in 1u32..100,
        width in width(),
        seed in any::<u64>(),
    ) {
        let params = ScaledParams { base, most, width, seed: Seed::number(seed) };
        let maker = ScaledMaker::new(params).unwrap();
        let [a, b] = [&left, &right].map(|set| maker.sketch(&ElementSet::new(set.clone())));
        let slow = [&left, &right]
            .map(|set| slow_scaled(set, base.into(), most.into(), permuted(width, seed)));
        prop_assert_eq!((a.modulus(), a.values()), (slow[0].0, &slow[0].1[..]));
        prop_assert_eq!((b.modulus(), b.values()), (slow[1].0, &slow[1].1[..]));

        let larger = slow[0].0.max(slow[1].0);
        let thin = [&left, &right].map(|set| slow_modulus(set, larger, permuted(width, seed)));
        let resemblance = a.estimate_resemblance(&b).unwrap();
        prop_assert_eq!(resemblance.value, slow_resemblance(&thin[0], &thin[1]));
        let containment = b.estimate_containment_in(&a).unwrap();
        prop_assert_eq!(containment.value, slow_containment(&thin[1], &thin[0]));
    }

    #[test]
    fn super_shingles_equal_the_oracle(set in elements(60), run in 1u32..12) {
        let params = SmallestParams { count: 40, ..SmallestParams::default() };
        let sketch = SmallestMaker::new(params).unwrap().sketch(&set);
        let made = super_shingles(&sketch, run).unwrap();
        let expected = slow_super_shingles(sketch.values(), run as usize);
        prop_assert_eq!(made.values(), &expected);
    }
}
