//! Families and clusters of documents that come from an iterator: the entry point for libraries, without input files.
//!
//! Documents are sketched as they come, with several threads, into a corpus in a folder that the
//! caller gives (a temporary one will do); then families are decided, or clusters formed, as for
//! files. What a document means is decided as for a row of a table: one without an id is called by its number, and one
//! with a creation time that is none ends the work. Texts are not kept: memory does not grow with them. The caller can cancel the work at any time; the folder is
//! then empty again.
//!
//! ```
//! use wonbon_documents::{Progress, Unwatched};
//! use wonbon_cluster::stream::{FamilyConfig, StreamDocument, families_of};
//! use wonbon_rule::Kind;
//! let folder = tempfile::tempdir()?;
//! let words = (0..50).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
//! let documents = ["a", "b"].map(|id| StreamDocument::new(id, &words));
//! let families = families_of(documents, &FamilyConfig::default(), folder.path(), &Unwatched)?;
//! let told: Vec<_> = families.iter().collect::<Result<_, _>>()?;
//! assert_eq!((told[1].id.as_str(), told[1].original.as_str()), ("b", "a"));
//! assert_eq!(told[1].kind, Kind::Identical);
//!
//! use wonbon_cluster::clustering::ClusterMethod;
//! use wonbon_cluster::stream::clusters_of;
//! let folder = tempfile::tempdir()?;
//! let more = (0..50).map(|n| format!("other{n}")).collect::<Vec<_>>().join(" ");
//! let documents = [("a", &words), ("b", &more), ("c", &words)];
//! let documents = documents.map(|(id, text)| StreamDocument::new(id, text));
//! let clusters = clusters_of(documents, &ClusterMethod::default(), folder.path(), &Unwatched)?;
//! let told: Vec<_> = clusters.iter().collect::<Result<_, _>>()?;
//! assert_eq!(told, [("a".into(), Some(1)), ("b".into(), None), ("c".into(), Some(1))]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::json;
use wonbon_documents::ordered::for_each_ordered;
use wonbon_documents::{Dates, FieldNames, Progress, Value, Values, resolve};
use wonbon_rule::Kind;

use crate::clustering::{ClusterMethod, Clusters, number_clusters};
use crate::corpus::{Corpus, CorpusWriter, PART_BYTES, PieceColumns, note_document};
use crate::error::{ClusterError, io};
use crate::keep::Keep;
use crate::progress::PhaseClock;
use crate::sketching::{Sketcher, Sketches};
use crate::strings::StringColumn;
use crate::verdicts::{FamilyRow, Verdicts};

pub use crate::deciding::FamilyConfig;

/// A document that comes from an iterator.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamDocument {
    /// Its id.
    pub id: String,
    /// Its core text.
    pub text: String,
    /// Its creation time, or another value that decides which to keep; a number or ISO 8601.
    pub ranking: Option<String>,
}

impl StreamDocument {
    /// A document without creation time.
    #[must_use]
    pub fn new(id: &str, text: &str) -> Self {
        StreamDocument { id: id.to_owned(), text: text.to_owned(), ranking: None }
    }
}

/// What a document is, with its names.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedVerdict {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// The number of its family; none for a document without words.
    pub family: Option<u32>,
    /// The id of its original: its own if it is one.
    pub original: String,
    /// Its resemblance to its original.
    pub resemblance: f64,
}

/// The families of a stream of documents.
#[derive(Debug)]
pub struct StreamFamilies {
    verdicts: Verdicts,
    ids: StringColumn,
}

impl StreamFamilies {
    /// What each document is, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = Result<NamedVerdict, ClusterError>> {
        (0..self.verdicts.len()).map(|document| {
            let FamilyRow { kind, family, original, resemblance } = self.verdicts.row(document);
            Ok(NamedVerdict {
                id: self.ids.get(document)?,
                kind,
                family,
                original: self.ids.get(original)?,
                resemblance,
            })
        })
    }
}

/// The clusters of a stream of documents.
#[derive(Debug)]
pub struct StreamClusters {
    cluster_of: Vec<u32>,
    counts: Clusters,
    ids: StringColumn,
}

impl StreamClusters {
    /// Every document with the number of its cluster, none if it is alone, in the order in which they
    /// came.
    pub fn iter(&self) -> impl Iterator<Item = Result<(String, Option<u32>), ClusterError>> {
        self.cluster_of.iter().zip(0..).map(|(&cluster, document)| {
            Ok((self.ids.get(document)?, (cluster > 0).then_some(cluster)))
        })
    }

    /// How many clusters there are.
    #[must_use]
    pub fn counts(&self) -> Clusters {
        self.counts
    }
}

/// About how much text a thread takes at a time.
const TEXT_AT_A_TIME: usize = 256 << 10;

