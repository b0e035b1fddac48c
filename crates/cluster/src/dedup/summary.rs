//! The numbers that a run of `dedup` reports.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wonbon_documents::Skipped;
use wonbon_rule::Kind;

use super::passages::PassageSummary;
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::keep::MISSING;
use crate::progress::PhaseTime;
use crate::verdicts::Verdicts;

/// How many skipped rows and repeated ids are named.
pub(super) const NAMED: usize = 100;

/// What a run did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DedupSummary {
    /// Rows read.
    pub rows: u64,
    /// Documents among them.
    pub documents: u64,
    /// Documents of the other corpora, which were compared with and are not counted otherwise.
    pub others: u64,
    /// Rows and files that are no documents.
    pub skipped: u64,
    /// The first of them.
    pub skipped_first: Vec<Skipped>,
    /// Ids that several documents have: how many, and the first of them.
    pub repeated_ids: (u64, Vec<String>),
    /// Documents without the field that decides which to keep.
    pub without_key: u64,
    /// Documents of each kind.
    pub kinds: Vec<(Kind, u64)>,
    /// Families of two or more.
    pub families: u64,
    /// Pairs whose sets were compared.
    pub compared: u64,
    /// Pairs written, if they were.
    pub pairs: Option<u64>,
    /// What was done about passages, if they were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passages: Option<PassageSummary>,
    /// The digest of the families: equal for equal families, whatever the order of the documents
    /// ([`FamilyDigest`](crate::digest::FamilyDigest)). Empty in summaries of earlier programs.
    #[serde(default)]
    pub digest: String,
    /// How copies were looked for, and why so.
    pub engine: String,
    /// Bytes read, decompressed.
    pub input_bytes: u64,
    /// Bytes of core text.
    pub text_bytes: u64,
    /// What each phase took.
    pub phases: Vec<PhaseTime>,
    /// Everything that decides the result.
    pub plan: Value,
}

impl DedupSummary {
    /// How many documents are of a kind.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> u64 {
        self.kinds.iter().find(|(other, _)| *other == kind).map_or(0, |(_, count)| *count)
    }

    /// How many documents are copies.
    #[must_use]
    pub fn copies(&self) -> u64 {
        self.kinds.iter().filter(|(kind, _)| kind.is_copy()).map(|(_, count)| count).sum()
    }
}

/// How many documents from number `others` on are of each kind.
pub(crate) fn count_kinds(verdicts: &Verdicts, others: u32) -> Vec<(Kind, u64)> {
    let mut kinds: Vec<(Kind, u64)> = Kind::ALL.into_iter().map(|kind| (kind, 0)).collect();
    for document in others..verdicts.len() {
        let kind = verdicts.get(document).kind;
        kinds.iter_mut().filter(|(one, _)| *one == kind).for_each(|(_, count)| *count += 1);
    }
    kinds
}

/// How many documents lack the key that decides which of a family stays.
pub(crate) fn count_missing_keys(corpus: &Corpus) -> Result<u64, ClusterError> {
    let mut missing = 0;
    corpus.keys()?.for_each(|_, key| {
        missing += u64::from(key == MISSING);
        Ok(())
    })?;
    Ok(missing)
}

/// Ids that several documents from number `others` on have: how many, and the first of them.
pub(crate) fn find_repeated_ids(
    corpus: &Corpus,
    others: u32,
) -> Result<(u64, Vec<String>), ClusterError> {
    let ids = corpus.ids()?;
    let fingerprint = |id: &str| wonbon_sketch::rabin::RABIN_64.fingerprint(id.as_bytes());
    let mut seen: Vec<u64> = Vec::with_capacity(corpus.len() as usize);
    ids.for_each(|document, id| {
        if document >= others {
            seen.push(fingerprint(id));
        }
        Ok(())
    })?;
    seen.sort_unstable();
    let mut repeated: Vec<u64> = seen
        .chunk_by(|one, other| one == other)
        .filter(|same| same.len() > 1)
        .map(|same| same[0])
        .collect();
    drop(seen);
    let count = repeated.len() as u64;
    let mut names = Vec::new();
    if count > 0 {
        ids.for_each(|document, id| {
            if document >= others
                && names.len() < NAMED
                && let Ok(at) = repeated.binary_search(&fingerprint(id))
            {
                repeated.remove(at);
                names.push(id.to_owned());
            }
            Ok(())
        })?;
    }
    Ok((count, names))
}
