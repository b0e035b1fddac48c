//! What stays, what goes, and what readers see.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::Path;
use std::time::Duration;

use wonbon_search::{
    Found, Page, Query, Rebuilt, SearchConfig, SearchDocument, SearchError, SearchIndex,
    SearchReader,
};
use wonbon_time::Timestamp;

fn open(dir: &Path) -> wonbon_search::Opened {
    SearchIndex::open(dir, "store 1", &SearchConfig::default()).unwrap()
}

fn put(index: &mut SearchIndex, row: u32, text: &str) {
    index
        .put(&SearchDocument {
            row,
            created: Timestamp::from_microseconds(i64::from(row)),
            text,
            ..Default::default()
        })
        .unwrap();
}

fn find(reader: &SearchReader, query: &str) -> Found {
    reader.search(&Query::parse(query).unwrap(), Page { offset: 0, limit: 100 }).unwrap()
}

fn rows(reader: &SearchReader, query: &str) -> Vec<u32> {
    let mut rows: Vec<u32> = find(reader, query).hits.iter().map(|hit| hit.row).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn what_is_put_replaced_and_removed_is_seen_after_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = open(dir.path()).index;
    let reader = index.reader();
    put(&mut index, 1, "first cat");
    put(&mut index, 2, "second cat");
    assert!(rows(&reader, "cat").is_empty());
    index.commit(10).unwrap();
    assert_eq!(rows(&reader, "cat"), [1, 2]);
    assert_eq!(reader.mark(), 10);

    put(&mut index, 1, "now a dog");
    put(&mut index, 3, "a cat that goes before it is seen");
    put(&mut index, 3, "a dog instead");
    assert!(index.remove(2).unwrap());
    assert!(!index.remove(2).unwrap() && !index.remove(77).unwrap());
    put(&mut index, 4, "gone again");
    assert!(index.remove(4).unwrap());
    assert_eq!(rows(&reader, "cat"), [1, 2]);
    index.commit(11).unwrap();
    assert!(rows(&reader, "cat").is_empty());
    assert_eq!(rows(&reader, "dog"), [1, 3]);
    assert_eq!(reader.rows().unwrap(), [1, 3]);
    assert_eq!((reader.documents(), index.documents()), (2, 2));
    assert!(reader.disk_bytes().unwrap() > 0);
    reader.verify().unwrap();
}

/// Segments on disk: each has one file of postings.
fn segments(dir: &Path) -> usize {
    let files = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|end| end == "idx")).count()
}

#[test]
fn segments_are_merged_when_nothing_comes_and_answers_stay_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = open(dir.path()).index;
    let reader = index.reader();
    for row in 0..7 {
        put(&mut index, row, &format!("cat number{row}"));
        index.commit(u64::from(row)).unwrap();
    }
    index.remove(3).unwrap();
    index.commit(7).unwrap();
    let before = find(&reader, "cat");
    let mut tries = 0;
    // The engine deletes what was merged after the merged segment is in its list.
    while index.rest(7).unwrap() || segments(dir.path()) > 1 {
        tries += 1;
        assert!(tries < 1_000, "still {} segments", segments(dir.path()));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((segments(dir.path()), reader.mark()), (1, 7));
    let after = find(&reader, "cat");
    assert_eq!(after.total, before.total);
    assert!(after.hits.iter().map(|hit| hit.row).eq(before.hits.iter().map(|hit| hit.row)));
    // There is nothing more to do, and work goes on.
    assert!(!index.rest(7).unwrap());
    put(&mut index, 8, "another cat");
    index.commit(8).unwrap();
    assert_eq!(rows(&reader, "cat"), [0, 1, 2, 4, 5, 6, 8]);
    index.close().unwrap();
    assert_eq!(rows(&open(dir.path()).index.reader(), "cat"), [0, 1, 2, 4, 5, 6, 8]);
}

#[test]
fn what_looks_at_too_many_documents_is_not_answered_briefly() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = open(dir.path()).index;
    for (row, text) in ["cat dog", "cat", "한국어 cat", "한국 국어"].into_iter().enumerate()
    {
        put(&mut index, row as u32, text);
    }
    index.commit(1).unwrap();
    let reader = index.reader();
    let page = Page { offset: 0, limit: 10 };
    let briefly = |query: &str, most: u64| {
        let query = Query::parse(query).unwrap();
        let found = reader.search_briefly(&query, page, most).unwrap();
        assert!(found.as_ref().is_none_or(|found| *found == reader.search(&query, page).unwrap()));
        found.map(|found| found.total)
    };
    for (query, least, total) in [
        ("cat", 3, 3),
        ("cat dog", 1, 1),
        ("한국", 2, 2),
        ("cat -dog", 3, 2),
        ("cat site:example.com", 0, 0),
        ("absent", 0, 0),
    ] {
        assert_eq!(briefly(query, least), Some(total), "{query}");
        assert_eq!(least.checked_sub(1).and_then(|most| briefly(query, most)), None, "{query}");
    }
    // Two bigrams, one after another, in two documents at most.
    assert_eq!((briefly("한국어", 1_000), briefly("한국어", 2)), (Some(1), None));
    // A single character stands for everything that begins with it, and a date for anything.
    for query in
        ["한", "cat 한", "cat -한", "\"cat 한\"", "after:2020-01-01", "cat after:2020-01-01"]
    {
        assert_eq!(briefly(query, u64::MAX), None, "{query}");
    }
}

