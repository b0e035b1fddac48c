//! From removed words to bytes of the text: where it is cut, and what is left.
//!
//! What is removed reaches from the first removed word to the next one that stays, so that punctuation goes with the words
//! before it. The separators before the first removed word stay between its neighbours. Where there are none (`漢字` in `abc漢字def`), those
//! behind the last one stay; where these are missing too and the neighbours would become one word, a space takes the place of what is removed.
//!
//! Guarantee: the words of what is left are the words that were not removed, which is compared for every text; a cut
//! is never inside a character, because words begin and end between characters.

use std::ops::Range;

use super::removal::PassageUnit;

/// Appends the words of `text` in normal form: a space behind each, but a line break behind the last. Appends to `offsets` where those
/// words start, in what was appended, that begin a unit; for words those that cannot be cut off from the word before.
pub(crate) fn append_words(
    text: &str,
    unit: Option<PassageUnit>,
    words: &mut Vec<u8>,
    offsets: &mut Vec<u32>,
) {
    let start = words.len();
    match unit {
        None => wonbon_text::words::append_words(text, words, |_, _| ()),
        Some(unit) => {
            let mut last: Option<Range<usize>> = None;
            wonbon_text::words::append_words(text, words, |word, place| {
                if let Some(last) = last.replace(place.clone())
                    && is_marked(text, unit, last, place)
                {
                    offsets.push((word - start) as u32);
                }
            });
        }
    }
    if words.len() > start {
        words.pop();
    }
    words.push(b'\n');
}

/// Whether the word at `place` begins a unit; of words, whether it cannot be cut off from the one before.
fn is_marked(text: &str, unit: PassageUnit, before: Range<usize>, place: Range<usize>) -> bool {
    if unit == PassageUnit::Word {
        return before == place;
    }
    let between = text.get(before.end..place.start).unwrap_or("");
    break_of(between, unit).is_some()
}

/// Where the first unit ends and the next one begins, in what stands between two words of different units.
fn break_of(between: &str, unit: PassageUnit) -> Option<Range<usize>> {
    let first = between.find('\n')?;
    if unit != PassageUnit::Paragraph {
        return Some(first + 1..between.rfind('\n')? + 1);
    }
    let mut breaks = between.match_indices('\n').map(|(at, _)| at);
    let mut last = breaks.next()?;
    for at in breaks {
        if between[last..at].trim().is_empty() {
            let blank =
                between[at..].find(|c: char| !c.is_whitespace()).unwrap_or(between.len() - at);
            let end = between[at..at + blank].rfind('\n').map_or(at + 1, |end| at + end + 1);
            return Some(last + 1..end);
        }
        last = at;
    }
    None
}

/// What is cut out of a text, and what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The bytes that are removed, ascending.
    pub(crate) removed: Vec<Range<usize>>,
    /// The text without them.
    pub(crate) text: String,
}

/// Cuts the words at `removed` (ranges of what [`append_words`] appended) out of a text. None if the text does not have
/// these words.
pub(crate) fn cut(text: &str, removed: &[[u64; 2]], unit: PassageUnit) -> Option<Cut> {
    let (mut words, mut gaps) = (Vec::new(), Vec::<Gap>::new());
    let (mut last_end, mut is_open) = (0, false);
    let mut ranges = removed.iter().peekable();
    wonbon_text::words::append_words(text, &mut words, |offset, place| {
        let offset = offset as u64;
        while ranges.next_if(|range| range[1] <= offset).is_some() {}
        if ranges.peek().is_some_and(|range| range[0] <= offset) {
            if !is_open {
                gaps.push(Gap { before: last_end, removed: place.clone(), behind: text.len() });
                is_open = true;
            }
            if let Some(gap) = gaps.last_mut() {
                gap.removed.end = place.end;
            }
        } else {
            if is_open && let Some(gap) = gaps.last_mut() {
                gap.behind = place.start;
                is_open = false;
            }
            last_end = place.end;
        }
    });
    let mut kept = Vec::with_capacity(words.len());
    let mut from = 0;
    for [start, end] in removed.iter().map(|range| range.map(|byte| byte as usize)) {
        kept.extend_from_slice(words.get(from..start)?);
        // The space behind the last word goes with it.
        from = end + 1;
    }
    kept.extend_from_slice(words.get(from..)?);
    let ranges: Vec<Range<usize>> = gaps.iter().map(|gap| gap.bytes(text, unit)).collect();
    ["", " "].into_iter().find_map(|filling| {
        let mut left = String::with_capacity(text.len());
        let mut from = 0;
        for range in &ranges {
            left.push_str(text.get(from..range.start)?);
            left.push_str(filling);
            from = range.end;
        }
        left.push_str(text.get(from..)?);
        words.clear();
        wonbon_text::words::append_words(&left, &mut words, |_, _| ());
        (words == kept).then(|| Cut { removed: ranges.clone(), text: left })
    })
}

