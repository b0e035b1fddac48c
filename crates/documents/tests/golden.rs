//! The golden rows (`wonbon_testkit::golden`) are the same documents in every format. The service's tests
//! send them through every door into a store and write the table of docs/formats.md.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::num::NonZeroUsize;
use std::path::Path;

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

/// The format whose answer the others are compared with: the first that can hold the row.
fn first_format(row: &GoldenRow) -> Format {
    Format::ALL.into_iter().find(|&format| row.fits(format)).unwrap()
}

#[test]
fn every_format_makes_the_same_document_of_a_row() {
    let mut compared = 0;
    for (row, number) in rows().iter().zip(1..) {
        let first = first_format(row);
        let expected = read(row, number, first);
        for format in Format::ALL.into_iter().filter(|&format| format != first && row.fits(format))
        {
            let mut found = read(row, number, format);
            let mut expected = expected.clone();
            match (&mut found, &mut expected) {
                (Ok(found), Ok(expected)) => {
                    // What has no name of its own is called by its place.
                    if row.text("id").is_none() && row.text("url").is_none() && !found.id.is_empty()
                    {
                        let is_place = |id: &str| id.contains('.') && id.contains(':');
                        if is_place(&found.id) && is_place(&expected.id) {
                            found.id.clone_from(&expected.id);
                        }
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
            compared += 1;
        }
    }
    assert!(rows().len() >= 40 && compared >= 120, "{} rows, {compared} compared", rows().len());
}

#[test]
fn text_decides_over_a_page_only_if_it_has_a_word() {
    let mut parser = RowParser::new(FieldNames::default());
    let mut json = br#"{"id":"a","text":"","html":"<p>a page"}"#.to_vec();
    assert_eq!(parser.parse(&mut json, None).unwrap().content, Content::Page("<p>a page".into()));
}
