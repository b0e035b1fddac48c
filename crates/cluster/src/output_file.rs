//! A new result file, compressed as its name says and durable when it is finished.
//!
//! Large files are synced by a separate thread while they are still being written, so that the end of the run does not wait
//! for one long sync.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use flate2::write::GzEncoder;

use crate::error::{ClusterError, io};

/// A file that is compressed as its name says.
pub(crate) struct OutputFile {
    path: PathBuf,
    inner: Inner,
    sync: EarlySync,
}

/// How much is written between two early syncs.
const SYNC_BYTES: usize = 64 << 20;

/// Syncs a large file while it is still being written. The system reports an error of the disk once
/// only, so the result of every sync is checked.
struct EarlySync {
    file: Option<File>,
    since: usize,
    running: Option<JoinHandle<std::io::Result<()>>>,
}

impl EarlySync {
    fn count(&mut self, bytes: usize) -> std::io::Result<()> {
        self.since += bytes;
        if self.since < SYNC_BYTES || self.running.as_ref().is_some_and(|one| !one.is_finished()) {
            return Ok(());
        }
        self.wait()?;
        self.since = 0;
        if let Some(file) = &self.file {
            let file = file.try_clone()?;
            self.running = Some(std::thread::spawn(move || file.sync_data()));
        }
        Ok(())
    }

    fn wait(&mut self) -> std::io::Result<()> {
        match self.running.take() {
            Some(running) => running.join().unwrap_or_else(|_| Err(std::io::Error::other("sync"))),
            None => Ok(()),
        }
    }
}

enum Inner {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl OutputFile {
    /// Creates a file, compressed if its name ends in `.gz` or `.zst`. No file may be there.
    pub(crate) fn create(path: PathBuf) -> Result<Self, ClusterError> {
        let mut output = OutputFile::create_as_is(path)?;
        let Inner::Plain(file) = output.inner else { return Ok(output) };
        output.inner = match output.path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Inner::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some("zst") => {
                Inner::Zstd(zstd::Encoder::new(file, 3).map_err(io("write", &output.path))?)
            }
            _ => Inner::Plain(file),
        };
        Ok(output)
    }

    /// As [`create`](Self::create), for bytes that are compressed already if the name says so.
    pub(crate) fn create_as_is(path: PathBuf) -> Result<Self, ClusterError> {
        let file = create_new(&path)?;
        let sync = EarlySync { file: file.try_clone().ok(), since: 0, running: None };
        let inner = Inner::Plain(BufWriter::with_capacity(256 << 10, file));
        Ok(OutputFile { path, inner, sync })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ClusterError> {
        self.write_all(bytes).map_err(io("write", &self.path))
    }

    /// Ends the file and syncs it to the disk.
    pub(crate) fn finish(mut self) -> Result<(), ClusterError> {
        self.sync.wait().map_err(io("write", &self.path))?;
        let file = match self.inner {
            Inner::Plain(file) => Ok(file),
            Inner::Gzip(file) => file.finish(),
            Inner::Zstd(file) => file.finish(),
        };
        file.and_then(|file| file.into_inner().map_err(std::io::IntoInnerError::into_error))
            .and_then(|file| file.sync_all())
            .map_err(io("write", &self.path))
    }
}

impl Inner {
    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Inner::Plain(file) => file,
            Inner::Gzip(file) => file,
            Inner::Zstd(file) => file,
        }
    }
}

/// For writers that want any `Write`; errors do not name the file.
impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.as_write().write(bytes)?;
        self.sync.count(written)?;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.as_write().flush()
    }
}

/// Creates a file where there is none, and the folders it is in.
pub(crate) fn create_new(path: &Path) -> Result<File, ClusterError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(io("make", folder))?;
    }
    File::create_new(path).map_err(io("write", path))
}
