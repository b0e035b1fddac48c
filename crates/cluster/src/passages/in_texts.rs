//! Passages of texts that are in memory: what a file job does, for callers that have the texts.
//!
//! Cost: the words of all texts are written to a folder, because the search reads them from there; the folder is empty again
//! afterwards.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;

use wonbon_progress::Unwatched;

use super::cut::{append_words, cut, locate};
use super::maximal::{Repeat, RepeatFilter, for_each_maximal};
use super::removal::{PassageUnit, Removal, UnitStarts, find_removed};
use super::repeats::Finder;
use super::scan::WindowPlan;
use super::words::{Removed, WordText};
use crate::columns::{Column, write_column};
use crate::error::{ClusterError, io};

/// A passage of some texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPassage {
    /// How many words it has.
    pub words: u64,
    /// How many places it occurs at.
    pub occurrences: u64,
    /// How many texts it occurs in.
    pub texts: u64,
    /// All places: the number of the text and the bytes.
    pub places: Vec<(usize, Range<usize>)>,
}

/// What is left of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutText {
    /// The bytes that are removed, ascending.
    pub removed: Vec<Range<usize>>,
    /// The text without them.
    pub left: String,
}

/// How passages are looked for in texts.
#[derive(Clone, Copy, Debug)]
pub struct TextPassages {
    words: NonZeroUsize,
    plan: WindowPlan,
    memory: u64,
    window_bytes: u64,
}

impl TextPassages {
    /// Passages of at least so many words.
    #[must_use]
    pub fn new(words: NonZeroUsize) -> Self {
        let memory = 64 << 20;
        TextPassages { words, plan: WindowPlan::new(words.get()), memory, window_bytes: memory }
    }

    /// Every maximal run of words that occurs at two places or more, by the place of its first occurrence. `work` is
    /// an empty folder.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn find<T: AsRef<str>>(
        &self,
        texts: &[T],
        work: &Path,
    ) -> Result<Vec<TextPassage>, ClusterError> {
        let (words, _) = self.write(texts, None, work)?;
        let finder = self.finder(&words, work);
        let filter = RepeatFilter {
            words: self.words.get(),
            documents: 1,
            places: usize::MAX,
            across: false,
        };
        let mut repeats: Vec<Repeat> = Vec::new();
        finder.write_seeds(1, &Removed::default(), None)?;
        finder.find(
            1,
            &Removed::default(),
            Some(&mut |class| {
                for_each_maximal(&words, class, filter, |repeat| {
                    repeats.push(repeat);
                    Ok(())
                })
            }),
        )?;
        finder.remove_seeds(1)?;
        remove_columns(work)?;
        repeats.sort_by_key(|repeat| (repeat.first, repeat.bytes));
        let places_of = |repeat: &Repeat| -> Option<Vec<(usize, Range<usize>)>> {
            let in_text = |&place: &u64| {
                let number = words.document_at(place);
                let start = place - words.places(number).start;
                let (starts, ends) =
                    locate(texts[number].as_ref(), &[start], &[start + repeat.bytes])?;
                Some((number, starts[0]..ends[0]))
            };
            repeat.places.iter().map(in_text).collect()
        };
        Ok(repeats
            .iter()
            .map(|repeat| TextPassage {
                words: repeat.words,
                occurrences: repeat.occurrences,
                texts: repeat.documents,
                places: places_of(repeat).expect("the words were written from these texts"),
            })
            .collect())
    }

    /// Removes every occurrence but the first, so that no run of so many words is left twice. `work` is an empty folder.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    pub fn remove<T: AsRef<str>>(
        &self,
        texts: &[T],
        unit: PassageUnit,
        work: &Path,
    ) -> Result<Vec<CutText>, ClusterError> {
        let (words, units) = self.write(texts, Some(unit), work)?;
        let order: Vec<u32> = (0..texts.len() as u32).collect();
        let (removed, rounds) = find_removed(&self.finder(&words, work), &units)?;
        let removal = Removal::new(&words, &order, &removed, rounds)?;
        remove_columns(work)?;
        Ok((0..)
            .zip(texts)
            .map(|(number, text)| {
                let text = text.as_ref();
                let Some((ranges, _)) = removal.of(number) else {
                    return CutText { removed: Vec::new(), left: text.to_owned() };
                };
                let cut = cut(text, ranges, unit).expect("the words were written from these texts");
                CutText { removed: cut.removed, left: cut.text }
            })
            .collect())
    }

    fn finder<'a>(&self, words: &'a WordText, work: &'a Path) -> Finder<'a> {
        Finder {
            words,
            plan: self.plan,
            folder: work,
            memory: self.memory,
            window_bytes: self.window_bytes,
            threads: NonZeroUsize::MIN,
            progress: &Unwatched,
            of_others_only: false,
        }
    }

    fn write<T: AsRef<str>>(
        &self,
        texts: &[T],
        unit: Option<PassageUnit>,
        work: &Path,
    ) -> Result<(WordText, UnitStarts), ClusterError> {
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        let (mut offsets, mut counts) = (Vec::new(), Vec::new());
        for text in texts {
            let before = offsets.len();
            append_words(text.as_ref(), unit, &mut words, &mut offsets);
            ends.push(words.len() as u64);
            counts.push((offsets.len() - before) as u32);
        }
        let order: Vec<u32> = (0..texts.len() as u32).collect();
        let [words_path, offsets_path] = COLUMNS.map(|name| work.join(name));
        write_column(&words_path, &words)?;
        write_column(&offsets_path, &offsets)?;
        let words = WordText::new(Column::open(words_path)?, &ends, order.iter().copied(), 0);
        let unit = unit.unwrap_or_default();
        let units = UnitStarts::new(Column::open(offsets_path)?, &counts, order, unit);
        Ok((words, units))
    }
}

