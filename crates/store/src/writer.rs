//! The one writer: takes all queued requests, decides in order, commits once, then acknowledges. `writer_queue` chooses the
//! thread that does this.
//!
//! Decisions are serial by construction: whatever the timing of the clients, documents are decided one after another, so two
//! copies stored at the same moment give exactly one original. A group is all requests that were queued while the previous
//! group was committed: one document from a single client, hundreds from many clients, which then share one fsync.
//!
//! Guarantee: an acknowledged document is durable. When a commit fails, the transaction and its changes to the index in
//! memory are rolled back, every client of the group gets the error, and the next group is tried as if nothing had happened.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use wonbon_index::CopyIndex;
use wonbon_time::Timestamp;

use crate::decisions::{DecisionEntry, DecisionRequest};
use crate::document::{Added, Edit, Expected, Stored};
use crate::error::StoreError;
use crate::families::{Families, verdict};
use crate::prepare::Prepared;
use crate::sweeps::{Recognised, Redirect};
use crate::tables::{Record, Standing};
use wonbon_rule::Kind;

/// A snapshot is written again after so many changes, or half as many as there are originals.
const SNAPSHOT_CHANGES: u64 = 200_000;

/// How long a turn that did not come is tried again, and how long it waits in between.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_WAIT: Duration = Duration::from_millis(2);
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// What is asked of the writer.
pub(crate) enum Request {
    Add(Box<Prepared>, Sender<Result<Added, StoreError>>),
    /// A document that is stored as it is was seen.
    See(Box<Recognised>, Sender<Result<Added, StoreError>>),
    /// A sweep saw an address lead elsewhere; says whether that was new.
    Redirect(Box<Redirect>, Sender<Result<bool, StoreError>>),
    Delete {
        key: String,
        expected: Option<Expected>,
        who: String,
        reply: Sender<Result<bool, StoreError>>,
    },
    /// A document is to be watched, or no more; says whether there is such a document, or it was
    /// watched.
    Watch {
        key: String,
        watch: bool,
        reply: Sender<Result<bool, StoreError>>,
    },
    /// A decision about a document is made or undone; answers with the entry in the log.
    Decide(Box<DecisionRequest>, Sender<Result<Option<DecisionEntry>, StoreError>>),
    /// The search index has seen the changes up to this one.
    SearchHasSeen(u64),
    /// The index of shingles has seen the changes up to this one.
    ShinglesHaveSeen(u64),
    /// What other processes did is taken in.
    Follow(Sender<Result<(), StoreError>>),
    /// Everything queued before is committed, and the snapshot is written.
    Flush(Sender<Result<(), StoreError>>),
    /// The last request: the writer ends after it.
    End,
}

impl Request {
    /// The key of the document that a request is about.
    fn key(&self) -> Option<&str> {
        match self {
            Request::Add(prepared, _) => Some(&prepared.key),
            Request::See(recognised, _) => Some(recognised.key()),
            Request::Delete { key, .. } | Request::Watch { key, .. } => Some(key),
            Request::Decide(request, _) => Some(request.key()),
            _ => None,
        }
    }

    /// Whether a client waits for it to be decided.
    pub(crate) fn is_of_client(&self) -> bool {
        self.key().is_some() || matches!(self, Request::Redirect(..))
    }

    /// The features of the document that a request adds.
    fn features(&self) -> Option<&[u64]> {
        match self {
            Request::Add(prepared, _) => Some(&prepared.features),
            _ => None,
        }
    }
}

/// The result of a request, sent once it is durable.
enum Answer {
    Added(Added, Sender<Result<Added, StoreError>>),
    Told(bool, Sender<Result<bool, StoreError>>),
    Decided(
        Result<Option<DecisionEntry>, StoreError>,
        Sender<Result<Option<DecisionEntry>, StoreError>>,
    ),
    /// Nothing was done; the other requests of the group are not affected.
    NotAdded(StoreError, Sender<Result<Added, StoreError>>),
    NotTold(StoreError, Sender<Result<bool, StoreError>>),
}

/// Who is told of every document that was stored, with what it was made from.
type ToldOfStored = dyn Fn(&Added, &Prepared) + Send;

pub(crate) struct Writer {
    pub(crate) families: Families,
    snapshot: PathBuf,
    /// The last change in the snapshot, and the last that search and the index of shingles have seen.
    snapshot_mark: u64,
    search_mark: u64,
    shingles_mark: u64,
    forgotten: u64,
    /// Why it no longer writes.
    stopped: Option<String>,
    /// Told of every document of a commit, then of the commit.
    stored: Box<ToldOfStored>,
    after_commit: Box<dyn Fn() + Send>,
}

