//! Whole answers: what was found, and the cursor of the next page.

use serde::Serialize;

use super::{
    Changes, DecisionEntry, Document, Explained, FoundResult, History, Match, PassagesAnswer,
    Source, WatchReport, Watched,
};

/// The documents that answer a question about a text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MatchAnswer<'a> {
    /// The best first.
    pub matches: Vec<Match<'a>>,
    /// How many different shingles the text has.
    pub shingles: usize,
    /// How many of them were left out because too many documents have them.
    pub common: usize,
    /// How many documents could have answered by their sketches.
    pub candidates: usize,
    /// How many of them were looked at.
    pub verified: usize,
    /// Whether all were looked at that could have been among those shown.
    pub complete: bool,
}

impl<'a> MatchAnswer<'a> {
    /// The JSON form of the store's answer.
    #[must_use]
    pub fn of(answer: &'a wonbon_store::Answer) -> Self {
        MatchAnswer {
            matches: answer.matches.iter().map(Match::of).collect(),
            shingles: answer.shingles,
            common: answer.common,
            candidates: answer.candidates,
            verified: answer.verified,
            complete: answer.complete,
        }
    }
}

/// Where a text was taken from.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourcesAnswer<'a> {
    /// The one that explains most first.
    pub sources: Vec<Source<'a>>,
    /// How much of the text is explained, and what is not.
    #[serde(flatten)]
    pub explained: Explained<'a>,
}

impl<'a> SourcesAnswer<'a> {
    /// The JSON form of the sources of a text.
    #[must_use]
    pub fn of(found: &'a wonbon_store::Sources, text: &'a str) -> Self {
        SourcesAnswer {
            sources: found.sources.iter().map(|source| Source::of(source, text)).collect(),
            explained: Explained::of(found, text),
        }
    }
}

/// Everything that is asked about a text at once.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AskAnswer<'a> {
    /// What resembles it.
    pub similar: MatchAnswer<'a>,
    /// What contains it.
    pub within: MatchAnswer<'a>,
    /// What it contains.
    pub contains: MatchAnswer<'a>,
    /// Where it was taken from.
    pub sources: SourcesAnswer<'a>,
    /// What of it stands in stored documents.
    pub passages: PassagesAnswer<'a>,
}

/// What was found by its words.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchAnswer<'a> {
    /// How many originals match.
    pub total: u64,
    /// A page of them, the best first.
    pub results: Vec<FoundResult<'a>>,
    /// Where the list goes on, if it does.
    pub next: Option<&'a str>,
}

/// A list of documents.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentList<'a> {
    /// The latest first.
    pub documents: Vec<Document<'a>>,
    /// Where the list goes on, if it does.
    pub next: Option<&'a str>,
}

/// A family: an original and its copies.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Family<'a> {
    /// Its original.
    pub original: Document<'a>,
    /// How many copies it has.
    pub copies: u64,
    /// On how many sites it stands.
    pub sites: u64,
    /// When the last of its documents was created.
    pub last: String,
}

impl<'a> Family<'a> {
    /// The JSON form of a family.
    #[must_use]
    pub fn of(family: &'a wonbon_store::FamilySummary) -> Self {
        Family {
            original: Document::listed(&family.original),
            copies: family.copies,
            sites: family.sites,
            last: family.last.to_string(),
        }
    }
}

/// Families, the largest first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FamiliesAnswer<'a> {
    /// How many originals have copies.
    pub total: u64,
    /// How many families have how many copies.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<u64>>))]
    pub sizes: Vec<(u64, u64)>,
    /// A page of them.
    pub families: Vec<Family<'a>>,
    /// Where the list goes on, if it does.
    pub next: Option<&'a str>,
}

/// The documents of a family.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FamilyAnswer<'a> {
    /// How many documents it has.
    pub total: u64,
    /// A page of them: the original, then its copies by creation.
    pub documents: Vec<Document<'a>>,
    /// Where the list goes on, if it does.
    pub next: Option<&'a str>,
}

/// Entries of the log of decisions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DecisionsAnswer<'a> {
    /// The latest first.
    pub decisions: Vec<DecisionEntry<'a>>,
    /// Where the list goes on, if it does.
    pub next: Option<&'a str>,
}

/// The versions of a page, or how pages change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ChangesAnswer<'a> {
    /// Of one page.
    History(History<'a>),
    /// Of all.
    Changes(Changes<'a>),
}

/// The documents that are watched.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchList<'a> {
    /// The documents.
    pub watched: Vec<Watched<'a>>,
}

impl<'a> WatchList<'a> {
    /// The JSON form of watched documents.
    #[must_use]
    pub fn of(watched: &'a [wonbon_store::Watched]) -> Self {
        WatchList { watched: watched.iter().map(Watched::of).collect() }
    }
}

/// How the copies of watched documents differ from them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WatchReports<'a> {
    /// Of each watched document.
    pub reports: Vec<WatchReport<'a>>,
}

impl<'a> WatchReports<'a> {
    /// The JSON form of reports.
    #[must_use]
    pub fn of(reports: &'a [wonbon_store::WatchReport]) -> Self {
        WatchReports { reports: reports.iter().map(WatchReport::of).collect() }
    }
}
