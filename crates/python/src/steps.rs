//! The steps of a batch run over streams of Arrow batches, for engines that own the data: `wonbon.steps`.
//!
//! A stream goes in as anything that exports Arrow or as an iterator of batches, and comes out as an object
//! that exports Arrow, once. Nothing is computed before the stream is read, and then a batch at a time: the
//! interpreter is held only while a Python iterator is asked for its next batch.
//!
//! Not here: what a step does (`wonbon_cluster::steps`).

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use serde_json::json;
use wonbon_cluster::ClusterError;
use wonbon_cluster::deciding::FamilyConfig;
use wonbon_cluster::digest::FamilyDigest;
use wonbon_cluster::steps::{
    Batches as StepOutput, Components, Near, Number, Pack, Pairs, Scatter, Settle, Sketch,
    SketchColumns, Step, Stepped, Verdicts, Verify, Walk, WalkParams,
};
use wonbon_documents::{Value, column_value};
use wonbon_rule::{Bands, Kind};

use crate::capsule;
use crate::failure::Failure;
use crate::input::{Arrays, as_batch};
use crate::options;

/// A stream of batches that has not been read yet.
#[pyclass(frozen, module = "wonbon._wonbon")]
pub(crate) struct Stream {
    schema: SchemaRef,
    reader: Mutex<Option<Box<dyn RecordBatchReader + Send>>>,
}

#[pymethods]
impl Stream {
    /// Hands the stream to whoever reads Arrow, once.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyCapsule>, Failure> {
        // The interface allows to hand out the own schema whatever was asked for.
        let _ = requested_schema;
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| Failure::request("a stream can be read only once"))?;
        Ok(capsule::export_stream(py, reader)?)
    }

    /// The names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>, Failure> {
        capsule::export_schema(py, &self.schema)
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }
}

/// The batches of any stream; what fails in Python keeps its sentence.
struct Batches(Arrays);

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.0.next()?.and_then(|array| as_batch(&array));
        Some(batch.map_err(|failure| ArrowError::ExternalError(Box::new(PyErr::from(failure)))))
    }
}

/// Puts a step behind a stream. `make` gets the columns of the stream.
pub(crate) fn step_behind(
    stream: &Bound<'_, PyAny>,
    make: impl FnOnce(&Schema) -> Result<Box<dyn Step>, Failure>,
) -> Result<Stream, Failure> {
    let mut arrays = Arrays::of(stream, "the stream")?;
    let input = match arrays.peek()? {
        None => Schema::empty(),
        Some(field) => match field.data_type() {
            DataType::Struct(fields) => Schema::new(fields.clone()),
            other => {
                return Err(Failure::request(format!(
                    "a stream with columns is wanted, not a column of {other}"
                )));
            }
        },
    };
    let step = make(&input)?;
    let schema = step.schema();
    let reader = Box::new(Stepped::new(step, Batches(arrays)));
    Ok(Stream { schema, reader: Mutex::new(Some(reader)) })
}

/// What decides families: `rule`, `family`, `engine`, `keep`, `shingle`, `seed`, `memory`, each with the
/// program's default.
fn config_of(options: &Bound<'_, PyDict>) -> Result<FamilyConfig, Failure> {
    let mut config = FamilyConfig::default();
    for (name, value) in options {
        let name: String = name.extract()?;
        let text = || -> Result<String, Failure> { Ok(value.extract()?) };
        let refused = |why: &dyn std::fmt::Display| Failure::request(format!("`{name}`: {why}"));
        match name.as_str() {
            "rule" => config.rule = text()?.parse().map_err(|why| refused(&why))?,
            "family" => config.family = text()?.parse().map_err(|why| refused(&why))?,
            "engine" => config.engine = text()?.parse().map_err(|why| refused(&why))?,
            "keep" => config.keep = text()?.parse().map_err(|why| refused(&why))?,
            "shingle" => config.shingle_words = options::shingle_words(value.extract()?)?,
            "seed" => config.seed = options::seed(Some(&value))?,
            "memory" => config.memory = value.extract()?,
            _ => return Err(Failure::request(format!("there is no option `{name}`"))),
        }
    }
    if config.rule.is_valid() {
        Ok(config)
    } else {
        Err(Failure::request(format!(
            "`rule`: a threshold above 0 and up to 1, or from 1 to 6 features, not {}",
            config.rule
        )))
    }
}

