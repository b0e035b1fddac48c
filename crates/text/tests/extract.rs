//! Core text: rules one by one, metadata, hostile pages.

use proptest::prelude::*;
use wonbon_text::extract::{core_text, extract};

fn text(html: &str) -> String {
    extract(html, None).text
}

const PROSE: &str = "The lighthouse keeper counted the waves every evening and wrote the number \
    into a ledger that nobody would ever read, and he found that he liked it.";

#[test]
fn blocks_are_lines_and_white_space_is_folded() {
    let html = "<main><p>one  <b>two</b>\n three</p><div>four<br>five</div><ul><li>six<li>seven</ul></main>";
    assert_eq!(text(html), "one two three\nfour\nfive\nsix\nseven");
}

#[test]
fn cells_are_separated_and_preformatted_lines_stay() {
    let html =
        "<main><table><tr><td>a<td>b<tr><td>c<td>d</table><pre>x = 1\n    y = 2</pre></main>";
    assert_eq!(text(html), "a\tb\nc\td\nx = 1\n    y = 2");
}

#[test]
fn references_are_letters() {
    assert_eq!(text("<p>caf&eacute; &lt;b&gt; &#54620;&#xae00;</p>"), "café <b> 한글");
}

#[test]
fn what_is_not_shown_is_not_text() {
    for hidden in [
        "<script>secret()</script>",
        "<style>.secret{}</style>",
        "<template>secret</template>",
        "<div hidden>secret</div>",
        "<div aria-hidden=true>secret</div>",
        "<div style='color:red; DISPLAY : none'>secret</div>",
        "<span class='sr-only'>secret</span>",
        "<svg><text>secret</text></svg>",
        "<select><option>secret</select>",
        "<!-- secret -->",
        "<textarea>secret</textarea>",
        "<noscript>secret</noscript>",
    ] {
        let html =
            format!("<main><p>{PROSE}</p>{hidden}<p>{PROSE}{PROSE}{PROSE}{PROSE}</p></main>");
        assert!(!text(&html).contains("secret"), "{hidden}");
    }
}

#[test]
fn a_dialogue_for_consent_is_not_text_however_long() {
    let dialogue = format!("<p>{}</p>", "These cookies are necessary. ".repeat(80));
    for name in ["id=onetrust-consent-sdk", "class='x gdpr-overlay'", "id=CybotCookiebotDialog"] {
        let html = format!("<div><p>{PROSE}</p></div><div {name}><div>{dialogue}</div></div>");
        assert_eq!(text(&html), PROSE, "{name}");
    }
    // A page may say so of itself.
    let html = format!("<div class=cookie-banner-shown><main><p>{PROSE}</p></main></div>");
    assert_eq!(text(&html), PROSE);
}

#[test]
fn text_that_a_script_would_show_is_text() {
    let html =
        format!("<body><div id=app style='display:none'><p>{PROSE}</p></div><p>Loading</p></body>");
    assert!(text(&html).contains("counted the waves"));
    let html = format!("<div id=root></div><noscript><p>{PROSE}</p></noscript>");
    assert!(text(&html).contains("counted the waves"));
    let html = format!(
        "<p>Loading</p><script type='application/ld+json'>{{\"@type\":\"NewsArticle\",\
         \"articleBody\":\"{PROSE}\"}}</script>"
    );
    assert_eq!(text(&html), PROSE);
}

#[test]
fn the_frame_goes_and_a_large_block_stays_whatever_its_name() {
    let html = format!(
        "<header><a href=/>Site</a></header><nav>menu words</nav><div class=sidebar>side words</div>\
         <div class='main-content sidebar-layout'><p>{PROSE}</p></div><footer>foot words</footer>"
    );
    let text = text(&html);
    assert!(text.contains("counted the waves"));
    for frame in ["menu", "side", "foot", "Site"] {
        assert!(!text.contains(&format!("{frame} words")) && !text.contains("Site"), "{frame}");
    }
}

