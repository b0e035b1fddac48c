//! The log of a crawl: an append-only file of records, from which everything else is derived.
//!
//! Frontier, link graph and report are computed from it, and the archive and the texts are as long as
//! it says. Records are written in groups. A group is written when the archive records and texts that
//! it refers to are durable; its last record, the commit, states the lengths of these files. After a
//! crash all files are cut back to the last whole group, so a page is finished exactly when its group
//! is durable.
//!
//! Bytes: the letters `wonbonCL`, the version, 4 bytes; then frames: length and CRC-32 of a record,
//! 4 bytes each, little-endian, and the record (`records`).
//!
//! Guarantee: a torn end is told from damage, and a damaged log is refused, never cut. A crash leaves a
//! last group that ends early or has blocks of zeros where nothing was written; it never changes bytes,
//! and a group is begun only when the one before is durable. So a frame that is whole but does not
//! match its checksum is damage, and so is a bad frame with a commit after it.
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
        file.write_all(&head_bytes()).map_err(io)?;
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
    let last = loop {
        let record = match read_frame(&mut input, total - at, &mut bytes).map_err(io)? {
            Frame::Record(record) => record,
            other => break other,
        };
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
    };
    end.torn = total - end.length;
    drop(input);
    if !is_torn(path, at, end.length, &last).map_err(io)? {
        return Err(damaged(at));
    }
    Ok(end)
}

/// The first record of a log.
///
/// # Errors
///
/// [`CrawlError::NotBegun`] if the first group is torn: the crawl was interrupted while it was being
/// begun. Otherwise, if the file is no log, is damaged, or cannot be read.
pub fn first(path: &Path) -> Result<Record, CrawlError> {
    let io = |source| CrawlError::io("read", path, source);
    let mut input = open(path)?;
    let total = input.get_ref().metadata().map_err(io)?.len();
    let mut at = HEAD_BYTES;
    let mut bytes = Vec::new();
    let mut first = None;
    loop {
        let frame = read_frame(&mut input, total - at, &mut bytes).map_err(io)?;
        match (frame, first) {
            (Frame::Record(Record::Commit(_)), Some(record)) => return Ok(record),
            (Frame::Record(Record::Commit(_)), None) => {
                return Err(CrawlError::Damaged { path: path.to_owned(), at });
            }
            (Frame::Record(record), before) => first = before.or(Some(record)),
            (last, _) => {
                drop(input);
                return Err(if is_torn(path, at, HEAD_BYTES, &last).map_err(io)? {
                    CrawlError::NotBegun { path: path.to_owned() }
                } else {
                    CrawlError::Damaged { path: path.to_owned(), at }
                });
            }
        }
        at += (FRAME_BYTES + bytes.len()) as u64;
    }
}

/// Opens a log and reads its head.
fn open(path: &Path) -> Result<BufReader<File>, CrawlError> {
    let io = |source| CrawlError::io("read", path, source);
    let file = File::open(path).map_err(io)?;
    let mut input = BufReader::with_capacity(1 << 20, file);
    let mut head = [0; HEAD_BYTES as usize];
    let length = read_up_to(&mut input, &mut head).map_err(io)?;
    let is_zeros = head.iter().all(|&byte| byte == 0);
    if is_zeros || (length < head.len() && head_bytes().starts_with(&head[..length])) {
        return Err(CrawlError::NotBegun { path: path.to_owned() });
    }
    if length < head.len() || head[..8] != *MAGIC {
        return Err(CrawlError::NoLog { path: path.to_owned() });
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

/// What every log begins with.
fn head_bytes() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// Fills `bytes` as far as the input goes; returns how far that is.
fn read_up_to(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match input.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Reads the record that stands at a place that [`read`] told.
///
/// # Errors
///
/// There is none, or the file cannot be read.
pub fn read_at(file: &mut File, at: u64) -> io::Result<Record> {
    file.seek(SeekFrom::Start(at))?;
    match read_frame(&mut BufReader::new(file), u64::MAX, &mut Vec::new())? {
        Frame::Record(record) => Ok(record),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "there is no record")),
    }
}

/// What stands where a record should begin.
enum Frame {
    /// A record.
    Record(Record),
    /// Less than its length says.
    Short,
    /// Something that is no record.
    Bad,
}

/// Reads a record out of the next `left` bytes.
fn read_frame(input: &mut impl Read, left: u64, bytes: &mut Vec<u8>) -> io::Result<Frame> {
    let mut frame = [0; FRAME_BYTES];
    if left < FRAME_BYTES as u64 {
        return Ok(Frame::Short);
    }
    input.read_exact(&mut frame)?;
    let length = u32::from_le_bytes(frame[..4].try_into().expect("four bytes")) as usize;
    let checksum = u32::from_le_bytes(frame[4..].try_into().expect("four bytes"));
    if length > MOST_RECORD_BYTES || (FRAME_BYTES + length) as u64 > left {
        return Ok(Frame::Short);
    }
    bytes.resize(length, 0);
    input.read_exact(bytes)?;
    if crc32fast::hash(bytes) != checksum {
        return Ok(Frame::Bad);
    }
    Ok(Record::read(bytes).map_or(Frame::Bad, Frame::Record))
}

/// Whether a crash explains what follows the last whole group, which ends at `group`; the frame at
/// `last_at` is `last`.
fn is_torn(path: &Path, last_at: u64, group: u64, last: &Frame) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(group))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let behind = &tail[(last_at - group).min(tail.len() as u64) as usize..];
    let commits = behind.windows(FRAME_BYTES + COMMIT_BYTES).filter_map(|frame| {
        let (frame, record) = frame.split_at(FRAME_BYTES);
        // The length is not compared: it may be what is damaged.
        let is_commit = record[0] == COMMIT && frame[4..] == crc32fast::hash(record).to_le_bytes();
        match Record::read(record) {
            Ok(Record::Commit(commit)) if is_commit => Some(commit.group),
            _ => None,
        }
    });
    match commits.max() {
        // A group after this one: this one was durable.
        Some(commit) if commit > group => Ok(false),
        commit => {
            let is_changed = commit.is_some() || matches!(last, Frame::Bad);
            Ok(!is_changed || has_unwritten_block(&tail, group))
        }
    }
}

