//! Passages of files: every format is cut alike, nothing repeats afterwards, and the list is what an array of suffixes gives.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "clippy sees no test in what tests call"
)]

use std::collections::BTreeSet;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use wonbon_cluster::ClusterError;
use wonbon_cluster::deciding::FamilyConfig;
use wonbon_cluster::dedup::{DedupConfig, DedupSummary, PassageOptions, dedup};
use wonbon_cluster::keep::Keep;
use wonbon_cluster::passages::{
    CutText, ListConfig, ListSummary, PassageUnit, TextPassages, list_passages,
};
use wonbon_documents::{Dates, FieldNames, Limits, Unwatched};
use wonbon_testkit::corpora::corpus;
use wonbon_testkit::passages::for_each_repeat_by_suffixes;
use wonbon_text::words::for_each_word_at;

const FOOTER: &str = "Sent from my pocket, please excuse brevity and typing mistakes!";

fn options(words: usize) -> PassageOptions {
    PassageOptions {
        words,
        only: true,
        unit: PassageUnit::Word,
        min_left: 1,
        of_others_only: false,
    }
}

fn config(inputs: &[PathBuf], output: PathBuf, passages: PassageOptions) -> DedupConfig {
    DedupConfig {
        inputs: inputs.to_vec(),
        output,
        fields: FieldNames::default(),
        dates: Dates::default(),
        method: FamilyConfig { keep: Keep::First, ..FamilyConfig::default() },
        pairs: None,
        annotate: false,
        strict: false,
        limits: Limits::default(),
        against: Vec::new(),
        part_bytes: 1 << 20,
        save_sketches: false,
        passages: Some(passages),
    }
}

fn list_config(inputs: &[PathBuf], output: PathBuf, words: usize) -> ListConfig {
    ListConfig {
        inputs: inputs.to_vec(),
        output,
        fields: FieldNames::default(),
        words,
        min_documents: 1,
        places: usize::MAX,
        against: Vec::new(),
        strict: false,
        limits: Limits::default(),
        threads: NonZeroUsize::MIN,
        memory: 1 << 28,
        part_bytes: 1 << 20,
    }
}

fn run(config: &DedupConfig) -> DedupSummary {
    dedup(config, &Unwatched).unwrap()
}

fn list(config: &ListConfig) -> ListSummary {
    list_passages(config, &Unwatched).unwrap()
}

/// Texts with footers, quotes of one another and a text that repeats itself.
fn texts() -> Vec<String> {
    let sentence = |from: usize, words: usize| {
        (from..from + words).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
    };
    (0..40)
        .map(|number| {
            let own = sentence(1000 * number, 30);
            let quoted = sentence(1000 * (number / 3), 14);
            match number % 5 {
                0 => format!("{own}.\n\n> {quoted}\n{FOOTER}"),
                1 => format!("{FOOTER}\n{own}"),
                2 => format!("Subject: {own}\n-- \n{FOOTER}\n漢字{quoted}"),
                3 => format!("{quoted}, \"{own}\" {own}"),
                _ => own,
            }
        })
        .collect()
}

fn write_lines(path: &Path, texts: &[String]) {
    let lines = texts.iter().enumerate().map(|(id, text)| {
        format!("{}\n", json!({"id": id, "note": {"text": "not this"}, "text": text, "n": 1.50}))
    });
    std::fs::write(path, lines.collect::<String>()).unwrap();
}

fn read_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn in_memory(texts: &[String], words: usize) -> Vec<CutText> {
    let work = tempfile::tempdir().unwrap();
    let words = NonZeroUsize::new(words).unwrap();
    TextPassages::new(words).remove(texts, PassageUnit::Word, work.path()).unwrap()
}

fn left_of(texts: &[String], words: usize) -> Vec<String> {
    in_memory(texts, words).into_iter().map(|cut| cut.left).collect()
}

