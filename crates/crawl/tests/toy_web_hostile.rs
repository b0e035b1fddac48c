//! Crawls of a hostile web: whatever a page links or leads to, only what may be asked is.
//!
//! Victims listen on this machine, on the addresses and the port that the hostile pages name. A single
//! connection to one of them, asked for or not, fails the test.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::sync::Arc;

use toy_web::{Reply, ToyHost, archived, linking, plan};
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::Guard;
use wonbon_crawl::progress::{Control, Unwatched};

/// Servers on the same port of several addresses that must not be asked.
fn victims() -> Vec<ToyHost> {
    loop {
        let first = TcpListener::bind("127.0.0.99:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let others = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        let others: Vec<TcpListener> =
            others.iter().filter_map(|&ip| TcpListener::bind((ip, port)).ok()).collect();
        if others.is_empty() {
            continue;
        }
        let site = || Arc::new(|_: &toy_web::Asked| Reply::page("secret"));
        return std::iter::once(first)
            .chain(others)
            .map(|listener| ToyHost::on("victim.toy", listener, site()))
            .collect();
    }
}

/// Ways to write an address of a victim, or of something else that must not be asked.
fn targets(port: u16) -> Vec<String> {
    let hosts = [
        "127.0.0.99",
        "127.0.0.1",
        "127.1",
        "127.0.99",
        "2130706531",
        "2130706433",
        "0x7f000063",
        "0x7F.0.0.0x63",
        "0177.0.0.0143",
        "0177.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.99]",
        "[::ffff:7f00:63]",
        "[::127.0.0.99]",
        "[64:ff9b::7f00:63]",
        "[2002:7f00:63::]",
        "0.0.0.0",
        "0",
        "[::]",
        "victim.toy",
        "VICTIM.toy.",
        "both.toy",
        "user:password@127.0.0.99",
        "evil.toy@127.0.0.99",
        "127%2e0%2e0%2e99",
        "１２７.0.0.99",
        "127。0。0。99",
        "ⓛocalhost",
    ];
    let mut all: Vec<String> =
        hosts.iter().map(|host| format!("http://{host}:{port}/secret")).collect();
    all.extend(hosts[..6].iter().map(|host| format!("https://{host}:{port}/secret")));
    all.extend(
        [
            "//127.0.0.99:{port}/secret",
            "http:127.0.0.99:{port}/secret",
            "http:\\\\127.0.0.99:{port}\\secret",
            "ht\ttp://127.0.0.99:{port}/secret",
            "http://evil.toy\\@127.0.0.99:{port}/secret",
            "http://127.0.0.99:{port}#@evil.toy/",
            "http://169.254.169.254/latest/meta-data/",
            "http://100.100.100.200/",
            "http://[fd00:ec2::254]/",
            "http://10.0.0.1/",
            "http://192.168.0.1/",
            "http://172.16.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://240.0.0.1/",
            "http://[fe80::1]/",
            "http://[ff02::1]/",
            "http://[fc00::1]/",
            "http://example.org:22/",
            "http://example.org:6379/",
            "http://example.org:25/",
            "ftp://127.0.0.99:{port}/secret",
            "file:///etc/passwd",
            "gopher://127.0.0.99:{port}/_x",
            "javascript:fetch('http://127.0.0.99:{port}')",
            "data:text/html,<a href=http://127.0.0.99:{port}>x</a>",
            "ws://127.0.0.99:{port}/",
            "jar:http://127.0.0.99:{port}!/",
            "view-source:http://127.0.0.99:{port}/",
            "http://",
            "http://:{port}/",
            "http://[::1",
            "http://127.0.0.99:99999/",
            "http://127.0.0.99:0/",
        ]
        .iter()
        .map(|text| text.replace("{port}", &port.to_string())),
    );
    all
}

#[test]
fn no_hostile_address_or_redirect_makes_a_forbidden_connection() {
    let victims = victims();
    let port = victims[0].address.port();
    let targets = targets(port);
    let count = targets.len();
    assert!(count >= 60, "{count}");
    let pages = targets.clone();
    let statuses = [301, 302, 303, 307, 308];
    let evil = ToyHost::start("evil.toy", 50, move |asked| {
        let secret = format!("http://127.0.0.99:{port}");
        match asked.path.as_str() {
            "/robots.txt" => {
                Reply::typed("text/plain", format!("Sitemap: {secret}/map.xml\nSitemap: /own.xml"))
                    .with("Set-Cookie", "track=me; Path=/")
            }
            "/own.xml" => Reply::typed(
                "application/xml",
                format!("<urlset><url><loc>{secret}/mapped</loc></url></urlset>"),
            ),
            // Links and redirects to every target, once each.
            "/" => {
                let own = (0..pages.len()).map(|page| format!("/redirect/{page}"));
                let more = ["/base".to_owned(), "/canonical".to_owned(), "/refresh".to_owned()];
                let named = format!("http://me:secret@evil.toy:{}/named", port_of(asked));
                Reply::page(linking("evil", own.chain(more).chain([named])))
                    .with("Set-Cookie", "track=me; Path=/")
            }
            "/base" => Reply::page(format!("<base href={secret}/><a href=relative>x</a>")),
            "/canonical" => Reply::page(format!("<link rel=canonical href={secret}/>c")),
            "/refresh" => Reply::page("r").with("Refresh", &format!("0; url={secret}/")),
            "/links" => Reply::page(linking("links", &pages)),
            path => match path.strip_prefix("/redirect/").and_then(|n| n.parse::<usize>().ok()) {
                Some(page) if page < pages.len() => {
                    // A field cannot hold everything a link can.
                    let to: String = pages[page].chars().filter(|c| !c.is_control()).collect();
                    Reply::redirect(statuses[page % 5], &to)
                }
                _ => Reply::page(linking(path, ["/links"])),
            },
        }
    });
    // A second host whose robots.txt leads to a victim.
    let moved = ToyHost::start("moved.toy", 51, move |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::redirect(302, &format!("http://127.0.0.99:{port}/robots.txt")),
        _ => Reply::page("moved"),
    });
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(&[evil.url("/"), evil.url("/links"), moved.url("/")]);
    plan.pace.tries = 1;
    let victim: IpAddr = [127, 0, 0, 99].into();
    let names: HashMap<String, Vec<IpAddr>> = HashMap::from([
        ("evil.toy".to_owned(), vec![evil.address.ip()]),
        ("moved.toy".to_owned(), vec![moved.address.ip()]),
        ("victim.toy".to_owned(), vec![victim]),
        // One address that may be asked and one that may not: nothing listens on the former.
        ("both.toy".to_owned(), vec![victim, evil.address.ip()]),
        ("example.org".to_owned(), vec![evil.address.ip()]),
    ]);
    let network = Network::new(NetworkConfig {
        agent: plan.params.agent.clone(),
        limits: plan.params.limits,
        guard: Guard::new(vec![evil.address.ip().into(), moved.address.ip().into()]),
        names,
        certificates: None,
    });
    let crawl = Crawl::begin(folder.path(), plan, None).unwrap();
    crawl.run(Arc::new(network.unwrap()), None, &Unwatched, &Control::default()).unwrap();
    for victim in &victims {
        let connections = victim.connections.lock().unwrap().len();
        assert_eq!(connections, 0, "{} was connected to: {:?}", victim.address, victim.paths());
    }
    let asked = evil.asked.lock().unwrap();
    let number = |path: &str| path.strip_prefix("/redirect/").and_then(|n| n.parse::<usize>().ok());
    let redirects = asked.iter().filter_map(|asked| number(&asked.path)).count();
    assert_eq!(redirects, count, "every redirect was tried");
    assert!(asked.iter().any(|asked| asked.path == "/links"));
    for asked in asked.iter() {
        for field in ["cookie", "authorization", "referer"] {
            assert!(!asked.fields.contains_key(field), "{asked:?}");
        }
    }
    assert!(!moved.paths().contains(&"/".to_owned()), "without rules nothing is asked for");
    archived(folder.path());
}

fn port_of(asked: &toy_web::Asked) -> String {
    asked.host.rsplit(':').next().unwrap().to_owned()
}
