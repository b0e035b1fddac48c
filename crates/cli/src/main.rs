//! The program: flags, printing, exit codes.
//!
//! Thin on purpose: each command is one file that parses its flags, calls a library crate and
//! prints. Data goes to standard output, everything else to standard error. Exit codes: 0 done,
//! 1 the answer is no or part of the input was refused, 2 it could not run.

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
enum Command {}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {}
}
