//! The accessibility audit: axe-core's rules for WCAG 2 A and AA on every page, in both languages, light
//! and dark, wide and on a phone. Nothing may be found, however slight.
//!
//! Each language meets both schemes and both widths, and each scheme meets both widths; not every three of
//! them at once, which would take twice as long and differ in nothing that the rules look at.

use serde_json::{Value, json};

use crate::driver::{Browser, skipped, tools};
use crate::sample::{Served, fill};
use crate::table::PAGES;
use crate::{Servers, WIDTHS};

/// What is found on the page that is open, with everything opened that opens: which rule, how bad, where.
fn audit(browser: &Browser) -> Vec<Value> {
    let found = browser.run(
        "for (const part of document.querySelectorAll('details')) part.open = true;
         return axe.run(document, {
           runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']},
           resultTypes: ['violations'],
         }).then((found) => found.violations.map((one) => [one.id, one.impact, one.help,
           one.nodes.slice(0, 4).map((node) =>
             [node.target.join(' '), node.html.slice(0, 160), (node.any[0] || {}).message])]));",
    );
    found.as_array().unwrap().clone()
}

/// A browser in which axe-core is part of every page, if both are there.
fn auditor() -> Option<Browser> {
    let path = tools().0.join("axe.min.js");
    let Ok(axe) = std::fs::read_to_string(&path) else {
        skipped(&format!("there is no {}", path.display()));
        return None;
    };
    let browser = Browser::start()?;
    browser.chromium("Page.addScriptToEvaluateOnNewDocument", json!({"source": axe}));
    Some(browser)
}

fn every_page_passes(language: &str, schemes: [&str; 2]) {
    let Some(browser) = auditor() else { return };
    let servers = Servers::start();
    browser.speak(language);
    let mut all = Vec::new();
    for page in PAGES {
        browser.open(&servers.at(page));
        for ((width, height), scheme) in WIDTHS.into_iter().zip(schemes) {
            browser.resize(width, height);
            browser.prefer(scheme);
            for found in audit(&browser) {
                all.push(format!("{} {language} {width} {scheme}: {found}", page.name));
            }
        }
    }
    assert!(all.is_empty(), "{} findings:\n{}", all.len(), all.join("\n"));
}

#[test]
fn every_english_page_passes_the_audit() {
    every_page_passes("en", ["light", "dark"]);
}

#[test]
fn every_korean_page_passes_the_audit() {
    every_page_passes("ko", ["dark", "light"]);
}

#[test]
fn the_audit_finds_what_is_wrong() {
    let Some(browser) = auditor() else { return };
    let served = Served::start(false, fill);
    browser.open(&served.at("/status"));
    assert_eq!(audit(&browser), Vec::<Value>::new());
    browser.run(
        "document.querySelector('main').append(document.createElement('input'));
         document.querySelector('h1').style.color = '#ddd';",
    );
    let found: Vec<String> =
        audit(&browser).iter().map(|one| one[0].as_str().unwrap().to_owned()).collect();
    assert_eq!(found, ["color-contrast", "label"]);
}
