//! Where a document is now that its address is gone.
//!
//! A page that is gone may live on elsewhere: moved by its owner, kept by someone who copied it, put into a larger page, or
//! cut into several. Candidates are the documents that resemble its last text, the members of its family, and the targets of
//! redirects that sweeps saw at its address. Places that still exist come before places that are gone. Within each group the
//! order is: last seen latest; the target of a redirect (the owner's own statement); first seen latest; highest resemblance;
//! key.
//!
//! A redirect to a page that does not resemble the document (a front page, say) is reported but does not count as a place
//! that holds it. If no text is known, because only redirects of the address were seen, the redirect is believed.
//!
//! A store without sweeps cannot know that a page is gone: it uses creation and storing in place of first and last seen.
//!
//! At most [`MOST_PLACES`] are compared, those with the highest resemblance; the answer says when there were more.
//!
//! Cost: one question for resemblance, and if nothing holds the whole document, two for containment.

use std::cmp::Reverse;
use std::collections::HashSet;

use wonbon_index::Row;
use wonbon_sketch::{ElementSet, Overlap};
use wonbon_time::Timestamp;

use super::ask::{Match, Measure, Question};
use crate::error::StoreError;
use crate::store::Store;
use crate::sweeps::Place;
use crate::tables::{Reading, Record};

/// The most places that are compared for one question.
pub const MOST_PLACES: usize = 100_000;

/// A page holds a document inside itself if it has this part of it.
const MERGED: f64 = 0.8;

/// A page is a part of a document if this much of the page is the document's…
const PART_OF_PAGE: f64 = 0.5;
/// …and this much of the document.
const PART_OF_DOCUMENT: f64 = 0.1;

/// The most redirects that are followed.
const MOST_HOPS: usize = 16;

/// A place that holds a document, or a part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Holder {
    /// Where, and when it was seen there.
    pub place: Place,
    /// The exact sizes, the document asked about on the left; unknown where no text of it is.
    pub overlap: Option<Overlap>,
    /// The sweep that saw the address asked about lead here, if one did.
    pub redirect: Option<Timestamp>,
}

/// One step of a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The address.
    pub from: String,
    /// Where it leads.
    pub to: String,
    /// The latest sweep that saw it.
    pub sweep: Timestamp,
}

/// What became of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// It is where it was.
    Here,
    /// It is elsewhere; the first is the newest place.
    Moved(Vec<Holder>),
    /// It is inside a larger page; the first is the newest.
    Merged(Vec<Holder>),
    /// Pages hold parts of it, the largest part first.
    Split {
        /// The parts.
        parts: Vec<Holder>,
        /// What share of the document they have together.
        covered: f64,
    },
    /// Nothing holds it any more; these did, the last seen first.
    Gone(Vec<Holder>),
}

impl Finding {
    /// Where it is or was, the best first.
    #[must_use]
    pub fn places(&self) -> &[Holder] {
        match self {
            Finding::Here => &[],
            Finding::Moved(places) | Finding::Merged(places) | Finding::Gone(places) => places,
            Finding::Split { parts, .. } => parts,
        }
    }
}

/// The answer to where a document is.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// The address asked about.
    pub asked: String,
    /// Where it was; unknown if only redirects of the address were seen.
    pub place: Option<Place>,
    /// Where the address leads, step by step.
    pub redirects: Vec<Hop>,
    /// What became of it.
    pub finding: Finding,
    /// Other places that are there and hold it, if it is where it was.
    pub also: Vec<Holder>,
    /// How many places were found, listed here or not.
    pub total: usize,
    /// Whether more places may hold it than were compared.
    pub cut: bool,
}

impl Moved {
    /// Keeps at most `limit` places, the best ones.
    pub fn keep(&mut self, limit: usize) {
        match &mut self.finding {
            Finding::Here => {}
            Finding::Moved(places) | Finding::Merged(places) | Finding::Gone(places) => {
                places.truncate(limit);
            }
            Finding::Split { parts, .. } => parts.truncate(limit),
        }
        self.also.truncate(limit);
    }
}

/// Documents that share something with a text.
pub(super) struct Alike {
    /// The highest resemblance first.
    pub(super) matches: Vec<Match>,
    /// Whether there are more, or may be.
    pub(super) cut: bool,
}

