//! What the model sees of a block: some hundred bytes.
//!
//! Every feature is a byte from the start: amounts on a logarithmic scale ([`amount`]), shares in
//! 1/250 ([`share`]), small numbers and flags. So a split of a tree is one comparison of bytes, sixteen
//! blocks an instruction, and there is no floating point that machines could round differently.
//!
//! Groups: the block's own text; its place; elements around it and their marks; four levels of
//! branches around it (how large, how much link text, how often repeated among siblings, what the
//! rules keep of it); its neighbours; the page. A *branch* is the outermost element with the
//! same blocks inside, so that wrappers of wrappers count once.
//!
//! Cost: one pass over the nodes, one over the text, some hundred stores a block.

use super::blocks::Blocks;
use super::choose::{Choice, PageKind};
use super::columns::{Columns, Sink, amount, centred, share};
use super::metadata::Metadata;
use super::model::Model;
use super::page_numbers::{PAGE_SHARES, PageNumbers, look_at_page};
use super::seen::{Seen, look_at_texts, title_share};
use super::surroundings::{AROUND, Around, MARKS, look_around};
use super::tags::Tag;
use super::text_numbers::letter_sort;
use super::tree::Tree;

/// Levels of branches that are looked at.
const LEVELS: usize = 4;
/// The sort of element, ordered from prose to frame.
pub(crate) fn sort_of(tag: Option<Tag>) -> u8 {
    match tag {
        Some(Tag::P) => 1,
        Some(Tag::Blockquote) => 2,
        Some(Tag::Pre) => 3,
        Some(Tag::H1) => 4,
        Some(Tag::H2) => 5,
        Some(Tag::H3) => 6,
        Some(Tag::H4) => 7,
        Some(Tag::H5 | Tag::H6) => 8,
        Some(Tag::Figcaption | Tag::Caption) => 9,
        Some(Tag::Th) => 10,
        Some(Tag::Td) => 11,
        Some(Tag::Tr | Tag::Tbody | Tag::Table | Tag::Thead | Tag::Tfoot) => 12,
        Some(Tag::Dt) => 13,
        Some(Tag::Dd) => 14,
        Some(Tag::Dl) => 15,
        Some(Tag::Li) => 16,
        Some(Tag::Ul | Tag::Ol) => 17,
        Some(Tag::Article) => 18,
        Some(Tag::Main) => 19,
        Some(Tag::Section) => 20,
        Some(Tag::Div | Tag::Body) => 21,
        Some(Tag::Span) => 22,
        Some(Tag::A) => 23,
        Some(Tag::Details | Tag::Summary) => 24,
        Some(Tag::Header) => 25,
        Some(Tag::Address) => 26,
        Some(Tag::Form | Tag::Fieldset | Tag::Legend | Tag::Label | Tag::Option) => 27,
        Some(Tag::Button) => 28,
        Some(Tag::Aside) => 29,
        Some(Tag::Footer) => 30,
        Some(Tag::Nav) => 31,
        _ => 32,
    }
}

/// Everything the features are read from.
pub(crate) struct Scene<'scene, 'page> {
    pub tree: &'scene Tree<'page>,
    pub choice: &'scene Choice,
    pub blocks: &'scene Blocks,
    pub metadata: &'scene Metadata,
    /// Words of the title, lower case.
    pub title: &'scene [String],
    pub model: &'scene Model,
}

/// The features of all blocks, and how many words each has.
pub(crate) fn features(scene: &Scene<'_, '_>) -> (Columns, Vec<u32>) {
    let mut columns = Columns::new(scene.blocks.list.len());
    let (around, runs) = look_around(scene.tree, scene.choice, scene.blocks);
    let seen = look_at_texts(scene);
    let numbers = look_at_page(scene, &around, &runs, &seen);
    for at in 0..scene.blocks.list.len() {
        describe(scene, &around, &runs, &seen, &numbers, at, &mut columns.row(at));
    }
    (columns, seen.iter().map(|seen| seen.text.words).collect())
}

