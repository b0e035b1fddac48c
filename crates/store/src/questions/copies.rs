//! Who holds a document: its copies by site, and which version each copy follows.
//!
//! When a widely copied document changes, its holders should be notified, except those that hold the present version. Each
//! holder is compared with every version of the document and follows the version it resembles most (of equals the newest).
//! Members of the document's family are holders however little they resemble it, because the store said so.
//!
//! For each version at most [`MOST_PLACES`] documents are compared, those with the highest resemblance; the answer says when
//! there were more.
//!
//! Cost: one question for each version, and a text read for each holder.

use std::collections::{BTreeMap, BTreeSet};

use wonbon_index::Row;
use wonbon_sketch::ElementSet;
use wonbon_time::Timestamp;

use super::ask::Measure;
use super::moved::{MOST_PLACES, family_of};
use crate::error::StoreError;
use crate::store::Store;
use crate::sweeps::Place;

/// A place that holds a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Where, and when it was seen there.
    pub place: Place,
    /// The version it follows, counted from one.
    pub follows: u32,
    /// Its exact resemblance to that version.
    pub resemblance: f64,
    /// Whether the store counts it to the document's family.
    pub family: bool,
}

/// The holders on one site.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteCopies {
    /// The site, if they have one.
    pub site: Option<String>,
    /// When the first of them was first seen.
    pub first: Timestamp,
    /// When the last was last seen.
    pub last: Timestamp,
    /// The holders, the first seen first.
    pub copies: Vec<Copy>,
}

/// Who holds a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Copies {
    /// The document itself.
    pub place: Place,
    /// The sites, those with the most holders first.
    pub sites: Vec<SiteCopies>,
    /// How many holders were found, listed here or not.
    pub total: usize,
    /// Whether there may be more holders than were compared.
    pub cut: bool,
}

impl Copies {
    /// How many holders are listed here.
    #[must_use]
    pub fn told(&self) -> usize {
        self.sites.iter().map(|site| site.copies.len()).sum()
    }

    /// Keeps at most `limit` holders: those of the first sites.
    pub fn keep(&mut self, limit: usize) {
        let mut left = limit;
        for site in &mut self.sites {
            site.copies.truncate(left);
            left -= site.copies.len();
        }
        self.sites.retain(|site| !site.copies.is_empty());
    }
}

impl Store {
    /// Finds the holders of a document; `None` if there is no such document. Holders resemble one of its
    /// versions by at least `min`.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn copies(&self, asked: &str, min: f64) -> Result<Option<Copies>, StoreError> {
        let Some(record) = self.named(asked)? else { return Ok(None) };
        let (place, family, versions) = self.reading(|database| {
            let place = database.place(&record)?;
            let family: BTreeSet<Row> = family_of(database, &record)?.into_iter().collect();
            let versions = database.versions(record.row)?;
            let mut texts: Vec<(u32, String)> = Vec::new();
            for version in versions {
                texts.push((version.version, database.version_text(record.row, version.version)?));
            }
            texts.push((record.version, database.text(record.row)?));
            Ok::<_, StoreError>((place, family, texts))
        })?;
        let mut rows = family.clone();
        let mut cut = false;
        for (_, text) in &versions {
            self.check_cancelled()?;
            let alike = self.alike(text, Measure::Resemblance, min, MOST_PLACES)?;
            rows.extend(alike.matches.iter().map(|found| found.document.row));
            cut |= alike.cut;
        }
        rows.remove(&record.row);
        let versions: Vec<(u32, ElementSet)> = versions
            .into_iter()
            .map(|(version, text)| (version, self.inner.preparer.shingles(&text).0))
            .collect();
        let mut sites: BTreeMap<Option<String>, Vec<Copy>> = BTreeMap::new();
        self.reading(|database| {
            for row in rows {
                self.check_cancelled()?;
                // Deleted since it was found.
                let Some(record) = database.record(row)? else { continue };
                let (shingles, ..) = self.inner.preparer.shingles(&database.text(row)?);
                let followed = versions
                    .iter()
                    .map(|(version, set)| (set.resemblance(&shingles), *version))
                    .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let Some((resemblance, follows)) = followed else { continue };
                let place = database.place(&record)?;
                let family = family.contains(&row);
                let of_site = sites.entry(record.site).or_default();
                of_site.push(Copy { place, follows, resemblance, family });
            }
            Ok::<(), StoreError>(())
        })?;
        let mut sites: Vec<SiteCopies> = sites
            .into_iter()
            .map(|(site, mut copies)| {
                copies.sort_by(|a, b| {
                    (a.place.first, &a.place.key).cmp(&(b.place.first, &b.place.key))
                });
                let first = copies.iter().map(|copy| copy.place.first).min().unwrap_or_default();
                let last = copies.iter().map(|copy| copy.place.last).max().unwrap_or_default();
                SiteCopies { site, first, last, copies }
            })
            .collect();
        sites.sort_by(|a, b| b.copies.len().cmp(&a.copies.len()).then_with(|| a.site.cmp(&b.site)));
        let total = sites.iter().map(|site| site.copies.len()).sum();
        Ok(Some(Copies { place, sites, total, cut }))
    }
}
