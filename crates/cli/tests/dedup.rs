//! `wonbon dedup` from files to files, with bad input, and killed at any moment.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod killing;
mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use killing::kill_at_random_moments;
use serde_json::{Value, json};
use support::{Files, command, json_lines, stderr, wonbon, wonbon_reading};
use wonbon_sketch::ElementSet;
use wonbon_testkit::cluster::truth::{is_cut_differently, truth_shingles};
use wonbon_testkit::corpora::corpus;
use wonbon_testkit::generate::{Corpus, CorpusParams};
use wonbon_text::shingles::shingles;

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

fn text(words: std::ops::Range<u32>) -> String {
    words.map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ")
}

/// Four documents: an original, an edited copy created later, the same words in other case, and
/// something else; then an empty one.
fn small() -> Vec<Value> {
    let edited = text(0..100).replace("word50", "changed");
    vec![
        json!({"id": "late", "created": "2021-05-01", "text": edited, "other": [1, {"x": 2}]}),
        json!({"id": "first", "created": "2020-01-01", "text": text(0..100), "n": 1.50}),
        json!({"id": "upper", "created": "2022-01-01", "text": text(0..100).to_uppercase()}),
        json!({"id": "twin", "created": "2023-01-01", "text": text(0..100)}),
        json!({"id": "else", "created": "2020-06-01", "text": text(500..600)}),
        json!({"id": "nothing", "text": " ... "}),
    ]
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

fn families(folder: &Path, out: &str) -> BTreeMap<String, (String, String)> {
    json_lines(&std::fs::read_to_string(folder.join(out).join("families.jsonl")).unwrap())
        .iter()
        .map(|row| {
            let word = |field: &str| row[field].as_str().unwrap().to_owned();
            (word("id"), (word("original"), word("kind")))
        })
        .collect()
}

#[test]
fn copies_go_and_the_earliest_stays_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let input = path(folder.path(), "in.jsonl");
    std::fs::write(&input, lines(&small())).unwrap();
    for engine in ["auto", "exact", "features"] {
        let out = path(folder.path(), engine);
        let output = wonbon(&["dedup", &input, "-o", &out, "--engine", engine]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let told = families(folder.path(), engine);
        let is = |id: &str, original: &str, kind: &str| {
            assert_eq!(told[id], (original.to_owned(), kind.to_owned()), "{id}");
        };
        is("late", "first", "copy");
        is("first", "first", "original");
        is("upper", "first", "same-text");
        is("twin", "first", "identical");
        is("else", "else", "original");
        is("nothing", "nothing", "empty");
        let kept =
            std::fs::read_to_string(folder.path().join(engine).join("kept/in.jsonl")).unwrap();
        let rows = small();
        assert_eq!(kept, lines(&[rows[1].clone(), rows[4].clone(), rows[5].clone()]));
        assert_eq!(std::fs::read_to_string(&input).unwrap(), lines(&small()));
    }
    let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), "auto")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("exists already"), "{}", stderr(&output));
}

#[test]
fn who_stays_can_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = small();
    rows[2]["score"] = json!(9);
    rows[3]["score"] = json!(-1);
    std::fs::write(folder.path().join("in.jsonl"), lines(&rows)).unwrap();
    let choices = [
        ("first", "late"),
        ("last", "twin"),
        ("earliest", "first"),
        ("max:score", "upper"),
        ("min:score", "twin"),
        ("longest", "late"),
    ];
    for (number, (keep, expected)) in choices.into_iter().enumerate() {
        let out = number.to_string();
        let input = path(folder.path(), "in.jsonl");
        let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), &out), "--keep", keep]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let told = families(folder.path(), &out);
        let originals: BTreeSet<&str> =
            ["late", "first", "upper", "twin"].into_iter().map(|id| told[id].0.as_str()).collect();
        assert_eq!(originals, BTreeSet::from([expected]), "{keep}");
    }
}

