//! Crawls of a toy web that was crawled before: the next sweep, an archive as the web, a sink.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use toy_web::{
    Asked, Reply, ToyHost, archived, crawl, crawl_into, linking, network, outcomes, plan, texts,
    with_outcome,
};
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::archive::Archive;
use wonbon_crawl::progress::{Control, Unwatched};
use wonbon_crawl::records::Outcome;
use wonbon_crawl::sink::{PageSink, SinkError, SinkPage, Ticket, Verdict};

/// Remembers what it was given; a page whose text was given before is a copy.
#[derive(Default)]
struct Remembering {
    pages: Mutex<HashMap<String, String>>,
    redirects: Mutex<Vec<(String, String)>>,
    /// The addresses in the order in which they came.
    order: Mutex<Vec<String>>,
}

impl PageSink for Remembering {
    fn page(&self, page: &SinkPage<'_>) -> Result<Ticket, SinkError> {
        let mut pages = self.pages.lock().unwrap();
        let is_copy = pages.values().any(|text| text == page.text);
        pages.insert(page.address.to_owned(), page.text.to_owned());
        self.order.lock().unwrap().push(page.address.to_owned());
        Ok(Box::new(move || Ok(if is_copy { Verdict::Copy } else { Verdict::Original })))
    }

    fn redirect(&self, from: &str, to: &str) -> Result<Ticket, SinkError> {
        self.redirects.lock().unwrap().push((from.to_owned(), to.to_owned()));
        Ok(Box::new(|| Ok(Verdict::Neither)))
    }
}

fn sweep(directory: &Path, before: &Path, host: &ToyHost, sink: Option<Arc<dyn PageSink>>) -> u64 {
    let plan = plan(&[host.url("/")]);
    let crawl = Crawl::begin(directory, plan.clone(), Some(before)).unwrap();
    let summary = crawl.run(network(&plan, &[host]), sink, &Unwatched, &Control::default());
    summary.unwrap().stats.pages
}

