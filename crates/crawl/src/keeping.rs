//! What lasts of a crawl: archive, texts and log, written by one thread.
//!
//! Everything comes here in the order in which it was decided. Records of the archive are written as
//! they come, so bodies leave the memory at once; what the log says of them waits for the group to be
//! committed: the archive and the texts are made durable, the sink is asked for its verdicts, then
//! the log's group is written. See `log` for what that promises.
//!
//! The archive: WARC files of about 1 GiB under `archive/`, a gzip member a record. Of each exchange
//! the request and the response are kept, of pages that are not kept (other types, too large) a
//! metadata record says what came. A body that came before is written as a revisit record. The head
//! is as the server sent it, except that the body is stored without its transfer coding: the field
//! `Transfer-Encoding` is renamed `X-Crawler-Transfer-Encoding`.
//!
//! The texts: `texts.jsonl.zst`, a line for each page that has a body of its own, one zstd frame a
//! group.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use wonbon_time::Timestamp;
use wonbon_warc::{Digest, RecordId, RefersTo, Writer, lines};

use crate::engine::Event;
use crate::error::CrawlError;
use crate::fetch::{Answer, Body};
use crate::log::LogWriter;
use crate::records::{Commit, Done, Outcome, Place, Record};
use crate::sink::Ticket;

/// A file of the archive is ended when it is longer.
const FILE_BYTES: u64 = 1 << 30;
/// A group is committed when its records and texts are longer.
const GROUP_BYTES: usize = 8 << 20;
/// Gzip is mostly the dearest part of keeping a page; higher levels save few bytes.
const LEVEL: u32 = 4;
const TEXT_LEVEL: i32 = 1;

/// The record that holds a body that came again.
#[derive(Clone, Debug)]
pub(crate) struct Refers {
    pub(crate) address: String,
    pub(crate) at: Timestamp,
    pub(crate) digest: Option<[u8; 20]>,
    /// The number of its name, if it does not stand in this crawl's archive.
    pub(crate) id: Option<u128>,
}

/// An exchange to be archived.
pub(crate) struct PageToKeep {
    pub(crate) address: String,
    pub(crate) answer: Box<Answer>,
    pub(crate) charset: &'static str,
    pub(crate) refers: Option<Refers>,
    /// A line for the file of texts.
    pub(crate) row: Vec<u8>,
    pub(crate) ticket: Option<Ticket>,
}

impl PageToKeep {
    pub(crate) fn of(address: String, answer: Box<Answer>) -> Self {
        PageToKeep { address, answer, charset: "", refers: None, row: Vec::new(), ticket: None }
    }
}

/// What the thread is told.
pub(crate) enum Keep {
    /// A page is done with, and this came of it.
    Page(Box<Done>, Box<PageToKeep>),
    /// An exchange that is no page.
    Exchange(Box<PageToKeep>),
    /// Something else happened.
    Record(Record),
    /// Nothing comes after this.
    End,
}

/// The files of a crawl.
pub(crate) struct Files {
    pub(crate) directory: PathBuf,
    pub(crate) log: LogWriter,
    /// Makes the names of records this crawl's own.
    pub(crate) seed: u64,
    /// What is durable.
    pub(crate) commit: Commit,
    /// Names of the records that hold bodies, by digest.
    pub(crate) ids: HashMap<[u8; 20], u128>,
}

/// The thread that writes.
pub(crate) struct Keeper {
    sender: Sender<Keep>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Keeper {
    /// Starts it on the files of a crawl.
    pub(crate) fn start(
        files: Files,
        commit_every: Duration,
        events: UnboundedSender<Event>,
    ) -> Result<Self, CrawlError> {
        let (sender, receiver) = channel();
        let mut writing = Writing::open(files, events.clone())?;
        let thread = std::thread::spawn(move || {
            if let Err(error) = writing.work(&receiver, commit_every) {
                // The engine is there until this thread has ended.
                let _ = events.send(Event::Failed(error));
            }
        });
        Ok(Keeper { sender, thread: Mutex::new(Some(thread)) })
    }

    pub(crate) fn keep(&self, keep: Keep) {
        // If the thread has failed, its reason is among the events.
        let _ = self.sender.send(keep);
    }

    /// Waits until everything is durable.
    pub(crate) fn end(&self) -> Result<(), CrawlError> {
        self.keep(Keep::End);
        let thread = self.thread.lock().expect("nobody panics while ending").take();
        match thread.map(JoinHandle::join) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(_)) => Err(CrawlError::Thread { doing: "writes the archive" }),
        }
    }
}

