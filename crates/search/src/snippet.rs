//! Snippets: the part of a text that shows why it was found.
//!
//! What of the text matches is found by the same definition that the index follows (`marks`), and the
//! window is chosen that shows most of what was asked for. White space is folded into single spaces; a cut is marked by `…`.
//!
//! Guarantees: ranges are sorted, do not touch, lie on character boundaries and cover nothing but units
//! that match; [`Snippet::to_html`] escapes everything, so that no text can become markup.
//!
//! Cost: linear in the text; two to three microseconds for a text of 2 kB in which a few words match, and up to
//! what indexing it costs where its characters or the query are not simple.

use std::ops::Range;

use maud::Render;

use crate::marks::{Marked, Marker};
use crate::query::{Item, Query};

/// A part of a text, and which parts of it match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The part, with `…` where it was cut.
    pub text: String,
    /// What matches, in bytes of `text`.
    pub highlights: Vec<Range<usize>>,
}

impl Snippet {
    /// The snippet as HTML: escaped, with what matches in `<mark>`. Single quotes are escaped too, because
    /// nobody knows where a client puts this: an attribute may stand between them. Our own pages use
    /// [`Render`], which leaves them in the text of an element.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut html = String::with_capacity(self.text.len() + 64);
        self.render_to(&mut html);
        if html.contains('\'') { html.replace('\'', "&#39;") } else { html }
    }
}

impl Render for Snippet {
    fn render_to(&self, html: &mut String) {
        let mut at = 0;
        for highlight in &self.highlights {
            self.text[at..highlight.start].render_to(html);
            html.push_str("<mark>");
            self.text[highlight.clone()].render_to(html);
            html.push_str("</mark>");
            at = highlight.end;
        }
        self.text[at..].render_to(html);
    }
}

/// Makes the snippets of one query: what it looks for is prepared once for all of them.
pub struct Snippets<'q> {
    text: Marker<'q>,
    title: Marker<'q>,
    length: usize,
}

impl<'q> Snippets<'q> {
    /// Of a query, each of at most so many characters.
    #[must_use]
    pub fn new(query: &'q Query, length: usize) -> Snippets<'q> {
        let phrases = |title: bool| {
            let items = query.required.iter().flatten();
            let phrases = items.filter_map(|item| match item {
                Item::Words(phrase) => Some(phrase),
                Item::Title(phrase) if title => Some(phrase),
                _ => None,
            });
            Marker::new(phrases.collect())
        };
        Snippets { text: phrases(false), title: phrases(true), length }
    }

    /// The part of a text that shows what of the query is in it; its beginning if nothing is.
    #[must_use]
    pub fn of_text(&self, text: &str) -> Snippet {
        make(text, &self.text, self.length)
    }

    /// Like [`of_text`](Self::of_text), for a title: words that are asked of the title alone are shown too.
    #[must_use]
    pub fn of_title(&self, title: &str) -> Snippet {
        make(title, &self.title, self.length)
    }
}

fn make(text: &str, marker: &Marker<'_>, length: usize) -> Snippet {
    let marked = marker.mark(text);
    let window = window(text, &marked, marker.phrases(), length);
    let mut highlights: Vec<Range<usize>> = Vec::new();
    for Marked { place, .. } in marked {
        if place.start < window.start || place.end > window.end {
            continue;
        }
        match highlights.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => highlights.push(place),
        }
    }
    fold(text, window, &highlights)
}

