//! Documents and what is said of them when they are stored or checked.

use serde::{Deserialize, Serialize};
use wonbon_store::{Decision, Stored, StoredDocument, Verdict};

use crate::intake::Outcome;

/// What names a stored document: of one that is shown, found or answered.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Named<'a> {
    /// Its key: a URL or an id.
    pub id: &'a str,
    /// When it was created.
    pub created: String,
    /// When it claims to be published, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// Its address, if that is not the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<&'a str>,
    /// The site it stands on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// Of a stored document.
    #[must_use]
    pub fn of(document: &'a StoredDocument) -> Self {
        Named {
            id: &document.key,
            created: document.created.to_string(),
            published: document.published.map(|time| time.to_string()),
            url: document.url.as_deref(),
            site: document.site.as_deref(),
        }
    }
}

/// A stored document.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Document<'a> {
    /// What names it.
    #[serde(flatten)]
    pub named: Named<'a>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<&'a str>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Its language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'a str>,
    /// Its core text.
    pub text: &'a str,
    /// How many versions there were.
    pub version: u32,
    /// original, copy, identical, same-text, same-shingles or empty.
    pub verdict: &'static str,
    /// The key of its original, if it is a copy.
    pub original: Option<&'a str>,
    /// Its exact resemblance to the original.
    pub resemblance: Option<f64>,
    /// How many features it shares with the original.
    pub features_equal: Option<usize>,
    /// How many copies it has.
    pub copies: u64,
    /// What was decided of it, if that is in effect: original or not-a-copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
}

impl<'a> Document<'a> {
    /// Of a stored document.
    #[must_use]
    pub fn of(document: &'a StoredDocument) -> Self {
        Document {
            named: Named::of(document),
            author: document.author.as_deref(),
            title: document.title.as_deref(),
            language: document.language.as_deref(),
            text: &document.text,
            version: document.version,
            verdict: document.verdict.kind.name(),
            original: document.verdict.original.as_deref(),
            resemblance: document.verdict.resemblance,
            features_equal: document.verdict.features_equal,
            copies: document.copies,
            decision: document.decision.map(Decision::name),
        }
    }
}

/// A document in a list, without its text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Listed<'a> {
    /// Its key: a URL or an id.
    pub id: &'a str,
    /// When it was created.
    pub created: String,
    /// When it claims to be published, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When this version was stored.
    pub stored: String,
    /// The site it stands on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<&'a str>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Its words.
    pub words: u64,
    /// How many versions there were.
    pub version: u32,
    /// What it is.
    pub verdict: &'static str,
    /// The key of its original, if it is a copy.
    pub original: Option<&'a str>,
    /// What was decided of it, if that is in effect: original or not-a-copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
}

impl<'a> Listed<'a> {
    /// Of a document in a list.
    #[must_use]
    pub fn of(listed: &'a wonbon_store::Listed) -> Self {
        Listed {
            id: &listed.key,
            created: listed.created.to_string(),
            published: listed.published.map(|time| time.to_string()),
            stored: listed.stored.to_string(),
            site: listed.site.as_deref(),
            title: listed.title.as_deref(),
            words: listed.words,
            version: listed.version,
            verdict: listed.kind.name(),
            original: listed.original.as_deref(),
            decision: listed.decision.map(Decision::name),
        }
    }
}

/// What became of a document that was added.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Added<'a> {
    /// Its key.
    pub id: &'a str,
    /// What it is; `updated` if it is a new version, `unchanged` if it was known as it came.
    pub verdict: &'static str,
    /// What it is in any case.
    pub kind: &'static str,
    /// The key of its original, if it is a copy.
    pub original: Option<&'a str>,
    /// Its exact resemblance to the original.
    pub resemblance: Option<f64>,
    /// How many features it shares with the original.
    pub features_equal: Option<usize>,
    /// How long it took, from when it was read to when it was durable.
    pub microseconds: u64,
}

impl<'a> Added<'a> {
    /// Of an add that is durable.
    #[must_use]
    pub fn of(id: &'a str, added: &'a wonbon_store::Added, microseconds: u64) -> Self {
        Added {
            id,
            verdict: verdict_name(added),
            kind: added.verdict.kind.name(),
            original: added.verdict.original.as_deref(),
            resemblance: added.verdict.resemblance,
            features_equal: added.verdict.features_equal,
            microseconds,
        }
    }
}

/// What the store calls an add, in one word.
#[must_use]
pub fn verdict_name(added: &wonbon_store::Added) -> &'static str {
    match added.stored {
        Stored::New => added.verdict.kind.name(),
        Stored::Updated => "updated",
        Stored::Unchanged => "unchanged",
    }
}

/// An address that was noted to lead elsewhere.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Redirected<'a> {
    /// The address.
    pub id: &'a str,
    /// Always `redirect`.
    pub verdict: &'static str,
    /// Where it leads.
    pub redirect: &'a str,
}

impl<'a> Redirected<'a> {
    /// Of an address and where it leads.
    #[must_use]
    pub fn of(id: &'a str, redirect: &'a str) -> Self {
        Redirected { id, verdict: "redirect", redirect }
    }
}

/// What would be said of a document.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Checked<'a> {
    /// Its key.
    pub id: &'a str,
    /// What it would be.
    pub verdict: &'static str,
    /// The key of its original, if it would be a copy.
    pub original: Option<&'a str>,
    /// Its exact resemblance to the original.
    pub resemblance: Option<f64>,
    /// How many features it shares with the original.
    pub features_equal: Option<usize>,
    /// How long it took.
    pub microseconds: u64,
}

impl<'a> Checked<'a> {
    /// Of a verdict about a document that is not stored.
    #[must_use]
    pub fn of(id: &'a str, verdict: &'a Verdict, microseconds: u64) -> Self {
        Checked {
            id,
            verdict: verdict.kind.name(),
            original: verdict.original.as_deref(),
            resemblance: verdict.resemblance,
            features_equal: verdict.features_equal,
            microseconds,
        }
    }
}

/// What became of many documents.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AddSummary {
    /// Documents that were taken.
    pub documents: u64,
    /// Of the new ones, originals.
    pub originals: u64,
    /// Of the new ones, copies.
    pub copies: u64,
    /// Of the new ones, those without words.
    pub empty: u64,
    /// New versions of known ones.
    pub updated: u64,
    /// Known as they came.
    pub unchanged: u64,
    /// Of the unchanged, those that were recognised by their fingerprint before anything was made of
    /// them.
    pub recognised: u64,
    /// Redirects that were noted.
    pub redirects: u64,
    /// Records of web archives that are no documents.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub passed_over: u64,
    /// What was refused.
    pub refused: u64,
    /// How long all took.
    pub seconds: f64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl AddSummary {
    /// Counts what became of a document.
    pub fn count(&mut self, outcome: &Outcome) {
        let added = match outcome {
            Outcome::Added { added, recognised } => {
                self.recognised += u64::from(*recognised);
                added
            }
            Outcome::Redirected => {
                self.redirects += 1;
                return;
            }
            Outcome::PassedOver => {
                self.passed_over += 1;
                return;
            }
        };
        self.documents += 1;
        match added.stored {
            Stored::Updated => self.updated += 1,
            Stored::Unchanged => self.unchanged += 1,
            Stored::New if added.verdict.kind.is_copy() => self.copies += 1,
            Stored::New if added.verdict.kind == wonbon_store::Kind::Empty => self.empty += 1,
            Stored::New => self.originals += 1,
        }
    }
}