/// Finds the families of documents. `folder` must be empty; what is written there may be removed
/// when the answer is no longer needed, and is removed if there is none.
///
/// # Errors
///
/// As [`ClusterError`] says; [`ClusterError::Stopped`] if the watcher asked for it, soon after it
/// did and without taking further documents.
pub fn families_of<I>(
    documents: I,
    config: &FamilyConfig,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<StreamFamilies, ClusterError>
where
    I: IntoIterator<Item = StreamDocument>,
    I::IntoIter: Send,
{
    let scratch = Scratch::new(folder)?;
    let maker = config.feature_maker()?;
    let groups = config.rule.bands().bands;
    let clock = PhaseClock::new();
    let corpus = read_stream(
        documents.into_iter(),
        StreamReading { threads: config.threads, keep: &config.keep, groups, folder, progress },
        &clock,
        || Sketcher::new(&maker, groups, config.shingle_words),
        |sketcher, text, sketches| sketcher.add(text.as_bytes(), text, sketches),
    )?;
    let representatives =
        clock.time("order", 0, progress, || config.representatives(&corpus, 0))?;
    let (families, _) = config.decide(&corpus, &representatives, None, &clock, progress)?;
    let verdicts = Verdicts::new(&corpus, representatives, families.verdicts, 0)?;
    let ids = corpus.ids()?;
    scratch.keep();
    Ok(StreamFamilies { verdicts, ids })
}

/// Clusters documents as the 1997 paper does. `folder` must be empty; what is written there may be
/// removed when the answer is no longer needed, and is removed if there is none.
///
/// # Errors
///
/// As [`families_of`].
pub fn clusters_of<I>(
    documents: I,
    method: &ClusterMethod,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<StreamClusters, ClusterError>
where
    I: IntoIterator<Item = StreamDocument>,
    I::IntoIter: Send,
{
    let scratch = Scratch::new(folder)?;
    method.check()?;
    let maker = method.sketch_maker()?;
    let clock = PhaseClock::new();
    let keep = Keep::Earliest;
    let corpus = read_stream(
        documents.into_iter(),
        StreamReading { threads: method.threads, keep: &keep, groups: 0, folder, progress },
        &clock,
        || method.sampler(&maker, None),
        |sampler, text, sketches| sampler.add(text.as_bytes(), text, sketches),
    )?;
    method.merge(&corpus, folder, folder, folder, &clock, progress)?;
    let (representatives, components) =
        clock.time("clusters", 0, progress, || method.find_components(folder, progress))?;
    let (cluster_of, counts) = number_clusters(&representatives, components);
    let ids = corpus.ids()?;
    scratch.keep();
    Ok(StreamClusters { cluster_of, counts, ids })
}

/// A folder that is emptied again unless the work in it comes to its end.
pub(crate) struct Scratch<'a>(Option<&'a Path>);

impl<'a> Scratch<'a> {
    pub(crate) fn new(folder: &'a Path) -> Result<Self, ClusterError> {
        if std::fs::read_dir(folder).map_err(io("read", folder))?.next().is_some() {
            return Err(ClusterError::NotEmpty { path: folder.to_owned() });
        }
        Ok(Scratch(Some(folder)))
    }

    pub(crate) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let entries = self.0.and_then(|folder| std::fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().flatten() {
            // There is nobody to tell: an error is on its way already.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Documents that one thread takes.
#[derive(Default)]
struct Taken {
    /// The number of the first.
    first: u64,
    documents: Vec<StreamDocument>,
}

/// How a stream is read.
struct StreamReading<'a> {
    threads: NonZeroUsize,
    keep: &'a Keep,
    groups: usize,
    folder: &'a Path,
    progress: &'a dyn Progress,
}

/// Makes a corpus of documents as they come. `add` makes the sketches of one text.
fn read_stream<S>(
    mut documents: impl Iterator<Item = StreamDocument> + Send,
    reading: StreamReading<'_>,
    clock: &PhaseClock,
    state: impl Fn() -> S + Sync,
    add: impl Fn(&mut S, &str, &mut Sketches) + Sync,
) -> Result<Corpus, ClusterError> {
    let StreamReading { threads, keep, groups, folder, progress } = reading;
    let mut writer = CorpusWriter::open(folder, groups, &json!({"job": "stream"}), PART_BYTES)?;
    let mut next = 0;
    let take = |taken: &mut Taken| {
        if progress.stop_asked() {
            return Err(ClusterError::Stopped);
        }
        taken.first = next;
        taken.documents.clear();
        let mut bytes = 0;
        while bytes < TEXT_AT_A_TIME
            && let Some(document) = documents.next()
        {
            bytes += document.text.len();
            taken.documents.push(document);
        }
        next += taken.documents.len() as u64;
        Ok(!taken.documents.is_empty())
    };
    let names = FieldNames::default();
    let work = |state: &mut S, taken: &mut Taken| {
        let mut columns = PieceColumns::default();
        for (number, document) in (taken.first..).zip(&taken.documents) {
            let ranking = document.ranking.as_deref().map_or(Value::Missing, Value::from);
            let (created, ranking) = match keep {
                Keep::Earliest => (ranking, Value::Missing),
                _ => (Value::Missing, ranking),
            };
            let (id, text) = (document.id.as_str().into(), document.text.as_str().into());
            let values = Values { id, text, created, ranking, ..Values::default() };
            let mut document =
                resolve(values, &names, || Some(number.to_string())).map_err(|why| {
                    let id = Some(&document.id).filter(|id| !id.is_empty()).cloned();
                    ClusterError::BadDocument {
                        name: id.unwrap_or_else(|| number.to_string()),
                        why,
                    }
                })?;
            columns.rows.push(1);
            note_document(&mut document, keep, Dates::default(), &mut columns);
            columns.input_bytes += document.text().len() as u64;
            add(state, document.text(), &mut columns.sketches);
        }
        Ok(columns)
    };
    clock.time("read", 0, progress, || {
        for_each_ordered(threads, take, state, work, |rows: Result<_, ClusterError>| {
            writer.append(&rows?, false)?;
            progress.advance(writer.at().input_bytes);
            Ok(())
        })
    })?;
    writer.finish()
}
