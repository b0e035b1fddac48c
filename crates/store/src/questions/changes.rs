//! How pages change: the versions of one, and over all how often, how much, how long they live.
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
//! and a page that was seen then and is missed now died. A family that in one sweep loses an address
//! and gains another moved: losses and gains are matched one to one in the order of their keys, within
//! a site first, then between sites. (So a move is also a death and a birth.) Families are those of
//! now.
//!
//! Cost: one pass over sightings with a row read for each page; for each change the resemblance that
//! was computed when the version was stored. Memory: four numbers for each page and each loss or gain.

use std::collections::BTreeMap;

use wonbon_index::Row;
use wonbon_sketch::ElementSet;

use crate::database::{Database, Record};
use crate::error::StoreError;
use crate::prepare::Preparer;
use crate::store::Store;
use crate::sweeps::{Place, Sighting, swept_site};

/// One version of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// Its number, counted from one.
    pub version: u32,
    /// When it was created, as it says, in microseconds since 1970.
    pub created: i64,
    /// When it was stored.
    pub stored: i64,
    /// Its title.
    pub title: Option<String>,
    /// Its words.
    pub words: u64,
    /// Its exact resemblance to the version before.
    pub resemblance: Option<f64>,
    /// When sweeps saw it, from the first to the last of each run.
    pub seen: Vec<(i64, i64)>,
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
    /// Sweeps from this date on, in microseconds since 1970.
    pub since: Option<i64>,
}

/// What one sweep saw; the head of the module says what the words mean.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SweepChanges {
    /// Its date, in microseconds since 1970.
    pub sweep: i64,
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
    /// The sum of their lives, in microseconds.
    microseconds: i128,
    /// The life in the middle of all, in microseconds.
    pub median: Option<i64>,
    /// Pages by how many sweeps of their site their life spans; see [`LIFE_CLASSES`].
    pub by_sweeps: [u64; LIFE_CLASSES.len()],
}

impl Lives {
    /// The mean life, in microseconds.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.microseconds as f64 / self.pages as f64)
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
    pub(crate) created: i64,
    pub(crate) stored: i64,
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
        since: Option<i64>,
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
                    None => between(database, preparer, &record, old.version, old.version + 1)?,
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
            let mut counting = Counting::new(database, &self.inner.preparer, *question)?;
            let mut of_page: Option<(Row, Vec<Sighting>)> = None;
            database.for_each_sighting(|row, run| {
                match &mut of_page {
                    Some((known, runs)) if *known == row => runs.push(run),
                    _ => {
                        if let Some((row, runs)) = of_page.replace((row, vec![run])) {
                            counting.page(row, &runs)?;
                        }
                    }
                }
                Ok(())
            })?;
            if let Some((row, runs)) = of_page {
                counting.page(row, &runs)?;
            }
            counting.pages_without_sweeps()?;
            counting.moves()?;
            Ok(counting.finish())
        })
    }
}

/// The exact resemblance of two versions of a document. Two that have no words are alike: nothing
/// changed between them.
pub(crate) fn resemblance_of_versions(one: &ElementSet, other: &ElementSet) -> f64 {
    if one == other { 1.0 } else { one.resemblance(other) }
}

/// The exact resemblance of two versions of a document, from their texts.
fn between(
    database: &Database,
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

/// An address that a family lost or gained in a sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    sweep: usize,
    family: u32,
    row: u32,
    site: usize,
}

/// The sweeps of a site: which of all they are.
struct SiteSweeps {
    asked: bool,
    dates: Vec<i64>,
    sweeps: Vec<usize>,
}

struct Counting<'a> {
    database: &'a Database,
    preparer: &'a Preparer,
    question: ChangesQuestion<'a>,
    sites: Vec<SiteSweeps>,
    site_numbers: BTreeMap<String, usize>,
    losses: Vec<Turn>,
    gains: Vec<Turn>,
    ended: Vec<i64>,
    going_on: Vec<i64>,
    changes: Changes,
}

impl<'a> Counting<'a> {
    fn new(
        database: &'a Database,
        preparer: &'a Preparer,
        question: ChangesQuestion<'a>,
    ) -> Result<Self, StoreError> {
        let dates = database.sweeps()?;
        let of_sweep = |&sweep| SweepChanges { sweep, ..SweepChanges::default() };
        let sweeps = dates.iter().map(of_sweep).collect();
        let mut counting = Counting {
            database,
            preparer,
            question,
            sites: Vec::new(),
            site_numbers: BTreeMap::new(),
            losses: Vec::new(),
            gains: Vec::new(),
            ended: Vec::new(),
            going_on: Vec::new(),
            changes: Changes { sweeps, ..Changes::default() },
        };
        database.for_each_site_sweep(|site, date| {
            let next = counting.sites.len();
            let number = *counting.site_numbers.entry(site.to_owned()).or_insert(next);
            if number == next {
                let asked = question.site.is_none_or(|asked| asked == site);
                counting.sites.push(SiteSweeps { asked, dates: Vec::new(), sweeps: Vec::new() });
            }
            let of_site = &mut counting.sites[number];
            of_site.dates.push(date);
            of_site.sweeps.push(dates.partition_point(|&other| other < date));
        })?;
        Ok(counting)
    }

