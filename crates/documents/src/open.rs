//! Opening an input: a path or `-`, compressed or not, JSON lines, CSV, Parquet, a web archive or one
//! document.
//!
//! The format is recognised by the first bytes where it has a magic number (gzip, zstd, Parquet, WARC), and
//! otherwise by the name: a name ending in `.jsonl`, `.ndjson` or `.json`
//! holds JSON lines, one ending in `.csv` or `.tsv` records of fields, one ending in `.txt`, `.text`, `.md`, `.html`, `.htm` or `.xhtml` is one document, and
//! anything else holds JSON lines if its first character other than white space is `{`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::InputError;
use crate::limits::Limits;
use crate::read_ahead::ReadAhead;

/// What is in an opened input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// One JSON object a line.
    JsonLines,
    /// Records of fields, the first of them a header.
    Csv,
    /// A Parquet file, perhaps inside gzip or zstd. Its end has to be read first: who wants its rows
    /// needs a file.
    Parquet,
    /// A web archive, perhaps inside gzip or zstd. Its records are gzipped one by one: who wants to
    /// go on behind a damaged one needs the file.
    Warc,
    /// One document: text or HTML, in any character set.
    Document,
}

/// An opened input, decompressed on the way.
pub struct Source {
    /// How to name it to a person: the path as given, or `standard input`.
    pub name: String,
    /// What is in it.
    pub kind: SourceKind,
    /// How much of it may be held in memory.
    pub limits: Limits,
    reader: Box<dyn BufRead + Send>,
    format: Option<&'static str>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("kind", &self.kind).finish()
    }
}

/// How standard input is named to a person.
pub(crate) const STANDARD_INPUT: &str = "standard input";

/// How much is read ahead to tell what a stream is.
const LOOK_AHEAD: usize = 4 << 10;

/// Opens a file, or standard input for `-`, within the usual [`Limits`].
///
/// # Errors
///
/// [`InputError::Io`] if the path cannot be read, [`InputError::Damaged`] if its compressed data is
/// broken from the start.
pub fn open(path: &Path) -> Result<Source, InputError> {
    open_within(path, Limits::default())
}

/// As [`open`], within other limits.
///
/// # Errors
///
/// As [`open`].
pub fn open_within(path: &Path, limits: Limits) -> Result<Source, InputError> {
    if path.as_os_str() == "-" {
        return Source::within(io::stdin(), STANDARD_INPUT, None, limits);
    }
    let name = path.display().to_string();
    let io = |doing| {
        let name = name.clone();
        move |source| InputError::Io { doing, name, source }
    };
    let file = File::open(path).map_err(io("open"))?;
    if file.metadata().map_err(io("read"))?.is_dir() {
        return Err(io("open")(io::ErrorKind::IsADirectory.into()));
    }
    Source::within(file, &name, kind_by_name(path), limits)
}

/// Reads the whole of an opened input, refusing more than `limit` bytes.
///
/// # Errors
///
/// As [`open`], or [`InputError::FileTooLong`].
pub fn read_whole(mut source: Source, limit: usize) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    source.reader.by_ref().take(most).read_to_end(&mut bytes).map_err(|e| source.broken(e))?;
    if bytes.len() > limit {
        return Err(InputError::FileTooLong { name: source.name, limit });
    }
    Ok(bytes)
}

impl Source {
    /// A source out of any reader; `kind` is told by the first bytes if it is not given.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        name: &str,
        kind: Option<SourceKind>,
    ) -> Result<Source, InputError> {
        Source::within(reader, name, kind, Limits::default())
    }

    /// As [`from_reader`](Self::from_reader), within other limits.
    ///
    /// # Errors
    ///
    /// As [`open`].
    pub fn within(
        reader: impl Read + Send + 'static,
        name: &str,
        kind: Option<SourceKind>,
        limits: Limits,
    ) -> Result<Source, InputError> {
        let io = |source| InputError::Io { doing: "read", name: name.to_owned(), source };
        let (head, raw) = peek(reader).map_err(io)?;
        let (format, mut reader): (_, Box<dyn BufRead + Send>) = if head.starts_with(&[0x1F, 0x8B])
        {
            (Some("gzip"), Box::new(ReadAhead::new(MultiGzDecoder::new(raw))))
        } else if head.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(raw).map_err(io)?;
            decoder.window_log_max(limits.zstd_window_log).map_err(io)?;
            (Some("zstd"), Box::new(ReadAhead::new(decoder)))
        } else {
            (None, Box::new(raw))
        };
        let kind = match (reader.fill_buf(), kind) {
            (Ok(start), _) if start.starts_with(b"PAR1") => SourceKind::Parquet,
            (Ok(start), _) if start.starts_with(b"WARC/1.") => SourceKind::Warc,
            (Ok(_), Some(kind)) => kind,
            (Ok(start), None) => {
                let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
                match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
                    Some(b'{') => SourceKind::JsonLines,
                    _ if starts_with_csv_names(start) => SourceKind::Csv,
                    _ => SourceKind::Document,
                }
            }
            (Err(source), None) => return Err(broken(name, format, limits, source)),
            // What is damaged from the start is told by who reads it. Some decoders say so only once.
            (Err(source), Some(kind)) => {
                if source.raw_os_error().is_none() {
                    reader = Box::new(BufReader::new(Broken(source)));
                }
                kind
            }
        };
        Ok(Source { name: name.to_owned(), kind, limits, reader, format })
    }

    /// The decompressed bytes.
    pub fn reader(&mut self) -> &mut (dyn BufRead + Send) {
        &mut *self.reader
    }

    /// Whether it is decompressed on the way.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.format.is_some()
    }

    /// Says what a failed read of this source means.
    #[must_use]
    pub fn broken(&self, source: io::Error) -> InputError {
        broken(&self.name, self.format, self.limits, source)
    }
}

