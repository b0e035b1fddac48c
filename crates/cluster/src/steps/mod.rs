//! A batch run cut into pure steps over streams of Arrow record batches, for engines that own the data.
//!
//! Spark or Ray moves rows and stores what a step gave; a step only turns one stream into another. Families
//! come out as [`dedup`](crate::dedup::dedup) gives them, however the engine partitions its rows, because of
//! one fact: documents that no chain of shared features connects do not influence each other.
//!
//! | step | takes | gives |
//! |---|---|---|
//! | [`Sketch`] | documents | their fingerprints, size, place in keep order and features |
//! | [`Scatter`] | features of representatives | entries, one blob a target partition |
//! | [`Pairs`] | the blobs of a partition | pairs that span every bucket |
//! | [`Components`] | all pairs | what hangs together: the *group* of each candidate |
//! | [`Pack`] | texts of candidates | the same, compressed |
//! | [`Walk`] | groups, each in keep order | copies with their originals: the local walk itself |
//! | [`Near`], [`Verify`], [`Settle`] | the same for a group that is too large for one task, in rounds |
//! | [`Number`] | originals in keep order | their places in this stream |
//! | [`Verdicts`] | documents with what is known of them | kinds |
//! | [`passages`] | documents, in rounds | texts without repeated passages |
//!
//! Between the steps the engine joins, groups and sorts. Documents carry a *name*, a number that is unique and
//! means nothing; order comes from the keys of the documents and never from how rows are partitioned.
//!
//! Cost: each step says its own. Nothing is kept from batch to batch but what a step must collect.
//!
//! Not here: the walk (`walk`), what a family is (`families`), Arrow to and from Python (`wonbon-python`).

mod columns;
mod components;
mod near;
mod number;
mod pack;
mod pairs;
pub mod passages;
mod rows;
mod scatter;
mod settle;
mod sketch;
mod verdicts;
mod verify;
mod walk;

use std::collections::VecDeque;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::ClusterError;

pub use components::Components;
pub use near::Near;
pub use number::Number;
pub use pack::Pack;
pub use pairs::Pairs;
pub use rows::SketchColumns;
pub use scatter::Scatter;
pub use settle::Settle;
pub use sketch::Sketch;
pub use verdicts::Verdicts;
pub use verify::Verify;
pub use walk::{Walk, WalkParams};

/// Rows of the batches that collecting steps give.
const ROWS: usize = 8192;

/// What a step gives, until somebody takes it.
pub type Batches = VecDeque<RecordBatch>;

/// One step: batches in, batches out.
pub trait Step: Send {
    /// The columns of what comes out.
    fn schema(&self) -> SchemaRef;

    /// Takes the next batch; what is complete goes to `out`.
    ///
    /// # Errors
    ///
    /// If a column is missing or holds what this step cannot use.
    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError>;

    /// The stream has ended. Called again and again until nothing more comes out.
    ///
    /// # Errors
    ///
    /// If what was collected cannot be used.
    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let _ = out;
        Ok(())
    }
}

/// A stream that has gone through a step.
pub struct Stepped<S, I> {
    step: S,
    input: I,
    ready: Batches,
    state: State,
}

/// How far a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    Finishing,
    Ended,
}

impl<S: Step, I> Stepped<S, I> {
    /// `input` through `step`.
    pub fn new(step: S, input: I) -> Self {
        Stepped { step, input, ready: Batches::new(), state: State::Reading }
    }
}

impl<S: Step, I: Iterator<Item = Result<RecordBatch, ArrowError>>> Iterator for Stepped<S, I> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Some(Ok(batch));
            }
            let done = match self.state {
                State::Ended => return None,
                State::Reading => match self.input.next() {
                    Some(Ok(batch)) => self.step.take(&batch, &mut self.ready),
                    Some(Err(error)) => {
                        self.state = State::Ended;
                        return Some(Err(error));
                    }
                    None => {
                        self.state = State::Finishing;
                        continue;
                    }
                },
                State::Finishing => {
                    let done = self.step.finish(&mut self.ready);
                    if self.ready.is_empty() {
                        self.state = State::Ended;
                    }
                    done
                }
            };
            if let Err(error) = done {
                self.state = State::Ended;
                self.ready.clear();
                return Some(Err(ArrowError::ExternalError(Box::new(error))));
            }
        }
    }
}

impl<S: Step, I: Iterator<Item = Result<RecordBatch, ArrowError>>> RecordBatchReader
    for Stepped<S, I>
{
    fn schema(&self) -> SchemaRef {
        self.step.schema()
    }
}

impl<S: Step + ?Sized> Step for Box<S> {
    fn schema(&self) -> SchemaRef {
        (**self).schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        (**self).take(batch, out)
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        (**self).finish(out)
    }
}
