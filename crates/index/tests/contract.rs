//! What every index must do, run for every implementation.
//!
//! The model is a list of originals with their features, compared one by one.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use proptest::prelude::*;
use wonbon_index::papers::{B6D1, R1D3, R15D2};
use wonbon_index::{CopyIndex, IndexError, IndexParams, Match, MemoryIndex, Row};

/// The slow, obvious index.
#[derive(Default)]
struct Model(BTreeMap<Row, Vec<u64>>);

impl Model {
    fn matches(&self, features: &[u64], agreeing: usize) -> Vec<Match> {
        let agree = |stored: &[u64]| stored.iter().zip(features).filter(|(a, b)| a == b).count();
        self.0
            .iter()
            .map(|(&row, stored)| Match { row, agreeing: agree(stored) })
            .filter(|found| !features.is_empty() && found.agreeing >= agreeing)
            .collect()
    }
}

/// One thing done to an index. Features are drawn from few values, so that many agree.
#[derive(Clone, Debug)]
enum Step {
    Insert(u32, Vec<u64>),
    Remove(u32),
    Ask(Vec<u64>),
}

fn steps(features: usize) -> impl Strategy<Value = Vec<Step>> {
    let some = prop::collection::vec(0_u64..6, features);
    let step = prop_oneof![
        3 => (0_u32..80, some.clone()).prop_map(|(row, features)| Step::Insert(row, features)),
        1 => (0_u32..80).prop_map(Step::Remove),
        3 => some.prop_map(Step::Ask),
    ];
    prop::collection::vec(step, 1..120)
}

fn follows_the_model(index: &mut dyn CopyIndex, steps: &[Step]) {
    let IndexParams { features, agreeing } = index.params();
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Insert(row, features) => {
                if let Entry::Vacant(place) = model.0.entry(Row(*row)) {
                    index.insert(Row(*row), features).unwrap();
                    place.insert(features.clone());
                }
            }
            Step::Remove(row) => {
                let row = Row(*row);
                match model.0.remove(&row) {
                    Some(stored) => assert!(index.remove(row, &stored).unwrap()),
                    None => assert!(!index.remove(row, &vec![1; features]).unwrap()),
                }
            }
            Step::Ask(asked) => {
                let expected = model.matches(asked, agreeing);
                assert_eq!(index.matches(asked).unwrap(), expected);
                match index.first_match(asked).unwrap() {
                    Some(first) => assert!(expected.contains(&first), "{first:?} is none of them"),
                    None => assert!(expected.is_empty(), "{expected:?} were overlooked"),
                }
            }
        }
        assert_eq!(index.len(), model.0.len());
        assert_eq!(index.is_empty(), model.0.is_empty());
    }
    assert!(index.matches(&[]).unwrap().is_empty(), "no features agree with nothing");
    assert_eq!(index.first_match(&[]).unwrap(), None);
    let short = vec![0; features - 1];
    for wrong in [
        index.matches(&short).map(|_| ()),
        index.first_match(&short).map(|_| ()),
        index.insert(Row(1), &short),
        index.insert(Row(1), &[]),
        index.remove(Row(1), &short).map(|_| ()),
    ] {
        let is_named = |error: &IndexError| matches!(error, IndexError::WrongLength { .. });
        assert!(features == 1 || wrong.as_ref().is_err_and(is_named), "{wrong:?}");
    }
}

/// The suite for one implementation, given how to make an empty one.
macro_rules! contract {
    ($name:ident, $cases:expr, $make:expr) => {
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases($cases))]

                #[test]
                fn two_of_six_follows_the_model(steps in steps(6)) {
                    follows_the_model(&mut $make(IndexParams::default()), &steps);
                }
            }
        }
    };
}

contract!(memory, 300, |params| MemoryIndex::new(params).unwrap());
// Making the trees takes longer than filling them.
contract!(b6d1, 100, |params| B6D1::temporary(params).unwrap());
contract!(r15d2, 100, |params| R15D2::temporary(params).unwrap());
contract!(r1d3, 100, |params| R1D3::temporary(params).unwrap());

