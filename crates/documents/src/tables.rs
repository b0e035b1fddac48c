//! Documents of tables that are in memory, or that another library hands over batch by batch.
//!
//! The same as for files: the columns are read as a Parquet file's are, [`resolve`](crate::resolve()) makes
//! documents of the rows, several threads work on pieces, results come in order. Three things differ. So that every
//! row of the table has an answer beside it, a null text is an empty document, and a row that is no document ends
//! the work with a sentence that names it. And there is no file: a row without a name is called by its number, or
//! refused where it goes into a store.
//!
//! Cost: a text is borrowed from its batch; a batch lives until its last piece is done.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use arrow_array::RecordBatch;
use wonbon_progress::Progress;

use crate::document::Document;
use crate::error::InputError;
use crate::fields::FieldNames;
use crate::formats::parquet::{TableRows, Unnamed, bytes_of_rows};
use crate::formats::{Piece, Rows};
use crate::inputs::{InputFile, Inputs};
use crate::limits::Limits;
use crate::reading::{PieceOutput, Reading, for_each_in_pieces};

/// How the rows of a table are read.
#[derive(Clone, Copy)]
pub struct TableReading<'a> {
    /// Which column means what.
    pub fields: &'a FieldNames,
    /// A column whose value is handed out with each document as [`Document::ranking`].
    pub ranking: Option<&'a str>,
    /// Threads that read.
    pub threads: NonZeroUsize,
    /// Progress and cancellation.
    pub progress: &'a dyn Progress,
    /// Whether the rows are for a store. Then redirects are told too, and a row needs a name of its own, as
    /// in a request: the row of another table has the same number.
    pub for_store: bool,
}

/// Rows of a piece, unless their texts are longer than [`PIECE_BYTES`] together.
const PIECE_ROWS: usize = 1024;
/// Bytes of a piece: enough to be worth a lock, and so few that a request to stop is heard soon.
const PIECE_BYTES: usize = 256 << 10;

