//! The files of an index: segments, and a list of the segments that are valid.
//!
//! The list is replaced atomically after the segments that it names are durable. A segment that it does not name is a
//! leftover and is removed. So the files are always one consistent state of the index: the state of its mark.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wonbon_files::{ReplacedFile, replace};
use wonbon_sketch::rabin::RABIN_64;

use super::merge::merge;
use super::segment::Segment;
use crate::IndexError;

const LIST: &str = "segments";
const FIRST_LINE: &str = "wonbon shingles 1";

/// The directory of an index.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) directory: PathBuf,
    pub(super) identity: String,
    pub(super) seed: u64,
}

/// What the list says.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) mark: u64,
    pub(super) segments: Vec<Arc<Segment>>,
}

impl Files {
    fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> IndexError + use<> {
        let path = path.to_owned();
        move |source| IndexError::Io { doing, path, source }
    }

    fn list(&self) -> PathBuf {
        self.directory.join(LIST)
    }

    /// Opens what the list names; nothing if there is no list.
    pub(super) fn open(&self) -> Result<Option<Listed>, IndexError> {
        let path = self.list();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(self.damaged_list("it is no text"));
            }
            Err(error) => return Err(Self::io("read", &path)(error)),
        };
        let (body, checksum) =
            text.rsplit_once("checksum ").ok_or_else(|| self.damaged_list("it has no end"))?;
        if checksum.trim_end() != checksum_of(body) {
            return Err(self.damaged_list("it is not what was written"));
        }
        let mut lines = body.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err(self.damaged_list("it is of a version that this program does not know"));
        }
        if lines.next().and_then(|line| line.strip_prefix("identity ")) != Some(&self.identity) {
            return Err(self.damaged_list("it belongs to something else"));
        }
        let mark = lines.next().and_then(|line| line.strip_prefix("mark "));
        let mark = mark
            .and_then(|mark| mark.parse().ok())
            .ok_or_else(|| self.damaged_list("it has no mark"))?;
        let mut segments = Vec::new();
        for line in lines {
            let name = line
                .strip_prefix("segment ")
                .filter(|name| !name.contains(['/', '\\']))
                .ok_or_else(|| self.damaged_list("it names something that is no segment"))?;
            segments.push(Arc::new(Segment::open(&self.directory.join(name), self.seed)?));
        }
        Ok(Some(Listed { mark, segments }))
    }

    fn damaged_list(&self, what: &'static str) -> IndexError {
        IndexError::DamagedShingles { path: self.list(), what }
    }

    /// Writes one segment of several, durably.
    pub(super) fn write(
        &self,
        segments: &[Arc<Segment>],
        none_older: bool,
    ) -> Result<Arc<Segment>, IndexError> {
        std::fs::create_dir_all(&self.directory).map_err(Self::io("make", &self.directory))?;
        let path = self.directory.join(format!("{:08}.segment", self.next_number()?));
        let mut file = ReplacedFile::create(&path)?;
        match segments {
            // A single one goes to the disk as it is.
            [single] if !none_older => {
                file.write_all(single.as_bytes()).map_err(Self::io("write", &path))?;
            }
            several => {
                let out = BufWriter::with_capacity(1 << 18, file);
                let out = merge(several, none_older, self.seed, out, &path)?;
                let unwritten = |error: std::io::IntoInnerError<_>| error.into_error();
                file = out.into_inner().map_err(unwritten).map_err(Self::io("write", &path))?;
            }
        }
        file.commit()?;
        let opened = Segment::open(&path, self.seed);
        if opened.is_err() {
            // The error that counts is the first one.
            let _ = std::fs::remove_file(&path);
        }
        opened.map(Arc::new)
    }

    fn next_number(&self) -> Result<u64, IndexError> {
        let entries =
            std::fs::read_dir(&self.directory).map_err(Self::io("read", &self.directory))?;
        let numbers = entries.flatten().filter_map(|entry| {
            let name = entry.file_name();
            name.to_str()?.split('.').next()?.parse::<u64>().ok()
        });
        Ok(numbers.max().map_or(1, |last| last + 1))
    }

    /// Says which segments count from now on, and removes the others.
    pub(super) fn write_list(
        &self,
        segments: &[Arc<Segment>],
        mark: u64,
    ) -> Result<(), IndexError> {
        std::fs::create_dir_all(&self.directory).map_err(Self::io("make", &self.directory))?;
        let names: Vec<String> = segments
            .iter()
            .filter_map(|segment| segment.path()?.file_name()?.to_str().map(str::to_owned))
            .collect();
        let mut body = format!("{FIRST_LINE}\nidentity {}\nmark {mark}\n", self.identity);
        for name in &names {
            body.push_str(&format!("segment {name}\n"));
        }
        let text = format!("{body}checksum {}\n", checksum_of(&body));
        replace(&self.list(), text.as_bytes())?;
        self.remove_leftovers(&names);
        Ok(())
    }

    fn remove_leftovers(&self, names: &[String]) {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let known = name
                .to_str()
                .is_some_and(|name| name == LIST || names.iter().any(|known| known == name));
            if !known {
                // What cannot be removed now is removed next time.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

fn checksum_of(body: &str) -> String {
    format!("{:016x}", RABIN_64.fingerprint(body.as_bytes()))
}
