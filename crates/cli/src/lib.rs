//! The program: flags, printing, exit codes.
//!
//! A library, because the program stands in two places: `src/bin/wonbon.rs`, and the Python package,
//! whose `wonbon` command is the same [`run`].
//!
//! Thin on purpose: each command is one file that parses its flags, calls a library crate and
//! prints. Data goes to standard output, everything else to standard error. Exit codes: 0 done,
//! 1 the answer is no or part of the input was refused, 2 it could not run.

mod batch;
mod cluster;
mod commands;
mod compare;
mod config;
mod crawl;
mod dedup;
mod demo;
mod extract;
mod join;
mod options;
mod order;
mod output;
mod passages;
mod report;
mod serve;
mod settings;
mod shell;
mod sketch;
mod store;
mod token;
mod watcher;
mod wording;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches, Parser, Subcommand};
use settings::Settings;

/// Finds the original and its copies in text.
///
/// Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 the
/// answer is no or part of the input was refused, 2 it could not run.
#[derive(Parser)]
#[command(
    name = "wonbon",
    version,
    max_term_width = 100,
    help_template = "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}"
)]
struct Cli {
    /// The directory of the store, before the command.
    #[arg(id = "store", long = "store", value_name = "DIR", hide = true)]
    _store: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Add(store::add::Args),
    Backup(store::backup::Args),
    Changes(store::changes::Args),
    Check(store::check::Args),
    Cluster(cluster::Args),
    Collapse(store::collapse::Args),
    Compare(compare::Args),
    Completions(shell::CompletionsArgs),
    Config(config::Args),
    Contains(store::ask::ContainsArgs),
    Copies(store::copies::Args),
    Copy(store::copy::Args),
    Crawl(Box<crawl::Args>),
    Decide(store::decide::Args),
    Decisions(store::decide::LogArgs),
    Dedup(dedup::Args),
    Delete(store::delete::Args),
    Demo(demo::Args),
    Export(store::export::Args),
    Extract(extract::Args),
    Get(store::get::Args),
    Init(store::init::Args),
    Join(join::Args),
    Man(shell::ManArgs),
    Moved(store::moved::Args),
    Order(order::Args),
    Passages(passages::Args),
    Rebuild(store::rebuild::Args),
    Restore(store::restore::Args),
    Robots(crawl::robots::Args),
    Search(store::search::Args),
    Serve(serve::Args),
    Similar(store::ask::SimilarArgs),
    Sketch(sketch::Args),
    Sources(store::ask::SourcesArgs),
    Status(store::status::Args),
    Token(token::Args),
    Verify(store::verify::Args),
    Watch(store::watch::Args),
    Within(store::ask::WithinArgs),
}

/// How a command that ran to its end did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Everything was done.
    Done,
    /// The answer is no, or part of the input was refused; standard error says what.
    Refused,
}

/// Runs one command: the program's name and its flags. Returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    match run_command(arguments) {
        Ok(code) => code,
        Err(error) => report::failure(&error),
    }
}

fn run_command(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<u8> {
    let settings = Settings::read()?;
    let parsed = settings
        .apply(commands::command_line())?
        .try_get_matches_from(arguments)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return Ok(report::usage(&error)),
    };
    let Some(command) = &cli.command else {
        let mut output = output::Output::new();
        output.bytes(commands::OVERVIEW.as_bytes())?;
        output.finish()?;
        return Ok(0);
    };
    let chosen = ChosenStore::of(&matches, &settings)?;
    let store = chosen.directory.as_path();
    let outcome = match command {
        Command::Add(args) => store::add::run(args, store),
        Command::Backup(args) => store::backup::run(args, store),
        Command::Changes(args) => store::changes::run(args, store),
        Command::Check(args) => store::check::run(args, store),
        Command::Cluster(args) => cluster::run(args),
        Command::Collapse(args) => store::collapse::run(args, store),
        Command::Compare(args) => compare::run(args),
        Command::Completions(args) => shell::run_completions(args),
        Command::Config(args) => config::run(args, &settings),
        Command::Contains(args) => store::ask::run_contains(args, store),
        Command::Copies(args) => store::copies::run(args, store),
        Command::Copy(args) => store::copy::run(args),
        Command::Crawl(args) => crawl::run(args, chosen.named()),
        Command::Decide(args) => store::decide::run(args, store),
        Command::Decisions(args) => store::decide::run_log(args, store),
        Command::Dedup(args) => dedup::run(args),
        Command::Delete(args) => store::delete::run(args, store),
        Command::Demo(args) => demo::run(args, chosen.on_the_command_line()),
        Command::Export(args) => store::export::run(args, store),
        Command::Extract(args) => extract::run(args),
        Command::Get(args) => store::get::run(args, store),
        Command::Init(args) => store::init::run(args, store),
        Command::Join(args) => join::run(args),
        Command::Man(args) => shell::run_man(args),
        Command::Moved(args) => store::moved::run(args, store),
        Command::Order(args) => order::run(args),
        Command::Passages(args) => passages::run(args),
        Command::Rebuild(args) => store::rebuild::run(args, store),
        Command::Restore(args) => store::restore::run(args, store),
        Command::Robots(args) => crawl::robots::run(args),
        Command::Search(args) => store::search::run(args, store),
        Command::Serve(args) => serve::run(args, store),
        Command::Similar(args) => store::ask::run_similar(args, store),
        Command::Sketch(args) => sketch::run(args),
        Command::Sources(args) => store::ask::run_sources(args, store),
        Command::Status(args) => store::status::run(args, store),
        Command::Token(args) => token::run(args),
        Command::Verify(args) => store::verify::run(args, store),
        Command::Watch(args) => store::watch::run(args, store),
        Command::Within(args) => store::ask::run_within(args, store),
    };
    Ok(match outcome? {
        Outcome::Done => 0,
        Outcome::Refused => 1,
    })
}

/// The store that the command works on, and who chose it.
struct ChosenStore {
    directory: PathBuf,
    source: ValueSource,
    in_file: bool,
}

impl ChosenStore {
    fn of(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<ChosenStore> {
        let (name, given) = matches.subcommand().unwrap_or(("", matches));
        let uses_store = commands::find(name).is_some_and(|row| row.uses_store);
        if !uses_store {
            anyhow::ensure!(
                matches.value_source("store").is_none(),
                "`wonbon {name}` works on no store, so --store says nothing to it"
            );
            return Ok(ChosenStore {
                directory: PathBuf::new(),
                source: ValueSource::DefaultValue,
                in_file: false,
            });
        }
        Ok(ChosenStore {
            directory: given.get_one::<PathBuf>("store").cloned().unwrap_or_default(),
            source: given.value_source("store").unwrap_or(ValueSource::DefaultValue),
            in_file: settings.has(name, "store"),
        })
    }

    /// The store if somebody named one.
    fn named(&self) -> Option<&Path> {
        let is_named = self.source != ValueSource::DefaultValue || self.in_file;
        is_named.then_some(self.directory.as_path())
    }

    /// The store if the command line names it: the demo's posts belong in no store that is in use.
    fn on_the_command_line(&self) -> Option<&Path> {
        (self.source == ValueSource::CommandLine).then_some(self.directory.as_path())
    }
}
