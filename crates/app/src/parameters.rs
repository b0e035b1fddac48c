//! Limits and defaults of parameters, checked in one place for flags, JSON and forms.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use wonbon_store::MOST_PLACES;
use wonbon_time::{Dates, Timestamp};

use crate::error::RequestError;

/// How many results a question gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// If nobody says how many.
    pub usual: usize,
    /// At most.
    pub most: usize,
}

impl Limit {
    /// How many are wanted: from 1 to the most.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`].
    pub fn of(self, wanted: Option<usize>) -> Result<usize, RequestError> {
        match wanted.unwrap_or(self.usual) {
            limit if (1..=self.most).contains(&limit) => Ok(limit),
            limit => {
                let wanted = format!("from 1 to {}", self.most);
                Err(RequestError::parameter("limit", wanted, limit))
            }
        }
    }
}

/// Documents that share something with a text, and sources of one.
pub const MATCHES: Limit = Limit { usual: 10, most: 1000 };
/// Results of a search.
pub const RESULTS: Limit = Limit { usual: 10, most: 1000 };
/// Places of a document: usually as many as a page can well show.
pub const PLACES: Limit = Limit { usual: 1000, most: MOST_PLACES };
/// Documents, families and jobs in a list.
pub const ROWS: Limit = Limit { usual: 20, most: 1000 };
/// Documents of a family, which are told with their texts.
pub const MEMBERS: Limit = Limit { usual: 20, most: 100 };
/// Entries of the log of decisions.
pub const LOG: Limit = Limit { usual: 50, most: 1000 };

/// The least resemblance or containment of a document that shares something with a text. Low: people
/// look through a list, and the best come first.
pub const USUAL_MATCH: f64 = 0.1;
/// The least resemblance of a place that holds a document. Half: an edited page is still the page.
pub const USUAL_PLACE: f64 = 0.5;
/// The least resemblance of a copy of a watched document: what stores call a copy.
pub const USUAL_WATCHED: f64 = 0.8;
/// The resemblance from which on documents and results are copies.
pub const USUAL_THRESHOLD: f64 = 0.8;
/// The words a source explains at least: fewer are a phrase that anybody may use.
pub const LEAST_WORDS: usize = 8;

/// The least value wanted: a part of one.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn least_share(wanted: f64) -> Result<f64, RequestError> {
    match wanted {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        share => Err(RequestError::parameter("min", "from 0 to 1", share)),
    }
}

/// A resemblance from which something is decided: above 0, up to 1.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn threshold(wanted: f64) -> Result<f64, RequestError> {
    match wanted {
        threshold if threshold > 0.0 && threshold <= 1.0 => Ok(threshold),
        other => Err(RequestError::parameter("threshold", "above 0 and at most 1", other)),
    }
}

/// A date as people write it; none for an empty field.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn date(name: &'static str, text: Option<&str>) -> Result<Option<Timestamp>, RequestError> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    Timestamp::parse_text(text)
        .map(Some)
        .map_err(|_| RequestError::parameter(name, "a date such as 2026-11-15", text))
}

/// Which dates decide who is the original, if that is said.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn dates(text: Option<&str>) -> Result<Option<Dates>, RequestError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        RequestError::parameter("dates", "one of `created`, `claimed`", format!("`{text}`"))
    })
}

/// A date in a field of a request; none for an empty field, as forms send them.
pub(crate) fn optional_date<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    text.map(|text| Timestamp::parse_text(text).map_err(D::Error::custom)).transpose()
}

/// Half of the machine's memory, or 1 GB where it does not say: what a run over a corpus stays within if nobody
/// says otherwise.
#[must_use]
pub fn half_of_the_machine() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    told.lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(1 << 30, |kilobytes| kilobytes * 1024 / 2)
}
