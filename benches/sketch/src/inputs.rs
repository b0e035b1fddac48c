//! The inputs: real corpora one after another, made-up posts, and slices for the slow contestants.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use wonbon_documents::{LineReader, Lines, open};
use wonbon_testkit::generate::{Corpus, CorpusParams};
use wonbon_text::words::for_each_word;

use crate::loops::for_each_text;

const MEGABYTE: u64 = 1_000_000;

/// What is in a file.
#[derive(Default, serde::Serialize)]
pub(crate) struct Count {
    documents: u64,
    text_bytes: u64,
    words: u64,
}

pub(crate) fn count(file: &Path) -> anyhow::Result<Count> {
    let mut count = Count::default();
    for_each_text(file, |text| {
        count.documents += 1;
        count.text_bytes += text.len() as u64;
        for_each_word(text, |_| count.words += 1);
    })?;
    Ok(count)
}

fn create(out: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(out).with_context(|| format!("creating {}", out.display()))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

pub(crate) fn generate(megabytes: u64, seed: u64, out: &Path) -> anyhow::Result<()> {
    let corpus = Corpus::new(CorpusParams { seed, ..CorpusParams::default() });
    let mut writer = create(out)?;
    let (mut line, mut text_bytes) = (String::new(), 0);
    // Documents can be asked for beyond the corpus: it is the size that is wanted here.
    for number in 0.. {
        let document = corpus.document(number);
        document.json_line(&mut line);
        writer.write_all(line.as_bytes())?;
        text_bytes += document.text.len() as u64;
        if text_bytes >= megabytes * MEGABYTE {
            break;
        }
    }
    Ok(writer.flush()?)
}

fn for_each_line(
    file: &Path,
    mut each: impl FnMut(u64, &[u8]) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let (mut reader, mut lines) = (LineReader::new(open(file)?), Lines::default());
    while reader.next_lines(&mut lines)? {
        let mut result = Ok(());
        lines.for_each_line(|number, line| {
            if result.is_ok() {
                result = each(number, line);
            }
        });
        result?;
    }
    Ok(())
}

pub(crate) fn concatenate(files: &[PathBuf], out: &Path) -> anyhow::Result<()> {
    let mut writer = create(out)?;
    for file in files {
        for_each_line(file, |_, line| {
            writer.write_all(line)?;
            writer.write_all(b"\n")
        })?;
    }
    Ok(writer.flush()?)
}

pub(crate) fn slice(file: &Path, megabytes: u64, out: &Path) -> anyhow::Result<()> {
    let step = count(file)?.text_bytes.div_ceil(megabytes * MEGABYTE).max(1);
    let mut writer = create(out)?;
    for_each_line(file, |number, line| {
        if number % step == 0 {
            writer.write_all(line)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    })?;
    Ok(writer.flush()?)
}
