//! `wonbon join` as a person meets it: output, errors, exit codes, files left behind.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use support::{stderr, stdout, wonbon, wonbon_reading};

const LINES: &str = "a b c d\n\n7 8 9\na b c d e\nd c b a a\n7 8 9 10 11\nlonely\n";

fn in_folder(run: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path());
}

fn join(file: &Path, flags: &[&str]) -> Output {
    let mut arguments = vec!["join", file.to_str().unwrap()];
    arguments.extend_from_slice(flags);
    wonbon(&arguments)
}

fn lines(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("sets.txt");
    fs::write(&file, LINES).unwrap();
    file
}

/// Exit code, standard output and standard error.
fn told(output: &Output) -> (Option<i32>, &str, &str) {
    (output.status.code(), stdout(output), stderr(output))
}

#[test]
fn pairs_are_lines_from_zero_sorted_with_their_similarity() {
    in_folder(|folder| {
        let output = join(&lines(folder), &["--threshold", "0.6"]);
        let expected = "0\t3\t0.800000\n0\t4\t1.000000\n2\t5\t0.600000\n3\t4\t0.800000\n";
        assert_eq!(told(&output), (Some(0), expected, ""));
    });
}

#[test]
fn every_algorithm_prints_the_same_bytes() {
    in_folder(|folder| {
        let file = lines(folder);
        let auto = join(&file, &["--threshold", "1/2"]);
        for name in ["allpairs", "ppjoin", "ppjoin+", "mpjoin", "apjoin"] {
            let output = join(&file, &["--threshold", "0.5", "--algorithm", name]);
            assert_eq!(told(&output), told(&auto), "{name}");
        }
    });
}

#[test]
fn json_lines_carry_the_overlap() {
    in_folder(|folder| {
        let output = join(&lines(folder), &["--threshold", "0.9", "--json"]);
        let expected = "{\"left\":0,\"right\":4,\"similarity\":1.000000,\"overlap\":4}\n";
        assert_eq!(told(&output), (Some(0), expected, ""));
    });
}

#[test]
fn overlap_counts_tokens() {
    in_folder(|folder| {
        let output = join(&lines(folder), &["--threshold", "4", "--measure", "overlap"]);
        assert_eq!(told(&output), (Some(0), "0\t3\t4\n0\t4\t4\n3\t4\t4\n", ""));
    });
}

#[test]
fn two_files_are_joined_by_the_first_ones_containment() {
    in_folder(|folder| {
        let (first, second) = (folder.join("first"), folder.join("second"));
        fs::write(&first, "a b\nx y z\n").unwrap();
        fs::write(&second, "z\na b c d e\n").unwrap();
        let flags = [second.to_str().unwrap(), "--threshold", "1", "--measure", "containment"];
        assert_eq!(told(&join(&first, &flags)), (Some(0), "0\t1\t1.000000\n", ""));
        let flags = [first.to_str().unwrap(), "--threshold", "1", "--measure", "containment"];
        assert_eq!(told(&join(&second, &flags)), (Some(0), "0\t1\t1.000000\n", ""));
    });
}

#[test]
fn top_keeps_the_best_pairs_of_each_record() {
    in_folder(|folder| {
        let file = folder.join("sets");
        fs::write(&file, "1 2 3 4\n1 2 3 4 5\n1 2 3 4 5 6\n1 2 3 4 5 6 7\n").unwrap();
        let output = join(&file, &["--threshold", "0.1", "--top", "1"]);
        // Line 0 is best with 1, 1 with 2 (5/6 > 4/5), 2 with 3 (6/7 > 5/6), 3 with 2.
        let expected = "0\t1\t0.800000\n1\t2\t0.833333\n2\t3\t0.857143\n";
        assert_eq!(told(&output), (Some(0), expected, ""));
    });
}

