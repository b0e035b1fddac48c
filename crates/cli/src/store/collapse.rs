//! `wonbon collapse`: ranked results with near-copies behind the best-ranked one.
//!
//! Lines are kept as they came: fields that mean nothing here go out byte by byte, since a program
//! that ranks knows best how it writes its numbers.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use wonbon_app::answers;
use wonbon_documents::{open, read_whole};
use wonbon_store::{CollapseConfig, Store, collapse};
use wonbon_text::shingles::DEFAULT_SHINGLE_WORDS;

use super::{explained, open_to_read};
use crate::batch::thousands;
use crate::options::shingle_words;
use crate::output::Output;
use crate::{Outcome, report};

/// Put near-copies in ranked results behind the best-ranked one.
///
/// Reads results as JSON lines, the best first, and prints them in the same order without those that
/// resemble an earlier one. Each line that stays gets a field "copies": the ids of those behind it,
/// their resemblance to it and their rank. All other fields go out as they came.
///
/// A result is compared by its field "text"; without one, the store is asked for the document whose
/// key is in "id", "key" or "url". A line that is no JSON object, and a result of which no text is
/// known, is named, printed as it came and compared with nothing; exit code 1.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The results; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    results: PathBuf,
    /// From which exact resemblance on a result goes behind an earlier one.
    #[arg(long, value_name = "T", default_value_t = 0.8, value_parser = threshold)]
    threshold: f64,
    /// Words in a shingle. Longer shingles make every changed word count more.
    #[arg(long, value_name = "W", default_value_t = DEFAULT_SHINGLE_WORDS, value_parser = shingle_words)]
    shingle: NonZeroUsize,
    /// How long it may take, as in 50ms or 2s, from when all results are read. When the time is over
    /// the rest is printed as it came, in order, with "collapsed": false, and a note tells so. No
    /// limit if not said.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
}

/// How many bytes of results are read.
const MOST_BYTES: usize = 1 << 30;

fn threshold(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&threshold| threshold > 0.0 && threshold <= 1.0)
        .ok_or_else(|| "a resemblance is above 0 and at most 1".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = match text.strip_suffix("ms") {
        Some(number) => number.parse::<f64>().map(|number| number / 1e3),
        None => text.strip_suffix('s').unwrap_or(text).parse::<f64>(),
    };
    let is_unit_given = text.ends_with('s');
    seconds
        .ok()
        .filter(|_| is_unit_given)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "write a time as 50ms or 2s".to_owned())
}

/// What a result says of itself.
#[derive(Debug, Default, Deserialize)]
struct Fields {
    id: Option<Value>,
    key: Option<Value>,
    url: Option<Value>,
    text: Option<String>,
}

impl Fields {
    fn names(&self) -> impl Iterator<Item = &Value> {
        [&self.id, &self.key, &self.url].into_iter().flatten()
    }
}

/// A line of the input and what becomes of it.
struct Line<'a> {
    bytes: &'a [u8],
    /// Nothing for a line that is no result.
    fields: Option<Fields>,
    fate: Fate,
}

enum Fate {
    /// It stays, with the lines behind it.
    Head(Vec<answers::CopyOfResult>),
    /// It is behind another.
    Behind,
    /// It goes out as it came: nothing is known to compare.
    Passed,
    /// The time was over before it.
    Late,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let source = open(&args.results)?;
    let name = source.name.clone();
    let bytes = read_whole(source, MOST_BYTES)?;
    let mut refused = 0;
    let mut lines = Vec::new();
    for (number, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let fields = match fields(bytes) {
            Ok(fields) => Some(fields),
            Err(error) => {
                refused += 1;
                report::refused(&error.context(format!("line {number} of {name}")));
                None
            }
        };
        let fate = if fields.is_some() { Fate::Late } else { Fate::Passed };
        lines.push(Line { bytes, fields, fate });
    }

    let started = Instant::now();
    let config = CollapseConfig {
        threshold: args.threshold,
        shingle_words: args.shingle,
        // A time too far away to be told is no limit.
        deadline: args.budget.and_then(|budget| started.checked_add(budget)),
    };
    let mut texts = Texts { directory, store: None };
    let mut asked: Vec<usize> = Vec::new();
    let mut unknown: Vec<usize> = Vec::new();
    let mut failed = None;
    let mut rest = lines.iter().enumerate();
    let found = collapse(
        std::iter::from_fn(|| {
            for (at, line) in rest.by_ref() {
                let Some(fields) = &line.fields else { continue };
                match texts.of(fields) {
                    Ok(Some(text)) => {
                        asked.push(at);
                        return Some(text);
                    }
                    Ok(None) => unknown.push(at),
                    Err(error) => {
                        failed = Some(error);
                        return None;
                    }
                }
            }
            None
        }),
        &config,
    );
    if let Some(error) = failed {
        return Err(error);
    }

