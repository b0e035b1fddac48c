//! What the program that learns the model's numbers (`benches/core-text`) sees of the extractor.
//! Not an interface for anybody else: it changes whenever the model does.

use super::class_words::{class_bucket, for_each_name, for_each_word, tag_bucket};
use super::columns::{Columns, share};
use super::features::{features, names};
pub use super::model::{Model, ObliviousTree};
use super::model::{UNIT, evaluate};
use super::reading::{Kept, Reading};
use super::tags::Tag;
use super::text_numbers::{PROSE_WORDS, SHORT_WORDS, for_each_prose_word, for_each_text_word};
use super::tokens::attribute_in;

/// Buckets of the tables of words.
pub const BUCKETS: usize = super::class_words::BUCKETS;
/// Buckets of the table of words of paragraphs.
pub const PROSE_BUCKETS: usize = super::class_words::PROSE_BUCKETS;
/// Levels of a tree.
pub const DEPTH: usize = super::model::DEPTH;
/// What a logit of one is in leaves.
pub const LEAF_UNIT: i32 = UNIT;

/// The numbers that are compiled in.
pub fn compiled() -> &'static Model {
    &super::numbers::MODEL
}

/// A page as the model sees it.
pub struct Lesson<'page> {
    reading: Reading<'page>,
    columns: Columns,
    words: Vec<u32>,
}

impl<'page> Lesson<'page> {
    /// Reads a page; of the model only the tables of words matter.
    pub fn new(html: &'page str, url: Option<&str>, model: &Model) -> Lesson<'page> {
        let reading = Reading::new(html, url, model);
        let (columns, words) = features(&reading.scene(model));
        Lesson { reading, columns, words }
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.words.len()
    }

    /// Words of each block, as the model counts them.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The text of a block.
    pub fn block_text(&self, block: usize) -> String {
        let reading = &self.reading;
        let texts = reading.blocks.list[block].texts(&reading.tree, &reading.choice);
        texts.map(|(_, text)| text).collect()
    }

    /// What the rules keep of each block, in 1/250.
    pub fn ruled(&self, block: usize) -> u8 {
        let block = &self.reading.blocks.list[block];
        share(block.ruled, block.weight)
    }

    /// Buckets of the tags and class words around each block, outermost first.
    pub fn class_buckets(&self, block: usize) -> Vec<u16> {
        let tree = &self.reading.tree;
        let mut buckets = Vec::new();
        let mut at = self.reading.blocks.list[block].holder as usize;
        while at != 0 {
            let node = &tree.nodes[at];
            if let Some(tag) = node.tag {
                buckets.push(tag_bucket(tag) as u16);
            }
            for name in ["class", "id"] {
                let value = attribute_in(node.span.of(tree.page), name).unwrap_or("");
                for_each_name(value, |name| {
                    for_each_word(name, |word| {
                        buckets.extend(class_bucket(word).map(|bucket| bucket as u16));
                    });
                });
            }
            at = node.parent as usize;
        }
        buckets
    }

    /// Buckets of a short block's words.
    pub fn text_buckets(&self, block: usize) -> Vec<u16> {
        let mut buckets = Vec::new();
        if self.words[block] <= SHORT_WORDS {
            for_each_text_word(&self.block_text(block), |bucket| buckets.push(bucket as u16));
        }
        buckets
    }

    /// Buckets of the first words of a block that is not short.
    pub fn prose_buckets(&self, block: usize) -> Vec<u16> {
        let mut buckets = Vec::new();
        if self.words[block] > SHORT_WORDS {
            let mut left = PROSE_WORDS;
            let reading = &self.reading;
            for (_, part) in reading.blocks.list[block].texts(&reading.tree, &reading.choice) {
                for_each_prose_word(part, &mut left, |bucket| buckets.push(bucket as u16));
            }
        }
        buckets
    }

    /// The short heading above each block: its place among the blocks.
    pub fn headings(&self) -> Vec<Option<usize>> {
        let tree = &self.reading.tree;
        let mut last = None;
        let list = self.reading.blocks.list.iter().enumerate();
        list.map(|(at, block)| {
            let is_heading = tree.nodes[block.holder as usize].tag.is_some_and(Tag::is_heading);
            let above = last;
            if is_heading {
                last = (self.words[at] <= SHORT_WORDS).then_some(at);
            }
            above
        })
        .collect()
    }

    /// Names of the features.
    pub fn names(&self, model: &Model) -> Vec<&'static str> {
        names(&self.reading.scene(model))
    }

    /// How many features there are.
    pub fn features(&self) -> usize {
        self.columns.count()
    }

    /// One feature of all blocks.
    pub fn column(&self, feature: usize) -> &[u8] {
        self.columns.column(feature)
    }

    /// The scores that trees give the blocks.
    pub fn scores(&self, trees: &[ObliviousTree]) -> Vec<i32> {
        evaluate(trees, &self.columns)
    }

    /// The page's text by these scores.
    pub fn text(&self, scores: &[i32]) -> String {
        self.reading.text(&self.reading.kept_by(scores, &self.words))
    }

    /// The page's text when these blocks are kept.
    pub fn text_of(&self, kept: &[bool]) -> String {
        self.reading.text(&Kept::Blocks(kept.to_vec()))
    }

    /// The page's text by the rules alone.
    pub fn ruled_text(&self) -> String {
        self.reading.text(&Kept::Ruled)
    }
}
