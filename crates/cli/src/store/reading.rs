//! What the commands that read documents for a store share: where these stand and how they are read.

use std::path::{Path, PathBuf};

use wonbon_documents::Inputs;

use crate::batch::{FieldOptions, LimitOptions, StoreDateOptions, spool_standard_input};

/// Documents for a store.
#[derive(clap::Args)]
pub(super) struct ReadingOptions {
    /// Files and folders to read; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    fields: FieldOptions,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    pub(super) dates: StoreDateOptions,
}

impl ReadingOptions {
    /// The inputs of the store in this directory. What has to be kept or unpacked first goes to
    /// `spool`.
    pub(super) fn find(&self, directory: &Path, spool: &Path) -> anyhow::Result<Inputs> {
        let inputs = spool_standard_input(&self.inputs, spool)?;
        let fields = self.fields.names(&inputs, directory)?;
        let mut found = Inputs::find(&inputs, fields)?;
        found.limits = self.limits.limits();
        found.unpack = spool.to_owned();
        Ok(found)
    }
}
