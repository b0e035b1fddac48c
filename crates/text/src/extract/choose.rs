//! Which parts of a page are its core text: the rules.
//!
//! All questions are about shares: how much of the page's text, of its text outside short links,
//! of its paragraphs, is below an element. Three backward passes over the flat tree give these
//! sums; a rule is then a few comparisons. In order:
//!
//! 1. What is never shown goes (`script`, `svg`, `template`, …), dialogues that ask for consent to
//!    cookies, and what is hidden, unless it
//!    holds most of the text: such pages wait for a script to show it.
//! 2. The kind of page is settled: what metadata says, or one `article` with most paragraphs, or
//!    comments with most paragraphs (then it is a thread, and comments are content).
//! 3. The frame goes: `nav`, `footer`, `aside`, forms and buttons, marks of frame words
//!    ([`marks`](super::marks)), blocks whose text is mostly short links. A block with over 40 % of
//!    the page's text outside links stays whatever it is called, unless it is `nav`; and a mark
//!    whose elements together hold over 40 % of the paragraphs names nothing on this page (page
//!    builders call every paragraph a `widget`).
//! 4. A block that starts with "Related", "Comments", "관련 글" ([`labels`]) goes, with what follows.
//! 5. The root is found: `main` or the container of the post if it holds over 40 %, then down while one
//!    child holds nearly everything, of the paragraphs in an article, of the text elsewhere.
//! 6. In articles and threads the repeated title and short details (author, date, tags) go.
//!
//! Only links under [`SHORT_LINK`] count as links: cards and lists of titles are content.
//!
//! Cost: a constant number of passes over the nodes.

use super::labels;
use super::marks::Marks;
use super::tags::Tag;
use super::tree::{Node, Tree};

/// What sort of page it is.
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
    /// For each node, whether it is not shown at all.
    pub unseen: Vec<bool>,
    /// Elements that look like labels of what follows an article, in order.
    pub labels: Vec<usize>,
    /// Elements that went because of such a label, in order.
    pub trailing: Vec<usize>,
    /// The kind of page.
    pub kind: PageKind,
    /// Whether exactly one element names itself the post's container, and was believed.
    pub has_post: bool,
}

/// Links of at least this weight are titles and cards, not menus.
const SHORT_LINK: u32 = 30;
/// A block with this much text outside links in its own lines is a paragraph.
const PARAGRAPH: u32 = 60;
/// Percentage of the page's text that protects a block, discredits a mark, makes a root.
const LARGE: u64 = 40;
/// Short enough to be a label, a byline, a date.
const LABEL: std::ops::Range<u32> = 2..60;
/// Nodes a label may consist of, and labels a page may have: more is no label but a trap.
const LABEL_NODES: u32 = 32;
const MAX_LABELS: usize = 64;
/// Paragraphs outside a post's container that cast doubt on it: about 300 words.
const MUCH_PROSE: u32 = 1500;
/// Details of an article are shorter than this.
const DETAIL: u32 = 150;

/// Marks that name parts of the frame.
const FRAME_MARKS: [Marks; 9] = [
    Marks::WIDGET,
    Marks::WEAK,
    Marks::SIDE,
    Marks::ADVERT,
    Marks::RELATED,
    Marks::POPUP,
    Marks::SHARE,
    Marks::FOOT,
    Marks::NAVIGATION,
];

/// Weights of the text below each node.
struct Sums {
    total: Vec<u32>,
    /// Of it, in short links.
    link: Vec<u32>,
    /// Of it, in paragraphs.
    prose: Vec<u32>,
}

impl Sums {
    /// Weight outside short links.
    fn own(&self, at: usize) -> u32 {
        self.total[at] - self.link[at]
    }

    /// Whether a node holds so much of the page that its name does not matter.
    fn is_large(&self, at: usize) -> bool {
        is_share(self.own(at), self.own(0), LARGE)
    }
}

/// Whether `some` is at least `percent` of `all`, and not nothing.
fn is_share(some: u32, all: u32, percent: u64) -> bool {
    some > 0 && u64::from(some) * 100 >= u64::from(all) * percent
}

