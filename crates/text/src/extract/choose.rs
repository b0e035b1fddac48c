//! Which parts of a page are its core text.

use super::labels;
use super::marks::Marks;
use super::tags::Tag;
use super::tree::{Node, Tree};

/// What sort of page it is, as far as it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// One running text.
    Article,
    /// A thread: readers' comments are the content.
    Forum,
    /// Something to buy.
    Product,
    /// Everything else.
    Other,
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
const PROSE: u32 = 60;

const FRAME_MARKS: Marks = Marks::NAVIGATION
    .or(Marks::FOOT)
    .or(Marks::SIDE)
    .or(Marks::ADVERT)
    .or(Marks::SHARE)
    .or(Marks::RELATED)
    .or(Marks::POPUP)
    .or(Marks::WIDGET)
    .or(Marks::WEAK);

struct Sums {
    /// Weight of the text below.
    total: Vec<u32>,
    /// Of it, in short links.
    link: Vec<u32>,
    /// Of it, in paragraphs.
    prose: Vec<u32>,
}

impl Sums {
    fn own(&self, at: usize) -> u32 {
        self.total[at] - self.link[at]
    }
}

fn trace() -> bool {
    std::env::var_os("WTRACE").is_some()
}
fn show(tree: &Tree<'_>, what: &str, at: usize, sums: &Sums) {
    if trace() && sums.total[at] > 20 {
        let node = &tree.nodes[at];
        let text: String = tree.nodes[at..node.end as usize].iter().filter(|n| n.tag.is_none()).map(|n| tree.text(n)).collect::<Vec<_>>().join(" ");
        eprintln!("{what} {:?} {} l{} t{} p{} of {}/{} : {}", node.tag, node.span.of(tree.page).chars().take(100).collect::<String>(), sums.link[at], sums.total[at], sums.prose[at], sums.total[0], sums.prose[0], text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect::<String>());
    }
}

fn part(some: u32, all: u32, percent: u64) -> bool {
    u64::from(some) * 100 >= u64::from(all) * percent
}

/// Chooses the core text.
pub(crate) fn choose(
    tree: &Tree<'_>,
    kind: PageKind,
    title: &[String],
    with_noscript: bool,
) -> Choice {
    let nodes = &tree.nodes;
    let mut dropped = vec![false; nodes.len()];
    for (i, node) in nodes.iter().enumerate().skip(1) {
        let Some(tag) = node.tag else { continue };
        dropped[i] = tag.is_unseen()
            || (tag == Tag::Noscript && !with_noscript)
            || (tag == Tag::Template && !node.marks.any(Marks::SHADOW));
    }
    // Many pages hide their text until a script shows it: what holds most of it is not hidden.
    let sums = sum(nodes, &dropped);
    for (at, node) in nodes.iter().enumerate().skip(1) {
        if node.marks.any(Marks::HIDDEN) && !part(sums.own(at), sums.own(0) + 1, 40) {
            dropped[at] = true;
        }
    }
    let sums = sum(nodes, &dropped);
    let page_own = sums.own(0);
    let kind = if kind == PageKind::Other && comments_prevail(tree, &sums, &dropped) {
        PageKind::Forum
    } else if kind == PageKind::Other && is_one_article(tree, &sums, &dropped) {
        PageKind::Article
    } else {
        kind
    };
    let trusted = trusted_marks(tree, &sums, &dropped, kind);
    each_kept(tree, &mut dropped, |at, tag| {
        let large = part(sums.own(at), page_own + 1, 40);
        let drop = is_frame(tree, &sums, at, tag, large, kind, trusted);
        if drop {
            show(tree, "DROP", at, &sums);
        }
        drop
    });
    let sums = sum(nodes, &dropped);
    drop_labelled(tree, &sums, &mut dropped, kind);
    let sums = sum(nodes, &dropped);
    let root = root(tree, &sums, &dropped, kind);
    show(tree, "ROOT", root, &sums);
    if matches!(kind, PageKind::Article | PageKind::Forum) {
        each_kept(tree, &mut dropped, |at, tag| {
            let node = &nodes[at];
            let small = (kind == PageKind::Article || !node.marks.any(Marks::DETAIL) || sums.prose[at] == 0) && sums.total[at] < 150 && !part(sums.total[at], sums.total[root], 20);
            let drop = small
                && (node.marks.any(Marks::DETAIL)
                    || (tag == Tag::H1 && is_title(tree, at, title)));
            if drop {
                show(tree, "DETAIL", at, &sums);
            }
            drop
        });
    }
    let sums = sum(nodes, &dropped);
    Choice { root, weight: sums.total[root], dropped }
}

