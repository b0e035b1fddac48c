//! What the papers' indexes promise beyond the contract: exactness although coordinates have half
//! the bits of a feature, the order of search, page counts, and files that are read again or refused.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::Path;

use proptest::prelude::*;
use wonbon_index::papers::{
    B6D1, FifteenRTrees, OneRTree, R1D3, R15D2, SixBTrees, SqliteIndex, Trees,
};
use wonbon_index::{CopyIndex, IndexError, IndexParams, MemoryIndex, Row};

const PARAMS: IndexParams = IndexParams { features: 6, agreeing: 2 };

/// Features without structure.
fn features(number: u64) -> [u64; 6] {
    std::array::from_fn(|place| wonbon_sketch::finalise(number * 6 + place as u64))
}

/// Runs a test for each of the three, as modules of its name.
macro_rules! for_each_index {
    ($test:ident, $check:ident) => {
        mod $test {
            use super::{FifteenRTrees, OneRTree, SixBTrees};

            #[test]
            fn b6d1() {
                super::$check::<SixBTrees>();
            }
            #[test]
            fn r15d2() {
                super::$check::<FifteenRTrees>();
            }
            #[test]
            fn r1d3() {
                super::$check::<OneRTree>();
            }
        }
    };
}

/// Features that differ only in the half that no tree holds, and that reach the ends of the other.
fn features_with_equal_coordinates() -> impl Strategy<Value = [u64; 6]> {
    let feature =
        (0_u64..2, prop::sample::select(vec![0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]))
            .prop_map(|(high, low): (u64, u64)| (high << 63) | low);
    prop::array::uniform6(feature)
}

fn equals_memory<T: Trees>(originals: &[[u64; 6]], every: usize, asked: &[[u64; 6]]) {
    let mut index = SqliteIndex::<T>::temporary(PARAMS).unwrap();
    let mut memory = MemoryIndex::new(PARAMS).unwrap();
    for (row, features) in (0..).map(Row).zip(originals) {
        index.insert(row, features).unwrap();
        memory.insert(row, features).unwrap();
    }
    for (row, features) in (0..).map(Row).zip(originals).step_by(every) {
        assert!(index.remove(row, features).unwrap());
        assert!(memory.remove(row, features).unwrap());
    }
    for features in asked {
        let expected = memory.matches(features).unwrap();
        assert_eq!(&index.matches(features).unwrap(), &expected);
        match index.first_match(features).unwrap() {
            Some(first) => assert!(expected.contains(&first)),
            None => assert!(expected.is_empty()),
        }
    }
    index.verify().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn features_of_equal_coordinates_are_told_apart(
        originals in prop::collection::vec(features_with_equal_coordinates(), 1..80),
        removed in 2_usize..5,
        asked in prop::collection::vec(features_with_equal_coordinates(), 1..40),
    ) {
        equals_memory::<SixBTrees>(&originals, removed, &asked);
        equals_memory::<FifteenRTrees>(&originals, removed, &asked);
        equals_memory::<OneRTree>(&originals, removed, &asked);
    }
}

fn comes_and_goes<T: Trees>() {
    let mut index = SqliteIndex::<T>::temporary(PARAMS).unwrap();
    let rows: Vec<Row> = (0..4000).map(Row).collect();
    let all: Vec<u64> = (0..4000).flat_map(features).collect();
    index.load(&rows[..3000], &all[..6 * 3000]).unwrap();
    index.load(&rows[3000..3500], &all[6 * 3000..6 * 3500]).unwrap();
    for number in 3500..4000 {
        index.insert(Row(number as u32), &features(number)).unwrap();
    }
    for number in (0..4000).step_by(3) {
        assert!(index.remove(Row(number as u32), &features(number)).unwrap());
        assert!(!index.remove(Row(number as u32), &features(number)).unwrap());
    }
    index.verify().unwrap();
    for number in 0..4000 {
        let mut asked = features(number);
        asked[0] = 1;
        asked[3] = 2;
        let found = index.matches(&asked).unwrap();
        let expected = if number % 3 == 0 { None } else { Some(Row(number as u32)) };
        assert_eq!(found.first().map(|found| found.row), expected);
        assert_eq!(index.first_match(&asked).unwrap(), found.first().copied());
        assert!(found.iter().all(|found| found.agreeing == 4));
    }
}
for_each_index!(many_originals_are_loaded_added_and_removed, comes_and_goes);

fn refuses_params<T: Trees>() {
    for (features, agreeing) in [(6, 3), (5, 2), (12, 4), (6, 0)] {
        let params = IndexParams { features, agreeing };
        let error = SqliteIndex::<T>::temporary(params).unwrap_err();
        assert!(matches!(error, IndexError::OnlyTwoOfSix { .. }));
        let expected = format!("{} compares 2 of 6 features, not {params}", SqliteIndex::<T>::NAME);
        assert_eq!(error.to_string(), expected);
    }
}
for_each_index!(other_params_are_refused_by_name, refuses_params);

