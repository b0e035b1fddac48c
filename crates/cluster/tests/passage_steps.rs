//! The steps that remove passages, moved about by a small engine, leave what a run in memory leaves.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, ListArray, RecordBatch, StringArray,
};
use arrow_schema::ArrowError;
use proptest::prelude::*;
use wonbon_cluster::keep::Keep;
use wonbon_cluster::passages::{CutText, PassageUnit, TextPassages};
use wonbon_cluster::steps::passages::{
    PassageAgain, PassageContexts, PassageCut, PassageHot, PassageRemoved, PassageSeeds,
};
use wonbon_cluster::steps::{Scatter, SketchColumns, Step, Stepped};

/// One batch, cut into batches of a few rows, through a step.
fn through(step: impl Step, batch: &RecordBatch, rows: usize) -> Vec<RecordBatch> {
    let cut = (0..batch.num_rows())
        .step_by(rows)
        .map(|start| Ok::<_, ArrowError>(batch.slice(start, rows.min(batch.num_rows() - start))));
    Stepped::new(step, cut.collect::<Vec<_>>().into_iter()).collect::<Result<_, _>>().unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn longs(batch: &RecordBatch, name: &str) -> Vec<i64> {
    batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec()
}

fn bytes(batch: &RecordBatch, name: &str) -> Vec<Vec<u8>> {
    let column = batch.column_by_name(name).unwrap().as_binary::<i32>();
    column.iter().map(|value| value.unwrap_or_default().to_vec()).collect()
}

fn lists(values: Vec<Vec<i64>>) -> ArrayRef {
    let values = values.into_iter().map(|list| Some(list.into_iter().map(Some)));
    Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(values))
}

fn texts_of(texts: &[String]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

/// The engine: how many documents belong to another corpus, partitions, and rows of a batch.
struct Engine<'a> {
    texts: &'a [String],
    others: usize,
    only: bool,
    words: usize,
    unit: PassageUnit,
    partitions: usize,
    rows: usize,
}

