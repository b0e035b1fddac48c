//! Whatever a person types, it is a query or refused with a sentence, and a query can be run.

use std::sync::OnceLock;

use wonbon_search::{
    Page, QUERY_CHARACTERS_MAX, Query, SearchConfig, SearchDocument, SearchError, SearchIndex,
    SearchReader,
};
use wonbon_time::Timestamp;

/// A few documents, opened once.
fn reader() -> &'static SearchReader {
    static READER: OnceLock<SearchReader> = OnceLock::new();
    READER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is room");
        let config = SearchConfig::default();
        let mut index = SearchIndex::open(folder.path(), "fuzz", &config).expect("it is new").index;
        let texts = ["web archive", "한글 문서 이름", "日本語 text", "state of the art"];
        for (row, text) in (0..).zip(texts) {
            let document = SearchDocument {
                row,
                title: Some("title word"),
                text,
                site: Some("news.example.com"),
                language: Some("ko-KR"),
                created: Timestamp::from_microseconds(i64::from(row) * 1_000_000),
            };
            index.put(&document).expect("there is room");
        }
        index.commit(1).expect("there is room");
        let reader = index.reader();
        index.close().expect("there is room");
        // The files are mapped: they last as long as the reader, without their names.
        reader
    })
}

/// The bytes are what was typed.
///
/// # Panics
///
/// When a promise of `Query` does not hold.
pub(crate) fn query(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let query = match Query::parse(&text) {
        Ok(query) => query,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(text.chars().count() <= QUERY_CHARACTERS_MAX);
    assert_eq!(Query::parse(&text).as_ref(), Ok(&query));
    // What is left out of a text by people who copy it changes nothing.
    let trimmed = Query::parse(text.trim());
    assert_eq!(trimmed.as_ref(), Ok(&query));
    match reader().search(&query, Page { offset: 0, limit: 3 }) {
        Ok(found) => assert!(found.hits.len() <= 3),
        Err(SearchError::TooSlow { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}
