//! `wonbon passages` and `wonbon dedup --passages`, as a person or a program sees them.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod killing;
mod support;

use std::path::Path;
use std::process::Output;
use std::time::Instant;

use killing::kill_at_random_moments;
use serde_json::json;
use support::{json, json_lines, stderr, wonbon};

const NOTICE: &str = "This site uses small files to remember who you are and what you like, and you may say no to it.";

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Documents with a notice, each otherwise of its own words; every third quotes the one before.
fn generated(folder: &Path, documents: usize) -> String {
    let own = |number: usize| -> String {
        (0..60).map(|word| format!("{:x} ", (number * 60 + word) * 7919 % 1_000_003)).collect()
    };
    let lines = (0..documents).map(|number| {
        let quoted = if number % 3 == 2 { own(number - 1) } else { String::new() };
        let text = format!(
            "{}\n{NOTICE}\n{quoted}{}",
            own(number),
            if number % 2 == 0 { NOTICE } else { "" }
        );
        format!("{}\n", json!({"id": number, "text": text}))
    });
    let input = path(folder, "in.jsonl");
    std::fs::write(&input, lines.collect::<String>()).unwrap();
    input
}

#[test]
fn passages_are_listed_and_removed_and_then_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let input = generated(folder.path(), 300);
    let list = |input: &str, out: &str| {
        let out = path(folder.path(), out);
        wonbon(&["passages", input, "-o", &out, "--words", "20", "--json", "--places", "3"])
    };
    let summary = json(&list(&input, "list"));
    assert_eq!(summary["documents"], 300);
    let rows =
        json_lines(&std::fs::read_to_string(folder.path().join("list/passages.jsonl")).unwrap());
    let notice = rows.iter().find(|row| row["text"] == NOTICE.trim_end_matches('.')).unwrap();
    assert_eq!((&notice["occurrences"], &notice["documents"]), (&json!(450), &json!(300)));
    assert_eq!(notice["places"].as_array().unwrap().len(), 3);
    let saved: Vec<u64> = rows.iter().map(|row| row["saved"].as_u64().unwrap()).collect();
    assert!(saved.is_sorted_by(|one, other| one >= other), "{saved:?}");
    let report = std::fs::read_to_string(folder.path().join("list/report.html")).unwrap();
    assert!(report.contains("<mark>This site uses small files"), "no passage in the report");

    let out = path(folder.path(), "clean");
    let removed = wonbon(&["dedup", &input, "-o", &out, "--passages", "20"]);
    assert_eq!(removed.status.code(), Some(0), "{}", stderr(&removed));
    assert!(stderr(&removed).contains("words removed from"), "{}", stderr(&removed));
    let kept = path(folder.path(), "clean/kept/in.jsonl");
    assert_eq!(json(&list(&kept, "again"))["passages"], 0);
}

#[test]
fn what_does_not_go_together_is_refused_with_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (generated(folder.path(), 3), path(folder.path(), "out"));
    for (more, sentence) in [
        (&["--passages", "1"][..], "the words of a passage must be from 2 to 65536, not 1"),
        (&["--passages-from-against", "--passages", "9"], "--against"),
        (&["--passages", "9", "--unit", "page"], "write word, line or paragraph"),
        (&["--passages-only", "--threshold", "0.5"], "cannot be used with"),
    ] {
        let output = wonbon(&[&["dedup", &input, "-o", &out], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains(sentence), "{more:?}: {}", stderr(&output));
        assert!(!folder.path().join("out.partial").exists());
    }
    let sketches = path(folder.path(), "earlier");
    let saved = wonbon(&["dedup", &input, "-o", &sketches, "--save-sketches"]);
    assert_eq!(saved.status.code(), Some(0), "{}", stderr(&saved));
    let output = wonbon(&["dedup", &input, "-o", &out, "--passages", "9", "--against", &sketches]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("compared by words"), "{}", stderr(&output));
}