    fn in_time(&self, date: i64) -> bool {
        self.question.since.is_none_or(|since| date >= since)
    }

    /// Counts one page with its runs.
    fn page(&mut self, row: Row, runs: &[Sighting]) -> Result<(), StoreError> {
        let Some(record) = self.database.record(row)? else { return Ok(()) };
        let family = record.standing.original.unwrap_or(row).0;
        let Some(&site) = self.site_numbers.get(swept_site(record.site.as_deref())) else {
            return Ok(());
        };
        let turn = |sweep| Turn { sweep, family, row: row.0, site };
        let of_site = &self.sites[site];
        let asked = of_site.asked;
        let (mut intervals, mut changed, mut seen) = (0_u64, 0_u32, false);
        // Where and as what it was seen before.
        let mut before: Option<(usize, u32)> = None;
        let mut changes = Vec::new();
        for run in runs {
            let from = of_site.dates.partition_point(|&date| date < run.first);
            let to = of_site.dates.partition_point(|&date| date <= run.last);
            for at in from..to {
                let (date, sweep) = (of_site.dates[at], of_site.sweeps[at]);
                let counted = asked && self.in_time(date);
                let known = before.replace((at, run.version));
                let counts = &mut self.changes.sweeps[sweep];
                let mut count = |place: fn(&mut SweepChanges) -> &mut u64| {
                    if counted {
                        *place(counts) += 1;
                    }
                };
                count(|counts| &mut counts.seen);
                seen |= counted;
                match known {
                    None if at == 0 => count(|counts| &mut counts.found),
                    None => count(|counts| &mut counts.born),
                    Some((last, _)) if last + 1 < at => {
                        count(|counts| &mut counts.came_back);
                        self.losses.push(turn(of_site.sweeps[last + 1]));
                        if asked && self.question.since.is_none_or(|s| of_site.dates[last + 1] >= s)
                        {
                            self.changes.sweeps[of_site.sweeps[last + 1]].died += 1;
                        }
                    }
                    Some((_, version)) if version == run.version => {
                        count(|counts| &mut counts.unchanged);
                        intervals += u64::from(counted);
                        continue;
                    }
                    Some((_, version)) => {
                        count(|counts| &mut counts.changed);
                        intervals += u64::from(counted);
                        if counted {
                            changed += 1;
                            changes.push((sweep, version, run.version));
                        }
                        continue;
                    }
                }
                self.gains.push(turn(sweep));
            }
        }
        let Some((last, _)) = before else { return Ok(()) };
        let ended = last + 1 < of_site.dates.len();
        let first = of_site.dates.partition_point(|&date| date < runs[0].first);
        let life = of_site.dates[last] - of_site.dates[first];
        if ended {
            let sweep = of_site.sweeps[last + 1];
            self.losses.push(turn(sweep));
            if asked && self.in_time(of_site.dates[last + 1]) {
                self.changes.sweeps[sweep].died += 1;
            }
        }
        if !seen {
            return Ok(());
        }
        let all = &mut self.changes;
        let (lives, lengths) = if ended {
            (&mut all.ended, &mut self.ended)
        } else {
            (&mut all.going_on, &mut self.going_on)
        };
        lives.pages += 1;
        lives.microseconds += i128::from(life);
        lives.by_sweeps[life_class(last - first + 1)] += 1;
        lengths.push(life);
        all.pages += 1;
        all.intervals += intervals;
        all.changed_intervals += u64::from(changed);
        *all.changes_per_page.entry(changed).or_default() += 1;
        if intervals > 0 {
            all.rates[rate_class(u64::from(changed), intervals)] += 1;
        }
        for (sweep, from, to) in changes {
            let resemblance = self.neighbours(&record, from, to)?;
            self.changes.resemblances[(resemblance * 10.0) as usize] += 1;
            self.changes.sweeps[sweep].resemblances += resemblance;
        }
        Ok(())
    }

    fn neighbours(&self, record: &Record, from: u32, to: u32) -> Result<f64, StoreError> {
        if to == from + 1
            && let Some(known) = self.database.version_resemblance(record.row, from)?
        {
            return Ok(known);
        }
        between(self.database, self.preparer, record, from, to)
    }

