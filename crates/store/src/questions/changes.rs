//! How pages change: the versions of one page; and over all pages how often and how much they change, how long they live.
//!
//! Everything follows from runs of sightings (see `sweeps`). In a sweep that saw its site a page is
//! seen or missed; compared with the sweep of its site before, a page that is seen is one of
//!
//! | word | means |
//! |---|---|
//! | found | the site was swept for the first time |
//! | born | never seen before |
//! | came back | seen before, but missed in between |
//! | changed | seen as another version |
//! | unchanged | seen as the same version |
//!
//! A page that was seen in the sweep before and is missed now died. A family that in one sweep loses an address
//! and gains another moved: losses and gains are matched one to one in the order of their keys, within
//! a site first, then between sites. (So a move is also a death and a birth.) Families are the current ones.
//!
//! The pass over all sightings is in `change_counting`.
//!
//! Cost: one pass over sightings with a row read for each page; for each change the resemblance that
//! was computed when the version was stored. Memory: four numbers for each page and each loss or gain.

use std::collections::BTreeMap;
use std::time::Duration;

use wonbon_index::Row;
use wonbon_sketch::ElementSet;
use wonbon_time::Timestamp;

use crate::error::StoreError;
use crate::prepare::Preparer;
use crate::questions::change_counting::ChangeCounts;
use crate::store::Store;
use crate::sweeps::{Place, Sighting};
use crate::tables::{Reading, Record};

/// One version of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Its number, counted from one.
    pub version: u32,
    /// When it was created, as it says.
    pub created: Timestamp,
    /// When it was stored.
    pub stored: Timestamp,
    /// Its title.
    pub title: Option<String>,
    /// Its words.
    pub words: u64,
    /// Its exact resemblance to the version before.
    pub resemblance: Option<f64>,
    /// When sweeps saw it, from the first to the last of each run.
    pub seen: Vec<(Timestamp, Timestamp)>,
}

/// A page and its versions.
#[derive(Debug, Clone, PartialEq)]
pub struct PageHistory {
    /// The page.
    pub place: Place,
    /// Its versions, the first one first.
    pub versions: Vec<Version>,
}

/// Which pages and sweeps are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangesQuestion<'a> {
    /// Pages of this site only.
    pub site: Option<&'a str>,
    /// Sweeps from this date on.
    pub since: Option<Timestamp>,
}

/// What one sweep saw; the head of the module says what the words mean.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SweepChanges {
    /// Its date.
    pub sweep: Timestamp,
    /// Pages it saw: the sum of the next five.
    pub seen: u64,
    /// On sites that were swept for the first time.
    pub found: u64,
    /// Never seen before.
    pub born: u64,
    /// Missed before, and seen before that.
    pub came_back: u64,
    /// Seen as another version than before.
    pub changed: u64,
    /// Seen as before.
    pub unchanged: u64,
    /// Seen before and missed now.
    pub died: u64,
    /// Moved to another address of their site.
    pub moved_within: u64,
    /// Moved to another site.
    pub moved_between: u64,
    /// The sum of resemblances between the two versions of those that changed.
    pub resemblances: f64,
}

impl SweepChanges {
    /// How much those that changed resemble what they were, on average.
    #[must_use]
    pub fn mean_resemblance(&self) -> Option<f64> {
        (self.changed > 0).then(|| self.resemblances / self.changed as f64)
    }
}

/// Upper ends of the classes of [`Changes::rates`], in percent: never, up to a quarter, a half, three
/// quarters, less than always, always.
pub const RATE_CLASSES: [&str; 6] = ["never", "to 25 %", "to 50 %", "to 75 %", "to 99 %", "always"];

/// The classes of [`Lives::by_sweeps`].
pub const LIFE_CLASSES: [&str; 6] = ["1", "2", "3–4", "5–8", "9–16", "17+"];

/// How long pages lived, from the first to the last sweep that saw them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lives {
    /// How many pages.
    pub pages: u64,
    /// The sum of their lives.
    pub(super) total: Duration,
    /// The life in the middle of all.
    pub median: Option<Duration>,
    /// Pages by how many sweeps of their site their life spans; see [`LIFE_CLASSES`].
    pub by_sweeps: [u64; LIFE_CLASSES.len()],
}

impl Lives {
    /// The mean life.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        (self.pages > 0).then(|| self.total.div_f64(self.pages as f64))
    }
}

