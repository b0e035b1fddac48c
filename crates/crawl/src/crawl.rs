//! A crawl in its directory: begin, resume, run.
//!
//! | file | is |
//! |---|---|
//! | `crawl.log` | everything that happened; the source of truth |
//! | `archive/crawl-….warc.gz` | what was asked and answered |
//! | `texts.jsonl.zst` | the core text of every page, a line each |
//! | `graph/urls.txt`, `graph/edges.tsv`, `graph/states.tsv` | the link graph; made from the log |
//! | `stats.json`, `report.html` | counts and curves; made from the log |
//! | `lock` | held by the process that crawls |
//!
//! ```no_run
//! use std::sync::Arc;
//! use wonbon_crawl::crawl::Crawl;
//! use wonbon_crawl::fetch::network::{Network, NetworkConfig};
//! use wonbon_crawl::plan::Plan;
//! use wonbon_crawl::progress::{Control, Unwatched};
//!
//! let mut plan = Plan::default();
//! plan.params.seeds = vec!["https://example.org/".to_owned()];
//! plan.pace.pages = Some(100);
//! let crawl = Crawl::begin("example".as_ref(), plan.clone(), None)?;
//! let config = NetworkConfig { agent: plan.params.agent.clone(), ..NetworkConfig::default() };
//! let summary =
//!     crawl.run(Arc::new(Network::new(config)?), None, &Unwatched, &Control::default())?;
//! println!("{} pages", summary.stats.pages);
//! # Ok::<(), wonbon_crawl::CrawlError>(())
//! ```

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::Url;
use wonbon_files::sync_directory;
use wonbon_time::Timestamp;

use crate::engine::{Engine, Parts, event_channel};
use crate::error::CrawlError;
use crate::fetch::Fetcher;
use crate::log::{self, LogWriter};
use crate::order::Order;
use crate::plan::Plan;
use crate::previous_sweep::PreviousSweep;
use crate::progress::{Control, Observer, Summary};
use crate::records::{Commit, Outcome, Record};
use crate::sink::PageSink;
use crate::state::{PageState, State};
use crate::writer::{CrawlFiles, WriterThread};

/// The log of a crawl.
pub(crate) fn log_path(directory: &Path) -> PathBuf {
    directory.join("crawl.log")
}

/// What the first record of a log says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Beginning {
    pub(crate) plan: Plan,
    /// When the crawl was begun.
    #[serde(with = "wonbon_time::microseconds")]
    pub(crate) begun: Timestamp,
    /// The directory of the sweep before.
    pub(crate) before: Option<PathBuf>,
}

/// A crawl that is ready to run.
pub struct Crawl {
    directory: PathBuf,
    beginning: Beginning,
    state: State,
    order: Box<dyn Order>,
    unfinished: VecDeque<u32>,
    unread_sitemaps: Vec<u32>,
    ids: HashMap<[u8; 20], u128>,
    log: LogWriter,
    commit: Commit,
    previous: Option<PreviousSweep>,
    is_resumed: bool,
    _lock: File,
}

impl std::fmt::Debug for Crawl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crawl")
            .field("directory", &self.directory)
            .field("plan", &self.beginning.plan)
            .finish_non_exhaustive()
    }
}

impl Crawl {
    /// Begins a crawl in a directory that does not exist, is empty, or holds nothing but what an
    /// interrupted beginning leaves. `before` is the directory of an earlier crawl: pages it has are
    /// asked for only if they changed.
    ///
    /// # Errors
    ///
    /// The plan cannot be followed, or the directory holds something; then nothing is written.
    pub fn begin(directory: &Path, plan: Plan, before: Option<&Path>) -> Result<Self, CrawlError> {
        let (mut state, mut order) = State::new(plan.clone())?;
        let seeds = plan.params.canonical_seeds(&state.rules)?;
        let io = |source| CrawlError::io("read", directory, source);
        let is_interrupted = check_unused(directory)?;
        let previous = before.map(PreviousSweep::open).transpose()?;
        std::fs::create_dir_all(directory.join("archive"))
            .map_err(|source| CrawlError::io("create", directory, source))?;
        let lock = lock(directory)?;
        // Looked at again under the lock: another process may have begun in between.
        if is_interrupted && check_unused(directory)? {
            let path = log_path(directory);
            std::fs::remove_file(&path)
                .map_err(|source| CrawlError::io("remove", &path, source))?;
        }
        let begun = Timestamp::now();
        let before = before.map(std::path::absolute).transpose().map_err(io)?;
        let beginning = Beginning { plan, begun, before };
        let mut log = LogWriter::create(&log_path(directory))?;
        let json = serde_json::to_string(&beginning).expect("a plan can be written as JSON");
        log.push(&Record::Plan(json));
        for seed in &seeds {
            log.push(&Record::Seed(seed.to_string()));
            state.seed(seed.as_str(), &mut *order);
        }
        log.commit(Commit::default())?;
        // The names of the files are durable when their directory is, and so is its own.
        sync_directory(directory)?;
        let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync_directory(parent.unwrap_or(Path::new(".")))?;
        Ok(Crawl {
            directory: directory.to_owned(),
            beginning,
            state,
            order,
            unfinished: VecDeque::new(),
            unread_sitemaps: Vec::new(),
            ids: HashMap::new(),
            log,
            commit: Commit::default(),
            previous,
            is_resumed: false,
            _lock: lock,
        })
    }