impl Writer {
    pub(crate) fn new(
        families: Families,
        snapshot: PathBuf,
        snapshot_mark: u64,
        stored: Box<ToldOfStored>,
        after_commit: Box<dyn Fn() + Send>,
    ) -> Result<Self, StoreError> {
        let forgotten = families.database.last_change()?.1;
        Ok(Writer {
            families,
            snapshot,
            snapshot_mark,
            search_mark: forgotten,
            shingles_mark: forgotten,
            forgotten,
            stopped: None,
            stored,
            after_commit,
        })
    }

    /// Serves these requests; a request that only reports the progress of a follower needs no commit.
    pub(crate) fn serve_all(&mut self, mut group: Vec<Request>) {
        let mut follows = Vec::new();
        group.retain(|request| match request {
            Request::Follow(reply) => {
                follows.push(reply.clone());
                false
            }
            Request::SearchHasSeen(mark) => {
                self.search_mark = self.search_mark.max(*mark);
                false
            }
            Request::ShinglesHaveSeen(mark) => {
                self.shingles_mark = self.shingles_mark.max(*mark);
                false
            }
            _ => true,
        });
        if !group.is_empty() {
            self.serve(&group);
        }
        if !follows.is_empty() {
            let followed = self.families.look();
            (self.after_commit)();
            for reply in follows {
                // Nobody waits any more: nothing to tell.
                let _ = reply.send(followed.as_ref().copied().map_err(StoreError::again));
            }
        }
    }

    /// Leaves everything as the next opening likes it best.
    pub(crate) fn end(&mut self) {
        // What a clean end leaves undone is done at the next opening.
        let _ = self.maintain(true);
        self.families.database.close();
    }

    /// Commits a group, or, if something in it cannot be stored, each of it alone.
    fn serve(&mut self, group: &[Request]) {
        match self.commit(group) {
            Ok(answers) => {
                for (request, answer) in group.iter().zip(&answers) {
                    if let (Request::Add(prepared, _), Answer::Added(added, _)) = (request, answer)
                    {
                        (self.stored)(added, prepared);
                    }
                }
                for answer in answers {
                    // A client that has gone away does not hear what is true all the same.
                    match answer {
                        Answer::Added(added, reply) => drop(reply.send(Ok(added))),
                        Answer::Told(answer, reply) => drop(reply.send(Ok(answer))),
                        Answer::Decided(answer, reply) => drop(reply.send(answer)),
                        Answer::NotAdded(error, reply) => drop(reply.send(Err(error))),
                        Answer::NotTold(error, reply) => drop(reply.send(Err(error))),
                    }
                }
                (self.after_commit)();
                self.families.database.tidy();
            }
            Err(error) => {
                let whole = error.is_passing()
                    || matches!(
                        error,
                        StoreError::DiskFull
                            | StoreError::Stopped { .. }
                            | StoreError::InDoubt { .. }
                            | StoreError::Refused { .. }
                    );
                if group.len() > 1 && !whole && self.stopped.is_none() {
                    for request in group {
                        self.serve(std::slice::from_ref(request));
                    }
                    return;
                }
                for request in group {
                    match request {
                        Request::Add(_, reply) | Request::See(_, reply) => {
                            drop(reply.send(Err(error.again())));
                        }
                        Request::Redirect(_, reply)
                        | Request::Delete { reply, .. }
                        | Request::Watch { reply, .. } => drop(reply.send(Err(error.again()))),
                        Request::Decide(_, reply) => drop(reply.send(Err(error.again()))),
                        Request::SearchHasSeen(_)
                        | Request::ShinglesHaveSeen(_)
                        | Request::Follow(_)
                        | Request::Flush(_)
                        | Request::End => {}
                    }
                }
            }
        }
    }

