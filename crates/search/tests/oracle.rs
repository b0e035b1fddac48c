//! Search finds what the definition says, over Korean, Japanese, Chinese and English texts.
//!
//! The oracle knows neither terms nor positions: it writes title and text out as one line each, in which
//! characters of a run touch, everything else is parted by `|`, and a phrase is looked for as a part of the
//! line. It reads the query from the parts it was made of, not from what was typed.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use proptest::prelude::*;
use wonbon_search::{Page, Query, SearchConfig, SearchDocument, SearchIndex, SearchReader};
use wonbon_testkit::text::{is_han_or_kana, slow_words};
use wonbon_time::Timestamp;

const SITES: [&str; 4] = ["example.com", "news.example.com", "example.org", "my-example.com"];
const LANGUAGES: [&str; 4] = ["ko", "ko-KR", "en", "ja"];
const DAY: i64 = 86_400;

#[derive(Clone, Debug)]
struct Document {
    title: Option<String>,
    text: String,
    site: Option<usize>,
    language: Option<usize>,
    day: i64,
}

#[derive(Clone, Debug)]
enum Part {
    Words(String),
    Title(String),
    Site(usize),
    Language(usize),
    Before(i64),
    After(i64),
}

#[derive(Clone, Debug)]
struct Asked {
    required: Vec<Vec<Part>>,
    excluded: Vec<Part>,
}

fn is_hangul(c: char) -> bool {
    ('가'..='힣').contains(&c)
}

/// The line of a text. The texts here are written so that words that follow each other without anything
/// between are Han or kana.
fn line(text: &str) -> String {
    let mut line = "|".to_owned();
    for chunk in text.split(|c: char| !c.is_alphanumeric()) {
        for word in slow_words(chunk) {
            let mut last = line.chars().next_back();
            for c in word.chars() {
                let same = last.is_some_and(|last| {
                    let runs = is_han_or_kana(last) && is_han_or_kana(c);
                    let hangul = is_hangul(last) && is_hangul(c);
                    let letters =
                        |c: char| c.is_alphanumeric() && !is_han_or_kana(c) && !is_hangul(c);
                    runs || hangul || letters(last) && letters(c)
                });
                if !same && last != Some('|') {
                    line.push('|');
                }
                line.push(c);
                last = Some(c);
            }
        }
        if !line.ends_with('|') {
            line.push('|');
        }
    }
    line
}

/// Whether the phrase is a part of the line; letters at its ends are whole words.
fn line_has(line: &str, phrase: &str) -> bool {
    let open = |c: Option<char>| c.is_some_and(|c| is_han_or_kana(c) || is_hangul(c));
    let phrase = self::line(phrase);
    let mut wanted = phrase.trim_matches('|').to_owned();
    assert!(!wanted.is_empty());
    if !open(wanted.chars().next()) {
        wanted.insert(0, '|');
    }
    if !open(wanted.chars().next_back()) {
        wanted.push('|');
    }
    line.contains(&wanted)
}

fn matches(document: &Document, part: &Part) -> bool {
    let title = document.title.as_deref().map(line).unwrap_or_default();
    match part {
        Part::Words(words) => line_has(&title, words) || line_has(&line(&document.text), words),
        Part::Title(words) => line_has(&title, words),
        Part::Site(site) => document.site.is_some_and(|host| {
            let (host, site) = (SITES[host], SITES[*site]);
            host == site || host.ends_with(&format!(".{site}"))
        }),
        Part::Language(language) => document.language.is_some_and(|tag| {
            let (tag, language) = (LANGUAGES[tag], LANGUAGES[*language]);
            tag == language || tag.starts_with(&format!("{language}-"))
        }),
        Part::Before(day) => document.day < *day,
        Part::After(day) => document.day >= *day,
    }
}

fn expected(documents: &[Document], asked: &Asked) -> Vec<u32> {
    let found = |document: &Document| {
        asked.required.iter().all(|group| group.iter().any(|part| matches(document, part)))
            && !asked.excluded.iter().any(|part| matches(document, part))
    };
    let numbered = documents.iter().zip(0..);
    numbered.filter(|(document, _)| found(document)).map(|(_, row)| row).collect()
}

