//! Pages of one template: very many originals look like every new page, and a check stays bounded, says so, and
//! finds the copy among them all the same. (benches/store/template.py measures how long it takes.)

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use wonbon_store::{Kind, NewDocument, SeedSource, Store, StoreParams};
use wonbon_time::Timestamp;

/// A page of so many words: four fifths are the template's, the rest are its own. Two pages have a
/// resemblance of two thirds.
fn page(number: usize, words: usize) -> String {
    let template = (0..words / 5 * 4).map(|at| format!("template{at}"));
    let own = (0..words / 5).map(|at| format!("page{number}word{at}"));
    template.chain(own).collect::<Vec<_>>().join(" ")
}

/// The same page with another ending.
fn edited(number: usize, words: usize) -> String {
    let page = page(number, words);
    let (start, _) = page.rsplit_once(' ').unwrap();
    format!("{start} changed")
}

/// A store of so many pages, each an original.
fn fill(pages: usize, words: usize) -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let params = StoreParams { seed: SeedSource::Number(0), ..StoreParams::default() };
    let store = Store::create(directory.path(), &params).unwrap();
    for number in 0..pages {
        let (key, created) = (number.to_string(), Some(Timestamp::from_seconds(number as i64)));
        let added = store.add(&NewDocument::text(&key, created, &page(number, words))).unwrap();
        assert_eq!(added.verdict.kind, Kind::Original, "{key}");
    }
    (directory, store)
}

fn check_of_unseen_and_edited_pages(pages: usize, words: usize) {
    let (_directory, store) = fill(pages, words);
    let check = |text: &str| store.check(&NewDocument::text("asked", None, text)).unwrap();
    let unseen = check(&page(pages, words));
    assert_eq!((unseen.kind, unseen.stopped_early), (Kind::Original, true));
    for number in [0, pages / 2, pages - 1] {
        let copy = check(&edited(number, words));
        assert_eq!((copy.kind, copy.original), (Kind::Copy, Some(number.to_string())));
        assert!(copy.stopped_early);
        let added = store.add(&NewDocument::text("copy", None, &edited(number, words))).unwrap();
        assert_eq!(added.verdict.original, Some(number.to_string()));
        assert!(added.verdict.stopped_early);
        store.delete("copy").unwrap();
    }
    let other = check(&page(pages, words).replace("template", "other"));
    assert_eq!((other.kind, other.stopped_early), (Kind::Original, false));
}

#[test]
fn a_check_looks_at_a_bounded_number_of_pages() {
    check_of_unseen_and_edited_pages(400, 120);
}

#[test]
fn a_check_looks_at_fewer_pages_if_they_are_long() {
    check_of_unseen_and_edited_pages(40, 6000);
}
