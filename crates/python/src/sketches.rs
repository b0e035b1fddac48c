//! Sketches of many texts, and numbers as numpy and Arrow see them without a copy.
//!
//! numpy is told where the numbers are by `__array_interface__`, which needs no numpy here and works with the
//! stable ABI; the dictionary holds the object, so the numbers live as long as the array.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::builder::NullBufferBuilder;
use arrow_array::{Array, FixedSizeListArray, UInt64Array};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use wonbon_documents::ordered::for_each_ordered;
use wonbon_progress::Progress;
use wonbon_sketch::{FeatureMaker, FeatureParams};
use wonbon_text::shingles::Shingler;

use crate::capsule;
use crate::columns::{ColumnPieces, Rows, Wanted};
use crate::failure::Failure;
use crate::input::Arrays;
use crate::options;
use crate::watched;

/// What numpy needs to see numbers where they are.
fn array_interface<'py>(
    py: Python<'py>,
    numbers: &UInt64Array,
    shape: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    let read_only = true;
    told.set_item("data", (numbers.values().as_ptr() as usize, read_only))?;
    told.set_item("shape", shape)?;
    told.set_item("typestr", if cfg!(target_endian = "little") { "<u8" } else { ">u8" })?;
    told.set_item("version", 3)?;
    Ok(told)
}

/// A list of 64-bit numbers.
#[pyclass(frozen, module = "wonbon")]
pub(crate) struct Numbers(UInt64Array);

impl Numbers {
    pub(crate) fn new(numbers: UInt64Array) -> Self {
        Numbers(numbers)
    }
}

#[pymethods]
impl Numbers {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyTuple>, Failure> {
        // The interface allows to hand out the own type whatever was asked for.
        let _ = requested_schema;
        capsule::export_array(py, &self.0)
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, &self.0, PyTuple::new(py, [self.0.len()])?)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__(&self, at: isize) -> PyResult<u64> {
        let at = place(at, self.0.len())?;
        Ok(self.0.value(at))
    }

    /// The numbers as a list.
    fn to_pylist(&self) -> Vec<u64> {
        self.0.values().to_vec()
    }

    fn __repr__(&self) -> String {
        format!("<wonbon.Numbers: {} of 64 bits>", self.0.len())
    }
}

/// A place as Python counts: negative ones from the end.
fn place(at: isize, length: usize) -> PyResult<usize> {
    let from_start = if at < 0 { at.checked_add_unsigned(length) } else { Some(at) };
    from_start
        .and_then(|at| usize::try_from(at).ok())
        .filter(|&at| at < length)
        .ok_or_else(|| pyo3::exceptions::PyIndexError::new_err("there is no such place"))
}

/// The features of many texts.
#[pyclass(frozen, module = "wonbon")]
pub(crate) struct Sketches {
    list: FixedSizeListArray,
    values: UInt64Array,
    features: usize,
}

#[pymethods]
impl Sketches {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyTuple>, Failure> {
        // The interface allows to hand out the own type whatever was asked for.
        let _ = requested_schema;
        capsule::export_array(py, &self.list)
    }

    /// Rows and features; a text without words has a row of zeros here.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, &self.values, PyTuple::new(py, [self.list.len(), self.features])?)
    }

    fn __len__(&self) -> usize {
        self.list.len()
    }

    /// How many features each text has.
    #[getter]
    fn features(&self) -> usize {
        self.features
    }

    /// The features of a text; None if it has no words.
    fn __getitem__(&self, at: isize) -> PyResult<Option<Vec<u64>>> {
        let at = place(at, self.list.len())?;
        let start = at * self.features;
        Ok((!self.list.is_null(at))
            .then(|| self.values.values()[start..start + self.features].to_vec()))
    }

    /// How many features two texts share, place by place; 0 for a text without words.
    fn agreeing(&self, one: isize, other: isize) -> PyResult<usize> {
        let (one, other) = (self.__getitem__(one)?, self.__getitem__(other)?);
        Ok(match (one, other) {
            (Some(one), Some(other)) => one.iter().zip(&other).filter(|(a, b)| a == b).count(),
            _ => 0,
        })
    }

    fn __repr__(&self) -> String {
        format!("<wonbon.Sketches: {} of {} features>", self.list.len(), self.features)
    }
}

/// The features of some texts, one text after another, and whether each has any.
struct Piece {
    values: Vec<u64>,
    has_words: Vec<bool>,
}

/// The features of every text of a column.
#[pyfunction]
#[pyo3(signature = (texts, *, features = None, group_size = None, shingle = None, seed = None,
                    threads = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
pub(crate) fn sketch(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    features: Option<usize>,
    group_size: Option<usize>,
    shingle: Option<i64>,
    seed: Option<&Bound<'_, PyAny>>,
    threads: Option<i64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<Sketches, Failure> {
    let usual = FeatureParams::default();
    let groups = features.unwrap_or(usual.groups);
    let maker = FeatureMaker::new(FeatureParams {
        groups,
        group_size: group_size.unwrap_or(usual.group_size),
        seed: options::seed(seed)?,
    })?;
    let (shingle_words, threads) = (options::shingle_words(shingle)?, options::threads(threads)?);
    let arrays = Arrays::of(texts, "texts")?;
    let pieces = ColumnPieces::new(arrays, "the column of texts", Wanted::Texts);
    watched::run(py, progress, |watched| {
        sketch_column(pieces, &maker, groups, shingle_words, threads, watched)
    })
}

fn sketch_column(
    mut pieces: ColumnPieces,
    maker: &FeatureMaker,
    groups: usize,
    shingle_words: NonZeroUsize,
    threads: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<Sketches, Failure> {
    progress.begin("sketch", 0);
    let (mut values, mut has_words) = (Vec::new(), NullBufferBuilder::new(0));
    for_each_ordered(
        threads,
        |rows: &mut Rows| {
            if progress.stop_asked() {
                return Err(Failure::Stopped);
            }
            pieces.next_into(rows)
        },
        || (Shingler::new(shingle_words), maker.builder(), maker.features(&[])),
        |(shingler, builder, features), rows| {
            let mut piece = Piece { values: Vec::new(), has_words: Vec::new() };
            for cell in rows.iter() {
                builder.clear();
                let count = shingler
                    .for_each_chunk(cell.text().unwrap_or_default(), |chunk| builder.update(chunk));
                piece.has_words.push(count.shingles > 0);
                if count.shingles > 0 {
                    builder.features_into(features);
                    piece.values.extend_from_slice(features.values());
                } else {
                    piece.values.extend(std::iter::repeat_n(0, groups));
                }
            }
            piece
        },
        |piece: Piece| {
            values.extend_from_slice(&piece.values);
            piece.has_words.iter().for_each(|&has| has_words.append(has));
            progress.advance(has_words.len() as u64);
            Ok(())
        },
    )?;
    let values = UInt64Array::from(values);
    let field = Arc::new(Field::new("item", DataType::UInt64, false));
    let list = FixedSizeListArray::try_new(
        field,
        groups as i32,
        Arc::new(values.clone()),
        has_words.finish(),
    )?;
    Ok(Sketches { list, values, features: groups })
}
