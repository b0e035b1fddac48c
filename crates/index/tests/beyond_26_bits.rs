//! More originals than 26 bits can number. Every shard of every table gives its slot numbers more bits as they grow, so the
//! short form crosses several borders too; the long form really goes beyond 2^26.
//!
//! `WONBON_ORIGINALS` sets how many, 150,000 by default; scripts/hard.sh: 70 million, about 3 GB of memory and 1.5 GB of
//! disk. Times are printed and decide nothing.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::time::Instant;

use wonbon_index::{CopyIndex, IndexParams, Match, MemoryIndex, Row};
use wonbon_testkit::generate::random::Random;
use wonbon_testkit::long;

const PARAMS: IndexParams = IndexParams { features: 2, agreeing: 1 };
const QUESTIONS: u64 = 200_000;

/// Every original has its own features, and shares them with nobody.
fn features(row: u64) -> [u64; 2] {
    let mut random = Random::new(26, 20, row);
    [random.bits(), random.bits()]
}

/// How many of some originals, spread over all, are not found as what they are; and the nanoseconds of a question.
fn ask(index: &MemoryIndex, rows: u64) -> (u64, u64) {
    let (mut wrong, begun) = (0, Instant::now());
    let step = (rows / QUESTIONS).max(1);
    let asked = (0..rows).step_by(step as usize).chain(rows.saturating_sub(1000)..rows);
    let mut questions = 0;
    for row in asked {
        let expected = Match { row: Row(row as u32), agreeing: 2 };
        wrong += u64::from(index.matches(&features(row)).unwrap() != [expected]);
        questions += 1;
    }
    (wrong, begun.elapsed().as_nanos() as u64 / questions)
}

#[test]
fn originals_beyond_26_bits_are_found() {
    let count = long::number("WONBON_ORIGINALS", 150_000);
    // Built to shortly before the last border below the count, then one by one across it.
    let border = 1_u64 << count.ilog2();
    let built = border - border / 64;
    let rows = (0..built).map(|row| Row(row as u32)).collect();
    let mut index =
        MemoryIndex::build(PARAMS, rows, (0..built).flat_map(features).collect()).unwrap();
    let (mut wrong, before) = ask(&index, built);
    for row in built..count {
        index.insert(Row(row as u32), &features(row)).unwrap();
    }
    let (wrong_beyond, beyond) = ask(&index, count);
    wrong += wrong_beyond;

    // Removed and added again on both sides of the border.
    for row in (0..1000).chain(border - 500..(border + 500).min(count)) {
        let features = features(row);
        assert!(index.remove(Row(row as u32), &features).unwrap());
        assert!(index.matches(&features).unwrap().is_empty());
        index.insert(Row(row as u32), &features).unwrap();
    }

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index.snapshot");
    index.write_snapshot(&path, 7).unwrap();
    let bytes = index.memory_bytes() as u64;
    drop(index);
    let (index, mark) = MemoryIndex::read_snapshot(&path, PARAMS).unwrap();
    assert_eq!((index.len() as u64, mark), (count, 7));
    wrong += ask(&index, count).0;
    long::report(
        "originals in an index in memory",
        &[
            ("tried", count),
            ("bytes an original", bytes / count),
            ("nanoseconds a question before the border", before),
            ("beyond", beyond),
            ("wrong", wrong),
        ],
    );
    assert_eq!(wrong, 0);
}
