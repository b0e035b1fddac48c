//! What people do on the pages, step by step, in both languages.

use crate::driver::Browser;
use crate::sample::{Served, fill, sentences};
use crate::{LANGUAGES, assert_quiet};

/// The key that WebDriver calls Tab, and Enter.
const TAB: &str = "\u{E004}";
const ENTER: &str = "\u{E007}";

/// A browser at a filled service, in one language after the other.
pub(crate) fn in_both_languages(flow: impl Fn(&Browser, &Served)) {
    let Some(browser) = Browser::start() else { return };
    let served = Served::start(false, fill);
    browser.resize(1280, 900);
    for language in LANGUAGES {
        browser.speak(language);
        flow(&browser, &served);
        assert_eq!(browser.run("return document.documentElement.lang;"), language);
        assert_quiet(&browser, language);
    }
}

#[test]
fn the_box_takes_a_key_an_address_a_text_or_words() {
    in_both_languages(|browser, served| {
        let put = |text: &str, leads_to: &str| {
            browser.open(&served.at("/"));
            browser.find("#q").write(text);
            browser.find("form.box button").follow();
            browser.wait_until(&format!("return location.pathname === '{leads_to}';"));
        };
        put("travel/2", "/document");
        assert!(browser.text(".body").contains("bridge"));
        put("https://town.example/old", "/document");
        put("https://nobody.example/page", "/moved");
        put("three bridges", "/search");
        assert_eq!(
            browser.run("return document.querySelector('input[name=q]').value;"),
            "three bridges"
        );
        let text = sentences(10);
        put(&text, "/go");
        assert!(browser.text(".sources").contains("Page stays"));
        assert!(browser.count(".marked mark") > 0);
    });
}

#[test]
fn results_open_their_copies_in_place_and_are_filtered() {
    in_both_languages(|browser, served| {
        browser.open(&served.at("/search?q=harbour"));
        let before = browser.count(".results > li");
        let copy = browser.find(".results details .copies a");
        assert!(!copy.is_shown());
        browser.find(".results details summary").click();
        assert!(copy.is_shown());
        assert!(browser.address().ends_with("/search?q=harbour"), "nothing was left");
        browser.find("input[name=site]").write("mirror0.example");
        browser.find("form.ask button").follow();
        browser.wait_until("return location.search.includes('site=mirror0');");
        assert_eq!(browser.count(".results > li"), 1);
        assert!(before > 1);
        browser.find(".results h2 a").follow();
        browser.wait_until("return location.pathname === '/document';");
        // From a copy to the comparison with its original, and back to both.
        browser.open(&served.at("/search?q=harbour&site=mirror0.example"));
        browser.find(".results details summary").click();
        browser.find(".results .copies small a").follow();
        browser.wait_until("return location.pathname === '/compare';");
        assert_eq!(browser.count("p.side a"), 2);
    });
}

#[test]
fn differences_are_stepped_through_by_keys_and_shown_alone() {
    in_both_languages(|browser, served| {
        browser.open(
            &served.at("/compare?a=https://town.example/stays&b=https://town.example/changes"),
        );
        let rows = browser.count(".beside .row:not(.same):not(.names)");
        assert!(rows > 0);
        let at = || {
            browser.run(
                "return [...document.querySelectorAll('.beside .row:not(.same):not(.names)')]
                   .indexOf(document.activeElement);",
            )
        };
        assert!(browser.find("[data-keys]").is_shown());
        browser.press("n");
        assert_eq!(at(), 0);
        browser.press("p");
        assert_eq!(at(), rows - 1, "from the first back to the last");
        browser.press("n");
        assert_eq!(at(), 0);
        browser.press("/");
        assert_eq!(browser.run("return document.activeElement.name;"), "a");
        browser.press("n");
        assert_eq!(
            browser.run("const at = document.activeElement; return at.value !== at.defaultValue;"),
            true,
            "what is typed into a field is typed"
        );
        browser.open(&served.at("/compare?a=travel/2&b=repost/2"));
        let same = browser.find(".beside .row.same:not(.names)");
        browser.find(".only").click();
        assert!(!same.is_shown());
        browser.find(".only").click();
        assert!(same.is_shown());
        // An address that can be shared: written into the form, it is the same page.
        let address = browser.address();
        browser.find("form.ask button").follow();
        let question = "return new URLSearchParams(location.search).get('b');";
        assert_eq!(browser.run(question), "repost/2", "{address}");
    });
}

#[test]
fn a_text_is_asked_about() {
    in_both_languages(|browser, served| {
        browser.open(&served.at("/ask"));
        let text = format!("{} And nobody ever wrote this end before.", sentences(11));
        browser.find("#text").write(&text);
        browser.find("form.box button").follow();
        browser.wait_until("return document.querySelector('.marked') !== null;");
        assert!(browser.text(".marked").contains("nobody ever wrote"));
        assert!(!browser.text(".marked mark").contains("nobody ever wrote"));
        assert_eq!(browser.run("return document.querySelector('#text').value;"), text);
    });
}

