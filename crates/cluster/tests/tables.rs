//! Families of tables in memory are those of a run over files with the same rows; every entry point refuses the same rows.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use proptest::prelude::*;
use wonbon_cluster::ClusterError;
use wonbon_cluster::corpus::PART_BYTES;
use wonbon_cluster::deciding::FamilyConfig;
use wonbon_cluster::dedup::{DedupConfig, dedup};
use wonbon_cluster::keep::Keep;
use wonbon_cluster::steps::passages::PassageSeeds;
use wonbon_cluster::steps::{Sketch, SketchColumns, Step, Stepped};
use wonbon_cluster::stream::{StreamDocument, families_of};
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

/// A run over a file beside its output.
fn job(input: PathBuf) -> DedupConfig {
    let TableConfig { fields, dates, method, .. } = config(false);
    DedupConfig {
        passages: None,
        output: input.with_extension("out"),
        inputs: vec![input],
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
    }
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
    dedup(&job(input), &Unwatched).unwrap().digest
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

const TEXT: &str = "one two three four five six";

/// What each entry point says to one row with this time, without what names the row.
fn said_to(created: Option<&str>) -> [Result<(), String>; 5] {
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(StringArray::from(vec!["a"]))),
        ("text", Arc::new(StringArray::from(vec![TEXT]))),
        ("created", Arc::new(StringArray::from(vec![created]))),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let named = |name: &'static str| {
        move |error: &dyn std::error::Error| -> String {
            let said = error.source().map_or(error.to_string(), ToString::to_string);
            said.strip_prefix(name).unwrap_or_else(|| panic!("{said}")).to_owned()
        }
    };

    let work = tempfile::tempdir().unwrap();
    let input = work.path().join("in.jsonl");
    let row = serde_json::json!({"id": "a", "text": TEXT, "created": created});
    std::fs::write(&input, format!("{row}\n")).unwrap();
    let of_files = dedup(&job(input), &Unwatched).map(drop).map_err(|error| {
        error.to_string().split_once(":1 ").unwrap_or_else(|| panic!("{error}")).1.to_owned()
    });

    let table_work = tempfile::tempdir().unwrap();
    let rows = [Ok::<_, ClusterError>(batch.clone())];
    let of_tables = Families::find(rows, [], config(false), table_work.path(), &Unwatched);
    let of_tables = of_tables.map(drop).map_err(|error| named("row:0 ")(&error));

    let stream_work = tempfile::tempdir().unwrap();
    let ranking = created.map(str::to_owned);
    let document = StreamDocument { ranking, ..StreamDocument::new("a", TEXT) };
    let of_streams =
        families_of([document], &FamilyConfig::default(), stream_work.path(), &Unwatched);
    let of_streams = of_streams.map(drop).map_err(|error| named("document a ")(&error));

    let columns = SketchColumns { text: "text".into(), order: Some("created".into()), other: None };
    let schema = batch.schema();
    let sketch = Sketch::new(&FamilyConfig::default(), columns.clone(), 0, &schema).unwrap();
    let seeds = PassageSeeds::new(50, Keep::Earliest, columns, 0, &schema).unwrap();
    let through = |step: Box<dyn Step>| {
        let mut stepped = Stepped::new(step, [Ok(batch.clone())].into_iter());
        let found = stepped.next().unwrap();
        found.map(drop).map_err(|error| named("document a ")(&error))
    };
    [of_files, of_tables, of_streams, through(Box::new(sketch)), through(Box::new(seeds))]
}

#[test]
fn a_time_that_is_none_is_refused_by_steps_and_streams_as_dedup_refuses_it() {
    for none in ["yesterday", "2024-02-31", "never"] {
        let wanted = format!("has a field `created` that is not a time: {none}");
        assert_eq!(said_to(Some(none)), [(); 5].map(|()| Err(wanted.clone())));
    }
    for time in [None, Some(""), Some(" "), Some("2024"), Some("2024-02-29T01:02:03Z")] {
        assert_eq!(said_to(time), [(); 5].map(|()| Ok(())), "{time:?}");
    }
}

#[test]
fn a_document_of_a_stream_without_an_id_is_called_by_its_number_as_in_a_table() {
    let work = tempfile::tempdir().unwrap();
    let documents = ["a", "", "b", ""].map(|id| StreamDocument::new(id, TEXT));
    let config = FamilyConfig::default();
    let families = families_of(documents, &config, work.path(), &Unwatched).unwrap();
    let ids: Vec<String> = families.iter().map(|row| row.unwrap().id).collect();
    assert_eq!(ids, ["a", "1", "b", "3"]);
}