#[test]
fn broken_rows_are_named_and_skipped_or_fatal() {
    let folder = tempfile::tempdir().unwrap();
    let rows = small();
    let mut bytes = lines(&rows[..2]).into_bytes();
    bytes.extend_from_slice(
        b"{\"id\": \"broken\n\n[1,2]\n{\"id\":\"bytes\",\"text\":\"\xff\xfe\"}\n",
    );
    bytes.extend_from_slice(lines(&rows[1..]).as_bytes());
    std::fs::write(folder.path().join("in.jsonl"), bytes).unwrap();
    let input = path(folder.path(), "in.jsonl");
    let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), "out")]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    for row in
        ["in.jsonl:3 is not JSON", "in.jsonl:5 is not a JSON object", "in.jsonl:6 is not JSON"]
    {
        assert!(stderr(&output).contains(row), "{row}: {}", stderr(&output));
    }
    assert!(stderr(&output).contains("on several rows, such as `first`"), "{}", stderr(&output));
    let kept = std::fs::read_to_string(folder.path().join("out/kept/in.jsonl")).unwrap();
    assert_eq!(kept, lines(&[rows[1].clone(), rows[4].clone(), rows[5].clone()]));
    let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), "strict"), "--strict"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("in.jsonl:3 is not JSON"), "{}", stderr(&output));
    assert!(!folder.path().join("strict").exists());
}

#[test]
fn standard_input_compressed_files_and_folders_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let packed = zstd::encode_all(lines(&small()).as_bytes(), 3).unwrap();
    let out = path(folder.path(), "out");
    let output = wonbon_reading(&["dedup", "-", "-o", &out], &packed);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = small();
    let expected = lines(&[rows[1].clone(), rows[4].clone(), rows[5].clone()]);
    assert_eq!(
        std::fs::read_to_string(folder.path().join("out/kept/stdin.jsonl")).unwrap(),
        expected
    );

    let input = folder.path().join("in");
    std::fs::create_dir_all(input.join("sub")).unwrap();
    std::fs::write(input.join("rows.jsonl.zst"), &packed).unwrap();
    std::fs::write(input.join("sub/a.txt"), text(0..100)).unwrap();
    let page = format!("<html><body><article><p>{}</p></article></body></html>", text(700..900));
    std::fs::write(input.join("sub/b.html"), &page).unwrap();
    std::fs::write(input.join("sub/c.html"), page.replace("<p>", "<p class=x>")).unwrap();
    let output = wonbon(&["dedup", input.to_str().unwrap(), "-o", &path(folder.path(), "two")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = families(folder.path(), "two");
    assert_eq!(told["sub/a.txt"], ("first".to_owned(), "identical".to_owned()));
    assert_eq!(told["sub/c.html"], ("sub/b.html".to_owned(), "same-text".to_owned()));
    let kept = std::fs::read(folder.path().join("two/kept/rows.jsonl.zst")).unwrap();
    assert_eq!(zstd::decode_all(&kept[..]).unwrap(), expected.as_bytes());
    assert!(folder.path().join("two/kept/sub/b.html").exists());
    assert!(!folder.path().join("two/kept/sub/c.html").exists());
}

#[test]
fn a_cut_file_is_told_and_its_whole_rows_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..2000)
        .map(|n| format!("{}\n", json!({"id": n, "text": text(n * 50..n * 50 + 60)})))
        .collect();
    let packed = zstd::encode_all(rows.as_bytes(), 3).unwrap();
    std::fs::write(folder.path().join("in.jsonl.zst"), &packed[..packed.len() / 2]).unwrap();
    let input = path(folder.path(), "in.jsonl.zst");
    let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), "out")]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("is not whole"), "{}", stderr(&output));
    assert!(families(folder.path(), "out").len() > 100);
}

#[test]
fn annotated_rows_carry_their_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let input = path(folder.path(), "in.jsonl");
    std::fs::write(&input, lines(&small())).unwrap();
    let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), "out"), "--annotate"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows =
        json_lines(&std::fs::read_to_string(folder.path().join("out/annotated/in.jsonl")).unwrap());
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[0]["wonbon_original"], "first");
    assert_eq!(rows[0]["wonbon_kind"], "copy");
    assert_eq!(rows[0]["other"], small()[0]["other"]);
    assert_eq!(rows[5]["wonbon_family"], Value::Null);
}

/// The small corpus as CSV: a column nobody knows, texts with line breaks, quotes and commas.
fn small_csv() -> Vec<String> {
    let long = format!("{}\n\"\"said\"\", {}", text(0..100), text(100..200));
    vec![
        "key,date,content,\"any\nother\"\r\n".to_owned(),
        format!("late,2021-05-01,\"{}\",x\r\n", long.replace("word50", "changed")),
        format!("first,2020-01-01,\"{long}\",\" y, \"\r\n"),
        "short,2020-01-01\r\n".to_owned(),
        format!("upper,2022-01-01,\"{}\",\r\n", long.to_uppercase()),
        format!("\"el,se\",2020-06-01,{},\"z\"\r\n", text(500..600)),
        "nothing,,,\r\n".to_owned(),
    ]
}

