//! ARCHITECTURE.md tells the truth: its crate map is the workspace's, its journeys name functions that
//! exist.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The part of ARCHITECTURE.md under a heading.
fn section(heading: &str) -> String {
    let page = std::fs::read_to_string(top().join("ARCHITECTURE.md")).unwrap();
    let from = page.split(&format!("\n## {heading}\n")).nth(1);
    let from = from.unwrap_or_else(|| panic!("ARCHITECTURE.md has no section {heading:?}"));
    from.split("\n## ").next().unwrap().to_owned()
}

/// Folder of each crate, in the order of the map, and what it uses.
fn crate_map() -> Vec<(String, BTreeSet<String>)> {
    let mut map = Vec::new();
    for line in section("Crates").lines().filter(|line| line.starts_with("| [")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [folder, _, uses] = cells[..] else { panic!("three columns, not {line:?}") };
        let folder = folder.trim_start_matches('[').split(']').next().unwrap().to_owned();
        let uses = uses.split(',').map(|name| name.trim().to_owned());
        map.push((folder, uses.filter(|name| name != "–").collect()));
    }
    map
}

/// Folder of each crate and the folders of the crates that it uses outside of tests.
fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(top())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut crates = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let folder = |name: &str| name.strip_prefix("wonbon-").map(str::to_owned);
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let uses = dependencies
            .filter(|dependency| dependency["kind"].is_null())
            .filter_map(|dependency| folder(dependency["name"].as_str().unwrap()))
            .collect();
        crates.insert(folder(package["name"].as_str().unwrap()).unwrap(), uses);
    }
    crates
}

#[test]
fn the_crate_map_is_the_workspace() {
    let map = crate_map();
    let told: BTreeMap<_, _> = map.iter().cloned().collect();
    assert_eq!(told.len(), map.len(), "a crate stands in the map twice");
    for (folder, uses) in workspace() {
        assert_eq!(told.get(&folder), Some(&uses), "the row of {folder}");
    }
    assert_eq!(told.len(), workspace().len());
}

#[test]
fn a_crate_uses_only_crates_that_stand_before_it_in_the_map() {
    let mut before = BTreeSet::new();
    for (folder, uses) in crate_map() {
        let later: Vec<_> = uses.difference(&before).collect();
        assert!(later.is_empty(), "{folder} uses {later:?}, which come after it");
        before.insert(folder);
    }
}

#[test]
fn the_functions_of_the_journeys_exist() {
    let mut steps = 0;
    for line in section("Journeys").lines() {
        // A step looks like: 1. [`function`](crates/app/src/intake.rs): what it does
        let Some((_, step)) = line.split_once(". [`") else { continue };
        let (function, rest) = step.split_once("`](").unwrap_or_else(|| panic!("{line:?}"));
        let file = rest.split(')').next().unwrap();
        let source = std::fs::read_to_string(top().join(file));
        let source = source.unwrap_or_else(|error| panic!("{file}: {error}"));
        let name = function.rsplit("::").next().unwrap();
        let declared = ["(", "<"].iter().any(|after| source.contains(&format!("fn {name}{after}")));
        assert!(declared, "{file} has no function {name}");
        steps += 1;
    }
    assert!(steps >= 15, "{steps} steps are three short journeys");
}

/// Calls `each` with every Rust file below a folder.
fn for_each_source(folder: &Path, each: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            for_each_source(&path, each);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            each(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn only_the_crate_files_renames() {
    let mut found = Vec::new();
    for (folder, _) in crate_map().iter().filter(|(folder, _)| folder != "files") {
        let sources = top().join("crates").join(folder).join("src");
        for_each_source(&sources, &mut |path, source| {
            // Plays back what a process wrote up to a power cut, renames included.
            if path.ends_with("testkit/src/disk/mod.rs") {
                return;
            }
            if ["fs::rename(", ".persist(", ".persist_noclobber("]
                .iter()
                .any(|call| source.contains(call))
            {
                found.push(path.to_owned());
            }
        });
    }
    assert!(found.is_empty(), "a rename is durable only by wonbon-files: {found:?}");
}

#[test]
fn every_link_to_a_file_leads_somewhere() {
    for page in ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(top().join(page)).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let path = link.split('#').next().unwrap();
            if !path.is_empty() && !path.contains("://") {
                assert!(top().join(path).exists(), "{page} links to {link}");
            }
        }
    }
}
