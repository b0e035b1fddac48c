//! What was found: by words, by what texts share, by where documents went.

use serde::Serialize;
use serde_json::value::RawValue;
use wonbon_store::{Decision, Finding, SearchResult, StoredDocument};

use super::{Listed, Named, Place};
use crate::collapse::RankedResult;

/// An original that was found by its words.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundResult<'a> {
    /// What names it.
    #[serde(flatten)]
    pub named: Named<'a>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// How well it matches; comparable within one answer only.
    pub score: f32,
    /// Escaped, with what matches in `<mark>`.
    pub snippet_html: String,
    /// How many copies it has.
    pub copies: u64,
    /// What was decided of it, if that is in effect: original or not-a-copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Its copies, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_list: Option<&'a [FoundCopy]>,
}

impl<'a> FoundResult<'a> {
    /// Of a result, with its copies if they were asked for.
    #[must_use]
    pub fn of(result: &'a SearchResult, copies: Option<&'a [FoundCopy]>) -> Self {
        let document = &result.document;
        FoundResult {
            named: Named::of(document),
            title: document.title.as_deref(),
            score: result.score,
            snippet_html: result.snippet.to_html(),
            copies: document.copies,
            decision: document.decision.map(Decision::name),
            copy_list: copies,
        }
    }
}

/// A copy of what was found.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundCopy {
    /// Its key.
    pub id: String,
    /// When it was created.
    pub created: String,
    /// What kind of copy it is.
    pub verdict: &'static str,
    /// Its exact resemblance to the original.
    pub resemblance: Option<f64>,
}

impl FoundCopy {
    /// Of a copy.
    #[must_use]
    pub fn of(copy: StoredDocument) -> Self {
        FoundCopy {
            id: copy.key,
            created: copy.created.to_string(),
            verdict: copy.verdict.kind.name(),
            resemblance: copy.verdict.resemblance,
        }
    }
}

/// A document that shares something with a text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Match<'a> {
    /// What names it.
    #[serde(flatten)]
    pub named: Named<'a>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// What it is.
    pub verdict: &'static str,
    /// The key of its original, if it is a copy.
    pub original: Option<&'a str>,
    /// What was decided of it, if that is in effect: original or not-a-copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Its exact resemblance to the text.
    pub resemblance: f64,
    /// The part of the text that the document has.
    pub containment_of_text: f64,
    /// The part of the document that the text has.
    pub containment_of_document: f64,
    /// How many shingles both have.
    pub shingles_shared: usize,
    /// What the index said of the value by which documents are ranked.
    pub estimate: Option<Estimate>,
}

/// An estimate and how far it may be off.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// From how many samples.
    pub samples: u64,
}

impl<'a> Match<'a> {
    /// Of a document that answers a question.
    #[must_use]
    pub fn of(found: &'a wonbon_store::Match) -> Self {
        let document = &found.document;
        Match {
            named: Named::of(document),
            title: document.title.as_deref(),
            verdict: document.verdict.kind.name(),
            original: document.verdict.original.as_deref(),
            decision: document.decision.map(Decision::name),
            resemblance: found.overlap.resemblance(),
            containment_of_text: found.overlap.left_in_right(),
            containment_of_document: found.overlap.right_in_left(),
            shingles_shared: found.overlap.shared,
            estimate: (found.estimate.samples > 0).then_some(Estimate {
                value: found.estimate.value,
                standard_error: found.estimate.standard_error,
                samples: found.estimate.samples,
            }),
        }
    }
}

/// A document from which part of a text was taken.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Source<'a> {
    /// Its key.
    pub id: &'a str,
    /// When it was created.
    pub created: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// How many words it explains that no source before it did.
    pub words: usize,
    /// How many words it explains, whether others do or not.
    pub words_in_all: usize,
    /// Which passages.
    pub passages: Vec<SourcePassage<'a>>,
}

/// A passage that a source explains.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourcePassage<'a> {
    /// From which word to before which.
    pub words: [usize; 2],
    /// As the text has it.
    pub text: &'a str,
    /// As the source has it.
    pub source: &'a str,
}

