//! `docs/reference/commands.md` is what `--help` says.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::fmt::Write as _;

use support::{stdout, wonbon};

/// The commands and their subcommands, in the order in which help lists them.
fn commands() -> Vec<Vec<String>> {
    let output = wonbon(&["--help"]);
    let listed = stdout(&output).split("Options:").next().unwrap().to_owned();
    let mut all = Vec::new();
    for name in names(&listed) {
        all.push(vec![name.clone()]);
        let output = wonbon(&[&name, "--help"]);
        let Some((_, listed)) = stdout(&output).split_once("Commands:") else { continue };
        let listed = listed.split("\n\n").next().unwrap();
        let below = names(listed).into_iter().filter(|below| below != "help");
        all.extend(below.map(|below| vec![name.clone(), below]));
    }
    all
}

fn names(listed: &str) -> Vec<String> {
    listed
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_reference_page_is_the_help_of_every_command() {
    let mut page = String::from(
        "# Command reference\n\nGenerated from the program's help; \
         `UPDATE_REFERENCE=1 cargo test -p wonbon-cli --test reference` writes it anew.\n",
    );
    let commands = commands();
    assert!(commands.len() >= 40, "{commands:?}");
    let all = std::iter::once(Vec::new()).chain(commands);
    for command in all {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        let title = ["wonbon"].iter().chain(&arguments).copied().collect::<Vec<_>>().join(" ");
        arguments.push("--help");
        let output = wonbon(&arguments);
        assert_eq!(output.status.code(), Some(0));
        let help: Vec<&str> = stdout(&output).lines().map(str::trim_end).collect();
        write!(page, "\n## {title}\n\n```text\n{}\n```\n", help.join("\n")).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/commands.md");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/commands.md is not what --help says; see its first lines"
    );
}
