//! Flags that several commands share.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Context;
use wonbon_app::parameters;
use wonbon_sketch::Seed;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, MAX_SHINGLE_WORDS};

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

/// A resemblance from which something is decided, as it is given to a flag.
pub(crate) fn threshold(text: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "a threshold is above 0 and at most 1".to_owned())?;
    parameters::threshold(number).map_err(|error| error.to_string())
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
