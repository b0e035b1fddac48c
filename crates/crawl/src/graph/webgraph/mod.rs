//! Graphs in the BV format of the WebGraph framework, as its authors publish them.
//!
//! A graph is two files: `.properties` says how many pages and links there are and how they are coded
//! ([`Properties`]), `.graph` has the links as a stream of bits ([`SuccessorReader`]). It is read once,
//! from beginning to end, so the file of offsets is not needed. Both byte orders and all codes of the
//! Java framework that graphs use are read; the omega and pi codes of newer versions are refused.
//!
//! Why our own: the crate `webgraph` brings 114 packages, and a damaged file makes it panic.
//!
//! Addresses are not part of the format. They are taken from `<base>.urls` or else from `urls.txt`
//! in the same directory, perhaps compressed, if there is one; without it every page is a site of
//! its own and all links are external.

mod bits;
mod properties;
mod successors;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

pub use properties::Properties;
pub use successors::SuccessorReader;

use super::text::read_addresses;
use super::{Builder, GraphError, Read, Reading, Wanted, Watch};

/// The longest `.properties` file that is read.
const MOST_PROPERTIES_BYTES: u64 = 1 << 20;

/// Why a WebGraph could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebGraphError {
    /// A property that has to be there is not.
    #[error("the property {name} is missing")]
    MissingProperty {
        /// Its name.
        name: &'static str,
    },
    /// A property has a value that this reader does not know.
    #[error("this reader does not know {name}={value}")]
    UnknownValue {
        /// Its name.
        name: String,
        /// Its value, as far as it is not known.
        value: String,
    },
    /// There are more pages than a graph may have.
    #[error("{pages} pages are stated, the limit is {limit}")]
    TooManyPages {
        /// How many are stated.
        pages: u64,
        /// The limit.
        limit: u32,
    },
    /// The file is too short for what the properties state.
    #[error("{pages} pages and {links} links are stated, too many for a file of {length} bytes")]
    TooShort {
        /// The length of the file.
        length: u64,
        /// How many pages are stated.
        pages: u64,
        /// How many links are stated.
        links: u64,
    },
    /// The file ends before the last page.
    #[error("the file ends within the links of page {page}")]
    Ends {
        /// The page.
        page: u32,
    },
    /// The bits say what cannot be: the file is damaged, or the properties are those of another.
    #[error("the links of page {page} are damaged")]
    Damaged {
        /// The page.
        page: u32,
    },
    /// There are fewer links than stated.
    #[error("there are only {links} links, fewer than the property arcs states")]
    FewerLinks {
        /// How many there are.
        links: u64,
    },
    /// The file cannot be read.
    #[error("could not read the file")]
    Io(#[source] io::Error),
}

impl WebGraphError {
    fn unknown(name: &str, value: &str) -> Self {
        WebGraphError::UnknownValue { name: name.to_owned(), value: value.to_owned() }
    }
}

pub(super) fn read(base: &Path, reading: &Reading, watch: &dyn Watch) -> Result<Read, GraphError> {
    let builder = read_links(base, watch)
        .map_err(|source| GraphError::WebGraph { path: base.to_owned(), source })?;
    let pages = builder.linked_by.len();
    let mut wanted = Wanted::new(&reading.wanted);
    let addresses = addresses_of(base);
    let (sites, site_count) = match &addresses {
        Some(path) => {
            let (sites, count) = read_addresses(path, reading, &mut wanted, watch)?;
            if sites.len() != pages {
                return Err(GraphError::OtherAddresses {
                    file: path.display().to_string(),
                    addresses: sites.len() as u64,
                    pages: pages as u64,
                });
            }
            (sites, count)
        }
        None => ((0..pages as u32).collect(), pages as u32),
    };
    let (graph, left_out) = builder.finish(sites, site_count);
    let found = wanted.finish(graph.pages());
    Ok(Read { graph, found, has_addresses: addresses.is_some(), left_out })
}

fn addresses_of(base: &Path) -> Option<PathBuf> {
    let beside = |name: &str| base.with_file_name(name);
    let name = base.file_name()?.to_str()?;
    [format!("{name}.urls"), "urls.txt".to_owned()]
        .iter()
        .flat_map(|name| ["", ".gz", ".zst"].map(|ending| beside(&format!("{name}{ending}"))))
        .find(|path| path.is_file())
}

fn read_links(base: &Path, watch: &dyn Watch) -> Result<Builder, WebGraphError> {
    let mut text = Vec::new();
    File::open(base.with_extension("properties"))
        .and_then(|file| file.take(MOST_PROPERTIES_BYTES).read_to_end(&mut text))
        .map_err(WebGraphError::Io)?;
    let properties = Properties::parse(&String::from_utf8_lossy(&text))?;
    let pages = properties.pages();
    let file = File::open(base.with_extension("graph")).map_err(WebGraphError::Io)?;
    let length = file.metadata().map_err(WebGraphError::Io)?.len();
    let mut lists = SuccessorReader::new(file, length, properties)?;
    watch.begin("links", pages);
    let mut builder = Builder::new(pages as usize);
    let mut page = 0;
    while let Some(targets) = lists.next_list()? {
        for &target in targets {
            builder.push(page, target);
        }
        page += 1;
        if page.is_multiple_of(1 << 16) {
            watch.done(page.into());
        }
    }
    Ok(builder)
}
