//! The table of commands: the heading each stands under, whether it works on a store, an example.
//!
//! Help, overview, completions, man pages, `wonbon config` and the reference page are made from the
//! flags of the commands and this table. A new command needs a row here, a variant of `Command` and
//! an arm of `main`; a test fails when the row is missing. Tests run every example.

use std::fmt::Write as _;

use anstyle::Style;
use clap::{Args as _, CommandFactory as _};

use crate::{Cli, store};

/// A heading of `wonbon --help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heading {
    Try,
    Compare,
    Corpora,
    Store,
    Ask,
    Crawl,
    Serve,
    Tools,
}

/// What the table says of one command.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) heading: Heading,
    /// It takes `--store`.
    pub(crate) uses_store: bool,
    /// Its flags may stand in a settings file and in the environment. Not those of commands that
    /// remove or decide something once: nobody wants that repeated by a file.
    pub(crate) has_settings: bool,
    /// Commands that work in a folder with what `wonbon demo --save .` and `wonbon add posts.jsonl`
    /// leave there.
    pub(crate) examples: &'static [&'static str],
}

const fn row(name: &'static str, heading: Heading, examples: &'static [&'static str]) -> Row {
    Row { name, heading, uses_store: false, has_settings: true, examples }
}

impl Row {
    const fn on_store(self) -> Row {
        Row { uses_store: true, ..self }
    }

    const fn once(self) -> Row {
        Row { has_settings: false, ..self }
    }
}

use Heading::{Ask, Compare, Corpora, Crawl, Serve, Store, Tools, Try};

/// The commands by heading, the most used first.
pub(crate) const TABLE: &[Row] = &[
    row(
        "demo",
        Try,
        &["wonbon demo", "wonbon demo --save .   # the posts as files to try commands on"],
    )
    .on_store(),
    row("compare", Compare, &["wonbon compare post.txt scrap.txt --diff"]),
    row("extract", Compare, &["wonbon extract page.html"]),
    row("sketch", Compare, &["wonbon sketch posts.jsonl"]),
    row("dedup", Corpora, &["wonbon dedup posts.jsonl -o clean"]),
    row("passages", Corpora, &["wonbon passages posts.jsonl -o repeated --words 12"]),
    row("cluster", Corpora, &["wonbon cluster posts.jsonl -o clusters"]),
    row(
        "join",
        Corpora,
        &["wonbon join post.txt scrap.txt --words --threshold 0.8   # lines of two files"],
    ),
    row("add", Store, &["wonbon add posts.jsonl"]).on_store(),
    row("check", Store, &["wonbon check scrap.txt"]).on_store(),
    row("get", Store, &["wonbon get radio/1 --family"]).on_store(),
    row("status", Store, &["wonbon status"]).on_store(),
    row("delete", Store, &["wonbon delete radio/1"]).on_store().once(),
    row("decide", Store, &["wonbon decide retell/1 --not-a-copy --reason 'a story of its own'"])
        .on_store()
        .once(),
    row("decisions", Store, &["wonbon decisions"]).on_store(),
    row("init", Store, &["wonbon init --store strict --rule threshold=0.9"]).on_store(),
    row("export", Store, &["wonbon export --originals -o originals.jsonl"]).on_store(),
    row("backup", Store, &["wonbon backup backup-of-today"]).on_store().once(),
    row("restore", Store, &["wonbon restore backup-of-today --store restored"]).on_store().once(),
    row("copy", Store, &["wonbon copy wonbon-store copied"]).once(),
    row("verify", Store, &["wonbon verify"]).on_store(),
    row("rebuild", Store, &["wonbon rebuild"]).on_store().once(),
    row("search", Ask, &["wonbon search bridges", "wonbon search '\"old radio\" after:2025-01'"])
        .on_store(),
    row("similar", Ask, &["wonbon similar scrap.txt"]).on_store(),
    row("within", Ask, &["wonbon within quotation.txt"]).on_store(),
    row("contains", Ask, &["wonbon contains scrap.txt"]).on_store(),
    row("sources", Ask, &["wonbon sources scrap.txt"]).on_store(),
    row("copies", Ask, &["wonbon copies radio/1"]).on_store(),
    row("moved", Ask, &["wonbon moved radio/1"]).on_store(),
    row("changes", Ask, &["wonbon changes radio/1"]).on_store(),
    row("watch", Ask, &["wonbon watch add radio/1", "wonbon watch report"]).on_store(),
    row("collapse", Ask, &["wonbon search bridges --json | wonbon collapse"]).on_store(),
    row("crawl", Crawl, &["wonbon crawl https://example.org/ --out crawl --pages 100"]).on_store(),
    row(
        "order",
        Crawl,
        &["wonbon order generate -o web --pages 2000 && wonbon order web -o curves"],
    ),
    row("robots", Crawl, &["wonbon robots https://example.org/ /private/"]),
    row("serve", Serve, &["wonbon serve"]).on_store(),
    row("token", Serve, &["wonbon token create 'the editors' --scope add"]),
    row("config", Tools, &["wonbon config", "wonbon config dedup --threshold 0.9"]).once(),
    row("completions", Tools, &["wonbon completions bash > wonbon.bash"]).once(),
    row("man", Tools, &["wonbon man -o man"]).once(),
];

impl Heading {
    const ALL: [Heading; 8] = [Try, Compare, Corpora, Store, Ask, Crawl, Serve, Tools];

    fn name(self) -> &'static str {
        match self {
            Try => "Try",
            Compare => "Compare",
            Corpora => "Corpora",
            Store => "Store",
            Ask => "Ask",
            Crawl => "Crawl",
            Serve => "Serve",
            Tools => "Tools",
        }
    }
}