fn typed(asked: &Asked) -> String {
    let part = |part: &Part| match part {
        Part::Words(words) => format!("\"{words}\""),
        Part::Title(words) => format!("title:\"{words}\""),
        Part::Site(site) => format!("site:{}", SITES[*site]),
        Part::Language(language) => format!("lang:{}", LANGUAGES[*language]),
        Part::Before(day) => format!("before:1970-01-{:02}", day + 1),
        Part::After(day) => format!("after:1970-01-{:02}T00:00:00Z", day + 1),
    };
    let required = asked
        .required
        .iter()
        .map(|group| group.iter().map(part).collect::<Vec<String>>().join(" OR "));
    let excluded = asked.excluded.iter().map(|excluded| format!("-{}", part(excluded)));
    required.chain(excluded).collect::<Vec<String>>().join(" ")
}

/// Few characters, so that matches, overlaps and repetitions are frequent.
fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[가나다]{1,4}",
        3 => "[漢字かナー]{1,4}",
        3 => "(cat|dog|CATS|Ｄog|e|7|42|élan)",
        1 => "[가나]{1,2}(abc|7)[나다]{0,2}",
        1 => "[漢字][가나]",
    ];
    let between = prop_oneof![6 => Just(" "), 1 => Just(", "), 1 => Just("。"), 1 => Just("\n")];
    proptest::collection::vec((piece, between), pieces).prop_map(|pieces| {
        pieces.into_iter().map(|(piece, between)| piece + between).collect::<String>()
    })
}

fn phrase() -> impl Strategy<Value = String> {
    text(1..3).prop_map(|text| text.trim_matches([' ', ',', '。', '\n']).to_owned())
}

fn document() -> impl Strategy<Value = Document> {
    let field = || proptest::option::of(0..4_usize);
    (proptest::option::of(text(1..4)), text(0..12), field(), field(), 0..9_i64).prop_map(
        |(title, text, site, language, day)| Document { title, text, site, language, day },
    )
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        8 => phrase().prop_map(Part::Words),
        2 => phrase().prop_map(Part::Title),
        1 => (0..4_usize).prop_map(Part::Site),
        1 => (0..4_usize).prop_map(Part::Language),
        1 => (0..9_i64).prop_map(Part::Before),
        1 => (0..9_i64).prop_map(Part::After),
    ]
}

fn asked() -> impl Strategy<Value = Asked> {
    let group = prop_oneof![
        4 => part().prop_map(|part| vec![part]),
        1 => proptest::collection::vec(part(), 2..4),
    ];
    let required = proptest::collection::vec(group, 0..3);
    let excluded = proptest::collection::vec(part(), 0..2);
    (required, excluded)
        .prop_map(|(required, excluded)| Asked { required, excluded })
        .prop_filter("asks for something", |asked| {
            !asked.required.is_empty() || !asked.excluded.is_empty()
        })
}

/// The documents in an index of several segments, some of them replaced and removed on the way.
fn indexed(documents: &[Document], dir: &std::path::Path) -> SearchReader {
    let mut index = SearchIndex::open(dir, "oracle", &SearchConfig::default()).unwrap().index;
    let rows = documents.len() as u32;
    for (row, document) in (0..).zip(documents.iter().rev().chain(documents)) {
        let document = SearchDocument {
            row: row % rows,
            created: Timestamp::from_seconds(document.day * DAY),
            site: document.site.map(|site| SITES[site]),
            language: document.language.map(|language| LANGUAGES[language]),
            title: document.title.as_deref(),
            text: &document.text,
        };
        index.put(&document).unwrap();
        index.put(&SearchDocument { row: rows + row, ..document }).unwrap();
        if row % 7 == 3 {
            index.commit(u64::from(row)).unwrap();
        }
    }
    for row in 0..2 * rows {
        assert!(index.remove(rows + row).unwrap());
    }
    index.commit(9).unwrap();
    index.reader()
}

