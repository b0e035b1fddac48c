//! Web archives as input: what is whole is read, whatever else is in the file.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::io::{Read, Write};

use serde_json::Value;
use support::{Files, json_lines, stderr, stdout, wonbon};
use wonbon_time::Timestamp;
use wonbon_warc::http::response_head;
use wonbon_warc::{Digest, Place, Record, RefersTo, Writer, lines};

const FERRY: &str = "one morning the old ferry did not come and the whole village stood on the quay \
    with baskets and bicycles and one very patient goat waiting for somebody to explain";
const BREAD: &str = "a loaf that rises overnight in a cold kitchen needs less yeast than any book \
    says and more patience than any baker admits to having before the first coffee of the day";
const KOREAN: &str = "봄이 오면 강가의 버드나무에 물이 오르고 아이들은 피리를 만들어 불며 먼 산의 눈이 \
    녹는 소리를 듣는다고 할머니는 해마다 같은 이야기를 하셨다";

const DAY: i64 = 86_400_000;
/// 2026-11-01.
const FIRST: i64 = 1_793_491_200_000;

/// An archive being written.
struct Archive {
    writer: Writer<Vec<u8>>,
}

impl Archive {
    fn new() -> Self {
        let mut writer = Writer::new(Vec::new(), 1);
        let about = lines([("software", "a test")]);
        writer.write(&Record::warcinfo("a.warc.gz", date(0), &about)).unwrap();
        Archive { writer }
    }

