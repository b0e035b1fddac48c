//! Jobs and crawls as people start, watch and stop them, with script and without.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::driver::Browser;
use crate::flows::in_both_languages;
use crate::sample::{Served, sentences};
use crate::web::{KNOWN, PAGES, Web};

/// Says that the page is the one that was loaded: what changes on it changes in place.
fn keep(browser: &Browser) {
    browser.run("window.kept = true;");
}

fn assert_kept(browser: &Browser) {
    assert_eq!(browser.run("return window.kept === true;"), true, "the page was loaded again");
}

/// Waits until a job is in a state, as the page shows it.
fn wait_for(browser: &Browser, state: &str) {
    browser.wait_until(&format!(
        "return document.querySelector('#job-state .state.{state}') !== null;"
    ));
}

/// Waits until the page shows something, by loading it again: as people do without script.
fn reload_until(browser: &Browser, script: &str) {
    let begun = Instant::now();
    while browser.run(script) != Value::Bool(true) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never came to {script}");
        std::thread::sleep(Duration::from_millis(100));
        browser.open(&browser.address());
    }
}

/// The rows of the first table that a selector finds, cell by cell.
fn rows(browser: &Browser, selector: &str) -> Vec<Vec<String>> {
    let rows = browser.run(&format!(
        "return [...document.querySelector('{selector}').rows].map((row) =>
           [...row.cells].map((cell) => cell.innerText.trim()));"
    ));
    serde_json::from_value(rows).unwrap()
}

/// A problem's page says in one sentence what was wrong and names it, and leads on.
fn assert_refused(browser: &Browser, code: &str, about: &str) {
    assert_eq!(browser.text("main p:not(.lead) code"), code);
    assert_eq!(browser.count("main p.lead"), 1);
    let sentence = browser.text("main p.lead");
    assert!(sentence.contains(about), "{sentence}");
    assert!(!sentence.contains('\n') && sentence.len() < 200, "{sentence}");
    assert!(browser.count("header nav a") > 5);
}

/// Fills the form of jobs and sends it.
fn send_job(browser: &Browser, served: &Served, kind: &str, inputs: &str, fields: &[(&str, &str)]) {
    browser.open(&served.at("/jobs"));
    browser.find(&format!("select[name=kind] option[value={kind}]")).click();
    browser.find("textarea[name=inputs]").write(inputs);
    for (name, value) in fields {
        browser.find(&format!("form.start input[name={name}]")).write(value);
    }
    browser.find("form.start button").follow();
}

/// Starts a job by the form and waits on its page until it is done; its counts by their names.
fn done(
    browser: &Browser,
    served: &Served,
    kind: &str,
    inputs: &str,
    fields: &[(&str, &str)],
) -> Vec<Vec<String>> {
    send_job(browser, served, kind, inputs, fields);
    browser.wait_until("return location.pathname === '/job';");
    keep(browser);
    wait_for(browser, "done");
    assert_kept(browser);
    assert_eq!(browser.count("form.change"), 0, "nothing can be done about what is done");
    rows(browser, "#job-progress section table")
}

/// Thirty documents as JSON lines, every third of which copies the one before, and a line that is none.
fn corpus(served: &Served, name: &str, first: u64) {
    let mut lines = String::from("this is no JSON\n");
    for number in 0..30 {
        let about = first + if number % 3 == 2 { number - 1 } else { number };
        let text = sentences(about);
        let id = format!("{name}/{number}");
        lines.push_str(&format!("{}\n", json!({"id": id, "created": number, "text": text})));
    }
    served.put(name, &lines);
}

