//! Graphs out of files, made-up webs, and virtual crawls on them.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "clippy sees no test in what tests call"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use wonbon_crawl::graph::generate::{Web, WebConfig};
use wonbon_crawl::graph::pagerank::{PageRankConfig, pagerank};
use wonbon_crawl::graph::{Graph, Reading, SiteRule};
use wonbon_crawl::order::{ORDER_NAMES, OrderName};
use wonbon_crawl::virtual_crawl::plot::{Curve, svg};
use wonbon_crawl::virtual_crawl::{Plan, Point, crawl, curve, marks, reachable, share_of};
use wonbon_time::Timestamp;

const URLS: &str =
    "http://a.example/\nhttp://www.a.example/1\nHTTP://B.example:80/\nhttp://c.example\n";
const EDGES: &str = "0\t1\n0\t2\n1\t0\n2\t3\n";

fn folder(urls: &str, edges: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("urls.txt"), urls).unwrap();
    fs::write(folder.path().join("edges.tsv"), edges).unwrap();
    folder
}

fn links(graph: &Graph) -> Vec<Vec<u32>> {
    (0..graph.pages()).map(|page| graph.links(page).to_vec()).collect()
}

fn read(path: &Path) -> Graph {
    Graph::read(path, &Reading::default(), &()).unwrap().graph
}

fn error(path: &Path) -> String {
    let error = Graph::read(path, &Reading::default(), &()).unwrap_err();
    error.to_string().replace(path.to_str().unwrap(), "DIR")
}

#[test]
fn a_directory_of_addresses_and_links_is_a_graph() {
    let folder = folder(URLS, EDGES);
    let graph = read(folder.path());
    assert_eq!(links(&graph), [vec![1, 2], vec![0], vec![3], vec![]]);
    assert_eq!((graph.pages(), graph.link_count(), graph.sites()), (4, 4, 3));
    assert_eq!(graph.site(0), graph.site(1));
    let by_host = Reading { site: SiteRule::Host, ..Reading::default() };
    assert_eq!(Graph::read(folder.path(), &by_host, &()).unwrap().graph.sites(), 4);
}

#[test]
fn wanted_pages_are_found_by_address_or_number() {
    let folder = folder(URLS, EDGES);
    let wanted = ["http://c.example", "1", "http://nowhere.example/", "9", "1"].map(str::to_owned);
    let reading = Reading { wanted: wanted.to_vec(), ..Reading::default() };
    let found = Graph::read(folder.path(), &reading, &()).unwrap().found;
    assert_eq!(found, [Some(3), Some(1), None, None, Some(1)]);
}

#[test]
fn links_in_any_order_make_the_same_graph_and_repeated_ones_are_left_out() {
    let folder = folder(URLS, "2 3\r\n# a remark\n\n0\t1\n1\t0\n0\t1\n0\t0\n0\t2");
    let read = Graph::read(folder.path(), &Reading::default(), &()).unwrap();
    assert_eq!(links(&read.graph), [vec![1, 2], vec![0], vec![3], vec![]]);
    assert_eq!(read.left_out, 2);
}

#[test]
fn compressed_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("urls.txt.gz")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gzip.write_all(URLS.as_bytes()).unwrap();
    gzip.finish().unwrap();
    let packed = zstd::encode_all(EDGES.as_bytes(), 1).unwrap();
    fs::write(folder.path().join("edges.tsv.zst"), packed).unwrap();
    assert_eq!(read(folder.path()).link_count(), 4);
}

#[test]
fn bad_input_is_refused_by_file_and_line() {
    for (urls, edges, expected) in [
        (URLS, "0\t1\n0 x\n", "DIR/edges.tsv:2 is not two page numbers with a tab between them"),
        (URLS, "0\t1\n01", "DIR/edges.tsv:2 is not two page numbers with a tab between them"),
        (URLS, "-1\t2\n", "DIR/edges.tsv:1 is not two page numbers with a tab between them"),
        (
            URLS,
            "0\t99999999999999999999\n",
            "DIR/edges.tsv:1 is not two page numbers with a tab between them",
        ),
        (URLS, "0\t1\n4\t0\n", "DIR/edges.tsv:2 names page 4, but there are 4 pages"),
        (
            "http://a.example/\n\n",
            "",
            "DIR/urls.txt:2 is not an address with a host, such as https://host.example/page",
        ),
        (
            "a.example\n",
            "",
            "DIR/urls.txt:1 is not an address with a host, such as https://host.example/page",
        ),
    ] {
        assert_eq!(error(folder(urls, edges).path()), expected);
    }
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(error(empty.path()), "DIR has no urls.txt (nor urls.txt.gz or urls.txt.zst)");
    let nothing = empty.path().join("nothing");
    assert!(error(&nothing).starts_with("DIR is no graph: neither a directory"));
    fs::write(empty.path().join("urls.txt"), URLS).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(EDGES.as_bytes()).unwrap();
    let packed = gzip.finish().unwrap();
    fs::write(empty.path().join("edges.tsv.gz"), &packed[..packed.len() - 9]).unwrap();
    assert!(error(empty.path()).contains("edges.tsv.gz is not whole"), "{}", error(empty.path()));
}

