//! The rows.

use serde_json::{Value, json};

use super::Format::{Csv, Parquet};
use super::{Format, GoldenRow};

/// A text that occurs several times, so that there are families.
const FERRY: &str = "One morning the old ferry did not come, and the whole village stood on the quay \
    with baskets and bicycles and one very patient goat.";
const BREAD: &str = "A loaf that rises overnight in a cold kitchen needs less yeast than any book \
    says and more patience than any baker admits.";
const SPRING: &str =
    "봄이 오면 강가의 버드나무에 물이 오르고 아이들은 피리를 만들어 불었다고 한다.";

fn row(about: &'static str, object: Value) -> GoldenRow {
    let Value::Object(object) = object else { panic!("{about} is no object") };
    GoldenRow { about, object, bytes: None, except: &[], dos: false }
}

fn page(text: &str) -> String {
    format!(
        "<html lang=en><title>A page</title><body><nav><a href=/>Home</a></nav><p>{text}</p></body></html>"
    )
}

fn dated_page(text: &str) -> String {
    let claim = "<meta property=\"article:published_time\" content=\"1999-01-01T00:00:00Z\">";
    page(text).replace("<title>", &format!("{claim}<title>"))
}

impl GoldenRow {
    fn except(self, except: &'static [Format]) -> Self {
        GoldenRow { except, ..self }
    }

    fn bytes(self, bytes: Vec<u8>, charset: Option<&'static str>) -> Self {
        GoldenRow { bytes: Some((bytes, charset)), ..self }
    }
}

/// All of them, in order.
#[must_use]
pub fn rows() -> Vec<GoldenRow> {
    let mut rows = contents();
    rows.extend(redirects());
    rows.extend(names());
    rows.extend(times());
    rows.extend(charsets());
    rows
}

fn contents() -> Vec<GoldenRow> {
    vec![
        row(
            "every field",
            json!({"id": "plain", "url": "https://a.example/ferry", "created": "2024-05-01T09:00:00Z",
                "published": "2024-04-30", "title": "The ferry", "site": "a.example", "author": "Ann",
                "language": "en", "text": FERRY}),
        ),
        row("a text and a page", json!({"id": "both", "text": FERRY, "html": page(BREAD)})),
        row(
            "an empty text and a page",
            json!({"id": "empty-page", "text": "", "html": page(FERRY)}),
        ),
        row(
            "a blank text and a page",
            json!({"id": "blank-page", "text": " \n\t", "html": page(BREAD)}),
        ),
        row(
            "a text without words and a page",
            json!({"id": "dots-page", "text": "... — !", "html": page(FERRY)}),
        ),
        row(
            "a null text and a page",
            json!({"id": "null-page", "text": null, "html": page(BREAD)}),
        ),
        row("a page", json!({"id": "page.html", "html": page(FERRY)})),
        row("a page that claims a date", json!({"id": "claims.html", "html": dated_page(FERRY)})),
        row(
            "a page that claims a date, and a creation time",
            json!({"url": "https://a.example/claims", "created": "2024-05-02", "html": dated_page(BREAD)}),
        ),
        row(
            "a page that claims a date, and a field that claims another",
            json!({"id": "claims-twice", "published": "2001-02-03", "html": dated_page(BREAD)}),
        ),
        row(
            "a page with a title, and a title",
            json!({"id": "titled", "title": "Mine", "html": page(FERRY)}),
        ),
        row(
            "a page without text",
            json!({"id": "no-text.html", "html": "<html><title>Only a picture</title><img src=a.png></html>"}),
        ),
        row("an empty text", json!({"id": "empty", "text": ""})),
        row("a blank text", json!({"id": "blank.txt", "text": " \n\t "})),
        row("a text without words", json!({"id": "dots.txt", "text": "… — !?"})),
        row("a blank page", json!({"id": "blank-html", "html": " "})),
        row("neither text nor page", json!({"id": "neither", "title": "Nothing"})),
        row("both null", json!({"id": "nulls", "text": null, "html": null})),
        // CSV has only text: there it would be the text 7.
        row("a number for a text", json!({"id": "number", "text": 7})).except(&[Csv]),
        row("a list for a page", json!({"id": "list", "html": ["<p>"]})).except(&[Csv]),
    ]
}

fn redirects() -> Vec<GoldenRow> {
    let (from, to) = ("https://a.example/old", "https://a.example/new");
    vec![
        row("a redirect", json!({"url": from, "created": "2024-05-01", "redirect": to})),
        row("a redirect and an empty text", json!({"url": from, "redirect": to, "text": ""})),
        row(
            "a redirect and a text without words",
            json!({"url": from, "redirect": to, "text": "..."}),
        ),
        row(
            "a redirect and a text",
            json!({"url": "https://a.example/stays", "redirect": to, "text": BREAD}),
        ),
        row(
            "a redirect and a page",
            json!({"id": "stays-too", "redirect": to, "html": page(FERRY)}),
        ),
        row(
            "a redirect to the row's own address",
            json!({"url": "https://a.example/self", "redirect": "https://a.example/self", "text": ""}),
        ),
        row(
            "a redirect to the row's own id, and nothing else",
            json!({"id": "self", "redirect": "self"}),
        ),
        row("a redirect that is no string", json!({"id": "odd", "redirect": true, "text": "-"}))
            .except(&[Csv]),
    ]
}

