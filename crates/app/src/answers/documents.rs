//! Documents and verdicts; what became of documents that were added or checked.

use serde::{Deserialize, Serialize};
use wonbon_store::{Decision, Listed, Stored, StoredDocument};

use crate::intake::Outcome;

/// What a document is: the store's decision about it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Verdict<'a> {
    /// original, copy, identical, same-text, same-shingles or empty.
    pub verdict: &'static str,
    /// The key of its original, if it is a copy.
    pub original: Option<&'a str>,
    /// The exact resemblance of a copy to its original; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resemblance: Option<f64>,
    /// How many features a copy shares with its original; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features_equal: Option<usize>,
    /// Whether more originals looked alike than are verified for one document: then a closer one may have
    /// been passed over. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped_early: bool,
}

impl<'a> Verdict<'a> {
    /// The JSON form of a verdict.
    #[must_use]
    pub fn of(verdict: &'a wonbon_store::Verdict) -> Self {
        Verdict {
            verdict: verdict.kind.name(),
            original: verdict.original.as_deref(),
            resemblance: verdict.resemblance,
            features_equal: verdict.features_equal,
            stopped_early: verdict.stopped_early,
        }
    }
}

/// A stored document. Every answer that speaks of a document has it in this form: with its text where
/// one document or one family was asked for, and without the fields that a list does not read.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Document<'a> {
    /// What identifies it: its id, or its URL if it has no id.
    pub key: &'a str,
    /// When it was created.
    pub created: String,
    /// When it claims to be published, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When this version was stored.
    pub stored: String,
    /// Its address, if that is not the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<&'a str>,
    /// The site it stands on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<&'a str>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<&'a str>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Its language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'a str>,
    /// How many words its core text has.
    pub words: u64,
    /// How many versions there were, this one included.
    pub version: u32,
    /// What it is.
    #[serde(flatten)]
    pub verdict: Verdict<'a>,
    /// How many copies it has; left out in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<u64>,
    /// What people decided of it, if that is in effect: original or not-a-copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// Its core text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

impl<'a> Document<'a> {
    /// The JSON form of a stored document.
    #[must_use]
    pub fn of(document: &'a StoredDocument) -> Self {
        Document { text: Some(&document.text), ..Document::without_text(document) }
    }

    /// The JSON form of a stored document that is one of several: without its text.
    #[must_use]
    pub fn without_text(document: &'a StoredDocument) -> Self {
        Document {
            key: &document.key,
            created: document.created.to_string(),
            published: document.published.map(|time| time.to_string()),
            stored: document.stored.to_string(),
            url: document.url.as_deref(),
            site: document.site.as_deref(),
            author: document.author.as_deref(),
            title: document.title.as_deref(),
            language: document.language.as_deref(),
            words: document.words,
            version: document.version,
            verdict: Verdict::of(&document.verdict),
            copies: Some(document.copies),
            decision: document.decision.map(Decision::name),
            text: None,
        }
    }

    /// The JSON form of a document in a list.
    #[must_use]
    pub fn listed(listed: &'a Listed) -> Self {
        Document {
            key: &listed.key,
            created: listed.created.to_string(),
            published: listed.published.map(|time| time.to_string()),
            stored: listed.stored.to_string(),
            url: None,
            site: listed.site.as_deref(),
            author: None,
            title: listed.title.as_deref(),
            language: None,
            words: listed.words,
            version: listed.version,
            verdict: Verdict {
                verdict: listed.kind.name(),
                original: listed.original.as_deref(),
                resemblance: None,
                features_equal: None,
                stopped_early: false,
            },
            copies: None,
            decision: listed.decision.map(Decision::name),
            text: None,
        }
    }
}

/// What became of a document that was added.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Added<'a> {
    /// Its key.
    pub key: &'a str,
    /// `new`, `updated` if it is a new version, `unchanged` if it was known as it came.
    pub change: &'static str,
    /// What it is.
    pub verdict: &'static str,
    /// The key of its original, if it is a copy.
    pub original: Option<&'a str>,
    /// Its exact resemblance to the original.
    pub resemblance: Option<f64>,
    /// How many features it shares with the original.
    pub features_equal: Option<usize>,
    /// Whether more originals looked alike than are verified for one document. Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped_early: bool,
    /// How long it took, from when it was read to when it was durable.
    pub microseconds: u64,
}

impl<'a> Added<'a> {
    /// The JSON form of an add that is durable.
    #[must_use]
    pub fn of(key: &'a str, added: &'a wonbon_store::Added, microseconds: u64) -> Self {
        Added {
            key,
            change: change_name(added.stored),
            verdict: added.verdict.kind.name(),
            original: added.verdict.original.as_deref(),
            resemblance: added.verdict.resemblance,
            features_equal: added.verdict.features_equal,
            stopped_early: added.verdict.stopped_early,
            microseconds,
        }
    }
}

/// What an add changed, in one word.
#[must_use]
pub fn change_name(stored: Stored) -> &'static str {
    match stored {
        Stored::New => "new",
        Stored::Updated => "updated",
        Stored::Unchanged => "unchanged",
    }
}

/// An address that was noted to lead elsewhere.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Redirected<'a> {
    /// The address.
    pub key: &'a str,
    /// Always `redirect`.
    pub verdict: &'static str,
    /// Where it leads.
    pub redirect: &'a str,
}

impl<'a> Redirected<'a> {
    /// The JSON form of a redirect.
    #[must_use]
    pub fn of(key: &'a str, redirect: &'a str) -> Self {
        Redirected { key, verdict: "redirect", redirect }
    }
}

/// What a document is called in an answer that has no name.
pub const UNNAMED: &str = "(unnamed)";

/// What a document would be if it were stored.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Checked<'a> {
    /// Its key.
    pub key: &'a str,
    /// What it would be.
    #[serde(flatten)]
    pub verdict: Verdict<'a>,
    /// How long it took.
    pub microseconds: u64,
}

impl<'a> Checked<'a> {
    /// The JSON form of a verdict about a document that is not stored.
    #[must_use]
    pub fn of(key: &'a str, verdict: &'a wonbon_store::Verdict, microseconds: u64) -> Self {
        let key = if key.is_empty() { UNNAMED } else { key };
        Checked { key, verdict: Verdict::of(verdict), microseconds }
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
