//! Standard output as a place for data, buffered and failing like any other file; and files that
//! are there whole or not at all.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use anyhow::Context;

/// Standard output, written in large pieces.
pub(crate) struct Output(BufWriter<Stdout>);

impl Output {
    pub(crate) fn new() -> Self {
        Output(BufWriter::with_capacity(256 << 10, io::stdout()))
    }

    /// Writes one value as a line of JSON.
    pub(crate) fn json_line(&mut self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        serde_json::to_writer(&mut self.0, value)
            .map_err(io::Error::from)
            .and_then(|()| self.0.write_all(b"\n"))
            .context(WRITING)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.0.write_all(bytes).context(WRITING)
    }

    /// Writes text with colours, which are left out where nobody would see them.
    pub(crate) fn styled(&mut self, text: &str) -> anyhow::Result<()> {
        match AutoStream::choice(&io::stdout()) {
            ColorChoice::Never => self.bytes(strip_str(text).to_string().as_bytes()),
            _ => self.bytes(text.as_bytes()),
        }
    }

    /// Everything written so far reaches the reader, or the error is known.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.0.flush().context(WRITING)
    }
}

const WRITING: &str = "could not write to standard output";

/// Writes a file. A file that is there stays until the new one is whole; what is no file, such as a
/// pipe, is written to as it is.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let writing = || format!("could not write {}", path.display());
    if path.exists() && !path.is_file() {
        return std::fs::write(path, bytes).with_context(writing);
    }
    Ok(wonbon_files::replace(path, bytes)?)
}
