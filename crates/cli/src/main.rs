//! The program: flags, printing, exit codes.
//!
//! Thin on purpose: each command is one file that parses its flags, calls a library crate and
//! prints. Data goes to standard output, everything else to standard error. Exit codes: 0 done,
//! 1 the answer is no or part of the input was refused, 2 it could not run.

mod batch;
mod cluster;
mod compare;
mod dedup;
mod demo;
mod extract;
mod join;
mod options;
mod output;
mod report;
mod rule;
mod sketch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Finds the original and its copies in text.
///
/// Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 the
/// answer is no or part of the input was refused, 2 it could not run.
#[derive(Parser)]
#[command(name = "wonbon", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Cluster(cluster::Args),
    Compare(compare::Args),
    Dedup(dedup::Args),
    Demo(demo::Args),
    Extract(extract::Args),
    Join(join::Args),
    Sketch(sketch::Args),
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
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error),
    };
    let outcome = match &cli.command {
        Command::Cluster(args) => cluster::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Dedup(args) => dedup::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Join(args) => join::run(args),
        Command::Sketch(args) => sketch::run(args),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(1),
        Err(error) => report::failure(&error),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_of_all_commands_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
