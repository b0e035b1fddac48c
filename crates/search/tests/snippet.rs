//! Snippets show what matched, nothing else, and cannot be turned into markup.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use proptest::prelude::*;
use wonbon_search::{Query, Snippet, Snippets};
use wonbon_text::words::normal_form;

fn snippet(text: &str, query: &Query, length: usize) -> Snippet {
    Snippets::new(query, length).of_text(text)
}

fn marked(text: &str, query: &str, length: usize) -> String {
    snippet(text, &Query::parse(query).unwrap(), length).to_html()
}

#[test]
fn what_matches_is_marked() {
    for (text, query, html) in [
        ("The Cat, a cat.", "cat", "The <mark>Cat</mark>, a <mark>cat</mark>."),
        ("한국어를 찾는다", "국어", "한<mark>국어</mark>를 찾는다"),
        ("우리집 집 빈집에", "집", "우리<mark>집</mark> <mark>집</mark> 빈<mark>집</mark>에"),
        ("한글ABC", "abc", "한글<mark>ABC</mark>"),
        ("全文検索と検索", "検索", "全文<mark>検索</mark>と<mark>検索</mark>"),
        ("ＦＵＬＬ half", "full", "<mark>ＦＵＬＬ</mark> half"),
        ("a b c a c", "\"a b\"", "<mark>a</mark> <mark>b</mark> c a c"),
        ("가나다라", "가나 나다", "<mark>가나다</mark>라"),
        ("a dog", "dog -a", "a <mark>dog</mark>"),
        ("x\n\n  y\t z", "y", "x <mark>y</mark> z"),
        ("no title here", "title:title here", "no title <mark>here</mark>"),
        ("nothing", "else", "nothing"),
        ("", "else", ""),
    ] {
        assert_eq!(marked(text, query, 1_000), html, "{query}");
    }
    let query = Query::parse("title:here").unwrap();
    assert_eq!(Snippets::new(&query, 10).of_title("Here").to_html(), "<mark>Here</mark>");
}

#[test]
fn decomposed_letters_are_marked_with_their_marks() {
    let text = "le cafe\u{301} noir";
    assert_eq!(marked(text, "café", 100), "le <mark>cafe\u{301}</mark> noir");
    // A decomposed word is marked as a whole where its parts cannot be told apart.
    let decomposed = "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}";
    assert_eq!(marked(decomposed, "글", 100), format!("<mark>{decomposed}</mark>"));
}

#[test]
fn markup_in_the_text_stays_text() {
    let text = "<script>alert('cat & \"dog\"')</script>";
    let html = "&lt;<mark>script</mark>&gt;<mark>alert</mark>(&#39;<mark>cat</mark> &amp; \
                &quot;dog&quot;&#39;)&lt;/<mark>script</mark>&gt;";
    assert_eq!(marked(text, "script alert cat", 1_000), html);
}

#[test]
fn the_window_shows_most_of_what_was_asked() {
    let filler = "lorem ipsum ".repeat(50);
    let text = format!("cat {filler} cat {filler} dog and cat {filler}");
    let html = marked(&text, "cat dog", 60);
    assert!(html.contains("<mark>dog</mark> and <mark>cat</mark>"), "{html}");
    assert!(html.starts_with('…') && html.ends_with('…'), "{html}");
    let html = marked(&text, "absent", 30);
    assert!(html.starts_with("cat lorem ipsum") && html.ends_with('…'), "{html}");
}

/// Whether every character of a highlight belongs to one of the words; matches that overlap or touch are
/// marked together.
fn is_made_of(highlight: &str, words: &[String]) -> bool {
    let highlight = normal_form(highlight).replace(' ', "");
    let mut covered = vec![false; highlight.len()];
    for word in words {
        for at in (0..highlight.len()).filter(|&at| highlight.is_char_boundary(at)) {
            if highlight[at..].starts_with(word.as_str()) {
                covered[at..at + word.len()].fill(true);
            }
        }
    }
    !covered.is_empty() && !covered.contains(&false)
}

proptest! {
    #[test]
    fn ranges_are_in_order_on_boundaries_and_hold_matches(
        text in "([가나다]{1,4}|[漢字か]{1,3}|cat|CAT|dogs|<b>|&amp;|é|한ABC|🎉| |\n){0,60}",
        words in proptest::collection::vec("[가나]{1,2}|[漢字]{1,2}|cat|abc|é", 1..4),
        length in 0..80_usize,
    ) {
        let query = Query::parse(&words.join(" ")).unwrap();
        let shown = snippet(&text, &query, length);
        let mut last = 0;
        for range in &shown.highlights {
            prop_assert!(range.start >= last && range.end > range.start);
            last = range.end;
            let highlight = shown.text.get(range.clone());
            prop_assert!(highlight.is_some_and(|highlight| is_made_of(highlight, &words)),
                "{:?} in {:?}", highlight, shown.text);
        }
        let cuts = shown.text.chars().filter(|&c| c == '…').count();
        prop_assert!(shown.text.chars().count() <= length + cuts && cuts <= 2);
        // Nothing is shown that is not in the text.
        let folded: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert!(folded.contains(shown.text.trim_matches('…')), "{:?}", shown.text);

        let html = shown.to_html();
        let bare = html.replace("<mark>", "").replace("</mark>", "");
        prop_assert!(!bare.contains(['<', '>', '"', '\'']));
        let read = bare.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"")
            .replace("&#39;", "'").replace("&amp;", "&");
        prop_assert_eq!(read, shown.text);
    }

    #[test]
    fn a_text_that_fits_is_shown_whole_with_every_match(
        before in "[가나다 x]{0,20}", word in "[나다]{2}|cat", after in "[ 가x.]{0,20}",
    ) {
        let text = format!("{before} {word} {after}");
        let shown = snippet(&text, &Query::parse(&word).unwrap(), 1_000);
        let folded: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(&shown.text, &folded);
        let found = shown.highlights.iter().any(|range| shown.text[range.clone()].contains(&word));
        prop_assert!(found, "{:?}", shown);
    }

    #[test]
    fn any_text_and_query_do_no_harm(text in any::<String>(), words in any::<String>(), length in 0..50_usize) {
        for query in [&text, &words] {
            if let Ok(query) = Query::parse(query) {
                let shown = snippet(&text, &query, length);
                for range in &shown.highlights {
                    prop_assert!(shown.text.get(range.clone()).is_some_and(|part| !part.is_empty()));
                }
            }
        }
    }
}
