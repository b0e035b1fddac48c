//! One row through every door: the golden rows as files of every format, imported, and as the bodies and
//! lines of requests give the same stored documents, field by field; docs/formats.md has the table of
//! what they become and which doors were tried.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use wonbon_app::answers::AddSummary;
use wonbon_app::import::{Import, Listener, import};
use wonbon_documents::{ChosenFields, Inputs, Skipped, Unwatched};
use wonbon_store::{Added, Store, StoredDocument};
use wonbon_testkit::golden::{Format, GoldenRow, rows};
use wonbon_time::Timestamp;

use crate::support::Running;

/// The sweep that sees the rows, so that redirects are noted.
const SWEEP: &str = "2026-11-01";

/// What a door made of a row.
#[derive(Clone, Debug, PartialEq)]
enum RowResult {
    Stored(Box<Fields>),
    Redirect { key: String, target: String },
    Refused(String),
}

/// What is stored of a document.
#[derive(Clone, Debug, PartialEq)]
struct Fields {
    key: String,
    url: Option<String>,
    /// None for the time of first sight.
    created: Option<Timestamp>,
    published: Option<Timestamp>,
    site: Option<String>,
    author: Option<String>,
    title: Option<String>,
    language: Option<String>,
    text: String,
    words: u64,
}

impl Fields {
    fn of(document: StoredDocument, begun: Timestamp) -> Self {
        Fields {
            key: document.key,
            url: document.url,
            created: Some(document.created).filter(|&created| created < begun),
            published: document.published,
            site: document.site,
            author: document.author,
            title: document.title,
            language: document.language,
            text: document.text,
            words: document.words,
        }
    }
}

/// Hears what became of the one row of a file.
#[derive(Default)]
struct OneRow {
    key: Option<String>,
    redirect: Option<(String, String)>,
    refused: Option<String>,
}

impl Listener for OneRow {
    type Error = Infallible;

    fn added(&mut self, key: &str, _: &Added, _: Instant) -> Result<(), Infallible> {
        self.key = Some(key.to_owned());
        Ok(())
    }

    fn redirected(&mut self, key: &str, target: &str) -> Result<(), Infallible> {
        self.redirect = Some((key.to_owned(), target.to_owned()));
        Ok(())
    }

    fn refused(&mut self, why: &str) {
        self.refused = Some(why.to_owned());
    }

    fn skipped(&mut self, row: Skipped) {
        self.refused = Some(row.why);
    }
}

/// A way into a store of its own.
enum Door {
    File(Format, Store, tempfile::TempDir),
    Post(Box<Running>),
    Body(Box<Running>),
    Stream(Box<Running>),
}

impl Door {
    fn of_files(format: Format) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("store"), None).unwrap();
        Door::File(format, store, folder)
    }

    fn format(&self) -> Format {
        match self {
            Door::File(format, ..) => *format,
            Door::Body(_) => Format::File,
            Door::Post(_) | Door::Stream(_) => Format::Post,
        }
    }

    fn store(&self) -> &Store {
        match self {
            Door::File(_, store, _) => store,
            Door::Post(service) | Door::Body(service) | Door::Stream(service) => &service.store,
        }
    }

    async fn take(&self, row: &GoldenRow, number: usize) -> DoorAnswer {
        let bytes = row.file(self.format());
        match self {
            Door::File(format, store, folder) => {
                let path = folder.path().join(row.file_name(number, *format));
                std::fs::write(&path, bytes).unwrap();
                let heard = import_file(store, &path);
                std::fs::remove_file(&path).unwrap();
                match (heard.key, heard.redirect, heard.refused) {
                    (Some(key), None, None) => DoorAnswer::Key(key),
                    (None, Some((key, target)), None) => DoorAnswer::Redirect { key, target },
                    (None, None, Some(why)) => DoorAnswer::Refused(why),
                    other => panic!("{} as {format:?}: {other:?}", row.about),
                }
            }
            Door::Post(service) => {
                let headers = [("content-type", "application/json")];
                let address = format!("/v1/documents?sweep={SWEEP}");
                DoorAnswer::of(&service.call("POST", &address, &headers, bytes).await.json())
            }
            Door::Body(service) => {
                let key = row.text("id").unwrap();
                let kind = if key.ends_with(".html") { "text/html" } else { "text/plain" };
                let address = format!("/v1/documents?sweep={SWEEP}&key={key}");
                let headers = [("content-type", kind)];
                DoorAnswer::of(&service.call("POST", &address, &headers, bytes).await.json())
            }
            Door::Stream(service) => {
                let headers = [("content-type", "application/x-ndjson")];
                let address = format!("/v1/documents?sweep={SWEEP}");
                let answer = service.call("POST", &address, &headers, bytes).await;
                DoorAnswer::of(&answer.lines()[0])
            }
        }
    }
}

