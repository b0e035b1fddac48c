//! A durable store of documents: it decides for each whether it copies an earlier one, and searches the originals.
//!
//! The decision is made at the moment a document is stored. All documents are kept in the database; only originals are
//! searchable. [`Store`] is the handle. A store is a directory with
//!
//! | file | is |
//! |---|---|
//! | `documents.sqlite` | everything durable |
//! | `index-….snapshot` | the originals' features, to open quickly; can be built again |
//! | `search/` | the search index; can be built again |
//! | `shingles/` | which documents share which shingles; can be built again |
//! | `mark` | which database the other files belong to |
//! | `lock` | held by the process that writes |
//!
//! Families depend only on the stored documents and on decisions made by people, not on the order in which documents
//! arrived or on what was deleted or edited in between. They are the families that result from processing all documents in
//! order of creation. Without decisions by people, batch deduplication gives the same families.

#![warn(unreachable_pub)]

mod asked_set;
mod checkpoints;
mod copy_features;
mod counts;
mod database_mark;
mod decisions;
mod document;
mod error;
mod families;
mod follower;
mod index_loading;
mod judge;
mod listing;
mod params;
mod prepare;
mod questions;
mod rebuild;
mod recent_values;
mod search;
mod shared_index;
mod shingle_index;
mod store;
mod store_files;
mod sweeps;
mod tables;
mod verify;
mod writer;
mod writer_queue;

pub use counts::Counts;
pub use decisions::{By, Decision, DecisionChange, DecisionEntry, LOCAL, MOST_REASON_CHARACTERS};
pub use document::{
    Added, Content, Edit, Expected, Freshness, MOST_CONTENT_BYTES, MOST_KEY_BYTES, NewDocument,
    Stored, StoredDocument,
};
pub use error::StoreError;
pub use listing::{Families, FamiliesAfter, FamilyPart, FamilySummary, Listed};
pub use params::{MadeBy, NotASeed, SeedSource, StoreParams};
pub use prepare::Prepared;
pub use questions::{
    Answer, Changes, ChangesQuestion, CollapseConfig, Collapsed, Copies, Copy, Differing, Finding,
    Holder, Hop, LIFE_CLASSES, Lives, MOST_ASKED_BYTES, MOST_PLACES, Match, Measure, Moved,
    PageHistory, Passage, PassagesQuestion, Question, RATE_CLASSES, ResultCopy, ResultGroup, SURE,
    SiteCopies, Source, SourcePassage, Sources, SourcesQuestion, StoredPassage, StoredPassages,
    SweepChanges, Unexplained, Version, WatchReport, Watched, collapse, most_verified,
};
pub use rebuild::{RebuildConfig, RebuildPhase, RebuildProgress, Rebuilt};
pub use search::{SearchResult, SearchResults};
pub use store::{DiskBytes, Follow, OldStore, Pending, SharedState, Store};
pub use sweeps::{PendingRedirect, Place, Recognised, Redirect, Sighting};
pub use tables::postgres::{SharedRecords, SharedText};
pub use verify::Verified;
pub use wonbon_index::Row;
pub use wonbon_rule::{Bands, FEATURE_COUNT, Kind, NotARule, Rule, Verdict};
pub use wonbon_search::{Page, Query, QueryError, SearchError, Snippet};
pub use wonbon_sketch::{Estimate, Overlap};
