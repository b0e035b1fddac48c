//! Collapses ranked results at query time: near-copies are grouped under the best-ranked of them, the *head*.
//!
//! For lists that were not deduplicated when they were stored. Results are taken in rank order. A result that resembles an
//! earlier head at or above the threshold joins the group of the first such head; any other result becomes a head. So a
//! group is a star: every copy is verified against its head, heads are pairwise below the threshold, and nothing drifts
//! along a chain.
//!
//! How: a prefix filter. Two sets that resemble each other at or above t share an element among the first n - ⌈t n⌉ + 1 of
//! each (shingles are hashes, so their order is as good as a random one). Only these prefixes are in the table of heads. A
//! head that shares a prefix element, and whose size and bitmap allow the threshold, is compared exactly, the earliest head
//! first. A bitmap has a bit for each element, selected by some bits of its hash: two sets differ in at least as many
//! elements as their bitmaps differ in bits. Of similar texts below the threshold there may be hundreds; the bitmap excludes
//! them without a merge.
//!
//! Cost: the shingles of each text once, a look-up for each element of its prefix, a merge for each head that was found.
//! 1,000 results of 2 kB take 12 to 18 ms of one core, 25 ms when four of five are similar to others and most of them below
//! the threshold, 165 ms when 1.4 kB of each are the same. The deadline is checked before each result and every few
//! comparisons; the work on the text of one result is not interrupted.
//!
//! Not here: families of stored documents (`families`), the store's own sketches: results need not be stored.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroUsize;
use std::time::Instant;

use wonbon_sketch::ElementSet;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, Shingler};

/// How results are collapsed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollapseConfig {
    /// The resemblance from which a result is collapsed into another. 0.8: what people take for the same
    /// text. A lower value collapses more and takes longer.
    pub threshold: f64,
    /// Words in a shingle. Five, as everywhere; longer ones make every changed word count more.
    pub shingle_words: NonZeroUsize,
    /// When to stop; later results are not compared.
    pub deadline: Option<Instant>,
}

impl Default for CollapseConfig {
    fn default() -> Self {
        CollapseConfig { threshold: 0.8, shingle_words: DEFAULT_SHINGLE_WORDS, deadline: None }
    }
}

/// A result and the results that were collapsed into it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultGroup {
    /// The result that stays, by its place in the list.
    pub head: usize,
    /// The collapsed results, in rank order.
    pub copies: Vec<ResultCopy>,
}

/// A result that resembles an earlier one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResultCopy {
    /// Its place in the list.
    pub result: usize,
    /// Its exact resemblance to the head.
    pub resemblance: f64,
}

/// Results in groups.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Collapsed {
    /// In rank order of their heads.
    pub groups: Vec<ResultGroup>,
    /// How many results were looked at; those from here on were left when the time was over, and are
    /// in no group.
    pub looked_at: usize,
}

