//! Parquet in, Parquet out: columns nobody knows survive; a damaged row group is told and left out.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::fs::File;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use wonbon_cluster::ClusterError;
use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::dedup::{DedupConfig, DedupSummary, dedup};
use wonbon_cluster::families::FamilyKind;
use wonbon_cluster::keep::Keep;
use wonbon_documents::{
    Dates, FieldNames, InputError, Inputs, Limits, Piece, Pieces, Rows, Unwatched,
};
use wonbon_rule::Rule;

fn text(start: i64) -> String {
    (start..start + 60).map(|word| format!("word{word}")).collect::<Vec<_>>().join(" ")
}

/// Forty rows in four row groups: row n and row n + 20 have the same text; row 5 has none.
fn write_input(path: &Path) {
    let ids: Vec<i64> = (0..40).collect();
    let texts: Vec<Option<String>> =
        ids.iter().map(|n| (*n != 5).then(|| text(n % 20 * 1000))).collect();
    let inner: ArrayRef =
        Arc::new(StringArray::from_iter_values(ids.iter().map(|n| format!("x{n}"))));
    let nested =
        StructArray::from(vec![(Arc::new(Field::new("inner", DataType::Utf8, false)), inner)]);
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(ids)) as ArrayRef),
        ("nested", Arc::new(nested) as ArrayRef),
        ("text", Arc::new(StringArray::from(texts)) as ArrayRef),
    ])
    .unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(10)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties))
            .unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn run(
    folder: &Path,
    out: &str,
    annotate: bool,
    strict: bool,
) -> Result<DedupSummary, ClusterError> {
    run_on("in.parquet", folder, out, annotate, strict)
}

fn run_on(
    input: &str,
    folder: &Path,
    out: &str,
    annotate: bool,
    strict: bool,
) -> Result<DedupSummary, ClusterError> {
    let config = DedupConfig {
        inputs: vec![folder.join(input)],
        output: folder.join(out),
        fields: FieldNames::default(),
        dates: Dates::default(),
        method: FamilyConfig {
            rule: Rule::Threshold(0.8),
            family: FamilyKind::Star,
            engine: Engine::Auto,
            keep: Keep::First,
            shingle_words: NonZeroUsize::new(5).unwrap(),
            seed: wonbon_sketch::Seed::default(),
            threads: NonZeroUsize::new(2).unwrap(),
            memory: 1 << 30,
        },
        pairs: None,
        annotate,
        strict,
        limits: Limits::default(),
        against: Vec::new(),
        part_bytes: 1 << 20,
        save_sketches: false,
        passages: None,
    };
    dedup(&config, &Unwatched)
}

fn read(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn ids(batches: &[RecordBatch]) -> Vec<i64> {
    let ids = batches.iter().flat_map(|batch| {
        batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec()
    });
    ids.collect()
}

#[test]
fn columns_nobody_knows_survive() {
    let folder = tempfile::tempdir().unwrap();
    write_input(&folder.path().join("in.parquet"));
    let summary = run(folder.path(), "out", false, false).unwrap();
    assert_eq!((summary.documents, summary.skipped, summary.copies()), (39, 1, 19));
    let kept = read(&folder.path().join("out/kept/in.parquet"));
    // Row 25 stands for itself: row 5 has no text.
    let expected: Vec<i64> = (0..20).filter(|n| *n != 5).chain([25]).collect();
    assert_eq!(ids(&kept), expected);
    let inner = kept[0].column_by_name("nested").unwrap().as_struct().column(0).clone();
    assert_eq!(inner.as_string::<i32>().value(6), "x7");
    let families = read(&folder.path().join("out/families.parquet"));
    assert_eq!(families.iter().map(RecordBatch::num_rows).sum::<usize>(), 39);
    let kinds = families[0].column_by_name("kind").unwrap().as_string::<i32>().clone();
    assert_eq!((kinds.value(0), kinds.value(38)), ("original", "identical"));
}

#[test]
fn all_rows_can_be_annotated() {
    let folder = tempfile::tempdir().unwrap();
    write_input(&folder.path().join("in.parquet"));
    run(folder.path(), "out", true, false).unwrap();
    let rows = read(&folder.path().join("out/annotated/in.parquet"));
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 39);
    let last = rows.last().unwrap();
    let originals = last.column_by_name("wonbon_original").unwrap().as_string::<i32>();
    assert_eq!(originals.value(originals.len() - 1), "19");
}

