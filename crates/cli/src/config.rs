//! `wonbon config`: every setting, its value, and where the value comes from.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command};
use serde::Serialize;
use wonbon_store::Store;

use crate::Outcome;
use crate::commands::{TABLE, command_line};
use crate::output::Output;
use crate::settings::{FILE_VARIABLE, FOR_ALL, Settings, settings_of};

/// Print every setting, its value, and where the value comes from.
///
/// A setting is a flag that may also stand in a file or in the environment. A flag wins over the
/// environment, the environment over the file, the file over the default. The file is wonbon.toml in the
/// working directory, or the one that WONBON_CONFIG names; --sample prints one with all defaults. The
/// variable of `rate` of `wonbon serve` is WONBON_SERVE_RATE. Paths are relative to the working directory.
///
/// With a command and flags: what that command line would use. It is checked but not run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print a settings file with every default, to be changed.
    #[arg(long, conflicts_with_all = ["json", "command"])]
    sample: bool,
    /// Print one JSON object a line for each setting.
    #[arg(long)]
    json: bool,
    /// The settings of this command only.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Its flags and arguments.
    #[arg(value_name = "FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

/// One setting as it is printed.
#[derive(Serialize)]
struct Setting {
    setting: String,
    /// As it would be given to the flag; none if it is not set.
    value: Option<String>,
    from: String,
}

pub(crate) fn run(args: &Args, settings: &Settings) -> anyhow::Result<Outcome> {
    let mut output = Output::new();
    if args.sample {
        output.bytes(sample(&command_line()).as_bytes())?;
        output.finish()?;
        return Ok(Outcome::Done);
    }
    let cli = settings.apply(command_line())?;
    let mut found = Vec::new();
    match &args.command {
        Some(name) => {
            anyhow::ensure!(
                TABLE.iter().any(|row| row.name == name),
                "there is no command `{name}`; wonbon --help lists all"
            );
            found = settings_for(&cli, settings, name, &args.flags)?;
        }
        None => {
            for name in FOR_ALL {
                let owner = cli
                    .get_subcommands()
                    .find(|command| settings_of(command).any(|arg| arg.get_long() == Some(name)));
                let owner = owner.context("a setting for all commands belongs to one")?.get_name();
                let own = settings_for(&cli, settings, owner, &[])?;
                found.extend(own.into_iter().filter_map(|setting| {
                    (setting.setting == format!("{owner}.{name}"))
                        .then(|| Setting { setting: name.to_owned(), ..setting })
                }));
            }
            for row in TABLE {
                let own = settings_for(&cli, settings, row.name, &[])?;
                let is_own = |setting: &Setting| {
                    let name = &setting.setting[row.name.len() + 1..];
                    !FOR_ALL.contains(&name) || settings.is_of_command(row.name, name)
                };
                found.extend(own.into_iter().filter(is_own));
            }
        }
    }
    let width = found.iter().map(|setting| setting.setting.len()).max().unwrap_or(0);
    for setting in &found {
        if args.json {
            output.json_line(setting)?;
        } else {
            let value = setting.value.as_deref().unwrap_or("not set");
            let line = format!("{:<width$}  {value:<24} {}\n", setting.setting, setting.from);
            output.bytes(line.as_bytes())?;
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// The settings of a command with these flags.
fn settings_for(
    cli: &Command,
    settings: &Settings,
    name: &str,
    flags: &[String],
) -> anyhow::Result<Vec<Setting>> {
    let given = || ["wonbon", name].into_iter().chain(flags.iter().map(String::as_str));
    match cli.clone().try_get_matches_from(given()) {
        // What is not a setting may be left out here.
        Err(error)
            if !matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            ) =>
        {
            return Err(error.into());
        }
        _ => {}
    }
    let matches = cli.clone().ignore_errors(true).try_get_matches_from(given())?;
    let (_, matches) = matches.subcommand().context("the command that was named")?;
    let command = cli.find_subcommand(name).context("the command that was named")?;
    let describe = |arg: &Arg| {
        let long = arg.get_long().unwrap_or_default();
        let id = arg.get_id().as_str();
        let file = || match (&settings.path, settings.has(name, long)) {
            (Some(path), true) => path.display().to_string(),
            _ => "default".to_owned(),
        };
        let from = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => "flag".to_owned(),
            Some(ValueSource::EnvVariable) => {
                let variable = arg.get_env().unwrap_or_default().to_string_lossy();
                format!("environment ({variable})")
            }
            _ => file(),
        };
        let raw = matches.get_raw(id);
        let value = raw.map(|values| {
            // The address of a PostgreSQL may have a password.
            let shown = values.map(|value| Store::shown_place(Path::new(value)));
            shown.collect::<Vec<_>>().join(", ")
        });
        Setting { setting: format!("{name}.{long}"), value, from }
    };
    Ok(settings_of(command).map(describe).collect())
}

/// A settings file with every setting of the program as a comment: `#name = value` is a default, which
/// works without the `#`; a setting without one is only described.
fn sample(cli: &Command) -> String {
    let mut text = format!(
        "# Settings of wonbon: wonbon.toml in the working directory, or the file that {FILE_VARIABLE}\n\
         # names. Flags win over variables of the environment, these over this file. `wonbon config` shows\n\
         # what is in effect. Lines that begin with # and a name are the defaults.\n\n"
    );
    for name in FOR_ALL {
        let arg = cli
            .get_subcommands()
            .find_map(|command| settings_of(command).find(|arg| arg.get_long() == Some(name)));
        if let Some(arg) = arg {
            describe(&mut text, arg);
        }
    }
    for row in TABLE {
        let Some(command) = cli.find_subcommand(row.name) else { continue };
        let own: Vec<&Arg> = settings_of(command)
            .filter(|arg| arg.get_long().is_some_and(|name| !FOR_ALL.contains(&name)))
            .collect();
        if own.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n[{}]", row.name);
        for arg in own {
            describe(&mut text, arg);
        }
    }
    text
}

fn describe(text: &mut String, arg: &Arg) {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let name = arg.get_long().unwrap_or_default();
    let _ = writeln!(text, "# {}", help.replace('\n', " "));
    let default = match (arg.get_default_values().first(), arg.get_action()) {
        (_, ArgAction::SetTrue) => Some("false".to_owned()),
        (Some(value), _) => Some(value.to_string_lossy().into_owned()),
        (None, _) => None,
    };
    let _ = match default {
        None => {
            let value = arg.get_value_names().and_then(|names| names.first());
            writeln!(text, "# {name} = {}", value.map_or("…", |name| name.as_str()))
        }
        Some(value)
            if value.parse::<f64>().is_ok() || ["true", "false"].contains(&value.as_str()) =>
        {
            writeln!(text, "#{name} = {value}")
        }
        Some(value) => writeln!(text, "#{name} = \"{value}\""),
    };
}