/// How pages change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// What each sweep saw, the earliest first.
    pub sweeps: Vec<SweepChanges>,
    /// Pages that were seen.
    pub pages: u64,
    /// Pairs of neighbouring sweeps that saw a page, over all pages.
    pub intervals: u64,
    /// Those between which it changed.
    pub changed_intervals: u64,
    /// Pages by how many times they changed.
    pub changes_per_page: BTreeMap<u32, u64>,
    /// Pages that were seen in neighbouring sweeps, by the share of intervals in which they changed;
    /// see [`RATE_CLASSES`].
    pub rates: [u64; RATE_CLASSES.len()],
    /// Changes by the resemblance of the two versions: ten classes of a tenth, and equal shingles.
    pub resemblances: [u64; 11],
    /// Lives that ended.
    pub ended: Lives,
    /// Lives that go on.
    pub going_on: Lives,
}

/// A version that is no longer the present one.
pub(crate) struct OldVersion {
    pub(crate) version: u32,
    pub(crate) created: Timestamp,
    pub(crate) stored: Timestamp,
    pub(crate) title: Option<String>,
    pub(crate) words: Option<u64>,
    /// To the next version.
    pub(crate) resemblance: Option<f64>,
}

impl Store {
    /// The versions of a page, with `since` those that were stored or seen from then on; `None` if
    /// there is no such page.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn history(
        &self,
        asked: &str,
        since: Option<Timestamp>,
    ) -> Result<Option<PageHistory>, StoreError> {
        let preparer = &self.inner.preparer;
        self.reading(|database| {
            let Some(record) = database.named(asked)? else { return Ok(None) };
            let sightings = database.sightings(record.row)?;
            let seen = |version| {
                let of_version = sightings.iter().filter(|run| run.version == version);
                of_version.map(|run| (run.first, run.last)).collect::<Vec<_>>()
            };
            let mut versions = Vec::new();
            let mut resemblance = None;
            for old in database.versions(record.row)? {
                let words = match old.words {
                    Some(words) => words,
                    None => preparer.shingles(&database.version_text(record.row, old.version)?).1,
                };
                versions.push(Version {
                    version: old.version,
                    created: old.created,
                    stored: old.stored,
                    title: old.title,
                    words,
                    resemblance,
                    seen: seen(old.version),
                });
                resemblance = Some(match old.resemblance {
                    Some(known) => known,
                    None => resemblance_between(
                        database,
                        preparer,
                        &record,
                        old.version,
                        old.version + 1,
                    )?,
                });
            }
            versions.push(Version {
                version: record.version,
                created: record.created,
                stored: record.stored,
                title: record.title.clone(),
                words: record.words,
                resemblance,
                seen: seen(record.version),
            });
            if let Some(since) = since {
                versions.retain(|version| {
                    let latest = version.seen.last().map_or(version.stored, |(_, last)| *last);
                    latest >= since
                });
            }
            Ok(Some(PageHistory { place: database.place(&record)?, versions }))
        })
    }

    /// How pages change over all sweeps, or those asked about.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn changes(&self, question: &ChangesQuestion<'_>) -> Result<Changes, StoreError> {
        self.reading(|database| {
            let mut counting = ChangeCounts::new(database, &self.inner.preparer, *question)?;
            let mut of_page: Option<(Row, Vec<Sighting>)> = None;
            database.for_each_sighting(&mut |(row, run)| {
                match &mut of_page {
                    Some((known, runs)) if *known == row => runs.push(run),
                    _ => {
                        if let Some((row, runs)) = of_page.replace((row, vec![run])) {
                            counting.count_page(row, &runs)?;
                        }
                    }
                }
                Ok(())
            })?;
            if let Some((row, runs)) = of_page {
                counting.count_page(row, &runs)?;
            }
            counting.count_pages_without_sweeps()?;
            counting.count_moves()?;
            Ok(counting.finish())
        })
    }
}

/// The exact resemblance of two versions of a document. Two without words count as equal: nothing
/// changed between them.
pub(crate) fn resemblance_of_versions(one: &ElementSet, other: &ElementSet) -> f64 {
    if one == other { 1.0 } else { one.resemblance(other) }
}

/// The exact resemblance of two versions of a document, from their texts.
pub(super) fn resemblance_between(
    database: &dyn Reading,
    preparer: &Preparer,
    record: &Record,
    one: u32,
    other: u32,
) -> Result<f64, StoreError> {
    let shingles = |version| -> Result<_, StoreError> {
        let text = if version == record.version {
            database.text(record.row)?
        } else {
            database.version_text(record.row, version)?
        };
        Ok(preparer.shingles(&text).0)
    };
    Ok(resemblance_of_versions(&shingles(one)?, &shingles(other)?))
}