#[test]
fn csv_goes_in_and_comes_out_plain_and_compressed() {
    let rows = small_csv();
    let kept = [0, 2, 5, 6].map(|at| rows[at].as_str()).concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, rows.concat().as_bytes()).unwrap();
    let inputs = [
        ("in.csv", rows.concat().into_bytes()),
        ("in.csv.gz", gzip.finish().unwrap()),
        ("in.csv.zst", zstd::encode_all(rows.concat().as_bytes(), 3).unwrap()),
    ];
    for (name, bytes) in inputs {
        let folder = tempfile::tempdir().unwrap();
        let (input, out) = (path(folder.path(), name), path(folder.path(), "out"));
        std::fs::write(&input, bytes).unwrap();
        let output = wonbon(&["dedup", &input, "-o", &out]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let refused = format!("{name}:7 has 2 fields where the header has 4");
        assert!(stderr(&output).contains(&refused), "{}", stderr(&output));
        let fields = "text `content` or else page `html`, id `key`, url `url`, created `date`";
        assert!(stderr(&output).contains(fields), "{}", stderr(&output));
        let mut source =
            wonbon_documents::open(&folder.path().join("out/kept").join(name)).unwrap();
        let mut found = String::new();
        source.reader().read_to_string(&mut found).unwrap();
        assert_eq!(found, kept);
        let told = families(folder.path(), "out");
        assert_eq!(told["late"], ("first".to_owned(), "copy".to_owned()));
        assert_eq!(told["upper"].1, "same-text");
        let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), "strict"), "--strict"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(&refused), "{}", stderr(&output));
        let output = wonbon(&["cluster", &input, "-o", &path(folder.path(), "clusters")]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let clusters =
            std::fs::read_to_string(folder.path().join("clusters/clusters.jsonl")).unwrap();
        assert!(clusters.contains("\"first\"") && clusters.contains("\"upper\""), "{clusters}");
    }
}

