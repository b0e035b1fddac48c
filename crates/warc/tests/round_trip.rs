//! What is written is read; what is cut is read up to the cut.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::io::{Read, Write};

use proptest::prelude::*;
use wonbon_time::Timestamp;
use wonbon_warc::{Digest, Place, Reader, Record, RecordKind, RefersTo, WarcError, Writer, lines};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

/// A record as tests compare them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plain {
    kind: RecordKind,
    target: Option<String>,
    date: Timestamp,
    block: Vec<u8>,
}

fn write(records: &[Plain]) -> (Vec<u8>, Vec<Place>) {
    let mut writer = Writer::new(Vec::new(), 1);
    let places = records.iter().map(|record| writer.write(&record_of(record)).unwrap()).collect();
    (writer.into_inner(), places)
}

fn record_of(plain: &Plain) -> Record<'_> {
    let target = plain.target.as_deref().unwrap_or_default();
    match plain.kind {
        RecordKind::Warcinfo => Record::warcinfo("a.warc.gz", plain.date, &plain.block),
        RecordKind::Request => Record::request(target, plain.date, b"", &plain.block),
        RecordKind::Metadata => Record::metadata(target, plain.date, &plain.block),
        _ => {
            let middle = plain.block.len() / 2;
            Record::response(target, plain.date, &plain.block[..middle], &plain.block[middle..])
        }
    }
}

/// All records that can be read, and the errors between them.
fn read(bytes: impl Read) -> (Vec<(u64, Plain)>, Vec<WarcError>) {
    let mut reader = Reader::new(bytes);
    let (mut records, mut errors) = (Vec::new(), Vec::new());
    loop {
        match reader.next_record() {
            Ok(None) => return (records, errors),
            Err(error) => errors.push(error),
            Ok(Some(mut found)) => match found.read_block(u64::MAX) {
                Err(error) => errors.push(error),
                Ok(block) => {
                    let header = found.header();
                    let target = header.target().map(str::to_owned);
                    let (kind, date) = (header.kind().clone(), header.date().unwrap());
                    records.push((found.offset(), Plain { kind, target, date, block }));
                }
            },
        }
        assert!(records.len() + errors.len() < 10_000, "reading ends");
    }
}

fn kinds() -> impl Strategy<Value = RecordKind> {
    prop_oneof![
        Just(RecordKind::Warcinfo),
        Just(RecordKind::Request),
        Just(RecordKind::Metadata),
        Just(RecordKind::Response)
    ]
}

/// Blocks that look like records, gzip and line ends, and such as repeat, which compress.
fn blocks() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        Just(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 5\r\n\r\n".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(vec![0x1f, 0x8b, 8, 0]),
        Just(HEAD.to_vec()),
        proptest::collection::vec(any::<u8>(), 0..200),
        (any::<u8>(), 0..5000_usize).prop_map(|(byte, times)| vec![byte; times]),
    ];
    proptest::collection::vec(pieces, 0..4).prop_map(|pieces| pieces.concat())
}

fn plains() -> impl Strategy<Value = Vec<Plain>> {
    let plain = (kinds(), "[a-z0-9/?&%가-힣]{0,30}", 0..4_000_000_000_000_i64, blocks());
    let plain = plain.prop_map(|(kind, path, milliseconds, block)| {
        let target = (kind != RecordKind::Warcinfo).then(|| format!("http://example.org/{path}"));
        Plain { kind, target, date: Timestamp::from_milliseconds(milliseconds), block }
    });
    proptest::collection::vec(plain, 0..6)
}

/// Gives one byte after the other: no reading may depend on how the bytes come.
struct Slowly<'a>(&'a [u8]);

