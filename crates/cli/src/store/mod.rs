//! The commands on a store: one file each.
//!
//! They share where the store is (`--store`, before or after the verb, `WONBON_STORE`, or a settings file) and how it is
//! opened. How answers look as JSON they share with the service ([`wonbon_app::answers`]).

pub(crate) mod add;
pub(crate) mod ask;
pub(crate) mod backup;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod collapse;
pub(crate) mod copies;
pub(crate) mod copy;
pub(crate) mod decide;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod init;
pub(crate) mod moved;
mod reading;
pub(crate) mod rebuild;
pub(crate) mod restore;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod verify;
pub(crate) mod watch;

use std::path::{Path, PathBuf};

use wonbon_app::AppError;
use wonbon_app::parameters::{PLACES, USUAL_PLACE, least_share};
use wonbon_app::questions::PlaceQuestion;
use wonbon_store::{Store, StoreError};
use wonbon_time::Timestamp;

use crate::report;

/// Where the store is.
#[derive(clap::Args)]
pub(crate) struct StoreOption {
    /// The directory of the store, or postgres://USER@HOST/DATABASE.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "WONBON_STORE",
        hide_env_values = true,
        default_value = "wonbon-store"
    )]
    store: PathBuf,
}

/// Opens a store to read: as the one that writes if nobody else does, so that search is up to date;
/// beside the one that writes otherwise.
fn open_to_read(directory: &Path) -> anyhow::Result<Store> {
    match Store::open(directory) {
        Err(StoreError::InUse { .. } | StoreError::WriteFailed { .. } | StoreError::Io { .. }) => {
            Ok(Store::open_read_only(directory)?)
        }
        Ok(store) => {
            store.catch_up()?;
            Ok(store)
        }
        Err(error) => Err(explained(error)),
    }
}

/// A date as it is given to a flag.
pub(crate) fn date(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse_text(text)
        .map_err(|_| "write a date such as 2026-11-15 or 2026-11-15T09:00:00Z".to_owned())
}

/// The least resemblance, as it is given to a flag.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().map_err(|_| "write a number from 0 to 1".to_owned())?;
    least_share(number).map_err(|error| error.to_string())
}

/// Of which document the places are asked for.
#[derive(clap::Args)]
struct PlaceOptions {
    /// The document: its key or address.
    #[arg(value_name = "KEY")]
    key: String,
    /// The least resemblance of a place that holds a version of the document.
    #[arg(long, value_name = "R", default_value_t = USUAL_PLACE, value_parser = share)]
    min: f64,
}

impl PlaceOptions {
    /// Asks for every place.
    fn question(&self) -> PlaceQuestion {
        let (key, min) = (Some(self.key.clone()), Some(self.min));
        PlaceQuestion { key, min, limit: Some(PLACES.most) }
    }
}

/// What a person can do about it.
fn explain(error: AppError) -> anyhow::Error {
    match error {
        AppError::Store(error) => explained(error),
        other => other.into(),
    }
}

/// Names what is not there or not watched and says that it was refused; any other error is one.
fn refused<T>(answered: Result<T, AppError>) -> anyhow::Result<Option<T>> {
    match answered {
        Ok(answer) => Ok(Some(answer)),
        Err(error @ (AppError::UnknownDocument { .. } | AppError::NotWatched { .. })) => {
            report::refused(&error.into());
            Ok(None)
        }
        Err(error) => Err(explain(error)),
    }
}

/// What a person can do about it.
pub(crate) fn explained(error: StoreError) -> anyhow::Error {
    if let StoreError::SweepTooEarly { sweep, latest } = error {
        return too_early(sweep, latest);
    }
    let hint = match &error {
        StoreError::NoStore { .. } => {
            Some("`wonbon add` or `wonbon init` makes one; --store says where it is")
        }
        StoreError::Damaged { .. } => Some(
            "nothing was answered from it; restore a backup, or export what `wonbon verify` passes",
        ),
        StoreError::ParamsMismatch { .. } => Some(
            "a store keeps what it was made with; export it and add to a new one to change that",
        ),
        StoreError::ForeignLog { .. } => Some(
            "it may hold documents that are nowhere else: put the database back that it belongs to, or \
             keep it somewhere else; `wonbon restore` replaces a store by a backup without this",
        ),
        StoreError::DiskFull => Some("make room and give the same command again"),
        StoreError::Index(_) => Some("`wonbon rebuild` makes everything derived anew"),
        _ => None,
    };
    match hint {
        Some(hint) => anyhow::anyhow!("{error} ({hint})"),
        None => error.into(),
    }
}

pub(crate) fn too_early(sweep: Timestamp, latest: Timestamp) -> anyhow::Error {
    anyhow::anyhow!(
        "the sweep of {} is earlier than the store's latest, of {}: sweeps are added in order",
        sweep.to_short_text(),
        latest.to_short_text()
    )
}
