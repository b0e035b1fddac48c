//! Families of tables in memory are those of a run over files with the same rows.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use proptest::prelude::*;
use wonbon_cluster::ClusterError;
use wonbon_cluster::corpus::PART_BYTES;
use wonbon_cluster::deciding::FamilyConfig;
use wonbon_cluster::dedup::{DedupConfig, dedup};
use wonbon_cluster::tables::{Families, TableConfig};
use wonbon_documents::{Dates, FieldNames, Limits, Progress, Unwatched};

fn batches(rows: &[String], pieces: usize) -> Vec<Result<RecordBatch, ClusterError>> {
    let ids: Vec<String> = (0..rows.len()).map(|row| format!("d{row}")).collect();
    let (ids, texts): (ArrayRef, ArrayRef) =
        (Arc::new(StringArray::from(ids)), Arc::new(StringArray::from(rows.to_vec())));
    let all = RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap();
    let size = rows.len().div_ceil(pieces).max(1);
    (0..rows.len()).step_by(size).map(|at| Ok(all.slice(at, size.min(rows.len() - at)))).collect()
}

fn config(pairs: bool) -> TableConfig {
    let method = FamilyConfig { threads: 3.try_into().unwrap(), ..FamilyConfig::default() };
    TableConfig { fields: FieldNames::default(), dates: Dates::default(), method, pairs }
}

/// The digest that a run over files prints.
fn digest_of_files(rows: &[String]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("rows.jsonl");
    let mut file = std::fs::File::create(&input).unwrap();
    for (number, text) in rows.iter().enumerate() {
        writeln!(file, "{}", serde_json::json!({"id": format!("d{number}"), "text": text}))
            .unwrap();
    }
    let TableConfig { fields, dates, method, .. } = config(false);
    let config = DedupConfig {
        passages: None,
        inputs: vec![input],
        output: folder.path().join("out"),
        fields,
        dates,
        method,
        pairs: None,
        annotate: false,
        strict: true,
        limits: Limits::default(),
        against: Vec::new(),
        part_bytes: PART_BYTES,
        save_sketches: false,
    };
    dedup(&config, &Unwatched).unwrap().digest
}

/// Texts of few words, so that families are many and some texts are empty.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec!["a", "b", "c", "d", "e", "f"]);
    let text = prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn families_of_tables_are_those_of_files(rows in texts(), pieces in 1_usize..5) {
        let folder = tempfile::tempdir().unwrap();
        let nothing = Vec::new();
        let families: Result<Families, ClusterError> =
            Families::find(batches(&rows, pieces), nothing, config(true), folder.path(), &Unwatched);
        let families = families.unwrap();
        let digest = families.for_each(|_, _, _| Ok(())).unwrap();
        prop_assert_eq!(families.len(), rows.len() as u64);
        prop_assert_eq!(digest.to_string(), digest_of_files(&rows));
        let again = families.again(0.8, &Unwatched).unwrap();
        prop_assert_eq!(again.for_each(|_, _, _| Ok(())).unwrap(), digest);
        prop_assert!(families.again(0.7, &Unwatched).is_err());
    }
}

struct Impatient;

impl Progress for Impatient {
    fn stop_asked(&self) -> bool {
        true
    }
}

#[test]
fn what_is_stopped_or_fails_leaves_the_folder_empty() {
    let rows = vec!["a b c d e f".to_owned(); 10];
    let folder = tempfile::tempdir().unwrap();
    let nothing = || Vec::<Result<RecordBatch, ClusterError>>::new();
    let stopped =
        Families::find(batches(&rows, 2), nothing(), config(false), folder.path(), &Impatient);
    assert!(matches!(stopped, Err(ClusterError::Stopped)));
    let broken = vec![Err(ClusterError::TooMany { most: 7 })];
    let failed = Families::find(broken, nothing(), config(false), folder.path(), &Unwatched);
    assert!(matches!(failed, Err(ClusterError::TooMany { most: 7 })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