    /// The plan of the crawl in a directory.
    ///
    /// # Errors
    ///
    /// There is no crawl ([`CrawlError::NoCrawl`]), none was begun ([`CrawlError::NotBegun`]), or its
    /// log cannot be read.
    pub fn plan_of(directory: &Path) -> Result<Plan, CrawlError> {
        Ok(beginning_of(directory)?.plan)
    }

    /// When the crawl in a directory was begun.
    ///
    /// # Errors
    ///
    /// As for [`plan_of`](Self::plan_of).
    pub fn begun_of(directory: &Path) -> Result<Timestamp, CrawlError> {
        Ok(beginning_of(directory)?.begun)
    }

    /// Resumes the crawl in a directory where its log ends. The parameters that decide its result must
    /// be those it was begun with; how fast and how far it goes may differ.
    ///
    /// # Errors
    ///
    /// There is no crawl, another process is at work on it, its log is damaged, or it was begun with
    /// something else.
    pub fn resume(directory: &Path, plan: Plan) -> Result<Self, CrawlError> {
        let beginning = beginning_of(directory)?;
        beginning.plan.params.check_same(&plan.params, directory)?;
        let lock = lock(directory)?;
        let (mut state, mut order) = State::new(plan)?;
        let mut ids = HashMap::new();
        let mut taken = Vec::new();
        let mut sitemaps = Vec::new();
        let path = log_path(directory);
        let end = log::read(&path, |record, _| {
            match &record {
                Record::Taken(page) => taken.push(*page),
                Record::Known(address) => sitemaps.push(address.clone()),
                Record::Done(done) => {
                    if let (Outcome::Kept, Some(digest), Some(place)) =
                        (done.outcome, done.digest, done.place)
                    {
                        ids.entry(digest).or_insert(place.id);
                    }
                }
                _ => {}
            }
            state.replay(record, &mut *order);
            Ok(())
        })?;
        let is_unfinished = |page: &u32| {
            state.pages.get(*page as usize).is_some_and(|p| p.state == PageState::Taken)
        };
        let unfinished = taken.into_iter().filter(is_unfinished).collect();
        let sitemaps = sitemaps.iter().filter_map(|address| state.addresses.get(address));
        let unread_sitemaps = sitemaps.filter(is_unfinished).collect();
        let previous = beginning.before.as_deref().map(PreviousSweep::open).transpose()?;
        Ok(Crawl {
            log: LogWriter::resume(&path, &end)?,
            directory: directory.to_owned(),
            beginning,
            state,
            order,
            unfinished,
            unread_sitemaps,
            ids,
            commit: end.commit,
            previous,
            is_resumed: true,
            _lock: lock,
        })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How it is done.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.state.plan
    }

    /// When the crawl was begun: the date of its sweep.
    #[must_use]
    pub fn begun(&self) -> Timestamp {
        self.beginning.begun
    }

