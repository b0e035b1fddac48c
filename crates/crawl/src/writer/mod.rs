//! The durable files of a crawl (archive, texts, log), written by one thread.
//!
//! Everything arrives here in the order in which it was decided. Archive records are written as they
//! arrive, so that bodies leave memory at once. Log records wait until their group is committed: the
//! archive and the texts are synced, the sink returns its verdicts, then the group is written to the
//! log. `log` states what that guarantees.
//!
//! The texts are `texts.jsonl.zst`: a line for each page that has a body of its own, one zstd frame
//! for each group. `archive` describes the WARC files.

mod archive;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use wonbon_files::sync_directory;
use wonbon_time::Timestamp;

use crate::engine::Event;
use crate::error::CrawlError;
use crate::fetch::Answer;
use crate::log::LogWriter;
use crate::records::{Commit, Done, Outcome, Record};
use crate::sink::Ticket;
use archive::ArchiveWriter;
pub(crate) use archive::archive_path;

/// A group is committed when its records and texts are longer.
const GROUP_BYTES: usize = 8 << 20;
const TEXT_LEVEL: i32 = 1;

/// The archive record that holds a body that arrived again.
#[derive(Clone, Debug)]
pub(crate) struct EarlierBody {
    pub(crate) address: String,
    pub(crate) at: Timestamp,
    pub(crate) digest: Option<[u8; 20]>,
    /// The record ID, if the record is not in this crawl's archive.
    pub(crate) id: Option<u128>,
}

/// A request and its answer, to be archived.
pub(crate) struct Exchange {
    pub(crate) address: String,
    pub(crate) answer: Box<Answer>,
    pub(crate) charset: &'static str,
    pub(crate) earlier: Option<EarlierBody>,
    /// A line for the file of texts.
    pub(crate) row: Vec<u8>,
    pub(crate) ticket: Option<Ticket>,
}

impl Exchange {
    pub(crate) fn new(address: String, answer: Box<Answer>) -> Self {
        Exchange { address, answer, charset: "", earlier: None, row: Vec::new(), ticket: None }
    }
}

/// A message to the writer thread.
pub(crate) enum ToWrite {
    /// A page is finished, with its exchange.
    Page(Box<Done>, Box<Exchange>),
    /// An exchange that is no page.
    Exchange(Box<Exchange>),
    /// Something else happened.
    Record(Record),
    /// Nothing comes after this.
    End,
}

/// The files of a crawl.
pub(crate) struct CrawlFiles {
    pub(crate) directory: PathBuf,
    pub(crate) log: LogWriter,
    /// Makes the record IDs of this crawl unique.
    pub(crate) seed: u64,
    /// What is durable.
    pub(crate) commit: Commit,
    /// IDs of the records that hold bodies, by digest.
    pub(crate) ids: HashMap<[u8; 20], u128>,
}

/// The thread that writes.
pub(crate) struct WriterThread {
    sender: Sender<ToWrite>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl WriterThread {
    /// Opens the files of a crawl and starts the thread.
    pub(crate) fn start(
        files: CrawlFiles,
        commit_every: Duration,
        events: UnboundedSender<Event>,
    ) -> Result<Self, CrawlError> {
        let (sender, receiver) = channel();
        let mut writer = GroupWriter::open(files, events.clone())?;
        let thread = std::thread::spawn(move || {
            if let Err(error) = writer.run(&receiver, commit_every) {
                // The engine outlives this thread.
                let _ = events.send(Event::Failed(error));
            }
        });
        Ok(WriterThread { sender, thread: Mutex::new(Some(thread)) })
    }

    pub(crate) fn send(&self, message: ToWrite) {
        // If the thread has failed, its reason is among the events.
        let _ = self.sender.send(message);
    }

    /// Waits until everything is durable.
    pub(crate) fn finish(&self) -> Result<(), CrawlError> {
        self.send(ToWrite::End);
        let thread = self.thread.lock().expect("nobody panics while ending").take();
        match thread.map(JoinHandle::join) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err(CrawlError::Thread { doing: "writes the archive" }),
        }
    }
}

/// The path of the file of texts.
fn texts_path(directory: &Path) -> PathBuf {
    directory.join("texts.jsonl.zst")
}

