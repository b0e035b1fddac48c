//! One JSON line, or one record of a CSV file, as the values of a document.
//!
//! Usual lines do not need a parser ([`plain_object`]); the rest, and every error, is the parser's. It
//! parses in place: strings are unescaped where they stand and handed out as slices of the batch. The price is
//! that the line is no longer JSON or CSV afterwards; a caller that needs it again keeps a copy.
//!
//! Guarantee: a line that is not a JSON object with usable fields is an error of that line alone.

mod plain_object;

use std::borrow::Cow;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use simd_json::{Buffers, ErrorType, Node, StaticNode, Tape, fill_tape_padded};

use self::plain_object::PlainReader;
use super::csv::RecordParser;
use super::lines::Lines;
use crate::document::Document;
use crate::fields::FieldNames;
use crate::resolve::{RowError, Value, Values, resolve};

/// Reads lines into documents, reusing its memory. Whether they are JSON or CSV, the lines know.
pub struct RowParser {
    names: FieldNames,
    ranking: Option<String>,
    plain: PlainReader,
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
            plain: PlainReader::new(&names, None),
            names,
            ranking: None,
            buffers: Buffers::default(),
            tape: Tape::null().reset(),
            records: RecordParser::default(),
        }
    }

    /// The same, handing out one more field by which documents can be put in order. It may be one of
    /// the named ones.
    #[must_use]
    pub fn with_ranking(mut self, field: Option<&str>) -> Self {
        self.ranking = field.map(str::to_owned);
        self.plain = PlainReader::new(&self.names, field);
        self
    }

    /// Which field means what.
    pub(crate) fn names(&self) -> &FieldNames {
        &self.names
    }

    /// The field to rank by.
    pub(crate) fn ranking(&self) -> Option<&str> {
        self.ranking.as_deref()
    }

    /// Calls `each` with the number of every line, counted from one, and its document, or why it is
    /// none. Blank lines are skipped. What has neither id nor URL is called by `place`, which gets
    /// the number.
    pub fn for_each_row(
        &mut self,
        lines: &mut Lines,
        place: &dyn Fn(u64) -> Option<String>,
        mut each: impl FnMut(u64, Result<Document<'_>, RowError>),
    ) {
        if let Some(header) = lines.header().cloned() {
            self.records.start(&header, &self.names, self.ranking.as_deref());
            return lines.for_each_padded(|number, line| {
                let (padded, length) = match line {
                    Ok(line) => line,
                    Err(error) => return each(number, Err(error)),
                };
                let values = self.records.values(&mut padded[..length]);
                let place = || place(number);
                each(number, values.and_then(|values| resolve(values, &self.names, place)));
            });
        }
        lines.for_each_padded(|number, line| {
            let (padded, length) = match line {
                Ok(line) => line,
                Err(error) => return each(number, Err(error)),
            };
            let place = || place(number);
            if self.plain.scan(padded, length)
                && let Some(values) = self.plain.values(&padded[..length])
            {
                return each(number, resolve(values, &self.names, place));
            }
            each(number, self.parse_by_tape(padded, length, place));
        });
    }

    /// A copy of JSON with room for what [`parse`](RowParser::parse) needs behind it.
    #[must_use]
    pub fn copy_with_room(json: &[u8]) -> Vec<u8> {
        let mut copy = Vec::with_capacity(json.len() + PADDING);
        copy.extend_from_slice(json);
        copy
    }

    /// The document of one JSON object, such as the body of a request. The bytes are parsed in place.
    /// What has neither id nor URL is called by `otherwise`, if that is given.
    ///
    /// # Errors
    ///
    /// [`RowError`]: it is no JSON object, or no document.
    pub fn parse<'a>(
        &mut self,
        json: &'a mut Vec<u8>,
        otherwise: Option<&str>,
    ) -> Result<Document<'a>, RowError> {
        let length = json.len();
        let is_text = simdutf8::basic::from_utf8(json).is_ok();
        json.resize(length + PADDING, b'\n');
        let place = || otherwise.map(str::to_owned);
        if is_text && self.plain.scan(json, length) {
            return resolve(self.plain.take(&mut json[..length]), &self.names, place);
        }
        self.parse_by_tape(json, length, place)
    }

    fn parse_by_tape<'a>(
        &mut self,
        padded: &'a mut [u8],
        length: usize,
        place: impl FnOnce() -> Option<String>,
    ) -> Result<Document<'a>, RowError> {
        // The memory of the tape goes from line to line; it keeps nothing of them.
        let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let document = match fill_tape_padded(padded, length, &mut self.buffers, &mut tape) {
            Ok(()) => values_of(&self.names, self.ranking.as_deref(), &tape)
                .and_then(|values| resolve(values, &self.names, place)),
            Err(error) => {
                Err(RowError::NotJson { problem: in_words(error.error()), byte: error.index() })
            }
        };
        self.tape = tape.reset();
        document
    }
}

