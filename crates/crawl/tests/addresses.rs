//! Canonical forms, scope and traps.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use proptest::prelude::*;
use url::Url;
use wonbon_crawl::canonical::{NotAnAddress, Rules};
use wonbon_crawl::scope::{OutOfScope, Scope, domain_of, path_and_query};
use wonbon_crawl::traps::{Limits, Trap, Traps};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn addresses_of_one_page_have_one_form() {
    let same = [
        ("HTTP://Example.ORG:80/a/../b/./c#top", "http://example.org/b/c"),
        ("https://example.org:443", "https://example.org/"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("http://me:secret@example.org/", "http://example.org/"),
        ("http://example.org./x", "http://example.org/x"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org/?&a=1&&b=2&", "http://example.org/?a=1&b=2"),
        ("http://example.org/?b=2&a=1", "http://example.org/?b=2&a=1"),
        ("http://example.org/?a=&b", "http://example.org/?a=&b"),
        ("http://example.org/p?utm_source=x&id=3&UTM_Campaign=y", "http://example.org/p?id=3"),
        ("http://example.org/p?fbclid=x", "http://example.org/p"),
        ("http://example.org/p?%75tm_source=x", "http://example.org/p"),
        ("http://example.org/p;jsessionid=0A1B?x=1", "http://example.org/p?x=1"),
        ("http://example.org/p;JSESSIONID=0A1B/q;v=1", "http://example.org/p/q;v=1"),
        ("http://example.org/p?PHPSESSID=1&x=1", "http://example.org/p?x=1"),
        ("http://example.org/a/..;jsessionid=1/b", "http://example.org/b"),
        ("http://example.org/%7Eme/%e2%82%ac%2f", "http://example.org/~me/%E2%82%AC%2F"),
        ("http://example.org/€ 1", "http://example.org/%E2%82%AC%201"),
        ("http://example.org/100%", "http://example.org/100%"),
        ("http://example.org/%%61a", "http://example.org/%%61a"),
        ("http://원본.한국/", "http://xn--sn3b13p.xn--3e0b707e/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        (" http://exa\nmple.org/ ", "http://example.org/"),
    ];
    for (reference, expected) in same {
        assert_eq!(Rules::default().canonical(None, reference).unwrap().as_str(), expected);
    }
}

#[test]
fn references_are_resolved_against_their_page() {
    let base = url("http://example.org/a/b?c#d");
    let resolve = |reference| Rules::default().canonical(Some(&base), reference);
    for (reference, expected) in [
        ("", "http://example.org/a/b?c"),
        ("#x", "http://example.org/a/b?c"),
        ("?y", "http://example.org/a/b?y"),
        ("x", "http://example.org/a/x"),
        ("/x", "http://example.org/x"),
        ("//other.example/x", "http://other.example/x"),
        ("../../../x", "http://example.org/x"),
    ] {
        assert_eq!(resolve(reference).unwrap().as_str(), expected);
    }
    for reference in ["mailto:a@example.org", "javascript:void(0)", "data:text/html,x", "ftp://a/"]
    {
        assert!(matches!(resolve(reference), Err(NotAnAddress::OtherScheme { .. })), "{reference}");
    }
    assert!(matches!(resolve("http://"), Err(NotAnAddress::NotAUrl(_))));
    assert!(resolve("http://..../").is_err());
}

#[test]
fn rules_are_what_is_given() {
    let rules = Rules::new(["ref", "x_*"], ["sid"]);
    let form = |reference| rules.canonical(None, reference).unwrap().to_string();
    assert_eq!(
        form("http://a.example/?ref=1&utm_source=2&x_y=3&sid=4"),
        "http://a.example/?utm_source=2"
    );
    assert_eq!(form("http://a.example/b;sid=1"), "http://a.example/b");
    let all = "http://a.example/b;jsessionid=1?utm_source=2";
    assert_eq!(Rules::keep_parameters().canonical(None, all).unwrap().as_str(), all);
}

/// References with everything in them that has a meaning somewhere.
fn references() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("http://".to_owned()),
        Just("https://example.org".to_owned()),
        Just("//".to_owned()),
        Just(";jsessionid=".to_owned()),
        Just("utm_source=".to_owned()),
        Just("&".to_owned()),
        Just("?".to_owned()),
        Just("/".to_owned()),
        Just("..".to_owned()),
        Just("%2e".to_owned()),
        Just("%2F".to_owned()),
        Just("%".to_owned()),
        Just("@".to_owned()),
        Just(":".to_owned()),
        Just("\\".to_owned()),
        Just("#".to_owned()),
        "%[0-9a-fA-F]{2}",
        "[a-z0-9.]{1,4}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_canonical_form_of_a_canonical_form_is_itself(reference in references()) {
        let rules = Rules::default();
        let base = url("http://example.org/a/b?c");
        for base in [None, Some(&base)] {
            if let Ok(first) = rules.canonical(base, &reference) {
                let again = rules.canonical(None, first.as_str()).unwrap();
                prop_assert_eq!(again.as_str(), first.as_str());
                prop_assert_eq!(first.fragment(), None);
                prop_assert_eq!((first.username(), first.password()), ("", None));
                prop_assert_eq!(Url::parse(first.as_str()).unwrap(), first);
            }
        }
    }

    #[test]
    fn percent_encoding_of_letters_changes_nothing(path in "[a-zA-Z0-9_~-]{1,8}", at in any::<proptest::sample::Index>()) {
        let at = at.index(path.len());
        let encoded = format!("{}%{:02x}{}", &path[..at], path.as_bytes()[at], &path[at + 1..]);
        let form = |path: &str| Rules::default().canonical(None, &format!("http://a.example/{path}?{path}"));
        prop_assert_eq!(form(&path), form(&encoded));
    }
}

#[test]
fn a_scope_holds_the_domains_of_its_seeds() {
    let seeds = [url("http://www.example.co.kr/x"), url("http://127.0.0.1:8080/")];
    let scope = Scope::of_seeds(&seeds);
    for inside in [
        "http://example.co.kr/",
        "https://a.b.example.co.kr/",
        "http://127.0.0.1/",
        "http://127.0.0.1:9/",
    ] {
        assert_eq!(scope.check(&url(inside), 0), Ok(()), "{inside}");
    }
    for outside in ["http://other.co.kr/", "http://notexample.co.kr/", "http://127.0.0.2/"] {
        assert!(matches!(scope.check(&url(outside), 0), Err(OutOfScope::Host { .. })), "{outside}");
    }
    let hosts = Scope::hosts_of_seeds(&seeds);
    assert!(hosts.check(&url("http://www.example.co.kr/"), 0).is_ok());
    assert!(hosts.check(&url("http://example.co.kr/"), 0).is_err());
    assert!(Scope::of_seeds(&[]).check(&url("http://example.org/"), 0).is_err());
    assert!(Scope::everything().check(&url("http://example.org/"), 1000).is_ok());
}

#[test]
fn private_suffixes_are_sites_of_their_own() {
    let scope = Scope::of_seeds(&[url("http://me.github.io/")]);
    assert!(scope.check(&url("http://you.github.io/"), 0).is_err());
    assert_eq!(domain_of(&url("http://a.me.github.io/")).as_deref(), Some("me.github.io"));
    assert_eq!(domain_of(&url("http://[::1]/")), None);
}

#[test]
fn patterns_and_depth_narrow_a_scope() {
    let scope = Scope::everything()
        .domain("원본.한국")
        .include("/docs/")
        .include("/*.html$")
        .exclude("/docs/old")
        .max_depth(2);
    let check = |text, depth| scope.check(&url(text), depth);
    assert_eq!(check("http://www.원본.한국/docs/a", 2), Ok(()));
    assert_eq!(check("http://원본.한국/a.html", 0), Ok(()));
    assert!(matches!(check("http://원본.한국/a.html?x", 0), Err(OutOfScope::NotIncluded { .. })));
    assert!(matches!(check("http://원본.한국/docs/older", 0), Err(OutOfScope::Excluded { .. })));
    assert_eq!(check("http://원본.한국/docs/", 3), Err(OutOfScope::Depth { depth: 3, limit: 2 }));
    assert_eq!(path_and_query(&url("http://a.example?x#y")), "/?x");
    // Either kind of pattern by itself.
    let only = Scope::everything().include("/docs/");
    assert!(only.check(&url("http://a.example/x"), 0).is_err());
    assert!(only.check(&url("http://a.example/docs/x"), 0).is_ok());
    let without = Scope::everything().exclude("/docs/");
    assert!(without.check(&url("http://a.example/x"), 0).is_ok());
    assert!(without.check(&url("http://a.example/docs/x"), 0).is_err());
}

#[test]
fn what_cannot_be_a_page_for_readers_is_a_trap() {
    let check = |text: &str| Traps::new(Limits::default()).check(&url(text), 0);
    let base = "http://a.example/";
    assert!(matches!(check(&format!("{base}{}", "x".repeat(3000))), Err(Trap::Long { .. })));
    let deep: String = (0..30).map(|n| format!("s{n}/")).collect();
    assert!(matches!(check(&format!("{base}{deep}")), Err(Trap::Deep { .. })));
    let many: String = (0..20).map(|n| format!("p{n}=1&")).collect();
    assert!(matches!(check(&format!("{base}?{many}")), Err(Trap::Parameters { .. })));
    for repeated in ["x/x/x", "a/b/a/b/a/b", "q/a/b/c/a/b/c/a/b/c", "x/x/x/y", "a/b/a/b/a/b/"] {
        let trap = check(&format!("{base}{repeated}"));
        assert!(matches!(trap, Err(Trap::Repeats { times: 3, .. })), "{repeated}: {trap:?}");
    }
    for fine in ["x/x", "a/b/a/b", "2011/11/11", "a/b/a/c/a/d", "", "en/docs/en/docs/index"] {
        assert_eq!(check(&format!("{base}{fine}")), Ok(()), "{fine}");
    }
}

#[test]
fn an_endless_calendar_ends_and_articles_go_on() {
    let limits = Limits { per_calendar: 50, ..Limits::default() };
    let mut traps = Traps::new(limits);
    let mut months = 0;
    for month in 0..5000 {
        let (year, month) = (1900 + month / 12, month % 12 + 1);
        months += u32::from(
            traps.check(&url(&format!("http://a.example/calendar/{year}/{month:02}")), 0).is_ok(),
        );
        let query = format!("http://a.example/events?year={year}&month={month}&view=list");
        let _ = traps.check(&url(&query), 0);
    }
    assert_eq!(months, 50);
    assert_eq!(traps.pages_of(0), 100);
    // Addresses with numbers that are no dates are not counted with them.
    for article in 0..2000 {
        let text = format!("http://a.example/2024/05/{}.html", 100_000 + article);
        assert_eq!(traps.check(&url(&text), 0), Ok(()));
    }
    // What is encoded holds no numbers: each of these is another word.
    for word in 0..500_u32 {
        let word: String = char::from_u32(0xac00 + word).unwrap().to_string();
        assert_eq!(traps.check(&url(&format!("http://a.example/위키/{word}")), 0), Ok(()));
    }
    // Another site has its own.
    assert_eq!(traps.check(&url("http://b.example/calendar/2024/01"), 1), Ok(()));
}

#[test]
fn a_calendar_is_found_among_many_other_shapes() {
    // The table holds 64 shapes; ten thousand others come between.
    let limits = Limits { per_calendar: 50, shapes: 64, ..Limits::default() };
    let mut traps = Traps::new(limits);
    let mut months = 0;
    let mut checked = 0;
    for step in 0..10_000 {
        let (year, month) = (1900 + step / 12 % 200, step % 12 + 1);
        let calendar = url(&format!("http://a.example/cal?y={year}&m={month}"));
        months += u32::from(traps.check(&calendar, 0).is_ok());
        let word: String = format!("{step}").bytes().map(|b| char::from(b + 49)).collect();
        assert_eq!(traps.check(&url(&format!("http://a.example/{word}1")), 0), Ok(()));
        checked += 2;
    }
    assert!(months >= 50, "{months}");
    assert!(months <= 50 + checked / 65, "{months}");
}

#[test]
fn a_site_has_its_budget() {
    let limits = Limits { pages_per_site: 3, ..Limits::default() };
    let mut traps = Traps::new(limits);
    let page = |name: &str| url(&format!("http://a.example/{name}"));
    for name in ["a", "b", "c"] {
        assert_eq!(traps.check(&page(name), 7), Ok(()));
    }
    assert_eq!(traps.check(&page("d"), 7), Err(Trap::SiteBudget { limit: 3 }));
    assert_eq!(traps.check(&page("d"), 8), Ok(()));
    assert_eq!((traps.pages_of(7), traps.pages_of(8)), (3, 1));
}

proptest! {
    #[test]
    fn the_same_calls_give_the_same_answers(
        calls in proptest::collection::vec(("[ab]/[0-9]{1,3}(/x){0,3}", 0..3_u32), 0..200),
    ) {
        let limits = Limits { per_counter: 5, per_calendar: 3, shapes: 4, pages_per_site: 40, ..Limits::default() };
        let run = || {
            let mut traps = Traps::new(limits.clone());
            let answers: Vec<_> = calls
                .iter()
                .map(|(path, site)| traps.check(&url(&format!("http://h/{path}")), *site))
                .collect();
            answers
        };
        prop_assert_eq!(run(), run());
    }
}
