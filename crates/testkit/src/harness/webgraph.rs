//! Whatever the files of a WebGraph hold, its links are read as promised or it is refused.

use wonbon_crawl::graph::webgraph::{Properties, SuccessorReader};

/// A `.properties` file up to the first empty line, then the bits of a `.graph` file.
///
/// # Panics
///
/// When a promise of `SuccessorReader` does not hold.
pub fn webgraph(data: &[u8]) {
    let end = data.windows(2).position(|two| two == b"\n\n").unwrap_or(data.len());
    let graph = data.get(end + 2..).unwrap_or_default();
    let Ok(properties) = Properties::parse(&String::from_utf8_lossy(&data[..end])) else { return };
    let (pages, links) = (properties.pages(), properties.links());
    let Ok(mut lists) = SuccessorReader::new(graph, graph.len() as u64, properties) else { return };
    assert!(pages <= graph.len() as u64 * 8, "a page takes a bit");
    let (mut read_pages, mut read_links) = (0, 0);
    loop {
        match lists.next_list() {
            Ok(Some(list)) => {
                assert!(list.is_sorted_by(|one, next| one < next), "links are increasing");
                assert!(list.last().is_none_or(|&last| u64::from(last) < pages), "pages exist");
                read_pages += 1;
                read_links += list.len() as u64;
                assert!(read_links <= links, "there are no more links than stated");
            }
            Ok(None) => break,
            Err(_) => return,
        }
    }
    assert_eq!((read_pages, read_links), (pages, links));
}
