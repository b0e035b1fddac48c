//! The bytes of log records.
//!
//! Integers are variable in length (LEB128: 7 bits a byte, lowest first); strings and lists are
//! preceded by their length. A commit has a fixed length, so that it can be searched for after damage.

use std::io;

use wonbon_time::Timestamp;

use super::{ArchivePlace, Commit, Done, Outcome, Record, Verdict};

impl Record {
    /// Appends the bytes of this record.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Record::Plan(json) => {
                out.push(0);
                put_bytes(out, json.as_bytes());
            }
            Record::Seed(address) => {
                out.push(1);
                put_bytes(out, address.as_bytes());
            }
            Record::Taken(page) => {
                out.push(2);
                put(out, u64::from(*page));
            }
            Record::Done(done) => {
                out.push(3);
                put_done(out, done);
            }
            Record::Robots { origin, at, status, body } => {
                out.push(4);
                put_bytes(out, origin.as_bytes());
                put_time(out, *at);
                put(out, u64::from(*status));
                put_bytes(out, body);
            }
            Record::Known(address) => {
                out.push(5);
                put_bytes(out, address.as_bytes());
            }
            Record::Commit(commit) => {
                // Fixed in length, so that one can be looked for after damage.
                out.push(COMMIT);
                out.extend_from_slice(&commit.group.to_le_bytes());
                out.extend_from_slice(&commit.file.to_le_bytes());
                out.extend_from_slice(&commit.archive.to_le_bytes());
                out.extend_from_slice(&commit.texts.to_le_bytes());
            }
        }
    }

    /// Reads the record these bytes are.
    ///
    /// # Errors
    ///
    /// Bytes that are no record.
    pub fn read(bytes: &[u8]) -> io::Result<Record> {
        let mut reader = Reader(bytes);
        let record = match reader.byte()? {
            0 => Record::Plan(reader.text()?),
            1 => Record::Seed(reader.text()?),
            2 => Record::Taken(reader.number()?),
            3 => Record::Done(Box::new(reader.done()?)),
            4 => Record::Robots {
                origin: reader.text()?,
                at: reader.time()?,
                status: reader.number()?,
                body: reader.bytes()?.to_vec(),
            },
            5 => Record::Known(reader.text()?),
            COMMIT => Record::Commit(Commit {
                group: u64::from_le_bytes(reader.array()?),
                file: u32::from_le_bytes(reader.array()?),
                archive: u64::from_le_bytes(reader.array()?),
                texts: u64::from_le_bytes(reader.array()?),
            }),
            _ => return Err(malformed()),
        };
        if reader.0.is_empty() { Ok(record) } else { Err(malformed()) }
    }
}