/// Opens the file of texts and cuts it to the committed length. Without a committed text it is created.
fn open_texts(path: &Path, committed: u64) -> Result<File, CrawlError> {
    let io = |source| CrawlError::io("open", path, source);
    let mut options = OpenOptions::new();
    options.write(true).create(committed == 0).truncate(false);
    let mut texts = options.open(path).map_err(io)?;
    let length = texts.metadata().map_err(io)?.len();
    if length < committed {
        return Err(CrawlError::Shorter { path: path.to_owned(), length, committed });
    }
    texts.set_len(committed).map_err(io)?;
    texts.seek(SeekFrom::End(0)).map_err(io)?;
    Ok(texts)
}

/// Writes groups of records.
struct GroupWriter {
    directory: PathBuf,
    log: LogWriter,
    archive: ArchiveWriter,
    texts: File,
    texts_length: u64,
    /// Text lines of the group.
    rows: Vec<u8>,
    /// Records of the group; some wait for a verdict.
    group: Vec<(Record, Option<(Ticket, String)>)>,
    group_bytes: usize,
    events: UnboundedSender<Event>,
}

impl GroupWriter {
    /// Opens the files and cuts off what a crash left after the last commit.
    fn open(files: CrawlFiles, events: UnboundedSender<Event>) -> Result<Self, CrawlError> {
        let CrawlFiles { directory, log, seed, commit, ids } = files;
        let archive = ArchiveWriter::open(&directory, seed, &commit, ids)?;
        let texts = open_texts(&texts_path(&directory), commit.texts)?;
        // The file may be new: its name has to be durable before a commit refers to it.
        sync_directory(&directory)?;
        Ok(GroupWriter {
            directory,
            log,
            archive,
            texts,
            texts_length: commit.texts,
            rows: Vec::new(),
            group: Vec::new(),
            group_bytes: 0,
            events,
        })
    }

    fn run(&mut self, queue: &Receiver<ToWrite>, commit_every: Duration) -> Result<(), CrawlError> {
        let mut begun: Option<Instant> = None;
        loop {
            let next = match begun {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(begun) => queue.recv_timeout(commit_every.saturating_sub(begun.elapsed())),
            };
            match next {
                Ok(ToWrite::End) | Err(RecvTimeoutError::Disconnected) => return self.commit(),
                Ok(message) => {
                    self.write(message)?;
                    begun.get_or_insert_with(Instant::now);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let is_due = begun.is_some_and(|begun| begun.elapsed() >= commit_every);
            if is_due || self.group_bytes + self.rows.len() > GROUP_BYTES {
                self.commit()?;
                begun = None;
            }
        }
    }

    fn write(&mut self, message: ToWrite) -> Result<(), CrawlError> {
        match message {
            ToWrite::End => {}
            ToWrite::Record(record) => self.group.push((record, None)),
            ToWrite::Exchange(exchange) => {
                self.archive.write(None, &exchange)?;
                let _ = self.events.send(Event::Archived);
            }
            ToWrite::Page(mut done, mut exchange) => {
                done.place = Some(self.archive.write(Some(&done), &exchange)?);
                if done.outcome == Outcome::Kept {
                    self.rows.extend_from_slice(&exchange.row);
                }
                self.group_bytes += 64 + done.links.len() * 4;
                self.group_bytes += done.new.iter().map(String::len).sum::<usize>();
                let ticket = exchange.ticket.take().map(|ticket| (ticket, exchange.address));
                self.group.push((Record::Done(done), ticket));
                // The engine counts the bodies that are in memory.
                let _ = self.events.send(Event::Archived);
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), CrawlError> {
        if self.group.is_empty() && self.rows.is_empty() {
            return Ok(());
        }
        if !self.rows.is_empty() {
            let path = texts_path(&self.directory);
            let io = |source| CrawlError::io("write", &path, source);
            let frame = zstd::encode_all(&self.rows[..], TEXT_LEVEL).map_err(io)?;
            self.texts.write_all(&frame).and_then(|()| self.texts.sync_data()).map_err(io)?;
            self.texts_length += frame.len() as u64;
            self.rows.clear();
        }
        self.archive.sync()?;
        let mut verdicts = Vec::new();
        for (mut record, ticket) in self.group.drain(..) {
            if let (Record::Done(done), Some((ticket, address))) = (&mut record, ticket) {
                let verdict = ticket().map_err(|source| CrawlError::Sink { address, source })?;
                done.verdict = Some(verdict);
                verdicts.push((done.page, verdict));
            }
            self.log.push(&record);
        }
        self.group_bytes = 0;
        let (file, archive) = self.archive.end();
        self.log.commit(Commit { group: 0, file, archive, texts: self.texts_length })?;
        let _ = self.events.send(Event::Committed { verdicts });
        Ok(())
    }
}
