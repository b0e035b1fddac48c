//! A walk through all pages.

use serde_json::Value;

use crate::driver::Browser;
use crate::sample::{Served, fill};
use crate::table::PAGES;
use crate::{LANGUAGES, Servers, WIDTHS, assert_quiet, assert_whole};

#[test]
fn every_page_is_whole_in_both_languages_wide_and_on_a_phone() {
    let Some(browser) = Browser::start() else { return };
    let servers = Servers::start();
    for page in PAGES {
        let mut links = Vec::new();
        for language in LANGUAGES {
            browser.speak(language);
            browser.open(&servers.at(page));
            for (width, height) in WIDTHS {
                let told = format!("{} in {language} at {width}", page.name);
                browser.resize(width, height);
                assert_whole(&browser, width, &told);
                assert_fits(&browser, &told);
            }
            for selector in page.shows {
                assert!(browser.count(selector) > 0, "{}: no {selector}", page.name);
            }
            assert_eq!(browser.run("return document.documentElement.lang;"), language);
            assert_twin(&browser, page.twin, page.name);
            assert_quiet(&browser, page.name);
            links.push(browser.text("header nav ul"));
        }
        assert_ne!(links[0], links[1], "{}: one language", page.name);
    }
}

/// Nothing is cut off on the right but what can be scrolled.
fn assert_fits(browser: &Browser, told: &str) {
    let cut = browser.run(
        "const width = document.documentElement.clientWidth;
         return [...document.querySelectorAll('body *')]
           .filter((one) => !one.closest('.wide, .plot, svg')
             && one.getBoundingClientRect().right > width + 1)
           .map((one) => one.outerHTML.slice(0, 200));",
    );
    assert_eq!(cut, serde_json::json!([]), "{told}");
}

/// The JSON twin is linked where it says something, and is JSON.
fn assert_twin(browser: &Browser, expected: bool, name: &str) {
    let twin = browser.run(
        "const link = document.querySelector('footer a[rel=alternate]');
         if (!link) return null;
         return fetch(link.href).then(async (answer) =>
           [answer.status, answer.headers.get('content-type'), typeof (await answer.json())]);",
    );
    let told =
        if expected { serde_json::json!([200, "application/json", "object"]) } else { Value::Null };
    assert_eq!(twin, told, "{name}");
}

#[test]
fn every_page_is_there_without_script() {
    let Some(browser) = Browser::start() else { return };
    let servers = Servers::start();
    browser.let_scripts_run(false);
    browser.resize(1280, 900);
    for page in PAGES {
        browser.open(&servers.at(page));
        assert_whole(&browser, 1280, page.name);
        for selector in page.shows {
            assert!(browser.count(selector) > 0, "{}: no {selector}", page.name);
        }
        // A hint at keys would lie.
        let hints = browser.run(
            "return [...document.querySelectorAll('[data-keys]')].filter((hint) =>
               getComputedStyle(hint).display !== 'none').length;",
        );
        assert_eq!(hints, 0, "{}", page.name);
    }
    // Forms, and what opens in place, need none.
    browser.open(&servers.open.at("/search"));
    browser.find("input[name=q]").write("harbour");
    browser.find("form.ask button").follow();
    browser.wait_until("return location.search.includes('q=harbour');");
    let copy = browser.find(".results details .copies a");
    assert!(!copy.is_shown());
    browser.find(".results details summary").click();
    assert!(copy.is_shown(), "copies open in place");
    browser.open(&servers.open.at("/compare?a=travel/2&b=repost/2"));
    let same = browser.find(".beside .row.same:not(.names)");
    assert!(same.is_shown());
    browser.find(".only").click();
    assert!(!same.is_shown(), "only the differences");
}

#[test]
fn light_and_dark_look_the_same_by_choice_and_by_the_system() {
    let Some(browser) = Browser::start() else { return };
    let served = Served::start(false, fill);
    let colours = |address: &str| {
        browser.open(&served.at(address));
        browser.run(
            "const style = getComputedStyle(document.documentElement);
             const names = ['ground', 'card', 'ink', 'faint', 'line', 'bar', 'ins', 'del', 'moved',
               's0', 's1', 's2', 's3', 's4', 's5'];
             return [getComputedStyle(document.body).backgroundColor,
               ...names.map((name) => style.getPropertyValue('--' + name).trim())];",
        )
    };
    for (chosen, other) in [("light", "dark"), ("dark", "light")] {
        browser.open(&served.at("/"));
        browser.forget_cookies();
        browser.prefer(chosen);
        let by_system = colours("/status");
        browser.prefer(other);
        let by_choice = colours(&format!("/choose?scheme={chosen}&back=/status"));
        assert!(browser.address().ends_with("/status"));
        assert_eq!(by_system, by_choice, "{chosen}");
        let by_other = colours("/choose?scheme=auto&back=/status");
        assert_ne!(by_other, by_choice, "{other} by the system again");
    }
}
