//! `wonbon sketch`: the features of every document, one JSON line each.
//!
//! The lines come out in the order of the input whatever the number of threads: pieces of the input
//! are shared out, and each thread parses, splits, shingles and sketches its piece alone.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use wonbon_documents::{Inputs, PieceOutput, Reading, for_each_document};
use wonbon_progress::Progress;
use wonbon_sketch::{DistinctCounter, FeatureMaker, FeatureParams, Features, FeaturesBuilder};
use wonbon_text::shingles::Shingler;

use crate::Outcome;
use crate::batch::{FieldOptions, LimitOptions, all_cores};
use crate::options::ShingleOptions;
use crate::output::Output;
use crate::watcher::Watcher;

/// Print the features of documents, one JSON line each: id, words, shingles, features.
///
/// Input: what `wonbon dedup` reads: JSON lines, CSV, Parquet, web archives (WARC), text and HTML
/// files, folders of them, plain or compressed; `-` is standard input, whose fields are not guessed. A
/// document without id gets its url, or the file and the row.
///
/// `words` counts words, `shingles` counts different shingles, `features` are hexadecimal; a text
/// without words has none. Two documents are copies by the papers' rule when at least 2 of their 6
/// features agree, place by place.
///
/// A row that is not a document is named by file and row on standard error and left out; the rest is
/// still printed, and the exit code is 1.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files and folders to read; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    fields: FieldOptions,
    #[command(flatten)]
    limits: LimitOptions,
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
    #[arg(long, hide = true)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let fields = args.fields.chosen().names(&args.files, None)?;
    // A misspelt name is found out before the first line is printed, not hours later.
    let mut inputs = Inputs::find(&args.files, fields)?.named_by_path();
    inputs.limits = args.limits.limits();
    let maker = FeatureMaker::new(FeatureParams {
        groups: args.features,
        group_size: args.group_size,
        seed: args.shingles.seed()?,
    })?;
    let watcher = Watcher::new();
    watcher.begin("sketch", inputs.bytes());
    let threads = args.threads.unwrap_or_else(all_cores);
    let reading = Reading { redirects: false, ..Reading::new(&inputs, threads, &watcher) };
    let mut output = Output::new();
    let (mut refused, mut bytes) = (0, 0);
    for_each_document(
        &reading,
        || Sketcher::new(&maker, args.shingles.shingle),
        |sketcher, document, lines| {
            document.extract();
            sketcher.sketch(&document.id, document.text(), lines);
        },
        |piece: PieceOutput<Vec<u8>>| -> anyhow::Result<()> {
            for row in &piece.skipped {
                refused += 1;
                watcher.say(&format!("refused: {row}"));
            }
            bytes += piece.bytes;
            watcher.advance(bytes);
            output.bytes(&piece.output)
        },
    )?;
    watcher.finish();
    output.finish()?;
    Ok(if refused == 0 { Outcome::Done } else { Outcome::Refused })
}

/// What one thread keeps from document to document.
struct Sketcher {
    shingler: Shingler,
    builder: FeaturesBuilder,
    features: Features,
    distinct: DistinctCounter,
}

impl Sketcher {
    fn new(maker: &FeatureMaker, shingle_words: NonZeroUsize) -> Self {
        Sketcher {
            shingler: Shingler::new(shingle_words),
            builder: maker.builder(),
            features: maker.features(&[]),
            distinct: DistinctCounter::new(),
        }
    }

    fn sketch(&mut self, id: &str, text: &str, lines: &mut Vec<u8>) {
        self.builder.clear();
        self.distinct.clear();
        let count = self.shingler.for_each_chunk(text, |chunk| {
            self.builder.update(chunk);
            self.distinct.add(chunk);
        });
        self.builder.features_into(&mut self.features);
        write_line(lines, id, count.words, self.distinct.count(), self.features.values());
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