fn found(reader: &SearchReader, query: &Query) -> Vec<u32> {
    let found = reader.search(query, Page { offset: 0, limit: 1_000 }).unwrap();
    assert_eq!(found.total, found.hits.len() as u64);
    found.hits.iter().map(|hit| hit.row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn search_finds_what_the_definition_says(
        documents in proptest::collection::vec(document(), 1..12),
        questions in proptest::collection::vec(asked(), 200),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let reader = indexed(&documents, dir.path());
        for asked in &questions {
            let query = Query::parse(&typed(asked)).unwrap();
            let mut rows = found(&reader, &query);
            rows.sort_unstable();
            prop_assert_eq!(rows, expected(&documents, asked), "{}", typed(asked));
        }
    }

    #[test]
    fn pages_are_cuts_out_of_one_stable_order(
        documents in proptest::collection::vec(document(), 1..20),
        questions in proptest::collection::vec(asked(), 10),
        cut in 1..5_usize,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let reader = indexed(&documents, dir.path());
        for asked in &questions {
            let query = Query::parse(&typed(asked)).unwrap();
            let all = reader.search(&query, Page { offset: 0, limit: 1_000 }).unwrap();
            for most in [10, 1_000_000] {
                let briefly = reader.search_briefly(&query, Page { offset: 0, limit: 1_000 }, most);
                let briefly = briefly.unwrap();
                prop_assert!(briefly.is_none_or(|found| found == all), "{:?}", query);
            }
            let mut pages = Vec::new();
            while pages.len() < all.hits.len() {
                let page = Page { offset: pages.len(), limit: cut };
                let found = reader.search(&query, page).unwrap();
                prop_assert_eq!(found.total, all.total);
                prop_assert!(found.hits.len() == cut.min(all.hits.len() - pages.len()));
                pages.extend(found.hits);
            }
            prop_assert_eq!(&pages, &all.hits);
            for pair in all.hits.windows(2) {
                let day = |row: u32| documents[row as usize].day;
                let (a, b) = (pair[0], pair[1]);
                let order = b.score.total_cmp(&a.score)
                    .then(day(b.row).cmp(&day(a.row)))
                    .then(a.row.cmp(&b.row));
                prop_assert!(order.is_lt(), "{:?} before {:?}", a, b);
            }
        }
    }

    #[test]
    fn a_query_without_words_lists_the_newest_first(
        documents in proptest::collection::vec(document(), 1..20),
        day in 0..9_i64,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let reader = indexed(&documents, dir.path());
        let asked = Asked { required: vec![vec![Part::After(day)]], excluded: vec![] };
        let rows = found(&reader, &Query::parse(&typed(&asked)).unwrap());
        let mut listed = expected(&documents, &asked);
        listed.sort_by_key(|&row| (-documents[row as usize].day, row));
        prop_assert_eq!(rows, listed);
    }
}

proptest! {
    #[test]
    fn no_text_makes_a_query_panic(text in any::<String>(), odd in "[-\" :a가OR漢“sitelangbefore0-9.\u{3000}]{0,60}") {
        for text in [text, odd] {
            if let Ok(query) = Query::parse(&text) {
                let shown = wonbon_search::Snippets::new(&query, 20).of_text(&text);
                prop_assert!(shown.to_html().len() >= shown.text.len());
            }
        }
    }
}

#[test]
fn the_examples_of_the_definition_hold() {
    let texts = [
        "한국어를 찾는다",
        "우리 집에 간다",
        "우리집",
        "한글ABC 책",
        "漢字。検索",
        "漢字検索",
        "cats",
    ];
    let document = |text: &str| Document {
        title: None,
        text: text.to_owned(),
        site: None,
        language: None,
        day: 0,
    };
    let documents: Vec<Document> = texts.iter().map(|text| document(text)).collect();
    let dir = tempfile::tempdir().unwrap();
    let reader = indexed(&documents, dir.path());
    for (query, rows) in [
        ("한국", &[0][..]),
        ("국어", &[0]),
        ("집", &[1, 2]),
        ("\"우리 집\"", &[1]),
        ("우리집", &[2]),
        ("우리", &[1, 2]),
        ("\"리 집\"", &[1]),
        ("한글", &[3]),
        ("abc", &[3]),
        ("한글abc", &[3]),
        ("\"한글 ABC 책\"", &[3]),
        ("字検", &[5]),
        ("検", &[4, 5]),
        ("\"漢字 検索\"", &[4]),
        ("cat", &[]),
        ("ab", &[]),
    ] {
        let mut found = found(&reader, &Query::parse(query).unwrap());
        found.sort_unstable();
        assert_eq!(found, rows, "{query}");
    }
}