impl Store {
    /// Says where the document of an address is now; `None` if the address was never seen. Places
    /// resemble its last text by at least `min`.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn moved(&self, asked: &str, min: f64) -> Result<Option<Moved>, StoreError> {
        let (record, hops) = self.reading(|database| {
            let record = database.named(asked)?;
            // Redirects are noted by address, which may not be what was asked.
            let names = record.as_ref().map(|record| [Some(&record.key), record.url.as_ref()]);
            let mut hops = hops_from(database, asked)?;
            for name in names.into_iter().flatten().flatten() {
                if hops.is_empty() && name != asked {
                    hops = hops_from(database, name)?;
                }
            }
            Ok::<_, StoreError>((record, hops))
        })?;
        let Some(record) = record else {
            return if hops.is_empty() {
                Ok(None)
            } else {
                self.only_redirects(asked, hops).map(Some)
            };
        };
        let place = self.reading(|database| database.place(&record))?;
        let text = self.reading(|database| database.text(record.row))?;
        let (shingles, ..) = self.inner.preparer.shingles(&text);
        let (there, gone, cut) = self.holders(&record, &text, &shingles, &hops, min)?;
        let answer = |finding: Finding, also: Vec<Holder>, cut| Moved {
            asked: asked.to_owned(),
            place: Some(place.clone()),
            redirects: hops.clone(),
            total: finding.places().len() + also.len(),
            finding,
            also,
            cut,
        };
        if place.gone.is_none() {
            return Ok(Some(answer(Finding::Here, there, cut)));
        }
        if !there.is_empty() {
            return Ok(Some(answer(Finding::Moved(there), Vec::new(), cut)));
        }
        let (merged, cut_merged) =
            self.sharing(record.row, &text, Measure::Within, MERGED, &hops)?;
        if !merged.is_empty() {
            return Ok(Some(answer(Finding::Merged(merged), Vec::new(), cut_merged)));
        }
        let (mut parts, cut_parts) =
            self.sharing(record.row, &text, Measure::Contains, PART_OF_PAGE, &hops)?;
        let share = |holder: &Holder| holder.overlap.map_or(0.0, |overlap| overlap.left_in_right());
        parts.retain(|part| share(part) >= PART_OF_DOCUMENT);
        if !parts.is_empty() {
            parts.sort_by(|a, b| {
                share(b).total_cmp(&share(a)).then_with(|| a.place.key.cmp(&b.place.key))
            });
            let covered = self.covered(&shingles, &parts)?;
            return Ok(Some(answer(Finding::Split { parts, covered }, Vec::new(), cut_parts)));
        }
        Ok(Some(answer(Finding::Gone(gone), Vec::new(), cut || cut_merged || cut_parts)))
    }

    /// An address of which nothing was stored: its redirect is believed.
    fn only_redirects(&self, asked: &str, hops: Vec<Hop>) -> Result<Moved, StoreError> {
        let last = hops.last().expect("there are some");
        let target = self.reading(|database| {
            let record = database.named(&last.to)?;
            record.map(|record| database.place(&record)).transpose()
        })?;
        let holders =
            target.map(|place| Holder { place, overlap: None, redirect: Some(last.sweep) });
        let finding = match holders {
            Some(holder) if holder.place.gone.is_none() => Finding::Moved(vec![holder]),
            holder => Finding::Gone(holder.into_iter().collect()),
        };
        Ok(Moved {
            asked: asked.to_owned(),
            place: None,
            redirects: hops,
            total: finding.places().len(),
            finding,
            also: Vec::new(),
            cut: false,
        })
    }

    /// At most `most` documents that reach the value asked for, and whether there are more.
    pub(super) fn alike(
        &self,
        text: &str,
        measure: Measure,
        min: f64,
        most: usize,
    ) -> Result<Alike, StoreError> {
        let mut answer = self.ask(text, &Question { measure, min, limit: most + 1 })?;
        let cut = answer.matches.len() > most || !answer.complete;
        answer.matches.truncate(most);
        Ok(Alike { matches: answer.matches, cut })
    }

    /// Places that hold a document whole: those that are there, and those that are gone, each with
    /// the best first; and whether there may be more.
    fn holders(
        &self,
        record: &Record,
        text: &str,
        shingles: &ElementSet,
        hops: &[Hop],
        min: f64,
    ) -> Result<(Vec<Holder>, Vec<Holder>, bool), StoreError> {
        let Alike { matches, cut } = self.alike(text, Measure::Resemblance, min, MOST_PLACES)?;
        let mut found: Vec<(Row, Option<Overlap>)> =
            matches.into_iter().map(|found| (found.document.row, Some(found.overlap))).collect();
        self.reading(|database| {
            let mut known: HashSet<Row> = found.iter().map(|(row, _)| *row).collect();
            known.insert(record.row);
            let family = family_of(database, record)?.into_iter();
            found.extend(family.filter(|row| known.insert(*row)).map(|row| (row, None)));
            let mut holders = Vec::new();
            for (row, overlap) in found {
                if row == record.row {
                    continue;
                }
                self.check_cancelled()?;
                // Deleted since it was found.
                let Some(other) = database.record(row)? else { continue };
                let overlap = match overlap {
                    Some(overlap) => overlap,
                    None => shingles.overlap(&self.inner.preparer.shingles(&database.text(row)?).0),
                };
                holders.push(holder(database, &other, overlap, hops)?);
            }
            let (mut there, mut gone): (Vec<_>, Vec<_>) =
                holders.into_iter().partition(|holder| holder.place.gone.is_none());
            for holders in [&mut there, &mut gone] {
                holders.sort_by(best_first);
            }
            Ok((there, gone, cut))
        })
    }

    /// Existing places that reach the value asked for, and whether there may be more.
    fn sharing(
        &self,
        row: Row,
        text: &str,
        measure: Measure,
        min: f64,
        hops: &[Hop],
    ) -> Result<(Vec<Holder>, bool), StoreError> {
        let answer = self.alike(text, measure, min, MOST_PLACES)?;
        self.reading(|database| {
            let mut holders = Vec::new();
            for found in answer.matches {
                if found.document.row == row {
                    continue;
                }
                let Some(other) = database.record(found.document.row)? else { continue };
                let holder = holder(database, &other, found.overlap, hops)?;
                if holder.place.gone.is_none() {
                    holders.push(holder);
                }
            }
            holders.sort_by(best_first);
            Ok((holders, answer.cut))
        })
    }

    /// The share of a set that the texts of some places have together.
    fn covered(&self, shingles: &ElementSet, parts: &[Holder]) -> Result<f64, StoreError> {
        self.reading(|database| {
            let mut all = Vec::new();
            for part in parts {
                self.check_cancelled()?;
                if let Some(record) = database.record_by_key(&part.place.key)? {
                    let text = database.text(record.row)?;
                    all.extend(self.inner.preparer.shingles(&text).0.into_vec());
                }
            }
            Ok(shingles.overlap(&ElementSet::new(all)).left_in_right())
        })
    }
}