proptest! {
    #[test]
    fn memory_follows_the_model_for_any_params(
        (features, agreeing, steps) in (1_usize..8).prop_flat_map(|k| (Just(k), 1..=k, steps(k))),
    ) {
        let mut index = MemoryIndex::new(IndexParams { features, agreeing }).unwrap();
        follows_the_model(&mut index, &steps);
    }

    #[test]
    fn built_at_once_it_is_the_same_index(
        originals in prop::collection::vec(prop::collection::vec(0_u64..9, 6), 0..300),
        asked in prop::collection::vec(prop::collection::vec(0_u64..9, 6), 1..20),
    ) {
        let params = IndexParams::default();
        let mut one_by_one = MemoryIndex::new(params).unwrap();
        for (row, features) in (0..).zip(&originals) {
            one_by_one.insert(Row(row), features).unwrap();
        }
        let rows = (0..originals.len() as u32).map(Row).collect();
        let at_once = MemoryIndex::build(params, rows, originals.concat()).unwrap();
        for features in &asked {
            prop_assert_eq!(
                one_by_one.matches(features).unwrap(),
                at_once.matches(features).unwrap()
            );
        }
    }
}

/// Features without structure.
fn features(number: u64) -> [u64; 6] {
    std::array::from_fn(|place| wonbon_sketch::finalise(number * 6 + place as u64))
}

#[test]
fn a_hundred_thousand_originals_take_little_memory_and_come_and_go() {
    let mut index = MemoryIndex::new(IndexParams::default()).unwrap();
    let all = 100_000;
    for number in 0..all {
        index.insert(Row(number as u32), &features(number)).unwrap();
    }
    let bytes = index.memory_bytes() as f64 / all as f64;
    assert!(bytes <= 130.0, "{bytes} bytes an original");
    for number in (0..all).step_by(3) {
        assert!(index.remove(Row(number as u32), &features(number)).unwrap());
    }
    for number in (0..all).step_by(3).step_by(2) {
        index.insert(Row((all + number) as u32), &features(number)).unwrap();
    }
    for number in 0..all {
        let mut asked = features(number);
        asked[1] = 1;
        asked[4] = 2;
        let expected = match number % 6 {
            0 => Some(Row((all + number) as u32)),
            3 => None,
            _ => Some(Row(number as u32)),
        };
        let found = index.matches(&asked).unwrap();
        assert_eq!(found.first().map(|found| found.row), expected, "{number}");
        assert!(found.iter().all(|found| found.agreeing == 4));
    }
}

#[test]
fn a_snapshot_reads_back_and_a_damaged_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index.snapshot");
    let params = IndexParams::default();
    let mut index = MemoryIndex::new(params).unwrap();
    for number in 0..2000 {
        index.insert(Row(number as u32), &features(number)).unwrap();
    }
    for number in (0..2000).step_by(7) {
        index.remove(Row(number as u32), &features(number)).unwrap();
    }
    index.write_snapshot(&path, 42).unwrap();
    let (read, mark) = MemoryIndex::read_snapshot(&path, params).unwrap();
    assert_eq!((mark, read.len()), (42, index.len()));
    for number in 0..2000 {
        let asked = features(number);
        assert_eq!(read.matches(&asked).unwrap(), index.matches(&asked).unwrap());
    }
    assert!(!path.with_extension("partial").exists());

    let other = IndexParams { features: 6, agreeing: 3 };
    let error = MemoryIndex::read_snapshot(&path, other).unwrap_err();
    assert!(
        error.to_string().contains("2 of 6") && error.to_string().contains("3 of 6"),
        "{error}"
    );

    let whole = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).unwrap();
        match MemoryIndex::read_snapshot(&path, params) {
            Err(IndexError::Damaged { .. } | IndexError::ParamsMismatch { .. }) => {}
            other => panic!("{what}: {:?}", other.map(|(index, _)| index.len())),
        }
    };
    for at in (0..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        refused(&bytes, &format!("one bit of byte {at} turned"));
    }
    for length in [0, 7, 36, 44, 1000, whole.len() - 1] {
        refused(&whole[..length], &format!("cut to {length} bytes"));
    }
    refused(&[&whole[..], b"x"].concat(), "one byte more");
}