#[test]
fn annotated_csv_has_four_more_columns() {
    let folder = tempfile::tempdir().unwrap();
    let input = path(folder.path(), "in.csv");
    std::fs::write(&input, small_csv().concat()).unwrap();
    let output = wonbon(&["dedup", &input, "-o", &path(folder.path(), "out"), "--annotate"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let rows = std::fs::read_to_string(folder.path().join("out/annotated/in.csv")).unwrap();
    let expected = small_csv();
    let annotated = |at: usize, told: &str| format!("{},{told}\r\n", expected[at].trim_end());
    let start = annotated(0, "wonbon_family,wonbon_original,wonbon_resemblance,wonbon_kind");
    assert!(rows.starts_with(&start), "{rows}");
    for (at, told) in
        [(2, "1,first,1,original"), (5, "2,\"el,se\",1,original"), (6, ",nothing,0,empty")]
    {
        assert!(rows.contains(&annotated(at, told)), "{rows}");
    }
    assert!(rows.contains(",first,0.9") && rows.contains(",copy\r\n"), "{rows}");
}

#[test]
fn what_another_corpus_has_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (path(folder.path(), "old.jsonl"), path(folder.path(), "new.jsonl"));
    let rows = small();
    std::fs::write(&old, lines(&[rows[3].clone(), rows[3].clone()])).unwrap();
    std::fs::write(&new, lines(&rows)).unwrap();
    let saved = path(folder.path(), "saved");
    let output = wonbon(&["dedup", &old, "-o", &saved, "--save-sketches"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for (number, against) in [&old, &saved].into_iter().enumerate() {
        let out = format!("out{number}");
        let arguments = ["dedup", &new, "-o", &path(folder.path(), &out), "--against", against];
        let output = wonbon(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let kept =
            std::fs::read_to_string(folder.path().join(&out).join("kept/new.jsonl")).unwrap();
        assert_eq!(kept, lines(&rows[4..]));
        let told = families(folder.path(), &out);
        assert_eq!(told.len(), 6);
        assert_eq!(told["first"], ("twin".to_owned(), "identical".to_owned()));
        assert_eq!(told["late"].1, "copy");
    }
    let other =
        ["dedup", &new, "-o", &path(folder.path(), "x"), "--against", &saved, "--shingle", "4"];
    let output = wonbon(&other);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("other shingle words"), "{}", stderr(&output));
}

fn generated(folder: &Path, documents: u64) -> String {
    let params = CorpusParams { documents, mean_words: 130, seed: 7, ..CorpusParams::default() };
    let mut text = Vec::new();
    Corpus::new(params).write_json_lines(&mut text).unwrap();
    let input = path(folder, "in.jsonl");
    std::fs::write(&input, text).unwrap();
    input
}

#[test]
fn the_order_of_the_input_changes_only_names() {
    let folder = tempfile::tempdir().unwrap();
    let input = generated(folder.path(), 1500);
    let text = std::fs::read_to_string(&input).unwrap();
    let mut turned: Vec<&str> = text.lines().collect();
    turned.reverse();
    std::fs::write(folder.path().join("turned.jsonl"), turned.join("\n")).unwrap();
    for (name, out) in [("in.jsonl", "one"), ("turned.jsonl", "two")] {
        let (input, out) = (path(folder.path(), name), path(folder.path(), out));
        let output = wonbon(&["dedup", &input, "-o", &out, "--engine", "features"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert_eq!(families(folder.path(), "one"), families(folder.path(), "two"));
}

/// What a run leaves behind, except its times.
fn results(folder: &Path, out: &str) -> Vec<Vec<u8>> {
    ["families.jsonl", "kept/in.jsonl"]
        .map(|name| std::fs::read(folder.join(out).join(name)).unwrap())
        .to_vec()
}

#[test]
fn a_run_killed_at_twenty_moments_ends_as_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let input = generated(folder.path(), 12_000);
    let pairs = [path(folder.path(), "whole.tsv"), path(folder.path(), "killed.tsv")];
    let outs = [path(folder.path(), "whole"), path(folder.path(), "killed")];
    let arguments = |at: usize| {
        let (out, pairs) = (outs[at].as_str(), pairs[at].as_str());
        let mut arguments = vec!["dedup", input.as_str(), "-o", out, "--pairs", pairs];
        arguments.extend(["--engine", "features", "--part-bytes", "1000000"]);
        arguments
    };
    let started = Instant::now();
    let output = wonbon(&arguments(0));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let whole = started.elapsed();
    let mut resumed = 0;
    kill_at_random_moments(&arguments(1), whole, 20, |done| {
        let out = folder.path().join("killed");
        assert!(!out.exists() || done || out.join("summary.json").exists());
        if out.exists() {
            assert_eq!(results(folder.path(), "killed"), results(folder.path(), "whole"));
            std::fs::remove_dir_all(&out).unwrap();
        }
        resumed += u32::from(folder.path().join("killed.partial/work/parts").exists());
    });
    let output = wonbon(&arguments(1));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(results(folder.path(), "killed"), results(folder.path(), "whole"));
    assert_eq!(std::fs::read(&pairs[0]).unwrap(), std::fs::read(&pairs[1]).unwrap());
    assert!(!folder.path().join("killed.partial").exists());
    assert!(resumed > 0, "no kill left a finished part behind");
}

#[test]
fn another_command_does_not_go_on_with_an_unfinished_run() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (path(folder.path(), "in.jsonl"), path(folder.path(), "out"));
    std::fs::write(&input, "no JSON\n").unwrap();
    let output = wonbon(&["dedup", &input, "-o", &out, "--strict"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(folder.path().join("out.partial/work/plan.json").exists());
    let output = wonbon(&["dedup", &input, "-o", &out, "--strict", "--threshold", "0.7"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("unfinished run with another"), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1);
}

#[test]
fn a_folder_of_somebody_else_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (path(folder.path(), "in.jsonl"), path(folder.path(), "out"));
    std::fs::write(&input, lines(&small())).unwrap();
    let theirs = folder.path().join("out.partial");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("thesis.txt"), "years of work").unwrap();
    let web = path(folder.path(), "web");
    let made = wonbon(&["order", "generate", "--pages", "50", "-o", &web]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    for arguments in [
        vec!["dedup", &input, "-o", &out],
        vec!["dedup", "-", "-o", &out],
        vec!["cluster", &input, "-o", &out],
        vec!["cluster", "-", "-o", &out],
        vec!["order", &web, "-o", &out],
        vec!["order", "generate", "--pages", "50", "-o", &out],
    ] {
        let output = wonbon_reading(&arguments, lines(&small()).as_bytes());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("out.partial is not"), "{}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
        assert_eq!(std::fs::read_to_string(theirs.join("thesis.txt")).unwrap(), "years of work");
        assert_eq!(std::fs::read_dir(&theirs).unwrap().count(), 1);
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn every_input_has_an_output_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |start: u32, count: u32| -> String {
        let row = |n: u32| json!({"id": n, "text": text(n * 100..n * 100 + 60)});
        (start..start + count).map(|n| format!("{}\n", row(n))).collect()
    };
    let files =
        [("d/3/a.jsonl", rows(0, 5)), ("x/a.jsonl", rows(10, 10)), ("y/a.jsonl", rows(30, 5))];
    for (name, text) in &files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let [d, x, y] = ["d", "x/a.jsonl", "y/a.jsonl"].map(|name| path(folder.path(), name));
    for flag in ["--strict", "--annotate"] {
        let out = path(folder.path(), flag);
        let output = wonbon(&["dedup", &d, &x, &y, "-o", &out, flag]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let rows = Path::new(&out).join(if flag == "--strict" { "kept" } else { "annotated" });
        let lines: Vec<usize> = ["3/a.jsonl", "a.jsonl", "4/a.jsonl"]
            .map(|name| std::fs::read_to_string(rows.join(name)).unwrap().lines().count())
            .to_vec();
        assert_eq!(lines, [5, 10, 5]);
    }
}

#[test]
fn a_full_disk_ends_the_run_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let input = generated(folder.path(), 200);
    let full = path(folder.path(), "pairs.tsv");
    // The place of the pairs is a link to the device that is always full.
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let out = path(folder.path(), "out");
    let arguments = ["dedup", &input, "-o", &out, "--pairs", &full];
    let output = wonbon(&arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
    std::fs::remove_file(&full).unwrap();
    let output = wonbon(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("everything but its last step"), "{}", stderr(&output));
    assert!(Path::new(&full).is_file());
}

#[test]
fn a_disk_that_fills_at_any_moment_ends_the_run_with_one_sentence_and_the_next_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let input = generated(folder.path(), 3000);
    let (out, whole) = (path(folder.path(), "out"), path(folder.path(), "whole"));
    let flags = ["--engine", "features", "--part-bytes", "200000", "--threads", "2"];
    let output = command(&["dedup", &input, "-o", &whole]).args(flags).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut ended = 0;
    // No file may grow beyond so many kilobytes; the signal that comes with it is ignored, so that
    // writing fails as it does on a full disk.
    for kilobytes in [1, 8, 64, 256, 1024, 2048] {
        let output = std::process::Command::new("bash")
            .arg("-c")
            .arg(format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\""))
            .arg(env!("CARGO_BIN_EXE_wonbon"))
            .args(["dedup", &input, "-o", &out])
            .args(flags)
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        if output.status.code() == Some(0) {
            break;
        }
        ended += 1;
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let last = stderr(&output).lines().last().unwrap();
        assert!(last.starts_with("error: ") && last.contains("could not write"), "{last}");
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        assert!(!folder.path().join("out").exists());
    }
    assert!(ended > 2, "the limits were too high");
    let output = command(&["dedup", &input, "-o", &out]).args(flags).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("an earlier run"), "{}", stderr(&output));
    assert_eq!(results(folder.path(), "out"), results(folder.path(), "whole"));
}

/// Pairs of ids with their resemblance, from a file of a run or of the truth.
type Pairs = BTreeMap<BTreeSet<String>, f64>;

fn pairs(file: &Path) -> Pairs {
    let text = std::fs::read_to_string(file).unwrap();
    let pairs = text.lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let ids = fields[..2].iter().map(|id| (*id).to_owned()).collect();
        (ids, fields[2].parse().unwrap())
    });
    pairs.collect()
}

fn pairs_of_a_run(input: &Path, engine: &str, threshold: f64) -> Pairs {
    let folder = tempfile::tempdir().unwrap();
    let (out, found) = (path(folder.path(), "out"), path(folder.path(), "pairs.tsv"));
    let (input, threshold) = (input.to_str().unwrap(), threshold.to_string());
    let mut arguments = vec!["dedup", input, "-o", &out, "--pairs", &found];
    arguments.extend(["--engine", engine, "--threshold", &threshold]);
    let output = wonbon(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    pairs(Path::new(&found))
}

/// The truth files round to four digits, ours to six.
const ROUNDING: f64 = 6e-5;

const FIVE: NonZeroUsize = NonZeroUsize::new(5).unwrap();

/// Compares all pairs of an exact run with the truth. Every value that differs, and every pair that
/// only one of them has, must come out with the words of the program that made the truth, and one of
/// the two texts must be cut differently by it. Tells how many pairs had to be explained so.
fn explain_differences(
    name: &str,
    texts: &HashMap<String, String>,
    found: &Pairs,
    truth: &Pairs,
    threshold: f64,
) -> usize {
    let resemblance = |ids: &BTreeSet<String>, set: &dyn Fn(&str) -> ElementSet| {
        let sets: Vec<ElementSet> = ids.iter().map(|id| set(&texts[id])).collect();
        sets[0].overlap(&sets[1]).resemblance()
    };
    let listed = truth.iter().filter(|(_, value)| **value >= threshold);
    let all: BTreeSet<&BTreeSet<String>> = found.keys().chain(listed.map(|(ids, _)| ids)).collect();
    let mut explained = 0;
    for ids in all {
        let ours = found.get(ids).copied().unwrap_or_else(|| {
            let exact = resemblance(ids, &|text| ElementSet::new(shingles(text, FIVE)));
            assert!(exact < threshold, "{name}: {ids:?} of {exact} is missing at {threshold}");
            exact
        });
        assert!(ours >= threshold || !found.contains_key(ids), "{name}: {ids:?} has {ours} only");
        let theirs = truth.get(ids);
        if theirs.is_some_and(|theirs| (theirs - ours).abs() < ROUNDING) {
            continue;
        }
        let by_their_words = resemblance(ids, &|text| truth_shingles(text, FIVE));
        match theirs {
            Some(theirs) => assert!(
                (by_their_words - theirs).abs() < ROUNDING,
                "{name}: {ids:?} is {theirs} there, {ours} here, {by_their_words} by their words"
            ),
            // The truth lists everything from a half up.
            None => {
                assert!(by_their_words < 0.5, "{name}: {ids:?} is {by_their_words}, not listed");
            }
        }
        assert!(
            ids.iter().any(|id| is_cut_differently(&texts[id])),
            "{name}: {ids:?} differs though both programs find the same words"
        );
        explained += 1;
    }
    explained
}

#[test]
fn exact_pairs_are_the_published_truth_and_every_difference_is_explained() {
    for name in ["ko-petitions", "ko-precedents", "en-reuters21578", "en-usenet20news"] {
        let Some(input) = corpus(&format!("{name}.jsonl.zst")) else { return };
        let Some(truth) = corpus(&format!("truth/{name}.w5.tsv")) else { return };
        let truth = pairs(&truth);
        let rows = zstd::decode_all(std::fs::File::open(&input).unwrap()).unwrap();
        let texts: HashMap<String, String> = json_lines(std::str::from_utf8(&rows).unwrap())
            .into_iter()
            .map(|row| {
                let word = |field: &str| row[field].as_str().unwrap().to_owned();
                (word("id"), word("text"))
            })
            .collect();
        for threshold in [0.5, 0.8] {
            let found = pairs_of_a_run(&input, "exact", threshold);
            let explained = explain_differences(name, &texts, &found, &truth, threshold);
            println!("{name} at {threshold}: {} pairs, {explained} explained", found.len());
            if name.starts_with("en-") {
                assert_eq!(explained, 0, "English words are the same in both");
            }
        }
    }
}

#[test]
fn the_default_finds_ninety_nine_of_a_hundred_in_every_band_and_nothing_else() {
    for name in ["ko-petitions", "ko-precedents", "en-reuters21578", "en-usenet20news"] {
        let Some(input) = corpus(&format!("{name}.jsonl.zst")) else { return };
        let exact = pairs_of_a_run(&input, "exact", 0.8);
        let found = pairs_of_a_run(&input, "features", 0.8);
        for (ids, value) in &found {
            assert_eq!(exact.get(ids), Some(value), "{name}: {ids:?}");
        }
        for (low, high) in [(0.80, 0.85), (0.85, 0.90), (0.90, 0.95), (0.95, 1.01)] {
            let band = exact.iter().filter(|(_, value)| (low..high).contains(*value));
            let (lost, all) = band.fold((0, 0), |(lost, all), (ids, _)| {
                (lost + u32::from(!found.contains_key(ids)), all + 1)
            });
            assert!(100 * lost <= all, "{name} from {low}: {lost} of {all} are not found");
        }
    }
}

#[test]
fn csv_is_known_on_standard_input() {
    let files = Files::new();
    let out = files.path().join("out").to_str().unwrap().to_owned();
    let row = "the ferry did not come and the whole village stood on the quay";
    let input = format!(
        "id,text\na,\"{row}\"\nb,\"{row}\"\nc,\"something else altogether, with a comma\"\n"
    );
    let output = wonbon_reading(&["dedup", "-", "-o", &out], input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(Path::new(&out).join("kept/stdin.csv")).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
}