fn refuses_rows<T: Trees>() {
    let mut index = SqliteIndex::<T>::temporary(PARAMS).unwrap();
    index.insert(Row(3), &features(3)).unwrap();
    let taken = |error: IndexError| matches!(error, IndexError::RowTaken { row: Row(3) });
    assert!(taken(index.insert(Row(3), &features(4)).unwrap_err()));
    let two = [features(1), features(2)].concat();
    assert!(taken(index.load(&[Row(1), Row(3)], &two).unwrap_err()));
    assert!(index.load(&[Row(1), Row(1)], &two).is_err());
    let error = index.load(&[Row(1)], &two).unwrap_err();
    assert!(matches!(error, IndexError::WrongLength { want: 6, got: 12 }));
    assert!(!index.remove(Row(3), &features(4)).unwrap(), "these are not its features");
    assert_eq!(index.len(), 1);
    index.verify().unwrap();
}
for_each_index!(a_row_is_added_once_and_nothing_happens_otherwise, refuses_rows);

/// Whether it is found, the pages that takes, and how many of them are of the trees.
fn pages<T: Trees>(index: &SqliteIndex<T>, asked: [u64; 6]) -> (bool, u64, u64) {
    let pages = || {
        let all = index.page_accesses();
        (all, all - index.comparison_page_accesses())
    };
    let before = pages();
    let found = index.first_match(&asked).unwrap();
    let after = pages();
    (found.is_some(), after.0 - before.0, after.1 - before.1)
}

fn counts_pages<T: Trees>() {
    let mut index = SqliteIndex::<T>::temporary(PARAMS).unwrap();
    assert_eq!(index.page_accesses(), 0, "making it does not count");
    let mut with_few = 0;
    for (step, numbers) in [0..20_u64, 20..5_000].into_iter().enumerate() {
        let rows: Vec<Row> = numbers.clone().map(|number| Row(number as u32)).collect();
        let all: Vec<u64> = numbers.flat_map(features).collect();
        index.load(&rows, &all).unwrap();
        let mut sums = [0; 3];
        for number in 0..20 {
            // Found by the first pair, found by the last pair, not found.
            let stored = features(number);
            let mut last = [1, 2, 3, 4, stored[4], stored[5]];
            for (kind, sum) in sums.iter_mut().enumerate() {
                if kind == 2 {
                    last[5] = 6;
                }
                let asked = if kind == 0 { stored } else { last };
                let (found, all, of_trees) = pages(&index, asked);
                assert_eq!(found, kind < 2);
                assert!(of_trees > 0);
                assert_eq!(all > of_trees, found, "only what is found is compared");
                *sum += of_trees;
            }
        }
        let [first, last, none] = sums;
        assert!(first < last, "{first} pages for the first pair, {last} for the last");
        assert!(first < none, "{first} pages for the first pair, {none} for none");
        if step == 0 {
            with_few = none;
        }
        assert!(step == 0 || none > with_few, "{none} pages in deeper trees, were {with_few}");
    }
}
for_each_index!(an_early_end_and_a_small_tree_take_fewer_pages, counts_pages);

#[test]
fn six_small_b_trees_take_one_page_each() {
    let mut index = B6D1::temporary(PARAMS).unwrap();
    index.insert(Row(1), &features(1)).unwrap();
    // One root for each tree; SQLite may look at the file's first page besides.
    let (_, _, none) = pages(&index, features(2));
    assert!((6..=7).contains(&none), "{none}");
    let (_, _, first) = pages(&index, features(1));
    assert_eq!(first, none - 4, "the search ends with the second tree");
}

/// Writes an index, of which the first 300 originals but each 23rd are there.
fn write<T: Trees>(path: &Path) {
    let mut index = SqliteIndex::<T>::open(path, PARAMS).unwrap();
    let rows: Vec<Row> = (0..280).map(Row).collect();
    let all: Vec<u64> = (0..280).flat_map(features).collect();
    index.load(&rows, &all).unwrap();
    for number in 280..300 {
        index.insert(Row(number as u32), &features(number)).unwrap();
    }
    for number in (0..300).step_by(23) {
        assert!(index.remove(Row(number as u32), &features(number)).unwrap());
    }
}

fn answers_as_written(index: &impl CopyIndex) -> bool {
    (0..300).all(|number| {
        let mut asked = features(number);
        asked[2] = 0;
        let expected = (number % 23 != 0).then_some(Row(number as u32));
        let row = |found: wonbon_index::Match| found.row;
        index.matches(&asked).is_ok_and(|found| {
            found.iter().copied().map(row).collect::<Vec<_>>() == Vec::from_iter(expected)
        }) && index.first_match(&asked).is_ok_and(|found| found.map(row) == expected)
    })
}

fn goes_on<T: Trees>() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index.db");
    write::<T>(&path);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "one file");
    let mut index = SqliteIndex::<T>::open(&path, PARAMS).unwrap();
    assert_eq!(index.len(), 300 - 14);
    index.verify().unwrap();
    assert!(answers_as_written(&index));
    index.insert(Row(0), &features(0)).unwrap();
    assert!(index.remove(Row(1), &features(1)).unwrap());
    let locked = SqliteIndex::<T>::open(&path, PARAMS).unwrap_err();
    assert!(matches!(locked, IndexError::Sqlite { .. }), "{locked}");
    drop(index);
    let index = SqliteIndex::<T>::open(&path, PARAMS).unwrap();
    index.verify().unwrap();
    assert_eq!(index.first_match(&features(0)).unwrap().unwrap().row, Row(0));
    assert_eq!(index.first_match(&features(1)).unwrap(), None);
}
for_each_index!(an_index_is_opened_again_and_goes_on, goes_on);

