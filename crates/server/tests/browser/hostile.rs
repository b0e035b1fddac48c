//! Hostile documents: more than three hundred texts that would like to be something else, as keys, titles,
//! addresses, sites, authors, languages, texts and questions. None may run, break out or break the layout.
//!
//! They are made, not listed: what breaks out of a place, times what does something there, and then what
//! needs no place to break out of. Every one is looked at on lists, which show a hundred at a time, and on
//! pages of its own.

use std::collections::BTreeSet;

use wonbon_store::{Content, NewDocument, Store};
use wonbon_time::Timestamp;

use crate::driver::Browser;
use crate::sample::{Served, sentences};
use crate::{WIDTHS, assert_quiet, assert_whole};

/// What leads out of the place a text stands in.
const WAYS_OUT: [&str; 20] = [
    "",
    "\">",
    "'>",
    "`>",
    "\" ",
    "' ",
    "</title>",
    "</textarea>",
    "</script>",
    "</style>",
    "-->",
    "]]>",
    "</svg>",
    "</a>",
    "</td></tr></table>",
    "</main></body></html>",
    "&quot;&gt;",
    "\\\">",
    "%22%3E",
    "</noscript></p></details>",
];

/// What does something once it is out; `J` is the script.
const DEEDS: [&str; 24] = [
    "<script>J</script>",
    "<ScRiPt >J</sCrIpT >",
    "<script src=\"data:text/javascript,J\"></script>",
    "<script src=/static/wonbon.js></script>",
    "<img src=x onerror=J>",
    "<img/src/onerror=J>",
    "<svg onload=J>",
    "<svg><script>J</script></svg>",
    "<svg><animate onbegin=J attributeName=x dur=1s>",
    "<math><mtext><a xlink:href=\"javascript:J\">x</a>",
    "<body onload=J>",
    "<iframe srcdoc=\"<script>parent.J</script>\"></iframe>",
    "<iframe src=\"javascript:J\"></iframe>",
    "<details open ontoggle=J><summary>x</summary></details>",
    "<input autofocus onfocus=J>",
    "<a href=\"javascript:J\" autofocus onfocus=J>x</a>",
    "<style>*{display:none!important}</style>",
    "<link rel=stylesheet href=\"data:text/css,*{display:none}\">",
    "<meta http-equiv=refresh content=\"0;url=javascript:J\">",
    "<base href=//evil.example/>",
    "<form action=//evil.example/><input name=token></form>",
    "<object data=\"javascript:J\"></object>",
    "<video><source onerror=J></video>",
    "<h1>x</h1><main>y</main><header>z</header>",
];

/// What needs no way out.
const ALONE: [&str; 58] = [
    // Attributes.
    "\" onmouseover=\"J",
    "' onfocus='J' autofocus='",
    " onfocus=J autofocus tabindex=1 ",
    "\" style=\"position:fixed;inset:0;background:red",
    "x onerror=J",
    "en\" onfocus=\"J\" tabindex=\"0",
    // Addresses.
    "javascript:J",
    "JaVaScRiPt:J",
    "java\tscript:J",
    "\u{1}javascript:J",
    " javascript:J//https://one.example/",
    "javascript://one.example/%0aJ",
    "data:text/html,<script>J</script>",
    "vbscript:J",
    "//evil.example/path",
    "/\\evil.example",
    "https://one.example/\"onmouseover=J",
    "https://one.example/<script>J</script>",
    "https://user:J@one.example/?q='><svg onload=J>#\">",
    "http://[::1]/'onfocus=J",
    // Entities and comments.
    "&lt;script&gt;J&lt;/script&gt;",
    "&#60;script&#62;J&#60;/script&#62;",
    "&#x3c;img src=x onerror=J&#x3e;",
    "&ltimg src=x onerror=J&gt",
    "&amp;lt;script&amp;gt;",
    "&NewLine;&Tab;&colon;&lpar;",
    "<!--",
    "<!-->",
    "--!><script>J</script>",
    "<!--[if IE]><script>J</script><![endif]-->",
    "<![CDATA[<script>J</script>]]>",
    "<?xml version=\"1.0\"?><x/>",
    "<!DOCTYPE html>",
    // Templates and languages.
    "{{constructor.constructor('J')()}}",
    "${J}",
    "`${J}`",
    "<%= J %>",
    "#{J}",
    "{% raw %}J{% endraw %}",
    "[[J]]",
    "\\u003cscript\\u003eJ\\u003c/script\\u003e",
    "+ADw-script+AD4-J+ADw-/script+AD4-",
    "%3Cscript%3EJ%3C/script%3E",
    "expression(J)",
    "';J;'",
    "\");J//",
    // Characters.
    "\u{FF1C}script\u{FF1E}J\u{FF1C}/script\u{FF1E}",
    "\u{202E}gnihtemos desrever \u{202D}and back",
    "\u{2066}\u{2067}\u{202B}never closed",
    "\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}nothing to see",
    "\u{2028}J\u{2029}",
    "a\u{1}b<scr\u{1}ipt>J</script>",
    "\u{7}\u{8}\u{B}\u{C}\u{1B}[31m\u{7F}\u{85}",
    "\u{FFFE}\u{FFFF}\u{10FFFF}\u{E000}",
    "\r\nset-cookie: a=b\r\n\r\n<script>J</script>",
    "مرحبا <b dir=rtl> بالعالم שלום",
    "👩‍👩‍👧‍👦🏴‍☠️<script>J</script>",
    "\u{1D173}\u{E0001}\u{E0061}tags that are not seen",
];

