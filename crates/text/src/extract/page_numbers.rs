//! Numbers of the page as a whole, and the two blocks that all others are seen from.
//!
//! Cost: three passes over the nodes and one over the blocks.

use super::columns::{amount, share};
use super::features::Scene;
use super::marks::Marks;
use super::seen::{Seen, title_share};
use super::surroundings::Around;
use super::tags::Tag;

/// Numbers of the page that hold for each of its blocks.
pub(crate) struct PageNumbers {
    pub anchors: [Option<usize>; 2],
    /// For each anchor and node, the part of the page that the innermost element around both holds.
    pub with_anchors: [Vec<u8>; 2],
    /// Images before each node.
    pub images: Vec<u32>,
    pub prices: u32,
    pub headings: u32,
    /// Shares of the text in some surroundings.
    pub shares: [u8; 6],
    pub largest_group: u8,
    pub largest_run: u8,
}

/// Surroundings whose share of the page is a feature: name, bits of
/// [`AROUND`](super::surroundings::AROUND), marks.
pub(crate) const PAGE_SHARES: [(&str, &[usize], Marks); 6] = [
    ("page comments", &[], Marks::COMMENT),
    ("page reviews", &[], Marks::REVIEW),
    ("page articles", &[6], Marks::ARTICLE_BODY.or(Marks::BLOG_POST)),
    ("page main", &[5], Marks::MAIN),
    ("page tables", &[8], Marks::NONE),
    ("page hidden", &[], Marks::HIDDEN),
];

/// Looks at the page as a whole.
pub(crate) fn look_at_page(
    scene: &Scene<'_, '_>,
    around: &[Around],
    runs: &[u16],
    seen: &[Seen],
) -> PageNumbers {
    let nodes = &scene.tree.nodes;
    let list = &scene.blocks.list;
    let mut images = Vec::with_capacity(nodes.len() + 1);
    let mut count = 0;
    for node in nodes {
        images.push(count);
        count += u32::from(node.tag == Some(Tag::Img));
    }
    images.push(count);
    let whole = scene.blocks.over(0..list.len()).weight;
    let mut sums = [0u32; 6];
    let (mut prices, mut headings, mut largest) = (0, 0, 0);
    for (block, seen) in list.iter().zip(seen) {
        let here = around[block.holder as usize];
        for (sum, (_, bits, mark)) in sums.iter_mut().zip(PAGE_SHARES) {
            if here.marks.any(mark) || bits.iter().any(|bit| here.tags & 1 << bit != 0) {
                *sum += block.weight;
            }
        }
        prices += u32::from(seen.text.currency > 0 && seen.text.words < 12);
        headings += u32::from(nodes[block.holder as usize].tag.is_some_and(Tag::is_heading));
        largest = largest.max(scene.blocks.group(block.group).weight);
    }
    let anchors = anchors(scene, seen);
    PageNumbers {
        anchors,
        with_anchors: anchors
            .map(|anchor| anchor.map_or_else(Vec::new, |anchor| shares_with(scene, anchor))),
        images,
        prices,
        headings,
        shares: sums.map(|sum| share(sum, whole)),
        largest_group: share(largest, whole),
        largest_run: amount(runs.iter().copied().max().unwrap_or(0).into()),
    }
}

/// The block that the text hangs on: the first heading with the title's words, or the first `h1`; and
/// the block with the most text outside links that the rules keep.
fn anchors(scene: &Scene<'_, '_>, seen: &[Seen]) -> [Option<usize>; 2] {
    let nodes = &scene.tree.nodes;
    let list = &scene.blocks.list;
    let mut title: Option<(u32, usize)> = None;
    let mut prose: Option<(u32, usize)> = None;
    for (at, block) in list.iter().enumerate() {
        let tag = nodes[block.holder as usize].tag;
        if tag.is_some_and(Tag::is_heading) {
            let share = u32::from(title_share(scene, block, seen[at].text.words));
            let rank = if share >= 150 { share + 500 } else { 0 }
                + if tag == Some(Tag::H1) { 400 } else { 0 };
            if rank > 0 && title.is_none_or(|(best, _)| rank > best) {
                title = Some((rank, at));
            }
        }
        let own = block.ruled.min(block.weight - block.link);
        if own > 0 && prose.is_none_or(|(best, _)| own > best) {
            prose = Some((own, at));
        }
    }
    [title.map(|(_, at)| at), prose.map(|(_, at)| at)]
}

/// For each node, the part of the page that the innermost element around it and the anchor holds.
fn shares_with(scene: &Scene<'_, '_>, anchor: usize) -> Vec<u8> {
    let nodes = &scene.tree.nodes;
    let blocks = scene.blocks;
    let page = blocks.over(0..blocks.list.len()).weight;
    let anchor = blocks.list[anchor].first as usize;
    let mut shares = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let is_around = at <= anchor && anchor < node.end as usize;
        shares.push(if is_around {
            share(blocks.over(blocks.inside(nodes, at)).weight, page)
        } else {
            shares[node.parent as usize]
        });
    }
    shares
}
