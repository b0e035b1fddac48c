//! Passages of texts that are in memory: what a file job does, for callers that have the texts.
//!
//! Cost: the words of all texts are written to a folder, because the search reads them from there; the folder is empty again
//! afterwards. A text is walked once more for all of its places together.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;

use wonbon_progress::{Progress, Unwatched};

use super::cut::{append_words, cut, locate_ranges};
use super::maximal::{Repeat, RepeatFilter, for_each_maximal};
use super::removal::{PassageUnit, Removal, UnitStarts, find_removed};
use super::repeats::Finder;
use super::scan::WindowPlan;
use super::seeds::Seeds;
use super::words::{Removed, WordText};
use crate::columns::{Column, ColumnWriter, Mark, write_column};
use crate::dedup::check_passage_words;
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
    /// The places that were asked for, the first ones first: the number of the text and the bytes.
    pub places: Vec<(usize, Range<usize>)>,
}

impl TextPassage {
    /// Bytes of the first occurrence.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.places.first().map_or(0, |(_, place)| place.len() as u64)
    }

    /// Bytes that all occurrences but one take.
    #[must_use]
    pub fn saved(&self) -> u64 {
        self.bytes() * self.occurrences.saturating_sub(1)
    }
}

/// What is left of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutText {
    /// The bytes that are removed, ascending.
    pub removed: Vec<Range<usize>>,
    /// The text without them.
    pub left: String,
    /// How many words are left, if something is removed.
    pub words_left: Option<u32>,
}

/// How passages are looked for in texts. The order of the texts is the order of keeping.
#[derive(Clone, Copy)]
pub struct TextPassages<'a> {
    words: NonZeroUsize,
    plan: WindowPlan,
    others: usize,
    of_others_only: bool,
    least_texts: u64,
    places: usize,
    memory: u64,
    window_bytes: Option<u64>,
    threads: NonZeroUsize,
    progress: &'a dyn Progress,
}

impl<'a> TextPassages<'a> {
    /// Passages of at least so many words.
    #[must_use]
    pub fn new(words: NonZeroUsize) -> Self {
        TextPassages {
            words,
            plan: WindowPlan::new(words.get()),
            others: 0,
            of_others_only: false,
            least_texts: 1,
            places: usize::MAX,
            memory: 64 << 20,
            window_bytes: None,
            threads: NonZeroUsize::MIN,
            progress: &Unwatched,
        }
    }

    /// Passages of at least so many words, a number that somebody chose.
    ///
    /// # Errors
    ///
    /// [`ClusterError::BadParameter`] for fewer than two words, or more than a passage can have.
    pub fn of_words(words: usize) -> Result<Self, ClusterError> {
        check_passage_words(words)?;
        Ok(Self::new(NonZeroUsize::new(words).unwrap_or(NonZeroUsize::MIN)))
    }

    /// The first so many texts belong to another corpus: nothing is removed from them, and what is found
    /// occurs in them and in one of the rest. `only`: what does not occur in them is not removed at all.
    #[must_use]
    pub fn with_others(self, others: usize, only: bool) -> Self {
        TextPassages { others, of_others_only: only, ..self }
    }

    /// Finds what occurs in at least so many texts, and lists so many places of each.
    #[must_use]
    pub fn with_list(self, least_texts: u64, places: usize) -> Self {
        TextPassages { least_texts, places: places.max(1), ..self }
    }

    /// Threads, and bytes of memory to sort in. Neither changes the result.
    #[must_use]
    pub fn with_resources(
        self,
        threads: NonZeroUsize,
        memory: u64,
        progress: &'a dyn Progress,
    ) -> Self {
        TextPassages { threads, memory, progress, ..self }
    }

    /// Every maximal run of words that occurs at two places or more, by the place of its first occurrence. `work` is
    /// an empty folder.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    ///
    /// # Panics
    ///
    /// If a text changes meanwhile.
    pub fn find<T: AsRef<str>>(
        &self,
        texts: &[T],
        work: &Path,
    ) -> Result<Vec<TextPassage>, ClusterError> {
        let (words, _) = self.write(texts, None, work)?;
        let finder = self.finder(&words, work, self.others > 0);
        let filter = RepeatFilter {
            words: self.words.get(),
            documents: self.least_texts,
            places: self.places,
            across: self.others > 0,
        };
        let mut repeats: Vec<Repeat> = Vec::new();
        let mut seeds = Seeds::default();
        finder.write_seeds(&mut seeds, &Removed::default(), None)?;
        finder.find(
            &seeds,
            &Removed::default(),
            Some(&mut |class| {
                for_each_maximal(&words, class, filter, |repeat| {
                    repeats.push(repeat);
                    Ok(())
                })
            }),
        )?;
        seeds.remove()?;
        remove_columns(work)?;
        repeats.sort_by_key(|repeat| (repeat.first, repeat.bytes));
        Ok(located(&repeats, &words, texts))
    }

