//! Reads stored documents: one, a family, or all of them.

use wonbon_sketch::ElementSet;

use super::{Inner, Store};
use crate::document::StoredDocument;
use crate::error::StoreError;
use crate::families::verdict;
use crate::tables::{Reading, Record};
use wonbon_rule::{Kind, Verdict};

impl Store {
    /// A stored document.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn get(&self, key: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.reading(|database| {
            let record = database.record_by_key(key)?;
            record.map(|record| self.inner.stored_document(database, record)).transpose()
        })
    }

    /// What a stored document is.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn verdict(&self, key: &str) -> Result<Option<Verdict>, StoreError> {
        self.reading(|database| {
            let record = database.record_by_key(key)?;
            record.map(|record| verdict(database, &record.standing)).transpose()
        })
    }

    /// Original and copies of the family a document belongs to, the original first.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn family(&self, key: &str) -> Result<Vec<StoredDocument>, StoreError> {
        self.reading(|database| {
            let Some(record) = database.record_by_key(key)? else { return Ok(Vec::new()) };
            let original = record.standing.original.unwrap_or(record.row);
            let rows = std::iter::once(original).chain(database.family(original)?);
            let mut family = Vec::new();
            for row in rows {
                if let Some(record) = database.record(row)? {
                    family.push(self.inner.stored_document(database, record)?);
                }
            }
            Ok(family)
        })
    }

    /// Calls `each` with every document, in the order in which they were first stored, as of one
    /// moment.
    ///
    /// # Errors
    ///
    /// The database's, or the first of `each`.
    pub fn for_each<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(StoredDocument) -> Result<(), E>,
    ) -> Result<(), E> {
        self.reading(|database| {
            let mut ended = Ok(());
            let read = database.for_each_record(&mut |record| {
                let document = self.inner.stored_document(database, record)?;
                ended = each(document);
                if ended.is_err() {
                    return Err(StoreError::Stopped { what: "the reader stopped".to_owned() });
                }
                Ok(())
            });
            ended?;
            read.map_err(E::from)
        })
    }
}

impl Inner {
    pub(crate) fn stored_document(
        &self,
        database: &dyn Reading,
        record: Record,
    ) -> Result<StoredDocument, StoreError> {
        let text = database.text(record.row)?;
        let copies = database.copies(record.row)?;
        self.whole_document(database, record, text, copies)
    }

    /// As [`Inner::stored_document`], with what was read already.
    pub(crate) fn whole_document(
        &self,
        database: &dyn Reading,
        record: Record,
        text: String,
        copies: u64,
    ) -> Result<StoredDocument, StoreError> {
        let mut verdict = verdict(database, &record.standing)?;
        if verdict.original.is_some() && verdict.resemblance.is_none() {
            let (shingles, ..) = self.preparer.shingles(&text);
            self.fill_resemblance(database, &mut verdict, &shingles)?;
        }
        Ok(StoredDocument {
            row: record.row,
            key: record.key,
            created: record.created,
            published: record.published,
            stored: record.stored,
            version: record.version,
            url: record.url,
            site: record.site,
            author: record.author,
            title: record.title,
            language: record.language,
            text,
            words: record.words,
            verdict,
            copies,
            decision: record.decision,
            decision_entry: record.decision_entry,
        })
    }

    pub(super) fn fill_resemblance(
        &self,
        database: &dyn Reading,
        verdict: &mut Verdict,
        shingles: &ElementSet,
    ) -> Result<(), StoreError> {
        if let (Some(original), None) = (&verdict.original, verdict.resemblance) {
            verdict.resemblance = match verdict.kind {
                Kind::Copy => match database.record_by_key(original)? {
                    Some(record) => {
                        let text = database.text(record.row)?;
                        Some(shingles.resemblance(&self.preparer.shingles(&text).0))
                    }
                    // Deleted since it was said.
                    None => None,
                },
                _ => Some(1.0),
            };
        }
        Ok(())
    }
}