fn describe(
    scene: &Scene<'_, '_>,
    around: &[Around],
    runs: &[u16],
    seen: &[Seen],
    numbers: &PageNumbers,
    at: usize,
    sink: &mut impl Sink,
) {
    let nodes = &scene.tree.nodes;
    let blocks = scene.blocks;
    let block = &blocks.list[at];
    let page = blocks.over(0..blocks.list.len());
    let holder = block.holder as usize;
    let Seen { text, word_score, copies, since_heading, heading, since_label, ordinal, .. } =
        seen[at];

    // The text.
    sink.put("weight", amount(block.weight));
    sink.put("words", amount(text.words));
    sink.put("link share", share(block.link, block.weight));
    sink.put("links", amount(block.links));
    sink.put("unlinked weight", amount(block.weight - block.link));
    sink.put("word length", (block.weight * 8).checked_div(text.words).unwrap_or(0).min(250) as u8);
    sink.put("commas", amount(text.commas));
    sink.put("stops", amount(text.stops));
    sink.put("digit share", share(text.digits, block.weight));
    sink.put("capital share", share(text.capitals, block.weight));
    sink.put("wide share", share(text.wide, block.weight));
    sink.put("marks", amount(text.marks));
    sink.put("currency", amount(text.currency));
    sink.put("first", letter_sort(text.first));
    sink.put("last", letter_sort(text.last));
    sink.put("word score", centred(word_score * 4));
    sink.put("mean word score", centred(word_score * 8 / text.words.max(1) as i32));
    let Seen { prose_score, prose_words, .. } = seen[at];
    sink.put("prose score", centred(prose_score * 2));
    sink.put("mean prose score", centred(prose_score * 32 / prose_words.max(1) as i32));
    sink.put("longest run", amount(text.longest));
    sink.put("copies", copies);
    sink.put("copy number", amount(u32::from(ordinal)));
    sink.put("sort", sort_of(nodes[holder].tag));
    let is_short = nodes[holder].tag.is_some_and(Tag::is_heading) || block.weight < 200;
    sink.put("title share", if is_short { title_share(scene, block, text.words) } else { 0 });

    let known = &scene.metadata.known;
    let (described, runs_of_words) = if known.is_empty() {
        (0, 0)
    } else {
        known.look_up(block.texts(scene.tree, scene.choice).map(|(_, text)| text))
    };
    sink.put("described", share(described, runs_of_words));

    // The place.
    let before = blocks.over(0..at);
    sink.put("weight before", share(before.weight, page.weight));
    sink.put("blocks before", amount(before.blocks));
    sink.put("blocks after", amount(page.blocks - before.blocks - 1));
    sink.put("place", share(before.blocks, page.blocks));
    sink.put("depth", around[holder].depth.min(255) as u8);
    sink.put("since heading", amount(u32::from(since_heading)));
    sink.put("heading", heading);
    sink.put("since label", amount(u32::from(since_label)));
    sink.put("section", centred(seen[at].section * 4));
    sink.put("part", centred(seen[at].part * 4));
    let anchors = numbers.anchors.iter().zip(&numbers.with_anchors);
    for ((anchor, with), names) in anchors.zip(ANCHOR_NAMES) {
        let (since, until, with) = match *anchor {
            None => (255, 255, 255),
            Some(anchor) if anchor <= at => (amount((at - anchor) as u32), 0, with[holder]),
            Some(anchor) => (254, amount((anchor - at) as u32), with[holder]),
        };
        sink.put(names[0], since);
        sink.put(names[1], until);
        sink.put(names[2], with);
    }

    // What the rules say.
    sink.put("ruled", share(block.ruled, block.weight));
    let ruled_before = before.ruled;
    sink.put("ruled before", share(ruled_before, page.ruled));
    let near = |reach: usize| at.saturating_sub(reach)..(at + reach + 1).min(blocks.list.len());
    for (name, prose, reach) in [
        ("ruled within 2", "prose within 2", 2),
        ("ruled within 6", "prose within 6", 6),
        ("ruled within 20", "prose within 20", 20),
    ] {
        let sums = blocks.over(near(reach));
        sink.put(name, share(sums.ruled, sums.weight));
        sink.put(prose, share(sums.prose, sums.weight));
    }

    // The elements around.
    let here = around[holder];
    let first = nodes[block.first as usize].parent as usize;
    let tags = here.tags | around[first].tags;
    for (bit, (name, _)) in AROUND.iter().enumerate() {
        sink.put(name, u8::from(tags & 1 << bit != 0));
    }
    let branch = here.branch as usize;
    let outside = around[nodes[branch].parent as usize];
    let marks = here.marks.or(around[first].marks);
    for (name, mark) in MARKS {
        let near = u8::from(marks.any(mark) && !outside.marks.any(mark));
        sink.put(name, u8::from(marks.any(mark)) + near);
    }
    sink.put("score", centred(here.score));
    sink.put("inner score", centred(around[first].score - outside.score));

    // Branches around.
    let mut branch = branch;
    for names in BRANCH_NAMES {
        let above = nodes[branch].parent as usize;
        let inside = blocks.over(blocks.inside(nodes, branch));
        sink.put(names[0], amount(u32::from(runs[around[branch].run as usize])));
        sink.put(names[1], share(inside.weight, page.weight));
        sink.put(names[2], amount(inside.blocks));
        sink.put(names[3], share(inside.link, inside.weight));
        sink.put(names[4], share(inside.prose, inside.weight));
        sink.put(names[5], share(inside.ruled, inside.weight));
        sink.put(names[6], centred(here.score - around[above].score));
        sink.put(names[7], sort_of(nodes[branch].tag));
        let range = blocks.inside(nodes, branch);
        sink.put(names[8], amount((at - range.start.min(at)) as u32));
        sink.put(names[9], share(inside.prose, page.prose));
        let images = &numbers.images;
        sink.put(names[10], amount(images[nodes[branch].end as usize] - images[branch]));
        branch = around[above].branch as usize;
    }

    // Blocks in like elements.
    let group = blocks.group(block.group);
    sink.put("group blocks", amount(group.blocks));
    sink.put("group page share", share(group.weight, page.weight));
    sink.put("group mean weight", amount(group.weight / group.blocks.max(1)));
    sink.put("group links", share(group.link, group.weight));
    sink.put("group prose", share(group.prose, group.weight));
    sink.put("group ruled", share(group.ruled, group.weight));

    // Neighbours.
    for (names, neighbour) in NEIGHBOUR_NAMES.iter().zip([
        at.checked_sub(2),
        at.checked_sub(1),
        Some(at + 1),
        Some(at + 2),
    ]) {
        let other = neighbour.and_then(|n| Some((blocks.list.get(n)?, &seen[n])));
        let (weight, link, sort, ruled, score) = other.map_or((0, 0, 0, 0, 0), |(block, seen)| {
            let words = seen.word_score * 4 + seen.prose_score * 2;
            (
                amount(block.weight),
                share(block.link, block.weight),
                sort_of(nodes[block.holder as usize].tag),
                share(block.ruled, block.weight),
                centred(words),
            )
        });
        sink.put(names[0], weight);
        sink.put(names[1], link);
        sink.put(names[2], sort);
        sink.put(names[3], ruled);
        sink.put(names[4], score);
    }

    // The page.
    sink.put(
        "kind",
        match scene.choice.kind {
            PageKind::Article => 0,
            PageKind::Forum => 1,
            PageKind::Product => 2,
            PageKind::Other => 3,
        },
    );
    sink.put("page blocks", amount(page.blocks));
    sink.put("page weight", amount(page.weight));
    sink.put("page link share", share(page.link, page.weight));
    sink.put("page prose share", share(page.prose, page.weight));
    sink.put("page ruled share", share(page.ruled, page.weight));
    sink.put("page images", amount(numbers.images[nodes.len()]));
    sink.put("page prices", amount(numbers.prices));
    sink.put("page headings", amount(numbers.headings));
    sink.put("largest group", numbers.largest_group);
    sink.put("largest run", numbers.largest_run);
    for ((name, ..), value) in PAGE_SHARES.iter().zip(numbers.shares) {
        sink.put(name, value);
    }
    let traits = &scene.metadata.traits;
    for (name, has) in BODY_NAMES.iter().zip(traits.body_words) {
        sink.put(name, has);
    }
    sink.put("og type", traits.og_type);
    for (name, has) in TYPE_NAMES.iter().zip(traits.types) {
        sink.put(name, has);
    }
    for (name, has) in ADDRESS_NAMES.iter().zip(traits.address_words) {
        sink.put(name, has);
    }
    sink.put("path parts", traits.path_parts);
    sink.put("path hyphens", traits.hyphens);
    sink.put("path digits", traits.digits);
}

