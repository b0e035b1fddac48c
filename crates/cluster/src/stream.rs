//! Families of documents that come from an iterator: the library's road, without files going in.
//!
//! Documents are sketched as they come, with several threads, into a corpus in a folder that the
//! caller gives (a temporary one will do); then families are decided as for files. Texts are not
//! kept: memory does not grow with them.
//!
//! ```
//! use wonbon_cluster::progress::Unwatched;
//! use wonbon_cluster::stream::{FamilyConfig, StreamDocument, families_of};
//! use wonbon_cluster::verdicts::Kind;
//! let folder = tempfile::tempdir()?;
//! let words = (0..50).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
//! let documents = ["a", "b"].map(|id| StreamDocument::new(id, &words));
//! let families = families_of(documents, &FamilyConfig::default(), folder.path(), &Unwatched)?;
//! let told: Vec<_> = families.iter().collect::<Result<_, _>>()?;
//! assert_eq!((told[1].id.as_str(), told[1].original.as_str()), ("b", "a"));
//! assert_eq!(told[1].kind, Kind::Identical);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::json;
use wonbon_input::ordered::for_each_ordered;
use wonbon_input::rows::Ranking;
use wonbon_sketch::{FeatureMaker, FeatureParams, Seed};
use wonbon_text::shingles::DEFAULT_SHINGLE_WORDS;

use crate::corpus::{Corpus, CorpusWriter, Ids, PART_BYTES};
use crate::deciding::{Deciding, Engine, SORTING_SHARE, bands_for};
use crate::error::ClusterError;
use crate::families::{CopyRule, FamilyKind};
use crate::keep::Keep;
use crate::order::Representatives;
use crate::progress::{PhaseClock, Progress};
use crate::reading::ItemRows;
use crate::sketching::{Sketcher, Sketches};
use crate::verdicts::{Kind, Verdicts};

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

/// How families are found; the fields are those of `dedup::DedupConfig`.
#[derive(Clone, Debug)]
pub struct FamilyConfig {
    /// What makes a copy.
    pub rule: CopyRule,
    /// How copies are put together.
    pub family: FamilyKind,
    /// How copies are looked for.
    pub engine: Engine,
    /// Which document of a family is kept.
    pub keep: Keep,
    /// Words in a shingle.
    pub shingle_words: NonZeroUsize,
    /// What the features depend on.
    pub seed: Seed,
    /// Threads. Never changes the result.
    pub threads: NonZeroUsize,
    /// Bytes of memory to stay within. Never changes the result.
    pub memory: u64,
}

/// As `wonbon dedup` without flags, on one thread, in a gigabyte.
impl Default for FamilyConfig {
    fn default() -> Self {
        FamilyConfig {
            rule: CopyRule::Threshold(0.8),
            family: FamilyKind::default(),
            engine: Engine::default(),
            keep: Keep::default(),
            shingle_words: DEFAULT_SHINGLE_WORDS,
            seed: Seed::default(),
            threads: NonZeroUsize::MIN,
            memory: 1 << 30,
        }
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
    ids: Ids,
}

impl StreamFamilies {
    /// What each document is, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = Result<NamedVerdict, ClusterError>> {
        (0..self.verdicts.len()).map(|document| {
            let told = self.verdicts.get(document);
            Ok(NamedVerdict {
                id: self.ids.get(document)?,
                kind: told.kind,
                family: told.family,
                original: self.ids.get(told.original)?,
                resemblance: told.resemblance,
            })
        })
    }
}

/// About how much text a thread takes at a time.
const TEXT_AT_A_TIME: usize = 256 << 10;

/// Finds the families of documents. `folder` must be empty; what is written there may be removed
/// when the answer is no longer needed.
///
/// # Errors
///
/// As [`ClusterError`] says.
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
    let bands = bands_for(config.rule)?;
    let maker = FeatureMaker::new(FeatureParams {
        groups: bands.bands,
        group_size: bands.rows,
        seed: config.seed.clone(),
    })?;
    let mut writer =
        CorpusWriter::open(folder, bands.bands, &json!({"job": "stream"}), PART_BYTES)?;
    let mut documents = documents.into_iter();
    let clock = PhaseClock::new();
    clock.time("read", 0, progress, || {
        for_each_ordered(
            config.threads,
            |taken: &mut Vec<StreamDocument>| {
                if progress.stop_asked() {
                    return Err(ClusterError::Stopped);
                }
                taken.clear();
                let mut bytes = 0;
                while bytes < TEXT_AT_A_TIME
                    && let Some(document) = documents.next()
                {
                    bytes += document.text.len();
                    taken.push(document);
                }
                Ok(!taken.is_empty())
            },
            || Sketcher::new(&maker, bands.bands, config.shingle_words),
            |sketcher, taken| {
                let mut rows = ItemRows::<Sketches>::default();
                for document in taken.iter() {
                    let ranking = document.ranking.as_deref().map(Ranking::Text);
                    let text = &document.text;
                    rows.rows.push(1);
                    rows.keys.push(config.keep.key(ranking, text.len()));
                    rows.ids.extend_from_slice(document.id.as_bytes());
                    rows.id_ends.push(rows.ids.len() as u64);
                    rows.text_bytes += text.len() as u64;
                    rows.input_bytes += text.len() as u64;
                    sketcher.add(text.as_bytes(), text, &mut rows.output);
                }
                rows
            },
            |rows| {
                writer.append(&rows, false)?;
                progress.advance(writer.at().input_bytes);
                Ok(())
            },
        )
    })?;
    let corpus: Corpus = writer.finish()?;
    let representatives =
        Representatives::find(&corpus, &config.keep, 0, config.memory / SORTING_SHARE)?;
    let deciding = Deciding {
        rule: config.rule,
        family: config.family,
        engine: config.engine,
        bands,
        threads: config.threads,
        memory: config.memory,
        pairs: None,
    };
    let (families, _) = deciding.run(&corpus, &representatives, &clock, progress)?;
    let verdicts = Verdicts::new(&corpus, representatives, families.verdicts, 0)?;
    Ok(StreamFamilies { verdicts, ids: corpus.ids()? })
}
