//! Verifies that all parts of a store agree.
//!
//! Everything is read, and everything derived is computed again and compared:
//!
//! - every page of the database is checked, every row against its fingerprint, every text against its compressor's checksum;
//! - words, shingles and features are computed again from the text and looked up in the index of shingles;
//! - families are decided again from the first document to the last;
//! - old versions, sightings, redirects and watched documents are compared with the documents they belong to;
//! - the decisions in effect are compared with the log of decisions;
//! - the index in memory and the search index are compared with the originals.
//!
//! Cost: about that of adding all documents again, without the writing.

use wonbon_index::shingles::ShingleReader;
use wonbon_index::{CopyIndex, MemoryIndex, Row};
use wonbon_search::SearchReader;
use wonbon_sketch::ElementSet;
use wonbon_time::Timestamp;

use crate::document::Order;
use crate::error::StoreError;
use crate::judge::{Asked, Judge, MOST_CANDIDATES, ShingleCache};
use crate::questions::resemblance_of_versions;
use crate::store::{Inner, Store};
use crate::sweeps::Sighting;
use crate::tables::{Reading, Record};
use wonbon_rule::Kind;

/// How many differences are described in words.
const MOST_TOLD: usize = 20;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Documents that were verified.
    pub documents: u64,
    /// How many differences there are.
    pub differences: u64,
    /// The first of them, each in a sentence.
    pub first: Vec<String>,
}

impl Verified {
    fn differs(&mut self, what: String) {
        self.differences += 1;
        if self.first.len() < MOST_TOLD {
            self.first.push(what);
        }
    }
}

impl Store {
    /// Compares everything with everything.
    ///
    /// # Errors
    ///
    /// When the comparison cannot be made; a difference, damage included, is no error.
    pub fn verify(&self) -> Result<Verified, StoreError> {
        let caught_up = self.catch_up();
        if !matches!(
            caught_up,
            Ok(()) | Err(StoreError::ReadOnly { .. } | StoreError::NotFollowed { .. })
        ) {
            // What keeps it from catching up shows below as a difference.
        }
        self.follow_others()?;
        let mut verified = Verified::default();
        let shingles = match self.shingles() {
            Ok(shingles) => Some(shingles),
            Err(StoreError::NotFollowed { .. }) => None,
            Err(error) => {
                verified.differs(error.to_string());
                None
            }
        };
        let shingles = shingles.as_ref();
        self.reading(|database| match self.inner.verify(database, shingles, &mut verified) {
            Err(StoreError::Damaged { what, .. }) => {
                verified.differs(format!("the database is damaged: {what}"));
                Ok(())
            }
            Err(StoreError::Database(error)) => {
                verified.differs(format!("the database cannot be read: {error}"));
                Ok(())
            }
            ended => ended,
        })?;
        Ok(verified)
    }
}

/// Sweeps, sightings, redirects and watched documents against each other and the documents.
fn verify_sweeps(database: &dyn Reading, verified: &mut Verified) -> Result<(), StoreError> {
    let sweeps = database.sweeps()?;
    let known = |sweep: Timestamp| sweeps.binary_search(&sweep).is_ok();
    let mut wrong = Vec::new();
    database.for_each_site_sweep(&mut |(site, sweep)| {
        if !known(sweep) {
            wrong.push(format!("the site `{site}` was seen by a sweep that is not known"));
        }
        Ok(())
    })?;
    database.for_each_redirect(&mut |(redirect, whole)| {
        if !whole || !known(redirect.sweep) {
            let key = redirect.key;
            wrong.push(format!("the redirect of `{key}` is not as it was written"));
        }
        Ok(())
    })?;
    let mut before: Option<(Row, Sighting)> = None;
    database.for_each_sighting(&mut |(row, run)| {
        let follows =
            before.is_none_or(|(known, earlier)| known != row || earlier.last < run.first);
        let version = database.record(row)?.map(|record| record.version);
        let right = run.first <= run.last
            && known(run.first)
            && known(run.last)
            && follows
            && version.is_some_and(|version| (1..=version).contains(&run.version));
        if !right {
            wrong.push(format!("the sightings of document {} cannot be", row.0));
        }
        before = Some((row, run));
        Ok(())
    })?;
    for (row, _) in database.watched()? {
        if database.record(row)?.is_none() {
            wrong.push(format!("document {} is watched and is not there", row.0));
        }
    }
    for what in wrong {
        verified.differs(what);
    }
    Ok(())
}

impl Inner {
    fn verify(
        &self,
        database: &dyn Reading,
        shingles: Option<&ShingleReader>,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        if let Some(Err(error)) = shingles.map(ShingleReader::check) {
            verified.differs(error.to_string());
        }
        for sentence in database.integrity()? {
            verified.differs(format!("the database: {sentence}"));
        }
        let mut orders = Vec::new();
        let mut originals = Vec::new();
        database.for_each_record(&mut |record| {
            verified.documents += 1;
            self.verify_text(database, &record, shingles, verified)?;
            orders.push(record.order());
            if record.standing.kind == Kind::Original {
                originals.push(record.row);
            }
            Ok(())
        })?;
        let texts = database.count_texts()?;
        if texts != verified.documents {
            verified.differs(format!("{} documents have {texts} texts", verified.documents));
        }
        self.verify_versions(database, verified)?;
        verify_sweeps(database, verified)?;
        for difference in crate::tables::find_disagreements(database)? {
            verified.differs(difference);
        }
        self.verify_families(database, orders, verified)?;
        self.verify_index(database, &originals, verified)?;
        match self.check_followed("search") {
            Ok(()) => self.verify_search(database, &originals, verified),
            Err(_) => Ok(()),
        }
    }

