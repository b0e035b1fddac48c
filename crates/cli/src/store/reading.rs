//! What the commands that read documents for a store share: where these stand and how they are read.

use std::path::{Path, PathBuf};

use wonbon_documents::{InputFile, Inputs};

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
        // The next time something else comes from standard input: its rows are not called by the same name.
        for (_, spooled) in
            self.inputs.iter().zip(&inputs).filter(|(given, _)| given.as_os_str() == "-")
        {
            let of_input = |file: &&mut InputFile| file.path == *spooled;
            found.files.iter_mut().filter(of_input).for_each(|file| file.name.clear());
        }
        found.limits = self.limits.limits();
        found.unpack = spool.to_owned();
        Ok(found)
    }
}
