//! WARC: records of what was asked and answered, one gzip member each, read and written.
//!
//! [`Writer`] writes WARC 1.1: every record is a gzip member of its own, so a reader can jump to any of
//! them, and a writer can throw away a torn tail and go on. [`Reader`] reads WARC 1.0 and 1.1, plain,
//! gzipped record by record, or gzipped as a whole, as a stream. [`http`] takes apart what a record
//! holds.
//!
//! Why our own: the crates there are do not report where a record begins, do not go on after damage,
//! or do not write revisit records; docs/warc.md has the comparison.
//!
//! ```
//! use wonbon_time::Timestamp;
//! use wonbon_warc::{Reader, Record, Writer};
//!
//! let mut writer = Writer::new(Vec::new(), 7);
//! let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
//! let date = Timestamp::from_seconds(1_700_000_000);
//! let place = writer.write(&Record::response("http://example.org/", date, head, b"hello"))?;
//! assert_eq!(place.offset, 0);
//!
//! let mut reader = Reader::new(writer.get_ref().as_slice());
//! let mut record = reader.next_record()?.expect("there is one");
//! assert_eq!(record.header().target(), Some("http://example.org/"));
//! let block = record.read_block(1 << 20)?;
//! assert!(block.ends_with(b"\r\n\r\nhello"));
//! # Ok::<(), wonbon_warc::WarcError>(())
//! ```
//!
//! Guarantees: the same calls write the same bytes; what is written is read back; a file cut anywhere
//! gives the records before the cut and says where it is torn.
//! Not here: fetching, files of a crawl and their names, what a page means.

#![warn(unreachable_pub)]

mod digest;
mod error;
pub mod http;
mod identifier;
mod reader;
mod record;
mod window;
mod writer;

pub use digest::{Digest, NotADigest};
pub use error::{Damage, WarcError};
pub use identifier::{NotARecordId, RecordId};
pub use reader::{FoundRecord, Header, Limits, Reader};
pub use record::{REVISIT_PROFILE, Record, RecordKind, RefersTo, lines};
pub use writer::{Place, Writer};