#[test]
fn parts_that_a_page_builder_calls_widgets_are_text() {
    let widget = format!("<div class='builder-widget'><p>{PROSE}</p></div>");
    assert_eq!(text(&widget.repeat(5)).matches("counted the waves").count(), 5);
}

#[test]
fn comments_are_content_on_forums_only() {
    let html = format!(
        "<article><p>{PROSE}</p><p>{PROSE}</p></article><div class=comment><p>A reader wrote this \
         and it is long enough to be a paragraph of its own.</p></div>"
    );
    let on = |url| extract(&html, Some(url)).text.contains("A reader wrote");
    assert!(on("https://forum.example/t/1"));
    assert!(!on("https://blog.example/1"));
}

#[test]
fn a_related_block_goes_with_its_heading() {
    let html = format!(
        "<meta property=og:type content=article><div><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p>\
         <h3>관련 글</h3><p>Something else entirely that has nothing to do with the sea.</p></div>"
    );
    let text = text(&html);
    assert!(text.ends_with("liked it.") && !text.contains("관련"));
}

#[test]
fn titles_come_from_the_most_deliberate_source() {
    let title = |html: &str| extract(html, None).title;
    let all = "<title>T</title><meta property=og:title content='O &amp; G'><h1>H</h1>";
    assert_eq!(title(all).as_deref(), Some("O & G"));
    assert_eq!(title("<title> T\n t </title><h1>H</h1>").as_deref(), Some("T t"));
    assert_eq!(title("<h1>H <b>h</b></h1>").as_deref(), Some("H h"));
    assert_eq!(title("<svg><title>icon</title></svg><p>x"), None);
}

#[test]
fn languages_are_tags() {
    let language = |html: &str| extract(html, None).language;
    assert_eq!(language("<html lang=ko-KR>").as_deref(), Some("ko-KR"));
    assert_eq!(
        language("<meta http-equiv=content-language content='ja, en'>").as_deref(),
        Some("ja")
    );
    assert_eq!(
        language("<html lang=''><meta property=og:locale content=zh_CN>").as_deref(),
        Some("zh-CN")
    );
    assert_eq!(language("<html lang='{{lang}}'>"), None);
}

#[test]
fn the_canonical_address_is_absolute() {
    let canonical = |html: &str| extract(html, Some("https://a.example/b/c")).canonical;
    assert_eq!(canonical("<link rel=canonical href=/d>").as_deref(), Some("https://a.example/d"));
    assert_eq!(
        canonical("<link href=d rel='alternate CANONICAL'>").as_deref(),
        Some("https://a.example/b/d")
    );
    assert_eq!(
        canonical("<meta property=og:url content=https://e.example/f#g>").as_deref(),
        Some("https://e.example/f")
    );
    assert_eq!(canonical("<link rel=canonical href='javascript:x'>"), None);
}

#[test]
fn publication_dates_are_iso_8601() {
    let published = |html: &str| extract(html, None).published;
    let json = r#"<script type="application/ld+json">{"@graph":[{"@type":"Article","datePublished":"2020-01-02T03:04:05Z"}]}</script>"#;
    let meta = "<meta property=article:published_time content=2021-02-03>";
    let time = "<time datetime=2022-03-04>x</time>";
    assert_eq!(published(&[json, meta, time].concat()).as_deref(), Some("2021-02-03"));
    assert_eq!(published(&[time, json].concat()).as_deref(), Some("2020-01-02T03:04:05Z"));
    assert_eq!(published(time).as_deref(), Some("2022-03-04"));
    assert_eq!(published("<meta name=date content='5 March 2019'>").as_deref(), Some("2019-03-05"));
    assert_eq!(published("<meta name=date content=soon>"), None);
}

