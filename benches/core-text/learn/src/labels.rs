//! Which blocks are core text: the page's words aligned with the true text's.

use wonbon_text::difference::{SpanKind, difference};
use wonbon_text::extract::learning::{Lesson, compiled};

use crate::f1;
use crate::pages::Page;

/// A page whose labels give less F1 than this and than the rules was not aligned.
const MIN_ALIGNED: f64 = 0.9;

/// Labels a page's blocks with the part of their words that the true text has in the same order (or
/// moved as a block), and weighs them by what they matter to the page's F1.
pub fn label(page: &mut Page) {
    let lesson = Lesson::new(&page.html, page.url.as_deref(), compiled());
    let mut text = String::new();
    let mut ends = Vec::with_capacity(lesson.blocks());
    for block in 0..lesson.blocks() {
        text += &lesson.block_text(block);
        text.push('\n');
        ends.push(text.len());
    }
    let found = difference(&text, &page.gold);
    let mut words = vec![0u32; ends.len()];
    let mut shared = vec![0u32; ends.len()];
    for span in &found.spans {
        let is_shared = matches!(span.kind, SpanKind::Same | SpanKind::MovedLeft(_));
        for word in span.left.clone() {
            let at = found.left.place(word..word + 1).start;
            let block = ends.partition_point(|&end| end <= at);
            words[block] += 1;
            shared[block] += u32::from(is_shared);
        }
    }
    page.labels = words.iter().zip(&shared).map(|(&n, &s)| s as f32 / n.max(1) as f32).collect();
    let kept: Vec<bool> = page.labels.iter().map(|&label| label > 0.5).collect();
    let is_aligned =
        f1(&lesson.text_of(&kept), page) >= MIN_ALIGNED.min(f1(&lesson.ruled_text(), page));
    // Long frames weigh less; pages without core text, or with one that could not be aligned, teach
    // nothing.
    let whole = found.right.len() as f32 + words.iter().sum::<u32>() as f32 / 2.0 + 50.0;
    page.weights = if found.right.is_empty() || !is_aligned {
        vec![0.0; words.len()]
    } else {
        words.iter().map(|&n| (n as f32 / whole).min(0.5)).collect()
    };
    page.class_buckets = (0..ends.len()).map(|block| lesson.class_buckets(block)).collect();
    page.text_buckets = (0..ends.len()).map(|block| lesson.text_buckets(block)).collect();
    page.prose_buckets = (0..ends.len()).map(|block| lesson.prose_buckets(block)).collect();
    page.heading_buckets = lesson
        .headings()
        .into_iter()
        .map(|heading| heading.map_or_else(Vec::new, |at| page.text_buckets[at].clone()))
        .collect();
}