#[test]
fn a_row_group_that_unpacks_to_too_much_is_named_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    write_input(&path);
    let mut inputs = Inputs::find(&[path], FieldNames::default()).unwrap();
    inputs.limits.row_group_bytes = 100;
    let (mut pieces, mut piece, mut told) = (Pieces::new(&inputs), Piece::default(), Vec::new());
    while pieces.next_into(&mut piece).unwrap() {
        assert!(matches!(piece.rows, Rows::Nothing));
        told.extend(piece.broken.take());
    }
    assert_eq!(told.len(), 4);
    assert!(told[2].starts_with("row group 3 cannot be read: it unpacks to "), "{told:?}");
    assert!(told[2].ends_with(" bytes, more than 100"), "{told:?}");
}

#[test]
fn a_damaged_row_group_is_named_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    write_input(&path);
    let file = File::open(&path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let (start, length) = builder.metadata().row_group(2).column(2).byte_range();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[start as usize..(start + length) as usize].fill(0xFF);
    std::fs::write(&path, bytes).unwrap();
    let summary = run(folder.path(), "out", false, false).unwrap();
    assert_eq!(summary.documents, 29);
    let why = &summary.skipped_first[1].why;
    assert!(why.contains("row group 3"), "{why}");
    let kept = ids(&read(&folder.path().join("out/kept/in.parquet")));
    assert!(kept.contains(&0) && !kept.contains(&20) && !kept.contains(&35), "{kept:?}");
    let error = run(folder.path(), "strict", false, true).unwrap_err();
    assert!(matches!(error, ClusterError::Input(InputError::BadRow { .. })), "{error:?}");
}

#[test]
fn a_compressed_table_is_unpacked_and_comes_back_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    write_input(&path);
    let bytes = std::fs::read(&path).unwrap();
    run(folder.path(), "plain", false, false).unwrap();
    let expected = std::fs::read(folder.path().join("plain/kept/in.parquet")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let packed = [
        ("in.parquet.gz", gzip.finish().unwrap()),
        ("in.parquet.zst", zstd::encode_all(&bytes[..], 3).unwrap()),
    ];
    for (name, packed) in packed {
        std::fs::write(folder.path().join(name), &packed).unwrap();
        let out = format!("out-{name}");
        let summary = run_on(name, folder.path(), &out, false, false).unwrap();
        assert_eq!((summary.documents, summary.copies()), (39, 19));
        let kept = folder.path().join(&out).join("kept").join(name);
        let mut source = wonbon_documents::open(&kept).unwrap();
        assert!(source.is_compressed());
        let mut found = Vec::new();
        source.reader().read_to_end(&mut found).unwrap();
        assert!(found == expected);

        let cut = format!("cut-{name}");
        std::fs::write(folder.path().join(&cut), &packed[..packed.len() / 2]).unwrap();
        let summary = run_on(&cut, folder.path(), "cut", false, false).unwrap();
        assert_eq!((summary.documents, summary.skipped), (0, 1));
        assert!(summary.skipped_first[0].why.contains("is not whole"), "{summary:?}");
        std::fs::remove_dir_all(folder.path().join("cut")).unwrap();
    }
}

#[test]
fn the_columns_of_a_table_are_known_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    write_input(&path);
    let packed = zstd::encode_all(&std::fs::read(&path).unwrap()[..], 3).unwrap();
    let compressed = folder.path().join("in.parquet.zst");
    std::fs::write(&compressed, packed).unwrap();
    for path in [path, compressed] {
        let inputs = Inputs::find(&[path], FieldNames::default()).unwrap();
        assert_eq!(inputs.first_fields(), ["id", "nested", "text"]);
    }
}
