//! The index of <shingle, document> against a map of sets.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use wonbon_index::shingles::{Candidate, ShingleIndex, ShingleSampler, ShingleSketch, level_of};
use wonbon_index::{IndexError, Row};
use wonbon_sketch::{ElementSet, Seed, finalise};

fn sampler() -> ShingleSampler {
    ShingleSampler::new(&Seed::number(5)).unwrap()
}

/// A document of consecutive numbers: two of them share what their ranges share.
fn shingles(start: u64, length: u64) -> ElementSet {
    ElementSet::new((start..start + length).map(finalise).collect())
}

fn open(directory: &std::path::Path) -> ShingleIndex {
    let opened = ShingleIndex::open(directory, "test", sampler().seed_fingerprint()).unwrap();
    assert!(opened.rebuilt.is_none());
    opened.index
}

/// What the index must answer, by looking at everything.
fn oracle(documents: &BTreeMap<Row, ElementSet>, asked: &ElementSet) -> BTreeMap<Row, Candidate> {
    let sampler = sampler();
    let values: BTreeSet<u64> = sampler.all(asked).into_iter().collect();
    documents
        .iter()
        .map(|(&row, shingles)| {
            let sketch = sampler.sketch(shingles);
            let shared = sketch.values.iter().filter(|value| values.contains(value)).count();
            let candidate = Candidate {
                row,
                shingles: sketch.shingles,
                values: sketch.values.len() as u32,
                shared: shared as u32,
            };
            (row, candidate)
        })
        .filter(|(_, candidate)| candidate.shared > 0)
        .collect()
}

fn answered(index: &ShingleIndex, asked: &ElementSet, least: usize) -> BTreeMap<Row, Candidate> {
    let found = index.reader().candidates(&sampler().all(asked), least, |_, _| true).unwrap();
    let count = found.candidates.len();
    let by_row: BTreeMap<Row, Candidate> =
        found.candidates.into_iter().map(|candidate| (candidate.row, candidate)).collect();
    assert_eq!(by_row.len(), count, "a row is answered once");
    by_row
}

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<(u8, u16, u16)>),
    Delete(u8),
    Write,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let document = (any::<u8>(), 0..400u16, 0..500u16);
    prop_oneof![
        4 => prop::collection::vec(document, 1..12).prop_map(Step::Put),
        1 => any::<u8>().prop_map(Step::Delete),
        1 => Just(Step::Write),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever was put, replaced, deleted, written, merged and opened again: the answer is what
    /// looking at every document gives.
    #[test]
    fn the_index_answers_as_looking_at_everything_does(
        steps in prop::collection::vec(step(), 1..30),
        asked in prop::collection::vec((0..800u64, 0..300u64), 1..5),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("shingles");
        let sampler = sampler();
        let mut index = open(&path);
        let mut documents: BTreeMap<Row, ElementSet> = BTreeMap::new();
        let mut written = documents.clone();
        for (mark, step) in (1..).zip(steps) {
            match step {
                Step::Put(batch) => {
                    let batch: BTreeMap<Row, ElementSet> = batch
                        .into_iter()
                        .map(|(row, start, length)| {
                            (Row(row.into()), shingles(start.into(), length.into()))
                        })
                        .collect();
                    let put = batch.iter().map(|(&row, set)| (row, sampler.sketch(set)));
                    index.put(put.collect()).unwrap();
                    documents.extend(batch);
                }
                Step::Delete(row) => {
                    let nothing = ShingleSketch { shingles: 0, values: Vec::new() };
                    index.put(vec![(Row(row.into()), nothing)]).unwrap();
                    documents.remove(&Row(row.into()));
                }
                Step::Write => {
                    index.write(mark).unwrap();
                    prop_assert_eq!(index.mark(), mark);
                    prop_assert_eq!(index.waiting(), 0);
                    written = documents.clone();
                }
                Step::Reopen => {
                    // What was not written is put in again by whoever owns the truth.
                    index = open(&path);
                    documents = written.clone();
                }
            }
        }
        index.reader().check().unwrap();
        for (start, length) in asked {
            let asked = shingles(start, length);
            let expected = oracle(&documents, &asked);
            prop_assert_eq!(&answered(&index, &asked, 0), &expected);
            // Small documents may be left out, and only they.
            let mut large = expected;
            large.retain(|_, candidate| candidate.shingles >= 100);
            prop_assert_eq!(answered(&index, &asked, 100), large);
        }
        for (&row, set) in &documents {
            let sketch = sampler.sketch(set);
            if set.is_empty() {
                continue;
            }
            prop_assert_eq!(
                index.reader().document(row),
                Some((sketch.shingles, sketch.values.len() as u32))
            );
            for &value in &sketch.values {
                prop_assert!(index.reader().has(row, value).unwrap());
            }
        }
    }
}

