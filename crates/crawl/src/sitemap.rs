//! Sitemaps: the pages a site names itself.
//!
//! Three shapes are read: `<urlset>` (pages), `<sitemapindex>` (more sitemaps), and plain text with
//! an address a line. The XML is read as a stream of events, never as a tree; entities other than the
//! five of XML and character references are not expanded, so a small file stays small. A file that
//! breaks off gives what was read before.
//!
//! Cost: one pass; memory for the entries, at most [`Limits::entries`].
//! Not here: fetching; which of the addresses are in scope (a sitemap may name only pages of its own
//! site: the crawl checks that as for any link).

use std::borrow::Cow;
use std::io::Read as _;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

/// How much of a sitemap is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries: 50,000, as the protocol says.
    pub entries: usize,
    /// Bytes, uncompressed: 50 MB, as the protocol says.
    pub bytes: usize,
    /// Bytes of one address: 2,048, as the protocol says.
    pub address_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entries: 50_000, bytes: 52_428_800, address_bytes: 2048 }
    }
}

/// A page of a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its address, as written.
    pub url: String,
    /// When it last changed, as written.
    pub lastmod: Option<String>,
}

/// What a sitemap names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// Pages.
    pub pages: Vec<Entry>,
    /// More sitemaps.
    pub sitemaps: Vec<String>,
    /// Whether a limit was reached, so that there is more than was read.
    pub cut: bool,
    /// Where and why reading stopped before the end.
    pub damage: Option<Damage>,
}

/// A sitemap that could not be read to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sitemap is damaged at byte {at}: {what}")]
pub struct Damage {
    /// How many bytes, uncompressed, were read before.
    pub at: u64,
    /// What the parser or the decompressor said.
    pub what: String,
}

/// Reads a sitemap, gzipped or not. Whatever the bytes, there is an answer: what was read before
/// a limit or some damage.
#[must_use]
pub fn parse(bytes: &[u8], limits: Limits) -> Sitemap {
    let mut sitemap = Sitemap::default();
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(limits.bytes as u64 + 1);
        if let Err(error) = decoder.read_to_end(&mut plain) {
            sitemap.damage = Some(Damage { at: plain.len() as u64, what: error.to_string() });
        }
        Cow::Owned(plain)
    } else {
        Cow::Borrowed(bytes)
    };
    sitemap.cut = bytes.len() > limits.bytes;
    let bytes = &bytes[..bytes.len().min(limits.bytes)];
    let decoded = wonbon_text::decode::decode(bytes, None);
    let text = decoded.text.trim_start_matches('\u{feff}');
    if text.trim_ascii_start().starts_with('<') {
        read_xml(text, limits, &mut sitemap);
    } else {
        read_lines(text, limits, &mut sitemap);
    }
    sitemap
}

/// An address a line.
fn read_lines(text: &str, limits: Limits, sitemap: &mut Sitemap) {
    for line in text.split(['\n', '\r']) {
        let line = line.trim();
        let is_address = line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("http"));
        if is_address && line.len() <= limits.address_bytes {
            if sitemap.pages.len() == limits.entries {
                sitemap.cut = true;
                return;
            }
            sitemap.pages.push(Entry { url: line.to_owned(), lastmod: None });
        }
    }
}

/// Which element's text is being gathered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Address,
    LastModified,
}

/// What is known of the entry being read.
#[derive(Default)]
struct Reading {
    /// Whether the entry is a sitemap of an index; none outside of entries.
    is_index: Option<bool>,
    field: Option<Field>,
    /// How deep below the entry: fields of extensions are further down, or have another prefix.
    depth: usize,
    /// The prefix of the entry's name, mostly none.
    prefix: String,
    address: String,
    last_modified: String,
}

fn read_xml(text: &str, limits: Limits, sitemap: &mut Sitemap) {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.expand_empty_elements = false;
    let mut reading = Reading::default();
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                let at = reader.error_position();
                sitemap.damage.get_or_insert(Damage { at, what: error.to_string() });
                return;
            }
        };
        match event {
            Event::Start(element) => reading.start(element.name().as_ref()),
            Event::End(_) => {
                let is_over = reading.end();
                if is_over && !reading.keep(limits, sitemap) {
                    sitemap.cut = true;
                    return;
                }
            }
            Event::Text(text) => reading.add(&text, limits),
            Event::CData(text) => reading.add(&text, limits),
            Event::GeneralRef(reference) => {
                if let Some(c) = character(&reference) {
                    reading.add(c.encode_utf8(&mut [0; 4]), limits);
                }
            }
            Event::Eof => {
                if reading.is_index.is_some() && sitemap.damage.is_none() && !sitemap.cut {
                    let at = reader.buffer_position();
                    sitemap.damage = Some(Damage { at, what: "it breaks off".to_owned() });
                }
                return;
            }
            _ => {}
        }
    }
}

/// The character that a reference stands for: one of the five of XML, or a number.
fn character(reference: &BytesRef<'_>) -> Option<char> {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return Some(c);
    }
    match &**reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

impl Reading {
    fn start(&mut self, name: &str) {
        let (prefix, name) = name.split_once(':').unwrap_or(("", name));
        if self.is_index.is_none() {
            let is_index = match name {
                "url" => false,
                "sitemap" => true,
                _ => return,
            };
            let prefix = prefix.to_owned();
            *self = Reading { is_index: Some(is_index), prefix, ..Reading::default() };
            return;
        }
        self.depth += 1;
        let is_field = self.depth == 1 && prefix == self.prefix;
        self.field = match name {
            "loc" if is_field => Some(Field::Address),
            "lastmod" if is_field => Some(Field::LastModified),
            _ => None,
        };
    }

    /// Whether the entry is over.
    fn end(&mut self) -> bool {
        self.field = None;
        if self.depth > 0 {
            self.depth -= 1;
            return false;
        }
        self.is_index.is_some()
    }

    fn add(&mut self, text: &str, limits: Limits) {
        let field = match self.field {
            Some(Field::Address) => &mut self.address,
            Some(Field::LastModified) => &mut self.last_modified,
            None => return,
        };
        // One byte over the limit is enough to know that it is too long.
        if field.len() <= limits.address_bytes {
            field.push_str(text);
        }
    }

    /// Keeps the entry; no if there is no place.
    fn keep(&mut self, limits: Limits, sitemap: &mut Sitemap) -> bool {
        let entry = std::mem::take(self);
        let url = entry.address.trim();
        if url.is_empty() || url.len() > limits.address_bytes {
            return true;
        }
        if sitemap.pages.len() + sitemap.sitemaps.len() == limits.entries {
            return false;
        }
        if entry.is_index == Some(true) {
            sitemap.sitemaps.push(url.to_owned());
        } else {
            let lastmod = Some(entry.last_modified.trim()).filter(|text| !text.is_empty());
            let lastmod = lastmod.filter(|text| text.len() <= 64).map(str::to_owned);
            sitemap.pages.push(Entry { url: url.to_owned(), lastmod });
        }
        true
    }
}
