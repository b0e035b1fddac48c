//! `wonbon get`: a stored document.

use std::path::Path;

use wonbon_app::{answers, questions};

use super::{open_to_read, told};
use crate::Outcome;
use crate::output::Output;

/// Print a stored document: its text, or with --json everything that is known of it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The document's key: its id or URL.
    #[arg(value_name = "KEY")]
    key: String,
    /// Print the document and its verdict as one line of JSON.
    #[arg(long)]
    json: bool,
    /// Print its whole family instead, the original first: one line each, or JSON lines.
    #[arg(long)]
    family: bool,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let mut output = Output::new();
    if args.family {
        let family = store.family(&args.key)?;
        anyhow::ensure!(!family.is_empty(), "there is no document `{}`", args.key);
        for document in &family {
            if args.json {
                output.json_line(&answers::Document::of(document))?;
                continue;
            }
            let resemblance = document
                .verdict
                .resemblance
                .map_or_else(String::new, |resemblance| format!("  {resemblance:.3}"));
            let published = document
                .published
                .map_or_else(String::new, |published| format!("  claims {published}"));
            let decision = document
                .decision
                .map_or_else(String::new, |decision| format!("  decided: {}", decision.name()));
            let line = format!(
                "{:<13} {}  {}{resemblance}{published}{decision}\n",
                document.verdict.kind.name(),
                document.created,
                document.key
            );
            output.bytes(line.as_bytes())?;
        }
        output.finish()?;
        return Ok(Outcome::Done);
    }
    let document = questions::document(&store, &args.key).map_err(told)?;
    if args.json {
        output.json_line(&answers::Document::of(&document))?;
    } else {
        output.bytes(document.text.as_bytes())?;
        output.bytes(b"\n")?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}
