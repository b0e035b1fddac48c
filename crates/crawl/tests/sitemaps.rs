//! Sitemaps: what the protocol says, what servers send, and what would never end.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::io::Write;

use proptest::prelude::*;
use wonbon_crawl::sitemap::{Entry, Limits, Sitemap, parse};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

fn read(text: &str) -> Sitemap {
    parse(text.as_bytes(), Limits::default())
}

fn addresses(sitemap: &Sitemap) -> Vec<&str> {
    sitemap.pages.iter().map(|entry| entry.url.as_str()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn pages_and_their_dates_are_read() {
    let sitemap = read(&format!(
        "{HEAD}<url>\n <loc> http://a.example/?a=1&amp;b=&#50;</loc><lastmod>2024-02-29</lastmod>\
         <changefreq>daily</changefreq></url><!-- no --><url><loc><![CDATA[http://a.example/&]]>\
         </loc></url></urlset>"
    ));
    assert_eq!(
        sitemap.pages,
        [
            Entry {
                url: "http://a.example/?a=1&b=2".to_owned(),
                lastmod: Some("2024-02-29".to_owned())
            },
            Entry { url: "http://a.example/&".to_owned(), lastmod: None },
        ]
    );
    assert!(!sitemap.cut);
    assert_eq!(sitemap.damage, None);
}

#[test]
fn an_index_names_sitemaps() {
    let sitemap = read(
        "<sitemapindex><sitemap><loc>http://a.example/1.xml.gz</loc><lastmod>2024</lastmod>\
         </sitemap><sitemap><loc>http://a.example/2.xml</loc></sitemap></sitemapindex>",
    );
    assert_eq!(sitemap.sitemaps, ["http://a.example/1.xml.gz", "http://a.example/2.xml"]);
    assert!(sitemap.pages.is_empty());
}

#[test]
fn fields_of_extensions_are_not_pages() {
    let sitemap = read(&format!(
        "{HEAD}<url><loc>http://a.example/</loc><image:image><image:loc>http://a.example/i.png\
         </image:loc><loc>http://a.example/no</loc></image:image></url></urlset>"
    ));
    assert_eq!(addresses(&sitemap), ["http://a.example/"]);
}

#[test]
fn prefixed_elements_are_read_as_such() {
    let sitemap = read(
        "<sm:urlset xmlns:sm=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sm:url><sm:loc>\
         http://a.example/</sm:loc></sm:url></sm:urlset>",
    );
    assert_eq!(addresses(&sitemap), ["http://a.example/"]);
}

#[test]
fn plain_text_has_an_address_a_line() {
    let sitemap = read("\u{feff}http://a.example/1\r\nhttps://a.example/2\n\n# no\nftp://a/\n");
    assert_eq!(addresses(&sitemap), ["http://a.example/1", "https://a.example/2"]);
    assert_eq!(read("").pages, []);
    assert_eq!(read("not found").pages, []);
}

#[test]
fn other_character_sets_are_decoded() {
    let text = format!("{HEAD}<url><loc>http://a.example/é</loc></url></urlset>");
    let utf16: Vec<u8> =
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(addresses(&parse(&utf16, Limits::default())), ["http://a.example/é"]);
}

#[test]
fn what_breaks_off_gives_what_came_before() {
    let whole = format!(
        "{HEAD}<url><loc>http://a.example/1</loc></url><url><loc>http://a.example/2</loc></url>\
         </urlset>"
    );
    let mut seen = 0;
    for cut in 0..whole.len() {
        let sitemap = read(&whole[..cut]);
        assert!(sitemap.pages.len() >= seen && sitemap.pages.len() <= 2);
        seen = sitemap.pages.len();
        let packed = gzip(whole.as_bytes());
        let _ = parse(&packed[..cut.min(packed.len())], Limits::default());
    }
    assert_eq!(seen, 2);
    let broken = read(&format!("{HEAD}<url><loc>http://a.example/1</loc></url><url><loc <url>"));
    assert_eq!(addresses(&broken), ["http://a.example/1"]);
    assert!(broken.damage.is_some());
    let cut = gzip(whole.repeat(2).as_bytes());
    assert!(parse(&cut[..cut.len() - 9], Limits::default()).damage.is_some());
}

#[test]
fn limits_cut_and_say_so() {
    let many: String =
        (0..100).map(|n| format!("<url><loc>http://a.example/{n}</loc></url>")).collect();
    let text = format!("{HEAD}{many}</urlset>");
    let limits = Limits { entries: 10, ..Limits::default() };
    let sitemap = parse(text.as_bytes(), limits);
    assert_eq!((sitemap.pages.len(), sitemap.cut), (10, true));
    let sitemap = parse(text.as_bytes(), Limits { entries: 100, ..Limits::default() });
    assert_eq!((sitemap.pages.len(), sitemap.cut), (100, false));
    let sitemap = parse(text.as_bytes(), Limits { bytes: 1000, ..Limits::default() });
    assert!(sitemap.cut && sitemap.pages.len() > 10 && sitemap.pages.len() < 100);
    let lines: String = (0..100).map(|n| format!("http://a.example/{n}\n")).collect();
    let sitemap = parse(lines.as_bytes(), limits);
    assert_eq!((sitemap.pages.len(), sitemap.cut), (10, true));
    let long =
        format!("{HEAD}<url><loc>http://a.example/{}</loc></url></urlset>", "x".repeat(5000));
    assert_eq!(read(&long).pages, []);
}

#[test]
fn bombs_stay_small() {
    // A gigabyte of spaces in a megabyte of gzip is read up to the limit.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..200 {
        encoder.write_all(&spaces).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let sitemap = parse(&bomb, Limits { bytes: 1 << 20, ..Limits::default() });
    assert!(sitemap.cut);
    // Entities that a document declares are not expanded.
    let laughs = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\
        <urlset><url><loc>http://a.example/&b;</loc></url></urlset>";
    assert_eq!(addresses(&read(laughs)), ["http://a.example/"]);
}

proptest! {
    #[test]
    fn any_bytes_are_answered_within_the_limits(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let limits = Limits { entries: 3, bytes: 300, address_bytes: 20 };
        let sitemap = parse(&bytes, limits);
        prop_assert!(sitemap.pages.len() + sitemap.sitemaps.len() <= 3);
        prop_assert!(sitemap.pages.iter().all(|entry| entry.url.len() <= 20));
    }
}
