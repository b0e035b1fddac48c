//! The command line as a newcomer meets it: overview, headings, examples, suggestions, settings.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::{Files, command, json_lines, stderr, stdout, wonbon};

/// Runs a line of a shell in a folder, with the program on the path.
fn shell(line: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_wonbon")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(program.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    Command::new("bash")
        .args(["-o", "pipefail", "-c", line])
        .current_dir(folder)
        .env("PATH", path.unwrap())
        .env_remove("WONBON_STORE")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The commands and what `--help` shows of each before the flags.
fn commands() -> Vec<String> {
    let help = wonbon(&["--help"]);
    let listed = stdout(&help).split("Options:").next().unwrap().to_owned();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  "));
    names.filter(|line| !line.starts_with(' ')).map(first_word).collect()
}

fn first_word(line: &str) -> String {
    line.split_whitespace().next().unwrap().to_owned()
}

/// The examples at the start of a command's help.
fn examples(name: &str) -> Vec<String> {
    let help = wonbon(&[name, "--help"]);
    let mut parts = stdout(&help).split("\n\n").skip(1);
    let examples = parts.next().unwrap();
    assert!(examples.starts_with("  wonbon "), "{name} begins without an example");
    examples.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn without_arguments_ten_lines_say_what_there_is() {
    let output = wonbon(&[]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn a_misspelt_word_is_answered_with_the_right_one() {
    for (given, meant) in [
        (["dedpu", "x"], "dedup"),
        (["serach", "x"], "search"),
        (["dedup", "--treshold"], "--threshold"),
        (["join", "--measure=jacard"], "jaccard"),
    ] {
        let output = wonbon(&given);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(said.contains(&format!("did you mean `{meant}`?")), "{given:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn only_commands_on_a_store_take_one() {
    let output = wonbon(&["dedup", "--store", "s", "in", "-o", "out"]);
    assert!(stderr(&output).starts_with("error: unexpected argument '--store' found"));
    let output = wonbon(&["--store", "s", "dedup", "in", "-o", "out"]);
    assert!(stderr(&output).contains("`wonbon dedup` works on no store"), "{}", stderr(&output));
    let files = Files::new();
    let store = files.path().join("s");
    let store = store.to_str().unwrap();
    assert_eq!(wonbon(&["--store", store, "init"]).status.code(), Some(0));
    assert_eq!(wonbon(&["status", "--store", store]).status.code(), Some(0));
}

#[test]
fn every_example_of_the_help_works() {
    let files = Files::new();
    for line in ["wonbon demo --save .", "wonbon add posts.jsonl"] {
        let output = shell(line, files.path());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let mut ran = 0;
    for name in commands() {
        for example in examples(&name) {
            // Asked of a server, or running until it is ended: only the flags are checked here.
            let line = if example.contains("https://") || example == "wonbon serve" {
                example.replacen("wonbon ", "wonbon config ", 1)
            } else {
                example.clone()
            };
            // Written by the first two lines already.
            if example.contains("--save") {
                continue;
            }
            let output = shell(&line, files.path());
            let code = output.status.code();
            assert!(code.is_some_and(|code| code < 2), "{line}: {}", stderr(&output));
            ran += 1;
        }
    }
    assert!(ran > 35, "{ran}");
}

/// The value of a setting and where it comes from.
fn setting(name: &str, run: &mut Command) -> (String, String) {
    let output = run.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = json_lines(stdout(&output)).into_iter().find(|line| line["setting"] == name);
    let found = found.unwrap_or_else(|| panic!("{name} is not among the settings"));
    let text = |field: &str| found[field].as_str().unwrap_or("none").to_owned();
    (text("value"), text("from"))
}

#[test]
fn a_flag_wins_over_the_environment_and_the_environment_over_the_file() {
    let files = Files::new();
    let config = |flags: &[&str]| {
        let mut config = command(&[&["config", "--json", "serve"], flags].concat());
        config.current_dir(files.path());
        config
    };
    let rate = "serve.rate";
    assert_eq!(setting(rate, &mut config(&[])), ("none".into(), "default".into()));
    files.write("wonbon.toml", "store = 'of-the-file'\n[serve]\nrate = 5\n");
    assert_eq!(setting(rate, &mut config(&[])), ("5".into(), "wonbon.toml".into()));
    let of_environment = ("6".into(), "environment (WONBON_SERVE_RATE)".into());
    assert_eq!(setting(rate, config(&[]).env("WONBON_SERVE_RATE", "6")), of_environment);
    let flagged = setting(rate, config(&["--rate", "7"]).env("WONBON_SERVE_RATE", "6"));
    assert_eq!(flagged, ("7".into(), "flag".into()));
    assert_eq!(setting("serve.store", &mut config(&[])).0, "of-the-file");
    // What is printed is what is done.
    let made = command(&["init"]).current_dir(files.path()).output().unwrap();
    assert_eq!(made.status.code(), Some(0));
    assert!(files.path().join("of-the-file").is_dir());
}

#[test]
fn a_settings_file_that_is_wrong_or_missing_is_named() {
    let files = Files::new();
    let path = files.write("other.toml", "[serve]\nlisten = 'nowhere'\n");
    let output = command(&["status"]).env("WONBON_CONFIG", &path).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = format!("error: {path}: invalid value 'nowhere' for '--listen <ADDRESS>'");
    assert!(stderr(&output).starts_with(&said), "{}", stderr(&output));
    let output = command(&["status"]).env("WONBON_CONFIG", "not-there.toml").output().unwrap();
    assert!(stderr(&output).starts_with("error: could not read the settings in not-there.toml"));
}

#[test]
fn the_sample_file_holds_the_defaults() {
    let sample = wonbon(&["config", "--sample"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/wonbon.toml");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(committed, stdout(&sample)).unwrap();
    }
    assert_eq!(std::fs::read_to_string(committed).unwrap(), stdout(&sample));
    let files = Files::new();
    let values = |text: &str| -> Vec<(String, String)> {
        files.write("wonbon.toml", text);
        let output = command(&["config", "--json"]).current_dir(files.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let lines = json_lines(stdout(&output));
        lines.iter().map(|line| (line["setting"].to_string(), line["value"].to_string())).collect()
    };
    // `#name = value` is a default; a sentence has a space after its `#`.
    let uncommented: String = stdout(&sample)
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert!(uncommented.lines().filter(|line| !line.starts_with('#')).count() > 40);
    assert_eq!(values(&uncommented), values(""));
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let names = commands();
    assert!(names.len() > 35, "{names:?}");
    for shell in ["bash", "zsh", "fish"] {
        let output = wonbon(&["completions", shell]);
        assert!(names.iter().all(|name| stdout(&output).contains(name.as_str())), "{shell}");
    }
    let files = Files::new();
    let folder = files.path().join("man");
    assert_eq!(wonbon(&["man", "-o", folder.to_str().unwrap()]).status.code(), Some(0));
    for name in names {
        let page = std::fs::read_to_string(folder.join(format!("wonbon-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains("\\fBwonbon"), "{name}");
    }
    assert!(folder.join("wonbon.1").is_file());
}

#[test]
fn a_bash_completes_commands_and_flags() {
    let files = Files::new();
    let ask = |words: &str, last: usize| {
        let line = format!(
            "source <(wonbon completions bash); COMP_WORDS=({words}); COMP_CWORD={last}; \
             _wonbon wonbon \"${{COMP_WORDS[{last}]}}\" ''; echo \"${{COMPREPLY[@]}}\""
        );
        String::from_utf8(shell(&line, files.path()).stdout).unwrap()
    };
    assert_eq!(ask("wonbon ded", 1).trim(), "dedup");
    assert_eq!(ask("wonbon dedup --thresh", 2).trim(), "--threshold");
}

/// `wonbon sketch` of a file on a terminal of its own, by util-linux's script.
fn sketch_on_a_terminal(file: &str) -> std::process::Child {
    let line = format!("{} sketch {file} >/dev/null", env!("CARGO_BIN_EXE_wonbon"));
    let mut child = Command::new("script");
    child.args(["-qefc", &line, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

const ROW: &str = "{\"id\":\"a\",\"text\":\"one two three four five six\"}\n";

#[test]
fn a_bar_with_rate_and_memory_appears_on_a_terminal_once_work_takes_long() {
    let mut child = sketch_on_a_terminal("-");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(ROW.as_bytes()).unwrap();
    // The input does not end, so the bar comes.
    let mut screen = String::new();
    let mut bytes = std::io::BufReader::new(child.stdout.take().unwrap()).bytes();
    while !screen.contains("at most") || !screen.contains("/s") {
        screen.push(char::from(bytes.next().expect("a bar is drawn before the end").unwrap()));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn short_work_and_work_without_a_terminal_draw_nothing() {
    let files = Files::new();
    let mut child = sketch_on_a_terminal(&files.write("rows.jsonl", ROW));
    let mut screen = String::new();
    child.stdout.take().unwrap().read_to_string(&mut screen).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!screen.contains("at most"), "{screen}");
    let output = support::wonbon_reading(&["sketch", "-"], ROW.as_bytes());
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_password_in_an_address_is_never_printed() {
    let files = Files::new();
    let address = "postgres://me:hidden@127.0.0.1:1/db?sslmode=disable";
    files.write("wonbon.toml", format!("store = '{address}'\n[serve]\ntokens = '{address}'\n"));
    let in_folder =
        |arguments: &[&str]| command(arguments).current_dir(files.path()).output().unwrap();
    let of_flag = in_folder(&["config", "serve", "--store", address]);
    assert!(stdout(&of_flag).contains("postgres://me@127.0.0.1:1/db"), "{of_flag:?}");
    let all = [
        of_flag,
        in_folder(&["config"]),
        in_folder(&["config", "--json", "serve"]),
        in_folder(&["status"]),
        in_folder(&["status", "--json"]),
        in_folder(&["serve"]),
        in_folder(&["add", "wonbon.toml"]),
        in_folder(&["token", "list", "--tokens", address]),
        in_folder(&["copy", address, "elsewhere"]),
        in_folder(&["restore", "backup", "--store", address]),
        in_folder(&["status", "--store", "postgres://me:hidden@host/db?sslmode=perhaps"]),
        in_folder(&["status", "--store", "postgres://me:hidden@host:port/db"]),
    ];
    for output in all {
        let told = format!("{}{}", stdout(&output), stderr(&output));
        assert!(!told.is_empty() && !told.contains("hidden"), "{told}");
    }
    assert!(!files.path().join("elsewhere").exists());
}
