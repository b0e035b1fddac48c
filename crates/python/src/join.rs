//! Exact joins of sets: texts by their shingles or words, or lists of tokens.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use wonbon_join::interner::{HashNumbers, WordNumbers};
use wonbon_join::{
    Collection, CollectionBuilder, JoinError, JoinParams, MEASURES, Measure, Pair, Side, Threshold,
    auto::AUTO, join_pairs,
};
use wonbon_progress::Progress;
use wonbon_text::shingles::Shingler;
use wonbon_text::words::for_each_word;

use crate::capsule;
use crate::columns::{ColumnPieces, Rows, Wanted};
use crate::failure::Failure;
use crate::input::Arrays;
use crate::options;
use crate::table::Table;
use crate::watched;

/// What is joined.
enum Records {
    /// Texts, by shingles of so many words or by words.
    Texts(ColumnPieces),
    /// Lists of tokens, as bytes.
    Tokens(Vec<Vec<Vec<u8>>>),
    /// The same as columns of Arrow, and the name of the side.
    TokenColumns(Arrays, String),
}

impl Records {
    /// Lists of tokens if the first record is a list, a column of texts otherwise.
    fn of(data: &Bound<'_, PyAny>, what: &str) -> Result<Self, Failure> {
        let is_tokens = |one: &Bound<'_, PyAny>| {
            !one.is_instance_of::<PyString>() && !one.hasattr("__arrow_c_array__").unwrap_or(true)
        };
        let lists = data.cast::<pyo3::types::PyList>().ok().filter(|list| {
            list.get_item(0).is_ok_and(|first| is_tokens(&first) && first.try_iter().is_ok())
        });
        let Some(lists) = lists else {
            let mut arrays = Arrays::of(data, what)?;
            if arrays.peek()?.is_some_and(|field| holds_lists(field.data_type())) {
                return Ok(Records::TokenColumns(arrays, what.to_owned()));
            }
            return Ok(Records::Texts(ColumnPieces::new(arrays, what, Wanted::Texts)));
        };
        let py = data.py();
        let mut records = Vec::with_capacity(lists.len());
        for (row, record) in lists.iter().enumerate() {
            let wrong = || no_tokens(what, row);
            if row.is_multiple_of(ROWS_BETWEEN_SIGNALS) {
                py.check_signals()?;
            }
            let mut tokens = Vec::new();
            for token in record.try_iter().map_err(|_| wrong())? {
                let token = token?;
                if token.is_instance_of::<PyString>() || token.is_instance_of::<PyInt>() {
                    tokens.push(token.str()?.to_str().map_err(|_| wrong())?.as_bytes().to_vec());
                } else {
                    return Err(wrong());
                }
            }
            records.push(tokens);
        }
        Ok(Records::Tokens(records))
    }
}

fn no_tokens(what: &str, row: usize) -> Failure {
    Failure::column(format!("{what} must hold lists of texts or numbers; row {row} does not"))
}

/// Lists of Python that are read between two looks at whether somebody pressed Ctrl-C.
const ROWS_BETWEEN_SIGNALS: usize = 1024;

/// The column of a table that has one, or the array itself.
fn only_column(array: &ArrayRef) -> &ArrayRef {
    match array.data_type() {
        DataType::Struct(fields) if fields.len() == 1 => array.as_struct().column(0),
        _ => array,
    }
}

fn holds_lists(kind: &DataType) -> bool {
    match kind {
        DataType::Struct(fields) if fields.len() == 1 => holds_lists(fields[0].data_type()),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => true,
        _ => false,
    }
}

/// The list of a row; none where it is null.
fn list_at(array: &dyn Array, row: usize) -> Option<ArrayRef> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::List(_) => Some(array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => Some(array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(_, _) => Some(array.as_fixed_size_list().value(row)),
        _ => None,
    }
}

/// Hands out each token of a list: texts, and whole numbers as Python writes them. False for any other list.
fn for_each_token(list: &dyn Array, mut each: impl FnMut(&[u8])) -> bool {
    macro_rules! numbers {
        ($kind:ty) => {
            list.as_primitive::<$kind>().iter().flatten().for_each(|number| {
                each(number.to_string().as_bytes());
            })
        };
    }
    match list.data_type() {
        DataType::Utf8 => {
            list.as_string::<i32>().iter().flatten().for_each(|text| each(text.as_bytes()));
        }
        DataType::LargeUtf8 => {
            list.as_string::<i64>().iter().flatten().for_each(|text| each(text.as_bytes()));
        }
        DataType::Utf8View => {
            list.as_string_view().iter().flatten().for_each(|text| each(text.as_bytes()));
        }
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Null => return list.is_empty(),
        _ => return false,
    }
    list.null_count() == 0
}

/// Numbers the tokens of records.
struct Reader {
    builder: CollectionBuilder,
    words: WordNumbers,
    hashes: HashNumbers,
    /// Shingles; none for words.
    shingler: Option<Shingler>,
}

