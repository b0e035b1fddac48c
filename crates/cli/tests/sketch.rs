//! `wonbon sketch` as a person or a program sees it.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::json;
use support::{Files, json_lines, stderr, stdout, transcript, wonbon, wonbon_reading};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Many documents of different lengths, some of them pages.
fn corpus(documents: usize) -> String {
    let mut lines = String::new();
    for n in 0..documents {
        let words: String = (0..n * 37 % 900).map(|w| format!("w{} ", (w * n) % 5003)).collect();
        let line = match n % 4 {
            0 => json!({"id": n, "text": words}),
            1 => json!({"id": format!("문서-{n}"), "text": words, "other": [1, 2]}),
            2 => json!({"url": format!("http://a.example/{n}"), "html": format!("<p>{words}</p>")}),
            _ => json!({"text": words}),
        };
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

#[test]
fn counts_are_those_of_the_definition() {
    let input = concat!(
        r#"{"id": "none", "text": " ...! "}"#,
        "\n",
        r#"{"id": "one", "text": "Word"}"#,
        "\n",
        r#"{"id": "four", "text": "a b c d"}"#,
        "\n",
        r#"{"id": "five", "text": "a b c d e"}"#,
        "\n",
        r#"{"id": "seven", "text": "a b c d e f g"}"#,
        "\n",
        r#"{"id": "again", "text": "a a a a a a a a"}"#,
        "\n",
        r#"{"id": "han", "text": "漢字かな交じり"}"#,
        "\n",
    );
    let output = wonbon_reading(&["sketch", "-"], input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let counts: Vec<_> = json_lines(stdout(&output))
        .iter()
        .map(|line| {
            let count = |field: &str| line[field].as_u64().unwrap();
            (count("words"), count("shingles"), line["features"].as_array().unwrap().len())
        })
        .collect();
    assert_eq!(
        counts,
        [(0, 0, 0), (1, 1, 6), (4, 1, 6), (5, 1, 6), (7, 3, 6), (8, 1, 6), (7, 3, 6)]
    );
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads_or_the_compression() {
    let files = Files::new();
    let corpus = corpus(3000);
    let plain = files.write("corpus.jsonl", &corpus);
    let gz = files.write("corpus.jsonl.gz", gzip(corpus.as_bytes()));
    let zst = files.write("corpus.jsonl.zst", zstd::encode_all(corpus.as_bytes(), 3).unwrap());
    let expected = wonbon(&["sketch", &plain, "--threads", "1"]);
    assert_eq!(expected.status.code(), Some(0));
    assert_eq!(stdout(&expected).lines().count(), 3000);
    for threads in ["2", "3", "7"] {
        let got = wonbon(&["sketch", &plain, "--threads", threads]);
        assert!(got.stdout == expected.stdout, "{threads} threads print something else");
    }
    // Documents without id are named by their file; apart from that the lines are the same.
    for packed in [&gz, &zst] {
        let got = wonbon(&["sketch", packed]);
        let renamed = stdout(&got).replace(packed.as_str(), &plain);
        assert!(renamed == stdout(&expected), "{packed} gives something else");
    }
}

#[test]
fn features_agree_for_the_same_text_and_ids_fall_back() {
    let files = Files::new();
    let post = files.write("post.txt", "A short post about nothing in particular, really.");
    let lines = files.write(
        "posts.jsonl",
        concat!(
            r#"{"url": "http://b.example/1", "text": "a SHORT post about nothing in particular really"}"#,
            "\n",
            r#"{"text": "A short post - about nothing, in particular. Really!"}"#,
        ),
    );
    let output = wonbon(&["sketch", &post, &lines]);
    let lines_out = json_lines(stdout(&output));
    assert_eq!(lines_out[0]["id"], post.as_str());
    assert_eq!(lines_out[1]["id"], "http://b.example/1");
    assert_eq!(lines_out[2]["id"], format!("{lines}:2"));
    assert_eq!(lines_out[0]["features"], lines_out[1]["features"]);
    assert_eq!(lines_out[0]["features"], lines_out[2]["features"]);
    let other = json_lines(stdout(&wonbon(&["sketch", &post, "--shingle", "3"])));
    assert_ne!(lines_out[0]["features"], other[0]["features"]);
    let wide = json_lines(stdout(&wonbon(&["sketch", &post, "--features", "20"])));
    assert_eq!(wide[0]["features"].as_array().unwrap().len(), 20);
}

#[test]
fn a_malformed_line_is_named_and_the_rest_is_processed() {
    let files = Files::new();
    let input = "{\"id\": \"a\", \"text\": \"first\"}\n{\"id\": \"b\", \"text\": \n\n[1, 2]\n\
        {\"id\": \"c\"}\n{\"id\": \"d\", \"text\": 7}\n{\"id\": \"e\", \"text\": \"last\"}\n";
    let path = files.write("broken.jsonl", input);
    let output = wonbon(&["sketch", &path, "--threads", "2"]);
    insta::assert_snapshot!(transcript(&output, Some(files.path())));
}

#[test]
fn a_damaged_archive_gives_what_is_whole_and_says_so() {
    let files = Files::new();
    let packed = gzip(corpus(4000).as_bytes());
    let path = files.write("cut.jsonl.gz", &packed[..packed.len() * 2 / 3]);
    let good = files.write("good.jsonl", "{\"id\":\"last\",\"text\":\"still here\"}\n");
    let output = wonbon(&["sketch", &path, &good]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cut.jsonl.gz is not whole"), "{}", stderr(&output));
    let lines = json_lines(stdout(&output));
    assert!(lines.len() > 1000, "only {} documents before the cut", lines.len());
    assert_eq!(lines.last().unwrap()["id"], "last");
}

#[test]
fn a_missing_file_is_found_out_before_anything_is_printed() {
    let files = Files::new();
    let good = files.write("good.jsonl", "{\"id\":\"x\",\"text\":\"here\"}\n");
    let output = wonbon(&["sketch", &good, "no-such-file.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(stderr(&output).contains("no-such-file.jsonl"));
}

#[test]
fn a_named_pipe_is_read_once_and_whole() {
    let files = Files::new();
    let input = corpus(500);
    let plain = files.write("corpus.jsonl", &input);
    let pipe = files.path().join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, input).unwrap()
    });
    let output = wonbon(&["sketch", pipe.to_str().unwrap()]);
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let renamed = stdout(&output).replace(pipe.to_str().unwrap(), &plain);
    assert!(renamed == stdout(&wonbon(&["sketch", &plain])), "the pipe gives something else");
}

#[test]
fn bad_flags_give_one_sentence() {
    for arguments in [
        vec!["sketch"],
        vec!["sketch", "-", "--threads", "0"],
        vec!["sketch", "-", "--features", "0"],
        vec!["sketch", "-", "--features", "1000000"],
        vec!["sketch", "-", "--shingle", "five"],
        vec!["sketch", "-", "--shingle", "18446744073709551615"],
        vec!["sketched", "-"],
    ] {
        let output = wonbon_reading(&arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let files = Files::new();
    let path = files.write("corpus.jsonl", corpus(5000));
    let mut child = support::command(&["sketch", &path])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}
