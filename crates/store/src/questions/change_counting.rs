//! The pass over all sightings behind [`Changes`]: counts births, deaths, changes and moves per sweep.

use std::collections::BTreeMap;
use std::time::Duration;

use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::changes::{Changes, ChangesQuestion, SweepChanges, resemblance_between};
use crate::error::StoreError;
use crate::prepare::Preparer;
use crate::sweeps::{Sighting, swept_site};
use crate::tables::{Reading, Record};

/// An address that a family lost or gained in a sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddressChange {
    sweep: usize,
    family: u32,
    row: u32,
    site: usize,
}

/// The sweeps of a site: which of all they are.
struct SiteSweeps {
    asked: bool,
    dates: Vec<Timestamp>,
    sweeps: Vec<usize>,
}

/// Counts what happened to pages, sweep by sweep; gives [`Changes`] at the end.
pub(super) struct ChangeCounts<'a> {
    database: &'a dyn Reading,
    preparer: &'a Preparer,
    question: ChangesQuestion<'a>,
    sites: Vec<SiteSweeps>,
    site_numbers: BTreeMap<String, usize>,
    losses: Vec<AddressChange>,
    gains: Vec<AddressChange>,
    ended: Vec<Duration>,
    going_on: Vec<Duration>,
    changes: Changes,
}

impl<'a> ChangeCounts<'a> {
    pub(super) fn new(
        database: &'a dyn Reading,
        preparer: &'a Preparer,
        question: ChangesQuestion<'a>,
    ) -> Result<Self, StoreError> {
        let dates = database.sweeps()?;
        let of_sweep = |&sweep| SweepChanges { sweep, ..SweepChanges::default() };
        let sweeps = dates.iter().map(of_sweep).collect();
        let mut counting = ChangeCounts {
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
        database.for_each_site_sweep(&mut |(site, date)| {
            let next = counting.sites.len();
            let number = *counting.site_numbers.entry(site.clone()).or_insert(next);
            if number == next {
                let asked = question.site.is_none_or(|asked| asked == site);
                counting.sites.push(SiteSweeps { asked, dates: Vec::new(), sweeps: Vec::new() });
            }
            let of_site = &mut counting.sites[number];
            of_site.dates.push(date);
            of_site.sweeps.push(dates.partition_point(|&other| other < date));
            Ok(())
        })?;
        Ok(counting)
    }

    fn in_time(&self, date: Timestamp) -> bool {
        self.question.since.is_none_or(|since| date >= since)
    }

    /// Counts one page with its runs.
    pub(super) fn count_page(&mut self, row: Row, runs: &[Sighting]) -> Result<(), StoreError> {
        let Some(record) = self.database.record(row)? else { return Ok(()) };
        let family = record.standing.original.unwrap_or(row).0;
        let Some(&site) = self.site_numbers.get(swept_site(record.site.as_deref())) else {
            return Ok(());
        };
        let turn = |sweep| AddressChange { sweep, family, row: row.0, site };
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
        let life = of_site.dates[last].since(of_site.dates[first]);
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
        lives.total += life;
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
        resemblance_between(self.database, self.preparer, record, from, to)
    }

    /// How much pages changed that no sweep saw.
    pub(super) fn count_pages_without_sweeps(&mut self) -> Result<(), StoreError> {
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
    pub(super) fn count_moves(&mut self) -> Result<(), StoreError> {
        self.losses.sort_unstable();
        self.gains.sort_unstable();
        let mut gains = self.gains.as_slice();
        let mut losses = self.losses.as_slice();
        while let (Some(loss), Some(gain)) = (losses.first(), gains.first()) {
            let group = (loss.sweep, loss.family).max((gain.sweep, gain.family));
            let behind = |turns: &[AddressChange]| {
                turns.partition_point(|turn| (turn.sweep, turn.family) < group)
            };
            let upto = |turns: &[AddressChange]| {
                turns.partition_point(|turn| (turn.sweep, turn.family) <= group)
            };
            let lost = &losses[behind(losses)..upto(losses)];
            let gained = &gains[behind(gains)..upto(gains)];
            (losses, gains) = (&losses[upto(losses)..], &gains[upto(gains)..]);
            if lost.is_empty() || gained.is_empty() {
                continue;
            }
            for (from, to) in match_moves(self.database, lost, gained)? {
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

    pub(super) fn finish(mut self) -> Changes {
        let median = |lengths: &mut Vec<Duration>| {
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
fn match_moves(
    database: &dyn Reading,
    lost: &[AddressChange],
    gained: &[AddressChange],
) -> Result<Vec<(AddressChange, AddressChange)>, StoreError> {
    let by_key = |turns: &[AddressChange]| -> Result<Vec<AddressChange>, StoreError> {
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
    use crate::questions::{LIFE_CLASSES, RATE_CLASSES};

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