/// Where words of `text` start and end: `starts` and `ends` are ascending places of the starts and ends of words in what
/// [`append_words`] appended. None if there are no such words.
fn locate(text: &str, starts: &[u64], ends: &[u64]) -> Option<(Vec<usize>, Vec<usize>)> {
    let (mut found_starts, mut found_ends) = (Vec::new(), Vec::new());
    let (mut words, mut last_end) = (Vec::new(), 0);
    wonbon_text::words::append_words(text, &mut words, |start, place| {
        let start = start as u64;
        // One byte separates neighbouring words.
        if start > 0 && ends.get(found_ends.len()) == Some(&(start - 1)) {
            found_ends.push(last_end);
        }
        if starts.get(found_starts.len()) == Some(&start) {
            found_starts.push(place.start);
        }
        last_end = place.end;
    });
    if ends.get(found_ends.len()).is_some_and(|&end| end + 1 == words.len() as u64) {
        found_ends.push(last_end);
    }
    let complete = found_starts.len() == starts.len() && found_ends.len() == ends.len();
    complete.then_some((found_starts, found_ends))
}

/// Where ranges of what [`append_words`] appended, in any order, stand in `text`: each from the start of a word to the end of
/// one. None if there are no such words.
pub(crate) fn locate_ranges(text: &str, ranges: &[[u64; 2]]) -> Option<Vec<Range<usize>>> {
    let [starts, ends] = [0, 1].map(|side| {
        let mut places: Vec<u64> = ranges.iter().map(|range| range[side]).collect();
        places.sort_unstable();
        places.dedup();
        places
    });
    let (found_starts, found_ends) = locate(text, &starts, &ends)?;
    let bytes_of = |[start, end]: &[u64; 2]| {
        let start = found_starts[starts.binary_search(start).ok()?];
        Some(start..found_ends[ends.binary_search(end).ok()?])
    };
    ranges.iter().map(bytes_of).collect()
}

/// Removed words, and where the words before and behind them end and start.
struct Gap {
    before: usize,
    removed: Range<usize>,
    behind: usize,
}

impl Gap {
    fn bytes(&self, text: &str, unit: PassageUnit) -> Range<usize> {
        let (before, behind) = (self.before, self.behind);
        let Range { start: first, end: last } = self.removed;
        let is_first = before == 0 && !has_word_before(text, first);
        let is_last = behind == text.len();
        if unit != PassageUnit::Word {
            let ahead = &text[before..first];
            let start = match break_of(ahead, unit) {
                Some(at) => before + at.end,
                None if is_first => ahead.rfind('\n').map_or(before, |at| before + at + 1),
                None => first,
            };
            let end = match text.get(last..behind).and_then(|between| break_of(between, unit)) {
                Some(at) if unit == PassageUnit::Line => last + at.start,
                Some(at) => last + at.end,
                None => behind,
            };
            return start..end.max(start);
        }
        let start = if is_first { 0 } else { first };
        if is_first || is_last || before < first { start..behind } else { start..last.min(behind) }
    }
}