    /// How many pages are done with already.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.state.stats.done
    }

    /// Crawls until nothing is left, the budget is used up or `control` stops it. The calling thread
    /// does the work; others read pages and write files.
    ///
    /// # Errors
    ///
    /// Files cannot be written, or the sink fails. What was committed before is kept, and the crawl
    /// can be gone on with.
    pub fn run(
        self,
        fetcher: Arc<dyn Fetcher>,
        sink: Option<Arc<dyn PageSink>>,
        observer: &dyn Observer,
        control: &Control,
    ) -> Result<Summary, CrawlError> {
        let Crawl { directory, beginning, state, order, unfinished, unread_sitemaps, .. } = self;
        let (sender, events) = event_channel();
        let files = CrawlFiles {
            directory,
            log: self.log,
            seed: beginning.begun.as_microseconds() as u64,
            commit: self.commit,
            ids: self.ids,
        };
        let commit_every = state.plan.pace.commit_every;
        let writer = WriterThread::start(files, commit_every, sender.clone())?;
        let runtime = runtime()?;
        let ended = runtime.block_on(async {
            let engine = Engine::new(Parts {
                state,
                order,
                unfinished,
                unread_sitemaps,
                fetcher,
                sink,
                previous: self.previous,
                writer: &writer,
                observer,
                control,
                events,
                sender,
                resumed: self.is_resumed,
            });
            engine.run().await
        });
        // Name lookups that are still running after requests were abandoned are not waited for.
        runtime.shutdown_background();
        // After a failure too: everything sent to the writer is written before the lock is released.
        let written = writer.finish();
        let summary = ended?;
        written?;
        Ok(summary)
    }
}

/// Whether the hosts of pages have addresses that may be asked.
///
/// # Errors
///
/// [`CrawlError::SeedUnreachable`] for the first that has none.
pub fn check_reachable(seeds: &[Url], fetcher: &dyn Fetcher) -> Result<(), CrawlError> {
    let runtime = runtime()?;
    let mut hosts = HashSet::new();
    for seed in seeds {
        let host = seed.host_str().unwrap_or_default();
        if !hosts.insert(host) {
            continue;
        }
        if let Err(why) = runtime.block_on(fetcher.resolve(host)) {
            let (seed, why) = (seed.to_string(), why.to_string());
            return Err(CrawlError::SeedUnreachable { seed, why });
        }
    }
    Ok(())
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, CrawlError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| CrawlError::io("start", Path::new("the network"), source))
}

/// Checks that a directory holds nothing of value: it does not exist, is empty, or an earlier beginning
/// was interrupted before anything was fetched. Returns whether it has the log of such a beginning.
fn check_unused(directory: &Path) -> Result<bool, CrawlError> {
    let not_empty = || CrawlError::NotEmpty { path: directory.to_owned() };
    let Some(names) = names_in(directory)? else { return Ok(false) };
    let is_interrupted = names.iter().any(|name| name == "crawl.log");
    if is_interrupted {
        match log::first(&log_path(directory)) {
            Ok(_) => return Err(CrawlError::HoldsCrawl { path: directory.to_owned() }),
            Err(CrawlError::NotBegun { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    for name in names {
        let is_ours = match name.to_str() {
            Some("crawl.log" | "lock") => true,
            Some("archive") => names_in(&directory.join("archive"))?.is_some_and(|n| n.is_empty()),
            _ => false,
        };
        if !is_ours {
            return Err(not_empty());
        }
    }
    Ok(is_interrupted)
}

/// The names in a directory; none if it does not exist.
fn names_in(directory: &Path) -> Result<Option<Vec<std::ffi::OsString>>, CrawlError> {
    let io = |source| CrawlError::io("read", directory, source);
    match std::fs::read_dir(directory) {
        Ok(entries) => entries
            .map(|entry| Ok(entry.map_err(io)?.file_name()))
            .collect::<Result<_, _>>()
            .map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io(error)),
    }
}

/// What the log of a crawl begins with.
pub(crate) fn beginning_of(directory: &Path) -> Result<Beginning, CrawlError> {
    let path = log_path(directory);
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) => return Err(CrawlError::NoCrawl { path: directory.to_owned() }),
        Err(source) => return Err(CrawlError::io("read", &path, source)),
    }
    match log::first(&path)? {
        Record::Plan(json) => {
            serde_json::from_str(&json).map_err(|source| CrawlError::UnknownPlan { path, source })
        }
        _ => Err(CrawlError::NoLog { path }),
    }
}

fn lock(directory: &Path) -> Result<File, CrawlError> {
    let path = directory.join("lock");
    let taken =
        wonbon_files::lock::take(&path).map_err(|source| CrawlError::io("lock", &path, source))?;
    taken.ok_or_else(|| CrawlError::Locked { path: directory.to_owned() })
}
