//! Disks that fail: a layer between a program and its files that lets one operation fail, or records all of them so
//! that what a power cut would have left can be built.
//!
//! Why a preloaded library: it needs no privileges and no kernel module, and it sees the operations of the whole
//! program, SQLite and the search engine included. From one recording any number of power cuts are made
//! ([`Recording`]), so a cut costs a directory of files and no run.
//!
//! Cost: one system call more for each write while recording; the library is compiled once for each build.
//!
//! Not here: what must hold afterwards, which the tests know.

mod recording;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub use recording::{Cut, Loss, Recording};

const SOURCE: &str = include_str!("layer.c");

/// What happens to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program ends there, as by SIGKILL.
    Abort,
    /// The operation fails with this error, and the program goes on.
    Error(&'static str),
    /// This operation and all later ones fail with this error.
    ErrorFromHere(&'static str),
}

/// The layer, compiled.
#[derive(Debug)]
pub struct Layer {
    library: PathBuf,
}

impl Layer {
    /// Compiles the layer, once for each process and build.
    ///
    /// # Panics
    ///
    /// Without a C compiler, which the workspace needs anyway.
    pub fn get() -> &'static Layer {
        static LAYER: OnceLock<Layer> = OnceLock::new();
        LAYER.get_or_init(|| {
            let program = std::env::current_exe().expect("the test program has a path");
            let folder = program.parent().expect("it is in a folder");
            let name = format!("wonbon-disk-layer-{:016x}.so", fingerprint(SOURCE));
            let library = folder.join(name);
            if !library.exists() {
                let own = folder.join(format!("wonbon-disk-layer-{}", std::process::id()));
                let (source, built) = (own.with_extension("c"), own.with_extension("so"));
                std::fs::write(&source, SOURCE).expect("the folder of tests can be written to");
                let compiled = Command::new("cc")
                    .args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
                    .args([&built, &source])
                    .output()
                    .expect("a C compiler builds SQLite too");
                let said = String::from_utf8_lossy(&compiled.stderr);
                assert!(compiled.status.success(), "{said}");
                std::fs::rename(&built, &library).expect("it was just written");
                std::fs::remove_file(&source).expect("it was just written");
            }
            Layer { library }
        })
    }

    fn below(&self, command: &mut Command, root: &Path) {
        command.env("LD_PRELOAD", &self.library).env("WONBON_DISK_ROOT", root);
    }

    /// Lets the command write its number of operations below `root` to a file.
    pub fn count(&self, command: &mut Command, root: &Path, file: &Path) {
        self.below(command, root);
        command.env("WONBON_DISK_COUNT", file);
    }

    /// Lets an operation of the command below `root` fail.
    pub fn fail(&self, command: &mut Command, root: &Path, operation: u64, failure: Failure) {
        self.below(command, root);
        let fault = match failure {
            Failure::Abort => format!("{operation}:abort"),
            Failure::Error(error) => format!("{operation}:{error}"),
            Failure::ErrorFromHere(error) => format!("{operation}+:{error}"),
        };
        command.env("WONBON_DISK_FAULT", fault);
    }

    /// Records the operations of the command below `root` in a file outside of it.
    pub fn record(&self, command: &mut Command, root: &Path, log: &Path) {
        self.below(command, root);
        command.env("WONBON_DISK_LOG", log);
    }
}

fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