/// Features of which the first has one of two values, so that half of all originals are a crowd there.
fn crowded(row: u32) -> Vec<u64> {
    let row = u64::from(row);
    vec![row % 2, row / 10, row / 3, row, row % 700, row % 5000]
}

#[test]
fn crowds_are_found_and_removed_like_others() {
    for agreeing in [1, 2] {
        let params = IndexParams { features: 6, agreeing };
        let mut model = Model::default();
        let mut grown = MemoryIndex::new(params).unwrap();
        for row in 0..3000 {
            grown.insert(Row(row), &crowded(row)).unwrap();
            model.0.insert(Row(row), crowded(row));
        }
        for row in (0..3000).step_by(7) {
            assert!(grown.remove(Row(row), &crowded(row)).unwrap());
            assert!(!grown.remove(Row(row), &crowded(row)).unwrap());
            model.0.remove(&Row(row));
        }
        let (rows, features): (Vec<Row>, Vec<Vec<u64>>) =
            model.0.iter().map(|(row, features)| (*row, features.clone())).unzip();
        let built = MemoryIndex::build(params, rows, features.concat()).unwrap();
        for index in [&grown, &built] {
            assert_eq!(index.len(), model.0.len());
            for asked in (0..3100).step_by(31) {
                let asked = crowded(asked);
                assert_eq!(index.matches(&asked).unwrap(), model.matches(&asked, agreeing));
            }
        }
    }
}

#[test]
fn the_closest_are_those_that_agree_most() {
    let params = IndexParams { features: 6, agreeing: 1 };
    let mut index = MemoryIndex::new(params).unwrap();
    let mut model = Model::default();
    for row in 0..3000 {
        index.insert(Row(row), &crowded(row)).unwrap();
        model.0.insert(Row(row), crowded(row));
    }
    for asked in (0..3000).step_by(17) {
        let mut expected = model.matches(&crowded(asked), 1);
        expected.sort_by_key(|found| (std::cmp::Reverse(found.agreeing), found.row));
        for most in [1, 5, 100, 10_000] {
            let closest = index.closest(&crowded(asked), most).unwrap();
            assert_eq!(closest.complete, expected.len() <= most);
            assert_eq!(closest.matches.len(), expected.len().min(most));
            let agreeing = |found: &[Match]| -> Vec<usize> {
                found.iter().map(|found| found.agreeing).collect()
            };
            assert_eq!(agreeing(&closest.matches), agreeing(&expected[..closest.matches.len()]));
            assert_eq!(closest.matches[0].row, Row(asked));
            if closest.complete {
                assert_eq!(closest.matches, expected);
            }
        }
    }
    assert!(index.closest(&[], 10).unwrap().matches.is_empty());
    assert!(index.closest(&[1], 10).is_err());
}

#[test]
fn what_too_many_have_in_common_is_passed_over_and_said() {
    let params = IndexParams { features: 6, agreeing: 1 };
    let mut index = MemoryIndex::new(params).unwrap();
    // Everyone has the first feature in common, two of three thousand the last.
    let features = |row: u32| {
        let alone = |place: u64| u64::from(row) * 10 + place;
        vec![7, alone(1), alone(2), alone(3), alone(4), u64::from(row % 50_000)]
    };
    for row in 0..100_000 {
        index.insert(Row(row), &features(row)).unwrap();
    }
    let closest = index.closest(&features(70_000), 10).unwrap();
    assert!(!closest.complete);
    let rows: Vec<(Row, usize)> = closest.matches.iter().map(|m| (m.row, m.agreeing)).collect();
    assert_eq!(rows, [(Row(70_000), 6), (Row(20_000), 2)]);
}
