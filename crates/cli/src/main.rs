//! The program: flags, printing, exit codes.
//!
//! Thin on purpose: each command is one file that parses its flags, calls a library crate and
//! prints. Data goes to standard output, everything else to standard error. Exit codes: 0 done,
//! 1 the answer is no or part of the input was refused, 2 it could not run.

mod demo;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Finds the original and its copies in text.
#[derive(Parser)]
#[command(name = "wonbon", version, about, long_about = None)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Demo(args) => demo::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

/// Says what went wrong and what was behind it. When standard error is closed, the exit code says
/// it alone.
fn report(error: &anyhow::Error) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "error: {error}");
    for cause in error.chain().skip(1) {
        let _ = writeln!(stderr, "  because {cause}");
    }
}
