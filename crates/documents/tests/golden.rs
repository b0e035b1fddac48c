//! The golden rows (`wonbon_testkit::golden`) are the same documents in every format. The service's tests
//! send them through every door into a store and write the table of docs/formats.md.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::num::NonZeroUsize;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use wonbon_documents::{
    ChosenFields, Content, Document, FieldNames, Inputs, PieceOutput, Reading, RowParser,
    Unwatched, for_each_document,
};
use wonbon_testkit::golden::{Format, GoldenRow, rows};

/// A document with the borrowed parts copied, or why there is none.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    id: String,
    url: Option<String>,
    created: Option<String>,
    published: Option<String>,
    title: Option<String>,
    site: Option<String>,
    author: Option<String>,
    language: Option<String>,
    redirect: Option<String>,
    text: String,
    bytes: Vec<u8>,
}

fn told(document: &mut Document<'_>) -> Told {
    document.extract();
    let owned = |value: &Option<std::borrow::Cow<'_, str>>| value.as_deref().map(str::to_owned);
    Told {
        id: document.id.clone().into_owned(),
        url: owned(&document.url),
        created: document.created.map(|time| time.to_string()),
        published: document.published.map(|time| time.to_string()),
        title: owned(&document.title),
        site: owned(&document.site),
        author: owned(&document.author),
        language: owned(&document.language),
        redirect: document.redirect().map(str::to_owned),
        text: document.text().to_owned(),
        bytes: document.bytes().to_vec(),
    }
}

/// What a format makes of a row.
fn read(row: &GoldenRow, number: usize, format: Format) -> Result<Told, String> {
    let bytes = row.file(format);
    if format == Format::Post {
        let mut body = bytes;
        let mut parser = RowParser::new(FieldNames::default());
        return match parser.parse(&mut body, None) {
            Ok(mut document) => Ok(told(&mut document)),
            Err(error) => Err(error.to_string()),
        };
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(row.file_name(number, format));
    std::fs::write(&path, bytes).unwrap();
    let mut found = read_file(&path);
    assert_eq!(found.len(), 1, "{} as {format:?}: {found:?}", row.about);
    found.remove(0)
}

fn read_file(path: &Path) -> Vec<Result<Told, String>> {
    let paths = [path.to_owned()];
    let fields = ChosenFields::default().names(&paths, None).unwrap();
    let inputs = Inputs::find(&paths, fields).unwrap();
    let mut found = Vec::new();
    let made = for_each_document(
        &Reading::new(&inputs, NonZeroUsize::MIN, &Unwatched),
        || (),
        |(), document, documents: &mut Vec<Told>| documents.push(told(document)),
        |piece: PieceOutput<Vec<Told>>| -> Result<(), wonbon_documents::InputError> {
            found.extend(piece.output.into_iter().map(Ok));
            found.extend(piece.skipped.into_iter().map(|row| Err(row.why)));
            Ok(())
        },
    );
    made.unwrap();
    found
}

/// Compares what the formats that can hold a row make of it with what the first of them does; returns how
/// many were compared.
fn compare_formats(row: &GoldenRow, number: usize) -> usize {
    let formats: Vec<Format> = Format::ALL.into_iter().filter(|&format| row.fits(format)).collect();
    let (&first, others) = formats.split_first().unwrap();
    let expected = read(row, number, first);
    for &format in others {
        let mut found = read(row, number, format);
        let mut expected = expected.clone();
        if format == Format::Post && !row.has_name() && expected.is_ok() {
            // A request has no file and row to be called by.
            expected = Err("has neither a field `id` nor a field `url`".to_owned());
        }
        match (&mut found, &mut expected) {
            (Ok(found), Ok(expected)) => {
                // What has no name of its own is called by its place.
                if !row.has_name() {
                    let is_place = |id: &str| id.contains('.') && id.contains(':');
                    assert!(is_place(&found.id) && is_place(&expected.id), "{}", found.id);
                    found.id.clone_from(&expected.id);
                }
                // Other bytes that say the same are not the same bytes.
                if row.bytes.is_some() || row.dos {
                    found.bytes.clone_from(&expected.bytes);
                }
            }
            // The value in the sentence is written as its format has it.
            (Err(found), Err(expected)) => {
                for sentence in [found, expected] {
                    sentence.truncate(sentence.find(':').unwrap_or(sentence.len()));
                }
            }
            _ => {}
        }
        assert_eq!(found, expected, "{} as {format:?} and {first:?}", row.about);
    }
    others.len()
}

#[test]
fn every_format_makes_the_same_document_of_a_row() {
    let compared: usize =
        rows().iter().zip(1..).map(|(row, number)| compare_formats(row, number)).sum();
    assert!(rows().len() >= 40 && compared >= 120, "{} rows, {compared} compared", rows().len());
}

/// A field that is missing, null, or one of these.
fn field_of(values: Vec<Value>) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(Value::Null)),
        8 => prop::sample::select(values).prop_map(Some),
    ]
}