/// Chooses the core text. `title` are the page title's words in lower case; `with_noscript` says
/// whether `noscript` is content.
pub(crate) fn choose(
    tree: &Tree<'_>,
    given: PageKind,
    title: &[String],
    with_noscript: bool,
) -> Choice {
    let nodes = &tree.nodes;
    let mut dropped: Vec<bool> = nodes
        .iter()
        .map(|node| {
            node.tag.is_some_and(|tag| {
                tag.is_unseen()
                    || (tag == Tag::Noscript && !with_noscript)
                    || (tag == Tag::Template && !node.marks.any(Marks::SHADOW))
            })
        })
        .collect();
    drop_consent(nodes, &mut dropped);
    let unseen = dropped.clone();
    let sums = sum(nodes, &dropped);
    for (at, node) in nodes.iter().enumerate().skip(1) {
        dropped[at] |= node.marks.any(Marks::HIDDEN) && !sums.is_large(at);
    }
    let shown = dropped.clone();
    let mut kind = drop_frame(tree, &mut dropped, given);
    let mut has_post = false;
    if !matches!(given, PageKind::Forum | PageKind::Product) {
        let sums = sum(nodes, &shown);
        if let Some(container) = container(nodes, &sums, &shown, given)
            && is_post(nodes, &dropped, &sum(nodes, &dropped), container, sums.prose[container])
        {
            dropped.clone_from(&shown);
            has_post = nodes[container].tag != Some(Tag::Article)
                || nodes[container].marks.any(Marks::ARTICLE_BODY.or(Marks::BLOG_POST));
            drop_outside(nodes, &mut dropped, container);
            kind = drop_frame(tree, &mut dropped, given);
        }
    }
    let sums = sum(nodes, &dropped);
    let (labels, trailing) = drop_labelled(tree, &sums, &mut dropped, kind);
    let sums = sum(nodes, &dropped);
    let root = root(tree, &sums, &dropped, kind);
    if matches!(kind, PageKind::Article | PageKind::Forum) {
        drop_where(nodes, &mut dropped, |at, tag| {
            let small = sums.total[at] < DETAIL && !is_share(sums.total[at], sums.total[root], 20);
            let is_detail = nodes[at].marks.any(Marks::DETAIL)
                && (kind == PageKind::Article || sums.prose[at] == 0);
            small && (is_detail || (tag == Tag::H1 && is_title(tree, at, title)))
        });
    }
    let weight = sum(nodes, &dropped).total[root];
    Choice { root, dropped, weight, unseen, labels, trailing, kind, has_post }
}

/// Drops dialogues that ask for consent: elements that are named so and have nothing in them, nor are,
/// what only content is in. So a page's own class is not taken for that of a dialogue.
fn drop_consent(nodes: &[Node], dropped: &mut [bool]) {
    let mut next_content = usize::MAX;
    for (at, node) in nodes.iter().enumerate().rev() {
        if matches!(node.tag, Some(Tag::Main | Tag::Article | Tag::H1)) {
            next_content = at;
        }
        if node.marks.any(Marks::CONSENT) {
            dropped[at] |= at != 0 && next_content >= node.end as usize;
        }
    }
}

/// Drops the frame from what is kept, and settles the kind of page.
fn drop_frame(tree: &Tree<'_>, dropped: &mut [bool], kind: PageKind) -> PageKind {
    let nodes = &tree.nodes;
    let sums = sum(nodes, dropped);
    let kind = settle(tree, &sums, dropped, kind);
    let frame = Frame { tree, trusted: trusted_marks(tree, &sums, dropped, kind), kind, sums };
    let in_article = inside_article(nodes);
    drop_where(nodes, dropped, |at, tag| frame.holds(at, tag, in_article[at]));
    kind
}

/// Whether a container with so many paragraphs is the page's post: unless there is much more
/// outside of it when the frame is gone.
fn is_post(
    nodes: &[Node],
    dropped: &[bool],
    without_frame: &Sums,
    container: usize,
    prose: u32,
) -> bool {
    // Its own sum counts towards the page only if nothing around it was taken for frame.
    let mut at = container;
    while at != 0 && !dropped[at] {
        at = nodes[at].parent as usize;
    }
    let inside = if at == 0 { without_frame.prose[container] } else { 0 };
    let outside = without_frame.prose[0] - inside;
    outside < MUCH_PROSE || is_share(prose, outside, 50)
}

