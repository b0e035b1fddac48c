//! What each block's text says by itself and by its place in the order of the text: numbers that its
//! neighbours ask for too.
//!
//! Cost: one look at each byte, and at the first words of each block.

use std::collections::HashMap;

use super::blocks::Block;
use super::columns::{amount, share};
use super::features::{Scene, sort_of};
use super::marks::Hashed;
use super::tags::Tag;
use super::text_numbers::{
    PROSE_WORDS, SHORT_WORDS, TextNumbers, count_text, for_each_prose_word, for_each_text_word,
};

/// A block's numbers that its neighbours ask for too.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub text: TextNumbers,
    pub word_score: i32,
    pub copies: u8,
    pub since_heading: u16,
    pub heading: u8,
    pub since_label: u16,
    pub ordinal: u16,
    /// What the words of the headings above say: of the last one, and of the last large one.
    pub section: i32,
    pub part: i32,
    /// What the words of a paragraph say, and how many were looked at.
    pub prose_score: i32,
    pub prose_words: u32,
}

/// Looks at the text of every block.
pub(crate) fn look_at_texts(scene: &Scene<'_, '_>) -> Vec<Seen> {
    let nodes = &scene.tree.nodes;
    let list = &scene.blocks.list;
    let mut seen: Vec<Seen> = Vec::with_capacity(list.len());
    let mut copies: HashMap<u64, u16, Hashed> =
        HashMap::with_capacity_and_hasher(list.len(), Default::default());
    let (mut since_heading, mut heading) = (u16::MAX, 0);
    let mut since_label = u16::MAX;
    let (mut section, mut part) = (0, 0);
    let mut labels = scene.choice.labels.iter().peekable();
    for block in list {
        let text = count_text(block, scene.tree, scene.choice);
        let mut word_score = 0;
        if text.words <= SHORT_WORDS {
            for (_, part) in block.texts(scene.tree, scene.choice) {
                for_each_text_word(part, |bucket| {
                    word_score += i32::from(scene.model.text_words[bucket]);
                });
            }
        }
        let (mut prose_score, mut left) = (0, PROSE_WORDS);
        if text.words > SHORT_WORDS {
            for (_, part) in block.texts(scene.tree, scene.choice) {
                for_each_prose_word(part, &mut left, |bucket| {
                    prose_score += i32::from(scene.model.prose_words[bucket]);
                });
            }
        }
        since_heading = since_heading.saturating_add(1);
        since_label = since_label.saturating_add(1);
        if let Some(tag) = nodes[block.holder as usize].tag
            && tag.is_heading()
        {
            (since_heading, heading) = (0, sort_of(Some(tag)) - 3);
            section = heading_score(scene, block, text.words);
            if matches!(tag, Tag::H1 | Tag::H2) {
                part = section;
            }
        }
        while labels.next_if(|&&label| label <= block.first as usize).is_some() {
            since_label = 0;
        }
        let count = copies.entry(text.hash).or_insert(0);
        let ordinal = *count;
        *count = count.saturating_add(1);
        seen.push(Seen {
            text,
            word_score,
            copies: 0,
            since_heading,
            heading,
            since_label,
            ordinal,
            section,
            part,
            prose_score,
            prose_words: PROSE_WORDS - left,
        });
    }
    for seen in &mut seen {
        seen.copies = amount(u32::from(copies[&seen.text.hash]));
    }
    seen
}

/// What a heading's words say of the text below it.
fn heading_score(scene: &Scene<'_, '_>, block: &Block, words: u32) -> i32 {
    let mut score = 0;
    if words <= SHORT_WORDS {
        for (_, text) in block.texts(scene.tree, scene.choice) {
            for_each_text_word(text, |bucket| {
                score += i32::from(scene.model.heading_words[bucket]);
            });
        }
    }
    score
}

/// Share of the title's words that a short block has.
pub(crate) fn title_share(scene: &Scene<'_, '_>, block: &Block, words: u32) -> u8 {
    if scene.title.is_empty() || words > 40 {
        return 0;
    }
    let (mut found, mut all) = (0, 0);
    for (_, part) in block.texts(scene.tree, scene.choice) {
        for word in part.split_whitespace() {
            all += 1;
            let is_known = scene.title.iter().any(|known| {
                if word.is_ascii() {
                    known.eq_ignore_ascii_case(word)
                } else {
                    *known == word.to_lowercase()
                }
            });
            found += u32::from(is_known);
        }
    }
    share(found, all)
}
