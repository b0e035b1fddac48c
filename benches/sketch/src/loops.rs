//! Our loop from JSON lines to features, and its stages one by one.
//!
//! A stage repeats what precedes it, so that the difference of two stages is what the second adds.
//! The last two work on shingles that were brought into memory before the clock started.

use std::path::Path;

use wonbon_documents::{Content, FieldNames, LineReader, Lines, RowParser, open};
use wonbon_sketch::{DistinctCounter, FeatureMaker, FeatureParams, PermutationPath, Seed};
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, Shingler};
use wonbon_text::words::for_each_word;

use crate::{Clock, Tally};

/// A maker of features on a given path, or on the best one.
pub(crate) fn maker(
    groups: usize,
    group_size: usize,
    path: Option<PermutationPath>,
) -> anyhow::Result<FeatureMaker> {
    let params = FeatureParams { groups, group_size, seed: Seed::default() };
    Ok(match path {
        Some(path) => FeatureMaker::on_path(params, path)?,
        None => FeatureMaker::new(params)?,
    })
}

/// Calls `each` with the text of every document; lines that are none are refused.
pub(crate) fn for_each_text(file: &Path, mut each: impl FnMut(&str)) -> anyhow::Result<()> {
    let (mut reader, mut batch) = (LineReader::new(open(file)?), Lines::default());
    let mut rows = RowParser::new(FieldNames::default());
    let mut refused = 0_u64;
    while reader.next_lines(&mut batch)? {
        rows.for_each_row(&mut batch, &|_| Some(String::new()), |_, row| match row {
            Ok(row) => {
                if let Content::Text(text) | Content::Page(text) = &row.content {
                    each(text);
                }
            }
            Err(_) => refused += 1,
        });
    }
    anyhow::ensure!(refused == 0, "{refused} lines are no documents");
    Ok(())
}

pub(crate) fn lines(file: &Path) -> anyhow::Result<Tally> {
    let (mut reader, mut batch) = (LineReader::new(open(file)?), Lines::default());
    let mut tally = Tally::default();
    while reader.next_lines(&mut batch)? {
        batch.for_each_line(|_, line| tally.document(line.len() as u64));
    }
    Ok(tally)
}

pub(crate) fn rows(file: &Path) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    for_each_text(file, |text| tally.document(text.len() as u64))?;
    Ok(tally)
}

pub(crate) fn words(file: &Path) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    for_each_text(file, |text| {
        let (mut words, mut bytes) = (0_u64, 0);
        for_each_word(text, |word| {
            words += 1;
            bytes += word.len() as u64;
        });
        tally.document(words ^ bytes << 32);
    })?;
    Ok(tally)
}

pub(crate) fn shingles(file: &Path) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let mut shingler = Shingler::new(DEFAULT_SHINGLE_WORDS);
    for_each_text(file, |text| {
        let mut sum = 0_u64;
        shingler.for_each_chunk(text, |chunk| {
            sum = chunk.iter().fold(sum, |sum, shingle| sum.wrapping_add(*shingle));
        });
        tally.document(sum);
    })?;
    Ok(tally)
}

pub(crate) fn features(file: &Path, maker: &FeatureMaker) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let mut shingler = Shingler::new(DEFAULT_SHINGLE_WORDS);
    let (mut builder, mut features) = (maker.builder(), maker.features(&[]));
    for_each_text(file, |text| {
        builder.clear();
        shingler.for_each_chunk(text, |chunk| builder.update(chunk));
        builder.features_into(&mut features);
        tally.document(0);
        features.values().iter().for_each(|value| tally.take(*value));
    })?;
    Ok(tally)
}

/// The shingles of all documents in memory, and where each document's end.
struct AllShingles {
    shingles: Vec<u64>,
    ends: Vec<usize>,
}

impl AllShingles {
    fn read(file: &Path) -> anyhow::Result<Self> {
        let mut all = AllShingles { shingles: Vec::new(), ends: Vec::new() };
        let mut shingler = Shingler::new(DEFAULT_SHINGLE_WORDS);
        for_each_text(file, |text| {
            shingler.for_each_chunk(text, |chunk| all.shingles.extend_from_slice(chunk));
            all.ends.push(all.shingles.len());
        })?;
        Ok(all)
    }

    fn documents(&self) -> impl Iterator<Item = &[u64]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.shingles[start..end])
    }
}

pub(crate) fn permutations(
    file: &Path,
    maker: &FeatureMaker,
    clock: &mut Clock,
) -> anyhow::Result<Tally> {
    let all = AllShingles::read(file)?;
    *clock = Clock::start();
    let mut tally = Tally::default();
    let (mut builder, mut features) = (maker.builder(), maker.features(&[]));
    for document in all.documents() {
        builder.clear();
        builder.update(document);
        builder.features_into(&mut features);
        tally.document(0);
        features.values().iter().for_each(|value| tally.take(*value));
    }
    Ok(tally)
}

pub(crate) fn distinct(file: &Path, clock: &mut Clock) -> anyhow::Result<Tally> {
    let all = AllShingles::read(file)?;
    *clock = Clock::start();
    let mut tally = Tally::default();
    let mut counter = DistinctCounter::new();
    for document in all.documents() {
        counter.clear();
        counter.add(document);
        tally.document(counter.count());
    }
    Ok(tally)
}