/// The one element that names itself the container of the post, if there is exactly one: a short
/// post in a long frame is told by nothing else. In an article the only `article` will do.
fn container(nodes: &[Node], sums: &Sums, dropped: &[bool], kind: PageKind) -> Option<usize> {
    let named =
        only(nodes, sums, dropped, |node| node.marks.any(Marks::ARTICLE_BODY.or(Marks::BLOG_POST)));
    if named.is_some() || kind != PageKind::Article {
        return named;
    }
    only(nodes, sums, dropped, |node| node.tag == Some(Tag::Article))
}

/// The outermost kept element of this sort with a paragraph's worth of text, if there is one only.
fn only(
    nodes: &[Node],
    sums: &Sums,
    dropped: &[bool],
    is: impl Fn(&Node) -> bool,
) -> Option<usize> {
    let mut found = None;
    let mut at = 1;
    while at < nodes.len() {
        let fits = !dropped[at] && is(&nodes[at]);
        if fits && sums.own(at) >= PARAGRAPH && found.replace(at).is_some() {
            return None;
        }
        at = if fits || dropped[at] { nodes[at].end as usize } else { at + 1 };
    }
    found
}

/// Drops everything that is neither inside `kept` nor around it.
fn drop_outside(nodes: &[Node], dropped: &mut [bool], kept: usize) {
    let mut at = 1;
    while at < nodes.len() {
        if at == kept {
            at = nodes[at].end as usize;
        } else if at < kept && kept < nodes[at].end as usize {
            at += 1;
        } else {
            dropped[at] = true;
            at = nodes[at].end as usize;
        }
    }
}

/// Visits the elements that are kept; those for which `drop` says so are dropped.
fn drop_where(nodes: &[Node], dropped: &mut [bool], mut drop: impl FnMut(usize, Tag) -> bool) {
    let mut at = 1;
    while at < nodes.len() {
        if let Some(tag) = nodes[at].tag {
            dropped[at] = dropped[at] || drop(at, tag);
        }
        at = if dropped[at] { nodes[at].end as usize } else { at + 1 };
    }
}

/// Sums over what is kept.
fn sum(nodes: &[Node], dropped: &[bool]) -> Sums {
    let mut sums = Sums {
        total: vec![0; nodes.len()],
        link: vec![0; nodes.len()],
        prose: vec![0; nodes.len()],
    };
    // Text of an element's own lines, outside links.
    let mut lines: Vec<u32> = vec![0; nodes.len()];
    for at in (0..nodes.len()).rev() {
        let node = &nodes[at];
        if dropped[at] {
            (sums.total[at], sums.link[at], sums.prose[at]) = (0, 0, 0);
            continue;
        }
        let parent = node.parent as usize;
        match node.tag {
            None => {
                sums.total[at] = node.weight;
                if !node.in_link {
                    lines[parent] += node.weight;
                }
            }
            Some(tag) if tag.is_block() || at == 0 => {
                if lines[at] >= PARAGRAPH && !tag.is_heading() {
                    sums.prose[at] += lines[at];
                }
            }
            Some(tag) => {
                if tag == Tag::A && sums.total[at] < SHORT_LINK {
                    sums.link[at] = sums.total[at];
                }
                lines[parent] += lines[at];
            }
        }
        if at != 0 {
            sums.total[parent] += sums.total[at];
            sums.link[parent] += sums.link[at];
            sums.prose[parent] += sums.prose[at];
        }
    }
    sums
}

/// Paragraphs in the outermost elements that have one of these marks and are not large.
fn prose_marked(
    tree: &Tree<'_>,
    sums: &Sums,
    dropped: &[bool],
    mark: Marks,
    large_too: bool,
) -> u32 {
    let mut prose = 0;
    let mut at = 1;
    while at < tree.nodes.len() {
        let node = &tree.nodes[at];
        let counts = node.marks.any(mark) && (large_too || !sums.is_large(at));
        if counts && !dropped[at] {
            prose += sums.prose[at];
        }
        at = if counts || dropped[at] { node.end as usize } else { at + 1 };
    }
    prose
}