#[test]
fn json_lines_keep_every_other_byte_and_a_second_run_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (input, texts) = (folder.path().join("in.jsonl"), texts());
    write_lines(&input, &texts);
    let before = std::fs::read(&input).unwrap();
    let summary = run(&config(std::slice::from_ref(&input), folder.path().join("out"), options(8)));
    let told = summary.passages.unwrap();
    assert!(told.cut > 20 && told.removed_words > 200 && told.rounds > 1, "{told:?}");
    let kept = folder.path().join("out/kept/in.jsonl");
    let left = left_of(&texts, 8);
    let lines = std::fs::read_to_string(&kept).unwrap();
    for ((line, old), left) in
        lines.lines().zip(String::from_utf8_lossy(&before).lines()).zip(&left)
    {
        let old_text = serde_json::from_str::<Value>(old).unwrap()["text"].to_string();
        assert_eq!(line, old.replace(&old_text, &json!(left).to_string()));
    }
    assert_eq!(lines.lines().count(), texts.len());
    assert_eq!(std::fs::read(&input).unwrap(), before);
    let again = run(&config(std::slice::from_ref(&kept), folder.path().join("again"), options(8)));
    assert_eq!(again.passages.unwrap().cut, 0);
    assert_eq!(std::fs::read(folder.path().join("again/kept/in.jsonl")).unwrap(), lines.as_bytes());
    let rest = list(&list_config(&[kept], folder.path().join("list"), 8));
    assert_eq!((rest.passages, rest.repeated_bytes), (0, 0));
}

#[test]
fn every_format_is_cut_alike() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts();
    let left = left_of(&texts, 8);
    let path = |name: &str| folder.path().join(name);

    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let records: String =
        texts.iter().enumerate().map(|(id, text)| format!("{id},{},x\n", quoted(text))).collect();
    std::fs::write(path("in.csv"), format!("id,text,other\n{records}")).unwrap();
    run(&config(&[path("in.csv")], path("csv"), options(8)));
    list(&list_config(&[path("in.csv")], path("list-csv"), 8));
    // Read back as any reader of CSV reads it.
    run(&DedupConfig {
        annotate: true,
        ..config(&[path("csv/kept/in.csv")], path("csv2"), options(8))
    });
    let annotated = std::fs::read_to_string(path("csv2/annotated/in.csv")).unwrap();
    assert_eq!(annotated.matches(",[]\n").count(), texts.len(), "{annotated}");
    for text in &left {
        let plain = annotated.contains(&format!(",{text},x,"));
        assert!(plain || annotated.contains(&format!(",{},x,", quoted(text))), "{text}");
    }

    let ids: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..texts.len()).map(|id| id.to_string())));
    for large in [false, true] {
        let column: ArrayRef = if large {
            Arc::new(LargeStringArray::from_iter_values(&texts))
        } else {
            Arc::new(StringArray::from_iter_values(&texts))
        };
        let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("text", column)]).unwrap();
        let file = File::create(path("in.parquet")).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let out = path(if large { "large" } else { "small" });
        run(&config(&[path("in.parquet")], out.clone(), options(8)));
        let file = File::open(out.join("kept/in.parquet")).unwrap();
        let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let mut found = Vec::new();
        for batch in batches {
            let column = batch.unwrap().column_by_name("text").unwrap().clone();
            found.extend((0..column.len()).map(|row| match large {
                true => column.as_string::<i64>().value(row).to_owned(),
                false => column.as_string::<i32>().value(row).to_owned(),
            }));
        }
        assert_eq!(found, left);
    }

    std::fs::create_dir(path("files")).unwrap();
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(path(&format!("files/{number:02}.txt")), text).unwrap();
    }
    run(&config(&[path("files")], path("texts"), options(8)));
    for (number, text) in left.iter().enumerate() {
        let found = std::fs::read_to_string(path(&format!("texts/kept/{number:02}.txt"))).unwrap();
        assert_eq!(&found, text);
    }
}

