//! Core text as Markdown and as cleaned HTML: the structure of the page, the words of the text.

use proptest::prelude::*;
use wonbon_text::extract::{Formats, core_text_formatted, extract, extract_formatted};

const BOTH: Formats = Formats { markdown: true, html: true };

fn markdown(html: &str) -> String {
    let (_, formatted) = extract_formatted(html, Some("https://example.org/a/b"), BOTH);
    formatted.markdown.expect("Markdown was asked for")
}

fn clean(html: &str) -> String {
    let (_, formatted) = extract_formatted(html, Some("https://example.org/a/b"), BOTH);
    formatted.html.expect("HTML was asked for")
}

const PROSE: &str = "The lighthouse keeper counted the waves every evening and wrote the number \
    into a ledger that nobody would ever read, and he found that he liked it.";

/// A page whose core is `inner`, with enough prose around to be sure of it.
fn page(inner: &str) -> String {
    format!("<article class=post-content><p>{PROSE}</p>{inner}<p>{PROSE}</p></article>")
}

/// What stands between the two paragraphs of prose.
fn between<'text>(text: &'text str, before: &str, after: &str) -> &'text str {
    let rest = text.split_once(before).expect("the first paragraph is there").1;
    rest.rsplit_once(after).expect("the last paragraph is there").0
}

fn inner_markdown(inner: &str) -> String {
    between(&markdown(&page(inner)), PROSE, PROSE).trim_matches('\n').to_owned()
}

fn inner_html(inner: &str) -> String {
    let prose = format!("<p>{PROSE}</p>");
    between(&clean(&page(inner)), &prose, &prose).trim_matches('\n').to_owned()
}

#[test]
fn headings_keep_their_levels() {
    let html = "<h2>How the waves were counted</h2><p>He sat down at the window and began.</p>";
    assert_eq!(
        inner_markdown(html),
        "## How the waves were counted\n\nHe sat down at the window and began."
    );
    assert_eq!(
        inner_html(html),
        "<h2>How the waves were counted</h2>\n<p>He sat down at the window and began.</p>"
    );
}

#[test]
fn lists_nest_and_count() {
    let html = "<p>He needed these things before the evening:</p><ul><li>a ledger with ruled \
                pages<ul><li>and a spare one</ul><li>a pencil that writes on wet paper</ul>\
                <ol start=3><li>Count the waves.<li>Write the number down.</ol>";
    assert_eq!(
        inner_markdown(html),
        "He needed these things before the evening:\n\n- a ledger with ruled pages\n  - and a spare one\n\
         - a pencil that writes on wet paper\n\n3. Count the waves.\n4. Write the number down."
    );
    assert_eq!(
        inner_html(html),
        "<p>He needed these things before the evening:</p>\n<ul>\n<li>a ledger with ruled pages\n<ul>\n\
         <li>and a spare one</li>\n</ul>\n</li>\n<li>a pencil that writes on wet paper</li>\n</ul>\n\
         <ol start=\"3\">\n<li>Count the waves.</li>\n<li>Write the number down.</li>\n</ol>"
    );
}

#[test]
fn tables_of_data_are_tables() {
    let html = "<table><tr><th>Evening<th>Number of waves<tr><td>Monday<td>four hundred | ten\
                <tr><td>Tuesday<td>four hundred and twelve</table>";
    assert_eq!(
        inner_markdown(html),
        "| Evening | Number of waves |\n| --- | --- |\n| Monday | four hundred \\| ten |\n\
         | Tuesday | four hundred and twelve |"
    );
    let html = inner_html(html);
    assert!(html.starts_with("<table>\n<tr><th>Evening</th><th>Number of waves</th>"), "{html}");
}

#[test]
fn rows_without_text_go_and_empty_cells_of_others_stay() {
    let empty = "<table><tr><td></td><td> </td></tr></table>";
    let table = "<table><tr><td></td><td></td></tr><tr><td>a</td><td>1</td></tr>\
                 <tr><td></td><td>2</td></tr></table>";
    let both = format!("{empty}{table}");
    assert_eq!(inner_markdown(&both), "| | |\n| --- | --- |\n| a | 1 |\n| | 2 |");
    assert_eq!(clean(&page(&both)).matches("<tr>").count(), 2);
    assert_eq!(inner_markdown(empty), "");
}