#[test]
fn archived_pages_and_the_links_between_them_are_a_graph() {
    let folder = tempfile::tempdir().unwrap();
    let html = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let moved = b"HTTP/1.1 301 Moved\r\nLocation: /there#x\r\n\r\n";
    let date = Timestamp::from_milliseconds(1_700_000_000_000);
    let write = |name: &str, records: &[(&str, &[u8], &str)]| {
        let mut writer = wonbon_warc::Writer::new(Vec::new(), 7);
        for (target, head, body) in records {
            let record = wonbon_warc::Record::response(target, date, head, body.as_bytes());
            writer.write(&record).unwrap();
        }
        let bytes = writer.get_ref().clone();
        fs::write(folder.path().join(name), &bytes).unwrap();
        bytes
    };
    write(
        "1.warc.gz",
        &[
            (
                "http://a.example/",
                html,
                "<a href='/old'>o</a> <a href='http://b.example/'>b</a> <a href='/never'>n</a>",
            ),
            ("http://a.example/old", moved, ""),
        ],
    );
    let second = write(
        "2.warc.gz",
        &[
            ("http://a.example/there", html, "<a href='/'>home</a>"),
            ("http://b.example/", html, "<p>an end"),
        ],
    );
    let wanted = vec!["http://b.example/".to_owned()];
    let reading = Reading { wanted, ..Reading::default() };
    let read = Graph::read(folder.path(), &reading, &()).unwrap();
    assert_eq!(links(&read.graph), [vec![1, 3], vec![2], vec![0], vec![]]);
    assert_eq!((read.graph.sites(), &read.found[..]), (2, &[Some(3)][..]));
    fs::write(folder.path().join("2.warc.gz"), &second[..second.len() - 40]).unwrap();
    assert_eq!(error(folder.path()), "DIR/2.warc.gz cannot be read as a WARC");
}

#[test]
fn the_directory_of_a_crawl_has_its_graph_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let graph = folder.path().join("graph");
    fs::create_dir(&graph).unwrap();
    fs::write(graph.join("urls.txt"), URLS).unwrap();
    fs::write(graph.join("edges.tsv"), EDGES).unwrap();
    assert_eq!(read(folder.path()).link_count(), 4);
}

/// A small web of many sites.
fn web() -> WebConfig {
    WebConfig { pages: 5000, seed: 3, ..WebConfig::default() }
}

#[test]
fn a_made_up_web_is_the_same_bytes_and_reads_back_as_the_same_graph() {
    let once = tempfile::tempdir().unwrap();
    let again = tempfile::tempdir().unwrap();
    let web = Web::new(web());
    let written = web.write(once.path(), &()).unwrap();
    web.write(again.path(), &()).unwrap();
    for file in ["urls.txt", "edges.tsv"] {
        let bytes = |folder: &Path| fs::read(folder.join(file)).unwrap();
        assert_eq!(bytes(once.path()), bytes(again.path()), "{file}");
    }
    let (graph, read) = (web.graph(), read(once.path()));
    assert_eq!(links(&graph), links(&read));
    assert_eq!(
        (read.pages(), read.link_count(), read.sites()),
        (5000, written, web.sites() as u32)
    );
    assert!((0..5000).all(|page| graph.site(page) == read.site(page)));
}

#[test]
fn another_seed_makes_another_web() {
    let other = Web::new(WebConfig { seed: 4, ..web() }).graph();
    assert_ne!(links(&Web::new(web()).graph()), links(&other));
}