    for &at in &unknown {
        refused += 1;
        let said = lines[at].fields.as_ref().and_then(|fields| fields.names().next());
        report::refused(&match said {
            Some(name) => anyhow::anyhow!(
                "result {} has no text, and the store has no document {name}",
                at + 1
            ),
            None => anyhow::anyhow!("result {} has no text, no id, no key and no url", at + 1),
        });
        lines[at].fate = Fate::Passed;
    }
    for group in &found.groups {
        let mut copies = Vec::with_capacity(group.copies.len());
        for copy in &group.copies {
            let at = asked[copy.result];
            let name = lines[at].fields.as_ref().and_then(|fields| fields.names().next());
            let id = name.cloned().unwrap_or(Value::Null);
            copies.push(answers::CopyOfResult { id, resemblance: copy.resemblance, rank: at + 1 });
            lines[at].fate = Fate::Behind;
        }
        lines[asked[group.head]].fate = Fate::Head(copies);
    }

    let mut output = Output::new();
    let mut late = 0;
    for line in &lines {
        match &line.fate {
            Fate::Behind => continue,
            Fate::Passed => output.bytes(line.bytes.trim_ascii_end())?,
            Fate::Head(copies) => {
                output.bytes(&with_field(line.bytes, "copies", &serde_json::to_string(copies)?))?;
            }
            Fate::Late => {
                late += 1;
                output.bytes(&with_field(line.bytes, "collapsed", "false"))?;
            }
        }
        output.bytes(b"\n")?;
    }
    output.finish()?;
    if late > 0 {
        report::note(&format!(
            "the time was over after {} of {} results; the others are as they came",
            thousands(found.looked_at as u64),
            thousands(lines.len() as u64)
        ));
    }
    Ok(if refused == 0 { Outcome::Done } else { Outcome::Refused })
}

/// What a line says, if it is a JSON object.
fn fields(line: &[u8]) -> anyhow::Result<Fields> {
    let text = std::str::from_utf8(line).map_err(|_| anyhow::anyhow!("it is not UTF-8"))?;
    anyhow::ensure!(text.trim_start().starts_with('{'), "it is no JSON object");
    Ok(serde_json::from_str(text)?)
}

/// Where texts come from: the result itself, or the store, opened when it is first needed.
struct Texts<'a> {
    directory: &'a Path,
    store: Option<Store>,
}

impl Texts<'_> {
    fn of<'f>(&mut self, fields: &'f Fields) -> anyhow::Result<Option<Cow<'f, str>>> {
        if let Some(text) = &fields.text {
            return Ok(Some(text.into()));
        }
        for name in fields.names() {
            let store = match &mut self.store {
                Some(store) => store,
                none => none.insert(open_to_read(self.directory)?),
            };
            let key = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
            if let Some(document) = store.get(&key).map_err(explained)? {
                return Ok(Some(document.text.into()));
            }
        }
        Ok(None)
    }
}

/// A line that is a JSON object with a field more, in place of one of that name if there is one;
/// everything else stays as it was written.
fn with_field(line: &[u8], name: &str, value: &str) -> Vec<u8> {
    let mut out = b"{".to_vec();
    for (key, member) in members(line) {
        let key: Option<String> = serde_json::from_slice(&line[key]).ok();
        if key.as_deref() != Some(name) {
            out.extend_from_slice(&line[member]);
            out.push(b',');
        }
    }
    out.extend_from_slice(format!("\"{name}\":{value}}}").as_bytes());
    out
}

/// The members of a JSON object, which the line is: where the key stands, and where the key with its
/// value.
fn members(line: &[u8]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut members = Vec::new();
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    let mut start = 0;
    let mut key_end = None;
    for (at, &byte) in line.iter().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b':' if depth == 1 => key_end = key_end.or(Some(at)),
            b'{' | b'[' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            b'}' | b']' | b',' if depth == 1 => {
                if let Some(end) = key_end.take() {
                    members.push((trimmed(line, start..end), trimmed(line, start..at)));
                }
                start = at + 1;
                depth -= usize::from(byte != b',');
            }
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    members
}

fn trimmed(line: &[u8], range: Range<usize>) -> Range<usize> {
    let part = &line[range.clone()];
    let start = range.start + (part.len() - part.trim_ascii_start().len());
    start..start + part.trim_ascii().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(line: &str, name: &str, value: &str) -> String {
        String::from_utf8(with_field(line.as_bytes(), name, value)).unwrap()
    }

    #[test]
    fn a_field_is_added_and_the_others_stay_byte_by_byte() {
        let line = r#" { "a" : 1.50e+03, "b":{"copies":[1,"}"]}, "c\"d":"x\\" , "e":[] } "#;
        assert_eq!(
            with(line, "copies", "[]"),
            r#"{"a" : 1.50e+03,"b":{"copies":[1,"}"]},"c\"d":"x\\","e":[],"copies":[]}"#
        );
        assert_eq!(with("{}", "copies", "[]"), r#"{"copies":[]}"#);
    }

    #[test]
    fn a_field_of_the_same_name_is_replaced_however_it_is_written() {
        let line = r#"{"id":"x","copies":17,"z":null}"#;
        assert_eq!(with(line, "copies", "[]"), r#"{"id":"x","z":null,"copies":[]}"#);
        assert_eq!(with(r#"{"\u0063opies":17}"#, "copies", "[]"), r#"{"copies":[]}"#);
    }

    #[test]
    fn times_need_their_unit() {
        assert_eq!(duration("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(duration("0.5s"), Ok(Duration::from_millis(500)));
        for wrong in ["50", "-1s", "ms", "fast", "infs"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