fn has_word_before(text: &str, end: usize) -> bool {
    wonbon_text::words::has_word(&text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use wonbon_text::words::for_each_word;

    use super::*;

    /// The ranges of the words with these numbers.
    fn ranges_of(text: &str, removed: &[bool]) -> Vec<[u64; 2]> {
        let (mut ranges, mut at, mut number) = (Vec::new(), 0, 0);
        for_each_word(text, |word| {
            if removed.get(number).copied().unwrap_or(false) {
                ranges.push([at, at + word.len() as u64]);
            }
            at += word.len() as u64 + 1;
            number += 1;
        });
        ranges
    }

    fn cut_words(text: &str, numbers: &[usize]) -> String {
        let most = numbers.iter().max().map_or(0, |most| most + 1);
        let removed: Vec<bool> = (0..most).map(|number| numbers.contains(&number)).collect();
        cut(text, &ranges_of(text, &removed), PassageUnit::Word).unwrap().text
    }

    #[test]
    fn punctuation_goes_with_the_words_before_it_and_neighbours_stay_apart() {
        assert_eq!(cut_words("One two, three. Four!", &[1, 2]), "One Four!");
        assert_eq!(cut_words("One two, three. Four!", &[0]), "two, three. Four!");
        assert_eq!(cut_words("One two, three. Four!", &[3]), "One two, three. ");
        assert_eq!(cut_words("abc漢字def", &[1, 2]), "abc def");
        assert_eq!(cut_words("日本漢字です", &[2, 3]), "日本です");
        assert_eq!(cut_words("(one)", &[0]), "");
    }

    #[test]
    fn lines_and_paragraphs_are_found_between_words() {
        assert_eq!(break_of(".\n", PassageUnit::Line), Some(2..2));
        assert_eq!(break_of(".\n  \n- ", PassageUnit::Line), Some(2..5));
        assert_eq!(break_of(".\n- ", PassageUnit::Paragraph), None);
        assert_eq!(break_of(".\n \n\n  ", PassageUnit::Paragraph), Some(2..5));
        let text = "a b\nc d\n\ne f\n";
        let line = cut(text, &[[4, 7]], PassageUnit::Line).unwrap();
        assert_eq!((line.text.as_str(), line.removed.len()), ("a b\n\ne f\n", 1));
        assert_eq!(line.removed[0], 4..8);
        let paragraph = cut(text, &[[0, 7]], PassageUnit::Paragraph).unwrap();
        assert_eq!((paragraph.text.as_str(), paragraph.removed.len()), ("e f\n", 1));
        assert_eq!(paragraph.removed[0], 0..9);
    }

    proptest! {
        #[test]
        fn the_words_that_are_left_are_those_that_were_not_removed(
            text in "([a-cA-C]|[ .\n]|漢|か|가|[é\u{301}\u{1161}\u{3099}ﬁ́½]){0,60}",
            removed in prop::collection::vec(any::<bool>(), 0..40),
        ) {
            // Words that cannot be cut off from the one before go with it.
            let (mut words, mut inner) = (Vec::new(), Vec::new());
            append_words(&text, Some(PassageUnit::Word), &mut words, &mut inner);
            let mut starts = Vec::new();
            let mut at = 0;
            for_each_word(&text, |word| { starts.push(at); at += word.len() as u32 + 1; });
            let mut removed: Vec<bool> =
                removed.into_iter().chain(std::iter::repeat(false)).take(starts.len()).collect();
            for number in 1..starts.len() {
                if inner.contains(&starts[number]) {
                    removed[number] = removed[number - 1];
                }
            }
            let mut expected = Vec::new();
            let mut number = 0;
            for_each_word(&text, |word| {
                if !removed[number] { expected.push(word.to_owned()); }
                number += 1;
            });
            let cut = cut(&text, &ranges_of(&text, &removed), PassageUnit::Word);
            let mut left = Vec::new();
            let cut = cut.expect("every text can be cut");
            for_each_word(&cut.text, |word| left.push(word.to_owned()));
            prop_assert_eq!(left, expected);
        }
    }
}
