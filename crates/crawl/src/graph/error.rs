//! Why a graph could not be read or written.

use std::path::PathBuf;

use wonbon_documents::InputError;

use super::webgraph::WebGraphError;

/// Why a graph could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// There is nothing that looks like a graph.
    #[error(
        "{} is no graph: neither a directory with urls.txt and edges.tsv or with WARC files \
         nor the base name of .graph and .properties", path.display()
    )]
    NoGraph {
        /// What was asked for.
        path: PathBuf,
    },
    /// One of the two files is not there.
    #[error("{} has no {file} (nor {file}.gz or {file}.zst)", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
        /// The file.
        file: &'static str,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The line is no link.
    #[error("{file}:{line} is not two page numbers with a tab between them")]
    NotALink {
        /// The file.
        file: String,
        /// The line, counted from one.
        line: u64,
    },
    /// A link names a page that has no address.
    #[error("{file}:{line} names page {page}, but there are {pages} pages")]
    NoSuchPage {
        /// The file.
        file: String,
        /// The line, counted from one.
        line: u64,
        /// The page.
        page: u64,
        /// How many there are.
        pages: u64,
    },
    /// The line is no address.
    #[error("{file}:{line} is not an address with a host, such as https://host.example/page")]
    NotAnAddress {
        /// The file.
        file: String,
        /// The line, counted from one.
        line: u64,
    },
    /// There are more pages than numbers for them.
    #[error("{file} has more than {limit} pages")]
    TooManyPages {
        /// The file.
        file: String,
        /// The limit.
        limit: u32,
    },
    /// Graph and addresses do not belong together.
    #[error("{file} has {addresses} addresses, but the graph has {pages} pages")]
    OtherAddresses {
        /// The file.
        file: String,
        /// Its lines.
        addresses: u64,
        /// The pages.
        pages: u64,
    },
    /// A WARC file cannot be read.
    #[error("{} cannot be read as a WARC", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        source: wonbon_warc::WarcError,
    },
    /// The WebGraph files cannot be read.
    #[error("{} cannot be read as a WebGraph", path.display())]
    WebGraph {
        /// The base name.
        path: PathBuf,
        /// What the reader said.
        source: WebGraphError,
    },
    /// A file cannot be written.
    #[error("could not write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
