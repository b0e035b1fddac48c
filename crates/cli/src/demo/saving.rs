//! The posts as files, so that every example of the help and of the guide has something to work on.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use wonbon_text::decode::{decode, looks_like_html};

use super::sample::Post;
use crate::output::write_file;
use crate::report;
use crate::wording::counted;

/// Posts that are written on their own too.
const SINGLE: [(&str, &str); 4] = [
    ("post.txt", "mend/1"),
    ("scrap.txt", "linkbox/3"),
    ("quotation.txt", "proverb/1"),
    ("page.html", "attic/1"),
];

const ROWS: &str = "posts.jsonl";

/// One post as a row: what `wonbon add` and `wonbon dedup` read.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    created: &'a str,
    title: Option<&'a str>,
    site: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<&'a str>,
}

/// Writes the posts to a folder: all of them as JSON lines, a few on their own.
pub(super) fn save(posts: &[Post], folder: &Path) -> anyhow::Result<()> {
    for name in std::iter::once(ROWS).chain(SINGLE.map(|(name, _)| name)) {
        let path = folder.join(name);
        anyhow::ensure!(
            !path.exists(),
            "{} is there already; nothing is overwritten",
            path.display()
        );
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("could not make the folder {}", folder.display()))?;
    let mut rows = Vec::new();
    for post in posts {
        let decoded = decode(&post.bytes, post.charset.as_deref());
        let text: &str = &decoded.text;
        let is_page = looks_like_html(text);
        let row = Row {
            id: &post.id,
            created: &post.created,
            title: post.title.as_deref(),
            site: post.blog(),
            text: (!is_page).then_some(text),
            html: is_page.then_some(text),
        };
        serde_json::to_writer(&mut rows, &row).context("writing a post as a row")?;
        rows.push(b'\n');
        for (name, _) in SINGLE.iter().filter(|(_, id)| *id == post.id) {
            write_file(&folder.join(name), &post.bytes)?;
        }
    }
    write_file(&folder.join(ROWS), &rows)?;
    let names: Vec<&str> = SINGLE.iter().map(|(name, _)| *name).collect();
    report::note(&format!(
        "wrote {} to {} and single ones to {}",
        counted(posts.len() as u64, "post", "posts"),
        folder.join(ROWS).display(),
        names.join(", ")
    ));
    Ok(())
}
