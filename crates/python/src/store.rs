//! A store: documents in, verdicts and answers out.
//!
//! Questions and answers are JSON here, in the words of the service: so `wonbon.Store` and `wonbon.Client` ask the
//! same questions and return the same types.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Instant;

use pyo3::prelude::*;
use serde::Serialize;
use wonbon_app::AppError;
use wonbon_app::answers;
use wonbon_app::intake::{Intake, IntakeError, Outcome, ReadyDocument, SubmittedDocument};
use wonbon_app::questions::{
    self, ChangesParameters, DecisionsQuestion, PlaceQuestion, ReportQuestion, SearchQuestion,
    TextQuestion,
};
use wonbon_documents::{ChosenFields, Document, TableReading, for_each_table_document};
use wonbon_progress::Progress;
use wonbon_store::{
    By, Decision, LOCAL, Measure, OldStore, SeedSource, Store, StoreError, StoreParams,
};
use wonbon_time::{Dates, Timestamp};

use crate::batches::Batches;
use crate::failure::{Class, Failure};
use crate::families::parse as asked;
use crate::options;
use crate::watched;

/// An open store.
///
/// A store has threads, which a forked process does not have. So there every use is refused, and the copy of the store
/// is neither closed nor dropped: either would wait for those threads for ever.
#[pyclass(frozen, module = "wonbon._wonbon")]
pub(crate) struct StoreCore {
    /// None once it was closed.
    store: RwLock<Option<Store>>,
    /// The process that opened it.
    process: u32,
    /// How long opening took.
    open_seconds: f64,
}

/// An open store that cannot be closed meanwhile; none in another process.
struct Open<'a>(Option<RwLockReadGuard<'a, Option<Store>>>);

impl Open<'_> {
    fn get(&self) -> Result<&Store, Failure> {
        let store = self.0.as_ref().ok_or_else(|| {
            Failure::request("the store was opened before this process was forked: open it here")
        })?;
        store.as_ref().ok_or_else(|| Failure::request("the store is closed"))
    }
}

impl StoreCore {
    fn is_from_here(&self) -> bool {
        self.process == std::process::id()
    }

    fn open(&self) -> Open<'_> {
        let read = || self.store.read().unwrap_or_else(PoisonError::into_inner);
        Open(self.is_from_here().then(read))
    }
}

impl Drop for StoreCore {
    fn drop(&mut self) {
        if !self.is_from_here() {
            let store = self.store.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(store.take());
        }
    }
}

fn told(answer: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(answer).map_err(|error| Failure::request(error.to_string()))
}

fn date(name: &'static str, text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    Ok(wonbon_app::parameters::date(name, text)?)
}

