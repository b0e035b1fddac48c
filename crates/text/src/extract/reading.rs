//! One page from its bytes to its text: parse, rules, blocks, model, rendering.

use super::blocks::Blocks;
use super::choose::{self, Choice, PageKind};
use super::features::{Scene, features};
use super::metadata::{self, Metadata};
use super::model::{Model, evaluate, expected_f1, keep};
use super::page_traits::PageTraits;
use super::structure::{Piece, paragraphs, structure};
use super::tags::Tag;
use super::tree::{self, Tree};
use super::{Page, render};

/// Below this weight (about 120 words) a page's `noscript` is worth a look.
const FEW_WORDS: u32 = 600;

/// What the model must expect to gain over the rules, in 1/65536 of F1: more lost on WCXB than it
/// gained elsewhere.
pub(crate) const MARGIN: u64 = 0;

/// Percentage of the page's text that protects a block.
const LARGE: u64 = 40;

/// Words of the title that are compared with headings.
const TITLE_WORDS: usize = 64;

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

    /// Which blocks are core text.
    pub(crate) fn kept(&self, model: &Model) -> Vec<bool> {
        if self.rules_decide() {
            return self.ruled();
        }
        let (columns, words) = features(&self.scene(model));
        self.kept_by(&evaluate(&model.trees, &columns), &words, MARGIN)
    }

    /// Whether the model is not asked. Articles: the rules are better on sets that the model learned
    /// nothing from (Zyte). Pages that name their post's container: a short post in a long frame
    /// is told by nothing else. Pages without address and metadata: the model learned from none
    /// (CleanEval).
    fn rules_decide(&self) -> bool {
        self.choice.kind == PageKind::Article
            || self.choice.has_post
            || self.metadata.traits == PageTraits::default()
    }

    /// Which blocks the rules keep.
    fn ruled(&self) -> Vec<bool> {
        self.blocks.list.iter().map(|block| block.ruled > 0).collect()
    }

    /// Which blocks are core text by these scores: those that the model keeps, if it is asked and
    /// expects to gain more than `margin` over the rules. A block with most of the page's text
    /// outside links that the rules keep is kept in any case.
    pub(crate) fn kept_by(&self, scores: &[i32], words: &[u32], margin: u64) -> Vec<bool> {
        let list = &self.blocks.list;
        let ruled = self.ruled();
        if self.rules_decide() {
            return ruled;
        }
        let mut kept = keep(scores, words);
        if expected_f1(&kept, scores, words) <= expected_f1(&ruled, scores, words) + margin {
            return ruled;
        }
        let page: u64 = list.iter().map(|block| u64::from(block.weight - block.link)).sum();
        for (block, kept) in list.iter().zip(&mut kept) {
            let is_large = u64::from(block.weight - block.link) * 100 > page * LARGE;
            *kept |= is_large && block.ruled > 0;
        }
        kept
    }

    /// The text when these blocks are kept.
    pub(crate) fn text(&self, kept: &[bool]) -> String {
        self.with_metadata(render::render(&self.tree, 0, &self.dropped(kept))).0
    }

    /// The text when these blocks are kept, and the same with its structure.
    pub(crate) fn text_and_structure(
        &self,
        kept: &[bool],
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

    /// For each node, whether its subtree is left out when these blocks are kept.
    fn dropped(&self, kept: &[bool]) -> Vec<bool> {
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

    /// The text when only the rules speak.
    pub(crate) fn ruled_text(&self) -> String {
        self.with_metadata(render::render(&self.tree, self.choice.root, &self.choice.dropped)).0
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