/// The sentences about rows and files that were skipped.
fn skipped(output: &Output) -> Vec<String> {
    let told = stderr(output).lines().filter(|line| line.contains("bad."));
    told.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn bad_input_is_told_as_dedup_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(generated(folder.path(), 40)).unwrap();
    let mut rows = whole.clone();
    rows.extend_from_slice(
        b"{\"id\": \"broken\n\n[1,2]\n{\"id\":\"bytes\",\"text\":\"\xff\xfe\"}\n{\"id\":\"n\",\"text\":7}\n\0\0\n",
    );
    rows.extend_from_slice(&whole[..200]);
    let packed = zstd::encode_all(&rows[..], 3).unwrap();
    let inputs: [(&str, &[u8]); 5] = [
        ("bad.jsonl", &rows),
        ("bad.jsonl.zst", &packed[..packed.len() / 2]),
        ("bad.csv", b"id,text\n1,\"open\n2,b,c,d\n"),
        ("bad.parquet", b"PAR1 no table PAR1"),
        ("bad.jsonl.gz", b"\x1f\x8bno gzip"),
    ];
    for (number, (name, bytes)) in inputs.into_iter().enumerate() {
        let input = path(folder.path(), name);
        std::fs::write(&input, bytes).unwrap();
        let runs = [
            &["dedup"][..],
            &["dedup", "--passages-only", "--passages", "20"],
            &["dedup", "--passages", "20"],
            &["passages", "--words", "20"],
        ];
        let told: Vec<_> = (0..)
            .zip(runs)
            .map(|(run, command)| {
                let out = path(folder.path(), &format!("out-{number}-{run}"));
                let output = wonbon(&[command, &[&input, "-o", &out]].concat());
                (output.status.code(), skipped(&output))
            })
            .collect();
        assert!(told.iter().all(|one| *one == told[0]), "{name}: {told:?}");
        assert_ne!(told[0].0, Some(0), "{name}");
        for command in &runs[1..] {
            let out = path(folder.path(), "strict");
            let output = wonbon(&[command, &[&input, "-o", &out, "--strict"][..]].concat());
            assert_eq!(output.status.code(), Some(2), "{name}: {}", stderr(&output));
            assert!(!folder.path().join("strict").exists());
            let _ = std::fs::remove_dir_all(folder.path().join("strict.partial"));
        }
    }
}

#[test]
fn runs_killed_at_twenty_moments_end_as_those_that_were_not() {
    let folder = tempfile::tempdir().unwrap();
    let input = generated(folder.path(), 20_000);
    let removal = ["dedup", "--passages-only", "--passages", "20", "--part-bytes", "1000000"];
    let both = ["dedup", "--passages", "20", "--threads", "2", "--part-bytes", "1000000"];
    let listing = ["passages", "--words", "20", "--places", "3", "--part-bytes", "1000000"];
    for (number, (command, results)) in [
        (&removal[..], ["kept/in.jsonl", "families.jsonl"]),
        (&both[..], ["kept/in.jsonl", "dropped.jsonl"]),
        (&listing[..], ["passages.jsonl"; 2]),
    ]
    .into_iter()
    .enumerate()
    {
        let of = |name: &str| {
            results.map(|file| std::fs::read(folder.path().join(name).join(file)).unwrap())
        };
        let outs = ["whole", "killed"].map(|name| path(folder.path(), &format!("{number}-{name}")));
        let arguments = |out: usize| {
            [&command[..1], &[input.as_str(), "-o", &outs[out]], &command[1..]].concat()
        };
        let started = Instant::now();
        let output = wonbon(&arguments(0));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        kill_at_random_moments(&arguments(1), started.elapsed(), 20, |_| {
            if Path::new(&outs[1]).exists() {
                assert!(of(&outs[1]) == of(&outs[0]));
                std::fs::remove_dir_all(&outs[1]).unwrap();
            }
        });
        let output = wonbon(&arguments(1));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(of(&outs[1]) == of(&outs[0]));
        assert!(!folder.path().join(format!("{}.partial", outs[1])).exists());
    }
}
