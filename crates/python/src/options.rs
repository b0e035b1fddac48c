//! Arguments that many functions have: shingle length, seed, threads, by the limits of the program's flags.

use std::num::NonZeroUsize;

use pyo3::prelude::*;
use pyo3::types::PyString;
use wonbon_sketch::Seed;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, MAX_SHINGLE_WORDS};

use crate::failure::Failure;

/// A text; the sentence about anything else names the argument.
pub(crate) fn text<'a>(name: &str, given: &'a Bound<'_, PyAny>) -> Result<&'a str, Failure> {
    let text = given.cast::<PyString>().map_err(|_| {
        Failure::request(format!("`{name}` is a `str`, not {}", crate::input::name_of(given)))
    })?;
    text.to_str().map_err(|_| half_of_a_pair(&format!("`{name}`")))
}

/// Python's texts may hold what no text holds.
pub(crate) fn half_of_a_pair(what: &str) -> Failure {
    Failure::column(format!("{what} holds half of a surrogate pair: it is no Unicode"))
}

/// The fewest bytes of a secret seed.
const SEED_BYTES: usize = 16;

/// Words in a shingle; five if nobody says.
pub(crate) fn shingle_words(words: Option<i64>) -> Result<NonZeroUsize, Failure> {
    let Some(words) = words else { return Ok(DEFAULT_SHINGLE_WORDS) };
    let fits = usize::try_from(words).ok().filter(|&words| words <= MAX_SHINGLE_WORDS);
    fits.and_then(NonZeroUsize::new).ok_or_else(|| {
        Failure::request(format!("a shingle has from 1 to {MAX_SHINGLE_WORDS} words, not {words}"))
    })
}

/// Threads; all cores if nobody says.
pub(crate) fn threads(threads: Option<i64>) -> Result<NonZeroUsize, Failure> {
    match threads {
        None => Ok(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)),
        Some(threads) => usize::try_from(threads)
            .ok()
            .and_then(NonZeroUsize::new)
            .filter(|threads| threads.get() <= 1024)
            .ok_or_else(|| Failure::request(format!("`threads` is from 1 to 1024, not {threads}"))),
    }
}

/// The published seed of a number, or a secret one of bytes.
pub(crate) fn seed(seed: Option<&Bound<'_, PyAny>>) -> Result<Seed, Failure> {
    let Some(seed) = seed.filter(|seed| !seed.is_none()) else { return Ok(Seed::default()) };
    if let Ok(number) = seed.extract::<u64>() {
        return Ok(Seed::number(number));
    }
    match seed.extract::<Vec<u8>>() {
        Ok(bytes) if bytes.len() >= SEED_BYTES => Ok(Seed::secret(&bytes)),
        Ok(bytes) => Err(Failure::request(format!(
            "a secret seed has at least {SEED_BYTES} bytes, not {}",
            bytes.len()
        ))),
        Err(_) => Err(Failure::request("a seed is a whole number or bytes")),
    }
}