const BRANCH_NAMES: [[&str; 11]; LEVELS] = [
    [
        "run 0",
        "page share 0",
        "blocks 0",
        "links 0",
        "prose 0",
        "ruled 0",
        "score 0",
        "sort 0",
        "number 0",
        "prose share 0",
        "images 0",
    ],
    [
        "run 1",
        "page share 1",
        "blocks 1",
        "links 1",
        "prose 1",
        "ruled 1",
        "score 1",
        "sort 1",
        "number 1",
        "prose share 1",
        "images 1",
    ],
    [
        "run 2",
        "page share 2",
        "blocks 2",
        "links 2",
        "prose 2",
        "ruled 2",
        "score 2",
        "sort 2",
        "number 2",
        "prose share 2",
        "images 2",
    ],
    [
        "run 3",
        "page share 3",
        "blocks 3",
        "links 3",
        "prose 3",
        "ruled 3",
        "score 3",
        "sort 3",
        "number 3",
        "prose share 3",
        "images 3",
    ],
];

const NEIGHBOUR_NAMES: [[&str; 5]; 4] = [
    ["weight -2", "links -2", "sort -2", "ruled -2", "words -2"],
    ["weight -1", "links -1", "sort -1", "ruled -1", "words -1"],
    ["weight +1", "links +1", "sort +1", "ruled +1", "words +1"],
    ["weight +2", "links +2", "sort +2", "ruled +2", "words +2"],
];