#[test]
fn documents_are_watched_and_watched_no_more() {
    in_both_languages(|browser, served| {
        browser.open(&served.at("/watch"));
        let before = browser.count("main section");
        browser.find("input[name=key]").write("travel/2");
        browser.find("form.ask button").follow();
        browser.wait_until(&format!(
            "return document.querySelectorAll('main section').length === {};",
            before + 1
        ));
        let end = "return [...document.querySelectorAll('main section')].findIndex((section) =>
            section.querySelector('h2 a').href.includes('travel'));";
        let place = browser.run(end).as_u64().unwrap() + 1;
        browser.find(&format!("main section:nth-of-type({place}) button.quiet")).follow();
        browser.wait_until(&format!(
            "return document.querySelectorAll('main section').length === {before};"
        ));
        // What is not there is a problem on a page that leads on.
        browser.find("input[name=key]").write("nobody");
        browser.find("form.ask button").follow();
        assert_eq!(browser.text("main p:not(.lead) code"), "unknown_document");
        assert!(browser.count("header nav a") > 5);
    });
}

#[test]
fn families_lead_to_their_documents_and_go_on() {
    in_both_languages(|browser, served| {
        browser.open(&served.at("/families"));
        browser.find("table a").follow();
        browser.wait_until("return location.pathname === '/family';");
        let first = browser.text("table");
        browser.find("a[rel=next]").follow();
        browser.wait_until("return location.search.includes('cursor=');");
        assert_ne!(browser.text("table"), first);
        browser.find("table td:last-child a").follow();
        browser.wait_until("return location.pathname === '/compare';");
        browser.open(&served.at("/moved?key=https://town.example/old"));
        assert!(browser.text("main").contains("https://city.example/new"));
        browser.open(&served.at("/copies"));
        browser.find("input[name=key]").write("https://town.example/watched");
        browser.find("form.ask button").follow();
        browser.wait_until("return document.querySelector('h2[role=status]') !== null;");
        assert!(browser.text("main").contains("follower.example"));
    });
}

#[test]
fn language_and_scheme_are_chosen_and_stay() {
    let Some(browser) = Browser::start() else { return };
    let served = Served::start(false, fill);
    browser.speak("en");
    browser.open(&served.at("/search?q=harbour"));
    browser.find(".choices a[lang=ko]").follow();
    browser.wait_until("return document.documentElement.lang === 'ko';");
    assert!(browser.address().ends_with("/search?q=harbour"), "{}", browser.address());
    browser.find(".choices a[href*='scheme=dark']").follow();
    browser.wait_until("return document.documentElement.className === 'dark';");
    browser.open(&served.at("/families"));
    let seen = "return [document.documentElement.lang, document.documentElement.className];";
    assert_eq!(browser.run(seen), serde_json::json!(["ko", "dark"]));
    browser.find(".choices a[lang=en]").follow();
    browser.wait_until("return document.documentElement.lang === 'en';");
    browser.find(".choices a[href*='scheme=auto']").follow();
    browser.wait_until("return document.documentElement.className === '';");
    assert_quiet(&browser, "choices");
}

#[test]
fn a_keyboard_gets_to_the_content_first() {
    let Some(browser) = Browser::start() else { return };
    let served = Served::start(false, fill);
    browser.open(&served.at("/families"));
    browser.press(TAB);
    assert_eq!(browser.run("return document.activeElement.className;"), "skip");
    browser.press(ENTER);
    assert_eq!(browser.run("return document.activeElement.id;"), "main");
    browser.press(TAB);
    assert_eq!(browser.run("return document.activeElement.closest('main') !== null;"), true);
}

#[test]
fn signing_in_and_out() {
    let Some(browser) = Browser::start() else { return };
    let served = Served::start(true, |_| ());
    for language in LANGUAGES {
        browser.speak(language);
        browser.open(&served.at("/"));
        assert_eq!(browser.text("main p:not(.lead) code"), "token_needed");
        browser.find("a.button[href='/login']").follow();
        browser.find("input[type=password]").write("wonbon_wrong");
        browser.find("form.ask button").follow();
        assert_eq!(browser.text("main p:not(.lead) code"), "token_unknown");
        browser.open(&served.at("/login"));
        browser.find("input[type=password]").write(&served.token);
        browser.find("form.ask button").follow();
        browser.wait_until("return location.pathname === '/';");
        assert_eq!(browser.count("form.box"), 1);
        let cookies = browser.run("return document.cookie;");
        assert_eq!(cookies, "", "no script sees the token");
        browser.find(".choices a[href='/login']").follow();
        browser.find("main form button").follow();
        assert_eq!(browser.text("main p:not(.lead) code"), "token_needed");
        assert_quiet(&browser, language);
    }
}
