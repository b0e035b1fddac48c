//! Adds, checks and deletes documents.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use wonbon_index::{Closest, Row};
use wonbon_sketch::ElementSet;

use super::Store;
use crate::decisions::LOCAL;
use crate::document::{Added, Expected, Freshness, NewDocument, Order, check_key, without_nul};
use crate::error::StoreError;
use crate::families::verdict;
use crate::judge::{Asked, Judge, MOST_CANDIDATES, ShingleCache};
use crate::prepare::Prepared;
use crate::sweeps::Recognised;
use crate::tables::Reading;
use crate::writer::Request;
use crate::writer_queue::writer_ended;
use wonbon_rule::{Kind, Verdict};

/// How long a check tries to read from a database that does not answer, and how long it waits in between.
const CHECK_PATIENCE: Duration = Duration::from_secs(2);
const CHECK_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// An add that is queued; [`Pending::wait`] returns its result.
#[derive(Debug)]
#[must_use = "the document is acknowledged only when this says so"]
pub struct Pending {
    answer: Receiver<Result<Added, StoreError>>,
    store: Store,
    /// None for a document that was recognised.
    shingles: Option<ElementSet>,
}

impl Pending {
    /// Waits until the document is durable, and returns its verdict. The resemblance to its original
    /// is exact, under any rule; for a document that was recognised, and when a PostgreSQL is lost at this moment, it is
    /// given only where the decision had needed it.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn wait(self) -> Result<Added, StoreError> {
        let mut added = self.answer.recv().map_err(|_| writer_ended())??;
        if let Some(shingles) = &self.shingles {
            match self.store.fill_resemblance(&mut added.verdict, shingles) {
                // It is stored, whether its original can be read now or not.
                Err(error) if error.is_passing() => {}
                filled => filled?,
            }
        }
        Ok(added)
    }
}

impl Store {
    /// Prepares a document in this thread: computes everything that does not depend on other documents.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadKey`], [`StoreError::TooLong`].
    pub fn prepare(&self, document: &NewDocument<'_>) -> Result<Prepared, StoreError> {
        self.inner.preparer.prepare(document)
    }

    /// Queues a document. Documents are decided in the order in which they are queued.
    ///
    /// # Errors
    ///
    /// [`StoreError::ReadOnly`], [`StoreError::Stopped`].
    pub fn submit(&self, prepared: Prepared) -> Result<Pending, StoreError> {
        let (request, pending) = self.build_add_request(self.compare_ahead(prepared));
        self.writer_queue()?.enqueue(request)?;
        Ok(pending)
    }

    fn build_add_request(&self, prepared: Prepared) -> (Request, Pending) {
        let (reply, answer) = mpsc::channel();
        let shingles = Some(prepared.shingles.clone());
        let pending = Pending { answer, store: self.uncancelled(), shingles };
        (Request::Add(Box::new(prepared), reply), pending)
    }

    /// Queues that a recognised document was seen: as [`Store::submit`], without its cost. If the
    /// stored document changed after it was recognised, the writer adds the document in full.
    ///
    /// # Errors
    ///
    /// As [`Store::submit`].
    pub fn submit_recognised(&self, recognised: Recognised) -> Result<Pending, StoreError> {
        let (reply, answer) = mpsc::channel();
        self.writer_queue()?.enqueue(Request::See(Box::new(recognised), reply))?;
        Ok(Pending { answer, store: self.uncancelled(), shingles: None })
    }

    /// Queues a document that is not prepared yet. One that carries a sweep and is stored with the same content already
    /// is recognised by its fingerprint, and only the sighting is stored.
    ///
    /// # Errors
    ///
    /// As [`Store::prepare`] and [`Store::submit`], or the database's.
    pub fn submit_document(&self, document: &NewDocument<'_>) -> Result<Pending, StoreError> {
        if document.sweep.is_some()
            && let Some(recognised) = self.recognise(document)?
        {
            return self.submit_recognised(recognised);
        }
        self.submit(self.prepare(document)?)
    }

