//! The Python package: all of Wonbon beside the data structures that Python programs use already.
//!
//! Binds to `crates/app` and the libraries, and decides nothing itself: what a word, a copy or an answer is
//! comes from where the program and the service have it. The classes that people see are in `python/wonbon`;
//! here is what they stand on, the module `wonbon._wonbon`.
//!
//! | module | is |
//! |---|---|
//! | `capsule` | Arrow in and out: the only module with `unsafe` |
//! | `input`, `columns`, `batches` | Python objects as arrays, columns as texts and pages, tables as batches |
//! | `watched` | long work without the interpreter: Ctrl-C, progress |
//! | `failure` | errors as exceptions |
//! | `texts`, `sketches`, `sets`, `join` | texts, columns and sets |
//! | `families`, `passages`, `store` | corpora and stores |
//! | `steps`, `passage_steps` | the steps of a batch run, for engines that own the data |
//! | `table` | what comes back |
//!
//! Guarantees: the interpreter is free while anything longer than a microsecond runs; threads end with the call
//! that started them, so a process may fork between calls; the system's allocator stays in place.

mod batches;
mod capsule;
mod columns;
mod failure;
mod families;
mod input;
mod join;
mod options;
mod passage_steps;
mod passages;
mod sets;
mod sketches;
mod steps;
mod store;
mod table;
mod texts;
mod watched;

use std::io::Write as _;

use pyo3::prelude::*;

/// Runs a command of the program; the arguments begin with its name. Returns the exit code.
#[pyfunction]
fn run_program(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| {
        let code = wonbon_cli::run(arguments);
        // At the end of a process of Rust this is done by its runtime; nothing is left to do if nobody reads.
        let _ = std::io::stdout().flush();
        code
    })
}

/// What `wonbon` stands on. Use `wonbon`.
#[pymodule(gil_used = false)]
mod _wonbon {
    #[pymodule_export]
    use super::families::{FamilyCore, cluster_files, dedup_files, dedup_table};
    #[pymodule_export]
    use super::join::join;
    #[pymodule_export]
    use super::passage_steps::{
        step_passage_again, step_passage_contexts, step_passage_cut, step_passage_hot,
        step_passage_removed, step_passage_seeds,
    };
    #[pymodule_export]
    use super::passages::{
        passages_files, passages_table, remove_passages_files, remove_passages_table,
    };
    #[pymodule_export]
    use super::run_program;
    #[pymodule_export]
    use super::sets::{ItemSet, SetSketch};
    #[pymodule_export]
    use super::sketches::{Numbers, Sketches, sketch};
    #[pymodule_export]
    use super::steps::{
        Stream, join_digests, step_components, step_digest, step_engine, step_near, step_number,
        step_pack, step_pairs, step_plan, step_scatter, step_settle, step_sketch, step_verdicts,
        step_verify, step_walk,
    };
    #[pymodule_export]
    use super::store::{StoreCore, restore};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::texts::{compare_json, decode, extract_column, extract_json, shingles, words};

    #[pymodule_export]
    use super::watched::{end, forked};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
