//! Settings from a file and from the environment: default < file < environment < flag.
//!
//! Nearly every flag is a setting. `wonbon.toml` in the working directory, or the file that
//! `WONBON_CONFIG` names, has a section for each command; a few settings may stand at its top for all
//! commands that have them. In the environment the setting `rate` of `wonbon serve` is
//! `WONBON_SERVE_RATE`.
//!
//! What a file says becomes the default of the flag, so clap itself decides what wins, and a flag that
//! excludes another one excludes it from the file too. Every value is checked by the flag's own
//! parser before the command line is read, so that a wrong file is named. Cost: nothing without a file
//! but one failed open; with one, a parse of the command line for each setting in it.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::builder::ArgPredicate;
use clap::{Arg, ArgAction, Command};
use toml::Value;

use crate::commands::{TABLE, find};

/// The file in the working directory.
const FILE: &str = "wonbon.toml";

/// Names another file.
pub(crate) const FILE_VARIABLE: &str = "WONBON_CONFIG";

/// Settings that may stand at the top of a file, for all commands that have them.
pub(crate) const FOR_ALL: [&str; 4] = ["memory", "store", "threads", "tokens"];

/// Flags that name what one run reads or writes.
const OF_ONE_RUN: [&str; 14] = [
    "against",
    "annotate",
    "from-warc",
    "html",
    "json",
    "out",
    "output",
    "pairs",
    "resume",
    "save",
    "seeds",
    "serve",
    "sweep",
    "sweep-of",
];

/// The values of a setting, as they would be given to its flag.
type Values = Vec<String>;

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The file, if there is one.
    pub(crate) path: Option<PathBuf>,
    for_all: BTreeMap<String, Values>,
    by_command: BTreeMap<String, BTreeMap<String, Values>>,
}

/// The flags of a command that are settings.
pub(crate) fn settings_of(command: &Command) -> impl Iterator<Item = &Arg> {
    let has_settings = find(command.get_name()).is_some_and(|row| row.has_settings);
    command.get_arguments().filter(move |arg| {
        let Some(name) = arg.get_long() else { return false };
        let takes =
            matches!(arg.get_action(), ArgAction::Set | ArgAction::Append | ArgAction::SetTrue);
        takes
            && !arg.is_required_set()
            && !arg.is_hide_set()
            && (has_settings || FOR_ALL.contains(&name))
            && !OF_ONE_RUN.contains(&name)
    })
}

/// The variable of the environment that holds a setting.
fn variable(command: &str, name: &str) -> String {
    format!("WONBON_{command}_{name}").to_uppercase().replace('-', "_")
}