/// Texts without a place to break a line, and characters that stand on each other.
fn unwieldy() -> Vec<String> {
    vec![
        "W".repeat(900),
        "한".repeat(600),
        "\u{FDFD}".repeat(120),
        "a/b?c=d&e=f;".repeat(60),
        format!("https://one.example/{}", "long-".repeat(150)),
        "م".repeat(700),
        "\u{1F468}\u{200D}".repeat(200),
        format!("Z{}", "\u{0351}\u{0363}\u{0489}".repeat(200)),
        "\u{A0}".repeat(400) + "end",
        "e\u{0301}".repeat(400),
        "0.".repeat(400),
        "\u{AD}x".repeat(300),
        "-".repeat(1000),
        "_".repeat(1000),
    ]
}

/// All of them, each once.
fn payloads() -> Vec<String> {
    let mut all = Vec::new();
    for (at, way_out) in WAYS_OUT.iter().enumerate() {
        for (other, deed) in DEEDS.iter().enumerate() {
            // Every other pair: each way out meets half of the deeds, each deed half of the ways.
            if (at + other).is_multiple_of(2) {
                all.push(format!("{way_out}{deed}"));
            }
        }
    }
    all.extend(ALONE.map(str::to_owned));
    all.extend(unwieldy());
    let does = ["window.hacked=1", "alert(1)"];
    let written = all.iter().enumerate().map(|(at, text)| text.replace('J', does[at % 2]));
    written.collect()
}

#[test]
fn there_are_more_than_three_hundred_and_no_two_are_the_same() {
    let all = payloads();
    let distinct: BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len());
    assert!(all.len() > 300, "{}", all.len());
}

/// A word that all texts have, so that a search lists them.
const COMMON: &str = "heirloom";

fn copy_of(payload: &str) -> String {
    format!("{payload} copy")
}

/// Every payload as everything a document has, and once more as a copy.
fn fill(store: &Store) {
    for (at, payload) in payloads().iter().enumerate() {
        let body = format!("{payload} {COMMON} {} {payload}", sentences(at as u64 + 1000));
        let edited = body.replacen("kept", payload, 1);
        for (key, text, created) in
            [(payload.clone(), &body, at as i64), (copy_of(payload), &edited, 1_000_000)]
        {
            let document = NewDocument {
                key: key.into(),
                created: Some(Timestamp::from_seconds(created)),
                created_at_the_latest: false,
                published: Some(Timestamp::from_seconds(created)),
                url: Some(payload.into()),
                site: Some(payload.into()),
                author: Some(payload.into()),
                title: Some(payload.into()),
                language: Some(payload.into()),
                sweep: None,
                content: Content::Text(text),
            };
            store.add(&document).unwrap();
        }
        if at.is_multiple_of(4) {
            store.watch(payload).unwrap();
        }
    }
}