    /// Removes every occurrence but the first, so that no run of so many words is left twice. Answers for every text
    /// but those of another corpus. `work` is an empty folder.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written.
    ///
    /// # Panics
    ///
    /// If a text changes meanwhile.
    pub fn remove<T: AsRef<str>>(
        &self,
        texts: &[T],
        unit: PassageUnit,
        work: &Path,
    ) -> Result<Vec<CutText>, ClusterError> {
        let (words, units) = self.write(texts, Some(unit), work)?;
        let order: Vec<u32> = (0..texts.len() as u32).collect();
        let finder = self.finder(&words, work, self.of_others_only);
        let (removed, rounds) = find_removed(&finder, &units)?;
        let removal = Removal::new(&words, &order, &removed, rounds)?;
        remove_columns(work)?;
        Ok((0..)
            .zip(texts)
            .skip(self.others)
            .map(|(number, text)| {
                let text = text.as_ref();
                let Some((ranges, left)) = removal.of(number) else {
                    return CutText { left: text.to_owned(), ..CutText::default() };
                };
                let cut = cut(text, ranges, unit).expect("the words were written from these texts");
                CutText { removed: cut.removed, left: cut.text, words_left: Some(left) }
            })
            .collect())
    }

    fn finder<'b>(
        &'b self,
        words: &'b WordText,
        work: &'b Path,
        of_others_only: bool,
    ) -> Finder<'b> {
        Finder {
            words,
            plan: self.plan,
            folder: work,
            memory: self.memory,
            window_bytes: self.window_bytes,
            threads: self.threads,
            progress: self.progress,
            of_others_only,
        }
    }

    fn write<T: AsRef<str>>(
        &self,
        texts: &[T],
        unit: Option<PassageUnit>,
        work: &Path,
    ) -> Result<(WordText, UnitStarts), ClusterError> {
        let [words_path, offsets_path] = COLUMNS.map(|name| work.join(name));
        let mut column = ColumnWriter::open(words_path.clone(), Mark::default())?;
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        let (mut offsets, mut counts) = (Vec::new(), Vec::new());
        for text in texts {
            if self.progress.stop_asked() {
                return Err(ClusterError::Stopped);
            }
            let before = offsets.len();
            words.clear();
            append_words(text.as_ref(), unit, &mut words, &mut offsets);
            column.extend(&words)?;
            ends.push(column.bytes());
            counts.push((offsets.len() - before) as u32);
        }
        column.flush()?;
        let order: Vec<u32> = (0..texts.len() as u32).collect();
        write_column(&offsets_path, &offsets)?;
        let (column, order_of) = (Column::open(words_path)?, order.iter().copied());
        let words = WordText::new(column, &ends, order_of, self.others);
        let unit = unit.unwrap_or_default();
        let units = UnitStarts::new(Column::open(offsets_path)?, &counts, order, unit);
        Ok((words, units))
    }
}

/// The repeats with their places as bytes of the texts.
fn located<T: AsRef<str>>(repeats: &[Repeat], words: &WordText, texts: &[T]) -> Vec<TextPassage> {
    let mut passages: Vec<TextPassage> = repeats
        .iter()
        .map(|repeat| TextPassage {
            words: repeat.words,
            occurrences: repeat.occurrences,
            texts: repeat.documents,
            places: vec![(0, 0..0); repeat.places.len()],
        })
        .collect();
    // The text, the range in its words, and which place of which passage it is.
    let mut wanted = Vec::new();
    for (passage, repeat) in repeats.iter().enumerate() {
        for (place, &start) in repeat.places.iter().enumerate() {
            let text = words.document_at(start);
            let start = start - words.places(text).start;
            wanted.push((text, [start, start + repeat.bytes], (passage, place)));
        }
    }
    wanted.sort_unstable();
    for same in wanted.chunk_by(|one, other| one.0 == other.0) {
        let number = same[0].0;
        let ranges: Vec<[u64; 2]> = same.iter().map(|one| one.1).collect();
        let found = locate_ranges(texts[number].as_ref(), &ranges);
        let found = found.expect("the words were written from these texts");
        for (&(_, _, (passage, place)), bytes) in same.iter().zip(found) {
            passages[passage].places[place] = (number, bytes);
        }
    }
    passages
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

    fn search(words: usize, seed_words: usize, hash_bits: u64) -> TextPassages<'static> {
        let plan = WindowPlan { words, seed_words: seed_words.clamp(1, words), hash_bits };
        let words = NonZeroUsize::new(words).unwrap();
        // So few bytes that windows are looked at in several parts.
        TextPassages { plan, memory: 0, window_bytes: Some(400), ..TextPassages::new(words) }
    }

    /// The words of a passage and its places as text and word.
    type Found = BTreeSet<(Vec<String>, Vec<(usize, usize)>)>;

    fn found(search: TextPassages<'_>, texts: &[String]) -> Found {
        let work = tempfile::tempdir().unwrap();
        let (words, _) = search.write(texts, None, work.path()).unwrap();
        let finder = search.finder(&words, work.path(), false);
        let filter = RepeatFilter {
            words: search.words.get(),
            documents: 1,
            places: usize::MAX,
            across: false,
        };
        let mut all = Found::new();
        let mut seeds = Seeds::default();
        finder.write_seeds(&mut seeds, &Removed::default(), None).unwrap();
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
        finder.find(&seeds, &Removed::default(), Some(&mut on_class)).unwrap();
        all
    }

    /// How many corpora each property is tried on; scripts/hard.sh asks for more.
    fn cases() -> u32 {
        std::env::var("WONBON_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]

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
            words in prop_oneof![3 => 2_usize..20, 1 => 20_usize..61],
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
