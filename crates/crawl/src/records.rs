//! What the log of a crawl says, and its bytes.
//!
//! Numbers are variable in length (7 bits a byte, lowest first), texts and lists have their length
//! before them. Addresses get their numbers in the order in which the log names them, so a record
//! names only the new ones and numbers stand for the rest.

use std::io;

use wonbon_time::Timestamp;

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// It came, and its body is in the archive.
    Kept,
    /// It came, and its body is that of a page that came before.
    SameBody,
    /// It is as it was in the sweep before.
    NotModified,
    /// It leads to another page.
    Redirect,
    /// It leads to where this crawl does not go, to nothing, or too far.
    LostRedirect,
    /// It is no text.
    OtherType,
    /// It is larger than the crawl takes, as it came or unpacked.
    TooLarge,
    /// The server answered with an error.
    ServerError,
    /// Nothing that could be read as an answer came.
    NoAnswer,
    /// The host has no address, or none that may be asked.
    NoAddress,
    /// robots.txt forbids it, or could not be had.
    Disallowed,
    /// It is a sitemap: its links were taken, nothing was archived.
    Sitemap,
}

impl Outcome {
    /// All of them, in the order of their numbers in the log.
    pub const ALL: [Outcome; 12] = [
        Outcome::Kept,
        Outcome::SameBody,
        Outcome::NotModified,
        Outcome::Redirect,
        Outcome::LostRedirect,
        Outcome::OtherType,
        Outcome::TooLarge,
        Outcome::ServerError,
        Outcome::NoAnswer,
        Outcome::NoAddress,
        Outcome::Disallowed,
        Outcome::Sitemap,
    ];

    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Kept => "kept",
            Outcome::SameBody => "same-body",
            Outcome::NotModified => "not-modified",
            Outcome::Redirect => "redirect",
            Outcome::LostRedirect => "lost-redirect",
            Outcome::OtherType => "other-type",
            Outcome::TooLarge => "too-large",
            Outcome::ServerError => "server-error",
            Outcome::NoAnswer => "no-answer",
            Outcome::NoAddress => "no-address",
            Outcome::Disallowed => "disallowed",
            Outcome::Sitemap => "sitemap",
        }
    }

    /// Whether the page was there.
    #[must_use]
    pub fn is_page(self) -> bool {
        matches!(self, Outcome::Kept | Outcome::SameBody | Outcome::NotModified)
    }
}

/// Where a record stands in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the file.
    pub file: u32,
    /// Its first byte there.
    pub offset: u64,
    /// How many bytes it has there.
    pub length: u64,
    /// The number of its name.
    pub id: u128,
}

/// What a sink said of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing stored earlier is like it.
    Original,
    /// A copy of something stored earlier.
    Copy,
    /// Neither: it has no words, or the sink does not judge.
    Neither,
}

/// All that is known of a page that is done with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its number.
    pub page: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// The status of the answer, 0 without one.
    pub status: u16,
    /// When it was asked for.
    pub at: Timestamp,
    /// How long that took, in microseconds.
    pub took: u64,
    /// Bytes of its body as they came.
    pub bytes: u64,
    /// Redirects that led to it.
    pub hops: u8,
    /// The SHA-1 of its body as it came.
    pub digest: Option<[u8; 20]>,
    /// Where its record stands.
    pub place: Option<Place>,
    /// What the server calls this version of it.
    pub etag: Option<String>,
    /// When the server says it changed.
    pub last_modified: Option<String>,
    /// What the sink said of it.
    pub verdict: Option<Verdict>,
    /// The page that it leads to, or says it should be known by.
    pub target: Option<u32>,
    /// Addresses that became known by it, in the order of their numbers.
    pub new: Vec<String>,
    /// The pages it links to, in its order, none twice.
    pub links: Vec<u32>,
}

impl Done {
    /// A page of which nothing is known but its outcome.
    #[must_use]
    pub fn new(page: u32, outcome: Outcome, at: Timestamp) -> Self {
        Done {
            page,
            outcome,
            status: 0,
            at,
            took: 0,
            bytes: 0,
            hops: 0,
            digest: None,
            place: None,
            etag: None,
            last_modified: None,
            verdict: None,
            target: None,
            new: Vec::new(),
            links: Vec::new(),
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// How the crawl is to be done, as JSON; the first record.
    Plan(String),
    /// An address the crawl starts with.
    Seed(String),
    /// A page left the frontier.
    Taken(u32),
    /// A page is done with.
    Done(Box<Done>),
    /// The robots.txt of an origin came, or did not.
    Robots {
        /// The origin, as text.
        origin: String,
        /// When.
        at: Timestamp,
        /// The last status, 0 without an answer.
        status: u16,
        /// What it says, if it came.
        body: Vec<u8>,
    },
    /// An address became known without a link: a sitemap that robots.txt names.
    Known(String),
    /// All before this is durable, and so much of the other files belongs to it.
    Commit(Commit),
}

/// What is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Where the group of records that this one ends begins in the log.
    pub group: u64,
    /// The file of the archive that was last written to.
    pub file: u32,
    /// Its length.
    pub archive: u64,
    /// The length of the file of texts.
    pub texts: u64,
}

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
            done.place = Some(Place { file, offset, length, id });
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
        let lists = (prop::collection::vec(".*", 0..5), any::<Vec<u32>>());
        (numbers, options, lists).prop_map(|(numbers, options, (new, links))| {
            let (page, outcome, status, at) = numbers;
            let (digest, place, etag, last_modified, verdict, target) = options;
            let verdicts = [Verdict::Original, Verdict::Copy, Verdict::Neither];
            Done {
                status,
                took: at.unsigned_abs(),
                bytes: u64::from(page) << 20,
                hops: status as u8,
                digest,
                place: place.map(|(file, offset, length, id)| Place { file, offset, length, id }),
                etag,
                last_modified,
                verdict: verdict.map(|verdict| verdicts[usize::from(verdict)]),
                target,
                new,
                links,
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
