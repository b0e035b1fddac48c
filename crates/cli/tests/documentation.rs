//! The documentation is true: its commands run and print what they say, its links lead somewhere, and
//! every page stands in the table of contents.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stdout, reason = "what was skipped is told")]

mod support;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::Files;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn root() -> PathBuf {
    Path::new(ROOT).canonicalize().unwrap()
}

/// The Markdown files of the checkout.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if !name.starts_with('.') && !name.starts_with("target") {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// One command of a page and what it prints there.
#[derive(Debug)]
struct Step {
    command: String,
    prints: Vec<String>,
}

/// The commands of the blocks marked `console`: lines after `$ `, continued by lines after `> `.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            steps.push(Step { command: command.to_owned(), prints: Vec::new() });
        } else if inside {
            let step = steps.last_mut().expect("a block begins with a command");
            match line.strip_prefix("> ") {
                Some(more) if step.prints.is_empty() => step.command += &format!("\n{more}"),
                _ => step.prints.push(line.to_owned()),
            }
        }
    }
    steps
}

/// Whether a line is as the page has it; `…` stands for anything.
fn line_fits(pattern: &str, line: &str) -> bool {
    let mut pieces = pattern.trim_end().split('…');
    let mut rest = line.trim_end();
    let Some(first) = pieces.next() else { return rest.is_empty() };
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

/// Whether lines are as the page has them; a line `…` stands for any number of lines.
fn fits(patterns: &[String], lines: &[&str]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((pattern, rest)) if pattern == "…" => {
            (0..=lines.len()).any(|at| fits(rest, &lines[at..]))
        }
        Some((pattern, rest)) => {
            lines.first().is_some_and(|line| line_fits(pattern, line)) && fits(rest, &lines[1..])
        }
    }
}

#[test]
fn dots_stand_for_what_differs() {
    assert!(line_fits("a … of …", "a lot of things"));
    assert!(line_fits("in … s", "in 0.1 s"));
    assert!(!line_fits("a … of b", "a lot of things"));
    let page = ["first".to_owned(), "…".to_owned(), "last".to_owned()];
    assert!(fits(&page, &["first", "x", "y", "last"]));
    assert!(!fits(&page, &["first", "x"]));
}

/// Whether the programs a page needs are there; where tools are promised, they have to be.
fn has(programs: &[&str]) -> bool {
    let found = |program: &&&str| {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
        std::env::split_paths(&paths).chain(more).any(|folder| folder.join(program).is_file())
    };
    let missing: Vec<&&str> = programs.iter().filter(|program| !found(program)).collect();
    if missing.is_empty() {
        return true;
    }
    assert!(
        std::env::var_os("WONBON_TOOLS").is_none(),
        "{missing:?} are missing; scripts/tools.sh"
    );
    println!("skipped: {missing:?} are not installed");
    false
}

