//! One page from its bytes to its text: parse, rules, blocks, model, rendering.

use super::blocks::Blocks;
use super::choose::{self, Choice, PageKind};
use super::features::{Scene, features};
use super::marks::Marks;
use super::metadata::{self, Metadata};
use super::model::{Model, evaluate, expected_f1, keep};
use super::structure::{Piece, paragraphs, structure};
use super::tags::Tag;
use super::tree::{self, Tree};
use super::{Page, render};

/// Below this weight (about 120 words) a page's `noscript` is worth a look.
const FEW_WORDS: u32 = 600;

/// The F1, in 1/65536, that the model must expect of what it keeps, or the rules decide. A page that it
/// expects less of is of a sort that it has not learned.
const SURE: u64 = 65536 / 2;

/// The same for articles and for pages that name their post's container, where the rules are strong: a
/// short post in a long frame is told by nothing else.
const SURE_OF_ARTICLE: u64 = 65536 * 7 / 10;

/// Percentage of the page's text that protects a block.
const LARGE: u64 = 40;

/// Words of the title that are compared with headings.
const TITLE_WORDS: usize = 64;

/// What of a page is core text.
pub(crate) enum Kept {
    /// What the rules keep.
    Ruled,
    /// These blocks.
    Blocks(Vec<bool>),
}

/// A page that was parsed, judged by the rules and cut into blocks.
pub(crate) struct Reading<'page> {
    pub tree: Tree<'page>,
    pub metadata: Metadata,
    pub choice: Choice,
    pub blocks: Blocks,
    title: Vec<String>,
}

impl<'page> Reading<'page> {
    pub(crate) fn new(html: &'page str, url: Option<&str>, model: &Model) -> Reading<'page> {
        let tree = tree::build(html, model);
        let metadata = metadata::read(&tree, url);
        let title: Vec<String> = metadata
            .title
            .iter()
            .chain(&tree.title)
            .flat_map(|title| title.split_whitespace().take(TITLE_WORDS).map(str::to_lowercase))
            .collect();
        let mut choice = choose::choose(&tree, metadata.kind, &title, false);
        let has_noscript = || tree.nodes.iter().any(|node| node.tag == Some(Tag::Noscript));
        if choice.weight < FEW_WORDS && has_noscript() {
            let again = choose::choose(&tree, metadata.kind, &title, true);
            if again.weight > choice.weight {
                choice = again;
            }
        }
        let blocks = Blocks::cut(&tree, &choice);
        Reading { tree, metadata, choice, blocks, title }
    }

    /// What the features are read from.
    pub(crate) fn scene<'scene>(&'scene self, model: &'scene Model) -> Scene<'scene, 'page> {
        Scene {
            tree: &self.tree,
            choice: &self.choice,
            blocks: &self.blocks,
            metadata: &self.metadata,
            title: &self.title,
            model,
        }
    }

    /// What is core text.
    pub(crate) fn kept(&self, model: &Model) -> Kept {
        if self.rules_decide() {
            return Kept::Ruled;
        }
        let (columns, words) = features(&self.scene(model));
        self.kept_by(&evaluate(&model.trees, &columns), &words)
    }

    /// Whether the model is not asked: it learned from no page without address and metadata.
    fn rules_decide(&self) -> bool {
        self.metadata.traits.is_empty()
    }

    /// What is core text by these scores: the blocks that the model keeps, if it is asked and is
    /// sure enough. A block with most of the page's text outside links that the rules keep is kept in
    /// any case.
    pub(crate) fn kept_by(&self, scores: &[i32], words: &[u32]) -> Kept {
        let list = &self.blocks.list;
        if self.rules_decide() {
            return Kept::Ruled;
        }
        let ruled: Vec<bool> = list.iter().map(|block| block.ruled > 0).collect();
        let mut kept = keep(scores, words);
        let expected = expected_f1(&kept, scores, words);
        let is_article = self.choice.kind == PageKind::Article || self.choice.has_post;
        let sure = if is_article { SURE_OF_ARTICLE } else { SURE };
        if expected < sure || expected <= expected_f1(&ruled, scores, words) {
            return Kept::Ruled;
        }
        let page: u64 = list.iter().map(|block| u64::from(block.weight - block.link)).sum();
        for (block, kept) in list.iter().zip(&mut kept) {
            let is_large = u64::from(block.weight - block.link) * 100 > page * LARGE;
            *kept |= is_large && block.ruled > 0;
        }
        if is_article {
            self.leave_comments(&mut kept);
        }
        Kept::Blocks(kept)
    }

