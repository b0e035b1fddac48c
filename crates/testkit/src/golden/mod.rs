//! Golden rows: awkward documents, each in every format that can say it.
//!
//! Every way in has to make the same documents of them. Each row is a file of its own, because a
//! Parquet column has one type and a CSV file one header; the files are numbered, so that a folder of
//! them is read in the order of [`rows`].

mod rows;
mod write;

pub use rows::rows;

use serde_json::{Map, Value};

/// A format that documents come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// Comma-separated values.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// A web archive.
    Warc,
    /// A file that is one document.
    File,
    /// The body of a request.
    Post,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 6] =
        [Format::JsonLines, Format::Csv, Format::Parquet, Format::Warc, Format::File, Format::Post];
}

/// One awkward row.
#[derive(Clone, Debug)]
pub struct GoldenRow {
    /// What is awkward about it.
    pub about: &'static str,
    /// The row as a JSON object; of bytes that are no UTF-8, what they say.
    pub object: Map<String, Value>,
    /// The content as bytes in another charset, and the charset's name.
    pub bytes: Option<(Vec<u8>, Option<&'static str>)>,
    /// Formats that could hold the row and would say something else with it.
    pub except: &'static [Format],
    /// Whether files of lines begin with a byte order mark and end lines with CRLF.
    pub dos: bool,
}

impl GoldenRow {
    /// The text of a field; none if it is no string.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.object.get(field)?.as_str()
    }

    /// Whether the row names its document. One that does not is called by its file and row; a request
    /// has neither, and is refused.
    #[must_use]
    pub fn has_name(&self) -> bool {
        ["id", "url"].iter().any(|field| match self.object.get(*field) {
            None | Some(Value::Null) => false,
            Some(Value::String(name)) => !name.is_empty(),
            Some(_) => true,
        })
    }

    /// Whether a format can hold the row.
    #[must_use]
    pub fn fits(&self, format: Format) -> bool {
        if self.except.contains(&format) {
            return false;
        }
        let only = |fields: &[&str]| self.object.keys().all(|key| fields.contains(&key.as_str()));
        let filled = |field| self.text(field).is_some_and(|text| !text.trim().is_empty());
        match format {
            Format::JsonLines | Format::Post | Format::Parquet => true,
            // An empty field may be null or empty.
            Format::Csv => !self.object.values().any(Value::is_null),
            Format::Warc => {
                only(&["url", "created", "text", "html", "redirect"])
                    && self.text("url").is_some_and(|url| url.starts_with("http"))
                    && self.text("created").is_some()
                    && (filled("text") ^ filled("html") ^ filled("redirect"))
                    && self.object.len() == 3
            }
            Format::File => {
                let ends = |ending| self.text("id").is_some_and(|id| id.ends_with(ending));
                (only(&["id", "text"]) && ends(".txt")) || (only(&["id", "html"]) && ends(".html"))
            }
        }
    }

    /// The name of the row's file in a format, by its place among the rows.
    #[must_use]
    pub fn file_name(&self, number: usize, format: Format) -> String {
        match format {
            Format::JsonLines => format!("{number:02}.jsonl"),
            Format::Csv => format!("{number:02}.csv"),
            Format::Parquet => format!("{number:02}.parquet"),
            Format::Warc => format!("{number:02}.warc"),
            Format::File => self.text("id").unwrap_or_default().to_owned(),
            Format::Post => format!("{number:02}.json"),
        }
    }

    /// The bytes of the row's file in a format, or of the body of its request.
    ///
    /// # Panics
    ///
    /// If the row does not fit the format.
    #[must_use]
    pub fn file(&self, format: Format) -> Vec<u8> {
        assert!(self.fits(format), "{} is no row for {format:?}", self.about);
        match format {
            Format::JsonLines => write::json_line(self),
            Format::Csv => write::csv(self),
            Format::Parquet => write::parquet(self),
            Format::Warc => write::warc(self),
            Format::File => write::content(self),
            Format::Post => Value::Object(self.object.clone()).to_string().into_bytes(),
        }
    }
}
