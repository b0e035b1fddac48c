//! The log of a crawl: the truth about it.
//!
//! Everything else (frontier, archive's end, link graph, report) is what follows from it. The log is
//! only ever appended to, in groups of records. A group is written when everything it speaks of, the
//! records of the archive and the texts, is durable; its last record, the commit, says how long these
//! files are then. What a crash leaves behind the last whole group is cut off, here and there, so a
//! page is done with exactly when its group is durable.
//!
//! Bytes: the letters `wonbonCL`, the version, 4 bytes; then frames: length and CRC-32 of a record,
//! 4 bytes each, little-endian, and the record (`records`).
//!
//! Guarantee: a torn end is told from damage. A group is begun when the one before is durable, so a
//! bad frame with a whole group after its own cannot be the work of a crash: such a log is refused,
//! not cut.
//!
//! Cost: a few dozen bytes a fetched page, a few for each link, the text of each new address once;
//! one `fdatasync` a group.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::CrawlError;
use crate::records::{COMMIT, COMMIT_BYTES, Commit, Record};

const MAGIC: &[u8; 8] = b"wonbonCL";
const VERSION: u32 = 1;
const HEAD_BYTES: u64 = 12;
const FRAME_BYTES: usize = 8;
/// The longest record: a page with all the links that are read of one.
const MOST_RECORD_BYTES: usize = 1 << 30;

/// Appends to a log.
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: File,
    length: u64,
    group: Vec<u8>,
    record: Vec<u8>,
}

impl LogWriter {
    /// Begins a log.
    ///
    /// # Errors
    ///
    /// The file is there already, or cannot be written.
    pub fn create(path: &Path) -> Result<Self, CrawlError> {
        let io = |source| CrawlError::io("create", path, source);
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(io)?;
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&VERSION.to_le_bytes());
        file.write_all(&head).map_err(io)?;
        Ok(LogWriter::on(path, file, HEAD_BYTES))
    }

    /// Goes on with a log after what was read of it.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn resume(path: &Path, end: &LogEnd) -> Result<Self, CrawlError> {
        let io = |source| CrawlError::io("write", path, source);
        let mut file = OpenOptions::new().write(true).open(path).map_err(io)?;
        file.set_len(end.length).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(LogWriter::on(path, file, end.length))
    }

    fn on(path: &Path, file: File, length: u64) -> Self {
        LogWriter { path: path.to_owned(), file, length, group: Vec::new(), record: Vec::new() }
    }

    /// Adds a record to the group.
    pub fn push(&mut self, record: &Record) {
        self.record.clear();
        record.write(&mut self.record);
        self.group.extend_from_slice(&(self.record.len() as u32).to_le_bytes());
        self.group.extend_from_slice(&crc32fast::hash(&self.record).to_le_bytes());
        self.group.extend_from_slice(&self.record);
    }

    /// Whether the group holds a record.
    #[must_use]
    pub fn has_group(&self) -> bool {
        !self.group.is_empty()
    }

    /// Ends the group and makes it durable. What it speaks of must be so already.
    ///
    /// # Errors
    ///
    /// The file cannot be written; nothing more may be then.
    pub fn commit(&mut self, commit: Commit) -> Result<(), CrawlError> {
        self.push(&Record::Commit(Commit { group: self.length, ..commit }));
        let written = self.file.write_all(&self.group).and_then(|()| self.file.sync_data());
        written.map_err(|source| CrawlError::io("write", &self.path, source))?;
        self.length += self.group.len() as u64;
        self.group.clear();
        Ok(())
    }
}

/// Where a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// The length of its whole groups.
    pub length: u64,
    /// The commit of the last of them.
    pub commit: Commit,
    /// Bytes behind them.
    pub torn: u64,
}

/// Reads the whole groups of a log, and where each record stands; commits are not shown.
///
/// # Errors
///
/// The file is no log, is damaged, or cannot be read; or `each` fails.
pub fn read(
    path: &Path,
    mut each: impl FnMut(Record, u64) -> Result<(), CrawlError>,
) -> Result<LogEnd, CrawlError> {
    let io = |source| CrawlError::io("read", path, source);
    let damaged = |at| CrawlError::Damaged { path: path.to_owned(), at };
    let mut input = open(path)?;
    let total = input.get_ref().metadata().map_err(io)?.len();
    let mut end = LogEnd { length: HEAD_BYTES, commit: Commit::default(), torn: 0 };
    let mut at = HEAD_BYTES;
    let mut group = Vec::new();
    let mut bytes = Vec::new();
    loop {
        let frame = read_frame(&mut input, total - at, &mut bytes).map_err(io)?;
        let Some(record) = frame else { break };
        let begins = at;
        at += (FRAME_BYTES + bytes.len()) as u64;
        match record {
            Record::Commit(commit) => {
                if commit.group != end.length {
                    return Err(damaged(at));
                }
                for (record, at) in group.drain(..) {
                    each(record, at)?;
                }
                end = LogEnd { length: at, commit, torn: 0 };
            }
            record => group.push((record, begins)),
        }
    }
    end.torn = total - end.length;
    if let Some(damage) = commit_behind(input, path, at, end.length).map_err(io)? {
        return Err(damaged(damage));
    }
    Ok(end)
}

/// The first record of a log, if it has a whole one.
///
/// # Errors
///
/// The file is no log, or cannot be read.
pub fn first(path: &Path) -> Result<Option<Record>, CrawlError> {
    let io = |source| CrawlError::io("read", path, source);
    let mut input = open(path)?;
    let left = input.get_ref().metadata().map_err(io)?.len() - HEAD_BYTES;
    read_frame(&mut input, left, &mut Vec::new()).map_err(io)
}