/// The kind of page, where metadata does not say.
fn settle(tree: &Tree<'_>, sums: &Sums, dropped: &[bool], kind: PageKind) -> PageKind {
    if kind != PageKind::Other {
        return kind;
    }
    let page = sums.prose[0];
    if is_share(prose_marked(tree, sums, dropped, Marks::COMMENT, true), page, 60) {
        return PageKind::Forum;
    }
    let is_body = |node: &Node| {
        node.tag == Some(Tag::Article) || node.marks.any(Marks::ARTICLE_BODY.or(Marks::BLOG_POST))
    };
    let one = (1..tree.nodes.len())
        .any(|at| !dropped[at] && is_body(&tree.nodes[at]) && is_share(sums.prose[at], page, 70));
    if one { PageKind::Article } else { PageKind::Other }
}

/// The marks that name the frame on this page.
fn trusted_marks(tree: &Tree<'_>, sums: &Sums, dropped: &[bool], kind: PageKind) -> Marks {
    let comments = if kind == PageKind::Forum { Marks::NONE } else { Marks::COMMENT };
    FRAME_MARKS.into_iter().fold(comments, |trusted, mark| {
        let prose = prose_marked(tree, sums, dropped, mark, false);
        if is_share(prose, sums.prose[0], LARGE) { trusted } else { trusted.or(mark) }
    })
}

/// For each node, whether an `article` or `main` is around it.
fn inside_article(nodes: &[Node]) -> Vec<bool> {
    let mut inside = vec![false; nodes.len()];
    for at in 1..nodes.len() {
        let parent = nodes[at].parent as usize;
        inside[at] = inside[parent] || matches!(nodes[parent].tag, Some(Tag::Article | Tag::Main));
    }
    inside
}

/// Tells the frame from the content.
struct Frame<'tree, 'page> {
    tree: &'tree Tree<'page>,
    sums: Sums,
    kind: PageKind,
    trusted: Marks,
}

impl Frame<'_, '_> {
    /// Whether the element belongs to the frame.
    fn holds(&self, at: usize, tag: Tag, in_article: bool) -> bool {
        let marks = self.tree.nodes[at].marks;
        if tag == Tag::Nav {
            return true;
        }
        if self.sums.is_large(at) {
            return false;
        }
        let prosaic = is_share(self.sums.prose[at], self.sums.total[at], 50);
        match tag {
            Tag::Footer | Tag::Button | Tag::Dialog | Tag::Menu => return true,
            Tag::Aside => return !(self.kind == PageKind::Forum && marks.any(Marks::QUOTE)),
            Tag::Form if !prosaic => return true,
            Tag::Header if !in_article => return true,
            _ => {}
        }
        // Doubtful words do not outweigh paragraphs, but an article has its paragraphs elsewhere.
        let doubtful =
            if prosaic && self.kind != PageKind::Article { Marks::WEAK } else { Marks::NONE };
        if marks.any(self.trusted.without(doubtful)) && !marks.any(Marks::ARTICLE_BODY) {
            return true;
        }
        let out_of_kind = match self.kind {
            PageKind::Product => marks.any(Marks::REVIEW),
            PageKind::Forum => marks.any(Marks::PERSON) && !prosaic,
            PageKind::Article | PageKind::Other => false,
        };
        out_of_kind || self.is_menu(at, tag)
    }

    /// A block that is mostly short links.
    fn is_menu(&self, at: usize, tag: Tag) -> bool {
        let can_be_menu = matches!(
            tag,
            Tag::Ul | Tag::Ol | Tag::Dl | Tag::Div | Tag::Section | Tag::Table | Tag::Td | Tag::P
        );
        can_be_menu && is_share(self.sums.link[at], self.sums.total[at], 51)
    }
}

