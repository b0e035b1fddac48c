//! `wonbon moved`: where the document of an address is now.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use wonbon_input::time::format_time;
use wonbon_store::{Finding, Holder, Moved};

use super::{JsonPlace, explained, open_to_read, share, shown_time};
use crate::output::Output;
use crate::{Outcome, report};

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
    /// The address, or the id of the document.
    #[arg(value_name = "URL")]
    url: String,
    /// The least resemblance of a place that holds the document.
    #[arg(long, value_name = "R", default_value_t = 0.5, value_parser = share)]
    min: f64,
    /// Print the answer as one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct JsonMoved<'a> {
    asked: &'a str,
    /// here, moved, merged, split or gone.
    status: &'static str,
    place: Option<JsonPlace<'a>>,
    redirects: Vec<JsonHop<'a>>,
    /// Where it is; for gone, where it last was beside the address itself.
    places: Vec<JsonHolder<'a>>,
    /// What share of it the parts have together.
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<f64>,
    /// Other places, if it is where it was.
    also: Vec<JsonHolder<'a>>,
}

#[derive(Serialize)]
struct JsonHop<'a> {
    from: &'a str,
    to: &'a str,
    seen: String,
}

#[derive(Serialize)]
struct JsonHolder<'a> {
    #[serde(flatten)]
    place: JsonPlace<'a>,
    resemblance: Option<f64>,
    /// The part of the document that this page has.
    holds: Option<f64>,
    /// The part of this page that is the document.
    is: Option<f64>,
    redirect: Option<String>,
}

impl<'a> JsonHolder<'a> {
    fn of(holder: &'a Holder) -> Self {
        JsonHolder {
            place: JsonPlace::of(&holder.place),
            resemblance: holder.overlap.map(|overlap| overlap.resemblance()),
            holds: holder.overlap.map(|overlap| overlap.left_in_right()),
            is: holder.overlap.map(|overlap| overlap.right_in_left()),
            redirect: holder.redirect.map(format_time),
        }
    }
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let Some(moved) = store.moved(&args.url, args.min).map_err(explained)? else {
        report::refused(&anyhow::anyhow!(
            "there is no document `{}`, and no sweep saw it lead elsewhere",
            args.url
        ));
        return Ok(Outcome::Refused);
    };
    let mut output = Output::new();
    if args.json {
        output.json_line(&json(&moved))?;
    } else {
        output.bytes(told(&moved).as_bytes())?;
    }
    output.finish()?;
    Ok(match moved.finding {
        Finding::Gone(_) => Outcome::Refused,
        _ => Outcome::Done,
    })
}

fn places(finding: &Finding) -> (&'static str, &[Holder], Option<f64>) {
    match finding {
        Finding::Here => ("here", &[], None),
        Finding::Moved(places) => ("moved", places, None),
        Finding::Merged(places) => ("merged", places, None),
        Finding::Split { parts, covered } => ("split", parts, Some(*covered)),
        Finding::Gone(places) => ("gone", places, None),
    }
}

fn json(moved: &Moved) -> JsonMoved<'_> {
    let (status, places, covered) = places(&moved.finding);
    let hop = |hop: &wonbon_store::Hop| format_time(hop.sweep);
    JsonMoved {
        asked: &moved.asked,
        status,
        place: moved.place.as_ref().map(JsonPlace::of),
        redirects: moved
            .redirects
            .iter()
            .map(|step| JsonHop { from: &step.from, to: &step.to, seen: hop(step) })
            .collect(),
        places: places.iter().map(JsonHolder::of).collect(),
        covered,
        also: moved.also.iter().map(JsonHolder::of).collect(),
    }
}

/// Places shown beside the best one.
const MOST_SHOWN: usize = 20;

fn told(moved: &Moved) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = match &moved.place {
        Some(place) => {
            let (first, last) = (shown_time(place.first), shown_time(place.last));
            let verb = if place.swept { "seen" } else { "created and stored" };
            let gone = place
                .gone
                .map_or_else(String::new, |gone| format!(", missed since {}", shown_time(gone)));
            writeln!(text, "{}\n  {verb} {first} to {last}{gone}", place.key)
        }
        None => writeln!(text, "{}\n  never stored", moved.asked),
    };
    for hop in &moved.redirects {
        let from = if hop.from == moved.asked { "" } else { &*hop.from };
        let seen = shown_time(hop.sweep);
        let _ = writeln!(text, "  {from}{}leads to {} (seen {seen})", gap(from), hop.to);
    }
    let (_, places, covered) = places(&moved.finding);
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
        text.push_str(&line(holder, of_part));
    }
    if !moved.also.is_empty() {
        text.push_str("also at\n");
        for holder in moved.also.iter().take(MOST_SHOWN) {
            text.push_str(&line(holder, false));
        }
    }
    let left = places.len().max(moved.also.len()).saturating_sub(MOST_SHOWN);
    if left > 0 {
        let _ = writeln!(text, "  and {left} more (--json shows all)");
    }
    text
}

fn gap(from: &str) -> &'static str {
    if from.is_empty() { "" } else { " " }
}

fn line(holder: &Holder, of_part: bool) -> String {
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
    let _ = write!(line, " {verb} {} to {}", shown_time(place.first), shown_time(place.last));
    if let Some(gone) = place.gone {
        let _ = write!(line, ", missed since {}", shown_time(gone));
    }
    if let Some(sweep) = holder.redirect {
        let _ = write!(line, ", redirect seen {}", shown_time(sweep));
    }
    line.push('\n');
    line
}