const COLUMNS: [&str; 2] = ["words", "unit-starts"];

fn remove_columns(work: &Path) -> Result<(), ClusterError> {
    COLUMNS
        .iter()
        .map(|name| work.join(name))
        .try_for_each(|path| std::fs::remove_file(&path).map_err(io("remove", &path)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use wonbon_testkit::passages::{maximal_repeats, maximal_repeats_by_suffixes, words_left};
    use wonbon_text::words::{for_each_word, normal_form};

    use super::*;

    fn words_of(texts: &[String]) -> Vec<Vec<String>> {
        texts
            .iter()
            .map(|text| {
                let mut words = Vec::new();
                for_each_word(text, |word| words.push(word.to_owned()));
                words
            })
            .collect()
    }

    /// Texts of few different words, some of which repeat others or themselves, in several scripts.
    fn texts() -> impl Strategy<Value = Vec<String>> {
        let words = |letters: &'static [&'static str], most: usize| {
            prop::collection::vec(prop::sample::select(letters), 0..most)
                .prop_map(|words| words.concat())
        };
        let piece = prop_oneof![
            4 => words(&["a ", "b ", "c. ", "A, "], 30),
            2 => words(&["漢", "字", "か", "한 ", "글 ", "½ "], 20),
            1 => (1_usize..40).prop_map(|count| "a ".repeat(count)),
            1 => (1_usize..20).prop_map(|count| "a b ".repeat(count)),
        ];
        (prop::collection::vec(piece, 1..6), any::<prop::sample::Index>()).prop_flat_map(
            |(pieces, _)| {
                prop::collection::vec(
                    prop::collection::vec(prop::sample::select(pieces), 0..5),
                    0..6,
                )
                .prop_map(|texts| texts.iter().map(|text| text.join("x ")).collect())
            },
        )
    }

    fn search(words: usize, seed_words: usize, hash_bits: u64) -> TextPassages {
        let plan = WindowPlan { words, seed_words: seed_words.clamp(1, words), hash_bits };
        let words = NonZeroUsize::new(words).unwrap();
        // So few bytes that windows are looked at in several parts.
        TextPassages { words, plan, memory: 0, window_bytes: 400 }
    }

    /// The words of a passage and its places as text and word.
    type Found = BTreeSet<(Vec<String>, Vec<(usize, usize)>)>;

    fn found(search: TextPassages, texts: &[String]) -> Found {
        let work = tempfile::tempdir().unwrap();
        let (words, _) = search.write(texts, None, work.path()).unwrap();
        let finder = search.finder(&words, work.path());
        let filter = RepeatFilter {
            words: search.words.get(),
            documents: 1,
            places: usize::MAX,
            across: false,
        };
        let mut all = Found::new();
        finder.write_seeds(1, &Removed::default(), None).unwrap();
        let mut on_class = |class: &[u64]| {
            for_each_maximal(&words, class, filter, |repeat| {
                let mut bytes = Vec::new();
                let mut scan = super::super::scan::Scan::default();
                let places = repeat.places.iter().map(|&place| {
                    let number = words.document_at(place);
                    words.load(number, &Removed::default(), &mut scan).unwrap();
                    let offset = (place - words.places(number).start) as usize;
                    (number, scan.starts.binary_search(&offset).unwrap())
                });
                let places: Vec<_> = places.collect();
                words.read(
                    words.document_at(repeat.first),
                    repeat.first,
                    repeat.bytes as usize,
                    &mut bytes,
                )?;
                let words: Vec<String> =
                    String::from_utf8(bytes).unwrap().split(' ').map(str::to_owned).collect();
                assert_eq!(words.len() as u64, repeat.words);
                assert_eq!(places.len() as u64, repeat.occurrences);
                assert!(all.insert((words, places)), "a passage is reported twice");
                Ok(())
            })
        };
        finder.find(1, &Removed::default(), Some(&mut on_class)).unwrap();
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(700))]

        #[test]
        fn passages_are_the_maximal_repeats(
            texts in texts(),
            words in prop_oneof![3 => 2_usize..20, 1 => 20_usize..61],
            seed_words in 1_usize..20,
            hash_bits in prop::sample::select(vec![u64::MAX, 0x0F00_0000_0000_0000, 0]),
        ) {
            let expected = maximal_repeats(&words_of(&texts), words);
            let by_suffixes = maximal_repeats_by_suffixes(&words_of(&texts), words);
            prop_assert_eq!(&by_suffixes, &expected, "the oracles differ");
            prop_assert_eq!(found(search(words, seed_words, hash_bits), &texts), expected);
        }

        #[test]
        fn what_is_left_is_what_the_slow_rounds_leave(
            texts in texts(),
            words in 1_usize..20,
            seed_words in 1_usize..20,
            hash_bits in prop::sample::select(vec![u64::MAX, 0x0F00_0000_0000_0000, 0]),
        ) {
            // Words that cannot be parted make a difference that the oracle does not know.
            let texts: Vec<String> = texts.iter().map(|text| text.replace('½', "y")).collect();
            let work = tempfile::tempdir().unwrap();
            let search = search(words, seed_words, hash_bits);
            let cut = search.remove(&texts, PassageUnit::Word, work.path()).unwrap();
            prop_assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0);
            let left: Vec<String> = cut.iter().map(|cut| normal_form(&cut.left)).collect();
            let expected: Vec<String> =
                words_left(&words_of(&texts), words).iter().map(|words| words.join(" ")).collect();
            prop_assert_eq!(left, expected);
        }

        #[test]
        fn a_second_removal_finds_nothing_whatever_the_unit(
            texts in texts(),
            words in 1_usize..12,
            unit in prop::sample::select(vec![PassageUnit::Word, PassageUnit::Line, PassageUnit::Paragraph]),
            breaks in prop::sample::select(vec!["x ", "x\n", "x\n \n", ".\nx "]),
        ) {
            let texts: Vec<String> = texts.iter().map(|text| text.replace("x ", breaks)).collect();
            let work = tempfile::tempdir().unwrap();
            let search = search(words, words.div_ceil(2), u64::MAX);
            let cut = search.remove(&texts, unit, work.path()).unwrap();
            for (cut, text) in cut.iter().zip(&texts) {
                let mut rest = text.clone();
                for range in cut.removed.iter().rev() {
                    rest.replace_range(range.clone(), "");
                }
                prop_assert!(rest.split_whitespace().eq(cut.left.split_whitespace())
                    || rest.len() + cut.removed.len() == cut.left.len());
            }
            let left: Vec<&str> = cut.iter().map(|cut| cut.left.as_str()).collect();
            let again = search.remove(&left, unit, work.path()).unwrap();
            prop_assert!(again.iter().all(|cut| cut.removed.is_empty()));
            let all = search.find(&left, work.path()).unwrap();
            prop_assert!(all.is_empty(), "{all:?}");
        }
    }

    #[test]
    fn places_are_bytes_of_the_text() {
        let texts = ["Say: the OLD footer, again.", "(The old – Footer) again"];
        let work = tempfile::tempdir().unwrap();
        let search = TextPassages::new(NonZeroUsize::new(3).unwrap());
        let found = search.find(&texts, work.path()).unwrap();
        assert_eq!(found.len(), 1);
        let shown: Vec<&str> =
            found[0].places.iter().map(|(text, place)| &texts[*text][place.clone()]).collect();
        assert_eq!(shown, ["the OLD footer, again", "The old – Footer) again"]);
        assert_eq!((found[0].words, found[0].occurrences, found[0].texts), (4, 2, 2));
    }
}
