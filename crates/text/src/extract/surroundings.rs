//! The elements around each node, as far as the model asks: tags, marks, class words, branches, and
//! how often a branch repeats among its siblings.
//!
//! Cost: one pass over the nodes.

use super::blocks::Blocks;
use super::choose::Choice;
use super::marks::Marks;
use super::tags::{TAG_COUNT, Tag};
use super::tree::Tree;

/// What is known of a node from the elements around it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Around {
    /// Weights of class words from the root to here.
    pub score: i32,
    pub marks: Marks,
    /// Bits of [`AROUND`].
    pub tags: u32,
    /// The outermost element with the same blocks.
    pub branch: u32,
    /// Which run of equal siblings it belongs to.
    pub run: u32,
    pub depth: u16,
}

/// Elements that say something about everything inside.
pub(crate) const AROUND: [(&str, &[Tag]); 18] = [
    ("in nav", &[Tag::Nav]),
    ("in header", &[Tag::Header]),
    ("in footer", &[Tag::Footer]),
    ("in aside", &[Tag::Aside]),
    ("in form", &[Tag::Form, Tag::Fieldset]),
    ("in main", &[Tag::Main]),
    ("in article", &[Tag::Article]),
    ("in section", &[Tag::Section]),
    ("in table", &[Tag::Table]),
    ("in list", &[Tag::Ul, Tag::Ol]),
    ("in definitions", &[Tag::Dl]),
    ("in figure", &[Tag::Figure]),
    ("in quote", &[Tag::Blockquote]),
    ("in code", &[Tag::Pre]),
    ("in details", &[Tag::Details]),
    ("in button", &[Tag::Button, Tag::Label]),
    ("in link", &[Tag::A]),
    ("in heading", &[Tag::H1, Tag::H2, Tag::H3, Tag::H4, Tag::H5, Tag::H6]),
];

pub(crate) const MARKS: [(&str, Marks); 18] = [
    ("hidden", Marks::HIDDEN),
    ("navigation", Marks::NAVIGATION),
    ("foot", Marks::FOOT),
    ("side", Marks::SIDE),
    ("advert", Marks::ADVERT),
    ("share", Marks::SHARE),
    ("comment", Marks::COMMENT),
    ("related", Marks::RELATED),
    ("popup", Marks::POPUP),
    ("detail", Marks::DETAIL),
    ("main", Marks::MAIN),
    ("article body", Marks::ARTICLE_BODY),
    ("blog post", Marks::BLOG_POST),
    ("widget", Marks::WIDGET),
    ("weak", Marks::WEAK),
    ("review", Marks::REVIEW),
    ("person", Marks::PERSON),
    ("quote", Marks::QUOTE),
];

/// Looks at every element: what is around it, its branch, and the lengths of the runs.
pub(crate) fn look_around(
    tree: &Tree<'_>,
    choice: &Choice,
    blocks: &Blocks,
) -> (Vec<Around>, Vec<u16>) {
    let nodes = &tree.nodes;
    let mut tag_bits = [0u32; TAG_COUNT];
    for (bit, (_, tags)) in AROUND.iter().enumerate() {
        for &tag in *tags {
            tag_bits[tag as usize] |= 1 << bit;
        }
    }
    let mut around = vec![Around::default(); nodes.len()];
    // The last branch among the children of each node so far.
    let mut last_child = vec![0u32; nodes.len()];
    let mut runs: Vec<u16> = vec![0];
    let mut at = 0;
    while at < nodes.len() {
        let node = &nodes[at];
        if choice.unseen[at] {
            at = node.end as usize;
            continue;
        }
        let parent = node.parent as usize;
        let Some(tag) = node.tag else {
            at += 1;
            continue;
        };
        let above = around[parent];
        let inside = blocks.inside(nodes, at).len();
        let is_branch = at == 0 || blocks.inside(nodes, parent).len() > inside;
        let mut here = Around {
            score: above.score + i32::from(node.score),
            marks: above.marks.or(node.marks),
            tags: above.tags | tag_bits[tag as usize],
            branch: if is_branch { at as u32 } else { above.branch },
            run: 0,
            depth: above.depth + 1,
        };
        if is_branch && inside > 0 && at != 0 {
            let before = last_child[parent] as usize;
            let continues = before != 0 && nodes[before].signature == node.signature;
            if continues {
                here.run = around[before].run;
                let run = &mut runs[here.run as usize];
                *run = run.saturating_add(1);
            } else {
                here.run = runs.len() as u32;
                runs.push(1);
            }
            last_child[parent] = at as u32;
        }
        around[at] = here;
        at += 1;
    }
    (around, runs)
}
