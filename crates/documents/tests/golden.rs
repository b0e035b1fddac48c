//! The golden rows (`wonbon_testkit::golden`) are the same documents in every format, and
//! docs/formats.md has the table of what they become.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::fmt::Write as _;
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
        return match parser.parse(&mut body) {
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

/// One row of the table.
fn table_row(row: &GoldenRow, number: usize) -> String {
    let shorten = |text: &str| {
        let line = text.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"");
        match line.char_indices().nth(40) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    };
    let fields: Vec<String> = row
        .object
        .iter()
        .map(|(name, value)| match value.as_str() {
            Some(text) => format!("{name}: \"{}\"", shorten(text)),
            None => format!("{name}: {value}"),
        })
        .collect();
    let became = match read(row, number, first_format(row)) {
        Err(why) => format!("refused: {why}"),
        Ok(told) => {
            let mut parts = vec![format!("id {}", told.id)];
            for (name, value) in [
                ("url", &told.url),
                ("created", &told.created),
                ("published", &told.published),
                ("title", &told.title),
                ("site", &told.site),
                ("author", &told.author),
                ("language", &told.language),
            ] {
                if let Some(value) = value {
                    parts.push(format!("{name} {value}"));
                }
            }
            parts.push(match told.redirect {
                Some(to) => format!("leads to {to}"),
                None => format!("text \"{}\"", shorten(&told.text)),
            });
            parts.join("; ")
        }
    };
    let names = ["JSON", "CSV", "Parquet", "WARC", "file", "POST"];
    let fits = Format::ALL.into_iter().zip(names).filter(|&(format, _)| row.fits(format));
    let fits: Vec<&str> = fits.map(|(_, name)| name).collect();
    let escape = |text: String| text.replace('|', "\\|").replace('`', "\\`");
    let mut line = String::new();
    let _ = write!(
        line,
        "| {} | `{}` | {} | {} |",
        row.about,
        escape(fields.join(", ")),
        escape(became.replace('<', "&lt;")),
        if fits.len() == names.len() { "all".to_owned() } else { fits.join(", ") },
    );
    line
}

const BEGIN: &str = "<!-- golden rows: written by a test -->";
const END: &str = "<!-- golden rows end -->";

#[test]
fn the_table_in_the_documentation_is_that_of_the_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut table = String::from("| row | fields | becomes | in |\n|---|---|---|---|\n");
    for (row, number) in rows().iter().zip(1..) {
        table.push_str(&table_row(row, number));
        table.push('\n');
    }
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (_, after) = rest.split_once(END).expect("the place has an end");
    let expected = format!("{before}{BEGIN}\n{table}{END}{after}");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == expected,
        "docs/formats.md is stale: run the test with UPDATE_REFERENCE=1"
    );
}

#[test]
fn text_decides_over_a_page_only_if_it_has_a_word() {
    let mut parser = RowParser::new(FieldNames::default());
    let mut json = br#"{"id":"a","text":"","html":"<p>a page"}"#.to_vec();
    assert_eq!(parser.parse(&mut json).unwrap().content, Content::Page("<p>a page".into()));
}