impl Read for Slowly<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = self.0.len().min(out.len()).min(1);
        out[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

/// The same records without gzip, and gzipped as one.
fn forms(bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut plain = Vec::new();
    if !bytes.is_empty() {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    }
    let mut whole = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    whole.write_all(&plain).unwrap();
    [plain, whole.finish().unwrap()]
}

proptest! {
    #[test]
    fn what_is_written_is_read(records in plains()) {
        let (bytes, places) = write(&records);
        let (found, errors) = read(bytes.as_slice());
        prop_assert!(errors.is_empty(), "{errors:?}");
        let offsets: Vec<u64> = found.iter().map(|(offset, _)| *offset).collect();
        prop_assert_eq!(offsets, places.iter().map(|place| place.offset).collect::<Vec<_>>());
        let found: Vec<Plain> = found.into_iter().map(|(_, record)| record).collect();
        prop_assert_eq!(&found, &records);
        prop_assert_eq!(read(Slowly(&bytes)).0.len(), records.len());
        for form in forms(&bytes) {
            let (found, errors) = read(form.as_slice());
            prop_assert!(errors.is_empty(), "{errors:?}");
            let found: Vec<Plain> = found.into_iter().map(|(_, record)| record).collect();
            prop_assert_eq!(&found, &records);
        }
    }

    #[test]
    fn each_record_can_be_read_from_its_place(records in plains()) {
        let (bytes, places) = write(&records);
        for (place, record) in places.iter().zip(&records) {
            let member = &bytes[place.offset as usize..(place.offset + place.length) as usize];
            let (found, errors) = read(member);
            prop_assert!(errors.is_empty());
            prop_assert_eq!(&found[0].1, record);
            prop_assert_eq!(found.len(), 1);
        }
    }

    #[test]
    fn a_flipped_byte_damages_one_record_at_most_and_the_others_are_read(
        records in plains(),
        at in any::<proptest::sample::Index>(),
        flip in 1..=255_u8,
    ) {
        prop_assume!(!records.is_empty());
        let (mut bytes, places) = write(&records);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let hit = places.partition_point(|place| place.offset <= at as u64) - 1;
        let (found, errors) = read(bytes.as_slice());
        // A flip in the time or system of a gzip header changes nothing.
        let others: Vec<&Plain> =
            records.iter().enumerate().filter(|(number, _)| *number != hit).map(|(_, r)| r).collect();
        let found: Vec<Plain> = found.into_iter().map(|(_, record)| record).collect();
        if errors.is_empty() {
            prop_assert_eq!(&found, &records);
        } else {
            // Records gzipped inside of blocks may come to light behind damage; none is lost.
            let mut rest = found.iter();
            for other in others {
                prop_assert!(rest.any(|record| record == other), "{errors:?}");
            }
        }
    }
}

#[test]
fn a_file_cut_at_every_byte_gives_the_records_before_and_says_where_it_is_torn() {
    let date = Timestamp::from_milliseconds(1_794_810_000_125);
    let target = Some("http://example.org/원본".to_owned());
    let records: Vec<Plain> =
        [RecordKind::Warcinfo, RecordKind::Response, RecordKind::Request, RecordKind::Metadata]
            .into_iter()
            .enumerate()
            .map(|(number, kind)| Plain {
                target: target.clone().filter(|_| kind != RecordKind::Warcinfo),
                kind,
                date,
                block: [HEAD, &vec![b'x'; number * 50], b"\r\n\r\nWARC/1.1\r\n"].concat(),
            })
            .collect();
    let (gzip, places) = write(&records);
    let [plain, _] = forms(&gzip);
    let mut plain_ends = Vec::new();
    let mut end = 0;
    for place in &places {
        let member = &gzip[place.offset as usize..(place.offset + place.length) as usize];
        end += forms(member)[0].len() as u64;
        plain_ends.push(end);
    }
    let gzip_ends: Vec<u64> = places.iter().map(|place| place.offset + place.length).collect();
    for (bytes, ends) in [(gzip, gzip_ends), (plain, plain_ends)] {
        for cut in 0..=bytes.len() {
            let (found, errors) = read(&bytes[..cut]);
            let whole = ends.iter().take_while(|&&end| end <= cut as u64).count();
            assert_eq!(found.len(), whole, "cut at {cut}");
            assert!(found.iter().map(|(_, record)| record).eq(&records[..whole]));
            let begin = if whole == 0 { 0 } else { ends[whole - 1] };
            match errors.as_slice() {
                [] => assert_eq!(begin, cut as u64, "a cut inside a record is told"),
                [WarcError::Torn { offset }] => assert_eq!(*offset, begin),
                errors => panic!("cut at {cut}: {errors:?}"),
            }
        }
    }
}

#[test]
fn a_torn_tail_is_cut_off_and_writing_goes_on_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().unwrap();
    let (calm, torn) = (folder.path().join("calm.warc.gz"), folder.path().join("torn.warc.gz"));
    let date = Timestamp::EPOCH;
    let first = Record::response("http://example.org/1", date, HEAD, b"one");
    let second = Record::response("http://example.org/2", date, HEAD, b"two");

    let mut writer = Writer::create(&calm, 3).unwrap();
    let place = writer.write(&first).unwrap();
    writer.write(&second).unwrap();
    writer.sync().unwrap();
    let calm_bytes = std::fs::read(&calm).unwrap();
    let end = place.offset + place.length;
    for cut in end as usize..=calm_bytes.len() {
        std::fs::write(&torn, &calm_bytes[..cut]).unwrap();
        let mut writer = Writer::append(&torn, end, 3).unwrap();
        assert_eq!(writer.offset(), end);
        writer.write(&second).unwrap();
        drop(writer);
        assert_eq!(std::fs::read(&torn).unwrap(), calm_bytes, "cut at {cut}");
    }
}

