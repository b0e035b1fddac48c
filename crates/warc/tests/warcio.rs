//! What is written is right for another program: `warcio check` compares every digest.
//!
//! warcio comes from PyPI into a virtual environment under the build's folder. Where there is no
//! Python or no package registry, the test says that it was skipped.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::{Path, PathBuf};
use std::process::Command;

use wonbon_time::Timestamp;
use wonbon_warc::http::response_head;
use wonbon_warc::{Digest, Reader, Record, RefersTo, Writer, lines};

/// The folder of warcio's programs, installed if it has to be; none if that does not work.
fn programs() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("warcio");
    let programs = folder.join("bin");
    if !programs.join("warcio").exists() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).output().ok()?;
        if !made.status.success() {
            return None;
        }
        let install = ["-m", "pip", "install", "--quiet", "warcio"];
        let installed = Command::new(programs.join("python3")).args(install).output().ok()?;
        if !installed.status.success() {
            return None;
        }
    }
    Some(programs)
}

/// A file with every kind of record that is written, and one in another gzip member after it.
fn write(path: &Path) {
    let mut writer = Writer::create(path, 42).unwrap();
    let date = Timestamp::from_milliseconds(1_794_810_000_000);
    let later = Timestamp::from_milliseconds(1_794_810_000_125);
    let about = lines([("software", "wonbon"), ("format", "WARC File Format 1.1")]);
    let info = writer.write(&Record::warcinfo("test.warc.gz", date, &about)).unwrap();
    let info = info.id.to_string();
    let page = "<p>안녕하세요</p>".repeat(1000);
    let headers: [(&str, &[u8]); 3] = [
        ("content-type", b"text/html; charset=utf-8"),
        ("transfer-encoding", b"chunked"),
        ("x-odd", b"caf\xe9"),
    ];
    let head = response_head(200, "OK", headers);
    for number in 0..20 {
        let target = format!("http://example.org/{number}");
        let body = format!("{page}{number}");
        let response = Record::response(&target, date, &head, body.as_bytes())
            .address([192, 0, 2, 7].into())
            .protocol("h2")
            .field("WARC-Warcinfo-ID", &info);
        let place = writer.write(&response).unwrap();
        let request = format!("GET /{number} HTTP/1.1\r\nHost: example.org\r\n\r\n");
        let request = Record::request(&target, date, request.as_bytes(), b"");
        writer.write(&request.concurrent_to(place.id)).unwrap();
        let metadata = lines([("hopsFromSeed", "L"), ("fetchTimeMs", "12")]);
        let metadata = Record::metadata(&target, date, &metadata).concurrent_to(place.id);
        writer.write(&metadata).unwrap();
        let again = format!("http://example.org/again/{number}");
        let earlier = RefersTo { id: place.id, target: &target, date };
        let digest = Digest::of(body.as_bytes());
        writer.write(&Record::revisit(&again, later, &head, digest, earlier)).unwrap();
    }
    let cut = Record::response("http://example.org/cut", date, &head, b"<p>cut");
    writer.write(&cut.truncated("length")).unwrap();
    let empty = response_head(204, "No Content", []);
    writer.write(&Record::response("http://example.org/empty", date, &empty, b"")).unwrap();
}

#[test]
fn warcio_finds_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.warc.gz");
    write(&path);
    let mut reader = Reader::new(std::fs::File::open(&path).unwrap());
    let mut count = 0;
    while let Some(mut record) = reader.next_record().unwrap() {
        record.read_block(1 << 20).unwrap();
        count += 1;
    }
    assert_eq!(count, 83);

    let Some(programs) = programs() else {
        println!("skipped: warcio could not be installed");
        return;
    };
    let check = Command::new(programs.join("warcio")).args(["check", "-v"]).arg(&path).output();
    let check = check.unwrap();
    let said = String::from_utf8_lossy(&check.stdout);
    assert!(check.status.success(), "{said}{}", String::from_utf8_lossy(&check.stderr));
    assert!(!said.contains("fail"), "{said}");
    assert!(said.matches("digest pass").count() >= 22, "{said}");

    // The index has an entry for every record, with the places that the writer gave.
    let index = Command::new(programs.join("warcio"))
        .args(["index", "-f", "offset,warc-type,http:status"])
        .arg(&path)
        .output()
        .unwrap();
    let index = String::from_utf8_lossy(&index.stdout);
    assert_eq!(index.lines().count(), count);
    assert_eq!(index.matches("\"revisit\"").count(), 20);
    let mut reader = Reader::new(std::fs::File::open(&path).unwrap());
    for line in index.lines() {
        let record = reader.next_record().unwrap().unwrap();
        assert!(line.contains(&format!("\"offset\": \"{}\"", record.offset())), "{line}");
    }
}
