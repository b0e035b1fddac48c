//! A crawl whose log was damaged while its job was paused: the job fails, and nothing is deleted.

use std::time::Duration;

use serde_json::Value;

use crate::jobs::{begin, change, crawl_of, served, slow_web, until, until_state};

#[test]
fn a_job_whose_log_has_a_flipped_bit_fails_and_keeps_its_archive() {
    let host = slow_web(60, Duration::from_millis(15));
    let (folder, served) = served(&["127.0.0.1"]);
    let address = served.address;
    let number = begin(address, &crawl_of(&host));
    let some = |job: &Value| job["progress"]["counts"]["pages"].as_u64().unwrap_or(0) > 3;
    until(address, number, "under way", some);
    change(address, number, "pause");
    until_state(address, number, "paused");
    let directory = folder.path().join(format!("jobs/{number}/crawl"));
    let (log, archive) =
        (directory.join("crawl.log"), directory.join("archive/crawl-00000.warc.gz"));
    let (whole, archived) = (std::fs::read(&log).unwrap(), std::fs::read(&archive).unwrap());
    let mut changed = whole.clone();
    changed[30] ^= 4;
    std::fs::write(&log, &changed).unwrap();
    change(address, number, "resume");
    let job = until_state(address, number, "failed");
    let why = job["error"].to_string();
    assert!(why.contains("crawl/crawl.log is damaged at byte 12"), "{job}");
    assert!(why.contains("nothing was changed; restore the file from a backup"), "{job}");
    assert_eq!(std::fs::read(&log).unwrap(), changed);
    assert_eq!(std::fs::read(&archive).unwrap(), archived);
    // With the file restored it goes on.
    std::fs::write(&log, &whole).unwrap();
    change(address, number, "resume");
    let job = until_state(address, number, "done");
    assert_eq!(job["progress"]["counts"]["pages"], 60, "{job}");
}
