//! Families of tables that are in memory or come batch by batch: the whole of `wonbon dedup` without files.
//!
//! The rows are read as those of a Parquet file are, sketched into a corpus in a folder that the caller gives, and
//! decided by the same steps as a run over files. The corpus stays while the answer is in use, so a higher
//! threshold is decided without reading anything again ([`Families::again`]).
//!
//! Memory: about 40 bytes a row and the verdicts; the texts are the caller's and are read once. Disk: eight
//! bytes for each different shingle of each row, in the folder, until the caller removes it.
//!
//! Guarantee: the same families, row by row, as `wonbon dedup` of the same rows in the same order.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use serde_json::json;
use wonbon_documents::{
    Dates, Document, FieldNames, PieceOutput, Progress, TableReading, for_each_table_document,
};
use wonbon_rule::{Kind, Rule};

use crate::corpus::{Corpus, CorpusWriter, PieceColumns, note_document};
use crate::deciding::FamilyConfig;
use crate::dedup::{DedupSummary, count_missing_keys, find_repeated_ids};
use crate::digest::{FamilyDigest, for_each_family_row};
use crate::error::ClusterError;
use crate::family_files::for_each_pair;
use crate::progress::{PhaseClock, PhaseTime};
use crate::report::{Report, ShownFamily, shown_families};
use crate::sketching::Sketcher;
use crate::stream::Scratch;
use crate::strings::StringColumn;
use crate::verdicts::{FamilyRow, Verdicts};

/// The file of verified pairs, if pairs were asked for.
const PAIRS: &str = "found-pairs";

/// How the families of tables are found.
#[derive(Clone, Debug)]
pub struct TableConfig {
    /// Which column means what.
    pub fields: FieldNames,
    /// Which dates decide who is the original.
    pub dates: Dates,
    /// How families are found.
    pub method: FamilyConfig,
    /// Whether every verified pair is noted.
    pub pairs: bool,
}

/// The families of a table.
#[derive(Debug)]
pub struct Families {
    config: TableConfig,
    corpus: Corpus,
    ids: StringColumn,
    verdicts: Verdicts,
    others: u32,
    folder: PathBuf,
    pairs: Option<PathBuf>,
    engine: String,
    compared: u64,
    phases: Vec<PhaseTime>,
}

impl Families {
    /// Finds the families of the rows of `tables`. Rows of `against` come before all: what resembles
    /// them is a copy of them, and they are not told of otherwise. `folder` must be empty; it is emptied again if
    /// there is no answer.
    ///
    /// # Errors
    ///
    /// The first of the tables; as [`ClusterError`] says; [`ClusterError::Stopped`] if the watcher asked
    /// for it.
    pub fn find<E: From<ClusterError> + Send>(
        tables: impl IntoIterator<Item = Result<RecordBatch, E>, IntoIter: Send>,
        against: impl IntoIterator<Item = Result<RecordBatch, E>, IntoIter: Send>,
        config: TableConfig,
        folder: &Path,
        progress: &dyn Progress,
    ) -> Result<Self, E> {
        let scratch = Scratch::new(folder)?;
        let groups = config.method.rule.bands().bands;
        // A corpus that cannot be continued needs no notes on the way.
        let mut writer = CorpusWriter::open(folder, groups, &json!({"job": "tables"}), u64::MAX)?;
        let clock = PhaseClock::new();
        let corpus = clock.time_failing("read", 0, progress, || {
            read_rows(against, &config, &mut writer, true, progress)?;
            read_rows(tables, &config, &mut writer, false, progress)?;
            Ok::<_, E>(writer.finish()?)
        })?;
        let pairs = config.pairs.then(|| folder.join(PAIRS));
        let families = Self::decide(config, corpus, folder, pairs, clock, progress)?;
        scratch.keep();
        Ok(families)
    }

    fn decide(
        config: TableConfig,
        corpus: Corpus,
        folder: &Path,
        pairs: Option<PathBuf>,
        clock: PhaseClock,
        progress: &dyn Progress,
    ) -> Result<Self, ClusterError> {
        let method = &config.method;
        let others = corpus.read().others as u32;
        let representatives =
            clock.time("order", 0, progress, || method.representatives(&corpus, others))?;
        let (found, engine) =
            method.decide(&corpus, &representatives, pairs.as_deref(), &clock, progress)?;
        let compared = found.compared;
        let verdicts = Verdicts::new(&corpus, representatives, found.verdicts, others)?;
        let ids = corpus.ids()?;
        let (folder, phases) = (folder.to_owned(), clock.finish());
        Ok(Families {
            config,
            corpus,
            ids,
            verdicts,
            others,
            folder,
            pairs,
            engine,
            compared,
            phases,
        })
    }

