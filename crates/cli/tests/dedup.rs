//! `wonbon dedup` from files to files, with bad input, and killed at any moment.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{command, json_lines, stderr, wonbon, wonbon_reading};
use wonbon_testkit::cluster::generator::Generator;
use wonbon_testkit::corpora::corpus;

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
        is("late", "first", "resembling");
        is("first", "first", "original");
        is("upper", "first", "same-text");
        is("twin", "first", "identical");
        is("else", "else", "single");
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
    assert!(stderr(&output).contains("ids stand on several rows, `first`"), "{}", stderr(&output));
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
    assert_eq!(rows[0]["wonbon_kind"], "resembling");
    assert_eq!(rows[0]["other"], small()[0]["other"]);
    assert_eq!(rows[5]["wonbon_family"], Value::Null);
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
        assert_eq!(told["late"].1, "resembling");
    }
    let other =
        ["dedup", &new, "-o", &path(folder.path(), "x"), "--against", &saved, "--shingle", "4"];
    let output = wonbon(&other);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("other shingle words"), "{}", stderr(&output));
}

fn generated(folder: &Path, documents: u64) -> String {
    let generator = Generator::new(7, 1000);
    let mut text = String::new();
    (0..documents).for_each(|number| generator.json_line(number, &mut text));
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
    let mut state = 1_u64;
    for kill in 0..20 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (state >> 33) as f64 / f64::from(1_u32 << 31);
        let mut child = command(&arguments(1))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * share));
        let done = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        let out = folder.path().join("killed");
        assert!(!out.exists() || done || out.join("summary.json").exists(), "kill {kill}");
        if out.exists() {
            assert_eq!(results(folder.path(), "killed"), results(folder.path(), "whole"));
            std::fs::remove_dir_all(&out).unwrap();
        }
        resumed += u32::from(folder.path().join("killed.partial/work/parts").exists());
    }
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
    let input = generated(folder.path(), 3000);
    let out = path(folder.path(), "out");
    std::fs::create_dir_all(folder.path().join("out.partial/work")).unwrap();
    std::fs::write(folder.path().join("out.partial/work/plan.json"), "{\"rule\":\"other\"}")
        .unwrap();
    let output = wonbon(&["dedup", &input, "-o", &out]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("unfinished run with another"), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1);
}

#[test]
fn a_full_disk_ends_the_run_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let input = generated(folder.path(), 200);
    let full = path(folder.path(), "pairs.tsv");
    // A link to the device that is always full stands where the pairs will be written.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("pairs.tsv.partial")).unwrap();
    let out = path(folder.path(), "out");
    let arguments = ["dedup", &input, "-o", &out, "--pairs", &full];
    let output = wonbon(&arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
    std::fs::remove_file(folder.path().join("pairs.tsv.partial")).unwrap();
    let output = wonbon(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("were read by an earlier run"), "{}", stderr(&output));
}

/// The pairs of a truth file at or above a threshold.
fn truth(name: &str, threshold: f64) -> Option<BTreeMap<BTreeSet<String>, f64>> {
    let text = std::fs::read_to_string(corpus(&format!("truth/{name}.w5.tsv"))?).unwrap();
    let pairs = text.lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let ids = fields[..2].iter().map(|id| (*id).to_owned()).collect();
        (ids, fields[2].parse::<f64>().unwrap())
    });
    Some(pairs.filter(|(_, value)| *value >= threshold).collect())
}

#[test]
fn pairs_are_the_published_truth() {
    // The truth rounds to four digits and splits a few Korean words differently: values that near
    // the threshold may fall on either side.
    const NEAR: f64 = 0.002;
    for name in ["ko-petitions", "ko-precedents", "en-reuters21578", "en-usenet20news"] {
        let Some(input) = corpus(&format!("{name}.jsonl.zst")) else { return };
        for (engine, threshold) in [("exact", 0.5), ("exact", 0.8), ("features", 0.8)] {
            let Some(truth) = truth(name, threshold) else { return };
            let folder = tempfile::tempdir().unwrap();
            let (out, pairs) = (path(folder.path(), "out"), path(folder.path(), "pairs.tsv"));
            let threshold_text = threshold.to_string();
            let output = wonbon(&[
                "dedup",
                input.to_str().unwrap(),
                "-o",
                &out,
                "--pairs",
                &pairs,
                "--engine",
                engine,
                "--threshold",
                &threshold_text,
            ]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            let found: BTreeMap<BTreeSet<String>, f64> = std::fs::read_to_string(&pairs)
                .unwrap()
                .lines()
                .map(|line| {
                    let fields: Vec<&str> = line.split('\t').collect();
                    let ids = fields[..2].iter().map(|id| (*id).to_owned()).collect();
                    (ids, fields[2].parse().unwrap())
                })
                .collect();
            for (ids, value) in &found {
                assert!(*value >= threshold, "{name} {ids:?} {value}");
                assert!(
                    truth.contains_key(ids) || *value < threshold + NEAR,
                    "{name} {ids:?} {value}"
                );
            }
            let missing: Vec<_> = truth
                .iter()
                .filter(|(ids, value)| !found.contains_key(*ids) && **value >= threshold + NEAR)
                .collect();
            if engine == "exact" {
                assert!(missing.is_empty(), "{name} {threshold}: {missing:?}");
            }
            for (low, high) in [(0.80, 0.85), (0.85, 0.90), (0.90, 0.95), (0.95, 1.01)] {
                let band = truth.values().filter(|&&value| value >= low && value < high).count();
                let lost =
                    missing.iter().filter(|(_, value)| **value >= low && **value < high).count();
                assert!(
                    lost as f64 <= 0.01 * band as f64,
                    "{name} {engine} {low}: {lost} of {band}"
                );
            }
        }
    }
}
