//! `wonbon moved`: where the document of an address is now.

use std::fmt::Write as _;
use std::path::Path;

use wonbon_app::answers;
use wonbon_store::{Finding, Holder, Moved};

use super::{PlaceOptions, open_to_read, refused};
use crate::Outcome;
use crate::output::Output;

/// Say where the document of an address is now.
///
/// For an address that a later sweep of its site did not see: the newest place that holds the same
/// document, with the evidence: resemblance to its last text, when each place was first and last seen,
/// and the redirect if a sweep saw one. Of the places that are there, the one last seen latest; ties
/// go to where a redirect leads, then to the one first seen latest, then to the most alike. If no page
/// holds it whole, the larger page that contains it, or the pages that hold parts of it.
///
/// A document that was stored without a sweep counts as seen when it was created and when it was last
/// stored, and is never gone. Exit code 1 if nothing holds the document, or the address was never seen.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: PlaceOptions,
    /// Print the answer as one line of JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let Some(moved) = refused(args.place.question().moved(&store))? else {
        return Ok(Outcome::Refused);
    };
    let mut output = Output::new();
    if args.json {
        output.json_line(&answers::Moved::of(&moved))?;
    } else {
        output.bytes(describe(&moved).as_bytes())?;
    }
    output.finish()?;
    Ok(match moved.finding {
        Finding::Gone(_) => Outcome::Refused,
        _ => Outcome::Done,
    })
}

/// Places shown beside the best one.
const MOST_SHOWN: usize = 20;

fn describe(moved: &Moved) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = match &moved.place {
        Some(place) => {
            let (first, last) = (place.first.to_short_text(), place.last.to_short_text());
            let verb = if place.swept { "seen" } else { "created and stored" };
            let gone = place.gone.map_or_else(String::new, |gone| {
                format!(", missed since {}", gone.to_short_text())
            });
            writeln!(text, "{}\n  {verb} {first} to {last}{gone}", place.key)
        }
        None => writeln!(text, "{}\n  never stored", moved.asked),
    };
    for hop in &moved.redirects {
        let from = if hop.from == moved.asked { "" } else { &*hop.from };
        let seen = hop.sweep.to_short_text();
        let _ = writeln!(text, "  {from}{}leads to {} (seen {seen})", gap(from), hop.to);
    }
    let answers::MovedFinding { places, covered, .. } = answers::MovedFinding::of(&moved.finding);
    let heading = match &moved.finding {
        Finding::Here => "it is where it was",
        Finding::Moved(_) => "moved to",
        Finding::Merged(_) => "inside a larger page",
        Finding::Split { .. } => "in parts",
        Finding::Gone(places) if places.is_empty() => "nothing holds it any more",
        Finding::Gone(_) => "nothing holds it any more; these did",
    };
    let _ = write!(text, "{heading}");
    if let Some(covered) = covered {
        let _ = write!(text, ", {:.1} % of it together", covered * 100.0);
    }
    text.push('\n');
    let of_part = matches!(moved.finding, Finding::Merged(_) | Finding::Split { .. });
    for holder in places.iter().take(MOST_SHOWN) {
        text.push_str(&describe_holder(holder, of_part));
    }
    if !moved.also.is_empty() {
        text.push_str("also at\n");
        for holder in moved.also.iter().take(MOST_SHOWN) {
            text.push_str(&describe_holder(holder, false));
        }
    }
    let left = places.len().max(moved.also.len()).saturating_sub(MOST_SHOWN);
    if left > 0 {
        let _ = writeln!(text, "  and {left} more (--json shows all)");
    }
    if moved.cut {
        text.push_str("  and there may be more than were looked at\n");
    }
    text
}

fn gap(from: &str) -> &'static str {
    if from.is_empty() { "" } else { " " }
}

fn describe_holder(holder: &Holder, of_part: bool) -> String {
    let place = &holder.place;
    let mut line = format!("  {}\n   ", place.key);
    if let Some(overlap) = holder.overlap {
        let _ = if of_part {
            write!(
                line,
                " holds {:.1} % of it, which is {:.1} % of the page,",
                overlap.left_in_right() * 100.0,
                overlap.right_in_left() * 100.0
            )
        } else {
            write!(line, " resemblance {:.3},", overlap.resemblance())
        };
    }
    let verb = if place.swept { "seen" } else { "created and stored" };
    let _ =
        write!(line, " {verb} {} to {}", place.first.to_short_text(), place.last.to_short_text());
    if let Some(gone) = place.gone {
        let _ = write!(line, ", missed since {}", gone.to_short_text());
    }
    if let Some(sweep) = holder.redirect {
        let _ = write!(line, ", redirect seen {}", sweep.to_short_text());
    }
    line.push('\n');
    line
}