const ANCHOR_NAMES: [[&str; 3]; 2] =
    [["since title", "until title", "with title"], ["since prose", "until prose", "with prose"]];

const BODY_NAMES: [&str; 8] = [
    "body product",
    "body collection",
    "body single",
    "body page",
    "body home",
    "body forum",
    "body archive",
    "body docs",
];

const TYPE_NAMES: [&str; 9] = [
    "is article",
    "is blog",
    "is product",
    "is list",
    "is forum",
    "is service",
    "is faq",
    "is recipe",
    "is person",
];

const ADDRESS_NAMES: [&str; 6] =
    ["at shop", "at blog", "at docs", "at category", "at forum", "at service"];

/// The names of the features in their order.
pub(crate) fn names(scene: &Scene<'_, '_>) -> Vec<&'static str> {
    struct Names(Vec<&'static str>);
    impl Sink for Names {
        fn put(&mut self, name: &'static str, _value: u8) {
            self.0.push(name);
        }
    }
    let mut names = Names(Vec::new());
    let (around, runs) = look_around(scene.tree, scene.choice, scene.blocks);
    let seen = look_at_texts(scene);
    if !scene.blocks.list.is_empty() {
        let numbers = look_at_page(scene, &around, &runs, &seen);
        describe(scene, &around, &runs, &seen, &numbers, 0, &mut names);
    }
    names.0
}