#[test]
fn files_are_imported_deduplicated_and_clustered() {
    in_both_languages(|browser, served| {
        browser.open(&served.at("/jobs"));
        let language = browser.run("return document.documentElement.lang;");
        let (file, first, names) = match language.as_str().unwrap() {
            "en" => ("posts-en.jsonl", 1000, ["documents", "copies", "refused", "families"]),
            _ => ("posts-ko.jsonl", 2000, ["문서", "사본", "거부됨", "묶음"]),
        };
        corpus(served, file, first);
        let [documents, copies, refused, families] = names;
        let has = |counts: &[Vec<String>], name: &str, count: &str| {
            assert!(
                counts.contains(&vec![name.to_owned(), count.to_owned()]),
                "{name}: {counts:?}"
            );
        };
        let counts = done(browser, served, "import", file, &[]);
        has(&counts, documents, "30");
        has(&counts, copies, "10");
        has(&counts, refused, "1");
        // Every document is there, with its verdict.
        browser.open(&served.at(&format!("/document?key={file}/5")));
        assert_eq!(browser.count(".verdict .kind.copy"), 1);

        let counts = done(browser, served, "dedup", file, &[("threshold", "0.9")]);
        has(&counts, documents, "30");
        has(&counts, families, "10");
        let asked = rows(browser, "main > section:last-of-type table");
        assert!(asked.contains(&vec!["threshold".to_owned(), "0.9".to_owned()]), "{asked:?}");
        let counts = done(browser, served, "cluster", file, &[]);
        has(&counts, documents, "30");

        // The list has them all, the latest first, and leads to them.
        browser.open(&served.at("/jobs"));
        let list = rows(browser, "#job-list table");
        let about: Vec<&str> = list[1..4].iter().map(|row| row[3].as_str()).collect();
        assert_eq!(about, [file; 3]);
        assert_eq!(browser.count("#job-list .state.done"), list.len() - 1);
        browser.find("#job-list table a").follow();
        browser.wait_until("return location.pathname === '/job';");
        assert_eq!(browser.count("#job-state .state.done"), 1);
    });
}

#[test]
fn a_wrong_form_is_refused_in_one_sentence() {
    in_both_languages(|browser, served| {
        served.put("good.jsonl", "{}\n");
        for (kind, inputs, field, code, about) in [
            ("import", "nothing.jsonl", None, "bad_input", "nothing.jsonl"),
            ("import", "../secret", None, "bad_input", "../secret"),
            ("import", " ", None, "bad_input", "inputs"),
            ("import", "good.jsonl", Some(("sweep", "soon")), "bad_parameter", "soon"),
            ("dedup", "good.jsonl", Some(("threshold", "high")), "bad_parameter", "high"),
            ("cluster", "good.jsonl", Some(("threshold", "7")), "bad_parameter", "7"),
        ] {
            send_job(browser, served, kind, inputs, field.as_slice());
            assert_refused(browser, code, about);
        }
        for (seeds, fields, code, about) in [
            ("http://10.0.0.1/", None, "forbidden_address", "10.0.0.1"),
            ("http://127.0.0.9:1/", None, "forbidden_address", "127.0.0.9"),
            ("ftp://a.example/", None, "bad_parameter", "ftp://a.example/"),
            ("http://127.0.0.1:1/", Some(("sweep_of", "999")), "unknown_job", "999"),
            ("http://127.0.0.1:1/", Some(("include", "/x")), "bad_parameter", "scope"),
        ] {
            send_crawl(browser, served, seeds, "bfs", fields.as_slice());
            assert_refused(browser, code, about);
        }
        // Nothing was started by any of it.
        browser.open(&served.at("/jobs"));
        assert_eq!(browser.count("#job-list table"), 0);
    });
}

/// Fills the form of crawls and sends it.
fn send_crawl(
    browser: &Browser,
    served: &Served,
    seeds: &str,
    order: &str,
    fields: &[(&str, &str)],
) {
    browser.open(&served.at("/crawl"));
    browser.find("textarea[name=seeds]").write(seeds);
    browser.find(&format!("select[name=order] option[value={order}]")).click();
    let delay = browser.find("input[name=delay]");
    delay.clear();
    delay.write("0");
    for (name, value) in fields {
        browser.find(&format!("form.start input[name={name}]")).write(value);
    }
    browser.find("form.start button").follow();
}

fn start_crawl(browser: &Browser, served: &Served, web: &Web, order: &str) {
    send_crawl(browser, served, &web.seed(), order, &[]);
    browser.wait_until("return location.search.startsWith('?number=');");
}

/// Whether so many pages came, as the first card says.
fn has_pages(pages: u64) -> String {
    format!("return document.querySelector('#job-progress .card b').textContent === '{pages}';")
}

