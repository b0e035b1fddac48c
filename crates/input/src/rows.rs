//! One JSON line, or one record of a CSV file, as the fields of a document.
//!
//! The line is parsed in place: strings are unescaped where they stand and handed out as slices of
//! the batch, so a document's text is not copied once between the file and its words. The price is
//! that the line is no longer JSON or CSV afterwards; who needs it again keeps a copy.
//!
//! Guarantee: a line that is not a JSON object with usable fields is an error of that line alone.

use std::borrow::Cow;

use simd_json::{Buffers, ErrorType, Node, StaticNode, Tape, fill_tape_padded};

use crate::batches::Batch;
use crate::csv::RecordParser;

/// Which field of a line means what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldNames {
    /// The key of the document; its URL serves when it is absent.
    pub id: String,
    /// The address of the document.
    pub url: String,
    /// When it was created.
    pub created: String,
    /// Its title.
    pub title: String,
    /// The site it stands on.
    pub site: String,
    /// Who wrote it.
    pub author: String,
    /// Its language.
    pub language: String,
    /// Its plain text.
    pub text: String,
    /// Its page, used when there is no plain text.
    pub html: String,
    /// Where its address leads, used when there is neither text nor page.
    pub redirect: String,
}

impl Default for FieldNames {
    /// The words of Wonbon's own vocabulary.
    fn default() -> Self {
        let [id, url, created, title, text, html] =
            ["id", "url", "created", "title", "text", "html"].map(str::to_owned);
        let [site, author, language, redirect] =
            ["site", "author", "language", "redirect"].map(str::to_owned);
        FieldNames { id, url, created, title, site, author, language, text, html, redirect }
    }
}

/// The content of a document as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Plain text: taken as it is.
    Text(&'a str),
    /// A page: its core text has to be extracted.
    Html(&'a str),
    /// No content: the address leads elsewhere.
    Redirect(&'a str),
}

/// A document out of one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// The document's key, if the line has one; a number is written out.
    pub id: Option<Cow<'a, str>>,
    /// The document's address, if the line has one.
    pub url: Option<&'a str>,
    /// Its creation time as written, if the line has one.
    pub created: Option<&'a str>,
    /// Its title, if the line has one.
    pub title: Option<&'a str>,
    /// The site it stands on, if the line says so.
    pub site: Option<&'a str>,
    /// Who wrote it, if the line says so.
    pub author: Option<&'a str>,
    /// Its language, if the line says so.
    pub language: Option<&'a str>,
    /// Its text or page.
    pub content: Content<'a>,
    /// The value of the field asked for with [`RowParser::with_ranking_field`].
    pub ranking: Option<Ranking<'a>>,
}

/// A value by which documents can be put in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ranking<'a> {
    /// A number.
    Number(f64),
    /// A text, such as a time.
    Text(&'a str),
}

/// Why a line is not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// Not JSON at all.
    #[error("is not JSON ({problem} at byte {byte})")]
    NotJson {
        /// What the parser stumbled over.
        problem: String,
        /// Where, counted from the start of the line.
        byte: usize,
    },
    /// JSON, but an array, a string or a number.
    #[error("is not a JSON object")]
    NotAnObject,
    /// A field that must be a string is something else.
    #[error("has a field `{field}` that is not a string")]
    NotAString {
        /// The field.
        field: String,
    },
    /// A CSV record that does not fit its header.
    #[error("has {got} fields where the header has {wanted}")]
    FieldCount {
        /// Fields of the record.
        got: usize,
        /// Fields of the header.
        wanted: usize,
    },
    /// A quote of a CSV record that is not closed before the file ends.
    #[error("has a quote that is not closed")]
    UnclosedQuote,
    /// A field of a CSV record that is not UTF-8.
    #[error("has a field `{field}` that is not UTF-8")]
    NotUtf8 {
        /// The field.
        field: String,
    },
    /// Neither text nor page.
    #[error("has neither a field `{text}` nor a field `{html}`")]
    NoContent {
        /// The field that would hold plain text.
        text: String,
        /// The field that would hold a page.
        html: String,
    },
}

/// Reads lines into rows, reusing its memory. Whether they are JSON or CSV, the batch knows.
pub struct RowParser {
    names: FieldNames,
    ranking: Option<String>,
    buffers: Buffers,
    tape: Tape<'static>,
    records: RecordParser,
}

impl std::fmt::Debug for RowParser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowParser").field("names", &self.names).finish_non_exhaustive()
    }
}

impl RowParser {
    /// A parser for lines with these fields.
    #[must_use]
    pub fn new(names: FieldNames) -> Self {
        RowParser {
            names,
            ranking: None,
            buffers: Buffers::default(),
            tape: Tape::null().reset(),
            records: RecordParser::default(),
        }
    }

    /// The same, handing out one more field by which documents can be put in order. It may be one of
    /// the named ones, and it may be a number where that one must be a string.
    #[must_use]
    pub fn with_ranking_field(mut self, field: Option<&str>) -> Self {
        self.ranking = field.map(str::to_owned);
        self
    }