    /// Comments on an article are not its text, nor is what stands under "Related": it goes unless the
    /// rules keep it. The model knows such labels in English only.
    fn leave_comments(&self, kept: &mut [bool]) {
        let nodes = &self.tree.nodes;
        let mut is_left = vec![false; nodes.len()];
        for &at in &self.choice.trailing {
            is_left[at] = true;
        }
        for (at, node) in nodes.iter().enumerate() {
            is_left[at] |= is_left[node.parent as usize] || node.marks.any(Marks::COMMENT);
        }
        for (block, kept) in self.blocks.list.iter().zip(kept) {
            *kept &= block.ruled > 0 || !is_left[block.first as usize];
        }
    }

    /// The text of what is kept.
    pub(crate) fn text(&self, kept: &Kept) -> String {
        self.with_metadata(render::render(&self.tree, 0, &self.dropped(kept))).0
    }

    /// The text of what is kept, and the same with its structure.
    pub(crate) fn text_and_structure(
        &self,
        kept: &Kept,
        url: Option<&str>,
    ) -> (String, Vec<Piece>) {
        let dropped = self.dropped(kept);
        let (text, source) = self.with_metadata(render::render(&self.tree, 0, &dropped));
        let mut pieces = Vec::new();
        if let Source::Described(description) = &source {
            pieces = paragraphs(description);
        }
        match source {
            Source::Body => pieces = paragraphs(&text),
            _ => pieces.extend(structure(&self.tree, &dropped, url)),
        }
        (text, pieces)
    }

    /// For each node, whether its subtree is left out.
    fn dropped(&self, kept: &Kept) -> Vec<bool> {
        let kept = match kept {
            Kept::Ruled => return self.ruled_out(),
            Kept::Blocks(kept) => kept,
        };
        let mut dropped = self.choice.unseen.clone();
        for (block, &is_kept) in self.blocks.list.iter().zip(kept) {
            // What the rules find inside a block that both keep, such as a button, goes.
            let inner = is_kept && block.ruled > 0;
            let nodes = block.first as usize..=block.last as usize;
            let ruled = &self.choice.dropped[nodes.clone()];
            for ((is_dropped, node), ruled) in
                dropped[nodes.clone()].iter_mut().zip(&self.tree.nodes[nodes]).zip(ruled)
            {
                *is_dropped |= (node.tag.is_none() && !is_kept) || (inner && *ruled);
            }
        }
        dropped
    }

    /// For each node, whether the rules leave its subtree out: all texts outside the root too.
    fn ruled_out(&self) -> Vec<bool> {
        let nodes = &self.tree.nodes;
        let root = self.choice.root..nodes[self.choice.root].end as usize;
        let mut dropped = self.choice.dropped.clone();
        for (at, (is_dropped, node)) in dropped.iter_mut().zip(nodes).enumerate() {
            *is_dropped |= node.tag.is_none() && !root.contains(&at);
        }
        dropped
    }

    /// A page that draws its text by script often carries it whole in its metadata.
    fn with_metadata(&self, found: String) -> (String, Source) {
        let mut text = found;
        let mut source = Source::Page;
        if let Some(body) = self.metadata.article_body.as_deref().map(plain)
            && body.len() * 2 > text.len() * 3
        {
            (text, source) = (body, Source::Body);
        }
        if let Some(description) = self.metadata.product_description.as_deref().map(plain) {
            let lead: String = description.chars().take(60).collect();
            if !lead.is_empty() && !text.contains(lead.trim()) {
                text = format!("{description}\n{text}");
                if source == Source::Page {
                    source = Source::Described(description);
                }
            }
        }
        (text, source)
    }

    /// The page with this text.
    pub(crate) fn into_page(self, text: String, url: Option<&str>) -> Page {
        Page {
            title: self.metadata.title,
            language: self.metadata.language,
            canonical: self.metadata.canonical,
            published: self.metadata.published,
            text,
            links: self.tree.links.finish(url),
        }
    }
}

/// What a text was taken from.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    /// Blocks of the page.
    Page,
    /// This description, then blocks of the page.
    Described(String),
    /// The metadata alone.
    Body,
}

/// A metadata value as text: some sites put markup or character references into it.
fn plain(value: &str) -> String {
    let unescaped = htmlize::unescape(value);
    if unescaped.contains('<') {
        let tree = tree::build(&unescaped, &super::numbers::MODEL);
        return render::render(&tree, 0, &vec![false; tree.nodes.len()]);
    }
    unescaped.trim().to_owned()
}
