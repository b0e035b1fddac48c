//! Questions about places: where a document moved, who holds copies, how pages change, what is watched.

use serde::Deserialize;
use wonbon_store::{Changes, ChangesQuestion, Copies, Moved, PageHistory, Store, WatchReport};
use wonbon_time::Timestamp;

use super::non_empty;
use crate::answers::{self, ChangesAnswer};
use crate::error::{AppError, RequestError};
use crate::parameters::{PLACES, USUAL_PLACE, USUAL_WATCHED, least_share, optional_date};

/// A question about where a document is.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct PlaceQuestion {
    /// The key or address of the document.
    pub key: Option<String>,
    /// The least resemblance of what is shown: 0.5 unless said.
    pub min: Option<f64>,
    /// How many places are told, the best ones: 1000 unless said, at most 100000.
    pub limit: Option<usize>,
}

impl PlaceQuestion {
    /// The key or address of the document.
    ///
    /// # Errors
    ///
    /// [`RequestError::Missing`].
    pub fn key(&self) -> Result<&str, RequestError> {
        non_empty(&self.key)
            .ok_or(RequestError::Missing { name: "key", purpose: "what is asked about" })
    }

    /// Where the document of the address is now.
    ///
    /// # Errors
    ///
    /// [`AppError::UnknownDocument`] if the address was never seen, [`AppError::Request`], or the
    /// store's.
    pub fn moved(&self, store: &Store) -> Result<Moved, AppError> {
        let (key, min, limit) = self.check()?;
        let mut moved = store.moved(key, min)?.ok_or_else(|| unknown(key))?;
        moved.keep(limit);
        Ok(moved)
    }

    /// Who holds the document.
    ///
    /// # Errors
    ///
    /// As [`PlaceQuestion::moved`].
    pub fn copies(&self, store: &Store) -> Result<Copies, AppError> {
        let (key, min, limit) = self.check()?;
        let mut copies = store.copies(key, min)?.ok_or_else(|| unknown(key))?;
        copies.keep(limit);
        Ok(copies)
    }

    fn check(&self) -> Result<(&str, f64, usize), RequestError> {
        Ok((self.key()?, least_share(self.min.unwrap_or(USUAL_PLACE))?, PLACES.of(self.limit)?))
    }
}

fn unknown(key: &str) -> AppError {
    AppError::UnknownDocument { key: key.to_owned() }
}

/// A question about changes: of one page, or of all.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ChangesParameters {
    /// The key or address of a page: its versions.
    pub key: Option<String>,
    /// Pages of this site only.
    pub site: Option<String>,
    /// From this date on only.
    #[serde(default, deserialize_with = "optional_date")]
    #[cfg_attr(feature = "openapi", param(value_type = Option<String>))]
    pub since: Option<Timestamp>,
}

/// The versions of a page, or how pages change.
#[derive(Debug)]
pub enum ChangesFound {
    /// Of one page.
    History(PageHistory),
    /// Of all.
    Changes {
        /// The site asked about; all if none.
        site: Option<String>,
        /// From which date on.
        since: Option<Timestamp>,
        /// How they change.
        changes: Box<Changes>,
    },
}

impl ChangesParameters {
    /// The versions of the page, or how pages change.
    ///
    /// # Errors
    ///
    /// [`AppError::UnknownDocument`], [`AppError::Request`], or the store's.
    pub fn ask(&self, store: &Store) -> Result<ChangesFound, AppError> {
        let since = self.since;
        if let Some(key) = non_empty(&self.key) {
            let history = store.history(key, since)?.ok_or_else(|| unknown(key))?;
            return Ok(ChangesFound::History(history));
        }
        let site = non_empty(&self.site);
        let changes = Box::new(store.changes(&ChangesQuestion { site, since })?);
        Ok(ChangesFound::Changes { site: site.map(str::to_owned), since, changes })
    }
}

impl ChangesFound {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> ChangesAnswer<'_> {
        match self {
            ChangesFound::History(history) => ChangesAnswer::History(answers::History::of(history)),
            ChangesFound::Changes { site, since, changes } => {
                let question = ChangesQuestion { site: site.as_deref(), since: *since };
                ChangesAnswer::Changes(answers::Changes::of(&question, changes))
            }
        }
    }
}

/// Which copies of watched documents differ.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct ReportQuestion {
    /// The least resemblance of a copy: 0.8 unless said.
    pub min: Option<f64>,
}

impl ReportQuestion {
    /// Of each watched document what its copies look like.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the store's.
    pub fn ask(&self, store: &Store) -> Result<Vec<WatchReport>, AppError> {
        let min = least_share(self.min.unwrap_or(USUAL_WATCHED))?;
        let mut reports = Vec::new();
        for watched in store.watched()? {
            // Deleted since it was listed.
            let Some(report) = store.watch_report(&watched, min)? else { continue };
            reports.push(report);
        }
        Ok(reports)
    }
}

/// Watches a document.
///
/// # Errors
///
/// [`AppError::UnknownDocument`], or the store's.
pub fn watch(store: &Store, key: &str) -> Result<(), AppError> {
    if store.watch(key)? { Ok(()) } else { Err(unknown(key)) }
}

/// Watches a document no more.
///
/// # Errors
///
/// [`AppError::NotWatched`], or the store's.
pub fn unwatch(store: &Store, key: &str) -> Result<(), AppError> {
    if store.unwatch(key)? { Ok(()) } else { Err(AppError::NotWatched { key: key.to_owned() }) }
}