/// Part of a text that nothing explains.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unexplained<'a> {
    /// From which word to before which.
    pub words: [usize; 2],
    /// As the text has it.
    pub text: &'a str,
}

/// How much of a text is explained.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explained<'a> {
    /// Its words.
    pub words: usize,
    /// Of them explained.
    pub explained: usize,
    /// The rest.
    pub unexplained: Vec<Unexplained<'a>>,
}

impl<'a> Source<'a> {
    /// Of a source of a text.
    #[must_use]
    pub fn of(source: &'a wonbon_store::Source, text: &'a str) -> Self {
        let passages = source.passages.iter().map(|passage| SourcePassage {
            words: [passage.words.start, passage.words.end],
            text: &text[passage.place.clone()],
            source: &source.document.text[passage.source_place.clone()],
        });
        Source {
            id: &source.document.key,
            created: source.document.created.to_string(),
            title: source.document.title.as_deref(),
            words: source.words,
            words_in_all: source.words_in_all,
            passages: passages.collect(),
        }
    }
}

impl<'a> Explained<'a> {
    /// Of what is known of a text's sources.
    #[must_use]
    pub fn of(sources: &wonbon_store::Sources, text: &'a str) -> Self {
        let unexplained = sources.unexplained.iter().map(|part| Unexplained {
            words: [part.words.start, part.words.end],
            text: &text[part.place.clone()],
        });
        Explained {
            words: sources.words,
            explained: sources.explained,
            unexplained: unexplained.collect(),
        }
    }
}

/// Where the document of an address is now.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Moved<'a> {
    /// The address.
    pub asked: &'a str,
    /// here, moved, merged, split or gone.
    pub status: &'static str,
    /// When it was seen there.
    pub place: Option<Place<'a>>,
    /// Where the address leads, step by step.
    pub redirects: Vec<Hop<'a>>,
    /// Where it is; for gone, where it last was beside the address itself.
    pub places: Vec<Holder<'a>>,
    /// What share of it the parts have together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<f64>,
    /// Other places, if it is where it was.
    pub also: Vec<Holder<'a>>,
    /// How many places were found.
    pub total: usize,
    /// Whether some places are not told: more were found, or may be there than were looked at.
    pub cut: bool,
}

/// A redirect.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Hop<'a> {
    /// The address.
    pub from: &'a str,
    /// Where it leads.
    pub to: &'a str,
    /// When that was seen.
    pub seen: String,
}

/// A place that holds a document or part of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Holder<'a> {
    /// The place.
    #[serde(flatten)]
    pub place: Place<'a>,
    /// Its exact resemblance to the document.
    pub resemblance: Option<f64>,
    /// The part of the document that this page has.
    pub holds: Option<f64>,
    /// The part of this page that is the document.
    pub is: Option<f64>,
    /// When a redirect to it was seen.
    pub redirect: Option<String>,
}

impl<'a> Holder<'a> {
    fn of(holder: &'a wonbon_store::Holder) -> Self {
        Holder {
            place: Place::of(&holder.place),
            resemblance: holder.overlap.map(|overlap| overlap.resemblance()),
            holds: holder.overlap.map(|overlap| overlap.left_in_right()),
            is: holder.overlap.map(|overlap| overlap.right_in_left()),
            redirect: holder.redirect.map(|time| time.to_string()),
        }
    }
}

/// What was found of a moved document: the word for it, the places, and what the parts cover.
#[derive(Debug, Clone, Copy)]
pub struct MovedFinding<'a> {
    /// here, moved, merged, split or gone.
    pub status: &'static str,
    /// Where it is or was.
    pub places: &'a [wonbon_store::Holder],
    /// What share of it the parts have together, if it was split.
    pub covered: Option<f64>,
}

impl<'a> MovedFinding<'a> {
    /// Of a finding.
    #[must_use]
    pub fn of(finding: &'a Finding) -> Self {
        let (status, covered) = match finding {
            Finding::Here => ("here", None),
            Finding::Moved(_) => ("moved", None),
            Finding::Merged(_) => ("merged", None),
            Finding::Split { covered, .. } => ("split", Some(*covered)),
            Finding::Gone(_) => ("gone", None),
        };
        MovedFinding { status, places: finding.places(), covered }
    }
}

