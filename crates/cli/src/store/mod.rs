//! The commands on a store: one file each.
//!
//! They share where the store is (`--store`, before or after the verb, or `WONBON_STORE`), how it is
//! opened, and how a document and a verdict look as JSON.

pub(crate) mod add;
pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod collapse;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod get;
pub(crate) mod init;
pub(crate) mod rebuild;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod verify;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::Serialize;
use wonbon_input::time::{format_time, microseconds};
use wonbon_store::{Content, NewDocument, Store, StoreError, StoredDocument};

use wonbon_cluster::reading::Visited;

/// Where the store is.
#[derive(clap::Args)]
pub(crate) struct StoreOption {
    /// The directory of the store, for the commands on one.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "WONBON_STORE",
        default_value = "wonbon-store"
    )]
    pub(crate) store: PathBuf,
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

/// What a person can do about it.
fn explained(error: StoreError) -> anyhow::Error {
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
        StoreError::DiskFull => Some("make room and give the same command again"),
        _ => None,
    };
    match hint {
        Some(hint) => anyhow::anyhow!("{error} ({hint})"),
        None => error.into(),
    }
}

/// A creation time that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("`{key}` has a creation time that is none: {time}")]
pub(crate) struct NotATime {
    key: String,
    time: String,
}

/// A document as it was read, as the store takes it.
fn new_document<'a>(visited: &Visited<'a>) -> Result<NewDocument<'a>, NotATime> {
    let created =
        match visited.created {
            None => None,
            Some(value) => Some(microseconds(value).ok_or_else(|| NotATime {
                key: visited.id.to_owned(),
                time: format!("{value:?}"),
            })?),
        };
    let owned = |value: Option<&'a str>| value.map(Cow::Borrowed);
    Ok(NewDocument {
        key: visited.id.into(),
        created,
        url: owned(visited.url),
        site: owned(visited.about.site),
        author: owned(visited.about.author),
        title: owned(visited.about.title),
        language: owned(visited.about.language),
        content: Content::Extracted { bytes: visited.bytes, text: visited.text },
    })
}

/// A stored document in `--json` and in exports.
#[derive(Serialize)]
pub(crate) struct JsonDocument<'a> {
    id: &'a str,
    created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    text: &'a str,
    version: u32,
    verdict: &'static str,
    original: Option<&'a str>,
    resemblance: Option<f64>,
    features_equal: Option<usize>,
    copies: u64,
}

impl<'a> JsonDocument<'a> {
    pub(crate) fn of(document: &'a StoredDocument) -> Self {
        JsonDocument {
            id: &document.key,
            created: format_time(document.created),
            url: document.url.as_deref(),
            site: document.site.as_deref(),
            author: document.author.as_deref(),
            title: document.title.as_deref(),
            language: document.language.as_deref(),
            text: &document.text,
            version: document.version,
            verdict: document.verdict.kind.name(),
            original: document.verdict.original.as_deref(),
            resemblance: document.verdict.resemblance,
            features_equal: document.verdict.features_equal,
            copies: document.copies,
        }
    }
}
