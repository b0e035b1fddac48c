//! Watched documents and their copies that differ.

use serde::Serialize;

use super::Place;

/// A watched document.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Watched<'a> {
    /// Where the watched document is.
    pub place: Place<'a>,
    /// Since when it is watched.
    pub since: String,
}

impl<'a> Watched<'a> {
    /// The JSON form of a watched document.
    #[must_use]
    pub fn of(watched: &'a wonbon_store::Watched) -> Self {
        Watched { place: Place::of(&watched.place), since: watched.since.to_string() }
    }
}

/// What the copies of a watched document look like.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchReport<'a> {
    /// Where the watched document is.
    pub place: Place<'a>,
    /// Copies with its very words.
    pub faithful: u64,
    /// Copies with the very words of an earlier version.
    pub outdated: Vec<WatchOutdated<'a>>,
    /// Copies that differ, the most alike first.
    pub differing: Vec<WatchCopy<'a>>,
    /// Whether there may be more copies than were looked at.
    pub cut: bool,
}

/// A copy of an earlier version.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchOutdated<'a> {
    /// Where it is.
    pub place: Place<'a>,
    /// The version whose words it has.
    pub follows: u32,
}

/// A copy that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchCopy<'a> {
    /// Where it is.
    pub place: Place<'a>,
    /// Its exact resemblance to the document.
    pub resemblance: f64,
    /// Words only the document has.
    pub words_missing: usize,
    /// Words only the copy has.
    pub words_added: usize,
    /// Where it differs.
    pub passages: Vec<Passage<'a>>,
}

/// A passage in which a copy differs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Passage<'a> {
    /// Words before it.
    pub before: &'a str,
    /// What the document says.
    pub reference: &'a str,
    /// What the copy says.
    pub copy: &'a str,
    /// Words after it.
    pub after: &'a str,
}

impl<'a> WatchReport<'a> {
    /// The JSON form of a report.
    #[must_use]
    pub fn of(report: &'a wonbon_store::WatchReport) -> Self {
        let passage = |passage: &'a wonbon_store::Passage| Passage {
            before: &passage.before,
            reference: &passage.reference,
            copy: &passage.copy,
            after: &passage.after,
        };
        WatchReport {
            place: Place::of(&report.watched.place),
            faithful: report.faithful,
            outdated: report
                .outdated
                .iter()
                .map(|(place, version)| WatchOutdated {
                    place: Place::of(place),
                    follows: *version,
                })
                .collect(),
            differing: report
                .differing
                .iter()
                .map(|copy| WatchCopy {
                    place: Place::of(&copy.place),
                    resemblance: copy.resemblance,
                    words_missing: copy.words.0,
                    words_added: copy.words.1,
                    passages: copy.passages.iter().map(passage).collect(),
                })
                .collect(),
            cut: report.cut,
        }
    }
}
