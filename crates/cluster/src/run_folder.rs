//! The folder of one run over a corpus: its plan, its unfinished work, its results.
//!
//! `dedup` and `cluster` write everything below `OUT.partial` ([`PartialFolder`]). Whether a run can
//! continue what it finds there is decided by the *plan*: everything that changes the result, and the
//! inputs with their sizes and times.
//!
//! | in `OUT.partial` | |
//! |---|---|
//! | `work/` | what a killed run needs to continue: `plan.json`, the columns of the corpus, a note for each finished step |
//! | `done/` | the same folder, renamed once all results are complete |
//! | everything else | results |
//!
//! So a kill leaves one of three states: `work/` is there (the run continues); `work/` is gone and
//! `summary.json` is there (only publishing is left); or neither (the run begins).
//!
//! Durability: results are synced before `work/` is renamed, and the folder is renamed to `OUT` last.
//! Work is not synced; columns carry checksums instead ([`Mark`]), which are compared when a run
//! continues. If they differ, as after a power cut, the run begins again ([`begin_again_if_damaged`]).

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wonbon_documents::{Dates, FieldNames, Inputs};
use wonbon_files::{PartialFolder, rename, replace};
use wonbon_progress::Progress;

use crate::columns::{ColumnWriter, Mark};
use crate::error::{ClusterError, io};

const WORK: &str = "work";
const DONE: &str = "done";
const PLAN: &str = "plan.json";
const SUMMARY: &str = "summary.json";

/// What is said when only publishing was left.
pub(crate) const FINISHED_BEFORE: &str = "an earlier run had finished everything but its last step";

/// The folder in which a run works and collects its results.
#[derive(Debug)]
pub(crate) struct RunFolder {
    partial: PartialFolder,
}

impl RunFolder {
    /// The folder for the results `output`, which must not exist; nothing is touched yet.
    pub(crate) fn check(output: &Path) -> Result<Self, ClusterError> {
        let partial = PartialFolder::of(output);
        partial.check()?;
        Ok(RunFolder { partial })
    }

    /// Creates the folder, or opens what an earlier run left of it.
    pub(crate) fn open(&self) -> Result<(), ClusterError> {
        Ok(self.partial.open()?)
    }

    /// The place of a result.
    pub(crate) fn result(&self, name: &str) -> PathBuf {
        self.partial.path().join(name)
    }

    /// The folder of the work.
    pub(crate) fn work(&self) -> PathBuf {
        self.result(WORK)
    }

    /// The folder of all results.
    pub(crate) fn path(&self) -> &Path {
        self.partial.path()
    }

    /// The folder of the work after the results were complete, if it is still there.
    pub(crate) fn finished_work(&self) -> PathBuf {
        self.result(DONE)
    }

    /// Removes results that an interrupted run left.
    pub(crate) fn remove(&self, names: &[&str]) -> Result<(), ClusterError> {
        names.iter().try_for_each(|name| Ok(self.partial.remove(name)?))
    }

    /// The summary of an earlier run with this plan that only had to be published.
    pub(crate) fn finished_summary<S: DeserializeOwned>(
        &self,
        plan: &Value,
    ) -> Result<Option<S>, ClusterError> {
        let path = self.result(SUMMARY);
        if self.work().exists() || !path.exists() {
            return Ok(None);
        }
        let summary: Value = read_json(&path)?;
        if summary.get("plan") != Some(plan) {
            let path = self.path().to_owned();
            return Err(ClusterError::OtherPlan { path, what: "plan".to_owned() });
        }
        serde_json::from_value(summary).map(Some).map_err(|_| ClusterError::Damaged { path })
    }

    /// Writes the summary and notes that all results are complete.
    pub(crate) fn complete(&self, summary: &impl Serialize) -> Result<(), ClusterError> {
        let json = serde_json::to_vec_pretty(summary).expect("numbers and strings are JSON");
        replace(&self.result(SUMMARY), &json)?;
        self.partial.sync(Some(WORK))?;
        Ok(rename(&self.work(), &self.result(DONE))?)
    }

    /// Removes the work and gives the complete results their name.
    pub(crate) fn publish(&self) -> Result<(), ClusterError> {
        self.partial.remove(DONE)?;
        Ok(self.partial.publish()?)
    }

    /// As [`publish`](Self::publish), but the work stays in the results as `name`, without some of
    /// its files.
    pub(crate) fn publish_with_work(
        &self,
        name: &str,
        needless: &[&str],
    ) -> Result<(), ClusterError> {
        let done = self.finished_work();
        if done.exists() {
            needless.iter().try_for_each(|file| self.partial.remove(&format!("{DONE}/{file}")))?;
            rename(&done, &self.result(name))?;
            self.partial.sync(None)?;
        }
        Ok(self.partial.publish()?)
    }
}

/// Runs a job. If what an earlier run left of it is damaged, it is removed and the job begins again: everything in
/// the folder comes from the inputs, and work is not synced, so a power cut may leave less than was noted.
pub(crate) fn begin_again_if_damaged<T>(
    output: &Path,
    progress: &dyn Progress,
    run: impl Fn() -> Result<T, ClusterError>,
) -> Result<T, ClusterError> {
    let partial = PartialFolder::of(output);
    let is_damaged = |error: &ClusterError| match error {
        ClusterError::Damaged { path } => path.starts_with(partial.path()),
        ClusterError::Io { path, source, .. } => {
            let kinds = [std::io::ErrorKind::NotFound, std::io::ErrorKind::UnexpectedEof];
            kinds.contains(&source.kind()) && path.starts_with(partial.path())
        }
        _ => false,
    };
    let continues = partial.path().exists();
    match run() {
        Err(error) if continues && is_damaged(&error) => {
            progress.say(&format!(
                "what an earlier run left is not whole, so it begins again: {error}"
            ));
            partial.open_empty()?;
            run()
        }
        ended => ended,
    }
}