#[test]
fn the_mark_and_the_documents_are_there_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path());
    assert_eq!((opened.mark, opened.rebuilt), (0, None));
    put(&mut opened.index, 7, "kept");
    opened.index.commit(u64::MAX).unwrap();
    put(&mut opened.index, 8, "never committed");
    drop(opened.index);

    let mut opened = open(dir.path());
    assert_eq!((opened.mark, opened.rebuilt), (u64::MAX, None));
    assert_eq!(opened.index.reader().rows().unwrap(), [7]);
    put(&mut opened.index, 7, "replaced across reopening");
    opened.index.commit(3).unwrap();
    assert_eq!(opened.index.reader().rows().unwrap(), [7]);
    assert!(rows(&opened.index.reader(), "kept").is_empty());
}

#[test]
fn another_identity_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path());
    put(&mut opened.index, 7, "kept");
    opened.index.commit(5).unwrap();
    drop(opened.index);
    let error = SearchReader::open(dir.path(), "store 2").err().unwrap();
    assert!(matches!(error, SearchError::OtherIdentity { .. }), "{error}");
    let opened = SearchIndex::open(dir.path(), "store 2", &SearchConfig::default()).unwrap();
    assert_eq!(opened.mark, 0);
    assert_eq!(opened.rebuilt, Some(Rebuilt::OtherIdentity { found: "store 1".to_owned() }));
    assert_eq!(opened.index.reader().documents(), 0);
}

#[test]
fn one_writes_at_a_time_and_readers_do_not_mind() {
    let dir = tempfile::tempdir().unwrap();
    assert!(SearchReader::open(dir.path(), "store 1").unwrap().is_none());
    let mut opened = open(dir.path());
    let second = SearchIndex::open(dir.path(), "store 1", &SearchConfig::default());
    assert!(matches!(second.err().unwrap(), SearchError::Busy { .. }));
    let reader = SearchReader::open(dir.path(), "store 1").unwrap().unwrap();
    assert_eq!(reader.mark(), 0);
    put(&mut opened.index, 1, "one");
    opened.index.commit(1).unwrap();
    assert_eq!(rows(&reader, "one"), [1]);
    assert_eq!(reader.mark(), 1);
}

#[test]
fn time_is_limited_with_a_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path());
    put(&mut opened.index, 1, "one");
    opened.index.commit(1).unwrap();
    let (query, page) = (Query::parse("one").unwrap(), Page { offset: 0, limit: 1 });
    let reader = opened.index.reader();
    let error = reader.search_within(&query, page, Duration::ZERO).unwrap_err();
    assert!(matches!(error, SearchError::TooSlow { .. }), "{error}");
    assert_eq!(error.to_string(), "the query took longer than 0 s; narrow it");
    assert_eq!(reader.search(&query, page).unwrap().total, 1);
}

#[test]
fn depth_is_limited_with_a_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(dir.path());
    let query = Query::parse("a").unwrap();
    for (offset, limit) in [(9_999, 2), (usize::MAX, 1), (usize::MAX, usize::MAX)] {
        let error = opened.index.reader().search(&query, Page { offset, limit }).unwrap_err();
        assert!(matches!(error, SearchError::TooDeep { .. }), "{error}");
    }
    assert!(opened.index.reader().search(&query, Page { offset: 9_999, limit: 1 }).is_ok());
}

#[test]
fn fields_choose_and_listings_are_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path());
    let day = 86_400;
    for (row, created, site, language) in [
        (1, 0, "a.example.com", "ko"),
        (2, day, "example.com", "ko-KR"),
        (3, 2 * day, "example.org", "en"),
        (4, 2 * day, "b.a.example.com", "EN"),
    ] {
        let (site, language, title) = (Some(site), Some(language), Some("제목 title"));
        let document = SearchDocument {
            row,
            created: Timestamp::from_seconds(created),
            site,
            language,
            title,
            text: "본문 text",
        };
        opened.index.put(&document).unwrap();
    }
    opened.index.commit(1).unwrap();
    let reader = opened.index.reader();
    let listed =
        |query: &str| -> Vec<u32> { find(&reader, query).hits.iter().map(|hit| hit.row).collect() };
    assert_eq!(listed("after:1970"), [3, 4, 2, 1]);
    assert_eq!(listed("-site:example.org"), [4, 2, 1]);
    assert_eq!(listed("site:a.example.com"), [4, 1]);
    assert_eq!(listed("site:EXAMPLE.com lang:ko"), [2, 1]);
    assert_eq!(listed("lang:ko-kr OR lang:en"), [3, 4, 2]);
    assert_eq!(listed("after:1970-01-02 before:1970-01-03"), [2]);
    assert_eq!(listed("title:제목 title:text"), [0_u32; 0]);
    assert_eq!(listed("title:목 text 본문 before:1970-01-02"), [1]);
}

#[test]
fn readers_are_shared_between_threads() {
    fn shareable<T: Clone + Send + Sync + 'static>(reader: T) -> T {
        reader
    }
    let dir = tempfile::tempdir().unwrap();
    let mut opened = open(dir.path());
    put(&mut opened.index, 1, "one");
    opened.index.commit(1).unwrap();
    let reader = shareable(opened.index.reader());
    let threads = [(); 4].map(|()| {
        let reader = reader.clone();
        std::thread::spawn(move || rows(&reader, "one"))
    });
    for thread in threads {
        assert_eq!(thread.join().unwrap(), [1]);
    }
}