/// The first byte of a commit.
pub(crate) const COMMIT: u8 = 6;
/// Bytes of a commit.
pub(crate) const COMMIT_BYTES: usize = 1 + 8 + 4 + 8 + 8;

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_time(out: &mut Vec<u8>, time: Timestamp) {
    put(out, time.as_microseconds() as u64);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_done(out: &mut Vec<u8>, done: &Done) {
    put(out, u64::from(done.page));
    out.push(done.outcome as u8);
    put(out, u64::from(done.status));
    put_time(out, done.at);
    put(out, done.took);
    put(out, done.bytes);
    out.push(done.hops);
    let flags = [
        done.digest.is_some(),
        done.place.is_some(),
        done.etag.is_some(),
        done.last_modified.is_some(),
        done.verdict.is_some(),
        done.target.is_some(),
        !done.written.is_empty(),
    ];
    out.push(flags.iter().enumerate().map(|(at, &flag)| u8::from(flag) << at).sum());
    if let Some(digest) = &done.digest {
        out.extend_from_slice(digest);
    }
    if let Some(place) = &done.place {
        put(out, u64::from(place.file));
        put(out, place.offset);
        put(out, place.length);
        out.extend_from_slice(&place.id.to_le_bytes());
    }
    for text in [&done.etag, &done.last_modified].into_iter().flatten() {
        put_bytes(out, text.as_bytes());
    }
    if let Some(verdict) = done.verdict {
        out.push(verdict as u8);
    }
    if let Some(target) = done.target {
        put(out, u64::from(target));
    }
    put(out, done.new.len() as u64);
    for address in &done.new {
        put_bytes(out, address.as_bytes());
    }
    put(out, done.links.len() as u64);
    for &page in &done.links {
        put(out, u64::from(page));
    }
    if !done.written.is_empty() {
        put(out, done.written.len() as u64);
        for (page, path) in &done.written {
            put(out, u64::from(*page));
            put_bytes(out, path.as_bytes());
        }
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "these bytes are no record of a crawl")
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("as many bytes were taken"))
    }

    fn byte(&mut self) -> io::Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn time(&mut self) -> io::Result<Timestamp> {
        Ok(Timestamp::from_microseconds(self.long()? as i64))
    }

    fn long(&mut self) -> io::Result<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(malformed())
    }

    fn number<N: TryFrom<u64>>(&mut self) -> io::Result<N> {
        N::try_from(self.long()?).map_err(|_| malformed())
    }

    fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    fn text(&mut self) -> io::Result<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| malformed())
    }

    /// The length of a list whose parts have at least one byte each.
    fn count(&mut self) -> io::Result<usize> {
        let count = self.number()?;
        if count <= self.0.len() { Ok(count) } else { Err(malformed()) }
    }

    fn done(&mut self) -> io::Result<Done> {
        let page = self.number()?;
        let outcome = Outcome::ALL.get(usize::from(self.byte()?)).copied().ok_or_else(malformed)?;
        let mut done = Done::new(page, outcome, Timestamp::EPOCH);
        done.status = self.number()?;
        done.at = self.time()?;
        done.took = self.long()?;
        done.bytes = self.long()?;
        done.hops = self.byte()?;
        let flags = self.byte()?;
        let is = |at: u8| flags >> at & 1 == 1;
        if is(0) {
            done.digest = Some(self.array()?);
        }
        if is(1) {
            let (file, offset, length) = (self.number()?, self.long()?, self.long()?);
            let id = u128::from_le_bytes(self.array()?);
            done.place = Some(ArchivePlace { file, offset, length, id });
        }
        if is(2) {
            done.etag = Some(self.text()?);
        }
        if is(3) {
            done.last_modified = Some(self.text()?);
        }
        if is(4) {
            done.verdict = Some(match self.byte()? {
                0 => Verdict::Original,
                1 => Verdict::Copy,
                2 => Verdict::Neither,
                _ => return Err(malformed()),
            });
        }
        if is(5) {
            done.target = Some(self.number()?);
        }
        let count = self.count()?;
        done.new = (0..count).map(|_| self.text()).collect::<io::Result<_>>()?;
        let count = self.count()?;
        done.links = (0..count).map(|_| self.number()).collect::<io::Result<_>>()?;
        if is(6) {
            let count = self.count()?;
            let mut written = || Ok((self.number()?, self.text()?));
            done.written = (0..count).map(|_| written()).collect::<io::Result<_>>()?;
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_done() -> impl Strategy<Value = Done> {
        let numbers = (any::<u32>(), 0..Outcome::ALL.len(), any::<u16>(), any::<i64>());
        let options = (
            any::<Option<[u8; 20]>>(),
            any::<Option<(u32, u64, u64, u128)>>(),
            any::<Option<String>>(),
            any::<Option<String>>(),
            prop::option::of(0..3_u8),
            any::<Option<u32>>(),
        );
        let lists = (
            prop::collection::vec(".*", 0..5),
            any::<Vec<u32>>(),
            prop::collection::vec((any::<u32>(), ".*"), 0..3),
        );
        (numbers, options, lists).prop_map(|(numbers, options, (new, links, written))| {
            let (page, outcome, status, at) = numbers;
            let (digest, place, etag, last_modified, verdict, target) = options;
            let verdicts = [Verdict::Original, Verdict::Copy, Verdict::Neither];
            Done {
                status,
                took: at.unsigned_abs(),
                bytes: u64::from(page) << 20,
                hops: status as u8,
                digest,
                place: place.map(|(file, offset, length, id)| ArchivePlace {
                    file,
                    offset,
                    length,
                    id,
                }),
                etag,
                last_modified,
                verdict: verdict.map(|verdict| verdicts[usize::from(verdict)]),
                target,
                new,
                links,
                written,
                ..Done::new(page, Outcome::ALL[outcome], Timestamp::from_microseconds(at))
            }
        })
    }

    fn any_record() -> impl Strategy<Value = Record> {
        prop_oneof![
            ".*".prop_map(Record::Plan),
            ".*".prop_map(Record::Seed),
            any::<u32>().prop_map(Record::Taken),
            any_done().prop_map(|done| Record::Done(Box::new(done))),
            (".*", any::<i64>(), any::<u16>(), any::<Vec<u8>>()).prop_map(
                |(origin, at, status, body)| {
                    let at = Timestamp::from_microseconds(at);
                    Record::Robots { origin, at, status, body }
                }
            ),
            ".*".prop_map(Record::Known),
            any::<(u64, u32, u64, u64)>().prop_map(|(group, file, archive, texts)| {
                Record::Commit(Commit { group, file, archive, texts })
            }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(record in any_record()) {
            let mut bytes = Vec::new();
            record.write(&mut bytes);
            prop_assert_eq!(Record::read(&bytes).unwrap(), record);
        }

        #[test]
        fn no_bytes_make_reading_panic(bytes in any::<Vec<u8>>(), record in any_record()) {
            let _ = Record::read(&bytes);
            let mut cut = Vec::new();
            record.write(&mut cut);
            cut.truncate(cut.len() / 2);
            prop_assert!(Record::read(&cut).is_err());
        }
    }

    #[test]
    fn a_commit_has_its_length() {
        let mut bytes = Vec::new();
        Record::Commit(Commit::default()).write(&mut bytes);
        assert_eq!((bytes.len(), bytes[0]), (COMMIT_BYTES, COMMIT));
    }
}