#[pymethods]
impl StoreCore {
    /// Opens a store, or makes one. Parameters are checked against those of a store that is there.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
    #[pyo3(signature = (directory, *, rule = None, shingle = None, dates = None, seed = None, read_only = false,
                        create = true))]
    fn new(
        py: Python<'_>,
        directory: PathBuf,
        rule: Option<&str>,
        shingle: Option<i64>,
        dates: Option<&str>,
        seed: Option<&str>,
        read_only: bool,
        create: bool,
    ) -> Result<Self, Failure> {
        let wrong = |what: &str, given: &str, why: &dyn std::fmt::Display| {
            Failure::request(format!("`{what}` cannot be {given}: {why}"))
        };
        let mut params = StoreParams::default();
        if let Some(rule) = rule {
            params.rule = rule.parse().map_err(|error| wrong("rule", rule, &error))?;
        }
        if let Some(dates) = dates {
            params.dates = dates.parse::<Dates>().map_err(|error| wrong("dates", dates, &error))?;
        }
        if let Some(seed) = seed {
            params.seed =
                seed.parse::<SeedSource>().map_err(|error| wrong("seed", seed, &error))?;
        }
        params.shingle_words = options::shingle_words(shingle)?;
        let chosen = rule.is_some() || shingle.is_some() || dates.is_some() || seed.is_some();
        let started = Instant::now();
        let store = py.detach(|| {
            if read_only {
                return Store::open_read_only(&directory);
            }
            match Store::open(&directory) {
                Err(StoreError::NoStore { .. }) if create => Store::create(&directory, &params),
                opened => opened,
            }
        })?;
        if chosen {
            let there = store.params();
            for (what, wanted, has) in [
                ("rule", rule.map(|_| params.rule.to_string()), there.rule.to_string()),
                (
                    "shingle",
                    shingle.map(|words| words.to_string()),
                    there.shingle_words.to_string(),
                ),
                ("dates", dates.map(|_| params.dates.to_string()), there.dates.to_string()),
            ] {
                if let Some(wanted) = wanted.filter(|wanted| *wanted != has) {
                    return Err(Failure::request(format!(
                        "`{what}` is {wanted}, but the store in {} was made with {has}",
                        directory.display()
                    )));
                }
            }
        }
        let open_seconds = started.elapsed().as_secs_f64();
        Ok(StoreCore { store: RwLock::new(Some(store)), process: std::process::id(), open_seconds })
    }

    /// Closes the store: everything acknowledged is durable already.
    fn close(&self, py: Python<'_>) -> Result<(), Failure> {
        if !self.is_from_here() {
            return Ok(());
        }
        py.detach(|| {
            let store = self.store.write().unwrap_or_else(PoisonError::into_inner).take();
            store.map_or(Ok(()), |store| Ok(store.close()?))
        })
    }

    /// How many documents, originals and copies there are, and what decides.
    fn status(&self, py: Python<'_>) -> Result<String, Failure> {
        py.detach(|| {
            let open = self.open();
            let store = open.get()?;
            told(&answers::Status::of(store, self.open_seconds)?)
        })
    }

    /// Adds the rows of a table, or of one row; tells of each whether it is a copy, and of what.
    #[pyo3(signature = (data, fields, *, sweep = None, dates = None, threads = None, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
    fn add(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        fields: &str,
        sweep: Option<&str>,
        dates: Option<&str>,
        threads: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> Result<Vec<String>, Failure> {
        let chosen: ChosenFields = asked(fields)?;
        let batches = Batches::of(data, "the data", &chosen, None, true)?;
        let (sweep, dates) = (date("sweep", sweep)?, wonbon_app::parameters::dates(dates)?);
        let threads = options::threads(threads)?;
        let names = batches.fields().clone();
        watched::run(py, progress, |watched| {
            let open = self.open();
            let store = open.get()?;
            let intake = Intake::new(store).with_sweep(sweep).with_dates(dates);
            let reading = TableReading {
                fields: &names,
                ranking: None,
                threads,
                progress: watched,
                for_store: true,
            };
            let (mut answers, mut waiting) = (Vec::new(), std::collections::VecDeque::new());
            watched.begin("add", 0);
            type Ready = Vec<(Result<ReadyDocument, IntakeError>, Instant)>;
            for_each_table_document::<_, Ready, Failure>(
                reading,
                batches,
                || (),
                |(), document: &mut Document<'_>, ready: &mut Ready| {
                    let since = Instant::now();
                    ready.push((intake.prepare(document), since));
                },
                |piece| {
                    for ready in piece.output {
                        let (ready, since) = ready;
                        waiting.push_back((ready?.submit(store)?, since));
                        if waiting.len() >= IN_FLIGHT
                            && let Some(first) = waiting.pop_front()
                        {
                            answers.push(added(first)?);
                        }
                    }
                    watched.advance((answers.len() + waiting.len()) as u64);
                    Ok(())
                },
            )?;
            for rest in waiting {
                answers.push(added(rest)?);
            }
            Ok(answers)
        })
    }

    /// What would be said of the rows of a table; nothing is stored.
    /// `named`: whether what the row is called is the name of a document that may be stored.
    #[pyo3(signature = (data, fields, *, named = true, dates = None, threads = None, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword in Python")]
    fn check(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        fields: &str,
        named: bool,
        dates: Option<&str>,
        threads: Option<i64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> Result<Vec<String>, Failure> {
        let chosen: ChosenFields = asked(fields)?;
        let batches = Batches::of(data, "the data", &chosen, None, false)?;
        let dates = wonbon_app::parameters::dates(dates)?;
        let threads = options::threads(threads)?;
        let names = batches.fields().clone();
        watched::run(py, progress, |watched| {
            let open = self.open();
            let store = open.get()?;
            let intake = Intake::new(store).with_dates(dates);
            let reading = TableReading {
                fields: &names,
                ranking: None,
                threads,
                progress: watched,
                for_store: false,
            };
            let mut answers = Vec::new();
            watched.begin("check", 0);
            type Checked = Vec<Result<String, Failure>>;
            for_each_table_document::<_, Checked, Failure>(
                reading,
                batches,
                || (),
                |(), document: &mut Document<'_>, checked: &mut Checked| {
                    if !named {
                        document.id = "".into();
                    }
                    let id = document.id.clone().into_owned();
                    let since = Instant::now();
                    let verdict = intake.check(document).map_err(Failure::from);
                    checked.push(verdict.and_then(|verdict| {
                        told(&answers::Checked::of(&id, &verdict, microseconds(since)))
                    }));
                },
                |piece| {
                    for checked in piece.output {
                        answers.push(checked?);
                    }
                    watched.advance(answers.len() as u64);
                    Ok(())
                },
            )?;
            Ok(answers)
        })
    }

    /// A stored document; an error if there is none.
    fn get(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<String, Failure> {
        let key = options::text("key", key)?;
        py.detach(|| {
            let open = self.open();
            told(&answers::Document::of(&questions::document(open.get()?, key)?))
        })
    }

    /// The documents of a document's family.
    fn family(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<Vec<String>, Failure> {
        let key = options::text("key", key)?;
        py.detach(|| {
            let open = self.open();
            let family = open.get()?.family(key)?;
            if family.is_empty() {
                return Err(AppError::UnknownDocument { key: key.to_owned() }.into());
            }
            family.iter().map(|document| told(&answers::Document::of(document))).collect()
        })
    }

    /// Removes a document; whether it was there.
    fn delete(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<bool, Failure> {
        let key = options::text("key", key)?;
        py.detach(|| Ok(self.open().get()?.delete(key)?))
    }

    /// Answers a question by its name.
    fn ask(&self, py: Python<'_>, name: &str, question: &str) -> Result<String, Failure> {
        py.detach(|| {
            let open = self.open();
            answer(open.get()?, name, question)
        })
    }

    /// Notes that a document is watched, or no more.
    fn watch(&self, py: Python<'_>, key: &Bound<'_, PyAny>, watched: bool) -> Result<(), Failure> {
        let key = options::text("key", key)?;
        py.detach(|| {
            let open = self.open();
            let store = open.get()?;
            Ok(if watched { questions::watch(store, key) } else { questions::unwatch(store, key) }?)
        })
    }

    /// A person's decision about a document; None takes it back. The entry in the log, if it changed anything.
    #[pyo3(signature = (key, decision, who = None, reason = None))]
    fn decide(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        decision: Option<&str>,
        who: Option<&str>,
        reason: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let key = options::text("key", key)?;
        py.detach(|| {
            let open = self.open();
            let store = open.get()?;
            let by = By { who: who.unwrap_or(LOCAL), reason };
            let entry = match decision {
                None => Some(store.undo_decision(key, None, &by, None)?),
                Some(name) => {
                    let decision = Decision::from_name(name).ok_or_else(|| {
                        Failure::request(format!(
                            "a decision is `original` or `not-a-copy`, not `{name}`"
                        ))
                    })?;
                    store.decide(key, decision, &by, None)?
                }
            };
            entry.map(|entry| told(&answers::DecisionEntry::of(&entry))).transpose()
        })
    }

    /// A copy of the store in another directory, as of one moment.
    fn backup(&self, py: Python<'_>, directory: PathBuf) -> Result<(), Failure> {
        py.detach(|| Ok(self.open().get()?.backup(&directory)?))
    }
}

/// Documents on their way through the store at a time: they share commits.
const IN_FLIGHT: usize = 256;

fn added((submitted, since): (SubmittedDocument, Instant)) -> Result<String, Failure> {
    let name = submitted.name().clone();
    match submitted.wait()? {
        Outcome::Added { added, .. } => {
            told(&answers::Added::of(&name.key, &added, microseconds(since)))
        }
        Outcome::Redirected | Outcome::PassedOver => {
            let target = name.redirect.as_deref().unwrap_or_default();
            told(&answers::Redirected::of(&name.key, target))
        }
    }
}

fn microseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// The questions by the names of the service's paths.
fn answer(store: &Store, name: &str, question: &str) -> Result<String, Failure> {
    let about_text = |measure| -> Result<String, Failure> {
        let question: TextQuestion = asked(question)?;
        let about = question.about(store)?;
        told(&answers::MatchAnswer::of(&question.matches(store, &about, measure)?))
    };
    match name {
        "similar" => about_text(Measure::Resemblance),
        "within" => about_text(Measure::Within),
        "contains" => about_text(Measure::Contains),
        "sources" => {
            let question: TextQuestion = asked(question)?;
            let about = question.about(store)?;
            let found = question.sources(store, &about)?;
            told(&answers::SourcesAnswer::of(&found, &about.text))
        }
        "passages" => {
            let question: TextQuestion = asked(question)?;
            let about = question.about(store)?;
            let found = question.passages(store, &about)?;
            told(&answers::PassagesAnswer::of(&found, &about.text))
        }
        "search" => {
            store.catch_up()?;
            told(&asked::<SearchQuestion>(question)?.search(store)?.answer())
        }
        "moved" => {
            let found = asked::<PlaceQuestion>(question)?.moved(store)?;
            told(&answers::Moved::of(&found))
        }
        "copies" => {
            let found = asked::<PlaceQuestion>(question)?.copies(store)?;
            told(&answers::Copies::of(&found))
        }
        "changes" => told(&asked::<ChangesParameters>(question)?.ask(store)?.answer()),
        "watched" => {
            let watched = store.watched()?;
            told(&answers::WatchList::of(&watched))
        }
        "reports" => {
            let reports = asked::<ReportQuestion>(question)?.ask(store)?;
            told(&answers::WatchReports::of(&reports))
        }
        "decisions" => told(&asked::<DecisionsQuestion>(question)?.ask(store)?.answer()),
        other => Err(Failure::request(format!("there is no question `{other}`"))),
    }
}

/// Makes a store of a backup; tells where what was there is now, if it was moved aside.
#[pyfunction]
#[pyo3(signature = (backup, directory, *, move_old_aside = false))]
pub(crate) fn restore(
    py: Python<'_>,
    backup: PathBuf,
    directory: PathBuf,
    move_old_aside: bool,
) -> Result<Option<PathBuf>, Failure> {
    let old = if move_old_aside { OldStore::MoveAside } else { OldStore::Refuse };
    py.detach(|| Ok(Store::restore(&backup, &directory, old)?))
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let class = match error {
            StoreError::UnknownDocument { .. } => Class::UnknownDocument,
            StoreError::Damaged { .. } => Class::Damaged,
            StoreError::Io { .. } | StoreError::DiskFull | StoreError::InUse { .. } => {
                Class::Environment
            }
            StoreError::WriteFailed { .. } | StoreError::Stopped { .. } => Class::Environment,
            _ => Class::Request,
        };
        Failure::of(class, &error)
    }
}

impl From<IntakeError> for Failure {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Store(error) => error.into(),
            error => Failure::wrong(&error),
        }
    }
}