/// Visits the elements that are not dropped; those for which `drop` says so are.
fn each_kept(tree: &Tree<'_>, dropped: &mut [bool], mut drop: impl FnMut(usize, Tag) -> bool) {
    let mut at = 1;
    while at < tree.nodes.len() {
        let node = &tree.nodes[at];
        if let Some(tag) = node.tag {
            dropped[at] = dropped[at] || drop(at, tag);
        }
        at = if dropped[at] { node.end as usize } else { at + 1 };
    }
}

fn sum(nodes: &[Node], dropped: &[bool]) -> Sums {
    let mut total: Vec<u32> = vec![0; nodes.len()];
    let mut link: Vec<u32> = vec![0; nodes.len()];
    let mut prose: Vec<u32> = vec![0; nodes.len()];
    // Text directly in an element or in inline elements of it, outside links.
    let mut line: Vec<u32> = vec![0; nodes.len()];
    for at in (0..nodes.len()).rev() {
        let node = &nodes[at];
        if dropped[at] {
            (total[at], link[at], prose[at]) = (0, 0, 0);
            continue;
        }
        let parent = node.parent as usize;
        match node.tag {
            None => {
                total[at] = node.weight;
                if !node.in_link {
                    line[parent] += node.weight;
                }
            }
            Some(tag) => {
                if tag == Tag::A && total[at] < SHORT_LINK {
                    link[at] = total[at];
                }
                if tag.is_block() || at == 0 {
                    if line[at] >= PROSE && !tag.is_heading() {
                        prose[at] += line[at];
                    }
                } else {
                    line[parent] += line[at];
                }
            }
        }
        if at != 0 {
            total[parent] += total[at];
            link[parent] += link[at];
            prose[parent] += prose[at];
        }
    }
    Sums { total, link, prose }
}

/// Whether one `article` holds most paragraphs.
fn is_one_article(tree: &Tree<'_>, sums: &Sums, dropped: &[bool]) -> bool {
    (1..tree.nodes.len()).any(|at| {
        !dropped[at]
            && (tree.nodes[at].tag == Some(Tag::Article) || tree.nodes[at].marks.any(Marks::ARTICLE_BODY.or(Marks::BLOG_POST)))
            && part(sums.prose[at], sums.prose[0] + 1, 70)
    })
}

/// Whether most paragraphs stand in what is marked as comments.
fn comments_prevail(tree: &Tree<'_>, sums: &Sums, dropped: &[bool]) -> bool {
    let mut prose = 0;
    let mut at = 1;
    while at < tree.nodes.len() {
        let node = &tree.nodes[at];
        let comment = node.marks.any(Marks::COMMENT);
        if comment && !dropped[at] {
            prose += sums.prose[at];
        }
        at = if dropped[at] || comment { node.end as usize } else { at + 1 };
    }
    part(prose, sums.prose[0] + 1, 60)
}

/// The marks that name the frame on this page. Page builders call every part of the text a
/// `widget` or a `banner`: a mark whose elements hold much of the page's paragraphs means nothing.
fn trusted_marks(tree: &Tree<'_>, sums: &Sums, dropped: &[bool], kind: PageKind) -> Marks {
    let mut trusted = FRAME_MARKS;
    if kind != PageKind::Forum {
        trusted = trusted.or(Marks::COMMENT);
    }
    let page_own = sums.own(0);
    for mark in [Marks::WIDGET, Marks::WEAK, Marks::SIDE, Marks::ADVERT, Marks::RELATED, Marks::POPUP, Marks::SHARE, Marks::FOOT, Marks::NAVIGATION] {
        let mut prose = 0;
        let mut at = 1;
        while at < tree.nodes.len() {
            let node = &tree.nodes[at];
            let large = part(sums.own(at), page_own + 1, 40);
            if dropped[at] || (node.marks.any(mark) && !large) {
                prose += sums.prose[at];
                at = node.end as usize;
            } else {
                at += 1;
            }
        }
        if part(prose, sums.prose[0] + 1, 40) {
            trusted = trusted.without(mark);
        }
    }
    trusted
}