    /// Words, shingles and features, made again.
    fn verify_text(
        &self,
        database: &dyn Reading,
        record: &Record,
        index: Option<&ShingleReader>,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        let text = match database.text(record.row) {
            Err(StoreError::Damaged { what, .. }) => {
                verified.differs(what);
                return Ok(());
            }
            text => text?,
        };
        let (shingles, words, text_fingerprint) = self.preparer.shingles(&text);
        let features = self.preparer.features(&shingles);
        if words != record.words
            || text_fingerprint != record.fingerprints.text
            || features != record.features
        {
            verified.differs(format!("`{}` has other features than its text", record.key));
        }
        if let Some(index) = index {
            let sketch = self.preparer.sampler().sketch(&shingles);
            let has = |&value: &u64| matches!(index.has(record.row, value), Ok(true));
            let indexed = index.document(record.row).unwrap_or_default();
            let same = indexed == (sketch.shingles, sketch.values.len() as u32)
                && sketch.values.iter().all(has);
            if !same {
                verified.differs(format!("`{}` has other shingles in their index", record.key));
            }
        }
        Ok(())
    }

    /// Old versions: their texts, and what is known of them, made again.
    fn verify_versions(
        &self,
        database: &dyn Reading,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        for row in database.rows_with_versions()? {
            let Some(record) = database.record(row)? else {
                verified.differs(format!("there are versions of document {}, which is not", row.0));
                continue;
            };
            // From the latest back: each says how much it resembles the next.
            let (present, ..) = self.preparer.shingles(&database.text(row)?);
            let mut next: Option<(ElementSet, u32)> = Some((present, record.version));
            for old in database.versions(row)?.into_iter().rev() {
                let text = match database.version_text(row, old.version) {
                    Err(StoreError::Damaged { what, .. }) => {
                        verified.differs(what);
                        next = None;
                        continue;
                    }
                    text => text?,
                };
                let (shingles, words, _) = self.preparer.shingles(&text);
                let follows = next.as_ref().filter(|(_, version)| *version == old.version + 1);
                let differs = old.words.is_some_and(|known| known != words)
                    || follows.zip(old.resemblance).is_some_and(|((next, _), known)| {
                        resemblance_of_versions(&shingles, next) != known
                    });
                if differs {
                    verified.differs(format!(
                        "version {} of `{}` is kept with other figures than its text has",
                        old.version, record.key
                    ));
                }
                next = Some((shingles, old.version));
            }
        }
        Ok(())
    }

    /// Families, decided again in order.
    fn verify_families(
        &self,
        database: &dyn Reading,
        mut orders: Vec<Order>,
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        orders.sort_unstable();
        let mut index = MemoryIndex::new(self.params.features().1)?;
        let judge = Judge { database, rule: self.params.rule, preparer: &self.preparer };
        let mut shingles = ShingleCache::default();
        for order in orders {
            let Some(record) = database.record(order.row)? else { continue };
            let asked = Asked::stored(&record);
            let candidates = index.closest(asked.features, MOST_CANDIDATES)?;
            let decided = judge.judge(candidates, &asked, &mut shingles)?.standing;
            let same = (decided.kind, decided.original, decided.features_equal)
                == (record.standing.kind, record.standing.original, record.standing.features_equal);
            if !same {
                verified.differs(format!(
                    "`{}` is stored as {} and is decided to be {}",
                    record.key,
                    record.standing.kind.name(),
                    decided.kind.name()
                ));
            }
            if record.standing.kind == Kind::Original {
                index.insert(order.row, &record.features)?;
            }
        }
        Ok(())
    }

    fn verify_index(
        &self,
        database: &dyn Reading,
        originals: &[Row],
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        let index = self.index.read();
        if index.len() != originals.len() {
            verified.differs(format!(
                "the index holds {} originals, the database {}",
                index.len(),
                originals.len()
            ));
        }
        for (row, features) in index.originals() {
            let known = originals.binary_search(&row).is_ok()
                && database.record(row)?.is_some_and(|record| record.features == features);
            if !known {
                verified.differs(format!("the index holds {}, which is no such original", row.0));
            }
        }
        Ok(())
    }

    fn verify_search(
        &self,
        database: &dyn Reading,
        originals: &[Row],
        verified: &mut Verified,
    ) -> Result<(), StoreError> {
        let reader = self.search.reader.read().expect("no one panics with it").clone();
        let Some(reader) = reader else {
            if !originals.is_empty() {
                verified.differs("there is no search index".to_owned());
            }
            return Ok(());
        };
        if let Err(error) = reader.verify() {
            verified.differs(error.to_string());
        }
        // Beside a process that writes, the search index may be a little behind: that is no difference.
        let last = database.last_change()?.0;
        if SearchReader::mark(&reader) != last {
            return Ok(());
        }
        let rows: Vec<Row> = reader.rows()?.into_iter().map(Row).collect();
        if rows != originals {
            verified.differs(format!(
                "the search index holds {} documents, the database {} originals",
                rows.len(),
                originals.len()
            ));
        }
        Ok(())
    }
}
