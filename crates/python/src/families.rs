//! Families of tables, and the resumable jobs over files.
//!
//! The rows of the answer stand in the order of the rows that came, so whatever is kept in a column here can be
//! kept in the table that it came from.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, LargeStringBuilder, StringBuilder, UInt32Builder,
};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use serde_json::{Value, json};
use wonbon_app::requests::{ClusterRequest, DedupRequest, Resources};
use wonbon_cluster::ClusterError;
use wonbon_cluster::deciding::FamilyConfig;
use wonbon_cluster::dedup::DedupConfig;
use wonbon_cluster::tables::{Families, TableConfig};
use wonbon_documents::ChosenFields;
use wonbon_progress::Progress;

use crate::batches::Batches;
use crate::capsule;
use crate::failure::Failure;
use crate::options;
use crate::table::Table;
use crate::watched;

/// Rows of an answer that are written between two looks at whether to stop.
const STOP_ROWS: usize = 1 << 14;

/// The families of a table.
#[pyclass(frozen, module = "wonbon._wonbon")]
pub(crate) struct FamilyCore {
    families: Families,
    table: Table,
    kept: BooleanArray,
    digest: String,
}

impl FamilyCore {
    fn new(families: Families, progress: &dyn Progress) -> Result<Self, Failure> {
        let (mut ids, mut originals) = (LargeStringBuilder::new(), LargeStringBuilder::new());
        let (mut kinds, mut numbers) = (StringBuilder::new(), UInt32Builder::new());
        let (mut resemblances, mut kept) = (Float64Builder::new(), BooleanBuilder::new());
        let mut rows = 0_usize;
        let digest = families.for_each(|id, row, original| {
            rows += 1;
            if rows.is_multiple_of(STOP_ROWS) && progress.stop_asked() {
                return Err(ClusterError::Stopped);
            }
            ids.append_value(id);
            kinds.append_value(row.kind.name());
            numbers.append_option(row.family);
            originals.append_value(original);
            resemblances.append_value(row.resemblance);
            kept.append_value(!row.kind.is_copy());
            Ok(())
        })?;
        let schema = Arc::new(Schema::new(vec![
            Field::new("id", DataType::LargeUtf8, false),
            Field::new("kind", DataType::Utf8, false),
            Field::new("family", DataType::UInt32, true),
            Field::new("original", DataType::LargeUtf8, false),
            Field::new("resemblance", DataType::Float64, false),
        ]));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(ids.finish()),
            Arc::new(kinds.finish()),
            Arc::new(numbers.finish()),
            Arc::new(originals.finish()),
            Arc::new(resemblances.finish()),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
        let table = Table::new(schema, vec![batch]);
        Ok(FamilyCore { families, table, kept: kept.finish(), digest: digest.to_string() })
    }
}

#[pymethods]
impl FamilyCore {
    /// Id, kind, family, original and resemblance of every row.
    #[getter]
    fn table(&self) -> Table {
        self.table.clone()
    }

    /// Whether each row is kept, as Arrow.
    fn kept_array<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyTuple>, Failure> {
        capsule::export_array(py, &self.kept)
    }

