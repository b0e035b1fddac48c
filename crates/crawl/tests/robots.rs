//! robots.txt: what RFC 9309 says, what it shows, and what servers send.

use std::time::Duration;

use proptest::prelude::*;
use wonbon_crawl::pattern::Pattern;
use wonbon_crawl::robots::{
    Answer, Directives, MAX_CRAWL_DELAY, MAX_SITEMAPS, Robots, while_unreachable,
};
use wonbon_testkit::crawl::robots as oracle;

/// A file, an agent, a path, and whether it may be fetched.
type Case = (&'static str, &'static str, &'static str, bool);

/// The examples of RFC 9309, sections 2.2 and 5.
const EXAMPLES: [Case; 27] = [
    // 2.2.1: the token is matched without case, groups of one agent are one group.
    (
        "User-Agent: ExampleBot\nDisallow: /foo\nDisallow: /bar\n\nUser-Agent: ExampleBot\nDisallow: /baz\n",
        "examplebot",
        "/baz",
        false,
    ),
    (
        "User-Agent: ExampleBot\nDisallow: /foo\nDisallow: /bar\n\nUser-Agent: ExampleBot\nDisallow: /baz\n",
        "EXAMPLEBOT",
        "/foo",
        false,
    ),
    (
        "User-Agent: ExampleBot\nDisallow: /foo\nDisallow: /bar\n\nUser-Agent: ExampleBot\nDisallow: /baz\n",
        "other",
        "/foo",
        true,
    ),
    // A group with several agents.
    ("User-agent: a\nUser-agent: b\nDisallow: /x\n", "a", "/x", false),
    ("User-agent: a\nUser-agent: b\nDisallow: /x\n", "b", "/x", false),
    ("User-agent: a\nUser-agent: b\nDisallow: /x\n", "c", "/x", true),
    // The star is for those that have no group.
    ("User-agent: *\nDisallow: /\n\nUser-agent: wonbon\nDisallow: /x\n", "wonbon", "/y", true),
    ("User-agent: wonbon\nDisallow: /x\n\nUser-agent: *\nDisallow: /\n", "wonbon", "/y", true),
    ("User-agent: wonbon\nDisallow: /x\n\nUser-agent: *\nDisallow: /\n", "other", "/y", false),
    // A group without rules allows all, star or not.
    ("User-agent: *\nDisallow: /\n\nUser-agent: wonbon\n", "wonbon", "/y", true),
    // 2.2.2: paths compare octet by octet, percent-encoded.
    ("User-agent: *\nDisallow: /foo/bar?baz=quz\n", "wonbon", "/foo/bar?baz=quz", false),
    (
        "User-agent: *\nDisallow: /foo/bar?baz=https://foo.bar\n",
        "wonbon",
        "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
        true,
    ),
    (
        "User-agent: *\nDisallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar\n",
        "wonbon",
        "/foo/bar?baz=https%3a%2f%2ffoo.bar",
        false,
    ),
    ("User-agent: *\nDisallow: /foo/bar/ツ\n", "wonbon", "/foo/bar/%E3%83%84", false),
    ("User-agent: *\nDisallow: /foo/bar/%E3%83%84\n", "wonbon", "/foo/bar/%e3%83%84", false),
    ("User-agent: *\nDisallow: /foo/bar/%62%61%7A\n", "wonbon", "/foo/bar/baz", false),
    ("User-agent: *\nDisallow: /foo/bar/baz\n", "wonbon", "/foo/bar/%62%61%7A", false),
    // 2.2.3: special characters.
    (
        "User-agent: *\nAllow: /this/path/exactly$\nDisallow: /this\n",
        "wonbon",
        "/this/path/exactly",
        true,
    ),
    (
        "User-agent: *\nAllow: /this/path/exactly$\nDisallow: /this\n",
        "wonbon",
        "/this/path/exactly/not",
        false,
    ),
    ("User-agent: *\nDisallow: /this/*/exactly\n", "wonbon", "/this/a/b/exactly?q", false),
    ("User-agent: *\nDisallow: /x # a comment\n", "wonbon", "/x", false),
    // 5.1: the simple example.
    (
        "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n",
        "foobot",
        "/example/allowed.gif",
        true,
    ),
    (
        "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n",
        "foobot",
        "/publications/",
        false,
    ),
    (
        "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n",
        "any",
        "/publications/a.gif",
        true,
    ),
    (
        "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n",
        "any",
        "/a.gif",
        false,
    ),
    // 5.2: the longest match.
    (
        "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
        "foobot",
        "/example/page/disallowed.gif",
        false,
    ),
    (
        "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
        "foobot",
        "/example/page/",
        true,
    ),
];

/// What the RFC leaves to reading, and what servers send.
const FOUND: [Case; 31] = [
    // Ties go to allow, in either order.
    ("User-agent: *\nAllow: /p\nDisallow: /p\n", "wonbon", "/p", true),
    ("User-agent: *\nDisallow: /p\nAllow: /p\n", "wonbon", "/p", true),
    ("User-agent: *\nDisallow: /p*\nAllow: /p$\n", "wonbon", "/p", true),
    // An empty rule says nothing.
    ("User-agent: *\nDisallow:\n", "wonbon", "/", true),
    ("User-agent: *\nDisallow:\nDisallow: /x\n", "wonbon", "/x", false),
    ("User-agent: *\nAllow:\nDisallow: /\n", "wonbon", "/x", false),
    // Line ends of every kind, also mixed; a byte order mark; no end of the last line.
    ("User-agent: *\r\nDisallow: /x\r\n", "wonbon", "/x", false),
    ("User-agent: *\rDisallow: /x\r", "wonbon", "/x", false),
    ("\u{feff}User-agent: *\nDisallow: /x", "wonbon", "/x", false),
    // Spaces and case of keys.
    ("  USER-AGENT  :  *  \n\tdisallow :\t/x  \n", "wonbon", "/x", false),
    // Empty lines and unknown lines do not end a group, nor do they begin one.
    ("User-agent: wonbon\n\n\nDisallow: /x\n", "wonbon", "/x", false),
    ("User-agent: wonbon\nNoindex: /y\nDisallow: /x\n", "wonbon", "/x", false),
    (
        "User-agent: a\nSitemap: http://h/s.xml\nUser-agent: wonbon\nDisallow: /x\n",
        "a",
        "/x",
        false,
    ),
    // A crawl delay is no rule, so it does not end the agents of a group.
    ("User-agent: a\nCrawl-delay: 5\nUser-agent: wonbon\nDisallow: /x\n", "a", "/x", false),
    // Rules before any agent belong to nobody.
    ("Disallow: /x\nUser-agent: *\nDisallow: /y\n", "wonbon", "/x", true),
    // The product token ends before a version.
    ("User-agent: wonbon/1.0\nDisallow: /x\n", "wonbon", "/x", false),
    ("User-agent: wonbonbot\nDisallow: /x\n", "wonbon", "/x", true),
    ("User-agent: won\nDisallow: /x\n", "wonbon", "/x", true),
    ("User-agent: wonbon\nDisallow: /x\n", "Wonbon/0.1 (+http://example.org)", "/x", false),
    // %2F is not a slash, and %2A is not a star; a star in a path is a star.
    ("User-agent: *\nDisallow: /a%2Fb\n", "wonbon", "/a/b", true),
    ("User-agent: *\nDisallow: /a%2fb\n", "wonbon", "/a%2Fb", false),
    ("User-agent: *\nDisallow: /a%2A\n", "wonbon", "/abc", true),
    ("User-agent: *\nDisallow: /a%2A$\n", "wonbon", "/a%2a", false),
    // A dollar elsewhere is a dollar; an encoded one too.
    ("User-agent: *\nDisallow: /a$b\n", "wonbon", "/a$b", false),
    ("User-agent: *\nDisallow: /a$b\n", "wonbon", "/a", true),
    ("User-agent: *\nDisallow: /a%24\n", "wonbon", "/a", true),
    // Queries are part of the path.
    ("User-agent: *\nDisallow: /*?\n", "wonbon", "/list?page=2", false),
    ("User-agent: *\nDisallow: /*?\n", "wonbon", "/list", true),
    // A path is compared with its case.
    ("User-agent: *\nDisallow: /X\n", "wonbon", "/x", true),
    // The file itself is always allowed.
    ("User-agent: *\nDisallow: /\n", "wonbon", "/robots.txt", true),
    // Not a robots.txt at all.
    ("<!DOCTYPE html><html><body>Not: found</body></html>", "wonbon", "/x", true),
];

#[test]
fn the_examples_of_the_rfc_and_what_servers_send_are_answered_right() {
    for (file, agent, path, allowed) in EXAMPLES.into_iter().chain(FOUND) {
        let robots = Robots::parse(file.as_bytes(), agent);
        assert_eq!(robots.allows(path), allowed, "{agent} {path}\n{file}");
    }
}

#[test]
fn only_the_first_half_megabyte_counts() {
    let mut file = b"User-agent: *\nDisallow: /early\n".to_vec();
    file.resize(500 * 1024, b'#');
    file.extend_from_slice(b"\nDisallow: /late\n");
    let robots = Robots::parse(&file, "wonbon");
    assert!(!robots.allows("/early"));
    assert!(robots.allows("/late"));
}

#[test]
fn bytes_that_are_not_utf8_are_compared_encoded() {
    let robots = Robots::parse(b"User-agent: *\nDisallow: /\xbf\xf8\n", "wonbon");
    assert!(!robots.allows("/%bf%F8/x"));
    assert!(robots.allows("/%bf"));
}

#[test]
fn delays_are_bounded_and_sitemaps_belong_to_all() {
    let file = "Sitemap: https://example.org/a.xml\nUser-agent: wonbon\nCrawl-delay: 2.5\n\
        sitemap:/b.xml\nDisallow: /x\nUser-agent: *\nCrawl-delay: 99999\n";
    let named = Robots::parse(file.as_bytes(), "wonbon");
    assert_eq!(named.crawl_delay(), Some(Duration::from_millis(2500)));
    assert_eq!(named.sitemaps(), ["https://example.org/a.xml", "/b.xml"]);
    let other = Robots::parse(file.as_bytes(), "other");
    assert_eq!(other.crawl_delay(), Some(MAX_CRAWL_DELAY));
    assert_eq!(other.sitemaps().len(), 2);
    let many = "Sitemap: /s.xml\n".repeat(MAX_SITEMAPS + 1);
    assert_eq!(Robots::parse(many.as_bytes(), "wonbon").sitemaps().len(), MAX_SITEMAPS);
    for bad in ["-1", "nan", "inf", "1e999", "soon", ""] {
        let file = format!("User-agent: *\nCrawl-delay: {bad}\n");
        let delay = Robots::parse(file.as_bytes(), "wonbon").crawl_delay();
        assert!(delay.is_none_or(|delay| delay == MAX_CRAWL_DELAY), "{bad}: {delay:?}");
    }
}

#[test]
fn statuses_mean_what_section_2_3_1_says() {
    let expected = [
        (200, Answer::Rules),
        (204, Answer::Rules),
        (301, Answer::Redirect),
        (308, Answer::Redirect),
        (401, Answer::Unavailable),
        (403, Answer::Unavailable),
        (404, Answer::Unavailable),
        (410, Answer::Unavailable),
        (429, Answer::Unreachable),
        (500, Answer::Unreachable),
        (503, Answer::Unreachable),
        (100, Answer::Unreachable),
        (999, Answer::Unreachable),
    ];
    for (status, answer) in expected {
        assert_eq!(Answer::of_status(status), answer, "{status}");
    }
}

#[test]
fn while_the_server_fails_the_last_answer_holds_for_thirty_days() {
    let day = Duration::from_secs(24 * 60 * 60);
    let rules = Robots::parse(b"User-agent: *\nDisallow: /x\n", "wonbon");
    assert_eq!(while_unreachable(Some((&rules, 29 * day)), 28 * day), rules);
    assert!(!while_unreachable(None, 29 * day).allows("/"));
    assert!(!while_unreachable(Some((&rules, 31 * day)), 20 * day).allows("/"));
    assert!(while_unreachable(Some((&rules, 40 * day)), 31 * day).allows("/x"));
    assert_eq!(while_unreachable(Some((&rules, 30 * day)), 30 * day), rules);
    assert!(!while_unreachable(None, 30 * day).allows("/"), "for thirty days, not less");
    assert!(Robots::nothing().allows("/robots.txt"));
    assert!(!Robots::nothing().allows("/"));
    assert!(Robots::everything().allows("/"));
}

#[test]
fn a_thousand_stars_are_matched_in_linear_time() {
    // The naive matcher would not end: 2^1000 ways to place the stars.
    let pattern = format!("/{}b$", "*a".repeat(1000));
    let file = format!("User-agent: *\nDisallow: {pattern}\n");
    let robots = Robots::parse(file.as_bytes(), "wonbon");
    assert!(robots.allows(&format!("/{}", "a".repeat(100_000))));
    assert!(!robots.allows(&format!("/{}b", "a".repeat(100_000))));
}

#[test]
fn pages_say_what_is_to_be_done_with_their_links() {
    let of = |noindex, nofollow| Directives { noindex, nofollow };
    assert_eq!(Directives::of_meta("NoFollow, noindex"), of(true, true));
    assert_eq!(Directives::of_meta("none"), of(true, true));
    assert_eq!(Directives::of_meta("index,follow"), of(false, false));
    assert_eq!(Directives::of_meta("nofollowers"), of(false, false));
    let header = |value| Directives::of_header(value, "wonbon");
    assert_eq!(header("noindex, nofollow"), of(true, true));
    assert_eq!(header("otherbot: nofollow"), of(false, false));
    assert_eq!(header("wonbon: nofollow, noindex"), of(true, true));
    assert_eq!(header("noindex, otherbot: nofollow"), of(true, false));
    assert_eq!(header("unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"), of(false, true));
    assert_eq!(header("max-snippet:20, nofollow"), of(false, true));
    assert_eq!(of(true, false).or(of(false, true)), of(true, true));
}

#[test]
fn the_head_of_a_page_is_read_for_directives() {
    let of = |html: &str| Directives::of_page(html, "wonbon");
    let both = Directives { noindex: true, nofollow: true };
    assert_eq!(of("<html><head><meta name=robots content=none>"), both);
    assert_eq!(of("<META content='noindex, nofollow' NAME=\"Robots\" />"), both);
    assert_eq!(
        of("<meta name=\"wonbon\" content=\"nofollow\">"),
        Directives { noindex: false, nofollow: true }
    );
    assert_eq!(of("<meta name=otherbot content=nofollow>"), Directives::default());
    assert_eq!(of("<!-- <meta name=robots content=nofollow> -->"), Directives::default());
    assert_eq!(of("<script>'<meta name=robots content=nofollow>'</script>"), Directives::default());
    assert_eq!(of("<meta name=description content='robots, nofollow'>"), Directives::default());
    assert_eq!(of("<body><meta name=robots content=nofollow>"), Directives::default());
    // Behind what is passed over.
    for before in ["<script>a < b</script>", "<title></b></title>", "<!---->", "<!--a<!-->"] {
        assert_eq!(of(&format!("{before}<meta name=robots content=none>")), both, "{before}");
    }
    assert_eq!(of("<meta content='>, none' name=robots>"), both);
    // The end of what is looked at may stand within a character.
    let head = "<meta name=robots content=none>";
    for before in 0..3 {
        let page =
            format!("{head}{}{}", "x".repeat(before), "한".repeat(Directives::LOOK_BYTES / 3));
        assert_eq!(of(&page), both);
    }
    let beyond = format!("{}{head}", " ".repeat(Directives::LOOK_BYTES));
    assert_eq!(of(&beyond), Directives::default());
}

fn paths() -> impl Strategy<Value = String> {
    "/[ab/?=.]{0,12}"
}

fn patterns() -> impl Strategy<Value = String> {
    "(/|\\*)[ab/*?=.]{0,8}\\$?"
}

proptest! {
    #[test]
    fn a_pattern_matches_as_the_naive_matcher_says(pattern in patterns(), path in paths()) {
        prop_assert_eq!(Pattern::new(&pattern).matches(&path), oracle::matches(&pattern, &path));
    }

    #[test]
    fn rules_decide_as_the_rfc_says(
        rules in proptest::collection::vec((any::<bool>(), patterns()), 0..8),
        path in paths(),
    ) {
        let mut file = "User-agent: *\n".to_owned();
        for (allow, pattern) in &rules {
            file.push_str(&format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" }));
        }
        let rules: Vec<(bool, &str)> = rules.iter().map(|(a, p)| (*a, p.as_str())).collect();
        let robots = Robots::parse(file.as_bytes(), "wonbon");
        prop_assert_eq!(robots.allows(&path), oracle::allows(&rules, &path));
    }

    #[test]
    fn any_bytes_are_a_robots_txt(bytes in proptest::collection::vec(any::<u8>(), 0..500), path in paths()) {
        let robots = Robots::parse(&bytes, "wonbon");
        prop_assert_eq!(robots.allows(&path), Robots::parse(&bytes, "WONBON").allows(&path));
        prop_assert!(robots.allows("/robots.txt"));
    }
}