/// Rows of whatever fields; numbers stand only where CSV, which has none, says the same with their digits.
fn any_row() -> impl Strategy<Value = GoldenRow> {
    let page = |claim: &str| {
        json!(format!(
            "<html><title>T</title>{claim}<body><p>Some words on a page that is read.</p>"
        ))
    };
    let claim = "<meta property=\"article:published_time\" content=\"2001-02-03\">";
    let addresses = || vec![json!(""), json!("a"), json!("https://a.example/1"), json!(" ")];
    let times = || {
        vec![
            json!(""),
            json!(" "),
            json!("2024-05-01"),
            json!(" 2024.05.01 "),
            json!("2024-02-31"),
            json!("1714554000"),
            json!(1_714_554_000),
            json!(1.714554e9),
            json!(1_714_554_000_123_i64),
            json!("2024"),
            json!(2024),
            json!(2024.0),
            json!("2024.0"),
            json!(2024.5),
            json!("2024.75"),
            json!(999),
            json!(10_000),
            json!(-2024),
            json!(-0.5),
            json!(u64::MAX),
            json!(1e300),
            json!(0),
            json!("24:00"),
            json!("2024-05-01T24:00:00"),
            json!("2024-05-01T09:00+09"),
            json!("inf"),
        ]
    };
    let names = || vec![json!(""), json!("a"), json!(" b "), json!(7), json!("한"), json!("\u{0}")];
    let texts =
        vec![json!(""), json!(" "), json!("... !"), json!("one two"), json!("<p>three</p>")];
    let pages = vec![json!(""), json!(" "), json!("<p>"), page(""), page(claim), json!("no tags")];
    let fields: [(&str, Vec<Value>); 11] = [
        ("id", names()),
        ("url", addresses()),
        ("created", times()),
        ("published", times()),
        ("title", names()),
        ("site", names()),
        ("author", names()),
        ("language", names()),
        ("text", texts),
        ("html", pages),
        ("redirect", addresses()),
    ];
    let fields: Vec<_> = fields
        .into_iter()
        .map(|(name, values)| {
            field_of(values).prop_map(move |value| Some((name.to_owned(), value?)))
        })
        .collect();
    fields.prop_map(|fields| {
        let mut object: serde_json::Map<String, Value> = fields.into_iter().flatten().collect();
        object.entry("title").or_insert(json!("a row has a field"));
        GoldenRow { about: "a random row", object, bytes: None, except: &[], dos: false }
    })
}

proptest! {
    #[test]
    fn every_format_makes_the_same_document_of_any_row(row in any_row()) {
        compare_formats(&row, 1);
    }
}

#[test]
fn a_date_of_an_archive_has_the_one_form_that_archives_write() {
    for (date, created) in [
        ("2024-05-01T09:00:00Z", Ok(Some("2024-05-01T09:00:00Z"))),
        ("2024-05-01T09:00:00.25Z", Ok(Some("2024-05-01T09:00:00.25Z"))),
        ("2024-05-01T09:00Z", Err(())),
        ("2024-05-01T24:00:00Z", Err(())),
        ("2024-05-01 09:00:00", Err(())),
        ("2024-05-01", Err(())),
        ("1714554000", Err(())),
        ("", Err(())),
    ] {
        let body = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nthe old ferry";
        let archive = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: {date}\r\n\
             Content-Length: {}\r\n\r\n{body}\r\n\r\n",
            body.len()
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc");
        std::fs::write(&path, archive).unwrap();
        let [found] = &read_file(&path)[..] else { panic!("{date}: one row") };
        match (found, created) {
            (Ok(found), Ok(created)) => assert_eq!(found.created.as_deref(), created),
            (Err(why), Err(())) => {
                assert_eq!(*why, format!("has a field `WARC-Date` that is not a time: {date}"));
            }
            (found, _) => panic!("{date}: {found:?}"),
        }
    }
}

#[test]
fn text_decides_over_a_page_only_if_it_has_a_word() {
    let mut parser = RowParser::new(FieldNames::default());
    let mut json = br#"{"id":"a","text":"","html":"<p>a page"}"#.to_vec();
    assert_eq!(parser.parse(&mut json, None).unwrap().content, Content::Page("<p>a page".into()));
}
