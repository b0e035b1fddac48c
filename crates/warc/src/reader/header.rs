//! The header of a record: its version and its fields.

use std::io::Read;

use wonbon_time::Timestamp;

use super::stream::{Fault, Stream};
use crate::digest::Digest;
use crate::error::Damage;
use crate::identifier::RecordId;
use crate::record::RecordKind;

/// The header of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    version: &'static str,
    kind: RecordKind,
    content_length: u64,
    fields: Vec<(String, String)>,
}

impl Header {
    /// `WARC/1.0` or `WARC/1.1`.
    #[must_use]
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// The bytes of this record with the given block; folded lines become one line.
    #[must_use]
    pub fn with_block(&self, block: &[u8]) -> Vec<u8> {
        let mut record = self.version.to_owned();
        for (name, value) in &self.fields {
            for part in ["\r\n", name, ": ", value] {
                record.push_str(part);
            }
        }
        record.push_str("\r\n\r\n");
        [record.as_bytes(), block, b"\r\n\r\n"].concat()
    }

    /// The type of the record.
    #[must_use]
    pub fn kind(&self) -> &RecordKind {
        &self.kind
    }

    /// How long its block is.
    #[must_use]
    pub fn content_length(&self) -> u64 {
        self.content_length
    }

    /// All fields, in order.
    #[must_use]
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// The first field with this name, whatever its case.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    /// The address the record is about. WARC 1.0 shows it between `<` and `>`, and some writers write
    /// it so.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.field("WARC-Target-URI").map(plain_address)
    }

    /// When the record was made.
    #[must_use]
    pub fn date(&self) -> Option<Timestamp> {
        read_date(self.field("WARC-Date")?)
    }

    /// Its ID, if that is a UUID.
    #[must_use]
    pub fn id(&self) -> Option<RecordId> {
        self.field("WARC-Record-ID")?.parse().ok()
    }

    /// The digest of its block, if that is a SHA-1.
    #[must_use]
    pub fn block_digest(&self) -> Option<Digest> {
        self.field("WARC-Block-Digest")?.parse().ok()
    }

    /// The digest of its payload, if that is a SHA-1.
    #[must_use]
    pub fn payload_digest(&self) -> Option<Digest> {
        self.field("WARC-Payload-Digest")?.parse().ok()
    }

    /// The ID of the record it refers to, if that is a UUID.
    #[must_use]
    pub fn refers_to(&self) -> Option<RecordId> {
        self.field("WARC-Refers-To")?.parse().ok()
    }

    /// The address of the record it refers to.
    #[must_use]
    pub fn refers_to_target(&self) -> Option<&str> {
        self.field("WARC-Refers-To-Target-URI").map(plain_address)
    }

    /// The date of the record it refers to.
    #[must_use]
    pub fn refers_to_date(&self) -> Option<Timestamp> {
        read_date(self.field("WARC-Refers-To-Date")?)
    }
}

/// A date as WARC 1.0 and 1.1 write it: `YYYY-MM-DDThh:mm:ss`, perhaps a fraction of up to nine digits, `Z`.
fn read_date(value: &str) -> Option<Timestamp> {
    let value = value.trim();
    let has_form = value.get(10..11) == Some("T")
        && value.ends_with('Z')
        && value.len() <= "2026-11-16T06:20:00.123456789Z".len();
    has_form.then(|| Timestamp::parse_strict(value).ok()).flatten()
}

fn plain_address(value: &str) -> &str {
    value.strip_prefix('<').and_then(|value| value.strip_suffix('>')).unwrap_or(value)
}

/// Reads a header up to its empty line, at most `limit` bytes.
pub(super) fn read_header<R: Read>(stream: &mut Stream<R>, limit: usize) -> Result<Header, Fault> {
    let mut left = limit;
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut line = Vec::new();
    let mut version = "WARC/1.1";
    for number in 1.. {
        line.clear();
        stream.read_line(&mut line, left)?;
        if !line.ends_with(b"\n") {
            if number == 1 && !b"WARC/1.".starts_with(&line[..line.len().min(7)]) {
                return Err(Fault::Damage(Damage::NotARecord));
            }
            let is_long = line.len() >= left;
            return Err(if is_long {
                Fault::Damage(Damage::LongHeader { limit })
            } else {
                Fault::Ends
            });
        }
        left -= line.len();
        let text = line.trim_ascii_end();
        if number == 1 {
            version = match text {
                b"WARC/1.0" => "WARC/1.0",
                b"WARC/1.1" => "WARC/1.1",
                _ => return Err(Fault::Damage(Damage::NotARecord)),
            };
            continue;
        }
        if text.is_empty() {
            break;
        }
        let text = String::from_utf8_lossy(text);
        if text.starts_with([' ', '\t']) {
            // A folded line continues the field before it.
            let Some((_, value)) = fields.last_mut() else {
                return Err(Fault::Damage(Damage::BadLine { line: number }));
            };
            value.push(' ');
            value.push_str(text.trim());
            continue;
        }
        let Some((name, value)) = text.split_once(':') else {
            return Err(Fault::Damage(Damage::BadLine { line: number }));
        };
        fields.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    header_of(version, fields).map_err(Fault::Damage)
}

fn header_of(version: &'static str, fields: Vec<(String, String)>) -> Result<Header, Damage> {
    let field = |name: &'static str| {
        let field = fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str()).ok_or(Damage::Field { field: name })
    };
    let kind = RecordKind::of_name(&field("WARC-Type")?.to_ascii_lowercase());
    let length = field("Content-Length")?;
    let content_length = length.parse().ok().filter(|_| !length.starts_with('+'));
    let content_length = content_length.ok_or(Damage::Field { field: "Content-Length" })?;
    Ok(Header { version, kind, content_length, fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_warc_are_read_and_nothing_else_is() {
        let date = |text: &str| read_date(text).map(Timestamp::as_microseconds);
        assert_eq!(date("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(date("2024-02-29T23:59:59.999999999Z"), Some(1_709_251_199_999_999));
        assert_eq!(date("2016-12-31T23:59:60Z"), Some(1_483_228_800_000_000));
        for bad in [
            "",
            "2024-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-01-01",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00Z",
            "2024-01-01T00:00:00+09:00",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00.1234567890Z",
            "+024-01-01T00:00:00Z",
            "20240101000000",
            "2024-01-01T00:00:0\u{660}Z",
        ] {
            assert_eq!(date(bad), None, "{bad}");
        }
    }
}
