//! Snippets: the part of a text that shows why it was found.
//!
//! The text is walked once, its units are compared with the words and phrases of the query by the same
//! definition that the index follows ([`units`](crate::units)), and the window is chosen that shows most
//! of what was asked for. White space is folded into single spaces; a cut is marked by `…`.
//!
//! Guarantees: ranges are sorted, do not touch, lie on character boundaries and cover nothing but units
//! that match; [`Snippet::to_html`] escapes everything, so that no text can become markup.
//!
//! Cost: linear in the text, about that of indexing it.

use std::ops::Range;

use wonbon_text::words::normal_form;

use crate::query::{Item, Phrase, Query};
use crate::units::{Unit, for_each_unit};

/// A part of a text, and which parts of it match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The part, with `…` where it was cut.
    pub text: String,
    /// What matches, in bytes of `text`.
    pub highlights: Vec<Range<usize>>,
}

impl Snippet {
    /// The snippet as HTML: escaped, with what matches in `<mark>`.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut html = String::with_capacity(self.text.len() + 32);
        let mut at = 0;
        for highlight in &self.highlights {
            escape(&self.text[at..highlight.start], &mut html);
            html.push_str("<mark>");
            escape(&self.text[highlight.clone()], &mut html);
            html.push_str("</mark>");
            at = highlight.end;
        }
        escape(&self.text[at..], &mut html);
        html
    }
}

fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            _ => html.push(c),
        }
    }
}

/// At most `length` characters of a text that show what of the query is in it; its beginning if
/// nothing is.
#[must_use]
pub fn snippet(text: &str, query: &Query, length: usize) -> Snippet {
    make(text, &phrases(query, false), length)
}

/// Like [`snippet`], for a title: words that are asked of the title alone are shown too.
#[must_use]
pub fn title_snippet(title: &str, query: &Query, length: usize) -> Snippet {
    make(title, &phrases(query, true), length)
}

fn phrases(query: &Query, title: bool) -> Vec<&Phrase> {
    let items = query.required.iter().flatten();
    let phrases = items.filter_map(|item| match item {
        Item::Words(phrase) => Some(phrase),
        Item::Title(phrase) if title => Some(phrase),
        _ => None,
    });
    phrases.collect()
}

/// A word or run of the text that matches: which phrase it belongs to, and its place. It is shown whole or
/// not marked.
#[derive(Clone, Debug)]
struct Marked {
    phrase: usize,
    place: Range<usize>,
}

fn make(text: &str, phrases: &[&Phrase], length: usize) -> Snippet {
    let marked = mark(text, phrases);
    let window = window(text, &marked, phrases.len(), length);
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

/// What of the text matches, in the order of places.
fn mark(text: &str, phrases: &[&Phrase]) -> Vec<Marked> {
    let mut matching: Vec<Vec<usize>> = vec![Vec::new(); phrases.len()];
    let mut recent =
        Recent::new(phrases.iter().map(|phrase| phrase.units.len()).max().unwrap_or(0));
    let mut marked = Vec::new();
    if phrases.is_empty() {
        return marked;
    }
    let mut number = 0;
    for_each_unit(text, |unit| {
        let mut kept = false;
        for (index, (phrase, matching)) in phrases.iter().zip(&mut matching).enumerate() {
            let begins = phrase.units[0].text == unit.text;
            if matching.is_empty() && !begins {
                continue;
            }
            // Beginnings of the phrase that end before this unit and go on with it.
            matching.push(0);
            matching.retain_mut(|length| {
                let wanted = &phrase.units[*length];
                let joint = *length == 0 || wanted.joined == unit.joined;
                let equal = joint && wanted.text == unit.text && wanted.in_run == unit.in_run;
                *length += 1;
                equal
            });
            if !matching.is_empty() && !kept {
                recent.keep(number, text, &unit);
                kept = true;
            }
            if matching.first() == Some(&phrase.units.len()) {
                matching.remove(0);
                let first = number + 1 - phrase.units.len();
                for (unit, number) in phrase.units.iter().zip(first..) {
                    let place = recent.place(number);
                    match marked.last_mut() {
                        Some(Marked { place: run, .. }) if unit.joined => {
                            run.start = run.start.min(place.start);
                            run.end = run.end.max(place.end);
                        }
                        _ => marked.push(Marked { phrase: index, place }),
                    }
                }
            }
        }
        number += 1;
    });
    marked.sort_by_key(|marked| (marked.place.start, marked.place.end));
    marked
}

/// The places of the last units that may belong to a match.
struct Recent {
    places: Vec<(usize, Range<usize>)>,
}

impl Recent {
    fn new(length: usize) -> Recent {
        Recent { places: vec![(usize::MAX, 0..0); length] }
    }

    fn keep(&mut self, number: usize, text: &str, unit: &Unit<'_>) {
        let slot = number % self.places.len();
        self.places[slot] = (number, place_of(text, unit));
    }

    fn place(&self, number: usize) -> Range<usize> {
        let (kept, place) = &self.places[number % self.places.len()];
        debug_assert_eq!(*kept, number);
        place.clone()
    }
}

/// Where a unit stands in the text. The normaliser tells the place of the word; where the unit stands in
/// it is counted in characters and looked at again, and if that fails it is the whole word.
fn place_of(text: &str, unit: &Unit<'_>) -> Range<usize> {
    let Unit { place, word, at, .. } = unit;
    if unit.text.len() == word.len() {
        return place.clone();
    }
    let written = &text[place.clone()];
    let mut ends = written.char_indices().map(|(at, _)| at).chain([written.len()]);
    let before = word[..*at].chars().count();
    let inside = unit.text.chars().count();
    let start = ends.nth(before);
    let end = ends.nth(inside - 1);
    match (start, end) {
        (Some(start), Some(end)) if normal_form(&written[start..end]) == unit.text => {
            place.start + start..place.start + end
        }
        _ => place.clone(),
    }
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
    let before = text[..shown.start].char_indices().rev().map(|(byte, _)| byte);
    let mut behind = text[shown.end..].char_indices().map(|(byte, _)| shown.end + byte);
    let first = before.take(from - start).last().unwrap_or(shown.start);
    let last = behind.nth(end - to).unwrap_or(text.len());
    trim_to_words(text, first..last, shown)
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
    if window.start > 0 && !window.is_empty() {
        snippet.text.push('…');
    }
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
        if c.is_whitespace() || c.is_control() {
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
    if window.end < text.len() {
        snippet.text.push('…');
    }
    snippet
}