/// Everything in the options that decides the result, as JSON.
#[pyfunction]
#[pyo3(signature = (**options))]
pub(crate) fn step_plan(
    py: Python<'_>,
    options: Option<&Bound<'_, PyDict>>,
) -> Result<String, Failure> {
    let config = config_of(options.unwrap_or(&PyDict::new(py)))?;
    let Bands { bands, rows } = config.rule.bands();
    let plan = json!({
        "program": env!("CARGO_PKG_VERSION"),
        "rule": config.rule.to_string(),
        "family": config.family.to_string(),
        "engine": config.engine.to_string(),
        "keep": config.keep.to_string(),
        "shingle words": config.shingle_words,
        "bands": [bands, rows],
        "seed": config.seed.fingerprint().to_string(),
        "normal form": wonbon_text::words::NORMAL_FORM_VERSION,
        "shingle hash": wonbon_text::shingles::SHINGLE_HASH_VERSION,
    });
    Ok(plan.to_string())
}

/// How families are found where all representatives have so many shingles: the threshold of the exact join,
/// if that is how, and a sentence about it.
#[pyfunction]
#[pyo3(signature = (shingles, **options))]
pub(crate) fn step_engine(
    py: Python<'_>,
    shingles: u64,
    options: Option<&Bound<'_, PyDict>>,
) -> Result<(Option<f64>, String), Failure> {
    let config = config_of(options.unwrap_or(&PyDict::new(py)))?;
    Ok((config.exact_threshold(shingles), config.describe_engine(shingles)))
}

/// Documents to fingerprints, keys and features.
#[pyfunction]
#[pyo3(signature = (stream, *, text, order = None, other = None, first = 0, **options))]
pub(crate) fn step_sketch(
    stream: &Bound<'_, PyAny>,
    text: String,
    order: Option<String>,
    other: Option<String>,
    first: i64,
    options: Option<&Bound<'_, PyDict>>,
) -> Result<Stream, Failure> {
    let config = config_of(options.unwrap_or(&PyDict::new(stream.py())))?;
    let columns = SketchColumns { text, order, other };
    step_behind(stream, |input| Ok(Box::new(Sketch::new(&config, columns, first, input)?)))
}

/// Features to blobs of entries, one for each target partition.
#[pyfunction]
#[pyo3(signature = (stream, *, partitions, prefixes = false))]
pub(crate) fn step_scatter(
    stream: &Bound<'_, PyAny>,
    partitions: usize,
    prefixes: bool,
) -> Result<Stream, Failure> {
    step_behind(stream, |_| Ok(Box::new(Scatter::new(partitions, prefixes)?)))
}

/// Entries of a partition to pairs that span every bucket.
#[pyfunction]
pub(crate) fn step_pairs(stream: &Bound<'_, PyAny>) -> Result<Stream, Failure> {
    step_behind(stream, |_| Ok(Box::new(Pairs::default())))
}

/// All pairs to groups.
#[pyfunction]
pub(crate) fn step_components(stream: &Bound<'_, PyAny>) -> Result<Stream, Failure> {
    step_behind(stream, |_| Ok(Box::new(Components::default())))
}

/// Texts, compressed.
#[pyfunction]
#[pyo3(signature = (stream, *, text))]
pub(crate) fn step_pack(stream: &Bound<'_, PyAny>, text: &str) -> Result<Stream, Failure> {
    step_behind(stream, |input| Ok(Box::new(Pack::new(text, input)?)))
}

