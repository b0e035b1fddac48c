//! Graphs in the BV format of the WebGraph framework, as its authors publish them.
//!
//! Read from beginning to end by the `webgraph` crate, without offsets; either byte order, any codes.
//! Addresses are not part of the format. They are taken from `<base>.urls` or else from `urls.txt`
//! in the same directory, perhaps compressed, if there is one; without it every page is a site of
//! its own and all links are external.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use dsi_bitstream::prelude::{BE, LE};
use lender::prelude::*;
use webgraph::prelude::*;

use super::text::read_addresses;
use super::{Builder, GraphError, Read, Reading, Wanted, Watch};

pub(super) fn read(base: &Path, reading: &Reading, watch: &dyn Watch) -> Result<Read, GraphError> {
    let unreadable = |source: Box<dyn std::error::Error + Send + Sync>| GraphError::WebGraph {
        path: base.to_owned(),
        source,
    };
    let order = get_endianness(base).map_err(|error| unreadable(error.into()))?;
    let builder = if order == "little" {
        let graph = BvGraphSeq::with_basename(base).endianness::<LE>().load();
        collect(&graph.map_err(|error| unreadable(error.into()))?, base, watch)?
    } else {
        let graph = BvGraphSeq::with_basename(base).endianness::<BE>().load();
        collect(&graph.map_err(|error| unreadable(error.into()))?, base, watch)?
    };
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

fn collect<G: SequentialGraph>(
    graph: &G,
    base: &Path,
    watch: &dyn Watch,
) -> Result<Builder, GraphError> {
    let pages = graph.num_nodes();
    if u32::try_from(pages).is_err() {
        return Err(GraphError::TooManyPages {
            file: base.with_extension("graph").display().to_string(),
            limit: u32::MAX,
        });
    }
    watch.begin("links", pages as u64);
    let mut builder = Builder::new(pages);
    let mut at = 0;
    let mut right = true;
    // A damaged file can lead the decoder anywhere, past its end too, where it panics.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let mut nodes = graph.iter();
        while let Some((page, targets)) = nodes.next() {
            at = page;
            for target in targets {
                right &= target < pages;
                if !right {
                    return;
                }
                builder.push(page as u32, target as u32);
            }
            if page.is_multiple_of(1 << 16) {
                watch.done(page as u64);
            }
        }
    }));
    if read.is_err() || !right {
        return Err(GraphError::WebGraphDamaged { path: base.to_owned(), page: at as u64 });
    }
    Ok(builder)
}