/// Whether the first line names the fields of a CSV file: short names with commas or tabs between them,
/// each once, one of which is a field for the text of a document.
fn starts_with_csv_names(start: &[u8]) -> bool {
    let line = start.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let separator = if line.contains('\t') { '\t' } else { ',' };
    let mut names: Vec<&str> = line.split(separator).map(|name| name.trim_matches('"')).collect();
    let is_name = |name: &&str| {
        let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        !name.is_empty() && name.len() <= 64 && name.chars().all(part_of_name)
    };
    let text = names.iter().any(|name| CSV_TEXT_FIELDS.contains(&name.to_lowercase().as_str()));
    let count = names.len();
    let plain = names.iter().all(is_name);
    names.sort_unstable();
    names.dedup();
    text && plain && count > 1 && names.len() == count
}

/// Names of fields that only a table of documents has.
const CSV_TEXT_FIELDS: [&str; 6] = ["text", "content", "body", "html", "raw_content", "본문"];

/// How zstd says that a frame asks for a larger window than it may have.
const WINDOW_TOO_LARGE: &str = "requires too much memory";

fn broken(
    name: &str,
    format: Option<&'static str>,
    limits: Limits,
    source: io::Error,
) -> InputError {
    let name = name.to_owned();
    match format {
        Some("zstd") if source.to_string().contains(WINDOW_TOO_LARGE) => {
            InputError::WindowTooLarge { name, limit: 1 << limits.zstd_window_log }
        }
        // An error of the system, not of the data, carries the system's number.
        Some(format) if source.raw_os_error().is_none() => {
            InputError::Damaged { name, format, source }
        }
        _ => InputError::Io { doing: "read", name, source },
    }
}

/// What could not be read: says why to whoever reads on.
struct Broken(io::Error);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(self.0.kind(), self.0.to_string()))
    }
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(256 << 10, reader)
}

type Peeked<R> = BufReader<io::Chain<io::Cursor<Vec<u8>>, R>>;

/// The first bytes of a reader and a reader of all of it. A pipe may give a few bytes at a time, so
/// one look into a buffer is not enough.
fn peek<R: Read>(mut reader: R) -> io::Result<(Vec<u8>, Peeked<R>)> {
    let mut head = Vec::new();
    reader.by_ref().take(LOOK_AHEAD as u64).read_to_end(&mut head)?;
    Ok((head.clone(), buffered(io::Cursor::new(head).chain(reader))))
}