    /// Whether each row is kept: a byte each.
    fn kept_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let kept: Vec<u8> = self.kept.values().iter().map(u8::from).collect();
        PyBytes::new(py, &kept)
    }

    /// The digest of the families.
    #[getter]
    fn digest(&self) -> &str {
        &self.digest
    }

    /// The columns that were taken for the text and for the page.
    #[getter]
    fn content_columns(&self) -> (&str, &str) {
        let fields = self.families.fields();
        (&fields.text, &fields.html)
    }

    /// How many rows of other tables come before the first one.
    #[getter]
    fn others(&self) -> u64 {
        self.families.others()
    }

    /// Words in a shingle.
    #[getter]
    fn shingle(&self) -> usize {
        self.families.shingle_words().get()
    }

    /// Where the original of a row stands; rows of other tables are counted before all others.
    fn original_of(&self, row: u32) -> Result<u32, Failure> {
        let original =
            (u64::from(row) < self.families.len()).then(|| self.families.original_of(row));
        original.ok_or_else(|| Failure::request(format!("there is no row {row}")))
    }

    /// The rows whose texts the report shows; those of other tables are counted before all others.
    fn rows_in_report(&self) -> Vec<u32> {
        self.families.rows_in_report()
    }

    /// The report as a page, with the texts of those rows.
    fn report(&self, py: Python<'_>, texts: Vec<String>) -> Result<String, Failure> {
        py.detach(|| Ok(self.families.report(texts)?))
    }

    /// The numbers, as JSON.
    fn summary(&self) -> String {
        let families = &self.families;
        let kinds = families.kinds();
        let copies: u64 =
            kinds.iter().filter(|(kind, _)| kind.is_copy()).map(|(_, count)| count).sum();
        let kinds: serde_json::Map<String, Value> =
            kinds.iter().map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect();
        json!({
            "documents": families.len(), "kept": families.len() - copies, "copies": copies,
            "families": families.family_sizes().count(), "others": families.others(),
            "kinds": kinds, "compared": families.compared(), "engine": families.engine(),
            "rule": families.rule().to_string(), "text_bytes": families.text_bytes(),
            "digest": self.digest,
        })
        .to_string()
    }

    /// Every verified pair; None if they were not asked for.
    fn pairs(&self, py: Python<'_>) -> Result<Option<Table>, Failure> {
        let (mut left, mut right) = (LargeStringBuilder::new(), LargeStringBuilder::new());
        let mut resemblances = Float64Builder::new();
        let noted = watched::run(py, None, |watched| {
            Ok(self.families.for_each_pair(watched, |one, other, resemblance| {
                left.append_value(one);
                right.append_value(other);
                resemblances.append_value(resemblance);
                Ok(())
            })?)
        })?;
        if !noted {
            return Ok(None);
        }
        let schema = Arc::new(Schema::new(vec![
            Field::new("left", DataType::LargeUtf8, false),
            Field::new("right", DataType::LargeUtf8, false),
            Field::new("resemblance", DataType::Float64, false),
        ]));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(left.finish()),
            Arc::new(right.finish()),
            Arc::new(resemblances.finish()),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
        Ok(Some(Table::new(schema, vec![batch])))
    }

    /// The families at a higher threshold, with nothing read again.
    #[pyo3(signature = (threshold, progress = None))]
    fn again(
        &self,
        py: Python<'_>,
        threshold: f64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> Result<FamilyCore, Failure> {
        watched::run(py, progress, |watched| {
            FamilyCore::new(self.families.again(threshold, watched)?, watched)
        })
    }
}

/// A request in the words of the service and the flags: the fields of [`DedupRequest`], and what else a run
/// in Python has.
pub(crate) struct Request {
    pub(crate) request: DedupRequest,
    pub(crate) method: FamilyConfig,
}

/// Bytes of memory to stay within: what is asked for, or half of the machine's.
pub(crate) fn memory(bytes: Option<u64>) -> u64 {
    bytes.unwrap_or_else(wonbon_app::parameters::half_of_the_machine)
}

