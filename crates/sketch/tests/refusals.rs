//! What does not belong together refuses to be compared, naming both sides and no secret.
#![allow(clippy::unwrap_used)]

use wonbon_sketch::{
    ElementSet, FeatureMaker, FeatureParams, ModulusMaker, ModulusParams, ScaledMaker,
    ScaledParams, Seed, SketchError, SmallestMaker, SmallestParams, Width, super_shingles,
};

const SECRET: &[u8] = b"correct horse battery staple";

fn refusal<T: std::fmt::Debug>(result: Result<T, SketchError>) -> String {
    let error = result.expect_err("it should be refused");
    assert!(matches!(error, SketchError::ParamsMismatch { .. }), "{error:?}");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("horse"), "a secret is shown: {shown}");
    error.to_string()
}

#[test]
fn features_of_other_parameters_or_seeds_are_refused_with_both_named() {
    let features = |groups, group_size, seed| {
        let maker = FeatureMaker::new(FeatureParams { groups, group_size, seed }).unwrap();
        (maker.features(&[1, 2, 3]), maker.min_values(&[1, 2, 3]))
    };
    let (ours, our_values) = features(6, 14, Seed::default());
    for (groups, group_size, seed) in [
        (6, 13, Seed::default()),
        (7, 14, Seed::default()),
        (6, 14, Seed::number(1)),
        (6, 14, Seed::secret(SECRET)),
    ] {
        let fingerprint = seed.fingerprint().to_string();
        let (theirs, their_values) = features(groups, group_size, seed);
        let said = refusal(ours.agreeing(&theirs));
        assert!(said.contains("6 features of 14 min-values"), "{said}");
        assert!(said.contains(&format!("{groups} features of {group_size}")), "{said}");
        assert!(said.contains(&Seed::default().fingerprint().to_string()), "{said}");
        assert!(said.contains(&fingerprint), "{said}");
        refusal(theirs.is_copy(&ours, 2));
        refusal(our_values.estimate_resemblance(&their_values));
    }
}

#[test]
fn sketches_of_other_parameters_or_seeds_are_refused() {
    let elements: Vec<u64> = (0..1_000).collect();
    let smallest =
        |count, seed| SmallestMaker::new(SmallestParams { count, seed }).unwrap().sketch(&elements);
    let ours = smallest(100, Seed::default());
    for theirs in [smallest(99, Seed::default()), smallest(100, Seed::secret(SECRET))] {
        refusal(ours.estimate_resemblance(&theirs));
        let [ours, theirs] = [&ours, &theirs].map(|sketch| super_shingles(sketch, 4).unwrap());
        refusal(ours.shared(&theirs));
    }
    let longer = super_shingles(&ours, 5).unwrap();
    refusal(super_shingles(&ours, 4).unwrap().shared(&longer));

    let modulus = |modulus, width, seed| {
        ModulusMaker::new(ModulusParams { modulus, width, seed }).unwrap().sketch(&elements)
    };
    let ours = modulus(25, Width::Bits64, Seed::default());
    for theirs in [
        modulus(24, Width::Bits64, Seed::default()),
        modulus(25, Width::Bits40, Seed::default()),
        modulus(25, Width::Bits64, Seed::secret(SECRET)),
    ] {
        refusal(ours.estimate_resemblance(&theirs));
        refusal(ours.estimate_containment_in(&theirs));
    }

    let set = ElementSet::new(elements.clone());
    let scaled = |base, most, seed| {
        let params = ScaledParams { base, most, width: Width::Bits64, seed };
        ScaledMaker::new(params).unwrap().sketch(&set)
    };
    let ours = scaled(2, 100, Seed::default());
    for theirs in [
        scaled(3, 100, Seed::default()),
        scaled(2, 99, Seed::default()),
        scaled(2, 100, Seed::secret(SECRET)),
    ] {
        refusal(ours.estimate_resemblance(&theirs));
        refusal(ours.estimate_containment_in(&theirs));
    }
}

#[test]
fn a_secret_seed_changes_every_kind_of_sketch() {
    let elements: Vec<u64> = (0..1_000).collect();
    let [public, secret] = [Seed::default(), Seed::secret(SECRET)].map(|seed| {
        let params = FeatureParams { seed: seed.clone(), ..FeatureParams::default() };
        let features = FeatureMaker::new(params).unwrap().features(&elements);
        let params = SmallestParams { count: 20, seed: seed.clone() };
        let smallest = SmallestMaker::new(params).unwrap().sketch(&elements);
        let modulus = [Width::Bits40, Width::Bits64].map(|width| {
            let params = ModulusParams { modulus: 25, width, seed: seed.clone() };
            ModulusMaker::new(params).unwrap().sketch(&elements)
        });
        (features, smallest, modulus)
    });
    let differ = |left: &[u64], right: &[u64]| left.iter().all(|value| !right.contains(value));
    assert!(differ(public.0.values(), secret.0.values()));
    assert!(differ(public.1.values(), secret.1.values()));
    for (public, secret) in public.2.iter().zip(&secret.2) {
        assert!(differ(public.values(), secret.values()));
    }
}
