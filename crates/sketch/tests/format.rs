//! Sketches as bytes: identity there and back, damage noticed, old bytes still read.
#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use wonbon_sketch::rabin::RABIN_64;
use wonbon_sketch::{
    ElementSet, FeatureMaker, FeatureParams, Features, ModulusMaker, ModulusParams, ScaledMaker,
    ScaledParams, Seed, Sketch, SketchError, SmallestMaker, SmallestParams, SmallestSketch, Width,
    super_shingles,
};

/// One sketch of every kind, made from a set.
fn all_kinds(elements: &[u64], seed: &Seed) -> Vec<Sketch> {
    let seed = || seed.clone();
    let maker =
        FeatureMaker::new(FeatureParams { groups: 3, group_size: 4, seed: seed() }).unwrap();
    let smallest = SmallestMaker::new(SmallestParams { count: 20, seed: seed() }).unwrap();
    let smallest = smallest.sketch(elements);
    let set = ElementSet::new(elements.to_vec());
    let mut sketches = vec![
        maker.features(elements).into(),
        maker.min_values(elements).into(),
        super_shingles(&smallest, 5).unwrap().into(),
        smallest.into(),
    ];
    for width in [Width::Bits40, Width::Bits64] {
        let params = ModulusParams { modulus: 25, width, seed: seed() };
        let modulus = ModulusMaker::new(params).unwrap().sketch(elements);
        sketches.push(super_shingles(&modulus, 3).unwrap().into());
        sketches.push(modulus.into());
        let params = ScaledParams { base: 2, most: 100, width, seed: seed() };
        sketches.push(ScaledMaker::new(params).unwrap().sketch(&set).into());
    }
    sketches
}

#[test]
fn the_bytes_of_version_1_stay_what_they_are() {
    // The fingerprint of each kind's bytes, noted when version 1 was made. A change here is a
    // change of the format, of a permutation or of a fingerprint: it needs a new version.
    let elements: Vec<u64> = (0..300).collect();
    let noted = [
        0xf775_35dd_9b10_fc0b,
        0xad21_8a5b_8417_63b9,
        0x6d16_516f_d699_6df1,
        0x35c8_1c15_c98f_50cb,
        0x1d3a_bf87_4990_db06,
        0x0490_0538_8242_2369,
        0x58cd_28ed_d12a_2de4,
        0x414b_e575_9fe4_97ef,
        0xd1fc_e742_df82_7dcf,
        0xc0fe_10b0_52c9_a6f9,
    ];
    let found: Vec<u64> = all_kinds(&elements, &Seed::number(9))
        .iter()
        .map(|sketch| RABIN_64.fingerprint(&sketch.to_bytes()))
        .collect();
    assert_eq!(found, noted, "{found:#x?}");
}

#[test]
fn every_changed_bit_and_every_cut_is_noticed() {
    let elements: Vec<u64> = (0..300).collect();
    for sketch in all_kinds(&elements, &Seed::default()) {
        let bytes = sketch.to_bytes();
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Sketch::from_bytes(&damaged).is_err(), "bit {bit} of {}", sketch.params());
        }
        for length in 0..bytes.len() {
            assert!(Sketch::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong_with_the_bytes() {
    let maker = FeatureMaker::new(FeatureParams::default()).unwrap();
    let good = maker.features(&[1, 2, 3]).to_bytes();
    assert_eq!(good.len(), 5 + 1 + 8 + 4 + 5 + 6 * 8 + 8);
    let told = |bytes: &[u8]| Features::from_bytes(bytes).unwrap_err();

    assert!(matches!(told(b"{}"), SketchError::NotASketch));
    assert!(matches!(told(b""), SketchError::NotASketch));
    assert!(matches!(told(b"WBSK"), SketchError::NotASketch));
    assert!(matches!(told(b"WBSK\x02"), SketchError::UnknownVersion { found: 2, known: 1 }));
    assert!(matches!(told(&good[..good.len() - 1]), SketchError::Damaged { .. }));
    assert!(matches!(told(&good[..9]), SketchError::Malformed { .. }));

    let said = SmallestSketch::from_bytes(&good).unwrap_err().to_string();
    assert_eq!(said, "the bytes hold features, not a smallest-s sketch");
}

#[test]
fn a_false_count_allocates_nothing_and_is_an_error() {
    // Four thousand million values announced, none there; the checksum is right.
    let mut bytes = b"WBSK\x01\x03".to_vec();
    bytes.extend([0; 8]);
    bytes.extend(100u32.to_le_bytes());
    bytes.extend(u32::MAX.to_le_bytes());
    bytes.push(8);
    bytes.extend(RABIN_64.fingerprint(&bytes).to_le_bytes());
    let error = Sketch::from_bytes(&bytes).unwrap_err();
    assert_eq!(error.to_string(), "the sketch is malformed at byte 23: it ends too early");
}

proptest! {
    #[test]
    fn writing_then_reading_is_the_identity(
        elements in prop_oneof![vec(any::<u64>(), 0..400), vec(0u64..50, 0..40)],
        seed in any::<u64>(),
    ) {
        for sketch in all_kinds(&elements, &Seed::number(seed)) {
            let bytes = sketch.to_bytes();
            let read = Sketch::from_bytes(&bytes).unwrap();
            prop_assert_eq!(&read, &sketch);
            prop_assert_eq!(read.params(), sketch.params());
            prop_assert_eq!(read.to_bytes(), bytes);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..200)) {
        wonbon_testkit::harness::sketch_format(&bytes);
    }
}
