//! Imports files into a store: documents are decided in the order of the input and reported once they are durable.
//!
//! Reading, core text, words, features and compression run on several threads; the store's one writer
//! decides. What is on its way is bounded, and what became of each row is told to a [`Listener`] in
//! the order of the input. The program (`wonbon add`) and the service's import jobs both use this.
//!
//! Guarantee: once [`Listener::durable`] reports a number of pieces, every document in these pieces is
//! stored, and a resumed import may skip them. Later pieces are read again; documents in them that are
//! stored already are not changed by that.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::time::Instant;

use wonbon_documents::{
    Dates, InputError, Inputs, PieceOutput, Progress, Reading, Skipped, for_each_document,
};
use wonbon_store::{Added, Store, StoreError};
use wonbon_time::Timestamp;

use crate::answers::AddSummary;
use crate::intake::{Intake, IntakeName, Outcome, ReadyDocument, SubmittedDocument};

/// What is imported, and how.
#[derive(Debug)]
pub struct Import<'a> {
    /// Where to.
    pub store: &'a Store,
    /// Which files.
    pub inputs: &'a Inputs,
    /// The date of the sweep that saw the documents, if one did.
    pub sweep: Option<Timestamp>,
    /// Which dates decide who is the original; those of the store if not said.
    pub dates: Option<Dates>,
    /// Threads that read.
    pub threads: NonZeroUsize,
    /// Documents that may be on their way through the store at a time. More share a commit.
    pub in_flight: usize,
    /// Pieces of the input that an earlier import has finished.
    pub skip_pieces: u64,
}

/// Hears what became of the rows, in the order of the input.
pub trait Listener {
    /// Why it wants to hear no more.
    type Error;

    /// A document is stored; it was read at `since`.
    ///
    /// # Errors
    ///
    /// The import ends.
    fn added(&mut self, key: &str, added: &Added, since: Instant) -> Result<(), Self::Error>;

    /// A redirect is noted.
    ///
    /// # Errors
    ///
    /// The import ends.
    fn redirected(&mut self, key: &str, target: &str) -> Result<(), Self::Error>;

    /// A row was refused.
    fn refused(&mut self, why: &str);

    /// A row is no document.
    fn skipped(&mut self, row: Skipped);

    /// So many pieces of the input, counted from its beginning, are done with for good.
    ///
    /// # Errors
    ///
    /// The import ends.
    fn durable(&mut self, pieces: u64, summary: &AddSummary) -> Result<(), Self::Error> {
        let _ = (pieces, summary);
        Ok(())
    }
}

/// Why an import ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError<E> {
    /// The store did not take a document.
    #[error(transparent)]
    Store(StoreError),
    /// The input could not be read, or somebody asked to stop.
    #[error(transparent)]
    Input(InputError),
    /// The listener wanted to hear no more.
    #[error("nobody listens any more")]
    Listener(E),
}

impl<E> From<InputError> for ImportError<E> {
    fn from(error: InputError) -> Self {
        ImportError::Input(error)
    }
}

/// What is on its way through the store, and what waits for it to be told and counted in the order of the
/// input: what is counted when a piece is durable is of that piece and those before it.
enum Waiting {
    Submitted(SubmittedDocument, Instant),
    Refused(String),
    Skipped(Skipped),
    PassedOver(u64),
    /// Everything before it is a piece of the input.
    PieceEnd,
}

/// The rows of a piece, made ready at some moment or refused.
type Rows = Vec<Result<(ReadyDocument, Instant), String>>;

struct Importer<'a, L> {
    store: &'a Store,
    listener: &'a mut L,
    waiting: VecDeque<Waiting>,
    summary: AddSummary,
    pieces: u64,
}

impl<L: Listener> Importer<'_, L> {
    /// Hands over a piece of the input; no more than `most` is on its way then.
    fn take(&mut self, piece: PieceOutput<Rows>, most: usize) -> Result<(), ImportError<L::Error>> {
        self.waiting.push_back(Waiting::PassedOver(piece.passed_over));
        self.waiting.extend(piece.skipped.into_iter().map(Waiting::Skipped));
        for row in piece.output {
            match row {
                Ok((ready, since)) => {
                    let submitted = ready.submit(self.store).map_err(ImportError::Store)?;
                    self.waiting.push_back(Waiting::Submitted(submitted, since));
                }
                Err(why) => self.waiting.push_back(Waiting::Refused(why)),
            }
            self.settle(most)?;
        }
        self.waiting.push_back(Waiting::PieceEnd);
        self.settle(most)
    }

    /// Waits for what was handed over first, until no more than `most` is on its way.
    fn settle(&mut self, most: usize) -> Result<(), ImportError<L::Error>> {
        while self.waiting.len() > most {
            let Some(first) = self.waiting.pop_front() else { break };
            self.settled(first)?;
        }
        Ok(())
    }

    fn settled(&mut self, waiting: Waiting) -> Result<(), ImportError<L::Error>> {
        match waiting {
            Waiting::PieceEnd => {
                self.pieces += 1;
                let told = self.listener.durable(self.pieces, &self.summary);
                return told.map_err(ImportError::Listener);
            }
            Waiting::Refused(why) => {
                self.summary.refused += 1;
                self.listener.refused(&why);
            }
            Waiting::Skipped(row) => {
                self.summary.refused += 1;
                self.listener.skipped(row);
            }
            Waiting::PassedOver(rows) => self.summary.passed_over += rows,
            Waiting::Submitted(submitted, since) => {
                let IntakeName { key, redirect } = submitted.name().clone();
                let outcome = submitted.wait().map_err(ImportError::Store)?;
                self.summary.count(&outcome);
                let told = match &outcome {
                    Outcome::Added { added, .. } => self.listener.added(&key, added, since),
                    Outcome::Redirected => {
                        self.listener.redirected(&key, redirect.as_deref().unwrap_or_default())
                    }
                    Outcome::PassedOver => Ok(()),
                };
                return told.map_err(ImportError::Listener);
            }
        }
        Ok(())
    }
}