/// Opens a log and reads its head.
fn open(path: &Path) -> Result<BufReader<File>, CrawlError> {
    let io = |source| CrawlError::io("read", path, source);
    let file = File::open(path).map_err(io)?;
    let mut input = BufReader::with_capacity(1 << 20, file);
    let mut head = [0; HEAD_BYTES as usize];
    match input.read_exact(&mut head) {
        Ok(()) if head[..8] == *MAGIC => {}
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(io(error)),
        _ => return Err(CrawlError::NoLog { path: path.to_owned() }),
    }
    let version = u32::from_le_bytes(head[8..].try_into().expect("four bytes"));
    if version != VERSION {
        return Err(CrawlError::OtherVersion {
            path: path.to_owned(),
            got: version,
            want: VERSION,
        });
    }
    Ok(input)
}

/// Reads the record that stands at a place that [`read`] told.
///
/// # Errors
///
/// There is none, or the file cannot be read.
pub fn read_at(file: &mut File, at: u64) -> io::Result<Record> {
    file.seek(SeekFrom::Start(at))?;
    let record = read_frame(&mut BufReader::new(file), u64::MAX, &mut Vec::new())?;
    record.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "there is no record"))
}

/// One record, if there is a whole one.
fn read_frame(input: &mut impl Read, left: u64, bytes: &mut Vec<u8>) -> io::Result<Option<Record>> {
    let mut frame = [0; FRAME_BYTES];
    if left < FRAME_BYTES as u64 {
        return Ok(None);
    }
    input.read_exact(&mut frame)?;
    let length = u32::from_le_bytes(frame[..4].try_into().expect("four bytes")) as usize;
    let checksum = u32::from_le_bytes(frame[4..].try_into().expect("four bytes"));
    if length > MOST_RECORD_BYTES || (FRAME_BYTES + length) as u64 > left {
        return Ok(None);
    }
    bytes.resize(length, 0);
    input.read_exact(bytes)?;
    if crc32fast::hash(bytes) != checksum {
        return Ok(None);
    }
    Ok(Record::read(bytes).ok())
}

/// Looks behind a bad frame at `bad` for the commit of a later group than the one that begins at
/// `group`; tells where the damage is if there is one.
fn commit_behind(
    input: BufReader<File>,
    path: &Path,
    bad: u64,
    group: u64,
) -> io::Result<Option<u64>> {
    drop(input);
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(bad))?;
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    let later = rest.windows(FRAME_BYTES + COMMIT_BYTES).any(|frame| {
        let (frame, record) = frame.split_at(FRAME_BYTES);
        record[0] == COMMIT
            && frame[..4] == (COMMIT_BYTES as u32).to_le_bytes()
            && frame[4..] == crc32fast::hash(record).to_le_bytes()
            && matches!(Record::read(record), Ok(Record::Commit(commit)) if commit.group > group)
    });
    Ok(later.then_some(bad))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &Path, groups: &[&[u32]]) -> Vec<u64> {
        let mut log = LogWriter::create(path).unwrap();
        let mut ends = vec![HEAD_BYTES];
        for (number, group) in groups.iter().enumerate() {
            for &page in *group {
                log.push(&Record::Taken(page));
            }
            log.commit(Commit { archive: number as u64, ..Commit::default() }).unwrap();
            ends.push(log.length);
        }
        ends
    }

    fn pages(path: &Path) -> Result<(Vec<u32>, LogEnd), CrawlError> {
        let mut pages = Vec::new();
        let end = read(path, |record, _| {
            match record {
                Record::Taken(page) => pages.push(page),
                other => panic!("{other:?}"),
            }
            Ok(())
        })?;
        Ok((pages, end))
    }

    #[test]
    fn a_log_cut_anywhere_is_its_whole_groups_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let groups: [&[u32]; 3] = [&[1, 2], &[3], &[400, 500, 600]];
        let ends = written(&path, &groups);
        let whole = std::fs::read(&path).unwrap();
        for cut in HEAD_BYTES as usize..=whole.len() {
            let path = folder.path().join("cut");
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (got, end) = pages(&path).unwrap();
            let kept = ends.iter().filter(|&&end| end <= cut as u64).count() - 1;
            assert_eq!(got, groups[..kept].concat(), "cut at {cut}");
            assert_eq!(end.torn, cut as u64 - ends[kept]);
            let mut log = LogWriter::resume(&path, &end).unwrap();
            log.push(&Record::Taken(7));
            log.commit(Commit::default()).unwrap();
            assert_eq!(pages(&path).unwrap().0, [&groups[..kept].concat()[..], &[7]].concat());
        }
        for cut in 0..HEAD_BYTES as usize {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(matches!(pages(&path), Err(CrawlError::NoLog { .. })));
        }
    }

    #[test]
    fn a_changed_byte_before_the_last_group_is_damage_and_in_it_a_torn_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let ends = written(&path, &[&[1, 2], &[3], &[400, 500, 600]]);
        let whole = std::fs::read(&path).unwrap();
        for at in HEAD_BYTES as usize..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            std::fs::write(&path, &changed).unwrap();
            match pages(&path) {
                Err(CrawlError::Damaged { .. }) => assert!((at as u64) < ends[2], "{at}"),
                Ok((pages, _)) => {
                    assert!(at as u64 >= ends[2], "{at}");
                    assert_eq!(pages, [1, 2, 3]);
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}