#[test]
fn webs_of_any_size_and_shape_can_be_made() {
    for pages in [1, 2, 3, 100] {
        let config = WebConfig {
            template_links: 0,
            inner_links: 0.0,
            external_links: 0.0,
            directories: 1,
            ..web()
        };
        assert_eq!(Web::new(WebConfig { pages, ..config }).graph().pages(), pages);
        assert_eq!(Web::new(WebConfig { pages, ..web() }).graph().pages(), pages);
    }
}

#[test]
fn all_orderings_gather_the_same_in_the_end() {
    let graph = Web::new(web()).graph();
    let (ranks, _) = pagerank(&graph, &PageRankConfig::default(), &());
    let plan = Plan { seeds: graph.portals(), ..Plan::default() };
    let all = reachable(&graph, &plan.seeds, &ranks);
    let marks = marks(all.pages, &[share_of(all.pages, 10)]);
    assert!(all.pages > 4000, "{all:?}");
    for name in ORDER_NAMES {
        let (points, crawled) = curve(&graph, &mut *name.build(1), &plan, &ranks, &marks, |_| {});
        assert_eq!((crawled.pages, crawled.links), (all.pages, all.links), "{name}");
        let last = points.last().unwrap();
        assert_eq!((last.pages, last.sites, last.turns), (all.pages, all.sites, all.pages.into()));
        assert!((last.pagerank - all.pagerank).abs() < 1e-9, "{name}");
        let at: Vec<u32> = points.iter().map(|point| point.pages).collect();
        assert_eq!(at, marks, "{name}");
    }
}

#[test]
fn popular_pages_come_early_by_the_orderings_that_look_for_them() {
    let graph = Web::new(WebConfig { pages: 50_000, ..web() }).graph();
    let (ranks, _) = pagerank(&graph, &PageRankConfig::default(), &());
    let plan = Plan { seeds: graph.portals(), ..Plan::default() };
    let all = reachable(&graph, &plan.seeds, &ranks);
    let tenth = share_of(all.pages, 10);
    let share = |name: OrderName| {
        let (points, _) = curve(&graph, &mut *name.build(1), &plan, &ranks, &[tenth], |_| {});
        points[0].pagerank / all.pagerank
    };
    let by_chance = share(OrderName::Generic);
    for name in [OrderName::Mcs, OrderName::Opic, OrderName::Damped, OrderName::PageRank] {
        assert!(share(name) > by_chance + 0.05, "{name}: {} and {by_chance}", share(name));
    }
}

#[test]
fn a_crawl_can_stop_early() {
    let graph = Web::new(web()).graph();
    let plan = Plan { seeds: graph.portals(), pages: Some(7), ..Plan::default() };
    let mut fetched = Vec::new();
    let crawled = crawl(&graph, &mut *OrderName::Bfs.build(0), &plan, |page, _| fetched.push(page));
    assert_eq!((crawled.pages, fetched.len()), (7, 7));
    assert_eq!(fetched[..3], plan.seeds);
}

#[test]
fn no_site_is_asked_twice_within_the_gap_and_every_page_still_comes() {
    let graph = Web::new(web()).graph();
    let ranks = vec![0.0; graph.pages() as usize];
    for gap in [0, 1, 2, 10, 100] {
        for name in ORDER_NAMES {
            let plan = Plan { seeds: graph.portals(), gap, ..Plan::default() };
            let mut asked = vec![None; graph.sites() as usize];
            let mut last = 0;
            let crawled = crawl(&graph, &mut *name.build(1), &plan, |page, turn| {
                assert!(turn > last);
                last = turn;
                let before = asked[graph.site(page) as usize].replace(turn);
                assert!(before.is_none_or(|before: u64| turn - before >= u64::from(gap)));
            });
            assert_eq!(crawled.pages, reachable(&graph, &plan.seeds, &ranks).pages);
            assert_eq!(last, u64::from(crawled.pages) + crawled.idle);
            assert_eq!(crawled.parked > 0, gap > 1, "{name} {gap} {crawled:?}");
            assert!(if gap > 1 { gap < 100 || crawled.idle > 0 } else { crawled.idle == 0 });
        }
    }
}

#[test]
fn one_site_with_a_gap_waits_between_all_its_pages() {
    let graph = Graph::new(&[vec![1, 2], vec![], vec![]], vec![0, 0, 0]);
    let plan = Plan { seeds: vec![0], gap: 5, ..Plan::default() };
    let mut turns = Vec::new();
    let crawled = crawl(&graph, &mut *OrderName::Bfs.build(0), &plan, |_, turn| turns.push(turn));
    assert_eq!(turns, [1, 6, 11]);
    assert_eq!((crawled.idle, crawled.parked), (8, 2));
}