/// Imports files. Counts go on from `summary`, which an earlier import of the same files told when it
/// was durable. What was handed over when something fails is waited for and told all the same.
///
/// # Errors
///
/// [`ImportError`]; what was told is stored.
pub fn import<L: Listener + Send>(
    import: &Import<'_>,
    summary: AddSummary,
    progress: &dyn Progress,
    listener: &mut L,
) -> Result<AddSummary, ImportError<L::Error>>
where
    L::Error: Send,
{
    let Import { store, inputs, sweep, dates, threads, in_flight, skip_pieces } = *import;
    let intake = Intake::new(store).with_sweep(sweep).with_dates(dates);
    let begun = Instant::now();
    let seconds_before = summary.seconds;
    let mut importer =
        Importer { store, listener, waiting: VecDeque::new(), summary, pieces: skip_pieces };
    let mut read_bytes = 0;
    let read = for_each_document(
        &Reading { skip_pieces, ..Reading::new(inputs, threads, progress) },
        || (),
        |(), document, rows: &mut Rows| {
            let since = Instant::now();
            let ready = intake.prepare(document).map_err(|error| error.to_string());
            rows.push(ready.map(|ready| (ready, since)));
        },
        |piece: PieceOutput<Rows>| {
            read_bytes += piece.bytes;
            progress.advance(read_bytes);
            importer.take(piece, in_flight)
        },
    );
    if matches!(read, Ok(()) | Err(ImportError::Input(_))) {
        importer.settle(0)?;
    }
    read?;
    importer.summary.seconds = seconds_before + begun.elapsed().as_secs_f64();
    Ok(importer.summary)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU64, Ordering};

    use wonbon_documents::ChosenFields;

    use super::*;

    /// Hears how many pieces are done with.
    struct Done<'a>(&'a AtomicU64);

    impl Listener for Done<'_> {
        type Error = Infallible;

        fn added(&mut self, _: &str, _: &Added, _: Instant) -> Result<(), Infallible> {
            Ok(())
        }

        fn redirected(&mut self, _: &str, _: &str) -> Result<(), Infallible> {
            Ok(())
        }

        fn refused(&mut self, _: &str) {}

        fn skipped(&mut self, _: Skipped) {}

        fn durable(&mut self, pieces: u64, _: &AddSummary) -> Result<(), Infallible> {
            self.0.store(pieces, Ordering::Relaxed);
            Ok(())
        }
    }

    /// Sees how many pieces wait while the next is read.
    struct Reading<'a> {
        done: &'a AtomicU64,
        read: AtomicU64,
        most_waiting: AtomicU64,
    }

    impl Progress for Reading<'_> {
        fn advance(&self, _: u64) {
            let waiting =
                self.read.fetch_add(1, Ordering::Relaxed) - self.done.load(Ordering::Relaxed);
            self.most_waiting.fetch_max(waiting, Ordering::Relaxed);
        }
    }

    #[test]
    fn files_without_a_single_document_do_not_pile_up() {
        const FILES: u64 = 200;
        let folder = tempfile::tempdir().unwrap();
        let posts = folder.path().join("posts");
        std::fs::create_dir(&posts).unwrap();
        for file in 0..FILES {
            std::fs::write(posts.join(format!("{file:03}.jsonl")), "no document\n").unwrap();
        }
        let store = Store::open_or_create(&folder.path().join("store"), None).unwrap();
        let paths: Vec<PathBuf> = vec![posts];
        let fields = ChosenFields::default().names(&paths, None).unwrap();
        let done = AtomicU64::new(0);
        let what = Import {
            store: &store,
            inputs: &Inputs::find(&paths, fields).unwrap(),
            sweep: None,
            dates: None,
            threads: NonZeroUsize::MIN,
            in_flight: 8,
            skip_pieces: 0,
        };
        let reading =
            Reading { done: &done, read: AtomicU64::new(0), most_waiting: AtomicU64::new(0) };
        let summary = import(&what, AddSummary::default(), &reading, &mut Done(&done)).unwrap();
        assert_eq!((summary.refused, done.load(Ordering::Relaxed)), (FILES, FILES));
        assert!(reading.most_waiting.into_inner() <= 8);
    }
}
