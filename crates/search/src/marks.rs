//! Marks: which words and runs of a text match a query.
//!
//! The definition is [`walk`]: the units of the text, one after another, are compared with the phrases of
//! the query, as the index does. A result page needs this for ten whole texts and shows two lines of each,
//! so most of a text is not worth walking. A [`Marker`] looks for the bytes of what is asked for first, and
//! walks only the stretches between white space in which they stand.
//!
//! That is right where a text is made of simple characters ([`wonbon_text::simple`]): there a word or run of
//! the query can only match where its bytes stand in the text made small. Any other text, and phrases of
//! several words, are walked whole.
//!
//! Cost: a pass over the text for its characters, one for each word of the query, and the walk of a few
//! stretches: with the window a third of what the whole walk took. Guarantee: the marks are those of the walk (a property test
//! compares them).

use std::ops::Range;

use memchr::memmem;
use wonbon_text::simple::made_small;
use wonbon_text::words::normal_form;

use crate::query::Phrase;
use crate::units::{UNIT_BYTES_MAX, Unit, for_each_unit};

/// More stretches than these are not walked one by one.
const MOST_STRETCHES: usize = 48;

/// A word or run of the text that matches: which phrase it belongs to, and its place. It is shown whole or
/// not marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    pub phrase: usize,
    pub place: Range<usize>,
}

/// What a query marks in texts: made once for all texts of a page.
pub(crate) struct Marker<'q> {
    phrases: Vec<&'q Phrase>,
    /// The bytes of every phrase; `None` if one has several words, which may stand apart.
    sought: Option<Vec<Sought>>,
}

/// Bytes that stand in a text made small where a phrase matches.
struct Sought {
    finder: memmem::Finder<'static>,
    /// Whether they are a whole word there.
    whole: bool,
}

impl<'q> Marker<'q> {
    pub(crate) fn new(phrases: Vec<&'q Phrase>) -> Marker<'q> {
        let sought = phrases.iter().map(|phrase| Sought::of(phrase)).collect();
        Marker { phrases, sought }
    }

    /// How many phrases are looked for.
    pub(crate) fn phrases(&self) -> usize {
        self.phrases.len()
    }

    /// What of the text matches, in the order of places.
    pub(crate) fn mark(&self, text: &str) -> Vec<Marked> {
        if self.phrases.is_empty() {
            return Vec::new();
        }
        let Some(stretches) = self.stretches(text) else { return walk(text, &self.phrases) };
        let mut marked = Vec::new();
        for stretch in stretches {
            let found = walk(&text[stretch.clone()], &self.phrases);
            marked.extend(found.into_iter().map(|Marked { phrase, place }| Marked {
                phrase,
                place: place.start + stretch.start..place.end + stretch.start,
            }));
        }
        marked
    }

    /// The parts of the text outside of which nothing matches, in order; `None` if that cannot be told by
    /// bytes, or there are many.
    fn stretches(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let sought = self.sought.as_ref()?;
        let small = made_small(text)?;
        let mut stretches: Vec<Range<usize>> = Vec::new();
        for Sought { finder, whole } in sought {
            let wanted = finder.needle();
            for start in finder.find_iter(&small) {
                let end = start + wanted.len();
                // A whole word neither begins behind a letter nor ends before one, unless it was cut there.
                let letter = |at: usize| small.get(at).is_some_and(u8::is_ascii_alphanumeric);
                let inside = (start > 0 && letter(start - 1))
                    || (letter(end) && wanted.len() < UNIT_BYTES_MAX - 3);
                if *whole && inside {
                    continue;
                }
                if stretches.last().is_some_and(|last| last.contains(&start)) {
                    continue;
                }
                if stretches.len() == MOST_STRETCHES {
                    return None;
                }
                let space = |byte: &u8| byte.is_ascii_whitespace();
                let from = small[..start].iter().rposition(space).map_or(0, |at| at + 1);
                let to = small[end..].iter().position(space).map_or(small.len(), |at| end + at);
                stretches.push(from..to);
            }
        }
        stretches.sort_unstable_by_key(|stretch| stretch.start);
        stretches.dedup();
        Some(stretches)
    }
}

impl Sought {
    fn of(phrase: &Phrase) -> Option<Sought> {
        if phrase.units[1..].iter().any(|unit| !unit.joined) {
            return None;
        }
        let wanted: String = phrase.units.iter().map(|unit| unit.text.as_str()).collect();
        let finder = memmem::Finder::new(&wanted).into_owned();
        Some(Sought { finder, whole: !phrase.units[0].in_run })
    }
}

/// What of the text matches, in the order of places, unit by unit.
fn walk(text: &str, phrases: &[&Phrase]) -> Vec<Marked> {
    let mut matching: Vec<Vec<usize>> = vec![Vec::new(); phrases.len()];
    let mut recent =
        Recent::new(phrases.iter().map(|phrase| phrase.units.len()).max().unwrap_or(0));
    let mut marked = Vec::new();
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::{Item, Query};

    fn marker(query: &Query) -> Marker<'_> {
        let items = query.required.iter().flatten();
        let words =
            items.filter_map(|item| if let Item::Words(words) = item { Some(words) } else { None });
        Marker::new(words.collect())
    }

    #[test]
    fn a_text_full_of_matches_is_walked_whole() {
        let query = Query::parse("a").unwrap();
        let marker = marker(&query);
        assert_eq!(marker.stretches("b a b a"), Some(vec![2..3, 6..7]));
        assert_eq!(marker.stretches("bat ab ba"), Some(vec![]));
        let full = "a ".repeat(MOST_STRETCHES + 1);
        assert_eq!(marker.stretches(&full), None);
        assert_eq!(marker.mark(&full).len(), MOST_STRETCHES + 1);
    }

    #[test]
    fn a_word_longer_than_counts_is_found_by_its_beginning() {
        let long = "é".repeat(200);
        let query = Query::parse(&long).unwrap();
        let text = format!("x {long}é y");
        let marker = marker(&query);
        assert_eq!(marker.mark(&text), walk(&text, &marker.phrases));
        assert_eq!(marker.mark(&text).len(), 1);
    }

    proptest! {
        #[test]
        fn the_marks_are_those_of_the_walk(
            text in "([abAB 12éÉ가나각漢字かカ、。…·\n<'-]{1,2}|ab|가나|漢字| ){0,60}",
            exotic in "[\u{301}ªµﬁＡ\u{1112}\u{1161}\u{11AB}´]?",
            query in "(ab|a|b2|가|가나|나각|é|漢字|かカ|1|\"a b\"|가a){1,2}( (b|가|字|ab|나)){0,2}",
        ) {
            let text = format!("{text}{exotic}{text}");
            if let Ok(query) = Query::parse(&query) {
                let marker = marker(&query);
                prop_assert_eq!(marker.mark(&text), walk(&text, &marker.phrases));
            }
        }
    }
}