/// The row of a command.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

/// The program's command line as the table has it: examples in every help, `--store` only where there
/// is a store, commands under headings.
pub(crate) fn command_line() -> clap::Command {
    let mut cli = Cli::command();
    for row in TABLE {
        cli = cli.mut_subcommand(row.name, |command| with_row(command, row));
    }
    let listed = headings(&cli);
    cli.after_help(listed)
}

fn with_row(command: clap::Command, row: &Row) -> clap::Command {
    let help = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let help = help.unwrap_or_default();
    let (sentence, rest) = help.split_once("\n\n").unwrap_or((&help, ""));
    let examples: String = row.examples.iter().map(|example| format!("  {example}\n")).collect();
    let long = format!("{}.\n\n{examples}\n{rest}", sentence.trim_end_matches('.'));
    let about = command.get_about().cloned().unwrap_or_default();
    let command = if row.uses_store { store::StoreOption::augment_args(command) } else { command };
    // The flag brings a sentence about itself.
    command.about(about).long_about(long.trim_end().to_owned())
}

/// All commands under their headings, for `wonbon --help`.
fn headings(cli: &clap::Command) -> String {
    const HEADING: Style = Style::new().bold().underline();
    let width = TABLE.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for heading in Heading::ALL {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{HEADING}{}:{HEADING:#}", heading.name());
        for row in TABLE.iter().filter(|row| row.heading == heading) {
            let about = cli.find_subcommand(row.name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:<width$}  {about}", row.name);
        }
        text.push('\n');
    }
    text.push_str("`wonbon COMMAND --help` shows an example and every flag of a command.");
    text
}

/// What `wonbon` prints without arguments.
pub(crate) const OVERVIEW: &str = "\
Wonbon finds the original and its copies in text.

  wonbon demo                     see it work on 72 posts that ship with the program
  wonbon compare A B --diff       what two files share
  wonbon dedup FILE -o OUT        a corpus without its copies
  wonbon add FILE                 a store that tells copies from originals as they arrive
  wonbon search WORDS             search its originals; also similar, within, sources
  wonbon crawl URL --out DIR      crawl a site
  wonbon serve                    API and pages at http://127.0.0.1:7600/
  wonbon --help                   all commands
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_the_program_have_the_same_commands() {
        let mut named: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
        let cli = Cli::command();
        let mut known: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
    }

    #[test]
    fn rows_stand_in_the_order_of_their_headings() {
        let place = |heading| Heading::ALL.iter().position(|&other| other == heading);
        assert!(TABLE.is_sorted_by_key(|row| place(row.heading)));
        assert!(TABLE.iter().all(|row| !row.examples.is_empty()));
    }

    #[test]
    fn what_a_command_does_fits_on_its_line() {
        let cli = command_line();
        for command in cli.get_subcommands() {
            let about = command.get_about().unwrap().to_string();
            assert!((10..86).contains(&about.chars().count()), "{}: {about}", command.get_name());
        }
    }

    #[test]
    fn the_overview_has_ten_lines() {
        assert_eq!(OVERVIEW.lines().count(), 10);
    }

    #[test]
    fn the_flags_of_all_commands_are_consistent() {
        command_line().debug_assert();
    }
}