/// Original and copies of a document's family.
pub(crate) fn family_of(database: &dyn Reading, record: &Record) -> Result<Vec<Row>, StoreError> {
    let original = record.standing.original.unwrap_or(record.row);
    let mut rows = database.family(original)?;
    rows.push(original);
    Ok(rows)
}

fn holder(
    database: &dyn Reading,
    record: &Record,
    overlap: Overlap,
    hops: &[Hop],
) -> Result<Holder, StoreError> {
    let leads_here =
        |hop: &&Hop| hop.to == record.key || record.url.as_ref().is_some_and(|url| *url == hop.to);
    let redirect = hops.iter().find(leads_here).map(|hop| hop.sweep);
    Ok(Holder { place: database.place(record)?, overlap: Some(overlap), redirect })
}

/// Last seen latest; then the target of a redirect; then first seen latest; then the highest resemblance.
fn best_first(a: &Holder, b: &Holder) -> std::cmp::Ordering {
    let rank = |holder: &Holder| {
        Reverse((holder.place.last, holder.redirect.is_some(), holder.place.first))
    };
    let alike = |holder: &Holder| holder.overlap.map_or(0.0, |overlap| overlap.resemblance());
    rank(a)
        .cmp(&rank(b))
        .then_with(|| alike(b).total_cmp(&alike(a)))
        .then_with(|| a.place.key.cmp(&b.place.key))
}

/// Where an address leads, step by step, by the latest redirect of each.
fn hops_from(database: &dyn Reading, asked: &str) -> Result<Vec<Hop>, StoreError> {
    let mut hops: Vec<Hop> = Vec::new();
    let mut at = asked.to_owned();
    while hops.len() < MOST_HOPS {
        let Some((sweep, to)) = database.redirects(&at)?.pop() else { break };
        if to == asked || hops.iter().any(|hop| hop.from == to) {
            break;
        }
        hops.push(Hop { from: std::mem::replace(&mut at, to.clone()), to, sweep });
    }
    Ok(hops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::NewDocument;
    use crate::params::StoreParams;

    const TEXT: &str = "the ferry did not come that morning and the whole village stood waiting";

    fn holder(key: &str) -> Holder {
        let place = Place {
            key: key.to_owned(),
            site: None,
            title: None,
            first: Timestamp::from_seconds(1),
            last: Timestamp::from_seconds(2),
            gone: None,
            swept: false,
            versions: 1,
        };
        Holder { place, overlap: None, redirect: None }
    }

    #[test]
    fn what_is_found_beyond_the_most_is_told_to_be_cut() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
        for number in 0..6 {
            let created = Timestamp::from_seconds(number);
            store.add(&NewDocument::text(&format!("d{number}"), Some(created), TEXT)).unwrap();
        }
        for (most, told, cut) in [(0, 0, true), (5, 5, true), (6, 6, false), (7, 6, false)] {
            let alike = store.alike(TEXT, Measure::Resemblance, 0.5, most).unwrap();
            assert_eq!((alike.matches.len(), alike.cut), (told, cut), "{most}");
        }
    }

    #[test]
    fn the_best_places_are_kept_and_their_number_is_still_told() {
        let places = || ["a", "b", "c"].map(holder).to_vec();
        for finding in [
            Finding::Here,
            Finding::Moved(places()),
            Finding::Merged(places()),
            Finding::Split { parts: places(), covered: 0.9 },
            Finding::Gone(places()),
        ] {
            let also = if finding == Finding::Here { places() } else { Vec::new() };
            let mut moved = Moved {
                asked: "asked".to_owned(),
                place: None,
                redirects: Vec::new(),
                finding,
                also,
                total: 3,
                cut: false,
            };
            moved.keep(2);
            let kept: Vec<&str> = moved
                .finding
                .places()
                .iter()
                .chain(&moved.also)
                .map(|holder| holder.place.key.as_str())
                .collect();
            assert_eq!((kept.as_slice(), moved.total), (["a", "b"].as_slice(), 3));
        }
    }
}