impl Request {
    /// From JSON, as the service takes it; what is a Python object comes beside it.
    pub(crate) fn new(
        request: &str,
        shingle: Option<i64>,
        seed: Option<&Bound<'_, PyAny>>,
        threads: Option<i64>,
        bytes: Option<u64>,
    ) -> Result<Self, Failure> {
        let request: DedupRequest = parse(request)?;
        let method = FamilyConfig {
            shingle_words: options::shingle_words(shingle)?,
            seed: options::seed(seed)?,
            threads: options::threads(threads)?,
            memory: memory(bytes),
            ..request.method()?
        };
        Ok(Request { request, method })
    }
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(request: &str) -> Result<T, Failure> {
    serde_json::from_str(request).map_err(|error| {
        // Where it stands in JSON that nobody wrote says nothing.
        let told = error.to_string();
        let sentence = told.split(" at line ").next().unwrap_or(&told);
        Failure::request(sentence)
    })
}

/// The families of the rows of a table.
#[pyfunction]
#[pyo3(signature = (data, request, folder, *, against = None, pairs = false, shingle = None, seed = None,
                    threads = None, memory = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn dedup_table(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    request: &str,
    folder: PathBuf,
    against: Option<&Bound<'_, PyAny>>,
    pairs: bool,
    shingle: Option<i64>,
    seed: Option<&Bound<'_, PyAny>>,
    threads: Option<i64>,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<FamilyCore, Failure> {
    let Request { request, method } = Request::new(request, shingle, seed, threads, memory)?;
    let ranking = method.keep.field().map(str::to_owned);
    let tables = Batches::of(data, "the data", &request.fields, ranking.as_deref(), false)?;
    let fields = tables.fields().clone();
    // The other table is read by the same names, as the program reads all inputs by the same fields.
    let against = against.map(|data| Batches::by(data, "`against`", &fields)).transpose()?;
    let config = TableConfig { fields, dates: request.dates.unwrap_or_default(), method, pairs };
    watched::run(py, progress, |watched| {
        let others = against.into_iter().flatten();
        let families = Families::find::<Failure>(tables, others, config, &folder, watched)?;
        FamilyCore::new(families, watched)
    })
}

/// `wonbon dedup` from files to files; the summary as JSON.
#[pyfunction]
#[pyo3(signature = (inputs, output, request, *, against = Vec::new(), pairs = None, save_sketches = false,
                    strict = false, shingle = None, seed = None, threads = None, memory = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn dedup_files(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    request: &str,
    against: Vec<PathBuf>,
    pairs: Option<PathBuf>,
    save_sketches: bool,
    strict: bool,
    shingle: Option<i64>,
    seed: Option<&Bound<'_, PyAny>>,
    threads: Option<i64>,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<String, Failure> {
    let Request { request, method } = Request::new(request, shingle, seed, threads, memory)?;
    watched::run(py, progress, |watched| {
        let resources = resources(inputs, output, &request.fields, &method)?;
        let planned = request.config(resources)?;
        let config = DedupConfig { method, pairs, strict, against, save_sketches, ..planned };
        let summary = wonbon_cluster::dedup::dedup(&config, watched)?;
        serde_json::to_string(&summary).map_err(|error| Failure::request(error.to_string()))
    })
}

/// `wonbon cluster` from files to files; the summary as JSON.
#[pyfunction]
#[pyo3(signature = (inputs, output, request, *, strict = false, shingle = None, threads = None, memory = None,
                    progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn cluster_files(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    request: &str,
    strict: bool,
    shingle: Option<i64>,
    threads: Option<i64>,
    memory: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<String, Failure> {
    let request: ClusterRequest = parse(request)?;
    let method = FamilyConfig {
        threads: options::threads(threads)?,
        memory: self::memory(memory),
        ..FamilyConfig::default()
    };
    let words = shingle.map(|words| options::shingle_words(Some(words))).transpose()?;
    watched::run(py, progress, |watched| {
        let resources = resources(inputs, output, &request.fields, &method)?;
        let mut config = request.config(resources)?;
        config.strict = strict;
        if let Some(words) = words {
            config.method.shingle_words = words;
        }
        let summary = wonbon_cluster::clustering::cluster(&config, watched)?;
        serde_json::to_string(&summary).map_err(|error| Failure::request(error.to_string()))
    })
}

/// What a run over files may use; fields that nobody names are guessed from the first row.
pub(crate) fn resources(
    inputs: Vec<PathBuf>,
    output: PathBuf,
    fields: &ChosenFields,
    method: &FamilyConfig,
) -> Result<Resources, Failure> {
    let beside = std::path::absolute(&output)
        .map_err(|error| Failure::request(format!("`output` cannot be a path: {error}")))?;
    let fields = fields.names(&inputs, beside.parent())?;
    let (threads, memory) = (method.threads, method.memory);
    Ok(Resources { inputs, fields, output, threads, memory, part_bytes: Resources::PART_BYTES })
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Stopped => Failure::Stopped,
            ClusterError::Input(error) => error.into(),
            ClusterError::Io { .. } => Failure::environment(&error),
            ClusterError::Damaged { .. } => Failure::damaged(&error),
            error => Failure::wrong(&error),
        }
    }
}