    /// Calls `each` with the number of every line of the batch, counted from one, and its row, or
    /// why it is none. Blank lines are passed over.
    pub fn for_each_row(
        &mut self,
        batch: &mut Batch,
        mut each: impl FnMut(u64, Result<Row<'_>, RowError>),
    ) {
        if let Some(header) = batch.header().cloned() {
            self.records.start(&header, &self.names, self.ranking.as_deref());
            return batch.for_each_padded(|number, padded, length| {
                each(number, self.records.row(&mut padded[..length], &self.names));
            });
        }
        batch.for_each_padded(|number, padded, length| {
            // The memory of the tape goes from line to line; it keeps nothing of them.
            let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
            let row = match fill_tape_padded(padded, length, &mut self.buffers, &mut tape) {
                Ok(()) => row(&self.names, self.ranking.as_deref(), &tape),
                Err(error) => {
                    Err(RowError::NotJson { problem: in_words(error.error()), byte: error.index() })
                }
            };
            each(number, row);
            self.tape = tape.reset();
        });
    }
}

/// `ExpectedObjectKey` as `expected object key`: the parser has names for its errors, no sentences.
fn in_words(error: &ErrorType) -> String {
    let mut words = String::new();
    for c in format!("{error:?}").chars() {
        if c.is_ascii_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

fn row<'a>(
    names: &FieldNames,
    ranking_field: Option<&str>,
    tape: &Tape<'a>,
) -> Result<Row<'a>, RowError> {
    let Some(Node::Object { len: fields, .. }) = tape.0.first() else {
        return Err(RowError::NotAnObject);
    };
    let (mut id, mut url, mut created, mut title, mut text, mut html) =
        (None, None, None, None, None, None);
    let (mut site, mut author, mut language, mut redirect) = (None, None, None, None);
    let mut ranking = None;
    let mut at = 1;
    for _ in 0..*fields {
        let Node::String(key) = tape.0[at] else { return Err(RowError::NotAnObject) };
        let value = &tape.0[at + 1];
        at += 2;
        // An array or object takes as many nodes as it says beside its own.
        if let Node::Object { count, .. } | Node::Array { count, .. } = value {
            at += count;
        }
        let string = |value: &Node<'a>| match value {
            Node::String(string) => Ok(Some(*string)),
            Node::Static(StaticNode::Null) => Ok(None),
            _ => Err(RowError::NotAString { field: key.to_owned() }),
        };
        if ranking_field == Some(key) {
            ranking = match value {
                Node::String(text) => Some(Ranking::Text(text)),
                Node::Static(StaticNode::I64(number)) => Some(Ranking::Number(*number as f64)),
                Node::Static(StaticNode::U64(number)) => Some(Ranking::Number(*number as f64)),
                Node::Static(StaticNode::F64(number)) => Some(Ranking::Number(*number)),
                _ => None,
            };
            if key == names.created && matches!(ranking, Some(Ranking::Number(_))) {
                continue;
            }
        }
        match key {
            _ if key == names.id => {
                id = match value {
                    Node::Static(number @ (StaticNode::I64(_) | StaticNode::U64(_))) => {
                        Some(number.to_string().into())
                    }
                    other => string(other)?.map(Into::into),
                }
            }
            _ if key == names.url => url = string(value)?,
            _ if key == names.created => created = string(value)?,
            _ if key == names.title => title = string(value)?,
            // What only describes a document does not make a line unusable.
            _ if key == names.site => site = string(value).unwrap_or(None),
            _ if key == names.author => author = string(value).unwrap_or(None),
            _ if key == names.language => language = string(value).unwrap_or(None),
            _ if key == names.redirect => redirect = string(value).unwrap_or(None),
            _ if key == names.text => text = string(value)?,
            _ if key == names.html => html = string(value)?,
            _ => {}
        }
    }
    let content = match (text, html) {
        (Some("") | None, Some("") | None) if leads_elsewhere(redirect, url, id.as_deref()) => {
            Content::Redirect(redirect.unwrap_or_default())
        }
        (Some(text), _) => Content::Text(text),
        (None, Some(html)) => Content::Html(html),
        (None, None) => {
            return Err(RowError::NoContent { text: names.text.clone(), html: names.html.clone() });
        }
    };
    Ok(Row { id, url, created, title, site, author, language, content, ranking })
}

