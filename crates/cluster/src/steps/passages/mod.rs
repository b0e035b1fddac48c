//! Passages of a corpus that an engine holds: the steps of one round, and what is left after the last.
//!
//! A round does what a round of a run over files does ([`crate::passages`]): of every window of `N` words that occurs at
//! several places, the words of all places but the first in keep order are removed. The engine repeats rounds until one
//! removes nothing.
//!
//! | step | takes | gives |
//! |---|---|---|
//! | [`PassageSeeds`] | documents | their seeds: hashes of the sampled runs of words |
//! | [`Scatter`](super::Scatter) | seeds | entries, one blob a target partition |
//! | [`PassageHot`] | the blobs of a partition | documents with their hot seeds: those that occur at several places |
//! | [`PassageContexts`] | documents with their hot seeds | for each such seed the words of all windows that keep it |
//! | [`PassageAgain`] | contexts, one seed after another, each in keep order | words that occurred before |
//! | [`PassageRemoved`] | documents with these | all that is removed from them so far |
//! | [`PassageCut`] | documents with what is removed | what is left of their texts |
//!
//! Why this is exactly the local result: windows with the same words keep seeds with the same words, so they meet in one
//! seed and are compared there, word by word. A seed needs no more of a document than the `2 N` words around it, so no
//! task ever holds documents that hang together, however many do: a notice that stands on every page is one seed,
//! of which the task remembers one context.
//!
//! Cost of a round: eight bytes a seed (a tenth of the text for `N = 50`), and about 1.3 `N` words a hot seed, which the
//! engine sorts.

mod again;
mod contexts;
mod cut;
mod hot;
mod removed;
mod seeds;

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use wonbon_documents::{Value, column_value};

use super::columns::any;
use crate::dedup::check_passage_words;
use crate::error::ClusterError;
use crate::passages::{PassageUnit, Scan, WindowPlan, append_words};

pub use again::PassageAgain;
pub use contexts::PassageContexts;
pub use cut::PassageCut;
pub use hot::PassageHot;
pub use removed::PassageRemoved;
pub use seeds::PassageSeeds;

/// The plan of windows of so many words.
fn plan_of(words: usize) -> Result<WindowPlan, ClusterError> {
    check_passage_words(words)?;
    Ok(WindowPlan::new(words))
}

/// The text of a row; an empty one for a null.
fn text_of(texts: &dyn Array, row: usize) -> Result<Cow<'_, str>, ClusterError> {
    match column_value(texts, row) {
        Value::Missing => Ok("".into()),
        Value::Text(text) => Ok(text),
        _ => Err(ClusterError::NoColumn { column: TEXT.to_owned(), wanted: "text" }),
    }
}

/// The column of texts of all steps but the first.
const TEXT: &str = "text";

/// Finds the words of a text, without those that were removed.
fn scan_text(
    scan: &mut Scan,
    text: &str,
    unit: Option<PassageUnit>,
    removed: &[u8],
    offsets: &mut Vec<u32>,
) {
    scan.text.clear();
    offsets.clear();
    append_words(text, unit, &mut scan.text, offsets);
    scan.split(&ranges_of(removed), 0);
}

/// Ranges of words, as a column of bytes has them.
fn ranges_of(bytes: &[u8]) -> Vec<(u64, u64)> {
    let (numbers, _) = bytes.as_chunks::<8>();
    let (pairs, _) = numbers.as_chunks::<2>();
    pairs.iter().map(|[from, to]| (u64::from_le_bytes(*from), u64::from_le_bytes(*to))).collect()
}

fn bytes_of(ranges: &[(u64, u64)]) -> Vec<u8> {
    ranges.iter().flat_map(|(from, to)| [from.to_le_bytes(), to.to_le_bytes()]).flatten().collect()
}

/// Words `from` up to `to` of what is left of a document, as one number.
fn pack_range(from: u64, to: u64) -> i64 {
    (from << 32 | to) as i64
}

fn unpack_range(packed: i64) -> (usize, usize) {
    ((packed >> 32) as usize, packed as u32 as usize)
}

/// A column of lists of 64-bit integers.
struct LongLists<'a>(&'a dyn Array);

impl<'a> LongLists<'a> {
    fn of(batch: &'a RecordBatch, name: &str) -> Result<Self, ClusterError> {
        let array = any(batch, name)?;
        let is_long = array.as_list_opt::<i32>().is_some_and(|lists| {
            lists.values().as_primitive_opt::<Int64Type>().is_some() || lists.values().is_empty()
        });
        let wanted = "lists of 64-bit integers";
        is_long
            .then_some(LongLists(array))
            .ok_or_else(|| ClusterError::NoColumn { column: name.to_owned(), wanted })
    }

    /// The numbers of a row; none for a null.
    fn get(&self, row: usize) -> Vec<i64> {
        if self.0.is_null(row) {
            return Vec::new();
        }
        let values = self.0.as_list::<i32>().value(row);
        let numbers = values.as_primitive_opt::<Int64Type>();
        numbers.map_or_else(Vec::new, |numbers| numbers.values().to_vec())
    }
}
