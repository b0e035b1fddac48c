//! Damaged and foreign files: every record that is whole is read, the others are told with their place.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::io::{Read, Write};

use wonbon_time::Timestamp;
use wonbon_warc::{Damage, Reader, Record, RecordKind, WarcError, Writer};

fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn response(target: &str, body: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), 1);
    let head = b"HTTP/1.1 200 OK\r\n\r\n";
    let record = Record::response(target, Timestamp::EPOCH, head, body);
    writer.write(&record).unwrap();
    writer.into_inner()
}

/// Targets of the records that could be read whole, and what was told of the others.
fn read(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
    let mut reader = Reader::new(bytes);
    let (mut targets, mut errors) = (Vec::new(), Vec::new());
    loop {
        match reader.next_record() {
            Ok(None) => return (targets, errors),
            Err(error) => errors.push(error.to_string()),
            Ok(Some(mut found)) => match found.read_block(1 << 20) {
                Ok(_) => targets.push(found.header().target().unwrap_or_default().to_owned()),
                Err(error) => errors.push(error.to_string()),
            },
        }
    }
}

#[test]
fn reading_goes_on_at_the_next_member_behind_damage() {
    let [a, b, c] = ["http://a.example/", "http://b.example/", "http://c.example/"]
        .map(|target| response(target, &b"words ".repeat(3000)));
    for at in 0..b.len() {
        let mut broken = b.clone();
        broken[at] ^= 0x55;
        let file = [a.clone(), broken, c.clone()].concat();
        let (targets, errors) = read(&file);
        let others: Vec<&str> =
            targets.iter().map(String::as_str).filter(|target| !target.contains("b.")).collect();
        assert_eq!(others, ["http://a.example/", "http://c.example/"], "byte {at}: {errors:?}");
        if targets.len() < 3 {
            assert!(errors[0].starts_with(&format!("the record at byte {} is", a.len())));
        }
    }
}

#[test]
fn what_is_no_record_is_told_and_passed_over() {
    let good = response("http://a.example/", b"a");
    let cases: [(&[u8], &str); 7] = [
        (b"HELLO/1.1\r\n\r\n", "does not begin with WARC/1.0 or WARC/1.1"),
        (b"WARC/1.1\r\nWARC-Type: response\r\n\r\n", "Content-Length is missing"),
        (b"WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n", "WARC-Type is missing"),
        (b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: -1\r\n\r\n", "Content-Length is"),
        (b"WARC/1.1\r\nno colon\r\n\r\n", "line 2 of its header is no field"),
        (
            b"WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 2\r\n\r\nabc\r\n\r\n",
            "does not end where its Content-Length says",
        ),
        (
            b"WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 9\r\n\r\nabc\r\n\r\n",
            "does not end where its Content-Length says",
        ),
    ];
    for (bad, message) in cases {
        let (targets, errors) = read(&[member(bad), good.clone()].concat());
        assert_eq!(targets, ["http://a.example/"], "{errors:?}");
        assert_eq!(errors.len(), 1);
        assert!(errors[0].contains(message), "{} / {message}", errors[0]);
    }
}

#[test]
fn a_plain_file_goes_on_at_the_next_line_that_begins_a_record() {
    let record = |name: &str, length: usize, body: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: <{name}>\r\n\
             Content-Length: {length}\r\n\r\n{body}\r\n\r\n"
        )
    };
    let file = [
        record("http://a.example/", 2, "ab"),
        record("http://b.example/", 1, "ab"),
        record("http://c.example/", 2, "ab"),
    ]
    .concat();
    let (targets, errors) = read(file.as_bytes());
    assert_eq!(targets, ["http://a.example/", "http://c.example/"]);
    assert_eq!(errors.len(), 1);
    // Bytes before the first record are no reason to give up.
    let (targets, errors) = read(format!("junk\n{file}").as_bytes());
    assert_eq!(targets, ["http://a.example/", "http://c.example/"]);
    assert_eq!(errors.len(), 2);
}

#[test]
fn headers_may_be_folded_in_any_case_and_end_in_line_feeds() {
    let file = b"WARC/1.0\nwarc-type: Resource\nWARC-Target-URI: http://a.example/\n \t b\n\
        content-length: 3\n\nabc\r\n\r\n";
    let mut reader = Reader::new(file.as_slice());
    let mut found = reader.next_record().unwrap().unwrap();
    assert_eq!(found.header().kind(), &RecordKind::Resource);
    assert_eq!(found.header().target(), Some("http://a.example/ b"));
    assert_eq!(found.read_block(3).unwrap(), b"abc");
    assert!(reader.next_record().unwrap().is_none());
}

