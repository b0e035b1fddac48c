//! Crawls of a toy web: nobody is asked too soon.
//!
//! A server notes a request before it answers, and the crawl counts its delay from the end of the
//! answer, so the times the server notes can never be closer than the delay; no test here depends on
//! how fast the machine is.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use toy_web::{Asked, Reply, ToyHost, crawl, linking, network, plan, with_outcome};
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::progress::{Control, Unwatched};
use wonbon_crawl::records::Outcome;

#[test]
fn neither_a_host_nor_an_address_is_asked_within_its_delay() {
    const DELAY: Duration = Duration::from_millis(40);
    // Two names on one address, one name on another; all with robots.txt, redirects and sitemaps.
    let site = |asked: &Asked| {
        let own = format!("http://{}", asked.host);
        match asked.path.as_str() {
            "/robots.txt" => Reply::redirect(301, "/robots-2.txt"),
            "/robots-2.txt" => Reply::typed("text/plain", format!("Sitemap: {own}/map.xml")),
            "/map.xml" => Reply::typed(
                "application/xml",
                format!("<urlset><url><loc>{own}/mapped</loc></url></urlset>"),
            ),
            "/" => Reply::page(linking("home", (0..8).map(|page| format!("/{page}")))),
            "/3" => Reply::redirect(302, "/three"),
            _ => Reply::page(linking(&asked.path, ["/"])),
        }
    };
    let shared = TcpListener::bind("127.0.0.30:0").unwrap();
    let first = ToyHost::on("first.toy", shared, Arc::new(site));
    let mut second = ToyHost::start("second.toy", 31, site);
    let alone = ToyHost::start("alone.toy", 32, site);
    // The second name stands for the address of the first.
    let seeds =
        [first.url("/"), alone.url("/"), format!("http://second.toy:{}/", first.address.port())];
    second.address = first.address;
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&seeds);
    plan.pace.delay = DELAY;
    let summary = crawl(folder.path(), &plan, &[&first, &second, &alone]);
    assert_eq!(summary.stats.pages, 3 * 10);
    // Ten pages, a redirect, two for robots.txt, a sitemap, of each name.
    assert_eq!(first.paths().len(), 2 * 14);
    assert_eq!(alone.paths().len(), 14);
    assert!(first.shortest_gap().unwrap() >= DELAY);
    assert!(alone.shortest_gap().unwrap() >= DELAY);
    assert_eq!(first.connections.lock().unwrap().len(), 2, "connections are used again");
}

#[test]
fn a_crawl_delay_is_heeded() {
    let host = ToyHost::start("slow.toy", 2, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::typed("text/plain", "User-agent: *\nCrawl-delay: 0.2"),
        _ => Reply::page(linking(&asked.path, ["/a", "/b", "/c"])),
    });
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(crawl(folder.path(), &plan(&[host.url("/")]), &[&host]).stats.pages, 4);
    assert!(host.shortest_gap().unwrap() >= Duration::from_millis(200));
}

#[test]
fn who_says_later_is_asked_later_and_not_for_ever() {
    let asked_busy = AtomicU32::new(0);
    let asked_dated = AtomicU32::new(0);
    let host = ToyHost::start("busy.toy", 2, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking("home", ["/busy", "/dated", "/never"])),
        "/busy" if asked_busy.fetch_add(1, Ordering::SeqCst) == 0 => {
            Reply::status(429).with("Retry-After", "1")
        }
        "/dated" if asked_dated.fetch_add(1, Ordering::SeqCst) == 0 => {
            let later = SystemTime::now() + Duration::from_secs(3);
            Reply::status(503).with("Retry-After", &httpdate::fmt_http_date(later))
        }
        "/never" => Reply::status(503),
        _ => Reply::page(linking(&asked.path, ["/"])),
    });
    let folder = tempfile::tempdir().unwrap();
    crawl(folder.path(), &plan(&[host.url("/")]), &[&host]);
    assert_eq!(with_outcome(folder.path(), Outcome::Kept).len(), 3);
    assert_eq!(with_outcome(folder.path(), Outcome::ServerError), ["busy.toy/never"]);
    let asked = host.asked.lock().unwrap();
    let times = |path: &str| -> Vec<_> {
        asked.iter().filter(|asked| asked.path == path).map(|asked| asked.at).collect()
    };
    let (busy, dated, never) = (times("/busy"), times("/dated"), times("/never"));
    assert_eq!([busy.len(), dated.len(), never.len()], [2, 2, 3]);
    assert!(busy[1].duration_since(busy[0]) >= Duration::from_secs(1));
    // A date has whole seconds, so up to one of the three may be lost.
    assert!(dated[1].duration_since(dated[0]) >= Duration::from_millis(1900));
    let gaps: Vec<Duration> = never.windows(2).map(|two| two[1].duration_since(two[0])).collect();
    assert!(gaps[0] >= Duration::from_millis(20) && gaps[1] >= Duration::from_millis(40));
    // Nobody else of this host was asked while it rested.
    let between = asked.iter().filter(|asked| asked.at > busy[0] && asked.at < busy[1]).count();
    assert_eq!(between, 0);
}

#[test]
fn a_host_that_does_not_answer_does_not_hold_up_others() {
    let dead = ToyHost::start("dead.toy", 40, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        _ => Reply::Nothing,
    });
    let home = dead.url("/");
    let live = ToyHost::start("live.toy", 41, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        path => {
            let number: usize = path[1..].parse().unwrap_or(0);
            let links = [format!("{home}{number}"), format!("/{}", (number + 1).min(40))];
            Reply::page(linking(path, links))
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let summary = crawl(folder.path(), &plan(&[live.url("/")]), &[&live, &dead]);
    assert_eq!(summary.stats.pages, 41);
    let silent = with_outcome(folder.path(), Outcome::NoAnswer);
    assert_eq!(silent.len(), 41);
    // Eight pages three times each, and those that waited in line meanwhile.
    assert!(dead.paths().len() < 41 * 3, "{}", dead.paths().len());
}

#[test]
fn robots_txt_is_asked_about_the_address_as_it_is_in_the_link() {
    let robots = "User-agent: *\nDisallow: /*?utm_source=\n";
    let other = ToyHost::start("other.toy", 43, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::typed("text/plain", robots),
        path => Reply::page(linking(path, ["/"])),
    });
    let elsewhere = [other.url("/far?utm_source=x"), other.url("/near?fbclid=1")];
    let host = ToyHost::start("linked.toy", 42, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::typed("text/plain", robots),
        "/" => {
            let here = ["/a?utm_source=x", "/b?utm_source=x", "/c?utm_medium=y", "/moved", "/b"];
            Reply::page(linking("home", elsewhere.iter().map(String::as_str).chain(here)))
        }
        "/moved" => Reply::redirect(302, "/d?utm_source=x"),
        path => Reply::page(linking(path, ["/"])),
    });
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&[host.url("/")]);
    plan.pace.pages = Some(1);
    crawl(folder.path(), &plan, &[&host, &other]);
    // A crawl that is resumed knows from its log how pages were linked to.
    plan.pace.pages = None;
    let resumed = Crawl::resume(folder.path(), plan.clone()).unwrap();
    let fetcher = network(&plan, &[&host, &other]);
    resumed.run(fetcher, None, &Unwatched, &Control::default()).unwrap();
    assert_eq!(
        with_outcome(folder.path(), Outcome::Disallowed),
        ["linked.toy/a", "linked.toy/d", "other.toy/far"]
    );
    let mut asked = host.paths();
    asked.retain(|path| path != "/robots.txt");
    asked.sort();
    assert_eq!(asked, ["/", "/b", "/c", "/moved"]);
}
