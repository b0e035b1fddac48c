//! Long forms of tests: how much of a test is run, and what was counted.
//!
//! A test has a usual size for scripts/test.sh and a larger one for scripts/hard.sh, which is told by environment
//! variables. scripts/hard.sh runs a long form in parts, so that it can be interrupted: a part tries other cases than
//! every other part. Each part prints one line of counts, which scripts/hard.sh adds up for its table.

#![allow(clippy::print_stdout, reason = "tests tell what they tried")]

use crate::generate::random::Random;

/// The number in an environment variable, or the usual one.
///
/// # Panics
///
/// If the variable holds something else.
#[must_use]
pub fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

/// Which part of a long form this run is, from 0, and how many parts there are: `WONBON_PART=3/20`.
///
/// # Panics
///
/// If the variable holds something else.
#[must_use]
pub fn part() -> (u64, u64) {
    let Ok(text) = std::env::var("WONBON_PART") else { return (0, 1) };
    let (part, parts) = text.split_once('/').expect("a part and a number of parts");
    let (part, parts) = (part.parse().expect("a number"), parts.parse().expect("a number"));
    assert!(part < parts, "part {part} of {parts}");
    (part, parts)
}

/// The share of this part in so many cases: at least one.
#[must_use]
pub fn share(cases: u64) -> u64 {
    cases.div_ceil(part().1).max(1)
}

/// Random numbers that are other ones in every part.
#[must_use]
pub fn random(purpose: u64) -> Random {
    Random::new(1997, purpose, part().0)
}

/// Prints what was counted, for people and for the table of scripts/hard.sh.
pub fn report(what: &str, counts: &[(&str, u64)]) {
    let counts: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    println!("counted | {what} | {}", counts.join(", "));
}
