//! `wonbon verify`: whether everything in a store agrees.

use std::io::Write;
use std::path::Path;

use super::{explained, open_to_read};
use crate::output::Output;
use crate::wording::counted;
use crate::{Outcome, report};

/// Compare database, index and search with each other and with the texts.
///
/// Nothing stored is trusted: rows and texts are compared with their checksums, features are computed
/// again, every family is decided again, and the indexes are compared with the originals. Takes about
/// as long as adding everything again. Exit code 1 on a difference.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the result as one line of JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let verified = store.verify().map_err(explained)?;
    if args.json {
        let mut output = Output::new();
        output.json_line(&serde_json::json!({
            "documents": verified.documents,
            "differences": verified.differences,
            "first": verified.first,
        }))?;
        output.finish()?;
    } else {
        for difference in &verified.first {
            report::difference(difference);
        }
        // A closed standard error takes nothing from the answer.
        let _ = writeln!(
            anstream::stderr(),
            "{}, {}",
            counted(verified.documents, "document", "documents"),
            counted(verified.differences, "difference", "differences")
        );
    }
    Ok(if verified.differences == 0 { Outcome::Done } else { Outcome::Refused })
}