/// Reads every document of the batches; rows are counted from 0. As
/// [`for_each_document`](crate::for_each_document) otherwise.
///
/// # Errors
///
/// The first of `batches` or of `write`; [`InputError::BadRow`] for a row that is no document;
/// [`InputError::Stopped`].
pub fn for_each_table_document<S, O: Default + Send, E: From<InputError> + Send>(
    reading: TableReading<'_>,
    batches: impl IntoIterator<Item = Result<RecordBatch, E>, IntoIter: Send>,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &mut Document<'_>, &mut O) + Sync,
    write: impl FnMut(PieceOutput<O>) -> Result<(), E> + Send,
) -> Result<(), E> {
    let TableReading { fields, ranking, threads, progress, for_store } = reading;
    let unnamed = if for_store { Unnamed::Refused } else { Unnamed::Row };
    let table =
        InputFile { path: PathBuf::from("row"), name: PathBuf::new(), bytes: 0, modified: 0 };
    let inputs = Inputs {
        files: vec![table],
        unknown: Vec::new(),
        fields: fields.clone(),
        strict: true,
        unpack: PathBuf::new(),
        limits: Limits::default(),
    };
    let reading =
        Reading { redirects: for_store, ranking, ..Reading::new(&inputs, threads, progress) };
    let mut batches = batches.into_iter();
    let (mut batch, mut first): (Option<RecordBatch>, u64) = (None, 0);
    let next = |piece: &mut Piece| -> Result<bool, E> {
        let rest = loop {
            match batch.take() {
                Some(rest) if rest.num_rows() > 0 => break rest,
                _ => match batches.next().transpose()? {
                    Some(taken) => batch = Some(taken),
                    None => return Ok(false),
                },
            }
        };
        let bytes_a_row = bytes_of_rows(&rest) as usize / rest.num_rows() + 1;
        let rows = (PIECE_BYTES / bytes_a_row).clamp(1, PIECE_ROWS).min(rest.num_rows());
        *piece = Piece {
            rows: Rows::Table(TableRows::in_memory(first, rest.slice(0, rows), unnamed)),
            ..Piece::default()
        };
        first += rows as u64;
        batch = Some(rest.slice(rows, rest.num_rows() - rows));
        Ok(true)
    };
    for_each_in_pieces(&reading, next, state, visit, write)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, DictionaryArray, Int64Array, StringArray, types::Int8Type};
    use wonbon_progress::Unwatched;

    use super::*;

    fn read(
        batches: Vec<RecordBatch>,
        threads: usize,
    ) -> Result<Vec<(String, String)>, InputError> {
        let reading = TableReading {
            fields: &FieldNames::default(),
            ranking: None,
            threads: NonZeroUsize::new(threads).unwrap(),
            progress: &Unwatched,
            for_store: false,
        };
        read_as(reading, batches)
    }

    fn read_as(
        reading: TableReading<'_>,
        batches: Vec<RecordBatch>,
    ) -> Result<Vec<(String, String)>, InputError> {
        let mut read = Vec::new();
        for_each_table_document(
            reading,
            batches.into_iter().map(Ok),
            || (),
            |(), document, rows: &mut Vec<(String, String)>| {
                rows.push((document.id.to_string(), document.text().to_owned()));
            },
            |piece| {
                read.extend(piece.output);
                Ok::<(), InputError>(())
            },
        )?;
        Ok(read)
    }

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
            .unwrap()
    }

    #[test]
    fn every_row_is_a_document_in_order_whatever_the_threads() {
        let texts: Vec<Option<String>> =
            (0..5000).map(|n| (n % 7 > 0).then(|| format!("text {n}"))).collect();
        let all = batch(vec![("text", Arc::new(StringArray::from(texts.clone())))]);
        let keys: DictionaryArray<Int8Type> =
            vec![Some("one"), None, Some("one")].into_iter().collect();
        let words = batch(vec![("text", Arc::new(keys))]);
        for threads in [1, 3] {
            let batches =
                vec![all.slice(0, 10), all.slice(10, 0), all.slice(10, 4990), words.clone()];
            let read = read(batches, threads).unwrap();
            assert_eq!(read.len(), 5003);
            for (at, (id, text)) in read[..5000].iter().enumerate() {
                assert_eq!(*id, at.to_string());
                assert_eq!(text, texts[at].as_deref().unwrap_or_default());
            }
            let last: Vec<&str> = read[5000..].iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(last, ["one", "", "one"]);
        }
    }

    #[test]
    fn rows_for_a_store_have_names_of_their_own_and_may_lead_elsewhere() {
        let column = |values: &[&str]| -> ArrayRef { Arc::new(StringArray::from(values.to_vec())) };
        let reading = TableReading {
            fields: &FieldNames::default(),
            ranking: None,
            threads: NonZeroUsize::MIN,
            progress: &Unwatched,
            for_store: true,
        };
        let named = batch(vec![
            ("id", column(&["a", ""])),
            ("url", column(&["", "https://a.example/b"])),
            ("text", column(&["one", ""])),
            ("redirect", column(&["", "https://a.example/c"])),
        ]);
        let ids: Vec<String> =
            read_as(reading, vec![named]).unwrap().into_iter().map(|row| row.0).collect();
        assert_eq!(ids, ["a", "https://a.example/b"]);
        for unnamed in [
            batch(vec![("text", column(&["one"]))]),
            batch(vec![("id", column(&[""])), ("text", column(&["one"]))]),
        ] {
            let why = read_as(reading, vec![unnamed]).unwrap_err().to_string();
            assert_eq!(why, "row:0 has neither a field `id` nor a field `url`");
        }
    }

    #[test]
    fn a_row_that_is_no_document_is_named() {
        let texts: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let good: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
        let error = read(vec![batch(vec![("text", good)]), batch(vec![("text", texts)])], 2);
        assert_eq!(error.unwrap_err().to_string(), "row:2 has a field `text` that is not a string");
    }
}
