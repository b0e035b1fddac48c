//! Where the stores of the tests are: in a temporary directory, or, in the test binaries whose names begin with
//! `postgres`, in a schema of their own in a PostgreSQL that is started for the run.
//!
//! Without PostgreSQL's programs those binaries say so and use directories.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;
use wonbon_store::{Store, StoreParams};
use wonbon_testkit::postgres::{Server, shared_server};

/// Whether this binary's stores are in PostgreSQL.
pub(crate) fn in_postgres() -> bool {
    env!("CARGO_CRATE_NAME").starts_with("postgres") && server().is_some()
}

/// How many random cases are tried: fewer where a store costs a schema and three handles.
pub(crate) fn cases(in_directories: u32) -> u32 {
    match in_postgres() {
        true if leaves_out_large_corpora() => in_directories.div_ceil(20),
        true => in_directories.div_ceil(4),
        false => in_directories,
    }
}

/// Whether the larger corpora are left out: where a store is in PostgreSQL they take minutes, and scripts/hard.sh asks for
/// them by `WONBON_ALL_CORPORA`.
pub(crate) fn leaves_out_large_corpora() -> bool {
    in_postgres() && std::env::var_os("WONBON_ALL_CORPORA").is_none()
}

/// A place for a store, removed at the end.
pub(crate) struct Place {
    directory: TempDir,
    path: PathBuf,
}

impl Place {
    /// What names the store.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A folder for whatever else a test needs.
    pub(crate) fn folder(&self) -> &Path {
        self.directory.path()
    }
}

/// A place where no store is yet.
pub(crate) fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = match in_postgres().then(server).flatten() {
        Some(server) => {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            // Each file that is a module of a binary has a copy of this one.
            let file = module_path!().split("::").nth(1).unwrap_or("test");
            let schema = format!("{file}_{}", NEXT.fetch_add(1, Ordering::Relaxed));
            server.address(&schema, directory.path()).into()
        }
        None => directory.path().join("store"),
    };
    Place { directory, path }
}

/// Handles on a new store: three in PostgreSQL, as three processes would have, and one in a directory.
pub(crate) fn handles(place: &Path, params: &StoreParams) -> Vec<Store> {
    let mut stores = vec![Store::create(place, params).unwrap()];
    while in_postgres() && stores.len() < 3 {
        stores.push(Store::open(place).unwrap());
    }
    stores
}

/// The PostgreSQL that the tests of this binary share; none where it is not installed.
pub(crate) fn server() -> Option<&'static Server> {
    shared_server()
}