#[test]
fn links_are_absolute_and_code_is_code() {
    let html = "<p>He kept the numbers in <a href=../ledger?a=1&amp;b=2>a ledger (the big one)</a>, and \
                called <code>count_waves()</code> every evening at *nine*.</p>\
                <pre><code class=language-rust>fn main() {\n    let ``` = 1;\n}</code></pre>";
    assert_eq!(
        inner_markdown(html),
        "He kept the numbers in [a ledger (the big one)](https://example.org/ledger?a=1&b=2), and \
         called `count_waves()` every evening at \\*nine\\*.\n\n````rust\nfn main() {\n    let ``` = 1;\n}\n````"
    );
    assert_eq!(
        inner_html(html),
        "<p>He kept the numbers in <a href=\"https://example.org/ledger?a=1&amp;b=2\">a ledger (the big \
         one)</a>, and called <code>count_waves()</code> every evening at *nine*.</p>\n\
         <pre><code class=\"language-rust\">fn main() {\n    let ``` = 1;\n}</code></pre>"
    );
}

#[test]
fn quotes_and_line_breaks_stay() {
    let html = "<blockquote><p>The sea does not repeat itself.</p><p>It only seems to, he wrote.</p>\
                </blockquote><p>First line of the letter<br>second line of the letter</p>";
    assert_eq!(
        inner_markdown(html),
        "> The sea does not repeat itself.\n>\n> It only seems to, he wrote.\n\n\
         First line of the letter\\\nsecond line of the letter"
    );
}

#[test]
fn text_that_looks_like_marks_is_escaped() {
    let html = "<p># is not a heading when a person writes it in a paragraph</p>\
                <p>2024. was the year in which [nothing] happened &lt;b&gt; at_all</p>";
    assert_eq!(
        inner_markdown(html),
        "\\# is not a heading when a person writes it in a paragraph\n\n\
         2024\\. was the year in which \\[nothing\\] happened \\<b> at_all"
    );
    assert!(inner_html(html).contains("happened &lt;b&gt; at_all"));
}

#[test]
fn no_script_comes_through() {
    let html = page(
        "<p>He wrote <a href='javascript:alert(1)' onclick='x()'>one more line</a> into the ledger \
         &lt;script&gt;alert(1)&lt;/script&gt; before he slept.</p><script>alert(2)</script>",
    );
    let clean = clean(&html);
    assert!(clean.contains("one more line") && !clean.contains("javascript"));
    assert!(!clean.contains("<script") && !clean.contains("onclick"), "{clean}");
}

#[test]
fn plain_text_is_its_own_markdown() {
    let (core, formatted) = core_text_formatted(b"one < two\nthree", None, None, BOTH);
    assert!(!core.is_html);
    assert_eq!(formatted.markdown.as_deref(), Some("one < two\nthree"));
    assert_eq!(formatted.html.as_deref(), Some("<p>one &lt; two</p>\n<p>three</p>"));
}

#[test]
fn what_is_written_grows_with_the_page() {
    for piece in [
        "<ul><li>a",
        "<blockquote>a",
        "<a href=/x>a<p>b",
        "<table><tr><td>a<td>b",
        "<td colspan=1000>a",
        "<pre>a",
        "<code>a",
        "<ol start=4294967295><li>a",
        "<li>a",
        "a<br>",
    ] {
        let html = piece.repeat(50_000);
        let (_, formatted) = extract_formatted(&html, Some("https://example.org/"), BOTH);
        for text in [formatted.markdown, formatted.html].into_iter().flatten() {
            assert!(text.len() <= 12 * html.len() + (1 << 17), "{piece}: {}", text.len());
        }
    }
}

proptest! {
    #[test]
    fn formats_have_the_words_of_the_text(parts in prop::collection::vec(
        prop::sample::select(vec![
            "<p>", "</p>", "<div>", "</div>", "<ul>", "<li>", "</ul>", "<table>", "<tr>", "<td>",
            "</table>", "<h2>", "</h2>", "<pre>", "</pre>", "<code>", "</code>", "<a href=/x>",
            "</a>", "<blockquote>", "</blockquote>", "<br>", "alpha ", "beta ", "gamma ",
            "a longer run of words that could be a sentence of the page. ",
        ]), 0..60))
    {
        let html = parts.concat();
        let plain = extract(&html, None);
        let (page, formatted) = extract_formatted(&html, None, BOTH);
        prop_assert_eq!(&plain, &page, "the page is the same");
        // Letters, not words: the plain text has no blank where code begins in the middle of a line.
        let words =
            |text: &str| -> String { text.chars().filter(char::is_ascii_alphabetic).collect() };
        let markdown = formatted.markdown.unwrap_or_default().replace("](/x)", "]");
        prop_assert_eq!(words(&markdown), words(&plain.text), "Markdown of {}", &html);
        let mut shown = String::new();
        for part in formatted.html.unwrap_or_default().split('<').enumerate() {
            let text = if part.0 == 0 { part.1 } else { part.1.split_once('>').map_or("", |p| p.1) };
            shown.push_str(text);
            shown.push(' ');
        }
        prop_assert_eq!(words(&shown), words(&plain.text), "HTML of {}", &html);
    }
}