/// A port that nobody listens on now.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Runs the commands of a page one after the other in one shell and compares what they print. Ports that
/// the page names become free ones.
fn run(page: &str) {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let ports: Vec<(String, u16)> =
        ["7600", "8000", "8080"].map(|named| (named.to_owned(), free_port())).to_vec();
    let moved = |text: &str| {
        ports.iter().fold(text.to_owned(), |text, (named, port)| {
            text.replace(&format!(":{named}"), &format!(":{port}"))
                .replace(&format!("http.server {named}"), &format!("http.server {port}"))
        })
    };
    let steps = steps(&text);
    assert!(!steps.is_empty(), "{page} has no commands");
    // Programs in the background end with the shell.
    let mut script = String::from("exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
    for (at, step) in steps.iter().enumerate() {
        script += &format!("echo '@@@ {at}'\n{}\n", moved(&step.command));
    }
    let files = Files::new();
    let program = Path::new(env!("CARGO_BIN_EXE_wonbon")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(files.path())
        .env("PATH", format!("{}:{path}:/usr/sbin:/sbin", program.display()))
        .env("NO_COLOR", "1")
        .env("WONBON_SERVE_LISTEN", format!("127.0.0.1:{}", ports[0].1))
        .env_remove("WONBON_STORE")
        .env_remove("WONBON_LOG")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    for (at, step) in steps.iter().enumerate() {
        let begin = format!("@@@ {at}\n");
        let after = printed.split_once(&begin).unwrap_or_else(|| {
            panic!("{page}: `{}` was not reached; all output:\n{printed}", step.command)
        });
        let part = after.1.split("@@@ ").next().unwrap();
        let lines: Vec<&str> = part.lines().collect();
        let patterns: Vec<String> = step.prints.iter().map(|line| moved(line)).collect();
        assert!(
            fits(&patterns, &lines),
            "{page}: $ {}\n--- the page says\n{}\n--- it printed\n{part}",
            step.command,
            patterns.join("\n")
        );
    }
}

#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    run("README.md");
    run("README.ko.md");
}

#[test]
fn the_first_store_is_made_as_the_guide_says() {
    run("docs/start/first-store.md");
    run("docs/ko/start/first-store.md");
}

#[test]
fn a_corpus_is_cleaned_as_the_guide_says() {
    run("docs/start/clean-a-corpus.md");
    run("docs/ko/start/clean-a-corpus.md");
}

#[test]
fn copies_are_found_as_the_guide_says() {
    run("docs/start/who-copied-me.md");
    run("docs/ko/start/who-copied-me.md");
}

#[test]
fn a_site_is_crawled_as_the_guide_says() {
    if has(&["python3", "curl"]) {
        run("docs/start/crawl-a-site.md");
        run("docs/ko/start/crawl-a-site.md");
    }
}

#[test]
fn the_service_runs_behind_a_proxy_as_the_guide_says() {
    if has(&["curl", "nginx"]) {
        run("docs/start/behind-a-proxy.md");
        run("docs/ko/start/behind-a-proxy.md");
    }
}

/// The anchors of the headings of a page, as Markdown renderers make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        if line.starts_with("```") {
            inside = !inside;
        }
        let Some(heading) = line.strip_prefix('#').filter(|_| !inside) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    anchors
}

/// The targets of the links of a page, outside of code.
fn links(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut links = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        }
        if inside {
            continue;
        }
        // What stands between back quotes is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        for piece in prose.split("](").skip(1) {
            if let Some((target, _)) = piece.split_once(')') {
                links.push(target.to_owned());
            }
        }
    }
    links
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let leads = target.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&target).unwrap_or_default())
                        .contains(anchor));
            if !leads {
                wrong.push(format!("{}: {link}", page.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(checked > 100, "{checked}");
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn the_table_of_contents_has_every_page() {
    let docs = root().join("docs");
    let contents = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> =
        links(&contents).into_iter().map(|link| docs.join(link)).collect();
    let unlisted: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.starts_with(&docs) && !page.ends_with("SUMMARY.md"))
        .filter(|page| !listed.contains(page))
        .collect();
    assert!(unlisted.is_empty(), "docs/SUMMARY.md lacks {unlisted:?}");
}

#[test]
fn the_readme_is_short() {
    for name in ["README.md", "README.ko.md"] {
        let lines = std::fs::read_to_string(root().join(name)).unwrap().lines().count();
        assert!(lines <= 80, "{name} has {lines} lines");
    }
}

/// All the program's sources in one text, without line breaks inside of literals.
fn sources() -> String {
    let mut all = String::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("tests") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let joined = all.split('\\').map(str::trim_start).collect::<Vec<_>>();
    joined.join("")
}

#[test]
fn every_message_of_the_troubleshooting_page_is_one_of_the_program() {
    let page = std::fs::read_to_string(root().join("docs/how-to/troubleshooting.md")).unwrap();
    let sources = sources();
    let messages: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(messages.len() > 12, "{messages:?}");
    for message in messages {
        let names = ["…", "DIR", "OUT.partial", "OUT", "wonbon.toml:"];
        let parts = names.iter().fold(vec![message], |parts, name| {
            parts.into_iter().flat_map(|part| part.split(name)).collect()
        });
        for part in parts.iter().map(|part| part.trim()).filter(|part| part.len() > 4) {
            assert!(sources.contains(part), "no error says `{part}`");
        }
    }
}