    /// How much pages changed that no sweep saw.
    fn pages_without_sweeps(&mut self) -> Result<(), StoreError> {
        for row in self.database.rows_with_versions_and_no_sightings()? {
            let Some(record) = self.database.record(row)? else { continue };
            if self.question.site.is_some_and(|site| record.site.as_deref() != Some(site)) {
                continue;
            }
            let mut versions = self.database.versions(row)?.into_iter().peekable();
            while let Some(version) = versions.next() {
                let replaced = versions.peek().map_or(record.stored, |next| next.stored);
                if self.in_time(replaced) {
                    let number = version.version;
                    let resemblance = self.neighbours(&record, number, number + 1)?;
                    self.changes.resemblances[(resemblance * 10.0) as usize] += 1;
                }
            }
        }
        Ok(())
    }

    /// Matches what families lost with what they gained in the same sweep.
    fn moves(&mut self) -> Result<(), StoreError> {
        self.losses.sort_unstable();
        self.gains.sort_unstable();
        let mut gains = self.gains.as_slice();
        let mut losses = self.losses.as_slice();
        while let (Some(loss), Some(gain)) = (losses.first(), gains.first()) {
            let group = (loss.sweep, loss.family).max((gain.sweep, gain.family));
            let behind =
                |turns: &[Turn]| turns.partition_point(|turn| (turn.sweep, turn.family) < group);
            let upto =
                |turns: &[Turn]| turns.partition_point(|turn| (turn.sweep, turn.family) <= group);
            let lost = &losses[behind(losses)..upto(losses)];
            let gained = &gains[behind(gains)..upto(gains)];
            (losses, gains) = (&losses[upto(losses)..], &gains[upto(gains)..]);
            if lost.is_empty() || gained.is_empty() {
                continue;
            }
            for (from, to) in matched(self.database, lost, gained)? {
                let counts = &mut self.changes.sweeps[from.sweep];
                let asked = self.sites[from.site].asked || self.sites[to.site].asked;
                if !asked || self.question.since.is_some_and(|since| counts.sweep < since) {
                    continue;
                }
                if from.site == to.site {
                    counts.moved_within += 1;
                } else {
                    counts.moved_between += 1;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Changes {
        let median = |lengths: &mut Vec<i64>| {
            lengths.sort_unstable();
            lengths.get(lengths.len() / 2).copied()
        };
        self.changes.ended.median = median(&mut self.ended);
        self.changes.going_on.median = median(&mut self.going_on);
        let (site, since) = (self.question.site, self.question.since);
        let seen = site.and_then(|site| self.site_numbers.get(site)).map(|&site| &self.sites[site]);
        self.changes.sweeps.retain(|counts| {
            since.is_none_or(|since| counts.sweep >= since)
                && (site.is_none() || seen.is_some_and(|seen| seen.dates.contains(&counts.sweep)))
        });
        self.changes
    }
}

/// One to one in the order of keys, within a site first.
fn matched(
    database: &Database,
    lost: &[Turn],
    gained: &[Turn],
) -> Result<Vec<(Turn, Turn)>, StoreError> {
    let by_key = |turns: &[Turn]| -> Result<Vec<Turn>, StoreError> {
        let mut keyed = Vec::new();
        for turn in turns {
            keyed.push((database.key(Row(turn.row))?, *turn));
        }
        keyed.sort_unstable();
        Ok(keyed.into_iter().map(|(_, turn)| turn).collect())
    };
    let (lost, mut gained) = (by_key(lost)?, by_key(gained)?);
    let mut pairs = Vec::new();
    let mut left = Vec::new();
    for loss in lost {
        match gained.iter().position(|gain| gain.site == loss.site) {
            Some(at) => pairs.push((loss, gained.remove(at))),
            None => left.push(loss),
        }
    }
    pairs.extend(left.into_iter().zip(gained));
    Ok(pairs)
}

fn rate_class(changed: u64, intervals: u64) -> usize {
    match changed {
        0 => 0,
        _ if changed == intervals => 5,
        _ => (1 + (changed * 4).div_ceil(intervals).saturating_sub(1) as usize).min(4),
    }
}

fn life_class(sweeps: usize) -> usize {
    match sweeps {
        0..=2 => sweeps.saturating_sub(1),
        3..=4 => 2,
        5..=8 => 3,
        9..=16 => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_what_their_names_say() {
        let rates = [(0, 9), (1, 4), (2, 4), (3, 5), (3, 4), (9, 10), (99, 100), (7, 7)];
        let named = rates.map(|(changed, intervals)| RATE_CLASSES[rate_class(changed, intervals)]);
        assert_eq!(
            named,
            ["never", "to 25 %", "to 50 %", "to 75 %", "to 75 %", "to 99 %", "to 99 %", "always"]
        );
        let lives =
            [1, 2, 3, 4, 5, 8, 9, 16, 17, 400].map(|sweeps| LIFE_CLASSES[life_class(sweeps)]);
        assert_eq!(lives, ["1", "2", "3–4", "3–4", "5–8", "5–8", "9–16", "9–16", "17+", "17+"]);
    }
}