/// A block that starts with the label of something else goes; when the label stands alone among
/// the blocks of the text, what follows it there goes, up to the next heading like it.
/// Gives the labels, and what went because of them.
fn drop_labelled(
    tree: &Tree<'_>,
    sums: &Sums,
    dropped: &mut [bool],
    kind: PageKind,
) -> (Vec<usize>, Vec<usize>) {
    let (mut labels, mut trailing) = (Vec::new(), Vec::new());
    let nodes = &tree.nodes;
    let page = sums.prose[0].max(1);
    let mut labels_left = MAX_LABELS;
    let mut at = 1;
    while at < nodes.len() && labels_left > 0 {
        let node = &nodes[at];
        if dropped[at] {
            at = node.end as usize;
            continue;
        }
        let is_label = node.tag.is_some_and(Tag::is_block)
            && LABEL.contains(&sums.total[at])
            && node.end - at as u32 <= LABEL_NODES
            && labels::is_trailing(&text_of(tree, at), kind != PageKind::Forum);
        if !is_label {
            at += 1;
            continue;
        }
        labels_left -= 1;
        labels.push(at);
        let block = labelled_block(nodes, sums, at, page);
        dropped[block] = true;
        trailing.push(block);
        if block == at {
            let followers: Vec<usize> = siblings_after(nodes, at).collect();
            let prose: u32 = followers.iter().map(|&sibling| sums.prose[sibling]).sum();
            if !is_share(prose, page, 30) {
                let is_like = |sibling: usize| {
                    nodes[sibling].tag == node.tag && node.tag.is_some_and(Tag::is_heading)
                };
                for sibling in followers.into_iter().take_while(|&sibling| !is_like(sibling)) {
                    dropped[sibling] = true;
                    trailing.push(sibling);
                }
            }
        }
        at = nodes[block].end as usize;
    }
    (labels, trailing)
}

/// From a label outwards, while the block around starts with it and is not the text itself.
fn labelled_block(nodes: &[Node], sums: &Sums, label: usize, page: u32) -> usize {
    let mut block = label;
    loop {
        let parent = nodes[block].parent as usize;
        let after: u32 = siblings_after(nodes, block).map(|sibling| sums.total[sibling]).sum();
        let before = sums.total[parent] - sums.total[block] - after;
        if parent == 0 || before > 30 || is_share(sums.prose[parent], page, 35) {
            return block;
        }
        block = parent;
    }
}

fn siblings_after(nodes: &[Node], at: usize) -> impl Iterator<Item = usize> + '_ {
    let end = nodes[nodes[at].parent as usize].end as usize;
    let mut next = nodes[at].end as usize;
    std::iter::from_fn(move || {
        (next < end).then(|| {
            let sibling = next;
            next = nodes[sibling].end as usize;
            sibling
        })
    })
}

/// The text of a small subtree, white space folded.
pub(crate) fn text_of(tree: &Tree<'_>, at: usize) -> String {
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

/// Whether a heading repeats the page's title: at least six in ten of its words are in it.
fn is_title(tree: &Tree<'_>, at: usize, title: &[String]) -> bool {
    let text = text_of(tree, at).to_lowercase();
    let words = text.split(' ').count();
    let shared = text.split(' ').filter(|word| title.iter().any(|known| known == word)).count();
    shared * 10 >= words * 6
}

/// The element whose text is the core text.
fn root(tree: &Tree<'_>, sums: &Sums, dropped: &[bool], kind: PageKind) -> usize {
    let nodes = &tree.nodes;
    let mut root = 0;
    let mut at = 1;
    while at < nodes.len() {
        let node = &nodes[at];
        if dropped[at] {
            at = node.end as usize;
            continue;
        }
        let names_itself = node.tag == Some(Tag::Main)
            || node.marks.any(Marks::MAIN.or(Marks::ARTICLE_BODY).or(Marks::BLOG_POST));
        if names_itself && is_share(sums.total[at], sums.total[0], LARGE) {
            root = at;
            if node.marks.any(Marks::ARTICLE_BODY) {
                break;
            }
        }
        at += 1;
    }
    loop {
        let mut heir = None;
        let mut child = root + 1;
        while child < nodes[root].end as usize {
            let inherits = !dropped[child]
                && nodes[child].tag.is_some()
                && match kind {
                    PageKind::Article if sums.prose[root] > 200 => {
                        is_share(sums.prose[child], sums.prose[root], 90)
                    }
                    PageKind::Forum => is_share(sums.total[child], sums.total[root], 95),
                    _ => is_share(sums.total[child], sums.total[root], 85),
                };
            if inherits {
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
