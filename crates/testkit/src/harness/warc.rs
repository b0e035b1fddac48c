//! Whatever the bytes, a WARC is read to its end, and records around it are not lost.

use wonbon_time::Timestamp;
use wonbon_warc::http::Head;
use wonbon_warc::{Reader, Record, WarcError, Writer};

/// Reads the bytes as a WARC: as they are, as the block of a record, and between two good records.
///
/// # Panics
///
/// When a promise of `Reader` or `Writer` does not hold.
pub fn warc(data: &[u8]) {
    read(data);
    let date = Timestamp::EPOCH;
    let write = |target: &str, body: &[u8]| {
        let mut writer = Writer::new(Vec::new(), 1);
        writer.write(&Record::response(target, date, b"", body)).expect("memory takes all");
        writer.into_inner()
    };
    let holds_data = write("http://example.org/data", data);
    let blocks = read(&holds_data);
    assert_eq!(blocks, [("http://example.org/data".to_owned(), data.to_vec())]);
    let around = [write("http://example.org/1", b"1"), data.to_vec()].concat();
    let first = ("http://example.org/1".to_owned(), b"1".to_vec());
    assert_eq!(read(&around).first(), Some(&first), "what comes later takes nothing away");
    if let Ok(head) = Head::parse(data)
        && let Ok(body) = head.body(data, 1000)
    {
        assert!(body.bytes.len() <= 1000);
    }
}

/// Targets and blocks of what is whole.
fn read(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut reader = Reader::new(bytes);
    let mut whole = Vec::new();
    let mut last_error = None;
    loop {
        let error = match reader.next_record() {
            Ok(None) => return whole,
            Err(error) => error,
            Ok(Some(mut found)) => match found.read_block(1 << 20) {
                Ok(block) => {
                    assert_eq!(block.len() as u64, found.header().content_length());
                    whole.push((found.header().target().unwrap_or_default().to_owned(), block));
                    continue;
                }
                Err(error) => error,
            },
        };
        let offset = match error {
            WarcError::Torn { offset }
            | WarcError::Damaged { offset, .. }
            | WarcError::TooLong { offset, .. } => offset,
            error => panic!("memory does not fail: {error}"),
        };
        assert!(offset <= bytes.len() as u64);
        assert!(last_error <= Some(offset), "errors go forward");
        last_error = Some(offset);
    }
}
