//! Lists for browsing: recently stored documents, and families by size.
//!
//! Nothing here reads texts. A list of recent documents costs the rows that are shown. Families are counted from the
//! database's index over copies by their original: one pass over all copies, about a tenth of a second for a million of
//! them. A part of a family costs the rows before it and in it.

use std::collections::BTreeMap;

use wonbon_index::Row;
use wonbon_time::Timestamp;

use crate::decisions::Decision;
use crate::document::StoredDocument;
use crate::error::StoreError;
use crate::families::verdict;
use crate::store::Store;
use crate::tables::{Reading, Record};
use wonbon_rule::Kind;

/// A document in a list: what is known of it without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its number in the store: later documents have higher ones.
    pub row: Row,
    /// Its key.
    pub key: String,
    /// When it was created.
    pub created: Timestamp,
    /// When it claims to be published, if it does.
    pub published: Option<Timestamp>,
    /// When this version was stored.
    pub stored: Timestamp,
    /// How many versions there were.
    pub version: u32,
    /// Its site.
    pub site: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its words.
    pub words: u64,
    /// What it is.
    pub kind: Kind,
    /// The key of its original, if it is a copy.
    pub original: Option<String>,
    /// What people decided of it, if that is in effect.
    pub decision: Option<Decision>,
}

/// Where a list of families continues: after the family of this size and original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FamiliesAfter {
    /// How many copies it has.
    pub copies: u64,
    /// Its original.
    pub original: Row,
}

/// A family in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilySummary {
    /// Its original.
    pub original: Listed,
    /// How many copies it has.
    pub copies: u64,
    /// On how many sites its documents stand; those that have no site count as one.
    pub sites: u64,
    /// When the last of its copies was created.
    pub last: Timestamp,
}

/// Families, the largest first; of equal ones the one whose original came first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Families {
    /// Those asked for.
    pub families: Vec<FamilySummary>,
    /// Where the list continues, if it does.
    pub next: Option<FamiliesAfter>,
    /// How many originals have copies.
    pub total: u64,
    /// Families by how many copies they have.
    pub sizes: BTreeMap<u64, u64>,
}

/// Part of a family.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyPart {
    /// How many documents the family has.
    pub total: u64,
    /// The original if the part begins with it, then copies, the earliest created first.
    pub documents: Vec<StoredDocument>,
}

impl Store {
    /// Up to `most` documents by when they were first stored, the latest first, starting after `before` if given.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn latest(&self, before: Option<Row>, most: usize) -> Result<Vec<Listed>, StoreError> {
        self.reading(|database| {
            let mut documents = Vec::new();
            for row in database.rows_before(before, most)? {
                if let Some(record) = database.record(row)? {
                    documents.push(listed(database, record)?);
                }
            }
            Ok(documents)
        })
    }

    /// Up to `most` families, the largest first, starting after `after` if given.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn families(
        &self,
        after: Option<FamiliesAfter>,
        most: usize,
    ) -> Result<Families, StoreError> {
        self.reading(|database| {
            let mut sizes = BTreeMap::new();
            let mut all = database.family_sizes()?;
            for (_, copies) in &all {
                *sizes.entry(*copies).or_insert(0) += 1;
            }
            let total = all.len() as u64;
            if let Some(FamiliesAfter { copies, original }) = after {
                all.retain(|&(row, size)| size < copies || (size == copies && row > original));
            }
            let place = |&(row, copies): &(Row, u64)| (std::cmp::Reverse(copies), row);
            if all.len() > most {
                all.select_nth_unstable_by_key(most, place);
            }
            let is_more = all.len() > most;
            all.truncate(most);
            all.sort_unstable_by_key(place);
            let next = all
                .last()
                .filter(|_| is_more)
                .map(|&(original, copies)| FamiliesAfter { copies, original });
            let mut families = Vec::with_capacity(all.len());
            for (row, copies) in all {
                let Some(record) = database.record(row)? else { continue };
                let (sites, last) = database.family_spread(row)?;
                let original = listed(database, record)?;
                families.push(FamilySummary { original, copies, sites, last });
            }
            Ok(Families { families, next, total, sizes })
        })
    }

    /// Up to `most` documents of the family a document belongs to, without the first `offset`: the
    /// original, then its copies by creation. `None` if there is no such document.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn family_part(
        &self,
        key: &str,
        offset: usize,
        most: usize,
    ) -> Result<Option<FamilyPart>, StoreError> {
        self.reading(|database| {
            let Some(record) = database.named(key)? else { return Ok(None) };
            let original = record.standing.original.unwrap_or(record.row);
            let copies = database.family(original)?;
            let total = 1 + copies.len() as u64;
            let rows = std::iter::once(original).chain(copies);
            let mut documents = Vec::new();
            for row in rows.skip(offset).take(most) {
                if let Some(record) = database.record(row)? {
                    documents.push(self.inner.stored_document(database, record)?);
                }
            }
            Ok(Some(FamilyPart { total, documents }))
        })
    }

    /// The document a person means: by its key, or else by its address.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn find(&self, name: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.reading(|database| {
            let record = database.named(name)?;
            record.map(|record| self.inner.stored_document(database, record)).transpose()
        })
    }
}

fn listed(database: &dyn Reading, record: Record) -> Result<Listed, StoreError> {
    let original = verdict(database, &record.standing)?.original;
    Ok(Listed {
        row: record.row,
        key: record.key,
        created: record.created,
        published: record.published,
        stored: record.stored,
        version: record.version,
        site: record.site,
        title: record.title,
        words: record.words,
        kind: record.standing.kind,
        original,
        decision: record.decision,
    })
}
