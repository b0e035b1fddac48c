//! Which parts of a page are its core text.

use super::marks::Marks;
use super::tags::Tag;
use super::tree::{Node, Tree};

/// What is known of the page as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PageKind {
    /// Readers' comments are the content.
    pub forum: bool,
}

/// The outcome: the element to render and, for each node, whether its subtree is left out.
#[derive(Debug)]
pub(crate) struct Choice {
    pub root: usize,
    pub dropped: Vec<bool>,
    /// Weight of the kept text below the root.
    pub weight: u32,
}

const SHORT_LINK: u32 = 30;

const FRAME_MARKS: Marks = Marks::NAVIGATION
    .or(Marks::FOOT)
    .or(Marks::SIDE)
    .or(Marks::ADVERT)
    .or(Marks::SHARE)
    .or(Marks::RELATED)
    .or(Marks::POPUP);

struct Sums {
    total: Vec<u32>,
    link: Vec<u32>,
}

/// Chooses the core text.
pub(crate) fn choose(tree: &Tree<'_>, kind: PageKind, with_noscript: bool) -> Choice {
    let nodes = &tree.nodes;
    let mut dropped = vec![false; nodes.len()];
    for (i, node) in nodes.iter().enumerate().skip(1) {
        let Some(tag) = node.tag else { continue };
        let unseen = tag.is_unseen()
            || (tag == Tag::Noscript && !with_noscript)
            || (tag == Tag::Template && !node.marks.any(Marks::SHADOW))
            || node.marks.any(Marks::HIDDEN);
        dropped[i] = unseen;
    }
    let sums = sum(nodes, &dropped);
    let page_own = sums.total[0] - sums.link[0];

    let mut at = 1;
    while at < nodes.len() {
        let node = &nodes[at];
        if dropped[at] {
            at = node.end as usize;
            continue;
        }
        if let Some(tag) = node.tag {
            let own = sums.total[at] - sums.link[at];
            let large = u64::from(own) * 10 > u64::from(page_own) * 4;
            if is_frame(tree, &sums, at, tag, large, kind) {
                dropped[at] = true;
                at = node.end as usize;
                continue;
            }
        }
        at += 1;
    }
    let sums = sum(nodes, &dropped);
    let root = root(tree, &sums, &dropped);
    Choice { root, weight: sums.total[root], dropped }
}

fn sum(nodes: &[Node], dropped: &[bool]) -> Sums {
    let mut total: Vec<u32> = vec![0; nodes.len()];
    let mut link: Vec<u32> = vec![0; nodes.len()];
    for at in (1..nodes.len()).rev() {
        let node = &nodes[at];
        if dropped[at] {
            (total[at], link[at]) = (0, 0);
            continue;
        }
        match node.tag {
            None => total[at] = node.weight,
            Some(Tag::A) if total[at] < SHORT_LINK => link[at] = total[at],
            Some(_) => {}
        }
        let parent = node.parent as usize;
        total[parent] += total[at];
        link[parent] += link[at];
    }
    Sums { total, link }
}

fn is_frame(
    tree: &Tree<'_>,
    sums: &Sums,
    at: usize,
    tag: Tag,
    large: bool,
    kind: PageKind,
) -> bool {
    let node = &tree.nodes[at];
    if matches!(tag, Tag::Nav | Tag::Footer) {
        return !(large && tag == Tag::Footer);
    }
    if large {
        return false;
    }
    match tag {
        Tag::Aside | Tag::Button | Tag::Dialog | Tag::Form | Tag::Menu => return true,
        Tag::Header if !inside(tree, at, &[Tag::Article, Tag::Main]) => return true,
        _ => {}
    }
    if node.marks.any(FRAME_MARKS) && !node.marks.any(Marks::ARTICLE_BODY) {
        return true;
    }
    if node.marks.any(Marks::COMMENT) && !kind.forum {
        return true;
    }
    let (total, link) = (sums.total[at], sums.link[at]);
    if matches!(
        tag,
        Tag::Ul | Tag::Ol | Tag::Div | Tag::Section | Tag::Table | Tag::Dl | Tag::P | Tag::Td
    ) && total > 0
        && link * 2 > total
    {
        return true;
    }
    false
}

fn inside(tree: &Tree<'_>, at: usize, tags: &[Tag]) -> bool {
    let mut at = at;
    while at != 0 {
        at = tree.nodes[at].parent as usize;
        if tree.nodes[at].tag.is_some_and(|tag| tags.contains(&tag)) {
            return true;
        }
    }
    false
}

fn root(tree: &Tree<'_>, sums: &Sums, dropped: &[bool]) -> usize {
    let nodes = &tree.nodes;
    let all = sums.total[0];
    let mut root = 0;
    let mut at = 1;
    while at < nodes.len() {
        if dropped[at] {
            at = nodes[at].end as usize;
            continue;
        }
        let names_itself = nodes[at].tag == Some(Tag::Main)
            || nodes[at].marks.any(Marks::MAIN.or(Marks::ARTICLE_BODY));
        if names_itself && u64::from(sums.total[at]) * 10 > u64::from(all) * 4 {
            root = at;
            if nodes[at].marks.any(Marks::ARTICLE_BODY) {
                break;
            }
        }
        at += 1;
    }
    // Down while one child holds nearly everything.
    loop {
        let mut child = root + 1;
        let mut heir = None;
        while child < nodes[root].end as usize {
            if !dropped[child]
                && nodes[child].tag.is_some()
                && u64::from(sums.total[child]) * 100 >= u64::from(sums.total[root]) * 85
                && sums.total[child] > 0
            {
                heir = Some(child);
            }
            child = nodes[child].end as usize;
        }
        match heir {
            Some(child) => root = child,
            None => return root,
        }
    }
}