#[test]
fn a_file_that_exists_is_not_overwritten_and_a_shorter_one_not_stretched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.warc.gz");
    std::fs::write(&path, b"mine").unwrap();
    assert!(matches!(Writer::create(&path, 1), Err(WarcError::File { .. })));
    let error = Writer::append(&path, 5, 1).unwrap_err();
    assert!(matches!(error, WarcError::Shorter { length: 4, at: 5, .. }));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

#[test]
fn the_same_calls_write_the_same_bytes_and_no_name_twice() {
    let date = Timestamp::EPOCH;
    let record = Record::response("http://example.org/", date, HEAD, b"same");
    let mut names = std::collections::BTreeSet::new();
    let mut files = Vec::new();
    for seed in [1, 1, 2] {
        let mut writer = Writer::new(Vec::new(), seed);
        for _ in 0..3 {
            names.insert(writer.write(&record).unwrap().id);
        }
        files.push(writer.into_inner());
    }
    assert_eq!(files[0], files[1]);
    assert_eq!(names.len(), 6);
}

#[test]
fn a_revisit_names_the_record_that_has_its_body() {
    let (early, late) = (Timestamp::EPOCH, Timestamp::from_milliseconds(1000));
    let mut writer = Writer::new(Vec::new(), 1);
    let place = writer.write(&Record::response("http://a.example/", early, HEAD, b"body")).unwrap();
    let earlier = RefersTo { id: place.id, target: "http://a.example/", date: early };
    let digest = Digest::of(b"body");
    let revisit = Record::revisit("http://b.example/", late, HEAD, digest, earlier);
    writer.write(&revisit.address([192, 0, 2, 1].into())).unwrap();
    let bytes = writer.into_inner();
    let mut reader = Reader::new(bytes.as_slice());
    let first = reader.next_record().unwrap().unwrap().header().clone();
    assert_eq!(first.payload_digest(), Some(digest));
    let mut second = reader.next_record().unwrap().unwrap();
    assert_eq!(second.read_block(1000).unwrap(), HEAD);
    let header = second.header();
    assert_eq!(header.kind(), &RecordKind::Revisit);
    assert_eq!(header.refers_to(), first.id());
    assert_eq!(header.refers_to_target(), Some("http://a.example/"));
    assert_eq!(header.refers_to_date(), Some(early));
    assert_eq!(header.payload_digest(), Some(digest));
    assert_eq!(header.field("warc-ip-address"), Some("192.0.2.1"));
    assert!(header.field("WARC-Profile").unwrap().ends_with("identical-payload-digest"));
}

#[test]
fn a_line_break_cannot_smuggle_a_field_into_a_header() {
    let mut writer = Writer::new(Vec::new(), 1);
    let date = Timestamp::EPOCH;
    let target = "http://example.org/\r\nWARC-Type: warcinfo";
    let error = writer.write(&Record::response(target, date, HEAD, b"")).unwrap_err();
    assert!(matches!(error, WarcError::BadField { .. }));
    assert!(writer.get_ref().is_empty());
    assert_eq!(lines([("via", "a\r\nb")]), b"via: a  b\r\n");
}

#[test]
fn a_failed_write_poisons_the_writer() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut writer = Writer::new(Full, 1);
    let record = Record::response("http://a.example/", Timestamp::EPOCH, HEAD, b"");
    assert!(writer.write(&record).is_err());
    let error = writer.write(&record).unwrap_err();
    assert!(format!("{error:?}").contains("earlier write failed"));
}
