//! The status of a store: counts, parameters, sizes on disk and in memory.

use serde::Serialize;
use wonbon_store::{Store, StoreError};
use wonbon_time::Timestamp;

/// What a store holds, how it decides, what it takes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Status {
    /// Where it is, without a password; from the service, its directory's name only.
    pub store: String,
    /// What makes a copy.
    pub rule: String,
    /// Words in a shingle.
    pub shingle_words: usize,
    /// Where the permutations come from.
    pub seed: String,
    /// Which dates decide who is the original unless an add says otherwise: created or claimed.
    pub dates: String,
    /// All documents.
    pub documents: u64,
    /// Of them originals.
    pub originals: u64,
    /// Of them copies.
    pub copies: u64,
    /// Of them without words.
    pub empty: u64,
    /// Earlier versions that are kept.
    pub old_versions: u64,
    /// Sweeps that were added.
    pub sweeps: u64,
    /// The date of the latest.
    pub latest_sweep: Option<String>,
    /// Documents that are watched.
    pub watched: u64,
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Bytes of the index's snapshot.
    pub snapshot_bytes: u64,
    /// Bytes of the search index.
    pub search_bytes: u64,
    /// Bytes of the index of shingles.
    pub shingles_bytes: u64,
    /// Bytes of memory of the index.
    pub index_memory_bytes: u64,
    /// Changes that search has not seen yet.
    pub search_behind: u64,
    /// How long opening took.
    pub open_seconds: f64,
    /// Where this instance is, if several share the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<Shared>,
}

/// Where one of several instances on a store is.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Shared {
    /// Which history the store has.
    pub history: String,
    /// The last change that this instance has taken in.
    pub change: u64,
    /// Changes that it has not taken in yet.
    pub behind: u64,
    /// Turns that this instance made a second, lately.
    pub turns_per_second: f64,
    /// How often it read everything again: the history was another one, or it was away too long.
    pub begun_anew: u64,
    /// How often changes that this instance had seen turned out to be lost, as after a failover to a standby that was behind.
    pub losses: u64,
    /// Requests that wait for the writer of this instance.
    pub queued: u64,
    /// Whether this instance searches and answers questions.
    pub follows: bool,
}

impl Status {
    /// Of a store that took so long to open.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn of(store: &Store, open_seconds: f64) -> Result<Self, StoreError> {
        let (counts, disk, params) = (store.counts()?, store.disk_bytes(), store.params());
        Ok(Status {
            store: store.place(),
            rule: params.rule.to_string(),
            shingle_words: params.shingle_words.get(),
            seed: params.seed.to_string(),
            dates: params.dates.to_string(),
            documents: counts.documents,
            originals: counts.originals,
            copies: counts.copies,
            empty: counts.empty,
            old_versions: counts.old_versions,
            sweeps: counts.sweeps,
            latest_sweep: counts.latest_sweep.map(Timestamp::to_short_text),
            watched: counts.watched,
            database_bytes: disk.database,
            snapshot_bytes: disk.snapshot,
            search_bytes: disk.search,
            shingles_bytes: disk.shingles,
            index_memory_bytes: store.index_bytes() as u64,
            search_behind: store.search_behind()?,
            open_seconds,
            shared: store.shared_state()?.map(|state| Shared {
                history: state.history,
                change: state.change,
                behind: state.behind,
                turns_per_second: state.turns_per_second,
                begun_anew: state.begun_anew,
                losses: state.losses,
                queued: state.queued,
                follows: state.follows,
            }),
        })
    }
}