    /// Stores a document and returns its verdict once it is durable. A document that carries a sweep and is
    /// stored with the same content already is recognised by its fingerprint, and only the sighting is stored.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn add(&self, document: &NewDocument<'_>) -> Result<Added, StoreError> {
        if document.sweep.is_some()
            && let Some(recognised) = self.recognise(document)?
        {
            return self.submit_recognised(recognised)?.wait();
        }
        let prepared = self.compare_ahead(self.prepare(document)?);
        let (request, pending) = self.build_add_request(prepared);
        self.writer_queue()?.enqueue_and_serve(request)?;
        pending.wait()
    }

    /// The verdict that a document would get if it were added; nothing is stored. Its key may be empty: then
    /// it is no document that is stored already.
    ///
    /// # Errors
    ///
    /// As [`Store::prepare`], or the database's.
    pub fn check(&self, document: &NewDocument<'_>) -> Result<Verdict, StoreError> {
        self.check_as_of(document, Freshness::Now).map(|(verdict, _)| verdict)
    }

    /// As [`Store::check`], for those who need not know the latest; and the last change that the verdict knows of.
    ///
    /// # Errors
    ///
    /// As [`Store::check`].
    pub fn check_as_of(
        &self,
        document: &NewDocument<'_>,
        freshness: Freshness,
    ) -> Result<(Verdict, u64), StoreError> {
        if !document.key.is_empty() {
            check_key(&document.key)?;
        }
        let mut examined = self.inner.preparer.examine(document)?;
        let features = std::mem::take(&mut examined.features);
        let features = features.as_slice();
        // Most documents agree with no original, and then nothing else matters.
        let (index, backend) = (&self.inner.index, &self.inner.backend);
        let mut answer = index.closest(features, MOST_CANDIDATES)?;
        let is_shared = self.inner.follows_changes && backend.is_shared();
        let is_current = !is_shared
            || match freshness {
                Freshness::Now => {
                    let mut head = backend.head()?;
                    if !head.is_expected {
                        // What the index has may be of turns that were lost.
                        self.follow_others()?;
                        answer = index.closest(features, MOST_CANDIDATES)?;
                        head = backend.head()?;
                    }
                    head.change <= answer.applied
                }
                Freshness::AtLeast(change) => change <= answer.applied,
                Freshness::Any => true,
            };
        let known = answer.applied;
        if features.is_empty() || (answer.closest.matches.is_empty() && is_current) {
            let kind = if features.is_empty() { Kind::Empty } else { Kind::Original };
            let stopped_early = !answer.closest.complete;
            return Ok((Verdict { stopped_early, ..Verdict::alone(kind) }, known));
        }
        let shingles = Arc::new(ElementSet::new(std::mem::take(&mut examined.shingles)));
        let text_fingerprint = examined.text_fingerprint;
        let (mut answer, begun) = (Some(answer), Instant::now());
        loop {
            let before = index.before_reading();
            let verdict = self.reading(|database| {
                // The first read decides which state of the database is read.
                let (known, candidates) = if is_shared {
                    let candidates =
                        index.closest_in_shared(database, features, MOST_CANDIDATES)?;
                    let found = candidates.iter().flat_map(|candidates| &candidates.matches);
                    let rows: Vec<Row> = found.map(|found| found.row).collect();
                    if !rows.is_empty() {
                        database.fetch(&rows, self.inner.params.rule.least_resemblance() > 0.0)?;
                    }
                    (database.record_by_key(&document.key)?, candidates)
                } else {
                    let known = database.record_by_key(&document.key)?;
                    (known, index.closest_in(before, answer.take(), features, MOST_CANDIDATES)?)
                };
                let Some(candidates) = candidates else { return Ok(None) };
                let decision = known.as_ref().and_then(|known| known.decision);
                let row = known.as_ref().map_or(Row(u32::MAX), |known| known.row);
                let created = document.created.or(known.map(|known| known.created));
                let present = match created {
                    None if is_shared && !candidates.matches.is_empty() => database.present()?,
                    _ => None,
                };
                let created = created.or(present).unwrap_or_else(|| index.after_all());
                let asked = Asked {
                    order: Order::new(decision, created, row),
                    decision,
                    fingerprints: self.inner.preparer.fingerprint(
                        document,
                        text_fingerprint,
                        &shingles,
                    ),
                    features,
                    shingles: Some(&shingles),
                };
                self.check_among(database, candidates, &asked, &shingles).map(Some)
            });
            match verdict {
                Ok(Some(verdict)) => return Ok((verdict, known)),
                // The index went ahead of the state that was read: another state is read.
                Ok(None) => {}
                // Nothing was changed, so a connection that was cut is no reason not to answer.
                Err(error) if error.is_passing() && begun.elapsed() < CHECK_PATIENCE => {
                    std::thread::sleep(CHECK_AGAIN_AFTER);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn check_among(
        &self,
        database: &dyn Reading,
        candidates: Closest,
        asked: &Asked<'_>,
        shingles: &ElementSet,
    ) -> Result<Verdict, StoreError> {
        let (rule, preparer) = (self.inner.params.rule, &self.inner.preparer);
        let judge = Judge { database, rule, preparer };
        let judgement = judge.judge(candidates, asked, &mut ShingleCache::default())?;
        let mut verdict = verdict(database, &judgement.standing)?;
        verdict.stopped_early = judgement.stopped_early;
        self.inner.fill_resemblance(database, &mut verdict, shingles)?;
        Ok(verdict)
    }

    fn fill_resemblance(
        &self,
        verdict: &mut Verdict,
        shingles: &ElementSet,
    ) -> Result<(), StoreError> {
        if verdict.original.is_none() || verdict.resemblance.is_some() {
            return Ok(());
        }
        self.reading(|database| self.inner.fill_resemblance(database, verdict, shingles))
    }

    /// Removes a document with all its versions; returns whether it existed. If it was an original, its copies
    /// are judged again.
    ///
    /// # Errors
    ///
    /// Why it was not removed.
    pub fn delete(&self, key: &str) -> Result<bool, StoreError> {
        self.delete_as(key, None, LOCAL)
    }

    /// As [`Store::delete`], if the precondition holds when the writer reaches the request.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotAsExpected`], or why it was not removed.
    pub fn delete_if(&self, key: &str, expected: Expected) -> Result<bool, StoreError> {
        self.delete_as(key, Some(expected), LOCAL)
    }

    /// As [`Store::delete`], if the precondition holds when the writer reaches the request. If the removal ends a
    /// decision, `who` is written to the log of decisions.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotAsExpected`], or why it was not removed.
    pub fn delete_as(
        &self,
        key: &str,
        expected: Option<Expected>,
        who: &str,
    ) -> Result<bool, StoreError> {
        let (key, who) = (key.to_owned(), without_nul(who));
        self.ask_writer(|reply| Request::Delete { key, expected, who, reply })
    }

    /// Asks the writer something and waits until its answer is durable.
    pub(crate) fn ask_writer(
        &self,
        request: impl FnOnce(Sender<Result<bool, StoreError>>) -> Request,
    ) -> Result<bool, StoreError> {
        let (reply, answer) = mpsc::channel();
        self.writer_queue()?.enqueue_and_serve(request(reply))?;
        answer.recv().map_err(|_| writer_ended())?
    }
}