/// What both plans say: the program, the normal form, the fields and the inputs. `own` is added.
pub(crate) fn plan(
    own: Value,
    fields: &FieldNames,
    dates: Dates,
    strict: bool,
    inputs: &Inputs,
) -> Value {
    let mut plan = json!({
        "program": env!("CARGO_PKG_VERSION"),
        "normal form": wonbon_text::words::NORMAL_FORM_VERSION,
        "shingle hash": wonbon_text::shingles::SHINGLE_HASH_VERSION,
        "fields": {
            "id": fields.id, "url": fields.url, "created": fields.created,
            "published": fields.published, "text": fields.text, "html": fields.html,
            "redirect": fields.redirect,
        },
        "dates": dates,
        "strict": strict,
        "largest document": inputs.limits.document_bytes,
        "inputs": inputs.files,
    });
    if let (Value::Object(plan), Value::Object(own)) = (&mut plan, own) {
        plan.extend(own);
    }
    plan
}

/// Creates a folder of work with its plan, or compares the plan of the folder that is there.
pub(crate) fn begin_or_continue(folder: &Path, plan: &Value) -> Result<(), ClusterError> {
    std::fs::create_dir_all(folder).map_err(io("make", folder))?;
    let path = folder.join(PLAN);
    if path.exists() {
        return match first_difference(&read_json(&path)?, plan) {
            None => Ok(()),
            Some(what) => Err(ClusterError::OtherPlan { path: folder.to_owned(), what }),
        };
    }
    Ok(replace(&path, &serde_json::to_vec_pretty(plan).expect("a JSON value is JSON"))?)
}

/// The plan of a folder of work.
pub(crate) fn read_plan(folder: &Path) -> Result<Value, ClusterError> {
    read_json(&folder.join(PLAN))
}

fn first_difference(one: &Value, other: &Value) -> Option<String> {
    let (Value::Object(one), Value::Object(other)) = (one, other) else {
        return (one != other).then(|| "plan".to_owned());
    };
    one.keys().chain(other.keys()).find(|key| one.get(*key) != other.get(*key)).cloned()
}

/// The note of a finished step: its columns, each with its mark, and what else has to be known.
#[derive(Serialize, Deserialize)]
struct StepNote<T> {
    columns: Vec<(String, Mark)>,
    step: T,
}

/// Notes in `path` that a step is finished.
pub(crate) fn save_step(
    path: &Path,
    columns: Vec<(String, Mark)>,
    step: impl Serialize,
) -> Result<(), ClusterError> {
    let note = serde_json::to_vec(&StepNote { columns, step }).expect("numbers and names are JSON");
    Ok(replace(path, &note)?)
}

/// What was noted of a step, if it was finished. Its columns, in `folder`, are compared with their
/// marks.
pub(crate) fn load_step<T: DeserializeOwned>(
    path: &Path,
    folder: &Path,
) -> Result<Option<T>, ClusterError> {
    if !path.exists() {
        return Ok(None);
    }
    let StepNote { columns, step } = read_json(path)?;
    for (name, mark) in columns {
        // Opening a column at its mark compares its bytes with the checksum.
        ColumnWriter::<u8>::open(folder.join(name), mark)?;
    }
    Ok(Some(step))
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ClusterError> {
    let bytes = std::fs::read(path).map_err(io("read", path))?;
    serde_json::from_slice(&bytes).map_err(|_| ClusterError::Damaged { path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnWriter;

    #[test]
    fn a_run_goes_from_work_to_results_and_can_stop_at_each_step() {
        let top = tempfile::tempdir().unwrap();
        let output = top.path().join("out");
        let plan = json!({"rule": "one"});
        let folder = RunFolder::check(&output).unwrap();
        folder.open().unwrap();
        begin_or_continue(&folder.work(), &plan).unwrap();
        begin_or_continue(&folder.work(), &plan).unwrap();
        let other = begin_or_continue(&folder.work(), &json!({"rule": "two"})).unwrap_err();
        assert!(other.to_string().contains("another rule"), "{other}");
        assert!(folder.finished_summary::<Value>(&plan).unwrap().is_none());
        folder.complete(&json!({"plan": plan, "n": 3})).unwrap();

        let again = RunFolder::check(&output).unwrap();
        again.open().unwrap();
        assert!(again.finished_summary::<Value>(&json!({"rule": "two"})).is_err());
        assert_eq!(again.finished_summary::<Value>(&plan).unwrap().unwrap()["n"], 3);
        again.publish_with_work("kept", &["nothing"]).unwrap();
        assert_eq!(read_plan(&output.join("kept")).unwrap(), plan);
        assert!(matches!(RunFolder::check(&output), Err(ClusterError::OutputExists { .. })));
    }

    #[test]
    fn a_noted_step_is_known_again_and_damage_is_noticed() {
        let top = tempfile::tempdir().unwrap();
        let (note, column) = (top.path().join("note"), top.path().join("column"));
        assert!(load_step::<u32>(&note, top.path()).unwrap().is_none());
        let mut writer = ColumnWriter::open(column.clone(), Mark::default()).unwrap();
        writer.extend(&[1_u64, 2, 3]).unwrap();
        let columns = vec![("column".to_owned(), writer.flush().unwrap())];
        save_step(&note, columns, 7).unwrap();
        assert_eq!(load_step::<u32>(&note, top.path()).unwrap(), Some(7));
        std::fs::write(&column, [9; 24]).unwrap();
        let damaged = load_step::<u32>(&note, top.path()).unwrap_err();
        assert!(matches!(damaged, ClusterError::Damaged { .. }));
    }
}
