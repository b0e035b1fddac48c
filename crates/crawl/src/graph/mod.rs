//! A web as a graph: pages, the links between them, the site of each.
//!
//! Pages are numbers from 0, links lie in one array by page (compressed sparse rows). A graph is read
//! once and never changed. A virtual crawl needs only the site of an address, so addresses are not kept.
//!
//! Cost: 8 + 4 bytes a page and 4 a link, plus the names of sites while reading.
//!
//! Guarantees: a page links to another once at most and not to itself; the links of a page keep the
//! order of the file. What cannot be read is refused with the file and the line.
//!
//! Not here: which page comes next ([`crate::order`]), the crawl ([`crate::virtual_crawl`]).

mod archive;
mod error;
pub mod generate;
pub mod pagerank;
mod site;
mod text;
pub mod webgraph;

use std::collections::HashMap;
use std::path::Path;

pub use error::GraphError;
pub use site::{SiteRule, UnknownSiteRule};

/// Page numbers end here: orderings use the numbers above for themselves.
const MOST_PAGES: u32 = u32::MAX - 8;

/// Pages, links, sites.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Where the links of a page begin; one entry more than pages.
    starts: Vec<u64>,
    targets: Vec<u32>,
    sites: Vec<u32>,
    site_count: u32,
}

/// What to look for while a graph is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// What a site is.
    pub site: SiteRule,
    /// Pages to find: by address as it is written in the graph, or by number.
    pub wanted: Vec<String>,
}

/// A graph and what was found on the way.
#[derive(Clone, Debug)]
pub struct Read {
    /// The graph.
    pub graph: Graph,
    /// The pages that were wanted, in the order in which they were; `None` where there is none.
    pub found: Vec<Option<u32>>,
    /// Whether there were addresses. Without them every page is a site of its own.
    pub has_addresses: bool,
    /// Links left out because the page has them already, or because they lead to itself.
    pub left_out: u64,
}

/// Told how far reading is.
pub trait Watch {
    /// A piece of work begins that has so many steps.
    fn begin(&self, what: &'static str, steps: u64);
    /// So many of them are done.
    fn done(&self, steps: u64);
}

/// Nobody watches.
impl Watch for () {
    fn begin(&self, _what: &'static str, _steps: u64) {}
    fn done(&self, _steps: u64) {}
}

impl Graph {
    /// Reads a graph: a directory with `urls.txt` (an address a line, the line number from 0 is the
    /// page) and `edges.tsv` (two page numbers a line), either perhaps with `.gz` or `.zst` behind
    /// its name; the directory of a crawl, which has these in its folder `graph`; a directory of WARC
    /// files, whose archived pages and the links between them are taken; or the base name of a
    /// WebGraph (`.graph` and `.properties`), whose addresses are in `.urls` beside it or in
    /// `urls.txt`.
    ///
    /// # Errors
    ///
    /// [`GraphError`] says what is wrong with which line of which file.
    pub fn read(path: &Path, reading: &Reading, watch: &dyn Watch) -> Result<Read, GraphError> {
        if path.is_dir() {
            let of_a_crawl = path.join("graph");
            if !text::is_there(path) && text::is_there(&of_a_crawl) {
                return text::read(&of_a_crawl, reading, watch);
            }
            let archives = archive::files(path);
            if text::is_there(path) || archives.is_empty() {
                return text::read(path, reading, watch);
            }
            return archive::read(&archives, reading, watch);
        }
        let base = path.with_extension("");
        let with = |extension| base.with_extension(extension);
        if !with("properties").is_file() || !with("graph").is_file() {
            return Err(GraphError::NoGraph { path: path.to_owned() });
        }
        webgraph::read(&base, reading, watch)
    }

    /// A graph out of lists of links and the sites of pages.
    ///
    /// # Panics
    ///
    /// If a link leads to a page that is not there, or the two do not have the same length.
    pub fn new(links: &[Vec<u32>], sites: Vec<u32>) -> Graph {
        assert_eq!(links.len(), sites.len());
        assert!(links.iter().flatten().all(|&target| (target as usize) < links.len()));
        let mut builder = Builder::new(sites.len());
        for (page, links) in links.iter().enumerate() {
            for &target in links {
                builder.push(page as u32, target);
            }
        }
        let site_count = sites.iter().max().map_or(0, |&site| site + 1);
        builder.finish(sites, site_count).0
    }