fn is_frame(
    tree: &Tree<'_>,
    sums: &Sums,
    at: usize,
    tag: Tag,
    large: bool,
    kind: PageKind,
    trusted: Marks,
) -> bool {
    let node = &tree.nodes[at];
    if matches!(tag, Tag::Nav | Tag::Footer) {
        return !(large && tag == Tag::Footer);
    }
    if large {
        return false;
    }
    let prosaic = part(sums.prose[at], sums.total[at] + 1, 50);
    match tag {
        Tag::Aside if kind == PageKind::Forum && node.marks.any(Marks::QUOTE) => return false,
        Tag::Aside | Tag::Button | Tag::Dialog | Tag::Menu => return true,
        Tag::Form if !prosaic => return true,
        Tag::Header if !inside(tree, at, &[Tag::Article, Tag::Main]) => return true,
        _ => {}
    }
    if node.marks.any(trusted.without(if prosaic && kind != PageKind::Article { Marks::WEAK } else { Marks::NONE })) && !node.marks.any(Marks::ARTICLE_BODY) {
        return true;
    }
    if kind == PageKind::Product && node.marks.any(Marks::REVIEW) {
        return true;
    }
    if kind == PageKind::Forum && node.marks.any(Marks::PERSON) && !prosaic {
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

/// A block that starts with "Related", "Read next", "Comments" goes; when the label stands alone
/// among the blocks of the text, what follows it there goes.
fn drop_labelled(tree: &Tree<'_>, sums: &Sums, dropped: &mut [bool], kind: PageKind) {
    let nodes = &tree.nodes;
    let page_prose = sums.prose[0].max(1);
    let mut at = 1;
    while at < nodes.len() {
        if dropped[at] {
            at = nodes[at].end as usize;
            continue;
        }
        let is_label = nodes[at].tag.is_some_and(|tag| tag.is_block())
            && (2..60).contains(&sums.total[at])
            && labels::is_trailing(&text_of(tree, at), kind);
        if !is_label {
            at += 1;
            continue;
        }
        // Out while the block around starts with the label and is not the text itself.
        let mut block = at;
        loop {
            let parent = nodes[block].parent as usize;
            let before: u32 = sums.total[parent]
                - sums.total[block]
                - (block_siblings_after(nodes, parent, block).map(|s| sums.total[s]).sum::<u32>());
            if parent == 0 || before > 30 || part(sums.prose[parent], page_prose, 35) {
                break;
            }
            block = parent;
        }
        if block != at {
            show(tree, "LABEL", block, sums);
            dropped[block] = true;
            at = nodes[block].end as usize;
            continue;
        }
        // The label stands among the blocks: what follows, if it is not most of the text.
        let parent = nodes[at].parent as usize;
        let after: Vec<usize> = block_siblings_after(nodes, parent, at).collect();
        let rest: u32 = after.iter().map(|&s| sums.prose[s]).sum();
        dropped[at] = true;
        show(tree, "LABEL1", at, sums);
        if !part(rest, page_prose, 30) {
            // Up to the next heading of the same sort.
            for sibling in after {
                if nodes[sibling].tag == nodes[at].tag
                    && nodes[at].tag.is_some_and(Tag::is_heading)
                {
                    break;
                }
                show(tree, "AFTER", sibling, sums);
                dropped[sibling] = true;
            }
        }
        at = nodes[at].end as usize;
    }
}

fn block_siblings_after(
    nodes: &[Node],
    parent: usize,
    block: usize,
) -> impl Iterator<Item = usize> + '_ {
    let end = nodes[parent].end as usize;
    let mut next = nodes[block].end as usize;
    std::iter::from_fn(move || {
        (next < end).then(|| {
            let at = next;
            next = nodes[at].end as usize;
            at
        })
    })
}

fn text_of(tree: &Tree<'_>, at: usize) -> String {
    let mut text = String::new();
    for node in &tree.nodes[at..tree.nodes[at].end as usize] {
        if node.tag.is_none() {
            text.push_str(tree.text(node));
        } else {
            text.push(' ');
        }
    }
    crate::links::fold(&text)
}

fn is_title(tree: &Tree<'_>, at: usize, title: &[String]) -> bool {
    let words: Vec<String> =
        text_of(tree, at).split_whitespace().map(str::to_lowercase).collect();
    let shared = words.iter().filter(|word| title.contains(word)).count();
    !words.is_empty() && shared * 10 >= words.len() * 6
}

fn root(tree: &Tree<'_>, sums: &Sums, dropped: &[bool], kind: PageKind) -> usize {
    let nodes = &tree.nodes;
    let mut root = 0;
    let mut at = 1;
    while at < nodes.len() {
        if dropped[at] {
            at = nodes[at].end as usize;
            continue;
        }
        let names_itself = nodes[at].tag == Some(Tag::Main)
            || nodes[at].marks.any(Marks::MAIN.or(Marks::ARTICLE_BODY));
        if names_itself && part(sums.total[at], sums.total[0] + 1, 40) {
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
            if !dropped[child] && nodes[child].tag.is_some() && sums.total[child] > 0 {
                let holds = if kind == PageKind::Article && sums.prose[root] > 200 {
                    part(sums.prose[child], sums.prose[root], 90)
                } else if kind == PageKind::Forum {
                    part(sums.total[child], sums.total[root], 95)
                } else {
                    part(sums.total[child], sums.total[root], 85)
                };
                if holds {
                    heir = Some(child);
                }
            }
            child = nodes[child].end as usize;
        }
        match heir {
            Some(child) => root = child,
            None => return root,
        }
    }
}
