//! Whole corpora: which documents are copies, which families they form.
//!
//! [`dedup::dedup`] is the whole job from files to files; [`clustering::cluster`] is the 1997 paper's;
//! [`stream::families_of`] takes documents from an iterator. Its parts can be used alone: [`bands`]
//! chooses how candidates are found, [`sketching`] makes numbers of documents, [`corpus`] keeps them
//! on disk, [`order`] says who represents whom, [`walk`] and [`families`] decide, [`verdicts`] tells.
//!
//! Guarantees: bounded memory; in threshold mode every pair is verified on the full sets of shingles;
//! the same bytes come out whatever the number of threads; no global state; a run can be watched and
//! stopped ([`Progress`](wonbon_documents::Progress)), and goes on where it stopped.
//!
//! Not here: what a word or a shingle is (`wonbon-text`), what a document is and how files become some (`wonbon-documents`).

pub mod bands;
pub mod clustering;
pub mod columns;
pub mod corpus;
pub mod deciding;
pub mod dedup;
mod error;
pub mod exact;
pub mod families;
pub mod keep;
pub mod order;
pub mod progress;
mod reading;
mod report;
pub mod sketching;
pub mod sorted_runs;
pub mod stream;
mod tables;
pub mod union_find;
pub mod verdicts;
pub mod walk;
mod writing;

pub use error::ClusterError;