    /// How many pages.
    pub fn pages(&self) -> u32 {
        self.sites.len() as u32
    }

    /// How many links.
    pub fn link_count(&self) -> u64 {
        self.targets.len() as u64
    }

    /// How many sites.
    pub fn sites(&self) -> u32 {
        self.site_count
    }

    /// The site of a page.
    pub fn site(&self, page: u32) -> u32 {
        self.sites[page as usize]
    }

    /// The pages that a page links to.
    pub fn links(&self, page: u32) -> &[u32] {
        let page = page as usize;
        &self.targets[self.starts[page] as usize..self.starts[page + 1] as usize]
    }

    /// Pages to begin with when nobody says which: up to three that have links, of three sites, those
    /// with the most links from other sites. The paper began with three portals.
    pub fn portals(&self) -> Vec<u32> {
        let mut linked = vec![0_u32; self.sites.len()];
        for page in 0..self.pages() {
            for &target in self.links(page) {
                if self.site(page) != self.site(target) {
                    linked[target as usize] += 1;
                }
            }
        }
        let mut portals: Vec<u32> = Vec::new();
        while portals.len() < 3 {
            let best = (0..self.pages())
                .filter(|&page| !self.links(page).is_empty())
                .filter(|&page| portals.iter().all(|&other| self.site(other) != self.site(page)))
                // The first of equals.
                .max_by_key(|&page| (linked[page as usize], std::cmp::Reverse(page)));
            match best {
                Some(page) => portals.push(page),
                None => break,
            }
        }
        portals
    }
}

/// Collects links by page, in the order of pages.
struct Builder {
    starts: Vec<u64>,
    targets: Vec<u32>,
    /// For each page the last page that linked to it, and one.
    linked_by: Vec<u32>,
    left_out: u64,
}

impl Builder {
    fn new(pages: usize) -> Self {
        let mut starts = Vec::with_capacity(pages + 1);
        starts.push(0);
        Builder { starts, targets: Vec::new(), linked_by: vec![0; pages], left_out: 0 }
    }

    /// A link of the page at hand, or of a later one.
    fn push(&mut self, page: u32, target: u32) {
        while self.starts.len() <= page as usize {
            self.starts.push(self.targets.len() as u64);
        }
        let linked_by = &mut self.linked_by[target as usize];
        if *linked_by == page + 1 || target == page {
            self.left_out += 1;
        } else {
            *linked_by = page + 1;
            self.targets.push(target);
        }
    }

    fn finish(mut self, sites: Vec<u32>, site_count: u32) -> (Graph, u64) {
        self.starts.resize(sites.len() + 1, self.targets.len() as u64);
        self.targets.shrink_to_fit();
        let graph = Graph { starts: self.starts, targets: self.targets, sites, site_count };
        (graph, self.left_out)
    }
}

/// Finds wanted pages by what people call them.
struct Wanted<'a> {
    names: &'a [String],
    by_address: HashMap<&'a str, usize>,
    found: Vec<Option<u32>>,
}

impl<'a> Wanted<'a> {
    fn new(names: &'a [String]) -> Self {
        let by_address = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        Wanted { names, by_address, found: vec![None; names.len()] }
    }

    fn see(&mut self, page: u32, address: &[u8]) {
        if self.by_address.is_empty() {
            return;
        }
        if let Some(&at) =
            std::str::from_utf8(address).ok().and_then(|address| self.by_address.get(address))
            && self.found[at].is_none()
        {
            self.found[at] = Some(page);
        }
    }

    /// What was not found by address may be a number; a name given twice is found twice.
    fn finish(mut self, pages: u32) -> Vec<Option<u32>> {
        for (at, name) in self.names.iter().enumerate() {
            if self.found[at].is_none() {
                self.found[at] = self.found[self.by_address[name.as_str()]]
                    .or_else(|| name.parse().ok().filter(|&page| page < pages));
            }
        }
        self.found
    }
}