/// What a door answered.
enum DoorAnswer {
    Key(String),
    Redirect { key: String, target: String },
    Refused(String),
}

impl DoorAnswer {
    fn of(answer: &Value) -> Self {
        let word = |name: &str| answer[name].as_str().unwrap().to_owned();
        if answer["code"].is_string() {
            let detail = word("detail");
            let why = detail.strip_prefix("the document ").unwrap_or(&detail);
            return DoorAnswer::Refused(why.to_owned());
        }
        match word("verdict").as_str() {
            "redirect" => DoorAnswer::Redirect { key: word("key"), target: word("redirect") },
            _ => DoorAnswer::Key(word("key")),
        }
    }
}

fn import_file(store: &Store, path: &Path) -> OneRow {
    let paths = [path.to_owned()];
    let fields = ChosenFields::default().names(&paths, None).unwrap();
    let what = Import {
        store,
        inputs: &Inputs::find(&paths, fields).unwrap(),
        sweep: Some(SWEEP.parse().unwrap()),
        dates: None,
        threads: NonZeroUsize::MIN,
        in_flight: 8,
        skip_pieces: 0,
    };
    let mut heard = OneRow::default();
    import(&what, AddSummary::default(), &Unwatched, &mut heard).unwrap();
    heard
}

/// What every door makes of every row that it can take, in the order of the doors.
async fn through_every_door() -> Vec<(GoldenRow, Vec<(Format, RowResult)>)> {
    let begun = Timestamp::now();
    let files = Format::ALL.into_iter().filter(|&format| format != Format::Post);
    let mut doors: Vec<Door> = files.map(Door::of_files).collect();
    doors.push(Door::Post(Box::new(Running::new())));
    doors.push(Door::Body(Box::new(Running::new())));
    doors.push(Door::Stream(Box::new(Running::new())));
    let mut became = Vec::new();
    for (row, number) in rows().into_iter().zip(1..) {
        let mut by_door = Vec::new();
        for door in doors.iter().filter(|door| row.fits(door.format())) {
            let outcome = match door.take(&row, number).await {
                DoorAnswer::Key(key) => {
                    let document = door.store().get(&key).unwrap().unwrap();
                    RowResult::Stored(Box::new(Fields::of(document, begun)))
                }
                DoorAnswer::Redirect { key, target } => RowResult::Redirect { key, target },
                DoorAnswer::Refused(why) => RowResult::Refused(why),
            };
            by_door.push((door.format(), outcome));
        }
        became.push((row, by_door));
    }
    became
}