/// The part of the text to show, in bytes.
fn window(text: &str, marked: &[Marked], phrases: usize, length: usize) -> Range<usize> {
    // Places in characters, counted along.
    let mut at = (0, 0);
    let mut count = |byte: usize| {
        at = (byte, at.1 + text[at.0..byte].chars().count());
        at.1
    };
    let starts: Vec<usize> = marked.iter().map(|marked| count(marked.place.start)).collect();
    let ends: Vec<usize> = marked
        .iter()
        .zip(&starts)
        .map(|(marked, start)| start + text[marked.place.clone()].chars().count())
        .collect();
    let characters = count(text.len());
    if characters <= length {
        return 0..text.len();
    }
    let best = best_window(marked, &starts, &ends, phrases, length);
    let (from, to) = best.clone().map_or((0, 0), |best| (starts[best.start], ends[best.end - 1]));
    let shown =
        best.map_or(0..0, |best| marked[best.start].place.start..marked[best.end - 1].place.end);
    let spare = length - (to - from);
    let start = from.saturating_sub(spare / 2).min(characters - length);
    let end = start + length;
    // Counted from what is shown, which is near.
    let first = before(text, shown.start, from - start);
    let last = behind(text, shown.end, end - to);
    trim_to_words(text, first..last, shown)
}

/// The byte where so many characters end that begin at this byte.
fn behind(text: &str, at: usize, characters: usize) -> usize {
    let mut rest = text[at..].chars();
    if let Some(last) = characters.checked_sub(1) {
        rest.nth(last);
    }
    text.len() - rest.as_str().len()
}

/// The byte where so many characters begin that end at this byte.
fn before(text: &str, mut at: usize, mut characters: usize) -> usize {
    const BLOCK: usize = 16;
    let begins = |byte: u8| byte & 0xC0 != 0x80;
    // Blocks that hold fewer than are wanted; they may begin inside a character.
    while characters > BLOCK
        && let Some(block) = text.as_bytes()[..at].last_chunk::<BLOCK>()
    {
        characters -= block.iter().filter(|&&byte| begins(byte)).count();
        at -= BLOCK;
    }
    while characters > 0 && at > 0 {
        at -= 1;
        characters -= usize::from(begins(text.as_bytes()[at]));
    }
    at
}

/// Which matches, by their numbers, the window holds that holds matches of most phrases, then most matches,
/// then comes first; none if there are none that fit.
fn best_window(
    marked: &[Marked],
    starts: &[usize],
    ends: &[usize],
    phrases: usize,
    length: usize,
) -> Option<Range<usize>> {
    let mut inside = vec![0_usize; phrases];
    let (mut different, mut first) = (0, 0);
    let mut best = ((0, 0), None);
    for last in 0..marked.len() {
        let phrase = &mut inside[marked[last].phrase];
        different += usize::from(*phrase == 0);
        *phrase += 1;
        while first <= last && ends[last].saturating_sub(starts[first]) > length {
            let phrase = &mut inside[marked[first].phrase];
            *phrase -= 1;
            different -= usize::from(*phrase == 0);
            first += 1;
        }
        if first > last {
            continue;
        }
        let held = (different, last + 1 - first);
        if held > best.0 {
            best = (held, Some(first..last + 1));
        }
    }
    best.1
}

/// Moves the ends of a window inwards to where words begin and end, if that is near and shows no less.
fn trim_to_words(text: &str, window: Range<usize>, shown: Range<usize>) -> Range<usize> {
    const NEAR: usize = 24;
    let Range { mut start, mut end } = window;
    let inside_word = |at: usize| {
        let before = text[..at].chars().next_back();
        let behind = text[at..].chars().next();
        before.zip(behind).is_some_and(|(a, b)| !a.is_whitespace() && !b.is_whitespace())
    };
    if inside_word(start) {
        let ahead = text[start..end].char_indices().take(NEAR);
        let space = ahead.filter(|(_, c)| c.is_whitespace()).map(|(at, _)| start + at).next();
        start = space.filter(|&space| space <= shown.start || shown.is_empty()).unwrap_or(start);
    }
    if inside_word(end) {
        let behind = text[start..end].char_indices().rev().take(NEAR);
        let space = behind.filter(|(_, c)| c.is_whitespace()).map(|(at, _)| start + at).next();
        end = space.filter(|&space| space >= shown.end).unwrap_or(end);
    }
    start..end
}

