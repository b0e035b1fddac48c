//! Crawls of a toy web: which pages are found, and what becomes of the others.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use toy_web::{Reply, ToyHost, archived, crawl, linking, outcomes, plan, texts, with_outcome};
use wonbon_crawl::progress::Ended;
use wonbon_crawl::records::Outcome;

#[test]
fn a_small_site_is_crawled_whole_and_everything_is_written() {
    let host = ToyHost::start("small.toy", 2, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking("home", ["/a", "/b?utm_source=x", "/a#top", "/c"])),
        "/a" => Reply::page(linking("a", ["/", "/b"])),
        "/b" => Reply::Chunked(linking("b", ["/missing", "mailto:x@y"]).into_bytes()),
        "/c" => Reply::redirect(301, "/d"),
        "/d" => Reply::page(linking("a", ["/", "/b"])),
        _ => Reply::status(404),
    });
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&[host.url("/")]);
    let summary = crawl(folder.path(), &plan, &[&host]);
    assert_eq!(summary.ended, Ended::Exhausted);
    let expected = [
        ("small.toy/", Outcome::Kept),
        ("small.toy/a", Outcome::Kept),
        ("small.toy/b", Outcome::Kept),
        ("small.toy/c", Outcome::Redirect),
        ("small.toy/d", Outcome::SameBody),
        ("small.toy/missing", Outcome::ServerError),
    ];
    assert_eq!(outcomes(folder.path()), expected.map(|(path, got)| (path.to_owned(), got)));
    assert_eq!(summary.stats.pages, 4);
    let mut asked = host.paths();
    assert_eq!(asked[0], "/robots.txt");
    asked.sort();
    assert_eq!(asked, ["/", "/a", "/b", "/c", "/d", "/missing", "/robots.txt"]);
    let records = archived(folder.path());
    let kinds = |kind: &str| records.iter().filter(|(got, _)| got == kind).count();
    assert_eq!([kinds("response"), kinds("request"), kinds("revisit")], [6, 7, 1]);
    let texts = texts(folder.path());
    assert_eq!(texts.len(), 3);
    assert!(texts[0]["text"].as_str().unwrap().contains("The page home says"));
    assert_eq!(with_outcome(folder.path(), Outcome::Redirect), ["small.toy/c"]);
}

/// The paths of a tree of pages in which every page also links to pages far away.
fn tree_page(number: usize, pages: usize, path: impl Fn(usize) -> String) -> String {
    let far = [number * 7 + 3, number * 31 + 11, number / 2];
    let near = [2 * number + 1, 2 * number + 2];
    let targets = near.into_iter().filter(|&to| to < pages).chain(far.map(|to| to % pages));
    linking(&format!("page {number}"), targets.map(path))
}