    /// The families at a higher threshold. Nothing is read again: the candidates are those of the lower
    /// threshold, among which all pairs of the higher one are.
    ///
    /// # Errors
    ///
    /// [`ClusterError::BadParameter`] if the threshold is lower, or if these families were not found by
    /// one; otherwise as [`Families::find`].
    pub fn again(&self, threshold: f64, progress: &dyn Progress) -> Result<Self, ClusterError> {
        match self.config.method.rule {
            Rule::Threshold(before) if (before..=1.0).contains(&threshold) => {}
            Rule::Threshold(before) => {
                return Err(ClusterError::BadParameter {
                    what: "the threshold",
                    wanted: "at least what it was and at most 1",
                    got: format!("{threshold} after {before}"),
                });
            }
            Rule::Features { .. } => {
                return Err(ClusterError::BadParameter {
                    what: "the rule of the families",
                    wanted: "a threshold",
                    got: self.config.method.rule.to_string(),
                });
            }
        }
        let mut config = self.config.clone();
        config.method.rule = Rule::Threshold(threshold);
        let corpus = Corpus::open(&self.folder)?;
        let pairs = config.pairs.then(|| {
            let name = format!("{PAIRS}-{:016x}", threshold.to_bits());
            self.folder.join(name)
        });
        let clock = PhaseClock::new();
        let mut again = Self::decide(config, corpus, &self.folder, pairs, clock, progress)?;
        again.engine = format!("the candidates of an earlier answer: {}", self.engine);
        Ok(again)
    }

    /// How many rows there are, without those of other tables.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::from(self.verdicts.len() - self.others)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` with every row, in order: its id, what it is, and the id of its original. Returns the
    /// digest of all of them.
    ///
    /// # Errors
    ///
    /// The first of `each`, or if the corpus cannot be read.
    pub fn for_each(
        &self,
        each: impl FnMut(&str, &FamilyRow, &str) -> Result<(), ClusterError>,
    ) -> Result<FamilyDigest, ClusterError> {
        for_each_family_row(&self.ids, &self.verdicts, self.others, each)
    }

    /// Calls `each` with every verified pair: both ids and their resemblance, earlier in keep order first.
    /// Returns whether pairs were noted.
    ///
    /// # Errors
    ///
    /// The first of `each`, or if the corpus cannot be read.
    pub fn for_each_pair(
        &self,
        progress: &dyn Progress,
        mut each: impl FnMut(&str, &str, f64) -> Result<(), ClusterError>,
    ) -> Result<bool, ClusterError> {
        let Some(found) = &self.pairs else { return Ok(false) };
        for_each_pair(found, &self.verdicts, self.others, progress, |one, other, resemblance| {
            each(&self.ids.get(one)?, &self.ids.get(other)?, resemblance)
        })?;
        Ok(true)
    }