#[test]
fn what_cannot_be_cut_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.html", "a.warc.gz"] {
        let page = folder.path().join(name);
        std::fs::write(&page, "<html><p>words that nobody reads</p></html>").unwrap();
        let run = dedup(&config(&[page], folder.path().join("out"), options(8)), &Unwatched);
        let error = run.unwrap_err();
        assert!(matches!(error, ClusterError::CannotCut { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(!folder.path().join("out.partial").exists());
    }
    let input = folder.path().join("in.jsonl");
    write_lines(&input, &texts());
    for bad in [
        PassageOptions { words: 1, ..options(8) },
        PassageOptions { words: 65_537, ..options(8) },
        PassageOptions { min_left: 0, ..options(8) },
    ] {
        let error = dedup(
            &config(std::slice::from_ref(&input), folder.path().join("out"), bad),
            &Unwatched,
        );
        assert!(matches!(error, Err(ClusterError::BadParameter { .. })));
    }
}

/// All files of a folder but the summary and the report, which have times in them.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if name != "summary.json" && name != "report.html" {
                found.push((
                    path.strip_prefix(folder).unwrap().to_owned(),
                    std::fs::read(&path).unwrap(),
                ));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn threads_memory_and_parts_do_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let many: Vec<String> = (0..30).flat_map(|_| texts()).collect();
    write_lines(&input, &many);
    let mut results = Vec::new();
    for (number, (threads, memory, part_bytes)) in
        [(1, 1 << 30, 1 << 20), (3, 0, 1 << 12), (2, 1 << 18, 1 << 16)].into_iter().enumerate()
    {
        let out = folder.path().join(format!("out{number}"));
        let list_out = folder.path().join(format!("list{number}"));
        let threads = NonZeroUsize::new(threads).unwrap();
        let mut config = config(std::slice::from_ref(&input), out.clone(), options(8));
        config.method.threads = threads;
        config.method.memory = memory;
        config.part_bytes = part_bytes;
        run(&config);
        list(&ListConfig {
            threads,
            memory,
            part_bytes,
            places: 5,
            ..list_config(std::slice::from_ref(&input), list_out.clone(), 8)
        });
        results.push((files(&out), files(&list_out)));
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn the_order_is_that_of_keeping_and_copies_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let own = |n: usize| (0..40).map(|w| format!("d{n}x{w}")).collect::<Vec<_>>().join(" ");
    let rows = [
        json!({"id": "late", "created": "2024-01-03", "text": format!("{} {FOOTER}", own(1))}),
        json!({"id": "early", "created": "2024-01-01", "text": format!("{} {FOOTER}", own(2))}),
        json!({"id": "copy", "created": "2024-01-02", "text": format!("{} {FOOTER}", own(2))}),
    ];
    std::fs::write(&input, rows.each_ref().map(|row| format!("{row}\n")).concat()).unwrap();
    let mut config =
        config(&[input], folder.path().join("out"), PassageOptions { only: false, ..options(8) });
    config.method.keep = Keep::Earliest;
    let summary = run(&config);
    assert_eq!((summary.copies(), summary.passages.unwrap().cut), (1, 1));
    let kept = read_lines(&folder.path().join("out/kept/in.jsonl"));
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[0]["text"], format!("{} ", own(1)));
    assert_eq!(kept[1]["text"], rows[1]["text"]);
}

#[test]
fn annotated_rows_keep_their_text_and_tell_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (input, texts) = (folder.path().join("in.jsonl"), texts());
    write_lines(&input, &texts);
    let config =
        DedupConfig { annotate: true, ..config(&[input], folder.path().join("out"), options(8)) };
    run(&config);
    let rows = read_lines(&folder.path().join("out/annotated/in.jsonl"));
    let cuts = in_memory(&texts, 8);
    assert_eq!(rows.len(), texts.len());
    for ((row, text), cut) in rows.iter().zip(&texts).zip(cuts) {
        assert_eq!(row["text"], *text);
        let ranges: Vec<Value> =
            cut.removed.iter().map(|range| json!([range.start, range.end])).collect();
        assert_eq!(row["wonbon_removed"], Value::Array(ranges));
    }
}

#[test]
fn a_document_with_too_little_left_is_dropped_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let texts = [
        format!("one two three {FOOTER}"),
        format!("four five {FOOTER}"),
        FOOTER.to_owned(),
        "short".to_owned(),
    ];
    write_lines(&input, &texts);
    let passages = PassageOptions { min_left: 3, ..options(8) };
    let summary = run(&config(&[input], folder.path().join("out"), passages));
    let told = summary.passages.unwrap();
    assert_eq!((told.cut, told.dropped), (2, 2));
    let dropped = read_lines(&folder.path().join("out/dropped.jsonl"));
    assert_eq!(dropped, [json!({"id": "1", "words_left": 2}), json!({"id": "2", "words_left": 0})]);
    let kept = read_lines(&folder.path().join("out/kept/in.jsonl"));
    let ids: Vec<i64> = kept.iter().map(|row| row["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [0, 3]);
}

#[test]
fn passages_of_another_corpus_go_everywhere_and_own_repetitions_may_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (input, other) = (folder.path().join("in.jsonl"), folder.path().join("benchmark.jsonl"));
    let question = "which of these four rivers is the longest one in the whole country";
    let own = "what the corpus itself repeats is nobody else's business at all, really";
    write_lines(&input, &[format!("a {question} b {own}"), format!("c {own} d"), "e".to_owned()]);
    write_lines(&other, &[format!("{question}?"), format!("{question} or not")]);
    let texts_of = |out: &str| -> Vec<String> {
        let kept = read_lines(&folder.path().join(out).join("kept/in.jsonl"));
        kept.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    };
    for (out, of_others_only) in [("all", false), ("others", true)] {
        let passages = PassageOptions { of_others_only, ..options(8) };
        let mut config = config(std::slice::from_ref(&input), folder.path().join(out), passages);
        config.against = vec![other.clone()];
        run(&config);
    }
    assert_eq!(texts_of("all"), [format!("a b {own}"), "c d".to_owned(), "e".to_owned()]);
    assert_eq!(texts_of("others"), [format!("a b {own}"), format!("c {own} d"), "e".to_owned()]);
    let summary = list(&ListConfig {
        against: vec![other],
        ..list_config(&[input], folder.path().join("list"), 8)
    });
    assert_eq!((summary.passages, summary.others), (1, 2));
    let listed = read_lines(&folder.path().join("list/passages.jsonl"));
    assert_eq!(listed[0]["text"], question);
    assert_eq!((&listed[0]["occurrences"], &listed[0]["documents"]), (&json!(3), &json!(3)));
}