fn address(path: &str, question: &[(&str, &str)]) -> String {
    let mut written = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in question {
        written.append_pair(name, value);
    }
    format!("{path}?{}", written.finish())
}

fn assert_unharmed(browser: &Browser, told: &str) {
    for (width, height) in WIDTHS {
        browser.resize(width, height);
        assert_whole(browser, width, told);
    }
    assert_quiet(browser, told);
}

/// What is left of a text when it is put on a page: HTML has no NUL and no carriage return.
fn as_shown(text: &str) -> String {
    text.replace('\0', "\u{FFFD}").replace("\r\n", "\n").replace('\r', "\n")
}

#[test]
fn lists_of_hostile_documents_are_whole() {
    let Some(browser) = Browser::start() else { return };
    let served = Served::start(false, fill);
    let all = payloads();
    let mut shown = String::new();
    for first in ["/search?q=heirloom&limit=100", "/families?limit=100"] {
        let mut next = served.at(first);
        let mut lists = 0;
        loop {
            browser.open(&next);
            browser
                .run("for (const part of document.querySelectorAll('details')) part.open = true;");
            assert_unharmed(&browser, &next);
            shown.push_str(browser.run("return document.body.textContent;").as_str().unwrap());
            lists += 1;
            let link = browser.run("return document.querySelector('a[rel=next]')?.href ?? null;");
            match link.as_str() {
                Some(link) => next = link.to_owned(),
                None => break,
            }
        }
        assert!(lists >= all.len() / 100, "{first}: {lists} lists");
    }
    for page in ["/", "/watch", "/changes", "/status"] {
        browser.open(&served.at(page));
        browser.run("for (const part of document.querySelectorAll('details')) part.open = true;");
        assert_unharmed(&browser, page);
    }
    for payload in &all {
        let expected = as_shown(payload);
        assert!(shown.contains(expected.as_str()), "{payload:?} is not shown as it is");
    }
}

/// Pages of one payload: the one about it, and in turn a question with it or one of the others.
fn pages_of(at: usize, payload: &str) -> [String; 2] {
    let copy = copy_of(payload);
    let others = [
        address("/compare", &[("a", payload), ("b", &copy)]),
        address("/ask", &[("key", payload)]),
        address("/moved", &[("key", payload)]),
        address("/copies", &[("key", payload)]),
        address("/changes", &[("key", payload)]),
        address("/family", &[("key", payload)]),
        address("/document", &[("key", &format!("nobody {payload}"))]),
        address("/search", &[("q", COMMON), ("site", payload), ("language", payload)]),
        address("/changes", &[("site", payload), ("since", payload)]),
    ];
    let searched = address("/search", &[("q", payload), ("site", payload)]);
    let other = if at.is_multiple_of(2) { searched } else { others[at / 2 % others.len()].clone() };
    [address("/document", &[("key", payload)]), other]
}

/// Half of the payloads, so that two browsers share the work; pages are wide and on a phone in turn.
fn each_page_of_every_other(first: usize) {
    let Some(browser) = Browser::start() else { return };
    let served = Served::start(false, fill);
    for (turn, (width, height)) in WIDTHS.into_iter().enumerate() {
        browser.resize(width, height);
        for (at, payload) in payloads().iter().enumerate().skip(first).step_by(2) {
            for (which, page) in pages_of(at / 2, payload).iter().enumerate() {
                if (at / 2 + which) % 2 != turn {
                    continue;
                }
                browser.open(&served.at(page));
                assert_whole(&browser, width, page);
                assert_quiet(&browser, page);
                if which == 0 {
                    let heading = browser.run("return document.querySelector('h1').textContent;");
                    assert_eq!(heading.as_str().unwrap(), as_shown(payload), "{page}");
                }
            }
        }
    }
}

#[test]
fn even_hostile_documents_are_shown_as_they_are() {
    each_page_of_every_other(0);
}

#[test]
fn odd_hostile_documents_are_shown_as_they_are() {
    each_page_of_every_other(1);
}
