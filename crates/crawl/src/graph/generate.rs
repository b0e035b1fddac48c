//! Made-up webs of many sites, from a seed.
//!
//! What the orderings tell apart is what the model has: sites of power-law size, sites and pages of
//! unequal popularity, navigation that every page of a site repeats, trees of pages below, few links
//! that leave a site and most of those to popular places. What it leaves out: pages of a topic that
//! link to each other across sites, pages that are copies, dead links.
//!
//! A site of n pages is a tree of a fanout of its own in level order, page 0 its front page. A page
//! links to
//!
//! 1. the template of its site: the front page and its first sections;
//! 2. its children in the tree and its parent;
//! 3. with some luck other pages of the site, early ones more likely;
//! 4. with some luck pages of other sites: the site by popularity, in it the front page or an early
//!    page more likely than others. Front pages have more of these than others, and one site in some
//!    is a directory, whose pages have many.
//!
//! The popularity of a site falls as a power of its rank; ranks have nothing to do with sizes.
//!
//! The defaults make a web of 1.2 million pages in some 86,000 sites with 19.5 million links, 28 % of
//! them external. They were chosen by experiment, because on many generated webs the orderings hardly
//! differ. benches/crawl has the figures, also for other webs.
//!
//! Cost: time of the links; memory of the sites (24 bytes each), whatever the number of pages: links
//! are written as they are made. Every page draws from a stream of its own, so that the bytes depend
//! on the configuration and, by powers and logarithms, on the last digit of the mathematical library.

use std::io::{BufWriter, Write};
use std::path::Path;

use wonbon_files::ReplacedFile;

use super::{Builder, Graph, GraphError, Watch};
use crate::random::Random;

/// What a made-up web is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebConfig {
    /// How many pages. Up to 10^7 have been tried.
    pub pages: u32,
    /// Everything follows from it.
    pub seed: u64,
    /// Sizes of sites: P(size > n) = n^-exponent. Lower values make larger sites and fewer of them.
    pub size_exponent: f64,
    /// No site has more than this share of all pages.
    pub largest_site: f64,
    /// Popularity of the site of rank k: k^-exponent. Higher values gather the links on fewer sites.
    pub popularity_exponent: f64,
    /// Most sections in a template.
    pub template_links: u32,
    /// Other links inside the site, on average.
    pub inner_links: f64,
    /// Links to other sites, on average over ordinary pages.
    pub external_links: f64,
    /// The share of external links that lead to front pages.
    pub to_front_pages: f64,
    /// One site in so many is a directory (a list of links, a blog, a forum), whose pages have ten times
    /// the external links.
    pub directories: u32,
}

impl Default for WebConfig {
    fn default() -> Self {
        WebConfig {
            pages: 1_200_000,
            seed: 1,
            size_exponent: 0.95,
            largest_site: 0.02,
            popularity_exponent: 1.1,
            template_links: 20,
            inner_links: 1.0,
            external_links: 2.0,
            to_front_pages: 0.8,
            directories: 5,
        }
    }
}

/// What every page of a site shares.
#[derive(Clone, Copy)]
struct Site {
    first: u32,
    pages: u32,
    fanout: u32,
    template: u32,
    directory: bool,
}

/// A web that is not written down yet.
pub struct Web {
    config: WebConfig,
    sites: Vec<Site>,
    /// Running sums of the popularity of sites.
    popularity: Vec<f64>,
}

impl Web {
    /// Lays out the sites.
    pub fn new(config: WebConfig) -> Web {
        let mut random = Random::new(config.seed, u64::MAX);
        let most = (f64::from(config.pages) * config.largest_site).max(1.0);
        let mut sites = Vec::new();
        let mut first = 0;
        while first < config.pages {
            let size = (1.0 - random.fraction()).powf(-1.0 / config.size_exponent).min(most);
            let pages = (size as u32).clamp(1, config.pages - first);
            sites.push(Site {
                first,
                pages,
                fanout: 3 + random.below(18) as u32,
                template: random.below(u64::from(config.template_links) + 1) as u32,
                directory: random.below(u64::from(config.directories.max(1))) == 0,
            });
            first += pages;
        }
        let mut ranks: Vec<u32> = (0..sites.len() as u32).collect();
        for at in (1..ranks.len()).rev() {
            ranks.swap(at, random.below(at as u64 + 1) as usize);
        }
        let mut sum = 0.0;
        let popularity = ranks.iter().map(|&rank| {
            sum += (f64::from(rank) + 1.0).powf(-config.popularity_exponent);
            sum
        });
        let popularity = popularity.collect();
        Web { config, sites, popularity }
    }

