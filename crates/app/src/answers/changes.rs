//! Versions of a page, and how pages change from sweep to sweep.

use std::time::Duration;

use serde::Serialize;
use wonbon_store::{ChangesQuestion, LIFE_CLASSES, PageHistory, RATE_CLASSES, SweepChanges};

use super::Place;

/// A page and its versions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct History<'a> {
    /// Where the page is.
    pub place: Place<'a>,
    /// Its versions, the first one first.
    pub versions: Vec<Version<'a>>,
}

/// One version of a page.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Version<'a> {
    /// Its number, from 1.
    pub version: u32,
    /// When it was created, as it says.
    pub created: String,
    /// When it was stored.
    pub stored: String,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its words.
    pub words: u64,
    /// To the version before.
    pub resemblance: Option<f64>,
    /// When sweeps saw it, from the first to the last of each run.
    pub seen: Vec<[String; 2]>,
}

impl<'a> History<'a> {
    /// The JSON form of a page's history.
    #[must_use]
    pub fn of(history: &'a PageHistory) -> Self {
        History {
            place: Place::of(&history.place),
            versions: history
                .versions
                .iter()
                .map(|version| Version {
                    version: version.version,
                    created: version.created.to_string(),
                    stored: version.stored.to_string(),
                    title: version.title.as_deref(),
                    words: version.words,
                    resemblance: version.resemblance,
                    seen: version
                        .seen
                        .iter()
                        .map(|(a, b)| [*a, *b].map(|time| time.to_string()))
                        .collect(),
                })
                .collect(),
        }
    }
}

/// How pages change.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Changes<'a> {
    /// The site asked about; all if null.
    pub site: Option<&'a str>,
    /// From which date on.
    pub since: Option<String>,
    /// What each sweep saw, the earliest first.
    pub sweeps: Vec<Sweep>,
    /// Pages that were seen.
    pub pages: u64,
    /// Pairs of neighbouring sweeps that saw a page, over all pages.
    pub intervals: u64,
    /// Those between which it changed.
    pub changed_intervals: u64,
    /// Pages by how many times they changed.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<u64>>))]
    pub changes_per_page: Vec<(u32, u64)>,
    /// Pages by the share of intervals in which they changed.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Object>>))]
    pub change_rates: Vec<(&'static str, u64)>,
    /// Changes by the resemblance of the two versions, from below 0.1 to 1.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Object>>))]
    pub resemblances: Vec<(String, u64)>,
    /// Lives that ended.
    pub ended: Lives,
    /// Lives that go on.
    pub going_on: Lives,
}

/// What one sweep saw.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sweep {
    /// Its date.
    pub sweep: String,
    /// Pages it saw.
    pub seen: u64,
    /// On sites that were swept for the first time.
    pub found: u64,
    /// Never seen before.
    pub born: u64,
    /// Missed before, and seen before that.
    pub came_back: u64,
    /// Seen as another version.
    pub changed: u64,
    /// Seen as before.
    pub unchanged: u64,
    /// Seen before and missed now.
    pub died: u64,
    /// Moved to another address of their site.
    pub moved_within: u64,
    /// Moved to another site.
    pub moved_between: u64,
    /// How much those that changed resemble what they were.
    pub mean_resemblance: Option<f64>,
}

/// How long pages lived.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lives {
    /// How many pages.
    pub pages: u64,
    /// Their mean life.
    pub mean_days: Option<f64>,
    /// The life in the middle.
    pub median_days: Option<f64>,
    /// Pages by how many sweeps of their site their life spans.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Object>>))]
    pub by_sweeps: Vec<(&'static str, u64)>,
}

impl<'a> Changes<'a> {
    /// The JSON form of the answer to a question.
    #[must_use]
    pub fn of(question: &ChangesQuestion<'a>, changes: &wonbon_store::Changes) -> Self {
        Changes {
            site: question.site,
            since: question.since.map(|time| time.to_string()),
            sweeps: changes.sweeps.iter().map(Sweep::of).collect(),
            pages: changes.pages,
            intervals: changes.intervals,
            changed_intervals: changes.changed_intervals,
            changes_per_page: changes.changes_per_page.iter().map(|(a, b)| (*a, *b)).collect(),
            change_rates: RATE_CLASSES.into_iter().zip(changes.rates).collect(),
            resemblances: resemblance_classes().into_iter().zip(changes.resemblances).collect(),
            ended: Lives::of(&changes.ended),
            going_on: Lives::of(&changes.going_on),
        }
    }
}

impl Sweep {
    fn of(counts: &SweepChanges) -> Self {
        Sweep {
            sweep: counts.sweep.to_string(),
            seen: counts.seen,
            found: counts.found,
            born: counts.born,
            came_back: counts.came_back,
            changed: counts.changed,
            unchanged: counts.unchanged,
            died: counts.died,
            moved_within: counts.moved_within,
            moved_between: counts.moved_between,
            mean_resemblance: counts.mean_resemblance(),
        }
    }
}

impl Lives {
    fn of(lives: &wonbon_store::Lives) -> Self {
        Lives {
            pages: lives.pages,
            mean_days: lives.mean().map(days),
            median_days: lives.median.map(days),
            by_sweeps: LIFE_CLASSES.into_iter().zip(lives.by_sweeps).collect(),
        }
    }
}

/// A life in days.
#[must_use]
pub fn days(life: Duration) -> f64 {
    life.as_secs_f64() / 86_400.0
}

/// The names of the classes of resemblance.
#[must_use]
pub fn resemblance_classes() -> Vec<String> {
    let tenth = |at: usize| format!("{:.1}–{:.1}", at as f64 / 10.0, (at + 1) as f64 / 10.0);
    (0..10).map(tenth).chain(["1".to_owned()]).collect()
}