#[test]
fn ten_thousand_pages_on_five_hosts_are_each_asked_for_once() {
    const PAGES: usize = 10_000;
    let listeners: Vec<std::net::TcpListener> = (0..5)
        .map(|host| std::net::TcpListener::bind(format!("127.0.0.{}:0", 10 + host)).unwrap())
        .collect();
    let ports: Vec<u16> =
        listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    let path = {
        let ports = ports.clone();
        move |number: usize| format!("http://h{}.toy:{}/p/{number}", number % 5, ports[number % 5])
    };
    let hosts: Vec<ToyHost> = listeners
        .into_iter()
        .enumerate()
        .map(|(host, listener)| {
            let path = path.clone();
            let site = move |asked: &toy_web::Asked| {
                let number = asked.path.strip_prefix("/p/").and_then(|text| text.parse().ok());
                match number {
                    Some(number) if number < PAGES => Reply::page(tree_page(number, PAGES, &path)),
                    _ => Reply::status(404),
                }
            };
            ToyHost::on(&format!("h{host}.toy"), listener, std::sync::Arc::new(site))
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&[path(0)]);
    let hosts: Vec<&ToyHost> = hosts.iter().collect();
    let summary = crawl(folder.path(), &plan, &hosts);
    assert_eq!((summary.stats.pages, summary.stats.known), (10_000, 10_000));
    let mut expected: Vec<String> =
        (0..PAGES).map(|number| format!("h{}.toy/p/{number}", number % 5)).collect();
    expected.sort();
    assert_eq!(with_outcome(folder.path(), Outcome::Kept), expected);
    for host in hosts {
        let mut asked = host.paths();
        let count = asked.len();
        asked.sort();
        asked.dedup();
        assert_eq!(asked.len(), count);
    }
    wonbon_crawl::link_graph::write(folder.path()).unwrap();
    let urls = std::fs::read_to_string(folder.path().join("graph/urls.txt")).unwrap();
    assert_eq!(urls.lines().count(), PAGES);
    let graph = wonbon_crawl::graph::Graph::read(
        &folder.path().join("graph"),
        &wonbon_crawl::graph::Reading::default(),
        &(),
    );
    assert_eq!(graph.unwrap().graph.pages(), PAGES as u32);
}

#[test]
fn every_way_to_be_odd_has_its_outcome() {
    let other = ToyHost::start("other.toy", 3, |_| Reply::page("<p>elsewhere</p>"));
    let elsewhere = other.url("/x");
    let host = ToyHost::start("odd.toy", 2, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking(
            "odd",
            [
                "/loop1",
                "/self",
                "/out",
                "/hop0",
                "/nowhere",
                "/slow",
                "/drip",
                "/broken",
                "/cut",
                "/huge",
                "/declared-huge",
                "/picture",
                "/untyped",
                "/untyped-picture",
                "/gone",
                "/fails",
                "/euc-kr",
                "/gzip",
                "/no-gzip",
                "/empty",
                "/garbage",
                "/teapot",
                "/canonical?from=x",
                "/late",
            ],
        )),
        "/loop1" => Reply::redirect(302, "/loop2"),
        "/loop2" => Reply::redirect(302, "/loop1"),
        "/self" => Reply::redirect(301, "/self"),
        "/out" => Reply::redirect(301, &elsewhere),
        "/nowhere" => Reply::status(301),
        "/slow" => Reply::After(std::time::Duration::from_secs(3), Box::new(Reply::page("x"))),
        "/late" => Reply::After(
            std::time::Duration::from_millis(300),
            Box::new(Reply::page(linking("late", ["/"]))),
        ),
        "/drip" => Reply::Drip,
        "/broken" => Reply::Nothing,
        "/garbage" => Reply::Raw(b"I am no server at all\r\n\r\n".to_vec()),
        "/cut" => Reply::Raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n<p>"
                .to_vec(),
        ),
        "/huge" => Reply::Endless,
        "/declared-huge" => Reply::Raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999999\r\n\r\n<p>"
                .to_vec(),
        ),
        "/picture" => Reply::typed("image/png", vec![0; 100]),
        "/untyped" => Reply::Answer {
            status: 200,
            fields: vec![],
            body: linking("untyped", ["/"]).into_bytes(),
        },
        "/untyped-picture" => Reply::Answer { status: 200, fields: vec![], body: vec![0; 100] },
        "/gone" => Reply::status(410),
        "/fails" => Reply::status(500),
        "/teapot" => Reply::status(418),
        "/euc-kr" => {
            // 원본은 하나다 in EUC-KR.
            let text = b"<p>\xbf\xf8\xba\xbb\xc0\xba \xc7\xcf\xb3\xaa\xb4\xd9</p><a href=/kr>k</a>";
            Reply::typed("text/html; charset=euc-kr", text.to_vec())
        }
        "/gzip" => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut out, linking("packed", ["/unpacked"]).as_bytes())
                .unwrap();
            Reply::page(out.finish().unwrap()).with("Content-Encoding", "gzip")
        }
        "/no-gzip" => Reply::page("not packed").with("Content-Encoding", "gzip"),
        "/empty" => Reply::page(""),
        "/canonical?from=x" => {
            Reply::page("<link rel=canonical href=/canonical><p>the same page by another name</p>")
        }
        path if path.starts_with("/hop") => {
            let hop: u32 = path[4..].parse().unwrap_or(0);
            Reply::redirect(307, &format!("/hop{}", hop + 1))
        }
        "/canonical" | "/unpacked" | "/kr" => Reply::page(linking(&asked.path, ["/"])),
        _ => Reply::status(404),
    });
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&[host.url("/")]);
    plan.params.scope = wonbon_crawl::plan::ScopeKind::Host;
    plan.params.limits.body_bytes = 1 << 20;
    plan.params.limits.first_byte = std::time::Duration::from_millis(700);
    plan.params.limits.whole = std::time::Duration::from_millis(900);
    plan.pace.tries = 2;
    let summary = crawl(folder.path(), &plan, &[&host, &other]);
    let expected = [
        ("/", Outcome::Kept),
        ("/broken", Outcome::NoAnswer),
        ("/canonical", Outcome::Kept),
        ("/canonical?from=x", Outcome::Kept),
        ("/cut", Outcome::NoAnswer),
        ("/declared-huge", Outcome::TooLarge),
        ("/drip", Outcome::NoAnswer),
        ("/empty", Outcome::Kept),
        ("/euc-kr", Outcome::Kept),
        ("/fails", Outcome::ServerError),
        ("/garbage", Outcome::NoAnswer),
        ("/gone", Outcome::ServerError),
        ("/gzip", Outcome::Kept),
        ("/hop0", Outcome::Redirect),
        ("/hop1", Outcome::Redirect),
        ("/hop2", Outcome::Redirect),
        ("/hop3", Outcome::Redirect),
        ("/hop4", Outcome::Redirect),
        ("/hop5", Outcome::LostRedirect),
        ("/huge", Outcome::TooLarge),
        ("/kr", Outcome::Kept),
        ("/late", Outcome::Kept),
        ("/loop1", Outcome::Redirect),
        ("/loop2", Outcome::Redirect),
        ("/no-gzip", Outcome::NoAnswer),
        ("/nowhere", Outcome::LostRedirect),
        ("/out", Outcome::LostRedirect),
        ("/picture", Outcome::OtherType),
        ("/self", Outcome::LostRedirect),
        ("/slow", Outcome::NoAnswer),
        ("/teapot", Outcome::ServerError),
        ("/unpacked", Outcome::Kept),
        ("/untyped", Outcome::Kept),
        ("/untyped-picture", Outcome::OtherType),
    ];
    let expected: Vec<(String, Outcome)> =
        expected.iter().map(|&(path, got)| (format!("odd.toy{path}"), got)).collect();
    assert_eq!(outcomes(folder.path()), expected);
    assert_eq!(summary.ended, Ended::Exhausted);
    assert!(other.paths().is_empty());
    let texts = texts(folder.path());
    let korean = texts.iter().find(|row| row["url"].as_str().unwrap().ends_with("/euc-kr"));
    assert!(korean.unwrap()["text"].as_str().unwrap().contains("원본은 하나다"));
    archived(folder.path());
}