/// Groups near-copies under the best-ranked of them.
///
/// Texts are taken from the iterator in rank order, one by one, so that it may fetch them; none is taken after the
/// deadline. A result without words is a head without copies.
///
/// ```
/// use wonbon_store::{CollapseConfig, collapse};
/// let found = collapse(["a b c d e f g", "something else", "A B C, D E F G!"], &CollapseConfig::default());
/// assert_eq!(found.groups.len(), 2);
/// assert_eq!(found.groups[0].copies[0].result, 2);
/// ```
pub fn collapse<T: AsRef<str>>(
    texts: impl IntoIterator<Item = T>,
    config: &CollapseConfig,
) -> Collapsed {
    let mut shingler = Shingler::new(config.shingle_words);
    let mut heads = Heads {
        config: *config,
        table: HashMap::default(),
        links: Vec::new(),
        sets: Vec::new(),
        bitmaps: Vec::new(),
        is_met: Vec::new(),
    };
    let mut met = Vec::new();
    let mut collapsed = Collapsed::default();
    let mut texts = texts.into_iter();
    while !is_over(config.deadline) {
        let Some(text) = texts.next() else { break };
        let mut shingles = Vec::with_capacity(text.as_ref().len() / 5);
        shingler.for_each_chunk(text.as_ref(), |chunk| shingles.extend_from_slice(chunk));
        let set = ElementSet::new(shingles);
        let result = collapsed.looked_at;
        match heads.first_alike(&set, &mut met) {
            Looked::Alike { head, resemblance } => {
                collapsed.groups[head].copies.push(ResultCopy { result, resemblance });
            }
            Looked::Alone => {
                heads.add(set);
                collapsed.groups.push(ResultGroup { head: result, copies: Vec::new() });
            }
            Looked::Late => break,
        }
        collapsed.looked_at += 1;
    }
    collapsed
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Comparisons between two looks at the clock.
const COMPARISONS: usize = 64;

/// What was found out about a result.
enum Looked {
    Alike { head: usize, resemblance: f64 },
    Alone,
    Late,
}

/// 2,048 bits: six for each element of a text of 2 kB.
type Bitmap = Box<[u64; 32]>;

fn bitmap(set: &ElementSet) -> Bitmap {
    let mut bitmap = Box::new([0; 32]);
    for element in set.as_slice() {
        bitmap[(element >> 6) as usize % 32] |= 1 << (element % 64);
    }
    bitmap
}

/// The heads so far, and where their prefixes lead.
struct Heads {
    config: CollapseConfig,
    /// From an element to the newest link of its chain.
    table: HashMap<u64, u32, BuildHasherDefault<AlreadySpread>>,
    /// A head that has an element in its prefix, and the link before it in the chain.
    links: Vec<(u32, Option<u32>)>,
    sets: Vec<ElementSet>,
    bitmaps: Vec<Bitmap>,
    /// Whether a head was met already; all false between two results.
    is_met: Vec<bool>,
}

impl Heads {
    /// The earliest head that reaches the threshold; `met` is a list to reuse.
    fn first_alike(&mut self, set: &ElementSet, met: &mut Vec<u32>) -> Looked {
        met.clear();
        for element in &set.as_slice()[..self.prefix_length(set.len())] {
            let mut link = self.table.get(element).copied();
            while let Some(at) = link {
                let (head, before) = self.links[at as usize];
                if !std::mem::replace(&mut self.is_met[head as usize], true) {
                    met.push(head);
                }
                link = before;
            }
        }
        for &head in &*met {
            self.is_met[head as usize] = false;
        }
        met.sort_unstable();
        let bitmap = bitmap(set);
        for (compared, &head) in met.iter().enumerate() {
            if compared % COMPARISONS == COMPARISONS - 1 && is_over(self.config.deadline) {
                return Looked::Late;
            }
            let other = &self.sets[head as usize];
            let (fewer, more) = (set.len().min(other.len()), set.len().max(other.len()));
            if fewer < self.least_shared(more) {
                continue;
            }
            let differing: u32 = bitmap
                .iter()
                .zip(&*self.bitmaps[head as usize])
                .map(|(a, b)| (a ^ b).count_ones())
                .sum();
            let most_shared = (fewer + more).saturating_sub(differing as usize) / 2;
            let most = most_shared as f64 / (fewer + more - most_shared) as f64;
            if most < self.config.threshold * (1.0 - 1e-9) {
                continue;
            }
            let resemblance = set.resemblance(other);
            if resemblance >= self.config.threshold {
                return Looked::Alike { head: head as usize, resemblance };
            }
        }
        Looked::Alone
    }

    fn add(&mut self, set: ElementSet) {
        let head = u32::try_from(self.sets.len()).expect("fewer than 2^32 results");
        let prefix = self.prefix_length(set.len());
        for &element in &set.as_slice()[..prefix] {
            let link = u32::try_from(self.links.len()).expect("fewer than 2^32 links");
            self.links.push((head, self.table.insert(element, link)));
        }
        self.bitmaps.push(bitmap(&set));
        self.is_met.push(false);
        self.sets.push(set);
    }

    fn prefix_length(&self, size: usize) -> usize {
        (size + 1 - self.least_shared(size).min(size)).min(size)
    }

    /// The fewest elements a set of this size shares with one that it resembles enough: at least one,
    /// and a little less than the formula says, so that rounding loses nobody.
    fn least_shared(&self, size: usize) -> usize {
        let least = self.config.threshold * size as f64 * (1.0 - 1e-9);
        (least.ceil() as usize).max(1)
    }
}

/// Shingle hashes are spread already.
#[derive(Default)]
struct AlreadySpread(u64);

impl Hasher for AlreadySpread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("the keys are integers of 64 bits")
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wonbon_text::shingles::shingles;

    use super::*;

    /// Every result against every head so far, in order.
    fn slow_collapse(texts: &[String], config: &CollapseConfig) -> Vec<ResultGroup> {
        let set = |text: &String| ElementSet::new(shingles(text, config.shingle_words));
        let mut groups: Vec<ResultGroup> = Vec::new();
        for (result, text) in texts.iter().enumerate() {
            let alike = groups.iter_mut().find_map(|group| {
                let overlap = set(text).overlap(&set(&texts[group.head]));
                let resemblance = overlap.resemblance();
                (overlap.shared > 0 && resemblance >= config.threshold)
                    .then_some((group, resemblance))
            });
            match alike {
                Some((group, resemblance)) => group.copies.push(ResultCopy { result, resemblance }),
                None => groups.push(ResultGroup { head: result, copies: Vec::new() }),
            }
        }
        groups
    }

    /// Texts of which many share most of their words.
    fn results() -> impl Strategy<Value = Vec<String>> {
        let base = prop::collection::vec(0_u32..400, 0..60);
        let change = (any::<prop::sample::Index>(), 0_u32..400);
        let result =
            (any::<prop::sample::Index>(), prop::collection::vec(change, 0..6), 0_usize..8);
        (prop::collection::vec(base, 1..4), prop::collection::vec(result, 0..40)).prop_map(
            |(bases, results)| {
                let results = results.into_iter().map(|(base, changes, cut)| {
                    let mut words = bases[base.index(bases.len())].clone();
                    words.truncate(words.len().saturating_sub(cut));
                    for (at, word) in
                        changes.into_iter().filter(|_| !words.is_empty()).collect::<Vec<_>>()
                    {
                        let at = at.index(words.len());
                        words[at] = word;
                    }
                    words.iter().map(|word| format!("w{word} ")).collect()
                });
                results.collect()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        #[test]
        fn groups_are_those_of_comparing_with_every_head(
            texts in results(),
            threshold in prop::sample::select(vec![0.0, 0.1, 0.3, 0.5, 2.0 / 3.0, 0.8, 0.9, 1.0]),
            shingle_words in 1_usize..6,
        ) {
            let shingle_words = NonZeroUsize::new(shingle_words).unwrap();
            let config = CollapseConfig { threshold, shingle_words, deadline: None };
            let found = collapse(&texts, &config);
            prop_assert_eq!(found.looked_at, texts.len());
            prop_assert_eq!(&found.groups, &slow_collapse(&texts, &config));
            let set = |at: usize| ElementSet::new(shingles(&texts[at], shingle_words));
            for (number, group) in found.groups.iter().enumerate() {
                for copy in &group.copies {
                    prop_assert_eq!(set(copy.result).resemblance(&set(group.head)), copy.resemblance);
                    prop_assert!(copy.resemblance >= threshold && copy.result > group.head);
                }
                for other in &found.groups[..number] {
                    let overlap = set(group.head).overlap(&set(other.head));
                    prop_assert!(overlap.shared == 0 || overlap.resemblance() < threshold);
                }
            }
        }
    }

    #[test]
    fn what_is_left_when_the_time_is_over_is_in_no_group_and_not_asked_for() {
        let config = CollapseConfig { deadline: Some(Instant::now()), ..CollapseConfig::default() };
        let texts = std::iter::from_fn(|| -> Option<String> { panic!("asked for") });
        assert_eq!(collapse(texts, &config), Collapsed::default());
    }

    #[test]
    fn texts_without_words_are_heads_without_copies() {
        let found = collapse(["", " ! ", ""], &CollapseConfig::default());
        assert_eq!(found.groups.len(), 3);
    }

    #[test]
    fn a_threshold_that_is_no_number_groups_nothing() {
        let config = CollapseConfig { threshold: f64::NAN, ..CollapseConfig::default() };
        assert_eq!(collapse(["a b", "a b"], &config).groups.len(), 2);
    }
}
