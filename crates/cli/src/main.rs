//! The program: flags, printing, exit codes.
//!
//! Thin on purpose: each command is one file that parses its flags, calls a library crate and
//! prints. Data goes to standard output, everything else to standard error. Exit codes: 0 done,
//! 1 the answer is no or part of the input was refused, 2 it could not run.

mod batch;
mod cluster;
mod compare;
mod crawl;
mod dedup;
mod demo;
mod extract;
mod join;
mod options;
mod order;
mod output;
mod report;
mod serve;
mod sketch;
mod store;
mod token;

use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use wonbon_allocator::BySize;

#[global_allocator]
static ALLOCATOR: BySize = BySize;

/// Finds the original and its copies in text.
///
/// Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 the
/// answer is no or part of the input was refused, 2 it could not run.
#[derive(Parser)]
#[command(name = "wonbon", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    store: store::StoreOption,
    #[command(subcommand)]
    command: Command,
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
    Moved(store::moved::Args),
    Order(order::Args),
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

fn main() -> ExitCode {
    let parsed = Cli::command()
        .try_get_matches()
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return report::usage(&error),
    };
    let store = cli.store.store.as_path();
    let source = matches.value_source("store");
    let is_named = source.is_some_and(|from| from != ValueSource::DefaultValue);
    let named_store = is_named.then_some(store);
    // Not the environment's: the demo's posts belong in no store that is in use.
    let demo_store = (source == Some(ValueSource::CommandLine)).then_some(store);
    let outcome = match &cli.command {
        Command::Add(args) => store::add::run(args, store),
        Command::Backup(args) => store::backup::run(args, store),
        Command::Changes(args) => store::changes::run(args, store),
        Command::Check(args) => store::check::run(args, store),
        Command::Cluster(args) => cluster::run(args),
        Command::Collapse(args) => store::collapse::run(args, store),
        Command::Compare(args) => compare::run(args),
        Command::Contains(args) => store::ask::run_contains(args, store),
        Command::Copies(args) => store::copies::run(args, store),
        Command::Copy(args) => store::copy::run(args),
        Command::Crawl(args) => crawl::run(args, named_store),
        Command::Decide(args) => store::decide::run(args, store),
        Command::Decisions(args) => store::decide::run_log(args, store),
        Command::Dedup(args) => dedup::run(args),
        Command::Delete(args) => store::delete::run(args, store),
        Command::Demo(args) => demo::run(args, demo_store),
        Command::Export(args) => store::export::run(args, store),
        Command::Extract(args) => extract::run(args),
        Command::Get(args) => store::get::run(args, store),
        Command::Init(args) => store::init::run(args, store),
        Command::Join(args) => join::run(args),
        Command::Moved(args) => store::moved::run(args, store),
        Command::Order(args) => order::run(args),
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
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(1),
        Err(error) => report::failure(&error),
    }
}

#[cfg(test)]
mod tests {

    #[test]
    fn the_flags_of_all_commands_are_consistent() {
        use clap::CommandFactory as _;
        super::Cli::command().debug_assert();
    }
}