#[test]
fn a_block_over_the_limit_is_passed_over_without_being_held() {
    let mut bomb = b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: 20000000\r\n\r\n".to_vec();
    bomb.resize(bomb.len() + 20_000_000, 0);
    bomb.extend_from_slice(b"\r\n\r\n");
    let bomb = member(&bomb);
    assert!(bomb.len() < 200_000);
    let file = [bomb, response("http://a.example/", b"a")].concat();
    let mut reader = Reader::new(file.as_slice());
    let error = reader.next_record().unwrap().unwrap().read_block(1 << 20).unwrap_err();
    assert!(matches!(error, WarcError::TooLong { offset: 0, length: 20_000_000, .. }));
    let next = reader.next_record().unwrap().unwrap();
    assert_eq!(next.header().target(), Some("http://a.example/"));
}

#[test]
fn a_header_without_end_is_refused_at_its_limit() {
    let long = member(&[b"WARC/1.1\r\nX: ".as_slice(), &b"x".repeat(1 << 20)].concat());
    let mut reader = Reader::new(long.as_slice());
    let error = reader.next_record().unwrap_err();
    let expected = Damage::LongHeader { limit: 1 << 16 };
    assert!(matches!(error, WarcError::Damaged { damage, .. } if damage == expected));
    assert!(reader.next_record().unwrap().is_none());
}

#[test]
fn a_block_that_does_not_match_its_digest_is_damaged() {
    let good = response("http://a.example/", b"abc");
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(good.as_slice()).read_to_end(&mut plain).unwrap();
    let at = plain.len() - 5;
    plain[at] ^= 1;
    let (targets, errors) = read(&[plain, good].concat());
    assert_eq!(targets, ["http://a.example/"]);
    assert_eq!(errors, ["the record at byte 0 is damaged: its block does not match its digest"]);
}

#[test]
fn a_stream_that_fails_is_not_called_damaged() {
    struct Fails(Vec<u8>);
    impl Read for Fails {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::ErrorKind::ConnectionReset.into());
            }
            let length = self.0.len().min(out.len());
            out[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }
    let file = response("http://a.example/", &b"words ".repeat(1000));
    let mut reader = Reader::new(Fails(file[..file.len() / 2].to_vec()));
    let error = match reader.next_record() {
        Err(error) => error,
        Ok(found) => found.unwrap().read_block(1 << 20).unwrap_err(),
    };
    assert!(matches!(error, WarcError::Io { .. }), "{error:?}");
    assert!(reader.next_record().unwrap().is_none());
}

#[test]
fn empty_files_and_empty_members_hold_no_records() {
    assert_eq!(read(b""), (vec![], vec![]));
    assert_eq!(read(b"\r\n\r\n"), (vec![], vec![]));
    assert_eq!(read(&member(b"")), (vec![], vec![]));
    let (targets, errors) = read(&[member(b""), response("http://a.example/", b"")].concat());
    assert_eq!((targets.len(), errors.len()), (1, 0));
}

#[test]
fn a_block_can_be_looked_at_and_taken_in_parts() {
    let file = response("http://a.example/", b"0123456789");
    let mut reader = Reader::new(file.as_slice());
    let mut found = reader.next_record().unwrap().unwrap();
    assert_eq!(found.peek(8).unwrap(), b"HTTP/1.1");
    assert_eq!(found.peek(4).unwrap(), b"HTTP");
    let mut start = [0; 5];
    found.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/");
    assert_eq!(found.peek(1000).unwrap(), b"1.1 200 OK\r\n\r\n0123456789");
    assert_eq!(found.read_block(1000).unwrap(), b"1.1 200 OK\r\n\r\n0123456789");
    assert_eq!(found.read(&mut start).unwrap(), 0);
    // A record that was only looked at is passed over whole.
    let file =
        [response("http://a.example/", &[0; 5000]), response("http://b.example/", b"")].concat();
    let mut reader = Reader::new(file.as_slice());
    reader.next_record().unwrap().unwrap().peek(100).unwrap();
    let next = reader.next_record().unwrap().unwrap();
    assert_eq!(next.header().target(), Some("http://b.example/"));
}

#[test]
fn a_record_is_found_behind_megabytes_that_look_like_members() {
    let good = response("http://a.example/", b"a");
    for pattern in [[0x1f, 0x8b, 8, 8], [0x1f, 0x8b, 8, 0], [0x1f, 0x8b, 8, 4]] {
        let file = [pattern.repeat(500_000), good.clone()].concat();
        let (targets, errors) = read(&file);
        assert_eq!(targets, ["http://a.example/"], "{pattern:?}: {}", errors.len());
    }
}