#[test]
fn marks_have_the_powers_the_end_and_what_was_asked_for() {
    let marks = marks(123_456, &[1234, 99_999_999]);
    for mark in [1, 2, 4, 65_536, 10, 100_000, 1234, 123_456] {
        assert!(marks.contains(&mark), "{mark}");
    }
    assert!((1000..1100).contains(&marks.len()));
    assert!(marks.is_sorted() && marks.last() == Some(&123_456));
    assert_eq!(wonbon_crawl::virtual_crawl::marks(0, &[10]), Vec::<u32>::new());
    assert_eq!(wonbon_crawl::virtual_crawl::marks(1, &[10]), [1]);
}

#[test]
fn a_plot_names_every_ordering_and_escapes_it() {
    let points = vec![Point { pages: 10, pagerank: 0.5, sites: 3, turns: 10 }];
    let curves =
        ["bfs", "<mcs>"].map(|name| Curve { name: name.to_owned(), points: points.clone() });
    let plot = svg(&curves).into_string();
    assert!(plot.starts_with("<svg xmlns") && plot.ends_with("</svg>\n"));
    assert!(plot.contains(">bfs<") && plot.contains("&lt;mcs&gt;") && !plot.contains("<mcs>"));
    assert!(plot.contains("cumulative PageRank") && plot.contains("number of sites"));
    assert!(svg(&[]).0.ends_with("</svg>\n"));
}

fn webkb() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/web");
    let archive = shared.join("webkb-graph.tar.zst");
    if archive.is_file() {
        return Some(archive);
    }
    println!("skipped: {} is not beside this checkout", archive.display());
    None
}

/// The files of a tar archive, as far as this one needs it.
fn unpack(archive: &Path, folder: &Path) {
    let tar = zstd::decode_all(fs::File::open(archive).unwrap()).unwrap();
    let mut rest = &tar[..];
    while rest.len() > 512 && rest[0] != 0 {
        let text = |range: std::ops::Range<usize>| {
            std::str::from_utf8(&rest[range]).unwrap().trim_matches(['\0', ' ']).to_owned()
        };
        let (name, size) = (text(0..100), usize::from_str_radix(&text(124..136), 8).unwrap());
        if rest[156] == b'0' || rest[156] == 0 {
            let name = Path::new(&name).file_name().unwrap().to_owned();
            fs::write(folder.join(name), &rest[512..512 + size]).unwrap();
        }
        rest = &rest[512 + size.div_ceil(512) * 512..];
    }
}

#[test]
fn webkb_from_its_four_departments_gives_the_known_shares() {
    let Some(archive) = webkb() else { return };
    let folder = tempfile::tempdir().unwrap();
    unpack(&archive, folder.path());
    let departments = ["cornell", "utexas", "washington", "wisc"];
    let reading = Reading {
        site: SiteRule::Host,
        wanted: departments.map(|name| format!("http://www.cs.{name}.edu")).to_vec(),
    };
    let read = Graph::read(folder.path(), &reading, &()).unwrap();
    let graph = read.graph;
    assert_eq!((graph.pages(), graph.link_count(), graph.sites()), (8192, 15_818, 608));
    let seeds: Vec<u32> = read.found.into_iter().map(Option::unwrap).collect();
    let (ranks, _) = pagerank(&graph, &PageRankConfig::default(), &());
    let all = reachable(&graph, &seeds, &ranks);
    assert_eq!((all.pages, all.sites), (4568, 243));
    let plan = Plan { seeds, ..Plan::default() };
    let tenth = share_of(all.pages, 10);
    // What each gathers in the first tenth, as counted by a program written apart from this one.
    for (name, pagerank, sites) in [
        (OrderName::Bfs, 0.190, 0.132),
        (OrderName::Mcs, 0.193, 0.156),
        (OrderName::Opic, 0.217, 0.165),
        (OrderName::Damped, 0.195, 0.160),
        (OrderName::DampedAll, 0.277, 0.453),
    ] {
        let (points, _) = curve(&graph, &mut *name.build(1), &plan, &ranks, &[tenth], |_| {});
        let found =
            (points[0].pagerank / all.pagerank, f64::from(points[0].sites) / f64::from(all.sites));
        assert!((found.0 - pagerank).abs() < 0.002, "{name}: {found:?}");
        assert!((found.1 - sites).abs() < 0.005, "{name}: {found:?}");
    }
}
