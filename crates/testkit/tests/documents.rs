//! The Markdown pages of the repository: relative links lead somewhere.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::{Path, PathBuf};

fn pages(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !name.starts_with('.') && !name.starts_with("target") {
                pages(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

#[test]
fn relative_links_in_the_pages_lead_somewhere() {
    let top = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut found = Vec::new();
    pages(top, &mut found);
    assert!(found.len() >= 4, "too few pages: {found:?}");
    let mut checked = 0;
    for page in &found {
        let text = std::fs::read_to_string(page).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#', ' ']).next().unwrap();
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let path = page.parent().unwrap().join(target);
            assert!(path.exists(), "{} links to {target}, which is not there", page.display());
            checked += 1;
        }
    }
    assert!(checked >= 5, "only {checked} links found");
}