/// A JSON object with another string in one field, which is appended if the object does not have it; none if it is no
/// object. All other bytes stay as they are. Of several fields of one name the last is meant, as in reading.
///
/// ```
/// use wonbon_documents::with_json_field;
/// let changed = with_json_field(br#"{"id": 1, "text": "a b"}"#, "text", "b").unwrap();
/// assert_eq!(changed, br#"{"id": 1, "text": "b"}"#);
/// ```
#[must_use]
pub fn with_json_field(object: &[u8], name: &str, value: &str) -> Option<Vec<u8>> {
    struct Fields<'a>(&'a str, Option<&'a RawValue>, bool);
    impl<'de> Visitor<'de> for &mut Fields<'de> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
            while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                let value = map.next_value::<&'de RawValue>()?;
                self.2 = true;
                if key == self.0 {
                    self.1 = Some(value);
                }
            }
            Ok(())
        }
    }
    let text = std::str::from_utf8(object).ok()?;
    // The name lives as long as the object: both are borrowed by the same visitor.
    let mut fields = Fields(name, None, false);
    let mut parser = serde_json::Deserializer::from_str(text);
    parser.deserialize_map(&mut fields).ok()?;
    parser.end().ok()?;
    let value = serde_json::to_string(value).expect("a string is JSON");
    if let Some(old) = fields.1 {
        let start = old.get().as_ptr() as usize - text.as_ptr() as usize;
        let end = start + old.get().len();
        return Some([&object[..start], value.as_bytes(), &object[end..]].concat());
    }
    let end = object.iter().rposition(|&byte| byte == b'}')?;
    let name = serde_json::to_string(name).expect("a string is JSON");
    let comma = if fields.2 { "," } else { "" };
    let head = object[..end].trim_ascii_end();
    Some([head, format!("{comma}{name}:{value}").as_bytes(), &object[end..]].concat())
}

/// Readable bytes that the parser needs behind a line.
pub(super) const PADDING: usize = simd_json::INPUT_PADDING;

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

fn values_of<'a>(
    names: &FieldNames,
    ranking_field: Option<&str>,
    tape: &Tape<'a>,
) -> Result<Values<'a>, RowError> {
    let Some(Node::Object { len: fields, .. }) = tape.0.first() else {
        return Err(RowError::NotAnObject);
    };
    let mut values = Values::default();
    let mut at = 1;
    for _ in 0..*fields {
        let Node::String(key) = tape.0[at] else { return Err(RowError::NotAnObject) };
        let node = &tape.0[at + 1];
        at += 2;
        // An array or object takes as many nodes as it says beside its own.
        if let Node::Object { count, .. } | Node::Array { count, .. } = node {
            at += count;
        }
        // One field may serve two purposes, such as `published` as the creation time.
        let take = |name: &str, value: &mut Value<'a>| {
            if key == name {
                *value = value_of(node);
            }
        };
        take(&names.id, &mut values.id);
        take(&names.url, &mut values.url);
        take(&names.created, &mut values.created);
        take(&names.published, &mut values.published);
        take(&names.title, &mut values.title);
        take(&names.site, &mut values.site);
        take(&names.author, &mut values.author);
        take(&names.language, &mut values.language);
        take(&names.text, &mut values.text);
        take(&names.html, &mut values.html);
        take(&names.redirect, &mut values.redirect);
        if let Some(name) = ranking_field {
            take(name, &mut values.ranking);
        }
    }
    Ok(values)
}