fn names() -> Vec<GoldenRow> {
    vec![
        row("a numeric id", json!({"id": 7, "text": FERRY})),
        row("the largest numeric id", json!({"id": u64::MAX, "text": BREAD})),
        row("an id that is no whole number", json!({"id": 1.5, "text": "one"})).except(&[Csv]),
        row("an id that is no name", json!({"id": true, "text": "one"})).except(&[Csv]),
        row(
            "an empty id and an address",
            json!({"id": "", "url": "https://a.example/named", "text": "one two"}),
        ),
        row(
            "an address and no id",
            json!({"url": "https://a.example/only", "created": "2023-01-01", "text": BREAD}),
        ),
        row("an address that is no string", json!({"id": "at", "url": 7, "text": "one"}))
            .except(&[Csv]),
        row("neither id nor address", json!({"text": SPRING})),
        row("an empty id and no address", json!({"id": "", "text": SPRING})),
        row(
            "an empty id and an empty address",
            json!({"id": "", "url": "", "text": "one two three"}),
        ),
        row("a blank id", json!({"id": " ", "text": "one two three four"})),
        row("an id twice", json!({"id": "twice", "text": SPRING})),
        row("an id twice, the second time", json!({"id": "twice", "text": SPRING})),
        row("a number for a title", json!({"id": "year", "title": 1984, "text": "a book"})),
        row("an object for a site", json!({"id": "site", "site": {"name": "a"}, "text": "a site"}))
            .except(&[Csv]),
        row("an empty author", json!({"id": "author", "author": "", "text": "nobody"})),
    ]
}

fn times() -> Vec<GoldenRow> {
    let at = |about, name: &str, created: Value| {
        row(about, json!({"id": name, "created": created, "text": format!("created {name}")}))
    };
    vec![
        at("a date", "t-date", json!("2024-05-01")),
        at("a time with an offset", "t-offset", json!("2024-05-01T18:00:00+09:00")),
        at("a time with a space", "t-space", json!("2024-05-01 09:00:00.25")),
        at("a date with points", "t-points", json!("2024.05.01 09:00")),
        at("a year", "t-year", json!("2024")),
        at("a year as a number", "t-year-number", json!(2024)),
        at("a year among missing ones, as tables write it", "t-year-float", json!(2024.0)),
        at("a number that is neither a year nor a moment", "t-year-odd", json!(2024.125)),
        at("a time without seconds", "t-minutes", json!("2024-05-01T09:00")),
        at("the end of a day", "t-midnight", json!("2024-05-01T24:00:00Z")),
        at("seconds", "t-seconds", json!(1_714_554_000)),
        at("milliseconds", "t-milli", json!(1_714_554_000_000_i64)),
        at("microseconds", "t-micro", json!(1_714_554_000_000_000_i64)),
        at("seconds as a string", "t-seconds-text", json!("1714554000")),
        at("milliseconds as a string", "t-milli-text", json!("1714554000000")),
        at("seconds with a fraction", "t-fraction", json!(1_714_554_000.5)),
        at("a time before 1970", "t-early", json!("1969-07-20T20:17:40Z")),
        at("an empty time", "t-empty", json!("")),
        at("no time", "t-null", json!(null)),
        at("a word for a time", "t-word", json!("yesterday")),
        at("a day that does not exist", "t-never", json!("2024-02-31")),
        at("a truth for a time", "t-true", json!(true)),
        row(
            "seconds for the published time",
            json!({"id": "t-published", "published": 1_714_554_000, "text": "seconds published"}),
        ),
        row(
            "a word for the published time",
            json!({"id": "t-soon", "published": "soon", "text": "soon"}),
        ),
    ]
}

fn charsets() -> Vec<GoldenRow> {
    let decomposed = "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} e\u{301}tude";
    let encoded = |text: &str| encoding_rs::EUC_KR.encode(text).0.into_owned();
    let korean_page =
        format!("<html lang=ko><meta charset=euc-kr><title>봄</title><p>{SPRING}</p></html>");
    let utf_16 = "\u{feff}짧은 글".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let binary = b"\x7fELF\x02\x01\x01\0\0\0\0".to_vec();
    vec![
        row("decomposed characters", json!({"id": "nfd.txt", "text": decomposed})),
        row("the same characters, composed", json!({"id": "nfc.txt", "text": "한글 étude"})),
        GoldenRow {
            dos: true,
            ..row("a byte order mark and CRLF", json!({"id": "dos.txt", "text": FERRY}))
        },
        row(
            "line breaks and quotes",
            json!({"id": "quotes.txt", "text": "one,\r\n\"two\"\n; three\t'4'"}),
        ),
        row(
            "EUC-KR",
            json!({"url": "https://a.example/spring", "created": "2024-05-03", "text": SPRING}),
        )
        .bytes(encoded(SPRING), Some("euc-kr")),
        row("EUC-KR in a file", json!({"id": "spring.txt", "text": SPRING}))
            .bytes(encoded(SPRING), None),
        row("a page in EUC-KR", json!({"id": "spring.html", "html": korean_page}))
            .bytes(encoded(&korean_page), None),
        row("UTF-16", json!({"id": "utf-16.txt", "text": "짧은 글"})).bytes(utf_16, None),
        row(
            "the end of a DOS text",
            json!({"id": "end.txt", "text": "A text from long ago.\r\n\u{1a}"}),
        ),
        // A string is text whatever it holds; bytes are looked at.
        row(
            "a binary file",
            json!({"id": "program.txt", "text": "\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0\0"}),
        )
        .bytes(binary, None)
        .except(&[Format::JsonLines, Csv, Format::Post, Parquet]),
    ]
}