impl<'a> Moved<'a> {
    /// Of the answer.
    #[must_use]
    pub fn of(moved: &'a wonbon_store::Moved) -> Self {
        let MovedFinding { status, places, covered } = MovedFinding::of(&moved.finding);
        Moved {
            asked: &moved.asked,
            status,
            place: moved.place.as_ref().map(Place::of),
            redirects: moved
                .redirects
                .iter()
                .map(|hop| Hop { from: &hop.from, to: &hop.to, seen: hop.sweep.to_string() })
                .collect(),
            places: places.iter().map(Holder::of).collect(),
            covered,
            also: moved.also.iter().map(Holder::of).collect(),
            total: moved.total,
            cut: moved.cut || places.len() + moved.also.len() < moved.total,
        }
    }
}

/// Who holds a document.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Copies<'a> {
    /// The document.
    pub document: Place<'a>,
    /// How many were found that hold it.
    pub holders: usize,
    /// Whether some are not told: more were found, or may be there than were looked at.
    pub cut: bool,
    /// By site.
    pub sites: Vec<CopiesOfSite<'a>>,
}

/// The holders on one site.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CopiesOfSite<'a> {
    /// The site.
    pub site: Option<&'a str>,
    /// When the first of them was first seen.
    pub first: String,
    /// When the last of them was last seen.
    pub last: String,
    /// They.
    pub copies: Vec<CopyHolder<'a>>,
}

/// A holder.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CopyHolder<'a> {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place<'a>,
    /// Its exact resemblance to the version it follows.
    pub resemblance: f64,
    /// The version of the document that it resembles most.
    pub follows: u32,
    /// Whether that is the present one.
    pub current: bool,
    /// Whether it is of the document's family.
    pub family: bool,
}

impl<'a> Copies<'a> {
    /// Of the answer.
    #[must_use]
    pub fn of(copies: &'a wonbon_store::Copies) -> Self {
        let versions = copies.place.versions;
        let holder = |copy: &'a wonbon_store::Copy| CopyHolder {
            place: Place::of(&copy.place),
            resemblance: copy.resemblance,
            follows: copy.follows,
            current: copy.follows == versions,
            family: copy.family,
        };
        Copies {
            document: Place::of(&copies.place),
            holders: copies.total,
            cut: copies.cut || copies.told() < copies.total,
            sites: copies
                .sites
                .iter()
                .map(|site| CopiesOfSite {
                    site: site.site.as_deref(),
                    first: site.first.to_string(),
                    last: site.last.to_string(),
                    copies: site.copies.iter().map(holder).collect(),
                })
                .collect(),
        }
    }
}

/// Ranked results without those that went behind another.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollapseAnswer {
    /// In the order in which they came; `copies` lists those behind each. `collapsed` is false for one
    /// that was not looked at because the time was over.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    pub results: Vec<RankedResult>,
    /// The ranks, from 1, of results of which no text is known; they come back as they went.
    pub unknown: Vec<usize>,
    /// How many results were looked at.
    pub looked_at: usize,
}

/// A result that went behind another.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CopyOfResult {
    /// What it is called.
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
    pub id: Option<Box<RawValue>>,
    /// Its exact resemblance to the result it is behind.
    pub resemblance: f64,
    /// Its place among all results, from 1.
    pub rank: usize,
}

/// A family in a list.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FamilySummary<'a> {
    /// Its original.
    pub original: Listed<'a>,
    /// How many copies it has.
    pub copies: u64,
    /// On how many sites it stands.
    pub sites: u64,
    /// When the last of its documents was created.
    pub last: String,
}

impl<'a> FamilySummary<'a> {
    /// Of a family in a list.
    #[must_use]
    pub fn of(family: &'a wonbon_store::FamilySummary) -> Self {
        FamilySummary {
            original: Listed::of(&family.original),
            copies: family.copies,
            sites: family.sites,
            last: family.last.to_string(),
        }
    }
}
