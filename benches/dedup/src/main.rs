//! Writes a generated corpus as JSON lines: `generate DOCUMENTS MEAN_WORDS > corpus.jsonl`.
//!
//! Seed 1997; a quarter of the documents are copies of earlier ones with up to 4 % of their words
//! changed. The same numbers give the same file, and a smaller one is the beginning of a larger one.
//! 580 words are about 5 kB.

use std::io::{BufWriter, Write};

use wonbon_testkit::generate::{Corpus, CorpusParams};

fn main() -> std::io::Result<()> {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [documents, mean_words] = numbers[..] else {
        eprintln!("generate DOCUMENTS MEAN_WORDS > corpus.jsonl");
        std::process::exit(2);
    };
    let corpus = Corpus::new(CorpusParams {
        documents: documents.into(),
        mean_words,
        copy_share: 0.25,
        most_changed: 0.04,
        seed: 1997,
        ..CorpusParams::default()
    });
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    corpus.write_json_lines(&mut out)?;
    out.flush()
}
