//! Writes a generated corpus as JSON lines: `generate DOCUMENTS BYTES_EACH > corpus.jsonl`.
//!
//! Seed 1997; a quarter of the documents are copies of earlier ones with 0 to 4 % of their words
//! replaced. The same numbers give the same file.

use std::io::{BufWriter, Write};

use wonbon_testkit::cluster::generator::Generator;

fn main() -> std::io::Result<()> {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [documents, bytes] = numbers[..] else {
        eprintln!("generate DOCUMENTS BYTES_EACH > corpus.jsonl");
        std::process::exit(2);
    };
    let generator = Generator::new(1997, bytes);
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut line = String::new();
    for number in 0..documents {
        line.clear();
        generator.json_line(number, &mut line);
        out.write_all(line.as_bytes())?;
    }
    out.flush()
}
