//! Passages of tables, and the resumable jobs over files: what repeats, and texts without it.
//!
//! The rows of a table are read as those of a file are, and held in memory while a call runs; what does not fit there is
//! for the functions over files.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, LargeStringBuilder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use serde_json::{Value, json};
use wonbon_cluster::deciding::FamilyConfig;
use wonbon_cluster::dedup::{DedupConfig, PassageOptions};
use wonbon_cluster::passages::{
    CutText, ListConfig, PassageUnit, TableTexts, TextPassage, TextPassages, list_passages,
};
use wonbon_documents::{ChosenFields, Limits, TableReading};
use wonbon_progress::Progress;

use crate::batches::Batches;
use crate::failure::Failure;
use crate::families::{Request, memory, parse, resources};
use crate::options;
use crate::table::Table;
use crate::watched::{self, Watched};

/// The rows of a table, those of another corpus before them.
struct Rows {
    data: Batches,
    against: Option<Batches>,
}

impl Rows {
    fn of(
        data: &Bound<'_, PyAny>,
        against: Option<&Bound<'_, PyAny>>,
        fields: &str,
    ) -> Result<Self, Failure> {
        let chosen: ChosenFields = parse(fields)?;
        let data = Batches::of(data, "the data", &chosen, None, false)?;
        let names = data.fields().clone();
        let against = against.map(|other| Batches::by(other, "`against`", &names)).transpose()?;
        Ok(Rows { data, against })
    }

    /// All of them, and how many belong to the other corpus.
    fn read(
        self,
        threads: std::num::NonZeroUsize,
        progress: &Watched,
    ) -> Result<(TableTexts, usize), Failure> {
        let fields = self.data.fields().clone();
        let reading =
            TableReading { fields: &fields, ranking: None, threads, progress, for_store: false };
        progress.begin("read", 0);
        let mut rows = TableTexts::default();
        rows.read::<Failure>(reading, self.against.into_iter().flatten())?;
        let others = rows.texts.len();
        rows.read::<Failure>(reading, self.data)?;
        progress.begin("passages", 0);
        Ok((rows, others))
    }
}

pub(crate) fn unit_of(unit: &str) -> Result<PassageUnit, Failure> {
    unit.parse().map_err(|error| Failure::request(format!("`unit` cannot be {unit}: {error}")))
}

