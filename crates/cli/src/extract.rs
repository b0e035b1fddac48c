//! `wonbon extract`: what the text crate sees in a page.

use std::path::PathBuf;

use serde::Serialize;
use wonbon_documents::{FileDocument, read_formatted_file};
use wonbon_text::extract::{Formats, Formatted};

use crate::output::Output;
use crate::{Outcome, report};

/// Print the core text of pages: without menus, sidebars, ads, footers and comment forms.
///
/// Files may be HTML or plain text, in any character set (a byte order mark, then what the page
/// declares, then detection), plain or compressed with gzip or zstd. Plain text passes through
/// untouched. A file that cannot be read is named on standard error, the others are still printed,
/// and the exit code is 1 (2 if none could be read).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pages to read; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print Markdown: headings, lists, tables, links and code, as language models read them.
    #[arg(long)]
    markdown: bool,
    /// Print HTML with nothing but the same structure.
    #[arg(long)]
    html: bool,
    /// One line of JSON a page: file, title, language, published, canonical, charset, text, links,
    /// and with `--markdown` and `--html` these too.
    #[arg(long)]
    json: bool,
}

/// What is printed of a page with `--json`.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    title: Option<&'a str>,
    language: Option<&'a str>,
    published: Option<&'a str>,
    canonical: Option<&'a str>,
    charset: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<&'a str>,
    links: Vec<LinkLine<'a>>,
}

#[derive(Serialize)]
struct LinkLine<'a> {
    url: &'a str,
    text: &'a str,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        args.json || !(args.markdown && args.html),
        "one page cannot be printed as Markdown and as HTML: choose one, or --json for both"
    );
    let formats = Formats { markdown: args.markdown, html: args.html };
    let mut output = Output::new();
    let mut refused = 0;
    for (index, path) in args.files.iter().enumerate() {
        let (document, formatted) = match read_formatted_file(path, formats) {
            Ok(read) => read,
            Err(error) if args.files.len() == 1 => return Err(error.into()),
            Err(error) => {
                refused += 1;
                report::refused(&error.into());
                continue;
            }
        };
        if args.json {
            output.json_line(&line(&document, &formatted))?;
        } else {
            if args.files.len() > 1 {
                let gap = if index == 0 { "" } else { "\n" };
                output.bytes(format!("{gap}==> {} <==\n", document.name).as_bytes())?;
            }
            let text = formatted.markdown.as_ref().or(formatted.html.as_ref());
            let text = text.unwrap_or(&document.core.page.text);
            output.bytes(text.as_bytes())?;
            if document.core.is_html && !text.ends_with('\n') {
                output.bytes(b"\n")?;
            }
        }
    }
    output.finish()?;
    anyhow::ensure!(refused < args.files.len(), "none of the files could be read");
    Ok(if refused == 0 { Outcome::Done } else { Outcome::Refused })
}

fn line<'a>(document: &'a FileDocument, formatted: &'a Formatted) -> Line<'a> {
    let page = &document.core.page;
    Line {
        file: &document.name,
        title: page.title.as_deref(),
        language: page.language.as_deref(),
        published: page.published.as_deref(),
        canonical: page.canonical.as_deref(),
        charset: document.core.charset,
        text: &page.text,
        markdown: formatted.markdown.as_deref(),
        html: formatted.html.as_deref(),
        links: page
            .links
            .iter()
            .map(|link| LinkLine { url: &link.url, text: &link.text })
            .collect(),
    }
}
