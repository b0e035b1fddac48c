//! Graphs in the BV format: what the framework wrote is read, what is damaged is refused.
//!
//! `fixtures/webgraph` has one random graph of 120 pages as text (`links.txt`, the links of a page a
//! line) and as files that the crate webgraph 0.7 wrote with different codes, windows, intervals and
//! byte orders.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::fs;
use std::path::{Path, PathBuf};

use wonbon_crawl::graph::webgraph::{Properties, SuccessorReader, WebGraphError};
use wonbon_crawl::graph::{Graph, GraphError, Reading};

const FILES: [&str; 10] = [
    "default",
    "little",
    "no-window",
    "no-intervals",
    "wide",
    "delta",
    "gamma",
    "unary",
    "zeta",
    "zeta-5",
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/webgraph")
}

fn links() -> Vec<Vec<u32>> {
    let text = fs::read_to_string(fixtures().join("links.txt")).unwrap();
    text.lines()
        .map(|line| line.split_whitespace().map(|page| page.parse().unwrap()).collect())
        .collect()
}

fn files(name: &str) -> (String, Vec<u8>) {
    let base = fixtures().join(name);
    let properties = fs::read_to_string(base.with_extension("properties")).unwrap();
    (properties, fs::read(base.with_extension("graph")).unwrap())
}

/// Reads all lists of a graph.
fn lists(properties: &str, graph: &[u8]) -> Result<Vec<Vec<u32>>, WebGraphError> {
    let properties = Properties::parse(properties)?;
    let mut reader = SuccessorReader::new(graph, graph.len() as u64, properties)?;
    let mut lists = Vec::new();
    while let Some(list) = reader.next_list()? {
        lists.push(list.to_vec());
    }
    Ok(lists)
}

#[test]
fn graphs_in_all_codes_and_both_byte_orders_are_read() {
    let links = links();
    assert_eq!(links.len(), 120);
    for name in FILES {
        let (properties, graph) = files(name);
        assert_eq!(lists(&properties, &graph).unwrap(), links, "{name}");
    }
}

#[test]
fn a_webgraph_is_a_graph_with_addresses_beside_it_or_without() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("web");
    let (properties, graph) = files("default");
    fs::write(base.with_extension("properties"), &properties).unwrap();
    fs::write(base.with_extension("graph"), &graph).unwrap();
    let alone = Graph::read(&base, &Reading::default(), &()).unwrap();
    assert_eq!((alone.has_addresses, alone.graph.sites()), (false, 120));
    let mut to_itself = 0;
    for (page, mut targets) in links().into_iter().enumerate() {
        let before = targets.len();
        targets.retain(|&target| target as usize != page);
        to_itself += before - targets.len();
        assert_eq!(alone.graph.links(page as u32), targets, "{page}");
    }
    assert_eq!(alone.left_out, to_itself as u64);
    // With addresses beside it, and by the name of the file.
    let urls: String =
        (0..120).map(|page| format!("http://{}.example/{page}\n", page % 7)).collect();
    fs::write(base.with_extension("urls"), urls).unwrap();
    let named = Graph::read(&base.with_extension("graph"), &Reading::default(), &()).unwrap();
    assert_eq!((named.has_addresses, named.graph.sites()), (true, 7));
    fs::write(base.with_extension("urls"), "http://a.example/\n").unwrap();
    let error = Graph::read(&base, &Reading::default(), &()).unwrap_err();
    assert!(error.to_string().ends_with("has 1 addresses, but the graph has 120 pages"));
}

#[test]
fn what_cannot_be_read_names_the_graph_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("web");
    let (properties, graph) = files("default");
    fs::write(base.with_extension("graph"), &graph).unwrap();
    let error = |properties: &str| {
        fs::write(base.with_extension("properties"), properties).unwrap();
        let error = Graph::read(&base, &Reading::default(), &()).unwrap_err();
        let message = error.to_string().replace(base.to_str().unwrap(), "BASE");
        let GraphError::WebGraph { source, .. } = error else { panic!("{error:?}") };
        format!("{message}: {source}")
    };
    let unreadable = "BASE cannot be read as a WebGraph";
    assert_eq!(
        error("nodes=many\n"),
        format!("{unreadable}: this reader does not know nodes=many")
    );
    assert_eq!(error(""), format!("{unreadable}: the property nodes is missing"));
    let omega = format!("{properties}compressionflags=RESIDUALS_OMEGA\n");
    assert_eq!(
        error(&omega),
        format!("{unreadable}: this reader does not know compressionflags=RESIDUALS_OMEGA")
    );
}