/// Groups in keep order to copies and their originals.
#[pyfunction]
#[pyo3(signature = (stream, *, exact = None, pairs = false, **options))]
pub(crate) fn step_walk(
    stream: &Bound<'_, PyAny>,
    exact: Option<f64>,
    pairs: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> Result<Stream, Failure> {
    let config = config_of(options.unwrap_or(&PyDict::new(stream.py())))?;
    step_behind(stream, |_| Ok(Box::new(Walk::new(config, WalkParams { exact, pairs })?)))
}

/// Rows with the number of their part and their places in it.
#[pyfunction]
#[pyo3(signature = (stream, *, part))]
pub(crate) fn step_number(stream: &Bound<'_, PyAny>, part: i64) -> Result<Stream, Failure> {
    step_behind(stream, |input| Ok(Box::new(Number::new(part, input))))
}

/// Documents with what is known of them to kinds.
#[pyfunction]
pub(crate) fn step_verdicts(stream: &Bound<'_, PyAny>) -> Result<Stream, Failure> {
    step_behind(stream, |input| Ok(Box::new(Verdicts::new(input))))
}

/// Entries of a partition to pairs: with the first `prefix` before each member, or, without a prefix, of
/// copies with the originals before them.
#[pyfunction]
#[pyo3(signature = (stream, *, prefix = None))]
pub(crate) fn step_near(
    stream: &Bound<'_, PyAny>,
    prefix: Option<usize>,
) -> Result<Stream, Failure> {
    let near = prefix.map_or_else(Near::originals, Near::first);
    step_behind(stream, |_| Ok(Box::new(near)))
}

/// Pairs with their texts to exact resemblances.
#[pyfunction]
#[pyo3(signature = (stream, **options))]
pub(crate) fn step_verify(
    stream: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> Result<Stream, Failure> {
    let config = config_of(options.unwrap_or(&PyDict::new(stream.py())))?;
    step_behind(stream, |_| Ok(Box::new(Verify::new(config)?)))
}

/// What a round decides.
#[pyfunction]
pub(crate) fn step_settle(stream: &Bound<'_, PyAny>) -> Result<Stream, Failure> {
    step_behind(stream, |_| Ok(Box::new(Settle::default())))
}

/// Rows of families to one digest of all of them.
struct Digest {
    digest: FamilyDigest,
    given: bool,
}

/// What a table of families must have.
const FAMILY_COLUMNS: [&str; 5] = ["id", "kind", "family", "original", "resemblance"];

impl Step for Digest {
    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("digest", DataType::Utf8, true)]))
    }

    fn take(&mut self, batch: &RecordBatch, _: &mut StepOutput) -> Result<(), ClusterError> {
        let missing = |name: &str| ClusterError::NoColumn {
            column: name.to_owned(),
            wanted: "a table of families",
        };
        let mut columns = Vec::new();
        for name in FAMILY_COLUMNS {
            columns.push(batch.column_by_name(name).ok_or_else(|| missing(name))?);
        }
        for row in 0..batch.num_rows() {
            let values: Vec<Value<'_>> =
                columns.iter().map(|column| column_value(column, row)).collect();
            let [
                Value::Text(id),
                Value::Text(kind),
                family,
                Value::Text(original),
                Value::Float(resemblance),
            ] = values.as_slice()
            else {
                return Err(missing("id"));
            };
            let kind = Kind::ALL.into_iter().find(|one| one.name() == kind);
            let kind = kind.ok_or_else(|| missing("kind"))?;
            let family = match family {
                Value::Missing => None,
                Value::Integer(number) => {
                    Some(u32::try_from(*number).map_err(|_| missing("family"))?)
                }
                _ => return Err(missing("family")),
            };
            self.digest.add(id, kind, family, original, *resemblance);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut StepOutput) -> Result<(), ClusterError> {
        if !std::mem::replace(&mut self.given, true) {
            let digest = StringArray::from(vec![self.digest.to_string()]);
            out.push_back(RecordBatch::try_new(self.schema(), vec![Arc::new(digest)])?);
        }
        Ok(())
    }
}

/// Families to their digest, in one row.
#[pyfunction]
pub(crate) fn step_digest(stream: &Bound<'_, PyAny>) -> Result<Stream, Failure> {
    let digest = Digest { digest: FamilyDigest::default(), given: false };
    step_behind(stream, |_| Ok(Box::new(digest)))
}

/// The digest of a table from those of its parts.
#[pyfunction]
pub(crate) fn join_digests(parts: Vec<String>) -> Result<String, Failure> {
    let mut all = FamilyDigest::default();
    for part in parts {
        let sum = u128::from_str_radix(&part, 16)
            .map_err(|_| Failure::request(format!("{part} is no digest of families")))?;
        all.merge(FamilyDigest::from_sum(sum));
    }
    Ok(all.to_string())
}