#[test]
fn a_calendar_without_end_ends() {
    let host = ToyHost::start("calendar.toy", 2, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking("home", ["/calendar/2026/1", "/about"])),
        "/about" => Reply::page(linking("about", ["/"])),
        path => {
            let mut parts = path.rsplit('/').map(|part| part.parse().unwrap_or(1));
            let (month, year): (u32, u32) = (parts.next().unwrap(), parts.next().unwrap_or(1));
            let next = (year + month / 12, month % 12 + 1);
            let body = linking(path, [format!("/calendar/{}/{}", next.0, next.1)]);
            Reply::page(body)
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let summary = crawl(folder.path(), &plan(&[host.url("/")]), &[&host]);
    assert_eq!(summary.ended, Ended::Exhausted);
    // The limit of a calendar, the two other pages.
    assert_eq!(summary.stats.pages, 1002);
    assert_eq!(summary.stats.traps, 1);
}

#[test]
fn robots_are_heeded_in_every_form() {
    let rules = |name: &str, last: u8, robots: Reply| {
        ToyHost::start(name, last, move |asked| match asked.path.as_str() {
            "/robots.txt" => robots.clone(),
            "/rules.txt" => Reply::typed("text/plain", "User-agent: *\nDisallow: /private"),
            "/" => Reply::page(linking("home", ["/private/a", "/open", "/rules.txt?x"])),
            _ => Reply::page(linking(&asked.path, ["/"])),
        })
    };
    let text = |text: &str| Reply::typed("text/plain", text);
    let missing = rules("missing.toy", 20, Reply::status(404));
    let forbidding = rules("forbidding.toy", 21, text("User-agent: *\nDisallow: /private"));
    let named = rules(
        "named.toy",
        22,
        text("User-agent: *\nDisallow: /\n\nUser-agent: ToyBot\nDisallow: /open"),
    );
    let closed = rules("closed.toy", 23, text("User-agent: *\nDisallow: /"));
    let failing = rules("failing.toy", 24, Reply::status(500));
    let moved = rules("moved.toy", 25, Reply::redirect(301, "/rules.txt"));
    let silent = rules("silent.toy", 26, Reply::Nothing);
    let circling = rules("circling.toy", 27, Reply::redirect(302, "/robots.txt"));
    let hosts = [&missing, &forbidding, &named, &closed, &failing, &moved, &silent, &circling];
    let folder = tempfile::tempdir().unwrap();
    let seeds: Vec<String> = hosts.iter().map(|host| host.url("/")).collect();
    crawl(folder.path(), &plan(&seeds), &hosts);
    let paths = |host: &ToyHost| {
        let mut paths = host.paths();
        paths.retain(|path| !path.starts_with("/robots.txt") && !path.starts_with("/rules.txt"));
        paths.sort();
        paths
    };
    assert_eq!(paths(&missing), ["/", "/open", "/private/a"]);
    assert_eq!(paths(&forbidding), ["/", "/open"]);
    assert_eq!(paths(&named), ["/", "/private/a"]);
    assert_eq!(paths(&closed), [""; 0]);
    assert_eq!(paths(&failing), [""; 0]);
    assert_eq!(paths(&moved), ["/", "/open"]);
    assert_eq!(paths(&silent), [""; 0]);
    assert_eq!(paths(&circling), ["/", "/open", "/private/a"]);
    for host in hosts {
        assert!(host.paths()[0].starts_with("/robots.txt"), "{}", host.name);
    }
    let disallowed = with_outcome(folder.path(), Outcome::Disallowed);
    assert_eq!(
        disallowed,
        [
            "closed.toy/",
            "failing.toy/",
            "forbidding.toy/private/a",
            "moved.toy/private/a",
            "named.toy/open",
            "silent.toy/",
        ]
    );
}

#[test]
fn sitemaps_make_pages_known_without_being_links() {
    let host = ToyHost::start("mapped.toy", 2, |asked| {
        let own = format!("http://{}", asked.host);
        match asked.path.as_str() {
            "/robots.txt" => Reply::typed("text/plain", format!("Sitemap: {own}/index.xml\n")),
            "/index.xml" => Reply::typed(
                "application/xml",
                format!("<sitemapindex><sitemap><loc>{own}/map.xml</loc></sitemap></sitemapindex>"),
            ),
            "/map.xml" => Reply::typed(
                "application/xml",
                format!(
                    "<urlset><url><loc>{own}/hidden</loc></url>\
                     <url><loc>http://elsewhere.example/</loc></url></urlset>"
                ),
            ),
            path => Reply::page(linking(path, ["/"])),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&[host.url("/")]);
    plan.params.scope = wonbon_crawl::plan::ScopeKind::Host;
    crawl(folder.path(), &plan, &[&host]);
    let expected = [
        ("mapped.toy/", Outcome::Kept),
        ("mapped.toy/hidden", Outcome::Kept),
        ("mapped.toy/index.xml", Outcome::Sitemap),
        ("mapped.toy/map.xml", Outcome::Sitemap),
    ];
    assert_eq!(outcomes(folder.path()), expected.map(|(path, got)| (path.to_owned(), got)));
    wonbon_crawl::link_graph::write(folder.path()).unwrap();
    let edges = std::fs::read_to_string(folder.path().join("graph/edges.tsv")).unwrap();
    assert_eq!(edges.lines().count(), 1, "{edges}");
    plan.params.sitemaps = false;
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(crawl(folder.path(), &plan, &[&host]).stats.pages, 1);
}

#[test]
fn budgets_and_depth_are_kept_and_a_larger_budget_goes_on() {
    let host = ToyHost::start("deep.toy", 2, |asked| {
        let number: usize = asked.path.trim_start_matches("/p").parse().unwrap_or(0);
        if asked.path == "/robots.txt" {
            return Reply::status(404);
        }
        Reply::page(linking(
            &asked.path,
            [format!("/p{}", number + 1), format!("/p{}", number * 3)],
        ))
    });
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&[host.url("/p1")]);
    plan.pace.pages = Some(25);
    let summary = crawl(folder.path(), &plan, &[&host]);
    assert_eq!((summary.ended, summary.stats.asked), (Ended::Budget, 25));
    assert_eq!(host.paths().len(), 26);
    plan.pace.pages = Some(60);
    let crawling = wonbon_crawl::crawl::Crawl::resume(folder.path(), plan.clone()).unwrap();
    let network = toy_web::network(&plan, &[&host]);
    let summary = crawling
        .run(network, None, &wonbon_crawl::progress::Unwatched, &Default::default())
        .unwrap();
    assert_eq!(summary.stats.asked, 60);
    // Nothing was asked for twice; robots.txt is remembered.
    assert_eq!(host.paths().len(), 61);
    let folder = tempfile::tempdir().unwrap();
    plan.params.depth = Some(3);
    plan.pace.pages = None;
    let summary = crawl(folder.path(), &plan, &[&host]);
    // 1; 2 3; 6 4 9; 7 18 5 12 10 27.
    assert_eq!((summary.ended, summary.stats.pages), (Ended::Exhausted, 12));
    let folder = tempfile::tempdir().unwrap();
    plan.params.depth = None;
    plan.params.site_pages = Some(5);
    let summary = crawl(folder.path(), &plan, &[&host]);
    assert_eq!((summary.ended, summary.stats.pages), (Ended::Exhausted, 1 + 5));
}

#[test]
fn what_pages_ask_of_robots_is_done() {
    let asks = |meta: &str, to: &str| {
        let head = format!("<head>{meta}<title>{to}</title></head>");
        format!("<html>{head}<body><p>words of page {to}</p><a href={to}>on</a></body></html>")
    };
    let host = ToyHost::start("asks.toy", 4, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => {
            Reply::page(linking("home", ["/nofollow", "/noindex", "/other", "/header", "/sixteen"]))
        }
        "/nofollow" => Reply::page(asks("<meta name=robots content=nofollow>", "/a")),
        "/noindex" => Reply::page(asks("<META NAME='Robots' CONTENT='noarchive, NOINDEX'>", "/b")),
        "/other" => Reply::page(asks("<meta name=googlebot content=none>", "/c")),
        "/header" => Reply::page(asks("", "/d")).with("x-robots-tag", "none"),
        "/sixteen" => {
            let text = asks("<meta name=robots content=none>", "/e");
            let mut bytes = vec![0xff, 0xfe];
            bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
            Reply::typed("text/html", bytes)
        }
        path => Reply::page(asks("", path)),
    });
    let folder = tempfile::tempdir().unwrap();
    crawl(folder.path(), &plan(&[host.url("/")]), &[&host]);
    let mut asked = host.paths();
    asked.sort();
    let expected =
        ["/", "/b", "/c", "/header", "/nofollow", "/noindex", "/other", "/robots.txt", "/sixteen"];
    assert_eq!(asked, expected);
    let texts = texts(folder.path());
    let mut kept: Vec<&str> = texts.iter().map(|row| row["url"].as_str().unwrap()).collect();
    kept.sort_unstable();
    let expected = ["/", "/b", "/c", "/nofollow", "/other"].map(|path| host.url(path));
    assert_eq!(kept, expected);
}
