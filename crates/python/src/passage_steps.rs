//! The steps of rounds that remove passages, for engines that own the data: part of `wonbon.steps`.
//!
//! Not here: what a step does (`wonbon_cluster::steps::passages`).

use pyo3::prelude::*;
use wonbon_cluster::steps::SketchColumns;
use wonbon_cluster::steps::passages::{
    PassageAgain, PassageContexts, PassageCut, PassageHot, PassageRemoved, PassageSeeds,
};

use crate::failure::Failure;
use crate::passages::unit_of;
use crate::steps::{Stream, step_behind};

/// Documents to their seeds.
#[pyfunction]
#[pyo3(signature = (stream, *, words, text = "text", keep = "earliest", order = None, other = None, first = 0))]
pub(crate) fn step_passage_seeds(
    stream: &Bound<'_, PyAny>,
    words: usize,
    text: &str,
    keep: &str,
    order: Option<String>,
    other: Option<String>,
    first: i64,
) -> Result<Stream, Failure> {
    let keep = keep.parse().map_err(|why| Failure::request(format!("`keep`: {why}")))?;
    let columns = SketchColumns { text: text.to_owned(), order, other };
    step_behind(stream, |input| {
        Ok(Box::new(PassageSeeds::new(words, keep, columns, first, input)?))
    })
}

/// Entries of a partition to documents with the seeds that occur at several places.
#[pyfunction]
pub(crate) fn step_passage_hot(stream: &Bound<'_, PyAny>) -> Result<Stream, Failure> {
    step_behind(stream, |_| Ok(Box::new(PassageHot::default())))
}

/// Documents with such seeds to the words around them.
#[pyfunction]
#[pyo3(signature = (stream, *, words))]
pub(crate) fn step_passage_contexts(
    stream: &Bound<'_, PyAny>,
    words: usize,
) -> Result<Stream, Failure> {
    step_behind(stream, |input| Ok(Box::new(PassageContexts::new(words, input)?)))
}

/// Contexts, one seed after another, each in keep order, to words that occurred before.
#[pyfunction]
#[pyo3(signature = (stream, *, words, of_others_only = false))]
pub(crate) fn step_passage_again(
    stream: &Bound<'_, PyAny>,
    words: usize,
    of_others_only: bool,
) -> Result<Stream, Failure> {
    step_behind(stream, |_| Ok(Box::new(PassageAgain::new(words, of_others_only)?)))
}

/// Documents with words that occurred before to all that is removed from them.
#[pyfunction]
#[pyo3(signature = (stream, *, unit = "word"))]
pub(crate) fn step_passage_removed(
    stream: &Bound<'_, PyAny>,
    unit: &str,
) -> Result<Stream, Failure> {
    let unit = unit_of(unit)?;
    step_behind(stream, |_| Ok(Box::new(PassageRemoved::new(unit))))
}

/// Documents with what is removed to what is left of their texts.
#[pyfunction]
#[pyo3(signature = (stream, *, unit = "word"))]
pub(crate) fn step_passage_cut(stream: &Bound<'_, PyAny>, unit: &str) -> Result<Stream, Failure> {
    let unit = unit_of(unit)?;
    step_behind(stream, |input| Ok(Box::new(PassageCut::new(unit, input)?)))
}