    /// The original of a row, counted from the first row of the other tables.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn original_of(&self, row: u32) -> u32 {
        self.verdicts.row(row + self.others).original
    }

    /// Words in a shingle.
    #[must_use]
    pub fn shingle_words(&self) -> NonZeroUsize {
        self.config.method.shingle_words
    }

    /// The rows whose texts the report shows, ascending. Rows of the other tables are counted before all others.
    #[must_use]
    pub fn rows_in_report(&self) -> Vec<u32> {
        let shown = shown_families(&self.verdicts, self.others);
        let mut rows: Vec<u32> = shown.iter().flat_map(ShownFamily::documents).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// The report of `wonbon dedup` as a page. `texts` has the texts of [`Families::rows_in_report`], in their order;
    /// an empty one where the text is not at hand.
    ///
    /// # Errors
    ///
    /// If the corpus cannot be read.
    pub fn report(&self, texts: Vec<String>) -> Result<String, ClusterError> {
        let shown = shown_families(&self.verdicts, self.others);
        let mut documents = BTreeMap::new();
        for (row, text) in self.rows_in_report().into_iter().zip(texts) {
            documents.insert(row, (self.ids.get(row)?, text));
        }
        let (method, read) = (&self.config.method, self.corpus.read());
        let by_field = method.keep.may_lack_key();
        let summary = DedupSummary {
            rows: read.rows,
            documents: self.len(),
            others: self.others(),
            skipped: 0,
            skipped_first: Vec::new(),
            repeated_ids: find_repeated_ids(&self.corpus, self.others)?,
            without_key: if by_field { count_missing_keys(&self.corpus)? } else { 0 },
            kinds: self.kinds(),
            families: self.family_sizes().count() as u64,
            compared: self.compared,
            pairs: None,
            passages: None,
            digest: String::new(),
            engine: self.engine.clone(),
            input_bytes: read.input_bytes,
            text_bytes: read.text_bytes,
            phases: self.phases.clone(),
            plan: method.plan(),
        };
        let (others, families, verdicts) = (self.others, &shown[..], &self.verdicts);
        let report =
            Report { summary: &summary, verdicts, others, families, documents: &documents };
        Ok(report.page())
    }

    /// How many rows are of each kind.
    #[must_use]
    pub fn kinds(&self) -> Vec<(Kind, u64)> {
        crate::dedup::count_kinds(&self.verdicts, self.others)
    }

    /// The size of every family of two or more.
    pub fn family_sizes(&self) -> impl Iterator<Item = u32> {
        self.verdicts.family_sizes()
    }

    /// How copies were looked for, and why so.
    #[must_use]
    pub fn engine(&self) -> &str {
        &self.engine
    }

    /// Pairs whose sets were compared.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// Bytes of core text.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        self.corpus.read().text_bytes
    }

    /// Rows of other tables.
    #[must_use]
    pub fn others(&self) -> u64 {
        u64::from(self.others)
    }

    /// Which column means what.
    #[must_use]
    pub fn fields(&self) -> &FieldNames {
        &self.config.fields
    }

    /// What makes a copy.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.config.method.rule
    }
}

/// Sketches the rows of tables into a corpus.
fn read_rows<E: From<ClusterError> + Send>(
    tables: impl IntoIterator<Item = Result<RecordBatch, E>, IntoIter: Send>,
    config: &TableConfig,
    writer: &mut CorpusWriter,
    other: bool,
    progress: &dyn Progress,
) -> Result<(), E> {
    let TableConfig { fields, dates, method, .. } = config;
    let maker = method.feature_maker()?;
    let groups = method.rule.bands().bands;
    let (ranking, threads) = (method.keep.field(), method.threads);
    let reading = TableReading { fields, ranking, threads, progress, for_store: false };
    read_table(
        reading,
        tables,
        || Sketcher::new(&maker, groups, method.shingle_words),
        |sketcher, document, columns: &mut PieceColumns| {
            note_document(document, &method.keep, *dates, columns);
            sketcher.add(document.bytes(), document.text(), &mut columns.sketches);
        },
        |piece| {
            let rows = piece.is_document.into_iter().map(u8::from).collect();
            let columns = PieceColumns { rows, input_bytes: piece.bytes, ..piece.output };
            writer.append(&columns, other)?;
            progress.advance(writer.at().documents);
            Ok(())
        },
    )
}

/// [`for_each_table_document`] for tables whose errors are the caller's.
pub(crate) fn read_table<S, O: Default + Send, E: From<ClusterError> + Send>(
    reading: TableReading<'_>,
    tables: impl IntoIterator<Item = Result<RecordBatch, E>, IntoIter: Send>,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &mut Document<'_>, &mut O) + Sync,
    write: impl FnMut(PieceOutput<O>) -> Result<(), ClusterError> + Send,
) -> Result<(), E> {
    // The reader's errors and the caller's are different types: the caller's is kept aside.
    let failed = std::sync::Mutex::new(None);
    let tables = tables.into_iter().map(|batch| {
        batch.map_err(|error| {
            *failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
            ClusterError::Stopped
        })
    });
    let result = for_each_table_document(reading, tables, state, visit, write);
    match (result, failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(error)) => Err(error),
        (Err(error), None) => Err(error.into()),
    }
}
