//! `wonbon completions` and `wonbon man`: what shells and `man` need, made from the flags themselves.

use std::path::PathBuf;

use anyhow::Context;
use clap_complete::Shell;

use crate::Outcome;
use crate::commands::command_line;
use crate::output::{Output, write_file};

/// Print the completions of a shell.
///
/// bash: put the output into ~/.local/share/bash-completion/completions/wonbon. zsh: into a file
/// `_wonbon` in a folder of $fpath. fish: into ~/.config/fish/completions/wonbon.fish.
#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Print the manual page, or write the pages of all commands to a folder.
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// The command whose page to print; the program's own if not said.
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Option<String>,
    /// Write wonbon.1 and a page for each command to this folder.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run_completions(args: &CompletionsArgs) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "wonbon", &mut script);
    let mut output = Output::new();
    output.bytes(&script)?;
    output.finish()?;
    Ok(Outcome::Done)
}

pub(crate) fn run_man(args: &ManArgs) -> anyhow::Result<Outcome> {
    let mut cli = command_line();
    cli.build();
    let pages = std::iter::once(&cli).chain(
        cli.get_subcommands().filter(|command| crate::commands::find(command.get_name()).is_some()),
    );
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("could not make the folder {}", folder.display()))?;
        for command in pages {
            let (name, page) = page(command)?;
            write_file(&folder.join(format!("{name}.1")), &page)?;
        }
        return Ok(Outcome::Done);
    }
    let command = match &args.command {
        None => &cli,
        Some(name) => cli
            .find_subcommand(name)
            .with_context(|| format!("there is no command `{name}`; wonbon --help lists all"))?,
    };
    let mut output = Output::new();
    output.bytes(&page(command)?.1)?;
    output.finish()?;
    Ok(Outcome::Done)
}

/// The name and the manual page of a command.
fn page(command: &clap::Command) -> anyhow::Result<(String, Vec<u8>)> {
    let name = match command.get_name() {
        "wonbon" => "wonbon".to_owned(),
        verb => format!("wonbon-{verb}"),
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().name(name.clone()))
        .date("")
        .render(&mut page)
        .context("could not make the manual page")?;
    Ok((name, page))
}
