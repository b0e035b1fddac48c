//! `wonbon sketch`: the features of every document, one JSON line each.
//!
//! The lines come out in the order of the input whatever the number of threads: batches of lines
//! are shared out, and each thread parses, splits, shingles and sketches its batch alone.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wonbon_input::batches::{Batch, Batches};
use wonbon_input::ordered::for_each_ordered;
use wonbon_input::rows::{Content, FieldNames, RowParser};
use wonbon_input::{Source, SourceKind, check, open};
use wonbon_sketch::{DistinctCounter, FeatureMaker, FeatureParams, Features, FeaturesBuilder};
use wonbon_text::extract::extract;
use wonbon_text::shingles::Shingler;

use crate::options::{ShingleOptions, read_source};
use crate::output::Output;
use crate::{Outcome, report};

/// Print the features of documents, one JSON line each: id, words, shingles, features.
///
/// Input: JSON lines (fields id, url, text or html), or plain files, each one document; plain or
/// compressed with gzip or zstd. Names ending in .jsonl, .ndjson or .json hold JSON lines, names
/// ending in .txt, .md or .html are one document; otherwise a file that starts with `{` holds JSON
/// lines. A document without id gets its url, or the file and the line.
///
/// `words` counts words, `shingles` counts different shingles, `features` are hexadecimal; a text
/// without words has none. Two documents are copies by the papers' rule when at least 2 of their 6
/// features agree, place by place.
///
/// A line that is not a document is named by file and line on standard error and left out; the rest
/// is still printed, and the exit code is 1.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files to read; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    shingles: ShingleOptions,
    /// How many features a document gets.
    #[arg(long, value_name = "K", default_value_t = FeatureParams::default().groups)]
    features: usize,
    /// How many min-values are folded into one feature. More make accidental agreement rarer.
    #[arg(long, value_name = "S", default_value_t = FeatureParams::default().group_size)]
    group_size: usize,
    /// Threads to use; all cores if not said. The output does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Accepted for uniformity: the output is always JSON lines.
    #[arg(long)]
    json: bool,
}

/// What a thread works on: lines of one file, or one file that is one document.
#[derive(Default)]
struct Work {
    name: String,
    batch: Batch,
    document: Option<Source>,
}

/// What comes out of it: lines ready to print, and what was refused.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    refused: Vec<anyhow::Error>,
    documents: u64,
    input_bytes: u64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    // A misspelt name is found out before the first line is printed, not hours later.
    for path in &args.files {
        check(path)?;
    }
    let maker = FeatureMaker::new(FeatureParams {
        groups: args.features,
        group_size: args.group_size,
        seed: args.shingles.seed()?,
    })?;
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = args.threads.unwrap_or(cores);
    let progress = progress();
    let refused = AtomicU64::new(0);
    let refuse = |error: &anyhow::Error| {
        refused.fetch_add(1, Ordering::Relaxed);
        progress.suspend(|| report::refused(error));
    };

    let mut files = args.files.iter();
    let mut open_file: Option<Batches> = None;
    let read = |work: &mut Work| -> anyhow::Result<bool> {
        loop {
            if let Some(batches) = &mut open_file {
                let more = batches.next_into(&mut work.batch).unwrap_or_else(|error| {
                    refuse(&error.into());
                    work.batch.input_bytes() > 0
                });
                if more {
                    work.name.clear();
                    work.name.push_str(batches.name());
                    return Ok(true);
                }
                open_file = None;
            }
            let Some(path) = files.next() else { return Ok(false) };
            match open(path) {
                Ok(source) if source.kind == SourceKind::JsonLines => {
                    open_file = Some(Batches::new(source));
                }
                Ok(source) => {
                    work.document = Some(source);
                    return Ok(true);
                }
                Err(error) => refuse(&error.into()),
            }
        }
    };
    let mut output = Output::new();
    let mut documents = 0;
    for_each_ordered(
        threads,
        read,
        || Sketcher::new(&maker, args.shingles.shingle),
        Sketcher::work,
        |lines| {
            lines.refused.iter().for_each(refuse);
            documents += lines.documents;
            progress.inc(lines.input_bytes);
            progress.set_message(format!("{documents} documents"));
            output.bytes(&lines.text)
        },
    )?;
    progress.finish_and_clear();
    output.finish()?;
    Ok(if refused.into_inner() == 0 { Outcome::Done } else { Outcome::Refused })
}