    /// The same group is tried again when its turn did not come, or was cut off: a client is told its verdict, not that
    /// a connection was lost.
    fn commit(&mut self, group: &[Request]) -> Result<Vec<Answer>, StoreError> {
        let begun = Instant::now();
        let mut wait = FIRST_WAIT;
        loop {
            let error = match self.try_commit(group) {
                Ok(answers) => return Ok(answers),
                Err(error) => error,
            };
            if let Err(second) = self.families.take_back() {
                self.stopped = Some(format!("{error}; then {second}"));
            }
            if !error.is_passing() || self.stopped.is_some() || begun.elapsed() > PATIENCE {
                return Err(error);
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn try_commit(&mut self, group: &[Request]) -> Result<Vec<Answer>, StoreError> {
        self.check()?;
        let keys: Vec<&str> = group.iter().filter_map(Request::key).collect();
        self.families.begin_turn(&keys)?;
        self.families.fetch_candidates(group.iter().filter_map(Request::features))?;
        let mut answers = Vec::with_capacity(group.len());
        for request in group {
            match request {
                Request::Add(prepared, reply) => {
                    let refusal = match self.unlike(&prepared.key, prepared.expected)? {
                        None => self.too_early(prepared.sweep)?,
                        unlike => unlike,
                    };
                    answers.push(match refusal {
                        Some(error) => Answer::NotAdded(error, reply.clone()),
                        None => Answer::Added(self.add(prepared)?, reply.clone()),
                    });
                }
                Request::See(recognised, reply) => {
                    answers.push(match self.too_early(recognised.document.sweep())? {
                        Some(error) => Answer::NotAdded(error, reply.clone()),
                        None => Answer::Added(self.see(recognised)?, reply.clone()),
                    });
                }
                Request::Redirect(redirect, reply) => {
                    answers.push(match self.too_early(Some(redirect.sweep))? {
                        Some(error) => Answer::NotTold(error, reply.clone()),
                        None => {
                            let new = self.families.database.add_redirect(redirect)?;
                            Answer::Told(new, reply.clone())
                        }
                    });
                }
                Request::Delete { key, expected, who, reply } => {
                    answers.push(match self.unlike(key, *expected)? {
                        Some(error) => Answer::NotTold(error, reply.clone()),
                        None => Answer::Told(self.delete(key, who)?, reply.clone()),
                    });
                }
                Request::Watch { key, watch, reply } => {
                    let now = self.families.tick();
                    let known = self.families.database.watch(key, *watch, now)?;
                    answers.push(Answer::Told(known, reply.clone()));
                }
                Request::Decide(request, reply) => {
                    let now = self.families.tick();
                    let decided = self.change_decision(request, now)?;
                    answers.push(Answer::Decided(decided, reply.clone()));
                }
                Request::SearchHasSeen(_)
                | Request::ShinglesHaveSeen(_)
                | Request::Follow(_)
                | Request::Flush(_)
                | Request::End => {}
            }
        }
        self.families.end_turn()?;
        Ok(answers)
    }

    /// Says why it no longer writes, if so.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match &self.stopped {
            Some(what) => Err(StoreError::Stopped { what: what.clone() }),
            None => Ok(()),
        }
    }

    /// Why a request of this sweep is refused, if so.
    fn too_early(&self, sweep: Option<Timestamp>) -> Result<Option<StoreError>, StoreError> {
        match sweep {
            Some(sweep) => self.families.database.sweep_too_early(sweep),
            None => Ok(None),
        }
    }

    /// Why a document is not what a request takes it to be, if it is not.
    pub(crate) fn unlike(
        &self,
        key: &str,
        expected: Option<Expected>,
    ) -> Result<Option<StoreError>, StoreError> {
        let Some(expected) = expected else { return Ok(None) };
        let there = self.families.database.record_by_key(key)?;
        let there = there.map(|record| Edit {
            version: record.version,
            stored: record.stored,
            decision_entry: record.decision_entry,
        });
        let found = expected.unlike(there);
        Ok(found.map(|found| StoreError::NotAsExpected { key: key.to_owned(), found }))
    }

    fn add(&mut self, prepared: &Prepared) -> Result<Added, StoreError> {
        let now = self.families.tick();
        let (record, stored) = self.add_document(prepared, now)?;
        if let Some(sweep) = prepared.sweep {
            self.families.database.see(&record, sweep)?;
        }
        self.added(&record, stored)
    }

    fn see(&mut self, recognised: &Recognised) -> Result<Added, StoreError> {
        let Recognised { document, content } = recognised;
        let database = &*self.families.database;
        let record = database.record_by_key(document.key())?;
        let Some(record) = record.filter(|record| record.fingerprints.content == *content) else {
            // It changed after it was recognised, in a request that was queued before this one. Here,
            // and not by a second request, so that documents are decided in the order of the queue.
            let prepared = self.families.preparer.prepare(&document.as_new())?;
            return self.add(&prepared);
        };
        if let Some(sweep) = document.sweep() {
            database.see(&record, sweep)?;
        }
        self.added(&record, Stored::Unchanged)
    }

    fn add_document(
        &mut self,
        prepared: &Prepared,
        now: Timestamp,
    ) -> Result<(Record, Stored), StoreError> {
        let Some(old) = self.families.database.record_by_key(&prepared.key)? else {
            let row = self.families.new_row()?;
            let mut record = Record {
                row,
                key: prepared.key.clone(),
                created: prepared.created.unwrap_or(now),
                published: prepared.published,
                stored: now,
                version: 1,
                url: prepared.url.clone(),
                site: prepared.site.clone(),
                author: prepared.author.clone(),
                title: prepared.title.clone(),
                language: prepared.language.clone(),
                words: prepared.words,
                fingerprints: prepared.fingerprints,
                features: prepared.features.clone(),
                standing: Standing::alone(Kind::Empty),
                decision: None,
                decision_entry: 0,
            };
            let shingles = Arc::new(prepared.shingles.clone());
            let known = prepared.known.clone();
            self.families.add(&mut record, shingles, &prepared.text, known)?;
            return Ok((record, Stored::New));
        };

        // What the new version does not say stays as it was.
        let known = |new: &Option<String>, old: &Option<String>| new.clone().or(old.clone());
        let new_content = old.fingerprints != prepared.fingerprints;
        let mut record = Record {
            row: old.row,
            key: old.key.clone(),
            created: match prepared.created {
                Some(created) if prepared.created_at_the_latest => created.min(old.created),
                said => said.unwrap_or(old.created),
            },
            published: prepared.published.or(old.published),
            stored: now,
            version: old.version + u32::from(new_content),
            url: known(&prepared.url, &old.url),
            site: known(&prepared.site, &old.site),
            author: known(&prepared.author, &old.author),
            title: known(&prepared.title, &old.title),
            language: known(&prepared.language, &old.language),
            words: prepared.words,
            fingerprints: prepared.fingerprints,
            features: prepared.features.clone(),
            standing: old.standing,
            decision: old.decision,
            decision_entry: old.decision_entry,
        };
        if record == (Record { stored: now, ..old.clone() }) {
            return Ok((old, Stored::Unchanged));
        }
        let shingles = Arc::new(prepared.shingles.clone());
        let text = new_content.then_some(prepared.text.as_slice());
        self.families.edit(&old, &mut record, shingles, text)?;
        Ok((record, Stored::Updated))
    }

    fn added(&self, record: &Record, stored: Stored) -> Result<Added, StoreError> {
        let mut verdict = verdict(&*self.families.database, &record.standing)?;
        verdict.stopped_early = stored != Stored::Unchanged && self.families.stopped_early;
        Ok(Added { row: record.row, stored, verdict, change: self.families.latest_change() })
    }

    fn delete(&mut self, key: &str, who: &str) -> Result<bool, StoreError> {
        match self.families.database.record_by_key(key)? {
            Some(record) => {
                let now = self.families.tick();
                self.end_decision(&record, who, now)?;
                self.families.delete(&record).map(|()| true)
            }
            None => Ok(false),
        }
    }

    /// Whether there is a snapshot to write.
    pub(crate) fn is_snapshot_due(&self) -> bool {
        let behind = self.families.last_change().saturating_sub(self.snapshot_mark);
        if behind < SNAPSHOT_CHANGES {
            return false;
        }
        let index = self.families.index.shared().read();
        behind >= index.len() as u64 / 2
    }

    /// Writes the snapshot when it is due, and removes changes that all followers have seen.
    pub(crate) fn maintain(&mut self, flush: bool) -> Result<(), StoreError> {
        let last = self.families.last_change();
        let due = self.is_snapshot_due();
        let index = self.families.index.shared().read();
        if due || (flush && last > self.snapshot_mark) {
            index.write_snapshot(&self.snapshot, last)?;
            self.snapshot_mark = last;
        }
        drop(index);
        let seen = self.snapshot_mark.min(self.search_mark).min(self.shingles_mark);
        let seen = self.families.database.forgettable(seen, last);
        if seen > self.forgotten && (flush || seen - self.forgotten >= SNAPSHOT_CHANGES / 4) {
            let forgotten = self.families.begin_turn(&[]).and_then(|()| {
                let clock = self.families.clock();
                self.families.database.forget_changes(seen, clock)?;
                self.families.end_turn()
            });
            if forgotten.is_err() {
                self.families.take_back()?;
            }
            forgotten?;
            self.forgotten = seen;
        }
        Ok(())
    }
}