/// Whether a redirect is one: crawlers also write down the address itself.
pub(crate) fn leads_elsewhere(redirect: Option<&str>, url: Option<&str>, id: Option<&str>) -> bool {
    redirect.is_some_and(|to| !to.is_empty() && Some(to) != url && Some(to) != id)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Source;
    use crate::batches::Batches;

    /// What a line says, with the borrowed parts copied.
    type Owned = Result<(Option<String>, Option<String>, String, bool), RowError>;

    fn rows(input: &[u8]) -> Vec<(u64, Owned)> {
        let source = Source::from_reader(Cursor::new(input.to_vec()), "test", None).unwrap();
        let mut batches = Batches::new(source);
        let mut batch = Batch::default();
        let mut parser = RowParser::new(FieldNames::default());
        let mut rows = Vec::new();
        while batches.next_into(&mut batch).unwrap() {
            parser.for_each_row(&mut batch, |line, row| {
                let owned = row.map(|row| {
                    let (content, html) = match row.content {
                        Content::Text(text) => (text, false),
                        Content::Html(html) => (html, true),
                        Content::Redirect(_) => ("a redirect", false),
                    };
                    let id = row.id.map(Cow::into_owned);
                    (id, row.url.map(str::to_owned), content.to_owned(), html)
                });
                rows.push((line, owned));
            });
        }
        rows
    }

    #[test]
    fn a_broken_line_is_refused_and_the_rest_is_read() {
        let input = b"{\"id\": 7, \"text\": \"a\\nb\"}\n\n{\"id\": \n[1]\n{\"id\":\"x\"}\n\
            {\"text\": 5}\n{\"meta\":{\"a\":[1,{\"text\":\"no\"}]},\"html\":\"<p>\",\"url\":\"u\"}";
        let rows = rows(input);
        assert_eq!(rows[0], (1, Ok((Some("7".into()), None, "a\nb".into(), false))));
        assert!(matches!(rows[1], (3, Err(RowError::NotJson { .. }))), "{:?}", rows[1]);
        assert_eq!(rows[2], (4, Err(RowError::NotAnObject)));
        assert!(matches!(rows[3], (5, Err(RowError::NoContent { .. }))));
        assert_eq!(rows[4], (6, Err(RowError::NotAString { field: "text".into() })));
        assert_eq!(rows[5], (7, Ok((None, Some("u".into()), "<p>".into(), true))));
    }

    #[test]
    fn a_row_that_leads_elsewhere_needs_no_text() {
        let input = b"{\"url\":\"u\",\"redirect\":\"v\"}\n{\"url\":\"u\",\"redirect\":\"v\",\"text\":\"\"}\n\
            {\"url\":\"u\",\"redirect\":\"v\",\"text\":\"t\"}\n{\"url\":\"u\",\"redirect\":\"u\"}\n\
            {\"url\":\"u\",\"redirect\":null,\"text\":\"\"}";
        let contents: Vec<_> = rows(input).into_iter().map(|(_, row)| row.map(|r| r.2)).collect();
        let text = |text: &str| Ok(text.to_owned());
        assert_eq!(contents[..3], [text("a redirect"), text("a redirect"), text("t")]);
        assert!(matches!(contents[3], Err(RowError::NoContent { .. })), "{contents:?}");
        assert_eq!(contents[4], text(""));
    }

    #[test]
    fn the_ranking_field_may_be_a_number_or_a_text() {
        let input = b"{\"text\":\"a\",\"created\":12.5}\n{\"text\":\"a\",\"created\":\"2020\"}\n\
            {\"text\":\"a\"}\n{\"text\":\"a\",\"created\":null}\n";
        let source = Source::from_reader(Cursor::new(input.to_vec()), "test", None).unwrap();
        let mut batch = Batch::default();
        Batches::new(source).next_into(&mut batch).unwrap();
        let mut parser = RowParser::new(FieldNames::default()).with_ranking_field(Some("created"));
        let mut found = Vec::new();
        parser.for_each_row(&mut batch, |_, row| {
            found.push(match row.unwrap().ranking {
                Some(Ranking::Number(number)) => number.to_string(),
                Some(Ranking::Text(text)) => format!("{text:?}"),
                None => "none".to_owned(),
            });
        });
        assert_eq!(found, ["12.5", "\"2020\"", "none", "none"]);
    }

    #[test]
    fn invalid_utf8_and_unfinished_strings_are_errors_of_their_line() {
        let rows = rows(b"{\"text\":\"\xFF\"}\n{\"text\":\"abc\n{\"text\":\"ok\"}\n");
        assert!(matches!(rows[0], (1, Err(RowError::NotJson { .. }))));
        assert!(matches!(rows[1], (2, Err(RowError::NotJson { .. }))));
        assert_eq!(rows[2], (3, Ok((None, None, "ok".into(), false))));
    }

    proptest! {
        #[test]
        fn rows_hold_what_a_plain_parser_reads(
            documents in prop::collection::vec((any::<Option<String>>(), any::<String>(), any::<i64>()), 1..20),
        ) {
            let input: String = documents
                .iter()
                .map(|(id, text, number)| {
                    let line = json!({"other": [number, {"text": id}], "text": text, "id": id});
                    format!("{line}\n")
                })
                .collect();
            let rows = rows(input.as_bytes());
            prop_assert_eq!(rows.len(), documents.len());
            for ((_, row), (id, text, _)) in rows.into_iter().zip(documents) {
                prop_assert_eq!(row, Ok((id, None, text, false)));
            }
        }

        #[test]
        fn no_input_makes_it_panic(input in prop::collection::vec(any::<u8>(), 0..400)) {
            rows(&input);
        }
    }
}