/// A line of progress on a terminal; nothing otherwise.
fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("{bytes} read, {msg}, {bytes_per_sec}, {elapsed}")
        .expect("the template is right");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4)).with_style(style)
}

/// What one thread keeps from batch to batch.
struct Sketcher {
    rows: RowParser,
    document: DocumentSketcher,
}

impl Sketcher {
    fn new(maker: &FeatureMaker, shingle_words: NonZeroUsize) -> Self {
        Sketcher {
            rows: RowParser::new(FieldNames::default()),
            document: DocumentSketcher {
                shingler: Shingler::new(shingle_words),
                builder: maker.builder(),
                features: maker.features(&[]),
                distinct: DistinctCounter::new(),
            },
        }
    }

    fn work(&mut self, work: &mut Work) -> Lines {
        let mut lines = Lines::default();
        if let Some(source) = work.document.take() {
            match read_source(source) {
                Ok(document) => {
                    lines.input_bytes = document.bytes.len() as u64;
                    self.document.sketch(&document.name, &document.core.page.text, &mut lines);
                }
                Err(error) => lines.refused.push(error.into()),
            }
            return lines;
        }
        lines.input_bytes = work.batch.input_bytes() as u64;
        let name = &work.name;
        self.rows.for_each_row(&mut work.batch, |number, row| {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    lines.refused.push(anyhow::anyhow!("{name}:{number} {error}"));
                    return;
                }
            };
            let by_place;
            let id = match (&row.id, row.url) {
                (Some(id), _) => id,
                (None, Some(url)) => url,
                (None, None) => {
                    by_place = format!("{name}:{number}");
                    &by_place
                }
            };
            match row.content {
                Content::Text(text) => self.document.sketch(id, text, &mut lines),
                Content::Html(html) => {
                    let page = extract(html, row.url);
                    self.document.sketch(id, &page.text, &mut lines);
                }
                Content::Redirect(to) => {
                    lines.refused.push(anyhow::anyhow!("{name}:{number} only leads to {to}"));
                }
            }
        });
        lines
    }
}

struct DocumentSketcher {
    shingler: Shingler,
    builder: FeaturesBuilder,
    features: Features,
    distinct: DistinctCounter,
}

impl DocumentSketcher {
    fn sketch(&mut self, id: &str, text: &str, lines: &mut Lines) {
        self.builder.clear();
        self.distinct.clear();
        let count = self.shingler.for_each_chunk(text, |chunk| {
            self.builder.update(chunk);
            self.distinct.add(chunk);
        });
        self.builder.features_into(&mut self.features);
        lines.documents += 1;
        write_line(&mut lines.text, id, count.words, self.distinct.count(), self.features.values());
    }
}

/// One line of output. Written by hand: the format is fixed and this is the inner loop's end.
fn write_line(out: &mut Vec<u8>, id: &str, words: u64, shingles: u64, features: &[u64]) {
    use std::io::Write;

    const TO_MEMORY: &str = "writing to memory does not fail";
    out.extend_from_slice(b"{\"id\":");
    serde_json::to_writer(&mut *out, id).expect(TO_MEMORY);
    write!(out, ",\"words\":{words},\"shingles\":{shingles},\"features\":[").expect(TO_MEMORY);
    for (index, feature) in features.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}\"{feature:016x}\"").expect(TO_MEMORY);
    }
    out.extend_from_slice(b"]}\n");
}