#[test]
fn a_segment_in_memory_and_its_file_answer_alike() {
    let directory = tempfile::tempdir().unwrap();
    let sampler = sampler();
    let mut index = open(directory.path());
    let documents =
        (0..500).map(|row| (Row(row), sampler.sketch(&shingles(u64::from(row) * 7, 90))));
    index.put(documents.collect()).unwrap();
    let asked = shingles(1000, 300);
    let in_memory = answered(&index, &asked, 0);
    assert!(index.reader().segments().iter().all(|segment| segment.is_in_memory()));
    index.write(1).unwrap();
    assert!(index.reader().segments().iter().all(|segment| !segment.is_in_memory()));
    assert_eq!(answered(&index, &asked, 0), in_memory);
    assert!(!in_memory.is_empty());
}

#[test]
fn segments_stay_few_while_documents_come_one_by_one() {
    let directory = tempfile::tempdir().unwrap();
    let sampler = sampler();
    let mut index = open(directory.path());
    for row in 0..300 {
        index.put(vec![(Row(row), sampler.sketch(&shingles(u64::from(row), 50)))]).unwrap();
        index.write(u64::from(row) + 1).unwrap();
    }
    assert!(index.reader().segments().len() < 10, "{}", index.reader().segments().len());
    assert_eq!(answered(&open(directory.path()), &shingles(100, 1), 0).len(), 50);
}

#[test]
fn the_commonest_shingles_are_left_out_and_the_rare_ones_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let sampler = sampler();
    let mut index = open(directory.path());
    // 150,000 documents share forty shingles; one shares twenty others with the text that is asked.
    let common: Vec<u64> = (0..40).map(finalise).collect();
    let batch = (0..150_000u32).map(|row| {
        let mut set = common.clone();
        set.push(finalise(1_000_000 + u64::from(row)));
        (Row(row), sampler.sketch(&ElementSet::new(set)))
    });
    index.put(batch.collect()).unwrap();
    index.put(vec![(Row(200_000), sampler.sketch(&shingles(500, 20)))]).unwrap();
    let asked = ElementSet::new(common.iter().copied().chain((500..520).map(finalise)).collect());
    let found = index.reader().candidates(&sampler.all(&asked), 0, |_, _| true).unwrap();
    let rare = found.candidates.iter().find(|candidate| candidate.row == Row(200_000)).unwrap();
    assert_eq!(rare.shared, 20);
    assert_eq!(found.asked[0], 60);
    assert!((1..40).contains(&found.ignored[0]), "{:?}", found.ignored);
    assert_eq!(found.looked_up(rare), 60 - found.ignored[0]);
    assert_eq!(level_of(20), 0);
}

#[test]
fn a_damaged_or_foreign_file_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let sampler = sampler();
    let mut index = open(directory.path());
    let documents = (0..200).map(|row| (Row(row), sampler.sketch(&shingles(u64::from(row), 90))));
    index.put(documents.collect()).unwrap();
    index.write(9).unwrap();
    drop(index);
    let seed = sampler.seed_fingerprint();
    let reason = |identity: &str, seed: u64| {
        let opened = ShingleIndex::open(directory.path(), identity, seed).unwrap();
        assert_eq!(opened.index.mark(), 0);
        opened.rebuilt.unwrap().to_string()
    };
    assert!(reason("another", seed).contains("belongs to something else"));
    assert!(reason("test", seed + 1).contains("another seed"));

    let segment = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "segment"))
        .unwrap();
    let whole = std::fs::read(&segment).unwrap();
    for at in (0..64).chain((64..whole.len()).step_by(97)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&segment, &bytes).unwrap();
        let opened = ShingleIndex::open(directory.path(), "test", seed).unwrap();
        let damaged = matches!(opened.rebuilt, Some(IndexError::DamagedShingles { .. }));
        assert!(damaged && opened.index.reader().segments().is_empty(), "{at}");
    }
    std::fs::write(&segment, &whole[..whole.len() - 1]).unwrap();
    assert!(reason("test", seed).contains("length"));
    std::fs::remove_file(&segment).unwrap();
    assert!(reason("test", seed).contains("not there"));
}