impl Engine<'_> {
    fn seeds(&self, removed: &[Vec<u8>]) -> BTreeMap<i64, Vec<u8>> {
        let removed: ArrayRef = Arc::new(BinaryArray::from_iter_values(removed));
        let input = batch(vec![
            ("id", Arc::new(Int64Array::from_iter_values(0..self.texts.len() as i64))),
            ("text", texts_of(self.texts)),
            ("removed", removed),
        ]);
        let columns = SketchColumns { text: "text".into(), order: None, other: None };
        let schema = input.schema();
        let step = PassageSeeds::new(self.words, Keep::First, columns, 0, &schema).unwrap();
        let found = through(step, &input, self.rows);
        found
            .iter()
            .flat_map(|batch| {
                assert_eq!(longs(batch, "id"), longs(batch, "document"));
                longs(batch, "document").into_iter().zip(bytes(batch, "features"))
            })
            .collect()
    }

    /// For each document its hot seeds.
    fn hot(&self, seeds: &BTreeMap<i64, Vec<u8>>) -> BTreeMap<i64, Vec<i64>> {
        let input = batch(vec![
            ("document", Arc::new(Int64Array::from_iter_values(seeds.keys().copied()))),
            ("features", Arc::new(BinaryArray::from_iter_values(seeds.values()))),
        ]);
        let blobs = through(Scatter::new(self.partitions, true).unwrap(), &input, self.rows);
        let mut partitions: BTreeMap<i64, Vec<Vec<u8>>> = BTreeMap::new();
        for blob in &blobs {
            for (partition, entries) in
                longs(blob, "partition").into_iter().zip(bytes(blob, "entries"))
            {
                partitions.entry(partition).or_default().push(entries);
            }
        }
        let mut hot: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for entries in partitions.values() {
            let entries: ArrayRef = Arc::new(BinaryArray::from_iter_values(entries));
            for found in through(PassageHot::default(), &batch(vec![("entries", entries)]), 1) {
                for (document, seed) in
                    longs(&found, "document").into_iter().zip(longs(&found, "seed"))
                {
                    hot.entry(document).or_default().push(seed);
                }
            }
        }
        hot
    }

    /// For each document the words that occurred before.
    fn again(&self, hot: &BTreeMap<i64, Vec<i64>>, removed: &[Vec<u8>]) -> BTreeMap<i64, Vec<i64>> {
        let named: Vec<usize> = hot.keys().map(|&document| document as usize).collect();
        let others = named.iter().map(|&at| Some(at < self.others));
        let texts = named.iter().map(|&at| &self.texts[at]);
        let input = batch(vec![
            ("document", Arc::new(Int64Array::from_iter_values(hot.keys().copied()))),
            ("other", Arc::new(others.collect::<BooleanArray>())),
            ("text", Arc::new(StringArray::from_iter_values(texts))),
            (
                "removed",
                Arc::new(BinaryArray::from_iter_values(named.iter().map(|&at| &removed[at]))),
            ),
            ("seeds", lists(hot.values().cloned().collect())),
        ]);
        let schema = input.schema();
        let mut contexts = Vec::new();
        for found in through(PassageContexts::new(self.words, &schema).unwrap(), &input, self.rows)
        {
            let rows = longs(&found, "seed").into_iter().zip(longs(&found, "document"));
            let rows = rows.zip(longs(&found, "word")).zip(bytes(&found, "context"));
            contexts.extend(
                rows.map(|(((seed, document), word), context)| (seed, document, word, context)),
            );
        }
        contexts.sort();
        type Context = (i64, i64, i64, Vec<u8>);
        let number = |value: fn(&Context) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(contexts.iter().map(value)))
        };
        let others = contexts.iter().map(|row| Some((row.1 as usize) < self.others));
        let input = batch(vec![
            ("seed", number(|row| row.0)),
            ("document", number(|row| row.1)),
            ("other", Arc::new(others.collect::<BooleanArray>())),
            ("word", number(|row| row.2)),
            ("context", Arc::new(BinaryArray::from_iter_values(contexts.iter().map(|row| &row.3)))),
        ]);
        let mut again: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let step = PassageAgain::new(self.words, self.only).unwrap();
        for found in through(step, &input, self.rows) {
            for (document, range) in
                longs(&found, "document").into_iter().zip(longs(&found, "range"))
            {
                again.entry(document).or_default().push(range);
            }
        }
        again
    }

    fn run(&self) -> Vec<CutText> {
        let mut removed = vec![Vec::new(); self.texts.len()];
        loop {
            let again = self.again(&self.hot(&self.seeds(&removed)), &removed);
            if again.is_empty() {
                break;
            }
            let named: Vec<usize> = again.keys().map(|&document| document as usize).collect();
            let texts = named.iter().map(|&at| &self.texts[at]);
            let input = batch(vec![
                ("document", Arc::new(Int64Array::from_iter_values(again.keys().copied()))),
                ("text", Arc::new(StringArray::from_iter_values(texts))),
                (
                    "removed",
                    Arc::new(BinaryArray::from_iter_values(named.iter().map(|&at| &removed[at]))),
                ),
                ("ranges", lists(again.into_values().collect())),
            ]);
            for found in through(PassageRemoved::new(self.unit), &input, self.rows) {
                for (document, now) in
                    longs(&found, "document").into_iter().zip(bytes(&found, "removed"))
                {
                    assert_ne!(removed[document as usize], now, "a round removes nothing new");
                    removed[document as usize] = now;
                }
            }
        }
        let input = batch(vec![
            ("text", texts_of(self.texts)),
            ("removed", Arc::new(BinaryArray::from_iter_values(&removed))),
        ]);
        let schema = input.schema();
        let mut left = Vec::new();
        for found in through(PassageCut::new(self.unit, &schema).unwrap(), &input, self.rows) {
            let column = |name: &str| found.column_by_name(name).unwrap().clone();
            let (texts, gone, words) = (column("text"), column("removed"), column("words_left"));
            for row in 0..found.num_rows() {
                let ranges: Vec<[usize; 2]> =
                    serde_json::from_str(gone.as_string::<i32>().value(row)).unwrap();
                left.push(CutText {
                    removed: ranges.into_iter().map(|[start, end]| start..end).collect(),
                    left: texts.as_string::<i32>().value(row).to_owned(),
                    words_left: (!words.is_null(row))
                        .then(|| words.as_primitive::<Int64Type>().value(row) as u32),
                });
            }
        }
        left.split_off(self.others)
    }
}

/// Texts of few words, which repeat pieces of one another.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let piece = prop::collection::vec(
        prop::sample::select(&["a ", "b ", "c. ", "漢", "字 ", "½ ", "x\n", "\n\ny "][..]),
        0..25,
    );
    prop::collection::vec(piece.prop_map(|words| words.concat()), 1..6).prop_flat_map(|pieces| {
        let text = prop::collection::vec(prop::sample::select(pieces), 0..5);
        prop::collection::vec(text.prop_map(|pieces| pieces.join("z ")), 0..7)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn steps_leave_what_a_run_in_memory_leaves(
        texts in texts(),
        words in 2_usize..20,
        unit in prop::sample::select(vec![PassageUnit::Word, PassageUnit::Line, PassageUnit::Paragraph]),
        others in 0_usize..3,
        only in any::<bool>(),
        partitions in 1_usize..5,
        rows in 1_usize..5,
    ) {
        let others = others.min(texts.len());
        let only = only && others > 0;
        let engine = Engine { texts: &texts, others, only, words, unit, partitions, rows };
        let work = tempfile::tempdir().unwrap();
        let search = TextPassages::new(NonZeroUsize::new(words).unwrap()).with_others(others, only);
        let expected = search.remove(&texts, unit, work.path()).unwrap();
        prop_assert_eq!(engine.run(), expected);
    }
}