#[test]
fn the_next_sweeps_ask_only_for_what_changed() {
    let version = Arc::new(AtomicU32::new(1));
    let current = version.clone();
    let host = ToyHost::start("sweep.toy", 2, move |asked: &Asked| {
        let version = current.load(Ordering::SeqCst);
        let matches = |tag: &str| asked.fields.get("if-none-match").is_some_and(|got| got == tag);
        let dated = "Mon, 16 Nov 2026 06:00:00 GMT";
        match asked.path.as_str() {
            "/robots.txt" => Reply::status(404),
            "/" if matches("\"home\"") => Reply::status(304).with("ETag", "\"home\""),
            "/" => {
                let page = linking("home", ["/dated", "/changing", "/plain", "/same"]);
                Reply::page(page).with("ETag", "\"home\"")
            }
            "/dated" if asked.fields.get("if-modified-since").is_some_and(|got| got == dated) => {
                Reply::status(304)
            }
            "/dated" => {
                Reply::page(linking("dated", ["/under-dated"])).with("Last-Modified", dated)
            }
            "/changing" => {
                let tag = format!("\"v{version}\"");
                if matches(&tag) {
                    return Reply::status(304).with("ETag", &tag);
                }
                Reply::page(linking(&format!("changing {version}"), ["/"])).with("ETag", &tag)
            }
            "/same" if matches("\"same\"") => Reply::status(304),
            // The same body as the page below it, with a tag of its own.
            "/same" => Reply::page(linking("/plain", ["/"])).with("ETag", "\"same\""),
            path => Reply::page(linking(path, ["/"])),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let [first, second, third] = ["1", "2", "3"].map(|name| folder.path().join(name));
    let all = crawl(&first, &plan(&[host.url("/")]), &[&host]).stats.pages;
    assert_eq!(all, 6);
    version.store(2, Ordering::SeqCst);
    let sink = Arc::new(Remembering::default());
    assert_eq!(sweep(&second, &first, &host, Some(sink.clone())), 6);
    let unchanged = ["sweep.toy/", "sweep.toy/dated", "sweep.toy/same"];
    assert_eq!(with_outcome(&second, Outcome::NotModified), unchanged);
    assert_eq!(sink.pages.lock().unwrap().len(), 6, "unchanged pages are handed on too");
    assert!(sink.pages.lock().unwrap()[&host.url("/dated")].contains("dated says"));
    let records = archived(&second);
    assert_eq!(records.iter().filter(|(kind, _)| kind == "revisit").count(), 3);
    // The sweep after that finds the bodies two sweeps back.
    let sink = Arc::new(Remembering::default());
    assert_eq!(sweep(&third, &second, &host, Some(sink.clone())), 6);
    let mut unchanged = unchanged.to_vec();
    unchanged.insert(1, "sweep.toy/changing");
    assert_eq!(with_outcome(&third, Outcome::NotModified), unchanged);
    assert_eq!(sink.pages.lock().unwrap().len(), 6);
    archived(&third);
}

#[test]
fn an_archive_is_crawled_as_the_web_it_was() {
    let host = ToyHost::start("was.toy", 2, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::typed("text/plain", "User-agent: *\nDisallow: /no"),
        "/" => Reply::page(linking("home", ["/a", "/moved", "/no", "/gone", "/twin", "/packed"])),
        "/moved" => Reply::redirect(301, "/b"),
        "/twin" | "/a" => Reply::page(linking("a", ["/"])),
        "/gone" => Reply::status(410),
        "/packed" => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut out, linking("packed", ["/deep"]).as_bytes()).unwrap();
            Reply::page(out.finish().unwrap()).with("Content-Encoding", "gzip")
        }
        path => Reply::page(linking(path, ["/"])),
    });
    let folder = tempfile::tempdir().unwrap();
    let (live, replayed) = (folder.path().join("live"), folder.path().join("replayed"));
    let plan = plan(&[host.url("/")]);
    crawl(&live, &plan, &[&host]);
    let asked = host.paths().len();
    let files = vec![live.join("archive/crawl-00000.warc.gz")];
    let replay = |files: &[PathBuf], directory: &Path| {
        let archive = Arc::new(Archive::open(files, 64 << 20).unwrap());
        let crawl = Crawl::begin(directory, plan.clone(), None).unwrap();
        crawl.run(archive, None, &Unwatched, &Control::default()).unwrap()
    };
    replay(&files, &replayed);
    assert_eq!(outcomes(&replayed), outcomes(&live));
    assert_eq!(texts(&replayed).len(), texts(&live).len());
    assert_eq!(host.paths().len(), asked, "nobody was asked");
    // And the archive of the replay is one too.
    let again = folder.path().join("again");
    replay(&[replayed.join("archive/crawl-00000.warc.gz")], &again);
    assert_eq!(outcomes(&again), outcomes(&live));
    // A file that was cut says so.
    let whole = std::fs::read(&files[0]).unwrap();
    let cut = folder.path().join("cut.warc.gz");
    for length in (1..whole.len()).step_by(7) {
        std::fs::write(&cut, &whole[..length]).unwrap();
        match Archive::open(std::slice::from_ref(&cut), 64 << 20) {
            // Between two records nobody can see that a file was longer.
            Ok(_) => assert!(whole[length..].starts_with(&[0x1f, 0x8b, 8]), "cut at {length}"),
            Err(error) => assert!(error.to_string().contains("cut.warc.gz"), "{error}"),
        }
    }
}

#[test]
fn sites_that_only_copy_go_behind_and_redirects_are_handed_on() {
    let text = |number: usize| format!("<p>The story number {number} of a long series.</p>");
    let copying = ToyHost::start("copies.toy", 80, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking("copies", (0..20).map(|page| format!("/{page}")))),
        _ => Reply::page(text(0)),
    });
    let own = ToyHost::start("own.toy", 81, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking("own", (0..20).map(|page| format!("/{page}")))),
        "/7" => Reply::redirect(302, "/seven"),
        path => {
            let page = Reply::page(text(path[1..].parse().unwrap_or(77)));
            Reply::After(std::time::Duration::from_millis(10), Box::new(page))
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&[copying.url("/"), own.url("/")]);
    plan.params.order = "bfs".to_owned();
    plan.params.site = wonbon_crawl::graph::SiteRule::Host;
    plan.params.skip_copies = Some(3);
    plan.pace.concurrency = 1;
    plan.pace.commit_every = std::time::Duration::from_millis(1);
    let sink = Arc::new(Remembering::default());
    let summary = crawl_into(folder.path(), &plan, &[&copying, &own], Some(sink.clone()));
    assert_eq!(summary.stats.pages, 42);
    assert_eq!(summary.stats.copies + summary.stats.originals, 42);
    let redirects = sink.redirects.lock().unwrap();
    assert_eq!(*redirects, [(own.url("/7"), own.url("/seven"))]);
    // In the order of a breadth-first crawl all copies would have come first.
    let order = sink.order.lock().unwrap();
    let last_own = order.iter().rposition(|address| address.contains("own.toy")).unwrap();
    let before = order[..last_own].iter().filter(|address| address.contains("copies.toy")).count();
    assert!(before < 21, "{before} pages of the copying site came before the last of the other");
    assert!(order[last_own..].len() > 1, "pages behind came last");
}