#[tokio::test]
async fn a_row_is_stored_the_same_through_every_door() {
    let mut compared = 0;
    for (row, by_door) in through_every_door().await {
        let ((first, expected), others) = by_door.split_first().unwrap();
        for (format, found) in others {
            let (mut found, mut expected) = (found.clone(), expected.clone());
            if *format == Format::Post && !row.has_name() && is_stored(&expected) {
                expected = RowResult::Refused(UNNAMED.to_owned());
            }
            match (&mut found, &mut expected) {
                // What has no name of its own is called by its file and row.
                (RowResult::Stored(found), RowResult::Stored(expected)) if !row.has_name() => {
                    let is_place = |key: &str| key.contains('.') && key.contains(':');
                    if is_place(&found.key) && is_place(&expected.key) {
                        found.key.clone_from(&expected.key);
                    }
                }
                // The value in the sentence is written as its format has it.
                (RowResult::Refused(found), RowResult::Refused(expected)) => {
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
    assert!(compared >= 180, "{compared} compared");
}

/// What a request without a name is told: it has no file and row to be called by.
const UNNAMED: &str = "has neither a field `id` nor a field `url`";

fn is_stored(result: &RowResult) -> bool {
    matches!(result, RowResult::Stored(_))
}

/// One row of the table.
fn table_row(row: &GoldenRow, by_door: &[(Format, RowResult)]) -> String {
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
    let became = match &by_door[0].1 {
        RowResult::Refused(why) => format!("refused: {why}"),
        RowResult::Redirect { key, target } => format!("{key} leads to {target}"),
        RowResult::Stored(stored) => {
            let mut parts = vec![format!("key {}", stored.key)];
            let [created, published] =
                [stored.created, stored.published].map(|time| time.map(|time| time.to_string()));
            for (name, value) in [
                ("url", &stored.url),
                ("created", &created),
                ("published", &published),
                ("title", &stored.title),
                ("site", &stored.site),
                ("author", &stored.author),
                ("language", &stored.language),
            ] {
                if let Some(value) = value {
                    parts.push(format!("{name} {value}"));
                }
            }
            parts.push(format!("text \"{}\"", shorten(&stored.text)));
            if !row.has_name() {
                parts.push(format!("POST is refused: {UNNAMED}"));
            }
            parts.join("; ")
        }
    };
    let names = ["JSON", "CSV", "Parquet", "WARC", "file", "POST"];
    let tried = |format| by_door.iter().any(|(door, _)| *door == format);
    let fits = Format::ALL.into_iter().zip(names).filter(|&(format, _)| tried(format));
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

#[tokio::test]
async fn the_table_in_the_documentation_is_what_the_doors_made_of_the_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut table = String::from("| row | fields | becomes | in |\n|---|---|---|---|\n");
    for (row, by_door) in through_every_door().await {
        table.push_str(&table_row(&row, &by_door));
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

#[tokio::test]
async fn a_claimed_date_decides_only_where_the_request_says_so() {
    const TEXT: &str = "one morning the old ferry did not come and the whole village stood on the \
        quay with baskets and bicycles and one very patient goat";
    let claim = "<meta property=\"article:published_time\" content=\"1999-01-01T00:00:00Z\">";
    let page = format!("<html><head>{claim}</head><body><p>{TEXT}</p></body></html>");
    for (dates, original) in [("", "first"), ("created", "first"), ("claimed", "claims")] {
        for kind in ["application/json", "application/x-ndjson", "text/html"] {
            let service = Running::new();
            let first = json!({"id": "first", "created": "2024-03-01", "text": TEXT});
            assert_eq!(service.add(&first).await.status, 201);
            let body = match kind {
                "text/html" => page.clone(),
                _ => json!({"id": "claims", "html": page}).to_string(),
            };
            let headers = [("content-type", kind)];
            if kind != "application/x-ndjson" {
                let address = format!("/v1/check?key=claims&dates={dates}");
                let checked = service.call("POST", &address, &headers, body.clone()).await.json();
                let copies = checked["original"] == "first";
                assert_eq!(copies, original == "first", "{kind}, {dates}: {checked}");
            }
            let address = format!("/v1/documents?key=claims&dates={dates}");
            service.call("POST", &address, &headers, body).await;
            let stored = service.get("/v1/documents/claims").await.json();
            let is = stored["original"].as_str().unwrap_or("claims");
            assert_eq!(is, original, "{kind}, {dates}: {stored}");
            assert_eq!(stored["published"], "1999-01-01T00:00:00Z", "{kind}, {dates}");
        }
    }
    let service = Running::new();
    let body = json!({"id": "a", "text": TEXT});
    let refused = service.post("/v1/documents?dates=soon", &body).await;
    assert_eq!(refused.code(), "bad_parameter");
    let detail = refused.json()["detail"].to_string();
    assert!(detail.contains("`dates` is one of `created`, `claimed`"), "{detail}");
}
