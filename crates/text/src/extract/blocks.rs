//! A page cut into blocks: the runs of text that a browser shows as one paragraph, cell, item or
//! button. Blocks are what the model keeps or drops.
//!
//! A block ends where an element that starts a line of its own, or a button, starts or ends.
//! Numbers of a whole subtree are differences of prefix sums, because blocks stand in document
//! order and a subtree is a range of them.
//!
//! Cost: two passes over the nodes, one over the text.

use std::collections::HashMap;

use super::choose::Choice;
use super::marks::Hashed;
use super::tags::Tag;
use super::tree::{Node, NodeIndex, Tree};

/// A run of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// Its first and its last text.
    pub first: NodeIndex,
    pub last: NodeIndex,
    /// The block-level element around it.
    pub holder: NodeIndex,
    pub weight: u32,
    /// Of it, in links.
    pub link: u32,
    /// Of it, what the rules keep.
    pub ruled: u32,
    /// How many links it has.
    pub links: u32,
    /// Number of the group of blocks in like elements.
    pub group: u32,
}

/// The blocks of a page.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub list: Vec<Block>,
    /// For each node, and for one behind the last, how many blocks start before it.
    before: Vec<u32>,
    /// Sums over the blocks before each.
    sums: Vec<Sums>,
    /// Sums over each group.
    groups: Vec<Sums>,
}

/// Sums over consecutive blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub blocks: u32,
    pub weight: u32,
    pub link: u32,
    pub ruled: u32,
    /// Weight of blocks with at least a paragraph's text outside links.
    pub prose: u32,
}

/// Text outside links that makes a paragraph.
const PARAGRAPH: u32 = 60;

/// Whether an element bounds a block.
fn bounds(tag: Tag) -> bool {
    tag.is_block() || tag == Tag::Button
}

impl Blocks {
    /// Cuts what is shown of a page.
    pub(crate) fn cut(tree: &Tree<'_>, choice: &Choice) -> Blocks {
        let nodes = &tree.nodes;
        let mut list: Vec<Block> = Vec::with_capacity(nodes.len() / 4);
        let mut before = vec![0; nodes.len() + 1];
        let mut holders: Vec<NodeIndex> = vec![0; nodes.len()];
        let root_end = nodes[choice.root].end as usize;
        let (mut at, mut is_bounded, mut ruled_out_to) = (0, true, choice.root);
        let mut link_of_last = 0;
        while at < nodes.len() {
            let node = &nodes[at];
            before[at] = list.len() as u32;
            if choice.unseen[at] {
                before[at..node.end as usize].fill(list.len() as u32);
                at = node.end as usize;
                continue;
            }
            if choice.dropped[at] {
                ruled_out_to = ruled_out_to.max(node.end as usize);
            }
            let parent = node.parent as usize;
            match node.tag {
                Some(tag) if bounds(tag) || at == 0 => {
                    holders[at] = at as u32;
                    is_bounded = true;
                }
                Some(_) => holders[at] = holders[parent],
                None if node.weight == 0 => {}
                None => {
                    let holder = holders[parent];
                    let starts =
                        is_bounded || list.last().is_none_or(|block| block.holder != holder);
                    if starts {
                        list.push(Block {
                            first: at as u32,
                            last: at as u32,
                            holder,
                            weight: 0,
                            link: 0,
                            ruled: 0,
                            links: 0,
                            group: 0,
                        });
                        link_of_last = 0;
                        is_bounded = false;
                    }
                    let block = list.last_mut().expect("a block was pushed if there was none");
                    block.last = at as u32;
                    block.weight += node.weight;
                    if node.in_link {
                        block.link += node.weight;
                        block.links += u32::from(node.parent != link_of_last);
                        link_of_last = node.parent;
                    }
                    if at >= ruled_out_to && at < root_end {
                        block.ruled += node.weight;
                    }
                }
            }
            at += 1;
        }
        before[nodes.len()] = list.len() as u32;
        let groups = group(nodes, &mut list);
        let sums = sums(&list);
        Blocks { list, before, sums, groups }
    }

    /// Sums over a group.
    pub(crate) fn group(&self, group: u32) -> Sums {
        self.groups[group as usize]
    }

    /// Sums over a range of blocks.
    pub(crate) fn over(&self, range: std::ops::Range<usize>) -> Sums {
        let (from, to) = (self.sums[range.start], self.sums[range.end]);
        Sums {
            blocks: to.blocks - from.blocks,
            weight: to.weight - from.weight,
            link: to.link - from.link,
            ruled: to.ruled - from.ruled,
            prose: to.prose - from.prose,
        }
    }

    /// The blocks that start inside an element.
    pub(crate) fn inside(&self, nodes: &[Node], at: usize) -> std::ops::Range<usize> {
        self.before[at] as usize..self.before[nodes[at].end as usize] as usize
    }
}

impl Block {
    /// The texts of the block.
    pub(crate) fn texts<'tree, 'page>(
        &self,
        tree: &'tree Tree<'page>,
        choice: &'tree Choice,
    ) -> impl Iterator<Item = (usize, &'tree str)> + use<'tree, 'page> {
        let (mut at, last) = (self.first as usize, self.last as usize);
        std::iter::from_fn(move || {
            while at <= last {
                let node = &tree.nodes[at];
                let here = at;
                at = if choice.unseen[at] { node.end as usize } else { at + 1 };
                if node.tag.is_none() && !choice.unseen[here] {
                    return Some((here, tree.text(node)));
                }
            }
            None
        })
    }
}

impl Sums {
    fn add(&mut self, block: &Block) {
        self.blocks += 1;
        self.weight += block.weight;
        self.link += block.link;
        self.ruled += block.ruled;
        if block.weight - block.link >= PARAGRAPH {
            self.prose += block.weight;
        }
    }
}

fn sums(list: &[Block]) -> Vec<Sums> {
    let mut sums = Vec::with_capacity(list.len() + 1);
    let mut sum = Sums::default();
    sums.push(sum);
    for block in list {
        sum.add(block);
        sums.push(sum);
    }
    sums
}

/// Groups blocks that stand in like elements: the same tags and classes of the two innermost ones,
/// the same tags of three more. Entries of a list, comments of a thread and cells of a column are
/// groups.
fn group(nodes: &[Node], list: &mut [Block]) -> Vec<Sums> {
    let mut numbers: HashMap<u64, u32, Hashed> =
        HashMap::with_capacity_and_hasher(list.len(), Hashed::default());
    let mut groups = Vec::new();
    for block in list {
        let mut at = block.holder as usize;
        let mut key = 0u64;
        for level in 0..5 {
            let node = &nodes[at];
            let sign =
                if level < 2 { node.signature } else { node.tag.map_or(0, |tag| tag as u32) };
            key = (key.rotate_left(13) ^ u64::from(sign)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            at = node.parent as usize;
        }
        block.group = *numbers.entry(key ^ (key >> 32)).or_insert_with(|| {
            groups.push(Sums::default());
            groups.len() as u32 - 1
        });
        groups[block.group as usize].add(block);
    }
    groups
}