fn value_of<'a>(node: &Node<'a>) -> Value<'a> {
    match node {
        Node::String(text) => Value::from(*text),
        Node::Static(StaticNode::Null) => Value::Missing,
        Node::Static(StaticNode::I64(number)) => Value::Integer((*number).into()),
        Node::Static(StaticNode::U64(number)) => Value::Integer((*number).into()),
        Node::Static(StaticNode::F64(number)) => Value::Float(*number),
        _ => Value::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::formats::lines::LineReader;
    use crate::{Content, Source};

    /// Id, URL and content of a row, and whether the content is a page.
    type Owned = Result<(Option<String>, Option<String>, String, bool), RowError>;

    fn rows(input: &[u8]) -> Vec<(u64, Owned)> {
        let source = Source::from_reader(Cursor::new(input.to_vec()), "test", None).unwrap();
        let mut reader = LineReader::new(source);
        let mut lines = Lines::default();
        let mut parser = RowParser::new(FieldNames::default());
        let mut rows = Vec::new();
        while reader.next_lines(&mut lines).unwrap() {
            parser.for_each_row(&mut lines, &|_| Some(String::new()), |line, row| {
                let owned = row.map(|row| {
                    let (content, html) = match row.content {
                        Content::Text(text) => (text.into_owned(), false),
                        Content::Page(html) => (html.into_owned(), true),
                        other => panic!("{other:?}"),
                    };
                    let url = row.url.map(Into::into);
                    let id = Some(row.id.into_owned())
                        .filter(|id| !id.is_empty() && url.as_ref() != Some(id));
                    (id, url, content, html)
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
    fn a_field_is_replaced_or_appended_and_other_bytes_stay() {
        let with = |object: &str| {
            with_json_field(object.as_bytes(), "text", "n\"w")
                .map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let is = |object: &str, expected: &str| assert_eq!(with(object).as_deref(), Some(expected));
        is(
            r#"{"a" : [1, {"text":2}],"text" :"old\n", "b":1.0}"#,
            r#"{"a" : [1, {"text":2}],"text" :"n\"w", "b":1.0}"#,
        );
        is(r#"{"text":"1","text":null} "#, r#"{"text":"1","text":"n\"w"} "#);
        is(r#"{"t\u0065xt":"1"}"#, r#"{"t\u0065xt":"n\"w"}"#);
        is(r#"{ "a":1 }"#, r#"{ "a":1,"text":"n\"w"}"#);
        is("{}", r#"{"text":"n\"w"}"#);
        assert_eq!(with("[1]"), None);
        assert_eq!(with("{} x"), None);
    }

    #[test]
    fn the_ranking_field_is_handed_out_as_it_is() {
        let input = b"{\"text\":\"a\",\"id\":1,\"rank\":12.5}\n{\"text\":\"a\",\"id\":2,\"rank\":\"2020\"}\n\
            {\"text\":\"a\",\"id\":3}\n{\"text\":\"a\",\"id\":4,\"rank\":[7]}\n";
        let source = Source::from_reader(Cursor::new(input.to_vec()), "test", None).unwrap();
        let mut lines = Lines::default();
        LineReader::new(source).next_lines(&mut lines).unwrap();
        let mut parser = RowParser::new(FieldNames::default()).with_ranking(Some("rank"));
        let mut found = Vec::new();
        parser.for_each_row(&mut lines, &|_| None, |_, row| {
            found.push(format!("{:?}", row.unwrap().ranking));
        });
        assert_eq!(found, ["Float(12.5)", "Text(\"2020\")", "Missing", "Other"]);
    }

    #[test]
    fn one_field_may_mean_two_things() {
        let names = FieldNames { created: "published".to_owned(), ..FieldNames::default() };
        let mut json = br#"{"id":"a","text":"b","published":"2024-05-01"}"#.to_vec();
        let document = RowParser::new(names).parse(&mut json, None).unwrap();
        assert!(document.created.is_some());
        assert_eq!(document.created, document.published);
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
                prop_assert_eq!(row, Ok((id.filter(|id| !id.is_empty()), None, text, false)));
            }
        }

        #[test]
        fn no_input_makes_it_panic(input in prop::collection::vec(any::<u8>(), 0..400)) {
            rows(&input);
        }
    }
}
