//! Fuzzing without a fuzzer: the kept corpus of a target, and inputs made from it by small mistakes.
//!
//! Why beside libFuzzer: this runs in every test run, on any toolchain, in the test's own build. It does not see which
//! code an input reaches, so it finds what is a few edits away from the corpus and no more; the long form
//! (scripts/fuzz.sh) is guided by coverage.
//!
//! `WONBON_FUZZ_INPUTS` sets how many inputs are made for each target, 200 by default, and `WONBON_FUZZ_SEED` which ones.
//! An input that breaks a promise is kept in `fuzz/artifacts`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tests tell what they tried")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use crate::generate::random::Random;

/// Inputs do not grow beyond this.
const MOST_BYTES: usize = 64 << 10;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

/// The corpus of a target, in the order of its names.
///
/// # Panics
///
/// If the checkout has none.
#[must_use]
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = fuzz_folder().join("corpus").join(target);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("the folder can be listed").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.iter().map(|path| std::fs::read(path).expect("the file can be read")).collect()
}

/// Feeds the corpus of a target to its harness, and inputs made from it.
///
/// # Panics
///
/// When the harness does.
pub fn replay(target: &str, harness: fn(&[u8])) {
    let corpus = corpus(target);
    for input in &corpus {
        try_one(target, harness, input);
    }
    let purpose = target.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31) ^ u64::from(byte));
    let mut random = Random::new(number("WONBON_FUZZ_SEED", 1997), 16, purpose);
    let made = number("WONBON_FUZZ_INPUTS", 200);
    for _ in 0..made {
        try_one(target, harness, &mutate(&corpus, &mut random));
    }
    println!("{target}: {} kept and {made} made inputs, no promise broken", corpus.len());
}

fn try_one(target: &str, harness: fn(&[u8]), input: &[u8]) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| harness(input))) {
        let folder = fuzz_folder().join("artifacts").join(target);
        let kept = folder.join(format!("found-{}", input.len()));
        let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&kept, input));
        eprintln!("the input is in {} ({written:?})", kept.display());
        resume_unwind(panic);
    }
}

/// A range of a text that is not empty.
fn range(bytes: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let from = random.below(bytes.len() as u64) as usize;
    // Mostly a few bytes, sometimes everything to the end.
    let most = bytes.len() - from;
    let scale = 1 << random.below(12);
    let length = 1 + random.below(scale.min(most as u64)) as usize;
    from..from + length
}

fn pick<'a>(corpus: &'a [Vec<u8>], random: &mut Random) -> &'a Vec<u8> {
    &corpus[random.below(corpus.len() as u64) as usize]
}

/// An input of the corpus with up to eight changes.
fn mutate(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = pick(corpus, random).clone();
    for _ in 0..=random.below(8) {
        let other = pick(corpus, random);
        if bytes.is_empty() {
            bytes.clone_from(other);
            continue;
        }
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => {
                bytes[at] =
                    [0, 0xFF, 0x7F, b'\n', b'"', b'<', b':', b' '][random.below(8) as usize];
            }
            2 => bytes[at] = random.bits() as u8,
            3 => drop(bytes.drain(range(&bytes, random))),
            4 => {
                let again = bytes[range(&bytes, random)].to_vec();
                bytes.splice(at..at, again);
            }
            5 if !other.is_empty() => {
                let theirs = other[range(other, random)].to_vec();
                bytes.splice(at..at, theirs);
            }
            _ => bytes.truncate(at + 1),
        }
        bytes.truncate(MOST_BYTES);
    }
    bytes
}