/// The path of a file of the archive.
pub(crate) fn archive_path(directory: &Path, number: u32) -> PathBuf {
    directory.join("archive").join(format!("crawl-{number:05}.warc.gz"))
}

/// The path of the file of texts.
pub(crate) fn texts_path(directory: &Path) -> PathBuf {
    directory.join("texts.jsonl.zst")
}

struct Writing {
    directory: PathBuf,
    log: LogWriter,
    archive: Writer<File>,
    number: u32,
    seed: u64,
    texts: File,
    texts_length: u64,
    /// Lines of the group.
    rows: Vec<u8>,
    /// Records of the group, and verdicts to be waited for.
    group: Vec<(Record, Option<(Ticket, String)>)>,
    group_bytes: usize,
    ids: HashMap<[u8; 20], u128>,
    events: UnboundedSender<Event>,
}

impl Writing {
    fn open(files: Files, events: UnboundedSender<Event>) -> Result<Self, CrawlError> {
        let Files { directory, log, seed, commit, ids } = files;
        let number = commit.file;
        let path = archive_path(&directory, number);
        let failed = |source| archive_error("open", &path, source);
        // What a crash left behind the last commit is cut off, and so are files begun after it.
        let later = archive_path(&directory, number + 1);
        if later.exists() {
            std::fs::remove_file(&later)
                .map_err(|source| CrawlError::io("remove", &later, source))?;
        }
        let archive = if commit.archive == 0 {
            if path.exists() {
                std::fs::remove_file(&path)
                    .map_err(|source| CrawlError::io("remove", &path, source))?;
            }
            begin_archive(&directory, number, seed)?
        } else {
            let seed = file_seed(seed, number);
            Writer::append(&path, commit.archive, seed).map_err(failed)?.level(LEVEL)
        };
        let path = texts_path(&directory);
        let io = |source| CrawlError::io("open", &path, source);
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let mut texts = opened.map_err(io)?;
        texts.set_len(commit.texts).map_err(io)?;
        texts.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Writing {
            directory,
            log,
            archive,
            number,
            seed,
            texts,
            texts_length: commit.texts,
            rows: Vec::new(),
            group: Vec::new(),
            group_bytes: 0,
            ids,
            events,
        })
    }

    fn work(&mut self, queue: &Receiver<Keep>, commit_every: Duration) -> Result<(), CrawlError> {
        let mut begun: Option<Instant> = None;
        loop {
            let next = match begun {
                None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(begun) => queue.recv_timeout(commit_every.saturating_sub(begun.elapsed())),
            };
            match next {
                Ok(Keep::End) | Err(RecvTimeoutError::Disconnected) => return self.commit(),
                Ok(keep) => {
                    self.write(keep)?;
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

    fn write(&mut self, keep: Keep) -> Result<(), CrawlError> {
        match keep {
            Keep::End => {}
            Keep::Record(record) => self.group.push((record, None)),
            Keep::Exchange(kept) => {
                self.exchange(None, &kept)?;
                let _ = self.events.send(Event::Kept);
            }
            Keep::Page(mut done, mut kept) => {
                let place = self.exchange(Some(&done), &kept)?;
                if let (Outcome::Kept, Some(digest)) = (done.outcome, done.digest) {
                    self.ids.entry(digest).or_insert(place.id);
                }
                done.place = Some(place);
                if done.outcome == Outcome::Kept {
                    self.rows.extend_from_slice(&kept.row);
                }
                self.group_bytes += 64 + done.links.len() * 4;
                self.group_bytes += done.new.iter().map(String::len).sum::<usize>();
                let ticket = kept.ticket.take().map(|ticket| (ticket, kept.address));
                self.group.push((Record::Done(done), ticket));
                // The engine counts the bodies that are in memory.
                let _ = self.events.send(Event::Kept);
            }
        }
        Ok(())
    }

    /// Archives an exchange; tells where its response stands.
    fn exchange(&mut self, done: Option<&Done>, kept: &PageToKeep) -> Result<Place, CrawlError> {
        if self.archive.offset() > FILE_BYTES {
            self.sync_archive()?;
            self.number += 1;
            self.archive = begin_archive(&self.directory, self.number, self.seed)?;
        }
        let PageToKeep { address, answer, .. } = kept;
        let date = answer.at;
        let head = archived_head(&answer.head);
        let digest = done.and_then(|done| done.digest);
        let same = kept.refers.as_ref().and_then(|refers| {
            let digest = refers.digest?;
            let id = RecordId::from_bits(refers.id.or_else(|| self.ids.get(&digest).copied())?);
            let target = refers.address.as_str();
            Some((digest, RefersTo { id, target, date: refers.at }))
        });
        let about;
        let mut record = if let Some((digest, earlier)) = same {
            wonbon_warc::Record::revisit(address, date, &head, Digest::from_bytes(digest), earlier)
        } else if answer.whole == Body::Whole {
            let record = wonbon_warc::Record::response(address, date, &head, &answer.body);
            match digest {
                Some(digest) => record.payload_digest(Digest::from_bytes(digest)),
                None => record,
            }
        } else {
            let status = answer.status.to_string();
            let why = if answer.whole == Body::TooLarge { "too-large" } else { "other-type" };
            let kind = answer.content_type().unwrap_or_default();
            let length = answer.field("content-length").unwrap_or_default();
            about = lines([
                ("status", status.as_str()),
                ("not-kept", why),
                ("content-type", kind),
                ("content-length", length),
            ]);
            wonbon_warc::Record::metadata(address, date, &about)
        };
        if let Some(address) = answer.address {
            record = record.address(address);
        }
        if answer.is_two {
            record = record.protocol("h2");
        }
        if !kept.charset.is_empty() {
            record = record.field("WARC-X-Charset", kept.charset);
        }
        let path = archive_path(&self.directory, self.number);
        let failed = |source| archive_error("write", &path, source);
        let place = self.archive.write(&record).map_err(failed)?;
        if !answer.request.is_empty() {
            let request = wonbon_warc::Record::request(address, date, &answer.request, b"");
            self.archive.write(&request.concurrent_to(place.id)).map_err(failed)?;
        }
        let (offset, length, id) = (place.offset, place.length, place.id.to_bits());
        Ok(Place { file: self.number, offset, length, id })
    }

    fn sync_archive(&mut self) -> Result<(), CrawlError> {
        let path = archive_path(&self.directory, self.number);
        self.archive.sync().map_err(|source| archive_error("write", &path, source))
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
        self.sync_archive()?;
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
        self.log.commit(Commit {
            group: 0,
            file: self.number,
            archive: self.archive.offset(),
            texts: self.texts_length,
        })?;
        let _ = self.events.send(Event::Committed { verdicts });
        Ok(())
    }
}

fn archive_error(doing: &'static str, path: &Path, source: wonbon_warc::WarcError) -> CrawlError {
    CrawlError::Archive { doing, path: path.to_owned(), source }
}

fn file_seed(seed: u64, number: u32) -> u64 {
    seed.wrapping_add(u64::from(number))
}

fn begin_archive(directory: &Path, number: u32, seed: u64) -> Result<Writer<File>, CrawlError> {
    let path = archive_path(directory, number);
    let failed = |source| archive_error("create", &path, source);
    let mut archive = Writer::create(&path, file_seed(seed, number)).map_err(failed)?.level(LEVEL);
    let software = concat!("wonbon/", env!("CARGO_PKG_VERSION"));
    let about = lines([
        ("software", software),
        ("format", "WARC File Format 1.1"),
        (
            "conformsTo",
            "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        ),
    ]);
    let name = format!("crawl-{number:05}.warc.gz");
    let about = wonbon_warc::Record::warcinfo(&name, Timestamp::now(), &about);
    archive.write(&about).map_err(failed)?;
    Ok(archive)
}

/// The head for a body without transfer coding.
fn archived_head(head: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"transfer-encoding:";
    let mut out = Vec::with_capacity(head.len() + 16);
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        if line.len() >= NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME) {
            out.extend_from_slice(b"X-Crawler-");
        }
        out.extend_from_slice(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_transfer_coding_of_a_head_is_renamed() {
        let head =
            b"HTTP/1.1 200 OK\r\nTransfer-encoding: chunked\r\nX: transfer-encoding:\r\n\r\n";
        let kept = b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-encoding: chunked\r\nX: transfer-encoding:\r\n\r\n";
        assert_eq!(archived_head(head), kept);
    }
}