/// What a finished crawl of the web shows.
fn assert_crawled(browser: &Browser) {
    let card = |at: u32| browser.text(&format!("#job-progress .card:nth-child({at})"));
    let (pages, copies, errors) = (card(1), card(5), card(6));
    assert!(pages.starts_with(&PAGES.to_string()) && pages.contains(&KNOWN.to_string()), "{pages}");
    assert!(copies.starts_with('5'), "{copies}");
    assert!(errors.starts_with('2'), "{errors}");
    assert_eq!(browser.count("#job-progress .plot svg"), 2, "PageRank and sites over pages");
    let all = browser.text("#job-progress");
    for part in ["127.0.0.1", "PageRank", "status 500"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert_eq!(browser.count("form.change"), 0);
}

#[test]
fn a_crawl_is_watched_paused_resumed_and_cancelled() {
    in_both_languages(|browser, served| {
        let web = Web::start();
        web.let_through(8);
        start_crawl(browser, served, &web, "bfs");
        // Counters move by themselves.
        keep(browser);
        browser.wait_until(&has_pages(8));
        wait_for(browser, "running");
        browser.run("document.querySelector('#job-state button[value=pause]').focus();");
        web.let_through(8);
        browser.wait_until(&has_pages(16));
        assert_kept(browser);
        assert_eq!(
            browser.run("return document.activeElement.value;"),
            "pause",
            "it is still there"
        );
        assert_eq!(browser.count("#job-progress .plot svg"), 2);
        assert!(browser.text("#job-progress").contains("127.0.0.1"), "the host");
        // The request that is under way is finished, and no more.
        web.wait_until_asked();
        browser.find("#job-state button[value=pause]").follow();
        browser.wait_until(
            "return document.querySelector('#job-state button[value=pause]') === null;",
        );
        keep(browser);
        web.open();
        wait_for(browser, "paused");
        browser.wait_until(&has_pages(17));
        assert_kept(browser);
        browser.find("#job-state button[value=resume]").follow();
        wait_for(browser, "done");
        assert_crawled(browser);

        // Another, cancelled while it waits for an answer.
        web.shut();
        start_crawl(browser, served, &web, "mcs");
        wait_for(browser, "running");
        web.wait_until_asked();
        browser.find("#job-state button[value=cancel]").follow();
        wait_for(browser, "cancelled");
        assert_eq!(browser.count("#job-state button"), 1);
        web.open();
        browser.find("#job-state button[value=resume]").follow();
        wait_for(browser, "done");
        let number = browser.run("return new URLSearchParams(location.search).get('number');");
        let twin = browser.run(&format!(
            "return fetch('/crawl.json?number={}').then((answer) => answer.json());",
            number.as_str().unwrap()
        ));
        assert_eq!((&twin["state"], &twin["resumed"]), (&json!("done"), &json!(1)), "{twin}");
        assert_eq!(twin["progress"]["counts"]["pages"], PAGES);
        // Both are listed, and the list was kept up to date too.
        let list = browser.count("#job-list tr") - 1;
        assert!(list >= 2);
        browser.wait_until(&format!(
            "return document.querySelectorAll('#job-list .state.done').length === {list};"
        ));
    });
}

#[test]
fn a_crawl_is_watched_paused_and_resumed_without_script() {
    in_both_languages(|browser, served| {
        browser.let_scripts_run(false);
        let web = Web::start();
        web.let_through(8);
        start_crawl(browser, served, &web, "bfs");
        reload_until(browser, &has_pages(8));
        web.let_through(8);
        reload_until(browser, &has_pages(16));
        web.wait_until_asked();
        browser.find("#job-state button[value=pause]").follow();
        // The service has heard it; only then the request that is under way may end.
        let heard = "return document.querySelector('#job-state button[value=pause]') === null;";
        reload_until(browser, heard);
        web.open();
        let is = |state: &str| {
            format!("return document.querySelector('#job-state .state.{state}') !== null;")
        };
        reload_until(browser, &is("paused"));
        browser.find("#job-state button[value=resume]").follow();
        reload_until(browser, &is("done"));
        assert_crawled(browser);
        web.shut();
        start_crawl(browser, served, &web, "bfs");
        reload_until(browser, &is("running"));
        browser.find("#job-state button[value=cancel]").follow();
        reload_until(browser, &is("cancelled"));
        browser.let_scripts_run(true);
    });
}
