//! An import: files into the store the service serves.

use std::path::Path;

use serde_json::json;
use wonbon_crawl::progress::Control;
use wonbon_documents::{InputError, InputFile, Inputs, Skipped};
use wonbon_progress::Progress;
use wonbon_store::Added;

use super::batch::Watcher;
use super::record::Durable;
use super::{Entry, Jobs, Stopped, inputs, sentence, store_failed, without_place};
use crate::answers::AddSummary;
use crate::import::{Import, ImportError, Listener, import};
use crate::requests::ImportRequest;

/// Documents on their way at a time: with all jobs and all clients, less than the store's queue holds.
const IN_FLIGHT: usize = 64;

/// Tells a job's record what became of the rows.
struct Recorder<'a> {
    entry: &'a Entry,
    /// Of all jobs, which is not told.
    directory: &'a Path,
    input_bytes: u64,
    skipped_first: Vec<Skipped>,
}

impl Listener for Recorder<'_> {
    type Error = std::convert::Infallible;

    fn added(
        &mut self,
        _key: &str,
        _added: &Added,
        _since: std::time::Instant,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    fn redirected(&mut self, _key: &str, _target: &str) -> Result<(), Self::Error> {
        Ok(())
    }

    fn refused(&mut self, why: &str) {
        self.entry.note(why);
    }

    fn skipped(&mut self, row: Skipped) {
        if self.skipped_first.len() < 20 {
            let Skipped { file, row, why } = row;
            let [file, why] = [file, why].map(|text| without_place(&text, self.directory));
            self.skipped_first.push(Skipped { file, row, why });
        }
    }

    fn durable(&mut self, pieces: u64, summary: &AddSummary) -> Result<(), Self::Error> {
        let durable = Durable {
            pieces,
            input_bytes: self.input_bytes,
            summary: summary.clone(),
            skipped_first: self.skipped_first.clone(),
        };
        self.entry.note_durable(|job| {
            job.durable = Some(durable);
            job.progress.counts = counts(summary);
        });
        Ok(())
    }
}

fn counts(summary: &AddSummary) -> std::collections::BTreeMap<String, u64> {
    [
        ("documents", summary.documents),
        ("originals", summary.originals),
        ("copies", summary.copies),
        ("empty", summary.empty),
        ("updated", summary.updated),
        ("unchanged", summary.unchanged),
        ("redirects", summary.redirects),
        ("refused", summary.refused),
    ]
    .into_iter()
    .map(|(name, count)| (name.to_owned(), count))
    .collect()
}

/// The file of an import's directory with the inputs as they were when it began.
const INPUTS: &str = "inputs.json";

/// Compares the inputs with those that the import began with: what is skipped when it goes on was read
/// from those. Tells the first difference.
fn same_inputs(entry: &Entry, found: &Inputs) -> Result<(), String> {
    let path = entry.directory.join(INPUTS);
    let broken = |error: &dyn std::fmt::Display| format!("its list of inputs: {error}");
    let before: Vec<InputFile> = match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| broken(&error))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let list = serde_json::to_vec_pretty(&found.files).map_err(|error| broken(&error))?;
            return wonbon_files::replace(&path, &list).map_err(|error| broken(&error.source));
        }
        Err(error) => return Err(broken(&error)),
    };
    match first_difference(&before, &found.files) {
        None => Ok(()),
        Some(what) => Err(format!("the inputs changed since it began: {what}; start a new import")),
    }
}

fn first_difference(before: &[InputFile], now: &[InputFile]) -> Option<String> {
    for (old, new) in before.iter().zip(now) {
        let name = old.name.display();
        if old.path_text() != new.path_text() {
            return Some(format!("{name} was where {} is now", new.name.display()));
        }
        if old.bytes != new.bytes {
            return Some(format!("{name} had {} bytes and has {}", old.bytes, new.bytes));
        }
        if old.modified != new.modified {
            return Some(format!("{name} was written again"));
        }
    }
    let (old, new) = (before.len(), now.len());
    (old != new).then(|| format!("there were {old} files and are {new}"))
}

pub(super) fn run(
    jobs: &Jobs,
    entry: &Entry,
    request: &ImportRequest,
    control: &Control,
) -> Result<serde_json::Value, Stopped> {
    let directory = &jobs.config.directory;
    let failed = |error: &dyn std::error::Error| Stopped::Failed(sentence(error, directory));
    let stopped = |error: InputError| match error {
        InputError::Stopped => Stopped::Asked,
        error => failed(&error),
    };
    let paths = inputs::resolve(directory, &request.inputs)
        .map_err(|error| Stopped::Failed(error.to_string()))?;
    let sweep = request.sweep().map_err(|error| Stopped::Failed(error.to_string()))?;
    let fields = request.fields.names(&paths, Some(&entry.directory)).map_err(stopped)?;
    let mut found = Inputs::find(&paths, fields).map_err(stopped)?;
    found.unpack.clone_from(&entry.directory);
    let input_bytes = found.bytes();
    same_inputs(entry, &found).map_err(Stopped::Failed)?;
    let durable = entry.job().durable.filter(|durable| durable.input_bytes == input_bytes);
    let (skip_pieces, before, skipped_first) = match durable {
        Some(durable) => (durable.pieces, durable.summary, durable.skipped_first),
        None => (0, AddSummary::default(), Vec::new()),
    };
    let watcher = Watcher::new(entry, control);
    watcher.begin("read", input_bytes);
    let mut recorder = Recorder { entry, directory, input_bytes, skipped_first };
    let what = Import {
        store: &jobs.store,
        inputs: &found,
        sweep,
        dates: request.dates,
        threads: jobs.config.threads,
        in_flight: IN_FLIGHT,
        skip_pieces,
    };
    let imported = import(&what, before, &watcher, &mut recorder);
    let summary = imported.map_err(|error| match error {
        ImportError::Input(error) => stopped(error),
        ImportError::Store(error) => store_failed(&error),
        ImportError::Listener(never) => match never {},
    })?;
    let mut result = json!(summary);
    result["skipped_first"] = json!(recorder.skipped_first);
    entry.note_progress(|job| job.progress.counts = counts(&summary));
    Ok(result)
}