fn refuses_foreign<T: Trees>() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let refused = |what: &str| {
        let before = std::fs::read(&path).unwrap();
        let error = SqliteIndex::<T>::open(&path, PARAMS).unwrap_err();
        let expected = format!("{} is no {} index: {what}", path.display(), SqliteIndex::<T>::NAME);
        assert_eq!(error.to_string(), expected);
        assert_eq!(std::fs::read(&path).unwrap(), before, "it is left as it is");
    };
    std::fs::write(&path, "once upon a time ".repeat(100)).unwrap();
    refused("it is no SQLite database");
    std::fs::write(&path, "once upon a time").unwrap();
    refused("it is too short");
    std::fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA page_size = 1024; CREATE TABLE about(name)")
        .unwrap();
    refused("it is a database of something else");
    std::fs::remove_file(&path).unwrap();
    drop(SqliteIndex::<T>::open(&path, PARAMS).unwrap());
    let version = rusqlite::Connection::open(&path).unwrap();
    version.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(version);
    refused("it has a version that this program does not know");
    let error = SqliteIndex::<T>::open(directory.path(), PARAMS).unwrap_err();
    assert!(matches!(error, IndexError::Sqlite { .. }), "a directory is no file: {error}");
}
for_each_index!(a_file_of_something_else_is_refused_and_left_alone, refuses_foreign);

#[test]
fn an_index_of_another_kind_is_refused_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index.db");
    drop(B6D1::open(&path, PARAMS).unwrap());
    for error in [R15D2::open(&path, PARAMS).unwrap_err(), R1D3::open(&path, PARAMS).unwrap_err()] {
        assert!(error.to_string().ends_with("it is a B6D1 index"), "{error}");
    }
}

fn never_wrong<T: Trees>() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index.db");
    write::<T>(&path);
    let whole = std::fs::read(&path).unwrap();
    // Refused when opened, found by verification, or in a place that says nothing.
    let noticed = |what: &str| match SqliteIndex::<T>::open(&path, PARAMS) {
        Err(IndexError::DamagedFile { .. } | IndexError::Foreign { .. }) => true,
        Err(other) => panic!("{what}: {other}"),
        Ok(index) => match index.verify() {
            Err(IndexError::DamagedFile { .. }) => true,
            Err(other) => panic!("{what}: {other}"),
            Ok(()) => {
                assert!(answers_as_written(&index), "{what}: answered wrongly");
                false
            }
        },
    };
    let (mut tried, mut found) = (0, 0);
    for at in (0..whole.len()).step_by(whole.len() / 200) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        std::fs::write(&path, bytes).unwrap();
        tried += 1;
        found += usize::from(noticed(&format!("byte {at} turned")));
    }
    assert!(found > tried / 4, "{found} of {tried}");
    for length in [1, 99, 1024, whole.len() / 2, whole.len() - 1024, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(SqliteIndex::<T>::open(&path, PARAMS).is_err(), "cut to {length} bytes");
    }
    std::fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
    let error = SqliteIndex::<T>::open(&path, PARAMS).unwrap_err();
    assert!(error.to_string().ends_with("its length is not what its header says"), "{error}");
}
for_each_index!(a_damaged_file_is_never_answered_wrongly_from, never_wrong);

#[test]
fn a_file_whose_loading_was_broken_off_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path: &Path = &directory.path().join("index.db");
    write::<FifteenRTrees>(path);
    let database = rusqlite::Connection::open(path).unwrap();
    database.execute("UPDATE about SET state = 1", []).unwrap();
    drop(database);
    let error = R15D2::open(path, PARAMS).unwrap_err().to_string();
    assert!(error.ends_with("is damaged: loading it was broken off; build it again"), "{error}");
}

#[test]
fn an_insertion_that_fails_in_the_last_tree_leaves_nothing_in_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path: &Path = &directory.path().join("index.db");
    write::<SixBTrees>(path);
    let stored = features(1000);
    let database = rusqlite::Connection::open(path).unwrap();
    let last = stored[5] as u32 as i32;
    database.execute("INSERT INTO feature_6 VALUES (?1, 1000)", [last]).unwrap();
    drop(database);
    let mut index = B6D1::open(path, PARAMS).unwrap();
    let error = index.insert(Row(1000), &stored).unwrap_err();
    assert!(matches!(error, IndexError::DamagedFile { .. }), "{error}");
    assert_eq!(index.len(), 300 - 14);
    assert!(answers_as_written(&index));
    drop(index);
    let database = rusqlite::Connection::open(path).unwrap();
    for tree in ["feature_1", "feature_5", "originals"] {
        let statement = format!("SELECT count(*) FROM {tree} WHERE row = 1000");
        let rows: i64 = database.query_row(&statement, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{tree}");
    }
}
