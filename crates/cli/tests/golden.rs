//! `wonbon add` and `wonbon dedup` find the same families among the golden rows, in every format.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::cast::AsArray;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use support::{json_lines, stderr, stdout, wonbon};
use wonbon_testkit::golden::{Format, rows};

/// The original of every document, itself included.
type Families = BTreeMap<String, String>;

/// What `wonbon dedup` wrote: JSON lines, or Parquet if its input is.
fn read_families(out: &Path) -> Families {
    let table = out.join("families.parquet");
    if !table.exists() {
        let lines = std::fs::read_to_string(out.join("families.jsonl")).unwrap();
        let word = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
        let rows = json_lines(&lines);
        return rows.iter().map(|row| (word(row, "id"), word(row, "original"))).collect();
    }
    let file = std::fs::File::open(table).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut families = Families::new();
    for batch in reader {
        let batch = batch.unwrap();
        let [ids, originals] =
            ["id", "original"].map(|name| batch.column_by_name(name).unwrap().as_string::<i32>());
        let owned = |value: Option<&str>| value.unwrap().to_owned();
        families.extend(ids.iter().map(owned).zip(originals.iter().map(owned)));
    }
    families
}

#[test]
fn a_store_and_a_batch_find_the_same_families_among_the_golden_rows() {
    for format in Format::ALL.into_iter().filter(|&format| format != Format::Post) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (input, store, out) = (path("in"), path("store"), path("out"));
        std::fs::create_dir(&input).unwrap();
        for (row, number) in rows().iter().zip(1..) {
            if row.fits(format) {
                let name = row.file_name(number, format);
                std::fs::write(folder.path().join("in").join(name), row.file(format)).unwrap();
            }
        }
        let made = wonbon(&["init", "--store", &store, "--rule", "threshold=0.8"]);
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        // Some rows are no documents, and both say so.
        let added = wonbon(&["add", "--store", &store, &input]);
        assert!(added.status.code() < Some(2), "{}", stderr(&added));
        let exported = wonbon(&["export", "--store", &store]);
        let stored: Families = json_lines(stdout(&exported))
            .iter()
            .map(|row| {
                let key = row["key"].as_str().unwrap();
                (key.to_owned(), row["original"].as_str().unwrap_or(key).to_owned())
            })
            .collect();

        let deduped = wonbon(&["dedup", &input, "-o", &out]);
        assert!(deduped.status.code() < Some(2), "{}", stderr(&deduped));
        let batch = read_families(&folder.path().join("out"));
        assert_eq!(stored, batch, "{format:?}");
        let copies = stored.iter().filter(|(key, original)| key != original).count();
        assert!(copies > 0 || format == Format::Warc, "{format:?} has no family: {stored:?}");
    }
}