/// The passages that the rows of a table repeat, those that would save most first.
#[pyfunction]
#[pyo3(signature = (data, fields, folder, *, words, min_documents, places, against = None, threads = None,
                    memory = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn passages_table(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    fields: &str,
    folder: PathBuf,
    words: usize,
    min_documents: u64,
    places: usize,
    against: Option<&Bound<'_, PyAny>>,
    threads: Option<i64>,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<Table, Failure> {
    let rows = Rows::of(data, against, fields)?;
    let (threads, memory) = (options::threads(threads)?, self::memory(memory));
    watched::run(py, progress, |watched| {
        let (rows, others) = rows.read(threads, watched)?;
        let search = TextPassages::of_words(words)?
            .with_others(others, false)
            .with_list(min_documents, places)
            .with_resources(threads, memory, watched);
        let mut found = search.find(&rows.texts, &folder)?;
        found.sort_by_key(|one| std::cmp::Reverse(one.saved()));
        list(&found, &rows)
    })
}

fn list(found: &[TextPassage], rows: &TableTexts) -> Result<Table, Failure> {
    let (mut texts, mut places) = (LargeStringBuilder::new(), LargeStringBuilder::new());
    let mut numbers: [UInt64Builder; 5] = std::array::from_fn(|_| UInt64Builder::new());
    for passage in found {
        let (row, bytes) = &passage.places[0];
        texts.append_value(&rows.texts[*row][bytes.clone()]);
        let told = passage.places.iter().map(
            |(row, Range { start, end })| json!({"id": rows.ids[*row], "start": start, "end": end}),
        );
        places.append_value(Value::from_iter(told).to_string());
        let row =
            [passage.words, passage.bytes(), passage.occurrences, passage.texts, passage.saved()];
        numbers.iter_mut().zip(row).for_each(|(column, value)| column.append_value(value));
    }
    let number = |name| Field::new(name, DataType::UInt64, false);
    let schema = Arc::new(Schema::new(vec![
        Field::new("text", DataType::LargeUtf8, false),
        number("words"),
        number("bytes"),
        number("occurrences"),
        number("documents"),
        number("saved"),
        Field::new("places", DataType::LargeUtf8, false),
    ]));
    let mut columns: Vec<ArrayRef> = vec![Arc::new(texts.finish())];
    columns.extend(numbers.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
    columns.push(Arc::new(places.finish()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    Ok(Table::new(schema, vec![batch]))
}

/// The rows of a table without what occurred before: id, text, the bytes that are removed as JSON, the words that are left
/// where something is removed, and whether the row is kept.
#[pyfunction]
#[pyo3(signature = (data, fields, folder, *, words, unit, min_left, against = None, of_others_only = false,
                    threads = None, memory = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn remove_passages_table(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    fields: &str,
    folder: PathBuf,
    words: usize,
    unit: &str,
    min_left: u32,
    against: Option<&Bound<'_, PyAny>>,
    of_others_only: bool,
    threads: Option<i64>,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<Table, Failure> {
    let unit = unit_of(unit)?;
    let rows = Rows::of(data, against, fields)?;
    let (threads, memory) = (options::threads(threads)?, self::memory(memory));
    watched::run(py, progress, |watched| {
        let (rows, others) = rows.read(threads, watched)?;
        let cuts = TextPassages::of_words(words)?
            .with_others(others, of_others_only)
            .with_resources(threads, memory, watched)
            .remove(&rows.texts, unit, &folder)?;
        what_is_left(&cuts, &rows.ids[others..], min_left)
    })
}

fn what_is_left(cuts: &[CutText], ids: &[String], min_left: u32) -> Result<Table, Failure> {
    let (mut names, mut texts) = (LargeStringBuilder::new(), LargeStringBuilder::new());
    let (mut removed, mut left) = (StringBuilder::new(), UInt32Builder::new());
    let mut kept = BooleanBuilder::new();
    for (id, cut) in ids.iter().zip(cuts) {
        names.append_value(id);
        texts.append_value(&cut.left);
        let ranges = cut.removed.iter().map(|range| json!([range.start, range.end]));
        removed.append_value(Value::from_iter(ranges).to_string());
        left.append_option(cut.words_left);
        kept.append_value(cut.words_left.is_none_or(|left| left >= min_left));
    }
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::LargeUtf8, false),
        Field::new("text", DataType::LargeUtf8, false),
        Field::new("removed", DataType::Utf8, false),
        Field::new("words_left", DataType::UInt32, true),
        Field::new("kept", DataType::Boolean, false),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(names.finish()),
        Arc::new(texts.finish()),
        Arc::new(removed.finish()),
        Arc::new(left.finish()),
        Arc::new(kept.finish()),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    Ok(Table::new(schema, vec![batch]))
}

/// `wonbon passages` from files to files; the summary as JSON.
#[pyfunction]
#[pyo3(signature = (inputs, output, fields, *, words, min_documents, places, against = Vec::new(), strict = false,
                    threads = None, memory = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn passages_files(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    fields: &str,
    words: usize,
    min_documents: u64,
    places: usize,
    against: Vec<PathBuf>,
    strict: bool,
    threads: Option<i64>,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<String, Failure> {
    let chosen: ChosenFields = parse(fields)?;
    let method = FamilyConfig {
        threads: options::threads(threads)?,
        memory: self::memory(memory),
        ..FamilyConfig::default()
    };
    watched::run(py, progress, |watched| {
        let granted = resources(inputs, output, &chosen, &method)?;
        let config = ListConfig {
            inputs: granted.inputs,
            output: granted.output,
            fields: granted.fields,
            words,
            min_documents,
            places,
            against,
            strict,
            limits: Limits::default(),
            threads: granted.threads,
            memory: granted.memory,
            part_bytes: granted.part_bytes,
        };
        let summary = list_passages(&config, watched)?;
        serde_json::to_string(&summary).map_err(|error| Failure::request(error.to_string()))
    })
}

/// `wonbon dedup --passages` from files to files; the summary as JSON. `request` is as for `dedup_files`.
#[pyfunction]
#[pyo3(signature = (inputs, output, request, *, words, unit, min_left, only = true, against = Vec::new(),
                    of_others_only = false, strict = false, threads = None, memory = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn remove_passages_files(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    request: &str,
    words: usize,
    unit: &str,
    min_left: u32,
    only: bool,
    against: Vec<PathBuf>,
    of_others_only: bool,
    strict: bool,
    threads: Option<i64>,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<String, Failure> {
    let Request { request, method } = Request::new(request, None, None, threads, memory)?;
    let unit = unit_of(unit)?;
    let passages = Some(PassageOptions { words, only, unit, min_left, of_others_only });
    watched::run(py, progress, |watched| {
        let granted = resources(inputs, output, &request.fields, &method)?;
        let planned = request.config(granted)?;
        let config = DedupConfig { method, strict, against, passages, ..planned };
        let summary = wonbon_cluster::dedup::dedup(&config, watched)?;
        serde_json::to_string(&summary).map_err(|error| Failure::request(error.to_string()))
    })
}
