//! robots.txt by the text of RFC 9309: a table of questions, and by which line each is decided.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::time::Duration;

use wonbon_crawl::robots::{Decision, Robots};

const TABLE: &str = include_str!("fixtures/robots-rfc9309.txt");

/// The questions of the table: the robots.txt, product token, path, and the expected answer.
fn cases() -> Vec<(String, &'static str, &'static str, Decision)> {
    let mut cases = Vec::new();
    for block in TABLE.split("\n\n") {
        let file: String = block
            .lines()
            .filter_map(|line| line.strip_prefix('>'))
            .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
            .collect();
        for line in block.lines().filter(|line| !line.starts_with(['>', '#'])) {
            let words: Vec<&str> = line.split(' ').collect();
            let [agent, path, allowed, number] = words[..] else { panic!("{line}") };
            let allowed = match allowed {
                "yes" => true,
                "no" => false,
                _ => panic!("{line}"),
            };
            let line = (number != "-").then(|| number.parse().unwrap());
            cases.push((file.clone(), agent, path, Decision { allowed, line }));
        }
    }
    cases
}

#[test]
fn every_question_of_the_table_is_answered_as_the_rfc_says() {
    let cases = cases();
    assert!(cases.len() >= 300, "{}", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(file, agent, path, expected)| {
            let got = Robots::parse(file.as_bytes(), agent).decide(path);
            (got != *expected).then(|| format!("{agent} {path}: {got:?}, not {expected:?}\n{file}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn the_answers_are_the_same_with_every_kind_of_line_end() {
    for (file, agent, path, expected) in cases() {
        for end in ["\r\n", "\r"] {
            let file = file.replace('\n', end);
            let got = Robots::parse(file.as_bytes(), agent).decide(path);
            assert_eq!(got, expected, "{end:?} {agent} {path}\n{file}");
        }
        // Without the last line's end, and behind a byte order mark.
        let file = format!("\u{feff}{}", file.trim_end_matches('\n'));
        assert_eq!(Robots::parse(file.as_bytes(), agent).decide(path), expected, "{file}");
    }
}

#[test]
fn a_delay_between_agents_holds_for_all_of_the_group() {
    let file = "User-agent: a\nCrawl-delay: 7\nUser-agent: b\nDisallow: /x\n\
        Crawl-delay: 9\nUser-agent: c\nDisallow: /y\n";
    let delay = |agent| Robots::parse(file.as_bytes(), agent).crawl_delay();
    assert_eq!(delay("a"), Some(Duration::from_secs(9)));
    assert_eq!(delay("b"), Some(Duration::from_secs(9)));
    assert_eq!(delay("c"), None);
}
