//! Jobs whose service ended under them, by records as a kill leaves them.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wonbon_app::jobs::{Job, JobState, Jobs, JobsConfig};
use wonbon_app::requests::{ImportRequest, JobRequest};
use wonbon_store::{Store, StoreParams};

/// A directory of jobs with an input, and a store.
fn begin(top: &Path) -> Store {
    let folder = top.join("jobs/in");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.jsonl"), "{\"id\": \"1\", \"text\": \"one two three\"}\n")
        .unwrap();
    Store::create(&top.join("store"), &StoreParams::default()).unwrap()
}

fn open(top: &Path, store: &Store) -> Arc<Jobs> {
    Jobs::open(JobsConfig::new(top.join("jobs")), store.clone()).unwrap()
}

fn ended(jobs: &Jobs) -> Job {
    let begun = Instant::now();
    loop {
        let job = jobs.get(1).unwrap().job();
        if job.state.is_end() {
            return job;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", job.state);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn change_record(top: &Path, change: impl FnOnce(&mut Value)) {
    let path = top.join("jobs/1/job.json");
    let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut record);
    std::fs::write(&path, record.to_string()).unwrap();
}

/// Runs an import to its end, and makes its record that of one that was killed.
fn interrupted(top: &Path, unfinished_runs: u32) -> Store {
    let store = begin(top);
    let jobs = open(top, &store);
    let asked = ImportRequest { inputs: vec!["a.jsonl".to_owned()], ..ImportRequest::default() };
    Jobs::start(&jobs, JobRequest::Import(asked), None).unwrap();
    let job = ended(&jobs);
    assert_eq!((job.state, job.unfinished_runs), (JobState::Done, 0), "{:?}", job.error);
    jobs.end(Duration::from_secs(10));
    drop(jobs);
    change_record(top, |record| {
        record["state"] = json!("running");
        record["unfinished_runs"] = json!(unfinished_runs);
        record["ended"] = Value::Null;
    });
    store
}

#[test]
fn a_job_goes_on_after_two_crashes_and_fails_after_three() {
    for (crashes, state) in [(2, JobState::Done), (3, JobState::Failed)] {
        let top = tempfile::tempdir().unwrap();
        let store = interrupted(top.path(), crashes);
        let jobs = open(top.path(), &store);
        let job = ended(&jobs);
        assert_eq!(job.state, state, "{:?}", job.error);
        if state == JobState::Failed {
            let error = job.error.unwrap();
            assert!(error.contains("crashed 3 times in a row"), "{error}");
            // Also for whoever reads the record, and after another start.
            jobs.end(Duration::from_secs(10));
            drop(jobs);
            let jobs = open(top.path(), &store);
            assert_eq!(jobs.get(1).unwrap().job().state, JobState::Failed);
            Jobs::resume(&jobs, 1).unwrap();
            assert_eq!(ended(&jobs).state, JobState::Done);
        }
    }
}

#[test]
fn an_import_does_not_go_on_with_other_inputs() {
    let top = tempfile::tempdir().unwrap();
    let store = interrupted(top.path(), 1);
    // As many bytes as before.
    let path = top.path().join("jobs/in/a.jsonl");
    let other = std::fs::read_to_string(&path).unwrap().replace("three", "seven");
    std::fs::write(&path, other).unwrap();
    let later = std::time::SystemTime::now() + Duration::from_secs(5);
    std::fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
    let job = ended(&open(top.path(), &store));
    assert_eq!(job.state, JobState::Failed);
    let told = "the inputs changed since it began: a.jsonl was written again; start a new import";
    assert_eq!(job.error.as_deref(), Some(told));
}

#[cfg(unix)]
#[test]
fn the_directories_of_jobs_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let top = tempfile::tempdir().unwrap();
    let store = Store::create(&top.path().join("store"), &StoreParams::default()).unwrap();
    let _jobs = open(top.path(), &store);
    for name in ["jobs", "jobs/in"] {
        let metadata = std::fs::metadata(top.path().join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o700, "{name}");
    }
}