#[test]
fn plain_text_passes_through_untouched() {
    let plain = "  A text\n\n  with its <own> shape.\t\n";
    let core = core_text(plain.as_bytes(), None, None);
    assert_eq!(core.page.text, plain);
    assert!(!core.is_html && core.page.links.is_empty() && core.page.title.is_none());
}

#[test]
fn a_million_nested_tags_are_read() {
    for (open, close) in [
        ("<div>", "</div>"),
        ("<b>", "</b>"),
        ("<x-y>", "</x-y>"),
        ("<table><td>", ""),
        ("<ul><li>", "</li>"),
        ("<svg>", "</p>"),
        ("<button>", ""),
        ("<form><p>", "</form>"),
        ("<a href=x>", "</a>"),
    ] {
        let count = 1_000_000;
        let html = format!("{}<p>{PROSE}</p>{}", open.repeat(count), close.repeat(count));
        let page = extract(&html, None);
        assert!(page.text.contains("counted the waves"), "{open}");
    }
}

#[test]
fn many_of_anything_takes_linear_time() {
    for piece in [
        "<h3>Related</h3><p>a</p>",
        "<header>a</header>",
        "<h1>a b</h1>",
        "<p>Comments",
        "<div class=comment>",
        "<!--",
        "<title>",
        "<",
        "&",
        "&am",
        "<a href='",
        "<meta name=date content=x>",
        "</p>",
        "<time datetime=2020-01-01>",
        "<p hidden>",
        "\0",
        "<script type=application/ld+json>{\"a\":[{",
    ] {
        let html = piece.repeat(200_000);
        extract(&html, Some("https://example.org/"));
    }
}

fn soup() -> impl Strategy<Value = String> {
    let tag = prop::sample::select(vec![
        "div",
        "p",
        "ul",
        "li",
        "table",
        "tr",
        "td",
        "a",
        "span",
        "b",
        "h1",
        "h2",
        "article",
        "main",
        "nav",
        "footer",
        "form",
        "button",
        "svg",
        "script",
        "style",
        "title",
        "template",
        "noscript",
        "select",
        "option",
        "pre",
        "br",
        "aside",
        "section",
        "textarea",
        "x-y",
        "ruby",
        "rt",
        "dl",
        "dd",
        "dt",
        "math",
        "foreignObject",
    ]);
    let class = prop::sample::select(vec![
        "",
        " class=sidebar",
        " class='post-content'",
        " id=comments",
        " hidden",
        " role=main",
        " class=related",
        " itemprop=articleBody",
        " href=/x",
        " class=widget",
    ]);
    let piece = prop_oneof![
        (tag.clone(), class).prop_map(|(tag, class)| format!("<{tag}{class}>")),
        tag.prop_map(|tag| format!("</{tag}>")),
        "[a-zA-Z가-힣 ]{0,80}",
        "[<>/!&;\"'= a-z-]{0,6}",
        Just("Related posts".to_owned()),
        Just("<!-- c -->".to_owned()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn tag_soup_gives_text_made_of_its_own_letters(html in soup()) {
        wonbon_testkit::harness::extract(html.as_bytes());
    }

    #[test]
    fn any_string_gives_an_answer(html in "\\PC*") {
        wonbon_testkit::harness::extract(html.as_bytes());
    }

    #[test]
    fn words_are_never_made_up(words in prop::collection::vec("[a-z]{1,8}", 1..60), tags in prop::collection::vec(prop::sample::select(vec!["<p>", "</p>", "<div>", "</div>", "<li>", "<td>", "<br>", "<h2>", " "]), 60)) {
        let html: String = words.iter().zip(&tags).map(|(word, tag)| format!("{word}{tag}")).collect();
        let mut left = words.clone();
        for found in extract(&html, None).text.split_whitespace() {
            let at = left.iter().position(|word| word == found);
            // Two words stand together only where the page has nothing between them.
            prop_assert!(at.is_some(), "{found} is no word of {html}");
            left.remove(at.expect("asserted above"));
        }
    }
}