impl Reader {
    fn read(
        &mut self,
        records: Records,
        side: Side,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let mut numbers = Vec::new();
        match records {
            Records::Tokens(records) => {
                for tokens in records {
                    numbers.clear();
                    for token in tokens {
                        numbers.push(self.words.number(&token)?);
                    }
                    self.builder.push(side, &numbers)?;
                }
            }
            Records::TokenColumns(arrays, what) => {
                let mut rows = 0;
                for array in arrays {
                    if progress.stop_asked() {
                        return Err(Failure::Stopped);
                    }
                    let array = array?;
                    let lists = only_column(&array);
                    capsule::check(lists)
                        .map_err(|error| Failure::column(format!("{what} is damaged: {error}")))?;
                    for at in 0..lists.len() {
                        numbers.clear();
                        let list = list_at(lists, at);
                        let mut failed = None;
                        let are_tokens = list.is_none_or(|list| {
                            for_each_token(&list, |token| match self.words.number(token) {
                                Ok(number) => numbers.push(number),
                                Err(error) => failed = Some(error),
                            })
                        });
                        failed.map_or(Ok(()), Err)?;
                        if !are_tokens {
                            return Err(no_tokens(&what, rows + at));
                        }
                        self.builder.push(side, &numbers)?;
                    }
                    rows += lists.len();
                }
            }
            Records::Texts(mut pieces) => {
                let mut rows = Rows::default();
                while pieces.next_into(&mut rows)? {
                    if progress.stop_asked() {
                        return Err(Failure::Stopped);
                    }
                    for cell in rows.iter() {
                        numbers.clear();
                        self.number_text(cell.text().unwrap_or_default(), &mut numbers)?;
                        self.builder.push(side, &numbers)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn number_text(&mut self, text: &str, numbers: &mut Vec<u32>) -> Result<(), JoinError> {
        let (words, hashes) = (&mut self.words, &mut self.hashes);
        let mut failed = None;
        let mut push = |number: Result<u32, JoinError>| match number {
            Ok(number) => numbers.push(number),
            Err(error) => failed = Some(error),
        };
        match &mut self.shingler {
            Some(shingler) => {
                shingler.for_each_chunk(text, |chunk| {
                    chunk.iter().for_each(|&hash| push(hashes.number(hash)));
                });
            }
            None => for_each_word(text, |word| push(words.number(word.as_bytes()))),
        }
        failed.map_or(Ok(()), Err)
    }
}

/// All pairs of records whose similarity reaches a threshold: left, right (rows counted from 0), similarity.
#[pyfunction]
#[pyo3(signature = (left, right = None, *, threshold, measure = "jaccard", shingle = None, words = false,
                    top = None, threads = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn join(
    py: Python<'_>,
    left: &Bound<'_, PyAny>,
    right: Option<&Bound<'_, PyAny>>,
    threshold: &Bound<'_, PyAny>,
    measure: &str,
    shingle: Option<i64>,
    words: bool,
    top: Option<usize>,
    threads: Option<i64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<Table, Failure> {
    let measure: Measure = measure.parse().map_err(|()| {
        let names = MEASURES.map(Measure::name).join(", ");
        Failure::request(format!("`measure` is one of {names}, not {measure}"))
    })?;
    // The decimal digits that a person writes are the threshold, exactly.
    let threshold: Threshold =
        threshold.str()?.to_str()?.parse().map_err(|error: JoinError| Failure::wrong(&error))?;
    let mut params = JoinParams::new(measure, threshold)?;
    params.threads = options::threads(threads)?.get();
    if words && shingle.is_some() {
        return Err(Failure::request("say `shingle` or `words`, not both"));
    }
    if top == Some(0) {
        return Err(Failure::request("`top` is at least 1, not 0"));
    }
    let width: Option<NonZeroUsize> =
        if words { None } else { Some(options::shingle_words(shingle)?) };
    let builder = if right.is_some() {
        CollectionBuilder::for_two_files()
    } else {
        CollectionBuilder::for_self_join()
    };
    let two_files = right.is_some();
    let left = Records::of(left, "the left side")?;
    let right = right.map(|right| Records::of(right, "the right side")).transpose()?;
    let mut reader = Reader {
        builder,
        words: WordNumbers::new(),
        hashes: HashNumbers::new(),
        shingler: width.map(Shingler::new),
    };
    watched::run(py, progress, |watched| {
        watched.begin("read", 0);
        reader.read(left, Side::Left, watched)?;
        if let Some(right) = right {
            reader.read(right, Side::Right, watched)?;
        }
        let collection = reader.builder.finish();
        let mut pairs: Vec<Pair> = Vec::new();
        let params = JoinParams { progress: watched, ..params };
        watched.begin("join", 0);
        join_pairs(&AUTO, &collection, &params, top, &mut pairs)?;
        drop::<Collection>(collection);
        pairs.sort_unstable_by_key(|pair| (pair.left, pair.right));
        Ok(table_of(&pairs, measure, two_files)?)
    })
}

fn table_of(
    pairs: &[Pair],
    measure: Measure,
    two_files: bool,
) -> Result<Table, arrow_schema::ArrowError> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("left", DataType::UInt32, false),
        Field::new("right", DataType::UInt32, false),
        Field::new("similarity", DataType::Float64, false),
        Field::new("overlap", DataType::UInt32, false),
    ]));
    let value = |pair: &Pair| pair.value(measure, two_files);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(pairs.iter().map(|pair| Some(pair.left)).collect::<UInt32Array>()),
        Arc::new(pairs.iter().map(|pair| Some(pair.right)).collect::<UInt32Array>()),
        Arc::new(pairs.iter().map(|pair| Some(value(pair))).collect::<Float64Array>()),
        Arc::new(pairs.iter().map(|pair| Some(pair.overlap)).collect::<UInt32Array>()),
    ];
    Ok(Table::new(Arc::clone(&schema), vec![RecordBatch::try_new(schema, columns)?]))
}

impl From<JoinError> for Failure {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::Stopped => Failure::Stopped,
            error => Failure::wrong(&error),
        }
    }
}