/// Whether a block of a file's tail, which begins at `offset`, was never written: it is zeros.
fn has_unwritten_block(tail: &[u8], offset: u64) -> bool {
    /// The smallest unit that disks write.
    const BLOCK: usize = 512;
    /// Records have fewer zeros in a row; the blocks at either end may be as short.
    const FEWEST: usize = 64;
    let is_unwritten = |block: &[u8]| block.len() >= FEWEST && block.iter().all(|&byte| byte == 0);
    let to_boundary = (BLOCK - (offset % BLOCK as u64) as usize).min(tail.len());
    let (first, others) = tail.split_at(to_boundary);
    is_unwritten(first) || others.chunks(BLOCK).any(is_unwritten)
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
            assert!(matches!(pages(&path), Err(CrawlError::NotBegun { .. })));
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_is_damage_and_not_a_torn_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        written(&path, &[&[1, 2], &[3], &[400, 500, 600]]);
        let whole = std::fs::read(&path).unwrap();
        for bit in HEAD_BYTES as usize * 8..whole.len() * 8 {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &changed).unwrap();
            let read = pages(&path);
            assert!(matches!(read, Err(CrawlError::Damaged { .. })), "bit {bit}: {read:?}");
        }
    }

    #[test]
    fn a_flipped_bit_in_a_single_group_is_damage_for_the_first_record_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        written(&path, &[&[1, 2]]);
        let whole = std::fs::read(&path).unwrap();
        assert!(matches!(first(&path), Ok(Record::Taken(1))));
        for bit in 0..whole.len() * 8 {
            let mut changed = whole.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &changed).unwrap();
            let first = first(&path);
            let is_refused = matches!(
                first,
                Err(CrawlError::Damaged { .. }
                    | CrawlError::NoLog { .. }
                    | CrawlError::OtherVersion { .. })
            );
            assert!(is_refused, "bit {bit}: {first:?}");
        }
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let first = first(&path);
            assert!(matches!(first, Err(CrawlError::NotBegun { .. })), "cut at {cut}: {first:?}");
        }
    }

    #[test]
    fn blocks_that_were_not_written_before_the_power_failed_are_a_torn_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let many: Vec<u32> = (1_000_000..1_000_200).collect();
        let ends = written(&path, &[&[1], &many]);
        let whole = std::fs::read(&path).unwrap();
        let first_block = (ends[1] as usize).next_multiple_of(512);
        for block in (first_block..whole.len() - 512).step_by(512) {
            let mut changed = whole.clone();
            changed[block..block + 512].fill(0);
            std::fs::write(&path, &changed).unwrap();
            let (pages, end) = pages(&path).unwrap();
            assert_eq!((pages, end.length), (vec![1], ends[1]), "block at {block}");
        }
        // The same in a group that another one follows is damage.
        let ends = {
            let path = folder.path().join("three");
            let ends = written(&path, &[&[1], &many, &[2]]);
            std::fs::copy(&path, folder.path().join("log")).unwrap();
            ends
        };
        let mut changed = std::fs::read(&path).unwrap();
        let block = (ends[1] as usize).next_multiple_of(512);
        changed[block..block + 512].fill(0);
        std::fs::write(&path, &changed).unwrap();
        assert!(matches!(pages(&path), Err(CrawlError::Damaged { .. })));
    }
}
