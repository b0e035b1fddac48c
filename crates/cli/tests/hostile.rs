//! Input that nobody writes by hand: right answers, in linear time and bounded memory.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::process::Command;

use support::{Files, json, json_lines, stderr, stdout};

/// Runs the program in an address space of `megabytes`.
fn within(megabytes: usize, arguments: &[&str]) -> std::process::Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {} && exec \"$0\" \"$@\"", megabytes << 10))
        .arg(env!("CARGO_BIN_EXE_wonbon"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_hundred_megabytes_of_one_word_are_sketched_in_bounded_memory() {
    let files = Files::new();
    let many = files.write("many.txt", "word ".repeat(20_000_000));
    let long = files.write("long.txt", "w".repeat(100_000_000));
    let output = within(1500, &["sketch", &many, &long, "--threads", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = json_lines(stdout(&output));
    assert_eq!((&lines[0]["words"], &lines[0]["shingles"]), (&20_000_000.into(), &1.into()));
    assert_eq!((&lines[1]["words"], &lines[1]["shingles"]), (&1.into(), &1.into()));

    let short = files.write("short.txt", "word word word word word word");
    let found = json(&within(1500, &["compare", &many, &short, "--json"]));
    assert_eq!(found["verdict"], "same shingles");
    assert_eq!(found["resemblance"], 1.0);
}

#[test]
fn a_million_nested_tags_are_read() {
    let files = Files::new();
    let page = format!("<html><body>{}the post is here", "<div>".repeat(1_000_000));
    let path = files.write("nested.html", page);
    let found = json(&within(1500, &["extract", &path, "--json"]));
    assert!(found["text"].as_str().unwrap().contains("the post is here"));
}

#[test]
fn a_file_of_zeros_is_no_text() {
    let files = Files::new();
    let path = files.write("zeros.bin", vec![0; 10_000_000]);
    let output = within(500, &["sketch", &path]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("refused: {path} is a binary file; a text is wanted\n");
    assert_eq!((stderr(&output), stdout(&output)), (expected.as_str(), ""));
}

#[test]
fn text_cut_in_the_middle_of_a_character_keeps_the_rest() {
    let files = Files::new();
    let whole = "원본은 하나이고 사본은 여럿이다 그래서 찾는 일이 어렵다 하지만 찾을 수 있다";
    let a = files.write("whole.txt", whole);
    let b = files.write("cut.txt", &whole.as_bytes()[..whole.len() - 1]);
    let found = json(&within(500, &["compare", &a, &b, "--json"]));
    // Only the last word is hurt: 12 words, 8 shingles, the last of them differs.
    assert_eq!(found["shingles_shared"], 7, "{found}");
    assert_eq!(found["verdict"], "partly contained");
}

#[test]
fn a_compressed_file_that_does_not_end_is_refused_at_the_limit() {
    // 2 GiB of zeros in 65 kB: beyond the size one document may have.
    let files = Files::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 2 << 30), &mut encoder).unwrap();
    let path = files.write("bomb.txt.zst", encoder.finish().unwrap());
    let output = within(4000, &["extract", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bomb.txt.zst is longer than"), "{}", stderr(&output));
}
