//! Where documents are and were: one place, where a document moved, who holds copies of it.

use serde::Serialize;
use wonbon_store::Finding;

/// Where and when a document was seen.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Place<'a> {
    /// The document's key.
    pub key: &'a str,
    /// Its site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<&'a str>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// When it was first seen.
    pub first: String,
    /// When it was last seen.
    pub last: String,
    /// The first sweep of its site that missed it, if it is gone.
    pub gone: Option<String>,
    /// How many versions it has.
    pub versions: u32,
}

impl<'a> Place<'a> {
    /// The JSON form of a place.
    #[must_use]
    pub fn of(place: &'a wonbon_store::Place) -> Self {
        Place {
            key: &place.key,
            site: place.site.as_deref(),
            title: place.title.as_deref(),
            first: place.first.to_string(),
            last: place.last.to_string(),
            gone: place.gone.map(|time| time.to_string()),
            versions: place.versions,
        }
    }
}

/// Where the document of an address is now.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Moved<'a> {
    /// The key or address that was asked about.
    pub key: &'a str,
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
    /// Names a finding.
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
    /// The JSON form of the store's answer.
    #[must_use]
    pub fn of(moved: &'a wonbon_store::Moved) -> Self {
        let MovedFinding { status, places, covered } = MovedFinding::of(&moved.finding);
        Moved {
            key: &moved.asked,
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
    /// Where the document itself is.
    pub place: Place<'a>,
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
    /// The JSON form of the store's answer.
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
            place: Place::of(&copies.place),
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