#[test]
fn a_graph_that_is_cut_is_refused() {
    let (properties, graph) = files("default");
    // Behind the last list there are bits that fill a word.
    for length in 0..graph.len() - 8 {
        let error = lists(&properties, &graph[..length]).unwrap_err();
        let is_expected =
            matches!(error, WebGraphError::Ends { .. } | WebGraphError::TooShort { .. });
        assert!(is_expected, "{length}: {error:?}");
    }
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    for (line, message) in [
        ("nodes=18446744073709551615", "18446744073709551615 pages are stated"),
        ("nodes=4294967295", "4294967295 pages are stated, the limit is"),
        ("nodes=4000000000", "4000000000 pages and "),
        ("arcs=18446744073709551615", "too many for a file of"),
        ("nodes=121\narcs=100000", "page "),
        ("nodes=119", "the links of page 34 are damaged"),
        ("arcs=99999", "there are only "),
        ("arcs=3", "page "),
    ] {
        let (properties, graph) = files("default");
        let error = lists(&format!("{properties}{line}\n"), &graph).unwrap_err();
        assert!(error.to_string().contains(message), "{line}: {error}");
    }
    // A window and intervals of any length are only numbers.
    let (properties, graph) = files("no-window");
    for line in ["windowsize=18446744073709551615", "minintervallength=18446744073709551615"] {
        assert!(lists(&format!("{properties}{line}\n"), &graph).is_err(), "{line}");
    }
}

#[test]
fn a_flipped_bit_is_refused_or_gives_a_graph() {
    for name in FILES {
        let (properties, graph) = files(name);
        for bit in 0..graph.len() * 8 {
            let mut changed = graph.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            if let Ok(lists) = lists(&properties, &changed) {
                assert_eq!(lists.len(), 120);
                assert!(lists.iter().flatten().all(|&page| page < 120));
            }
        }
    }
}

#[test]
fn references_and_lists_that_cannot_be_are_refused() {
    // Outdegree, reference, blocks, intervals, residuals all in unary: the codes can be written by
    // hand. Three pages.
    let properties = |links: u32| {
        format!(
            "nodes=3\narcs={links}\nwindowsize=1\nminintervallength=2\ncompressionflags=\
             OUTDEGREES_UNARY|REFERENCES_UNARY|BLOCKS_UNARY|INTERVALS_UNARY|RESIDUALS_UNARY\n"
        )
    };
    let read = |links, numbers: &[usize]| {
        let bits: Vec<u8> =
            numbers.iter().flat_map(|&number| std::iter::repeat_n(0, number).chain([1])).collect();
        let graph: Vec<u8> = bits
            .chunks(8)
            .map(|bits| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | bit << (7 - at)))
            .collect();
        lists(&properties(links), &graph)
    };
    // Page 0 links to 1 (no reference, no interval, one to the right), page 1 copies that, page 2
    // has none.
    assert_eq!(read(2, &[1, 0, 0, 2, 1, 1, 0, 0]).unwrap(), [vec![1], vec![1], vec![]]);
    // An interval of all three, then nothing.
    assert_eq!(read(3, &[3, 0, 1, 0, 1, 0, 0]).unwrap(), [vec![0, 1, 2], vec![], vec![]]);
    let damaged = |links, numbers: &[usize], page| {
        let error = read(links, numbers).unwrap_err();
        assert!(
            matches!(error, WebGraphError::Damaged { page: at } if at == page),
            "{numbers:?}: {error:?}"
        );
    };
    // More links than pages, or than stated.
    damaged(9, &[4, 0, 0, 0, 0, 0, 0], 0);
    damaged(1, &[2, 0, 0, 0, 0], 0);
    // A reference before the first page, or out of the window.
    damaged(2, &[1, 1, 0, 0, 0], 0);
    damaged(2, &[1, 0, 0, 2, 0, 1, 2, 0], 2);
    // A block longer than the list, and more copied links than there should be.
    damaged(2, &[1, 0, 0, 2, 1, 1, 1, 2, 0], 1);
    damaged(3, &[2, 0, 0, 2, 0, 1, 1, 0], 1);
    // An interval longer than what is left, and one beyond the last page.
    damaged(2, &[2, 0, 1, 0, 1, 0, 0], 0);
    damaged(2, &[2, 0, 1, 4, 0, 0, 0], 0);
    // A residual before the first and behind the last page.
    damaged(1, &[1, 0, 0, 1, 0, 0], 0);
    damaged(1, &[1, 0, 0, 6, 0, 0], 0);
    // The same link twice: as an interval and as a residual.
    damaged(3, &[3, 0, 1, 0, 0, 0, 0, 0], 0);
}