    fn answer(
        &mut self,
        url: &str,
        day: i64,
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Place {
        let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        let head = response_head(status, "Status", headers);
        let place = self.writer.write(&Record::response(url, date(day), &head, body)).unwrap();
        let request = Record::request(url, date(day), b"GET / HTTP/1.1\r\n\r\n", b"");
        self.writer.write(&request.concurrent_to(place.id)).unwrap();
        place
    }

    fn page(&mut self, url: &str, day: i64, text: &str) -> Place {
        let body = format!("<html><body><article><p>{text}</p></article></body></html>");
        self.answer(url, day, 200, &[("Content-Type", "text/html; charset=utf-8")], body.as_bytes())
    }

    fn revisit(&mut self, url: &str, day: i64, earlier: Place, earlier_url: &str, body: &[u8]) {
        let head = response_head(200, "OK", [("Content-Type", b"text/html".as_slice())]);
        let refers_to = RefersTo { id: earlier.id, target: earlier_url, date: date(0) };
        let record = Record::revisit(url, date(day), &head, Digest::of(body), refers_to);
        self.writer.write(&record).unwrap();
    }

    fn bytes(self) -> Vec<u8> {
        self.writer.into_inner()
    }
}

fn date(day: i64) -> Timestamp {
    Timestamp::from_milliseconds(FIRST + day * DAY)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Pages in three codings and charsets, a copy, an image, an error, a redirect, two revisits.
fn archive() -> Vec<u8> {
    let mut archive = Archive::new();
    archive.page("http://a.example/ferry", 0, FERRY);
    archive.page("http://b.example/ferry", 1, FERRY);
    let html = |text: &str| format!("<html><body><article><p>{text}</p></article></body></html>");
    let bread = archive.answer(
        "http://a.example/bread",
        0,
        200,
        &[("Content-Type", "text/html"), ("Content-Encoding", "gzip")],
        &gzip(html(BREAD).as_bytes()),
    );
    let (korean, _, _) = encoding_rs::EUC_KR.encode(KOREAN);
    archive.answer(
        "http://a.example/봄",
        0,
        200,
        &[("Content-Type", "text/plain; charset=\"euc-kr\"")],
        &korean,
    );
    archive.answer("http://a.example/i.png", 0, 200, &[("Content-Type", "image/png")], b"\x89PNG");
    archive.answer(
        "http://a.example/gone",
        0,
        404,
        &[("Content-Type", "text/html")],
        b"no such page",
    );
    archive.answer("http://a.example/old", 0, 301, &[("Location", "/ferry")], b"");
    let body = gzip(html(BREAD).as_bytes());
    archive.revisit("http://c.example/bread", 2, bread, "http://a.example/bread", &body);
    archive.revisit("http://a.example/lost", 2, bread, "http://a.example/bread", b"never written");
    archive.bytes()
}

fn store(files: &Files) -> String {
    files.path().join("store").to_str().unwrap().to_owned()
}

fn verdicts(lines: &[Value]) -> Vec<(String, String)> {
    let told = lines.iter().filter(|line| line["key"].is_string());
    told.map(|line| {
        // A document that was known is named by that.
        let change = line["change"].as_str().filter(|change| *change != "new");
        let said = change.or(line["verdict"].as_str()).unwrap();
        (line["key"].as_str().unwrap().to_owned(), said.to_owned())
    })
    .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(id, verdict)| ((*id).to_owned(), (*verdict).to_owned())).collect()
}

#[test]
fn responses_become_documents_in_every_packing() {
    let gzipped = archive();
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(gzipped.as_slice()).read_to_end(&mut plain).unwrap();
    let expected = pairs(&[
        ("http://a.example/ferry", "original"),
        ("http://b.example/ferry", "identical"),
        ("http://a.example/bread", "original"),
        ("http://a.example/봄", "original"),
        ("http://c.example/bread", "identical"),
    ]);
    for (name, bytes) in [
        ("pages.warc.gz", gzipped),
        ("pages.warc", plain.clone()),
        ("named-wrong.txt", plain.clone()),
    ] {
        let files = Files::new();
        let store = store(&files);
        let input = files.write(name, bytes);
        let output = wonbon(&["--store", &store, "add", "--json", &input]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let told = json_lines(stdout(&output));
        assert_eq!(verdicts(&told), expected, "{name}");
        let summary = &told.last().unwrap()["summary"];
        assert_eq!(summary["documents"], 5);
        // The information, the requests, an image, an error, a redirect, a revisit of nothing.
        assert_eq!(summary["passed_over"], 1 + 7 + 1 + 1 + 1 + 1, "{name}");
        let spring = wonbon(&["--store", &store, "get", "--json", "http://a.example/봄"]);
        let spring: Value = serde_json::from_str(stdout(&spring)).unwrap();
        assert_eq!(spring["created"], "2026-11-01T00:00:00Z");
        assert_eq!(spring["text"], KOREAN, "{spring}");
    }
    // Gzipped as a whole or with zstd, a record cannot be read a second time: revisits are passed over.
    for (name, bytes) in [
        ("whole.warc.gz", gzip(&plain)),
        ("pages.warc.zst", zstd::encode_all(plain.as_slice(), 3).unwrap()),
    ] {
        let files = Files::new();
        let input = files.write(name, bytes);
        let output = wonbon(&["--store", &store(&files), "add", "--json", &input]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        assert_eq!(verdicts(&json_lines(stdout(&output))), expected[..4], "{name}");
    }
}

#[test]
fn a_sweep_notes_redirects_and_what_was_seen_again() {
    let files = Files::new();
    let store = store(&files);
    let mut first = Archive::new();
    let place = first.page("http://a.example/ferry", 0, FERRY);
    let first = files.write("first.warc.gz", first.bytes());
    let mut second = Archive::new();
    let body = format!("<html><body><article><p>{FERRY}</p></article></body></html>");
    second.revisit("http://a.example/ferry", 7, place, "http://a.example/ferry", body.as_bytes());
    second.answer("http://a.example/old", 7, 302, &[("Location", "../ferry#top")], b"moved");
    let second = files.write("second.warc.gz", second.bytes());
    let sweep = |date: &str, inputs: &[&str]| {
        let mut arguments = vec!["--store", &store, "add", "--json", "--sweep", date];
        arguments.extend(inputs);
        let output = wonbon(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json_lines(stdout(&output))
    };
    assert_eq!(
        verdicts(&sweep("2026-11-01", &[&first])),
        pairs(&[("http://a.example/ferry", "original")])
    );
    // The record that has the body is found in an earlier file of the same run.
    let told = sweep("2026-11-08", &[&first, &second]);
    let expected = [
        ("http://a.example/ferry", "unchanged"),
        ("http://a.example/ferry", "unchanged"),
        ("http://a.example/old", "redirect"),
    ];
    assert_eq!(verdicts(&told), pairs(&expected));
    assert_eq!(told[2]["redirect"], "http://a.example/ferry");
}

#[test]
fn of_a_torn_archive_what_is_whole_is_added_and_the_place_is_told() {
    let files = Files::new();
    let store = store(&files);
    let mut whole = Archive::new();
    whole.page("http://a.example/ferry", 0, FERRY);
    let last = whole.page("http://a.example/bread", 0, BREAD);
    let bytes = whole.bytes();
    let input = files.write("torn.warc.gz", &bytes[..(last.offset + last.length - 9) as usize]);
    let output = wonbon(&["--store", &store, "add", "--json", &input]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let sentence =
        format!("torn.warc.gz is torn: it ends inside the record at byte {}", last.offset);
    assert!(stderr(&output).contains(&sentence), "{}", stderr(&output));
    let told = json_lines(stdout(&output));
    assert_eq!(verdicts(&told), pairs(&[("http://a.example/ferry", "original")]));
    // The whole one afterwards adds what was missing.
    let input = files.write("whole.warc.gz", bytes);
    let told = json_lines(stdout(&wonbon(&["--store", &store, "add", "--json", &input])));
    let expected =
        [("http://a.example/ferry", "unchanged"), ("http://a.example/bread", "original")];
    assert_eq!(verdicts(&told), pairs(&expected));
}

#[test]
fn reading_goes_on_behind_a_damaged_record() {
    let files = Files::new();
    let mut archive = Archive::new();
    archive.page("http://a.example/ferry", 0, FERRY);
    let bread = archive.page("http://a.example/bread", 0, BREAD);
    archive.page("http://a.example/spring", 0, KOREAN);
    let mut bytes = archive.bytes();
    bytes[(bread.offset + bread.length / 2) as usize] ^= 0xff;
    let input = files.write("damaged.warc.gz", bytes);
    let output = wonbon(&["--store", &store(&files), "add", "--json", &input]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let sentence = format!("damaged.warc.gz has a damaged record at byte {}", bread.offset);
    assert!(stderr(&output).contains(&sentence), "{}", stderr(&output));
    let expected =
        [("http://a.example/ferry", "original"), ("http://a.example/spring", "original")];
    assert_eq!(verdicts(&json_lines(stdout(&output))), pairs(&expected));
}

#[test]
fn dedup_keeps_the_records_of_originals() {
    let files = Files::new();
    let input = files.write("pages.warc.gz", archive());
    let out = files.path().join("clean");
    let output = wonbon(&["dedup", &input, "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let kept = std::fs::read(out.join("kept").join("pages.warc.gz"))
        .or_else(|_| std::fs::read(out.join("pages.warc.gz")))
        .unwrap();
    let mut reader = wonbon_warc::Reader::new(kept.as_slice());
    let mut targets = Vec::new();
    while let Some(mut found) = reader.next_record().unwrap() {
        found.read_block(1 << 20).unwrap();
        targets.push(found.header().target().unwrap().to_owned());
    }
    assert_eq!(
        targets,
        ["http://a.example/ferry", "http://a.example/bread", "http://a.example/봄"]
    );
}

#[test]
fn standard_input_may_be_an_archive() {
    let files = Files::new();
    let output =
        support::wonbon_reading(&["--store", &store(&files), "add", "--json", "-"], &archive());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(verdicts(&json_lines(stdout(&output))).len(), 5);
}