#[test]
fn compressed_files_and_standard_input_are_read() {
    in_folder(|folder| {
        let plain = join(&lines(folder), &["--threshold", "0.6"]);
        let zst = folder.join("sets.zst");
        fs::write(&zst, zstd::encode_all(LINES.as_bytes(), 3).unwrap()).unwrap();
        let gz = folder.join("sets.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(LINES.as_bytes()).unwrap();
        fs::write(&gz, encoder.finish().unwrap()).unwrap();
        assert_eq!(told(&join(&zst, &["--threshold", "0.6"])), told(&plain));
        assert_eq!(told(&join(&gz, &["--threshold", "0.6"])), told(&plain));
        let piped = wonbon_reading(&["join", "-", "--threshold", "0.6"], LINES.as_bytes());
        assert_eq!(told(&piped), told(&plain));
    });
}

#[test]
fn json_lines_of_tokens_and_of_text_are_read() {
    in_folder(|folder| {
        let file = folder.join("documents.jsonl");
        fs::write(
            &file,
            "{\"tokens\": [1, \"b\", 2]}\n{\"tokens\": [2, 1, \"b\"]}\n{\"tokens\": []}\n",
        )
        .unwrap();
        let output = join(&file, &["--threshold", "0.9"]);
        assert_eq!(told(&output), (Some(0), "0\t1\t1.000000\n", ""));

        fs::write(
            &file,
            "{\"body\": \"A rose is a rose.\"}\n{\"body\": \"a ROSE is\"}\n{\"body\": \"\"}\n",
        )
        .unwrap();
        let flags = ["--threshold", "0.6", "--field", "body", "--words"];
        assert_eq!(told(&join(&file, &flags)), (Some(0), "0\t1\t1.000000\n", ""));
        // Shingles of two words: {a rose, rose is, is a} and {a rose, rose is}.
        let flags = ["--threshold", "0.6", "--field", "body", "--shingle", "2"];
        assert_eq!(told(&join(&file, &flags)), (Some(0), "0\t1\t0.666667\n", ""));
    });
}

#[test]
fn plain_lines_of_text_are_read_as_words_on_demand() {
    in_folder(|folder| {
        let file = folder.join("lines");
        fs::write(&file, "Hello, world!\nhello World\n").unwrap();
        assert_eq!(stdout(&join(&file, &["--threshold", "1"])), "");
        assert_eq!(stdout(&join(&file, &["--threshold", "1", "--words"])), "0\t1\t1.000000\n");
    });
}

#[test]
fn statistics_go_to_standard_error() {
    in_folder(|folder| {
        let output = join(&lines(folder), &["--threshold", "0.6", "--stats", "--json"]);
        let stats: serde_json::Value = serde_json::from_str(stderr(&output)).unwrap();
        assert_eq!(stats["lines"], 7);
        assert_eq!(stats["distinct_sets"], 5);
        assert_eq!(stats["distinct_pairs"], 2);
        assert_eq!(stats["pairs"], 4);
        for name in ["comparisons", "candidates", "reading_seconds", "ordering_seconds"] {
            assert!(stats[name].is_number(), "{name}");
        }
        let output = join(&lines(folder), &["--threshold", "0.6", "--stats"]);
        assert!(stderr(&output).contains("peak memory"), "{}", stderr(&output));
    });
}

#[test]
fn a_wrong_request_is_one_sentence_and_exit_code_2() {
    in_folder(|folder| {
        let file = lines(folder);
        let missing = folder.join("missing");
        let said = |output: Output| {
            assert_eq!(output.status.code(), Some(2));
            assert_eq!(stdout(&output), "");
            let error = stderr(&output).to_owned();
            assert_eq!(error.lines().count(), 1, "{error}");
            error
        };
        let threshold = |value: &str| said(join(&file, &["--threshold", value]));
        assert_eq!(threshold("1.5"), "error: the threshold 3/2 is outside (0, 1] for jaccard\n");
        assert_eq!(
            threshold("0"),
            "error: the threshold 0 is outside (0, 1]: it must be above zero\n"
        );
        assert_eq!(
            threshold("high"),
            "error: the threshold \"high\" is not a number such as 0.85 or 17/20\n"
        );
        assert_eq!(
            said(join(&file, &["--threshold", "0.5", "--measure", "overlap"])),
            "error: the threshold 1/2 for overlap is not a whole number of tokens from 1 up\n"
        );
        assert!(said(join(&missing, &["--threshold", "0.5"])).contains("could not open"));
        assert!(said(join(folder, &["--threshold", "0.5"])).contains("could not"));
        let nowhere = folder.join("no/such/folder/out");
        let out = nowhere.to_str().unwrap();
        assert!(
            said(join(&file, &["--threshold", "0.5", "--out", out])).contains("could not write")
        );
        assert!(said(join(&file, &["--threshold", "0.5", "--memory", "lots"])).contains("512M"));
        assert!(
            said(join(&file, &["--threshold", "0.5", "--algorithm", "magic"])).contains("magic")
        );
        assert!(said(join(&file, &[])).contains("--threshold"));
    });
}

#[test]
fn bad_json_names_the_line() {
    in_folder(|folder| {
        let file = folder.join("documents.jsonl");
        fs::write(&file, "{\"tokens\": [1]}\n{\"tokens\": 7}\n").unwrap();
        let output = join(&file, &["--threshold", "0.5"]);
        assert_eq!(output.status.code(), Some(2));
        let expected = format!(
            "error: line 1 of {}: field \"tokens\" holds neither text nor a list of tokens\n",
            file.display()
        );
        assert_eq!(stderr(&output), expected);
        fs::write(&file, "{\"text\": \"some words\"}\n").unwrap();
        let output = join(&file, &["--threshold", "0.5"]);
        assert!(stderr(&output).contains("say --words or --shingle W"), "{}", stderr(&output));
    });
}

#[test]
fn the_output_file_appears_whole_and_nothing_else_is_left() {
    in_folder(|folder| {
        let file = lines(folder);
        let out = folder.join("pairs.tsv");
        fs::write(&out, "old").unwrap();
        let flags = ["--threshold", "0.9", "--out", out.to_str().unwrap()];
        assert_eq!(told(&join(&file, &flags)), (Some(0), "", ""));
        assert_eq!(fs::read_to_string(&out).unwrap(), "0\t4\t1.000000\n");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);

        // A failing join leaves the old file as it was.
        fs::write(&file, b"\x28\xB5\x2F\xFDbroken").unwrap();
        assert_eq!(join(&file, &flags).status.code(), Some(2));
        assert_eq!(fs::read_to_string(&out).unwrap(), "0\t4\t1.000000\n");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_not() {
    in_folder(|folder| {
        let file = lines(folder);
        let output = join(&file, &["--threshold", "0.5", "--out", "/dev/full"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).starts_with("error: could not write /dev/full: No space left"));
        assert!(Path::new("/dev/full").exists());

        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let file_name = file.to_str().unwrap();
        let status = support::command(&["join", file_name, "--threshold", "0.5"])
            .stdout(full)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(2));

        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = support::command(&["join", file_name, "--threshold", "0.5"])
            .stdout(writer)
            .stderr(std::process::Stdio::piped())
            .output()
            .unwrap();
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    });
}

#[test]
fn a_memory_limit_changes_nothing_but_memory() {
    in_folder(|folder| {
        let file = folder.join("sets");
        let mut text = String::new();
        wonbon_testkit::join::shapes::DBLP.with_records(30_000).generate(|tokens| {
            let words: Vec<String> = tokens.iter().map(u32::to_string).collect();
            text.push_str(&words.join(" "));
            text.push('\n');
        });
        fs::write(&file, text).unwrap();
        let free = join(&file, &["--threshold", "0.5", "--threads", "2"]);
        let tight = join(&file, &["--threshold", "0.5", "--memory", "6M"]);
        assert_eq!(free.status.code(), Some(0));
        assert!(stdout(&free).lines().count() > 100);
        assert!(told(&free) == told(&tight), "{}", stderr(&tight));
        let output = join(&file, &["--threshold", "0.5", "--memory", "1M"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("would do"), "{}", stderr(&output));
    });
}