/// Passages as words and places: id, first byte, and the byte behind the last.
type Listed = BTreeSet<(u64, Vec<(String, usize, usize)>)>;

fn listed(path: &Path) -> Listed {
    let rows = read_lines(path);
    let count = rows.len();
    let all: Listed = rows
        .iter()
        .map(|row| {
            let places = row["places"].as_array().unwrap().iter().map(|place| {
                let byte = |name: &str| place[name].as_u64().unwrap() as usize;
                (place["id"].as_str().unwrap().to_owned(), byte("start"), byte("end"))
            });
            let places: Vec<_> = places.collect();
            assert_eq!(row["occurrences"], places.len());
            (row["words"].as_u64().unwrap(), places)
        })
        .collect();
    assert_eq!(all.len(), count, "a passage is listed twice");
    all
}

fn listed_by_suffixes(documents: &[(String, String)], words: usize) -> Listed {
    let mut all_words = Vec::new();
    let mut places = Vec::new();
    for (_, text) in documents {
        let (mut words, mut here) = (Vec::new(), Vec::new());
        for_each_word_at(text, |word, place| {
            words.push(word.to_owned());
            here.push(place);
        });
        all_words.push(words);
        places.push(here);
    }
    let mut all = Listed::new();
    for_each_repeat_by_suffixes(&all_words, words, |length, found| {
        let place = |&(document, word): &(usize, usize)| {
            let places = &places[document];
            (documents[document].0.clone(), places[word].start, places[word + length - 1].end)
        };
        all.insert((length as u64, found.iter().map(place).collect()));
    });
    all
}

/// `words` is ascending.
fn compare_with_suffixes(name: &str, words: &[usize]) {
    let Some(path) = corpus(name) else { return };
    let file = zstd::decode_all(File::open(&path).unwrap()).unwrap();
    let documents: Vec<(String, String)> = String::from_utf8(file)
        .unwrap()
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let row: Value = serde_json::from_str(line).unwrap();
            (number.to_string(), row["text"].as_str().unwrap().to_owned())
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let lines = documents.iter().map(|(id, text)| format!("{}\n", json!({"id": id, "text": text})));
    std::fs::write(&input, lines.collect::<String>()).unwrap();
    // Those of fewer words have those of more among them.
    let mut expected = listed_by_suffixes(&documents, words[0]);
    for &words in words {
        let out = folder.path().join(format!("out{words}"));
        list(&list_config(std::slice::from_ref(&input), out.clone(), words));
        let found = listed(&out.join("passages.jsonl"));
        expected.retain(|(length, _)| *length >= words as u64);
        assert!(!expected.is_empty());
        assert!(found == expected, "{name} {words}: {} {}", found.len(), expected.len());
        println!("{name}, {words} words: {} passages, the same", found.len());
    }
}

#[test]
fn a_real_corpus_has_the_passages_that_an_array_of_suffixes_has() {
    compare_with_suffixes("labelled/ko-petition-edits.jsonl.zst", &[20, 50]);
}

#[test]
#[ignore = "minutes and gigabytes; scripts/hard.sh runs it"]
fn the_shared_corpora_have_the_passages_that_an_array_of_suffixes_has() {
    let versions = "labelled/en-manpages-versions";
    for name in ["en-reuters21578", "en-usenet20news", "ko-petitions", "zh-mdn", "ja-mdn", versions]
    {
        compare_with_suffixes(&format!("{name}.jsonl.zst"), &[20, 50, 100]);
    }
}