fn kind_by_name(path: &Path) -> Option<SourceKind> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    match Path::new(name).extension()?.to_str()? {
        "jsonl" | "ndjson" | "json" => Some(SourceKind::JsonLines),
        "csv" | "tsv" => Some(SourceKind::Csv),
        "warc" => Some(SourceKind::Warc),
        "txt" | "text" | "md" | "html" | "htm" | "xhtml" => Some(SourceKind::Document),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn source(bytes: Vec<u8>) -> Source {
        Source::from_reader(io::Cursor::new(bytes), "test", None).unwrap()
    }

    #[test]
    fn compression_is_told_by_the_bytes() {
        let text = b"{\"id\": 1}\n".repeat(1000);
        let zst = zstd::encode_all(&text[..], 3).unwrap();
        for packed in [text.clone(), gzip(&text), zst] {
            let source = source(packed);
            assert_eq!(source.kind, SourceKind::JsonLines);
            assert_eq!(read_whole(source, 1 << 20).unwrap(), text);
        }
    }

    #[test]
    fn parquet_is_told_by_its_bytes_in_any_wrapping() {
        let bytes = b"PAR1 and what follows".to_vec();
        let zst = zstd::encode_all(&bytes[..], 3).unwrap();
        for (packed, compressed) in [(bytes.clone(), false), (gzip(&bytes), true), (zst, true)] {
            let reader = io::Cursor::new(packed);
            let source = Source::from_reader(reader, "x.csv", Some(SourceKind::Csv)).unwrap();
            assert_eq!((source.kind, source.is_compressed()), (SourceKind::Parquet, compressed));
        }
    }

    #[test]
    fn an_archive_is_told_by_its_bytes_whatever_it_is_called() {
        let bytes = b"WARC/1.1\r\nWARC-Type: warcinfo\r\n".to_vec();
        for packed in [bytes.clone(), gzip(&bytes)] {
            let reader = io::Cursor::new(packed);
            let source = Source::from_reader(reader, "x.txt", Some(SourceKind::Document)).unwrap();
            assert_eq!(source.kind, SourceKind::Warc);
        }
        assert_eq!(source(b"WARC is a format".to_vec()).kind, SourceKind::Document);
    }

    #[test]
    fn gzip_members_are_read_one_after_another() {
        let packed = [gzip(b"one\n"), gzip(b"two\n")].concat();
        assert_eq!(read_whole(source(packed), 100).unwrap(), b"one\ntwo\n");
    }

    #[test]
    fn a_cut_stream_is_damaged_not_short() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for packed in [gzip(&text), zstd::encode_all(&text[..], 3).unwrap()] {
            let cut = packed[..packed.len() / 2].to_vec();
            let error = read_whole(source(cut), 1 << 20).unwrap_err();
            assert!(matches!(error, InputError::Damaged { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_stream_that_ends_in_its_header_is_damaged_not_empty() {
        let text = b"{\"id\": 1}\n".repeat(10);
        for packed in [gzip(&text), zstd::encode_all(&text[..], 3).unwrap()] {
            for bytes in 4..packed.len() {
                let reader = io::Cursor::new(packed[..bytes].to_vec());
                let kind = Some(SourceKind::JsonLines);
                let source = Source::from_reader(reader, "x.jsonl.gz", kind).unwrap();
                let error = read_whole(source, 1 << 20).unwrap_err();
                assert!(matches!(error, InputError::Damaged { .. }), "{bytes} bytes: {error:?}");
            }
        }
    }

    #[test]
    fn a_zstd_window_beyond_the_limit_is_refused_by_name() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(28).unwrap();
        encoder.write_all(&b"{\"id\": 1}\n".repeat(100)).unwrap();
        let packed = encoder.finish().unwrap();
        let within = |limits| {
            let (reader, kind) = (io::Cursor::new(packed.clone()), Some(SourceKind::JsonLines));
            let source = Source::within(reader, "x.zst", kind, limits).unwrap();
            read_whole(source, 1 << 20)
        };
        let error = within(Limits::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "x.zst needs a zstd window of more than 134217728 bytes to be unpacked"
        );
        let larger = Limits { zstd_window_log: 28, ..Limits::default() };
        assert_eq!(within(larger).unwrap().len(), 1000);
    }

    #[test]
    fn the_limit_refuses_more_and_takes_as_much() {
        assert_eq!(read_whole(source(b"12345".to_vec()), 5).unwrap(), b"12345");
        let error = read_whole(source(b"123456".to_vec()), 5).unwrap_err();
        assert!(matches!(error, InputError::FileTooLong { limit: 5, .. }));
    }

    #[test]
    fn names_tell_the_kind_and_compression_endings_do_not_hide_it() {
        let by_name = |name: &str| kind_by_name(Path::new(name));
        assert_eq!(by_name("a/b.JSONL"), Some(SourceKind::JsonLines));
        assert_eq!(by_name("b.jsonl.zst"), Some(SourceKind::JsonLines));
        assert_eq!(by_name("post.html.gz"), Some(SourceKind::Document));
        assert_eq!(by_name("b.csv.gz"), Some(SourceKind::Csv));
        assert_eq!(by_name("b.warc.gz"), Some(SourceKind::Warc));
        assert_eq!(by_name("part-0001"), None);
    }

    #[test]
    fn a_line_of_names_makes_an_unnamed_input_csv() {
        let kind = |text: &str| source(text.as_bytes().to_vec()).kind;
        assert_eq!(kind("id,created,text\n1,2024,hello\n"), SourceKind::Csv);
        assert_eq!(kind("\"id\"\t\"Content\"\r\n"), SourceKind::Csv);
        for document in
            ["text\nof a post", "text, text and text\n", "id,name\n", "see: text, body!\n"]
        {
            assert_eq!(kind(document), SourceKind::Document, "{document}");
        }
    }

    #[test]
    fn an_empty_input_is_an_empty_document() {
        let source = source(Vec::new());
        assert_eq!(source.kind, SourceKind::Document);
        assert!(read_whole(source, 10).unwrap().is_empty());
    }
}
