//! Whole corpora: which documents are copies, which families they form.
//!
//! [`dedup::dedup`] is the whole job from files to files; [`clustering::cluster`] is the 1997 paper's;
//! [`tables::Families`] takes tables that are in memory, [`stream::families_of`] documents from an iterator.
//!
//! Guarantees: bounded memory; in threshold mode every pair is verified on the full sets of shingles;
//! the same bytes come out whatever the number of threads; no global state; a run can be watched and
//! stopped ([`Progress`](wonbon_documents::Progress)), and goes on where it stopped.
//!
//! Not here: what a word or a shingle is (`wonbon-text`), what a document is and how files become
//! documents (`wonbon-documents`).

pub mod assignments;
pub mod clustering;
mod columns;
pub mod corpus;
pub mod deciding;
pub mod dedup;
pub mod digest;
mod error;
mod exact;
pub mod families;
mod family_files;
pub mod keep;
mod kept_rows;
mod order;
mod output_file;
pub mod passages;
pub mod progress;
mod ranked_bits;
mod report;
mod row_writers;
mod run_folder;
mod sets;
mod sketching;
mod sorted_runs;
pub mod steps;
pub mod stream;
mod strings;
pub mod tables;
mod union_find;
pub mod verdicts;
mod walk;

pub use error::ClusterError;