/// The window with white space folded, cuts marked, and ranges moved along.
fn fold(text: &str, window: Range<usize>, highlights: &[Range<usize>]) -> Snippet {
    let mut snippet = Snippet::default();
    // Two cuts take six bytes.
    snippet.text.reserve(window.len() + 6);
    if window.start > 0 && !window.is_empty() {
        snippet.text.push('…');
    }
    // What is cut between words begins and ends with white space.
    let inner = trim_space(text, window.clone());
    if is_folded(&text[inner.clone()]) {
        let before = snippet.text.len();
        snippet.text.push_str(&text[inner.clone()]);
        let moved = |at: usize| at - inner.start + before;
        let highlights = highlights.iter();
        snippet.highlights.extend(highlights.map(|place| moved(place.start)..moved(place.end)));
    } else {
        fold_spaces(text, inner, highlights, &mut snippet);
    }
    if window.end < text.len() {
        snippet.text.push('…');
    }
    snippet
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// The part without the white space at its ends.
fn trim_space(text: &str, part: Range<usize>) -> Range<usize> {
    let ahead = text[part.clone()].trim_start_matches(is_space);
    let start = part.end - ahead.len();
    start..start + ahead.trim_end_matches(is_space).len()
}

/// Whether all white space is single spaces between words, as far as can be told by bytes.
fn is_folded(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Behind these bytes there may be white space and control characters beyond ASCII.
    let strange = |byte: u8| byte < b' ' || matches!(byte, 0x7F | 0xC2 | 0xE1..=0xE3);
    // All bytes are looked at whatever they are: many at a time.
    let strange = bytes.iter().fold(false, |any, &byte| any | strange(byte));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let doubled = pairs.fold(false, |any, (&a, &b)| any | ((a == b' ') & (b == b' ')));
    let ends = [bytes.first(), bytes.last()];
    !strange && !doubled && !ends.contains(&Some(&b' '))
}

/// Appends the window with white space folded, character by character.
fn fold_spaces(
    text: &str,
    window: Range<usize>,
    highlights: &[Range<usize>],
    snippet: &mut Snippet,
) {
    let mut space = false;
    let mut written = false;
    let mut highlights = highlights.iter().peekable();
    let mut open = None;
    for (at, c) in text[window.clone()].char_indices() {
        let at = window.start + at;
        if let Some(start) = open
            && highlights.peek().is_some_and(|highlight| highlight.end == at)
        {
            snippet.highlights.push(start..snippet.text.len());
            highlights.next();
            open = None;
        }
        if is_space(c) {
            space = written;
            continue;
        }
        if space {
            snippet.text.push(' ');
            space = false;
        }
        if highlights.peek().is_some_and(|highlight| highlight.start == at) {
            open = Some(snippet.text.len());
        }
        snippet.text.push(c);
        written = true;
    }
    if let Some(start) = open {
        snippet.highlights.push(start..snippet.text.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_are_found_by_counting_characters(
            text in "([ab]{1,40}|[가나]{1,30}|é|🎉){0,6}", at in 0..200_usize, count in 0..120_usize,
        ) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let at = at % places.len();
            prop_assert_eq!(before(&text, places[at], count), places[at.saturating_sub(count)]);
            let behind = behind(&text, places[at], count);
            prop_assert_eq!(behind, places[(at + count).min(places.len() - 1)]);
        }

        #[test]
        fn what_is_folded_already_is_only_copied(
            words in prop::collection::vec("[ab가é漢\u{A0}\u{3000}\u{85}]{1,3}", 0..20),
            spaces in prop::sample::select(vec![" ", "  ", "\n", "\u{2003}"]),
        ) {
            let text = words.join(spaces);
            let highlights: Vec<Range<usize>> =
                text.find('a').map(|at| at..at + 1).into_iter().collect();
            let mut slowly = Snippet::default();
            fold_spaces(&text, 0..text.len(), &highlights, &mut slowly);
            prop_assert_eq!(&fold(&text, 0..text.len(), &highlights), &slowly);
            prop_assert!(!is_folded(&text) || slowly.text == text);
        }
    }
}
