//! Flags that several commands share.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use wonbon_input::{InputError, Source, SourceKind, open, read_whole};
use wonbon_sketch::Seed;
use wonbon_text::extract::{CoreText, core_text};
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, MAX_SHINGLE_WORDS};

/// How many bytes one file may have when it is one document.
const MAX_DOCUMENT_BYTES: usize = 1 << 30;

/// How long shingles are and what their sketches depend on.
#[derive(clap::Args)]
pub(crate) struct ShingleOptions {
    /// Words in a shingle. Longer shingles make every changed word count more.
    #[arg(long, value_name = "W", default_value_t = DEFAULT_SHINGLE_WORDS, value_parser = shingle_words)]
    pub(crate) shingle: NonZeroUsize,
    /// A file whose bytes are the secret seed of the sketches. Without it the published seed is
    /// used, and anyone can find out which words to change to slip past.
    #[arg(long, value_name = "FILE")]
    seed_file: Option<PathBuf>,
}

pub(crate) fn shingle_words(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .ok()
        .filter(|words: &NonZeroUsize| words.get() <= MAX_SHINGLE_WORDS)
        .ok_or_else(|| format!("a shingle has from 1 to {MAX_SHINGLE_WORDS} words"))
}

impl ShingleOptions {
    pub(crate) fn seed(&self) -> anyhow::Result<Seed> {
        let Some(path) = &self.seed_file else { return Ok(Seed::default()) };
        let bytes = std::fs::read(path)
            .with_context(|| format!("could not read the secret seed {}", path.display()))?;
        anyhow::ensure!(
            bytes.len() >= 16,
            "the secret seed {} has {} bytes; it needs at least 16 to be one",
            path.display(),
            bytes.len()
        );
        Ok(Seed::secret(&bytes))
    }
}

/// A file read as one document.
pub(crate) struct Document {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) core: CoreText,
}

/// Reads a file, or standard input for `-`, as one document: text or HTML, in any character set.
pub(crate) fn read_document(path: &Path) -> Result<Document, InputError> {
    read_source(open(path)?)
}

/// Reads an opened input as one document.
pub(crate) fn read_source(source: Source) -> Result<Document, InputError> {
    let name = source.name.clone();
    if source.kind == SourceKind::Warc {
        return Err(InputError::Archive { name });
    }
    let bytes = read_whole(source, MAX_DOCUMENT_BYTES)?;
    let core = core_text(&bytes, None, None);
    Ok(Document { name, bytes, core })
}