impl Settings {
    /// Reads the file that the environment names, or the one of the working directory.
    pub(crate) fn read() -> anyhow::Result<Settings> {
        let named = std::env::var_os(FILE_VARIABLE).filter(|name| !name.is_empty());
        let path = named.as_ref().map_or_else(|| PathBuf::from(FILE), PathBuf::from);
        match std::fs::read_to_string(&path) {
            Ok(text) => Settings::parse(&text, path),
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
                Ok(Settings::default())
            }
            Err(error) => Err(error)
                .with_context(|| format!("could not read the settings in {}", path.display())),
        }
    }

    fn parse(text: &str, path: PathBuf) -> anyhow::Result<Settings> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            anyhow::anyhow!("{}, line {line}: {}", path.display(), error.message())
        })?;
        let mut settings = Settings { path: Some(path), ..Settings::default() };
        for (name, value) in table {
            let Value::Table(section) = value else {
                let values = settings.values(&name, &value)?;
                settings.for_all.insert(name, values);
                continue;
            };
            let mut read = BTreeMap::new();
            for (key, value) in section {
                let values = settings.values(&format!("[{name}] {key}"), &value)?;
                read.insert(key, values);
            }
            settings.by_command.insert(name, read);
        }
        Ok(settings)
    }

    fn values(&self, name: &str, value: &Value) -> anyhow::Result<Values> {
        let one = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Integer(number) => Ok(number.to_string()),
            Value::Float(number) => Ok(number.to_string()),
            Value::Boolean(is) => Ok(is.to_string()),
            Value::Datetime(time) => Ok(time.to_string()),
            Value::Array(_) | Value::Table(_) => {
                bail!("{}: `{name}` is neither a value nor a list of values", self.file())
            }
        };
        match value {
            Value::Array(several) => several.iter().map(one).collect(),
            single => Ok(vec![one(single)?]),
        }
    }

    fn file(&self) -> std::path::Display<'_> {
        self.path.as_deref().unwrap_or(Path::new(FILE)).display()
    }

    /// Whether the file has a setting of a command.
    pub(crate) fn has(&self, command: &str, name: &str) -> bool {
        self.values_of(command, name).is_some()
    }

    /// Whether the file has a setting in the section of a command.
    pub(crate) fn is_of_command(&self, command: &str, name: &str) -> bool {
        self.by_command.get(command).is_some_and(|section| section.contains_key(name))
    }

    fn values_of(&self, command: &str, name: &str) -> Option<&Values> {
        let own = self.by_command.get(command).and_then(|section| section.get(name));
        let for_all = || FOR_ALL.contains(&name).then(|| self.for_all.get(name)).flatten();
        own.or_else(for_all)
    }

    /// The command line with the settings of file and environment behind the flags.
    pub(crate) fn apply(&self, mut cli: Command) -> anyhow::Result<Command> {
        self.check_names(&cli)?;
        for row in TABLE {
            let Some(command) = cli.find_subcommand(row.name) else { continue };
            let changed: Vec<Arg> =
                settings_of(command).map(|arg| self.with_settings(command, arg)).collect();
            cli = cli.mut_subcommand(row.name, |mut command| {
                for arg in changed {
                    command = command.mut_arg(arg.get_id().clone(), |_| arg);
                }
                command
            });
        }
        self.check_values(&cli)?;
        Ok(cli)
    }

    fn with_settings(&self, command: &Command, arg: &Arg) -> Arg {
        let name = arg.get_long().unwrap_or_default();
        let mut arg = arg.clone();
        if arg.get_env().is_none() {
            arg = arg.env(variable(command.get_name(), name)).hide_env(true);
        }
        let Some(values) = self.values_of(command.get_name(), name) else { return arg };
        // A flag that cannot stand beside this one takes the file's word away.
        for other in command.get_arguments() {
            let excludes =
                command.get_arg_conflicts_with(other).iter().any(|a| a.get_id() == arg.get_id())
                    || command
                        .get_arg_conflicts_with(&arg)
                        .iter()
                        .any(|a| a.get_id() == other.get_id());
            if excludes && !matches!(arg.get_action(), ArgAction::SetTrue) {
                let other = other.get_id().clone();
                arg = arg.default_value_if(other, ArgPredicate::IsPresent, None::<&'static str>);
            }
        }
        arg.default_values(values.clone())
    }

    /// Every name in the file is a setting, or the file is refused: a misspelt one would be believed.
    fn check_names(&self, cli: &Command) -> anyhow::Result<()> {
        let unknown = |what: String, known: &mut dyn Iterator<Item = &str>, name: &str| {
            let likely = known
                .map(|known| (strsim::jaro(known, name), known))
                .filter(|(alike, _)| *alike > 0.7)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let likely = likely
                .map_or_else(String::new, |(_, likely)| format!("; did you mean `{likely}`?"));
            anyhow::anyhow!("{}: {what}{likely}", self.file())
        };
        for name in self.for_all.keys() {
            if !FOR_ALL.contains(&name.as_str()) {
                let what = format!("`{name}` is no setting for all commands");
                return Err(unknown(what, &mut FOR_ALL.into_iter(), name));
            }
        }
        for (section, entries) in &self.by_command {
            let Some(command) = cli.find_subcommand(section) else {
                let what = format!("[{section}] is no command");
                return Err(unknown(what, &mut TABLE.iter().map(|row| row.name), section));
            };
            for name in entries.keys() {
                let mut known = settings_of(command).filter_map(Arg::get_long);
                if !known.any(|known| known == name) {
                    let what = format!("[{section}] has no setting `{name}`");
                    let mut known = settings_of(command).filter_map(Arg::get_long);
                    return Err(unknown(what, &mut known, name));
                }
            }
        }
        Ok(())
    }

    /// Every value is one that the flag would take.
    fn check_values(&self, cli: &Command) -> anyhow::Result<()> {
        use clap::error::ErrorKind::{
            InvalidUtf8, InvalidValue, ValueValidation, WrongNumberOfValues,
        };

        for command in cli.get_subcommands() {
            for arg in settings_of(command) {
                let name = arg.get_long().unwrap_or_default();
                let Some(values) = self.values_of(command.get_name(), name) else { continue };
                let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
                ensure!(
                    values.len() == 1 || matches!(arg.get_action(), ArgAction::Append),
                    "{}: `{name}` takes one value",
                    self.file()
                );
                for value in values {
                    if is_switch {
                        ensure!(
                            ["true", "false"].contains(&value.as_str()),
                            "{}: `{name}` is true or false, not `{value}`",
                            self.file()
                        );
                        continue;
                    }
                    let flag = format!("--{name}={value}");
                    let given = ["wonbon", command.get_name(), &flag];
                    let Err(error) = cli.clone().try_get_matches_from(given) else { continue };
                    if matches!(
                        error.kind(),
                        InvalidValue | ValueValidation | WrongNumberOfValues | InvalidUtf8
                    ) {
                        let text = error.render().to_string();
                        let sentence = text.lines().next().unwrap_or_default();
                        bail!("{}: {}", self.file(), sentence.trim_start_matches("error: "));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command_line;

    fn settings(text: &str) -> anyhow::Result<Settings> {
        Settings::parse(text, PathBuf::from("wonbon.toml"))
    }

    fn refusal(text: &str) -> String {
        match settings(text).and_then(|settings| settings.apply(command_line())) {
            Ok(_) => panic!("{text} was taken"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_wrong_file_is_named_with_what_is_wrong() {
        for (text, said) in [
            (
                "stroe = 'x'",
                "wonbon.toml: `stroe` is no setting for all commands; did you mean `store`?",
            ),
            ("[serv]\nrate = 5", "wonbon.toml: [serv] is no command; did you mean `serve`?"),
            (
                "[serve]\nrtae = 5",
                "wonbon.toml: [serve] has no setting `rtae`; did you mean `rate`?",
            ),
            (
                "[serve]\nrate = 'x'",
                "wonbon.toml: invalid value 'x' for '--rate <N>': write a number above 0",
            ),
            ("[dedup]\nstrict = 3", "wonbon.toml: `strict` is true or false, not `3`"),
            ("[dedup]\nrule = ['a', 'b']", "wonbon.toml: `rule` takes one value"),
            ("[delete]\nkey = 'x'", "wonbon.toml: [delete] has no setting `key`"),
        ] {
            assert_eq!(refusal(text), said);
        }
        assert!(refusal("[serve]\nrate = =").starts_with("wonbon.toml, line 2: "));
    }

    #[test]
    fn a_flag_that_excludes_another_excludes_it_from_the_file() {
        let settings = settings("[dedup]\nthreshold = 0.9").unwrap();
        let cli = settings.apply(command_line()).unwrap();
        let threshold = |flags: &[&str]| {
            let given = [&["wonbon", "dedup", "in", "-o", "out"], flags].concat();
            let matches = cli.clone().try_get_matches_from(given).unwrap();
            matches.subcommand().unwrap().1.get_one::<f64>("threshold").copied()
        };
        assert_eq!(threshold(&[]), Some(0.9));
        assert_eq!(threshold(&["--threshold", "0.7"]), Some(0.7));
        assert_eq!(threshold(&["--rule", "2of6"]), None);
    }
}