    /// How many sites it has.
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    /// The links of a page of a site, each once, none to itself.
    fn links(&self, site: &Site, page: u32, links: &mut Vec<u32>) {
        links.clear();
        let own = site.first + page;
        let mut random = Random::new(self.config.seed, u64::from(own));
        let mut add = |target: u32| {
            if target != own && !links.contains(&target) {
                links.push(target);
            }
        };
        for section in 0..=site.template.min(site.pages - 1) {
            add(site.first + section);
        }
        if page > 0 {
            add(site.first + (page - 1) / site.fanout);
        }
        let children = u64::from(page) * u64::from(site.fanout) + 1;
        for child in children..(children + u64::from(site.fanout)).min(u64::from(site.pages)) {
            add(site.first + child as u32);
        }
        for _ in 0..draw_geometric(&mut random, self.config.inner_links) {
            let place = random.fraction();
            add(site.first + (place * place * f64::from(site.pages)) as u32);
        }
        let more = if site.directory { 10.0 } else { 1.0 } * if page == 0 { 3.0 } else { 1.0 };
        for _ in 0..draw_geometric(&mut random, self.config.external_links * more) {
            let sum = random.fraction() * self.popularity[self.popularity.len() - 1];
            let other = self.popularity.partition_point(|&below| below <= sum);
            let other = &self.sites[other.min(self.sites.len() - 1)];
            let front = random.fraction() < self.config.to_front_pages;
            let place = random.fraction();
            let page = if front { 0 } else { (place.powi(3) * f64::from(other.pages)) as u32 };
            add(other.first + page);
        }
    }

    fn each_page<E>(
        &self,
        mut each: impl FnMut(u32, u32, u32, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut links = Vec::new();
        for (number, site) in self.sites.iter().enumerate() {
            for page in 0..site.pages {
                self.links(site, page, &mut links);
                each(number as u32, site.first + page, page, &links)?;
            }
        }
        Ok(())
    }

    /// The web as a graph.
    pub fn graph(&self) -> Graph {
        let mut builder = Builder::new(self.config.pages as usize);
        let mut sites = Vec::with_capacity(self.config.pages as usize);
        let done: Result<(), std::convert::Infallible> = self.each_page(|site, page, _, links| {
            sites.push(site);
            for &target in links {
                builder.push(page, target);
            }
            Ok(())
        });
        let Ok(()) = done;
        builder.finish(sites, self.sites.len() as u32).0
    }

    /// Writes `urls.txt` and `edges.tsv` into a directory that is there, each whole or not at all; tells
    /// how many links.
    ///
    /// # Errors
    ///
    /// [`GraphError::Write`].
    pub fn write(&self, directory: &Path, watch: &dyn Watch) -> Result<u64, GraphError> {
        let urls = directory.join("urls.txt");
        let edges = directory.join("edges.tsv");
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| GraphError::Write { path, source }
        };
        let create = |path: &Path| {
            ReplacedFile::create(path)
                .map(|file| BufWriter::with_capacity(1 << 20, file))
                .map_err(|error| failed(path)(error.source))
        };
        let mut addresses = create(&urls)?;
        let mut lines = create(&edges)?;
        let mut count = 0;
        watch.begin("pages", u64::from(self.config.pages));
        let mut line = Vec::new();
        self.each_page(|site, page, within, links| {
            let written = if within == 0 {
                writeln!(addresses, "http://www.site{site}.example/")
            } else {
                writeln!(addresses, "http://www.site{site}.example/{within}.html")
            };
            written.map_err(failed(&urls))?;
            line.clear();
            for &target in links {
                push_number(&mut line, page);
                line.push(b'\t');
                push_number(&mut line, target);
                line.push(b'\n');
            }
            count += links.len() as u64;
            if page.is_multiple_of(1 << 14) {
                watch.done(u64::from(page));
            }
            lines.write_all(&line).map_err(failed(&edges))
        })?;
        for (path, file) in [(&urls, addresses), (&edges, lines)] {
            let file = file.into_inner().map_err(|error| failed(path)(error.into_error()))?;
            file.commit().map_err(|error| failed(path)(error.source))?;
        }
        Ok(count)
    }
}

/// A number with this mean, no memory of it (geometric).
fn draw_geometric(random: &mut Random, mean: f64) -> u32 {
    if mean <= 0.0 {
        return 0;
    }
    let stay = mean / (1.0 + mean);
    ((1.0 - random.fraction()).ln() / stay.ln()) as u32
}

fn push_number(line: &mut Vec<u8>, number: u32) {
    let mut digits = [0_u8; 10];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}
