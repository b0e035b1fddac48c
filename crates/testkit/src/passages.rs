//! Oracles for passages: all runs of words by trying them, maximal repeats from an array of suffixes, and removal by rounds
//! over everything.

use std::collections::{BTreeMap, BTreeSet};

/// The words of a repeated run, and all its places as document and word.
pub type Repeats = BTreeSet<(Vec<String>, Vec<(usize, usize)>)>;

/// The maximal repeats of at least `least` words: every run of words is tried.
///
/// A run is one if it occurs at two places, and neither do all occurrences follow the same word nor does the same word follow
/// all. The start and the end of a document are like no word.
#[must_use]
pub fn maximal_repeats(documents: &[Vec<String>], least: usize) -> Repeats {
    let mut places: BTreeMap<&[String], Vec<(usize, usize)>> = BTreeMap::new();
    for (number, words) in documents.iter().enumerate() {
        for start in 0..words.len() {
            for end in start + least..=words.len() {
                places.entry(&words[start..end]).or_default().push((number, start));
            }
        }
    }
    let repeats = places.into_iter().filter(|(run, places)| {
        let before = |&(number, start): &(usize, usize)| {
            start.checked_sub(1).map(|before| &documents[number][before])
        };
        let behind = |&(number, start): &(usize, usize)| documents[number].get(start + run.len());
        places.len() > 1 && differ(places.iter().map(before)) && differ(places.iter().map(behind))
    });
    repeats.map(|(run, places)| (run.to_vec(), places)).collect()
}

/// Whether two of the words are different; none is different from all.
fn differ<'a>(words: impl Iterator<Item = Option<&'a String>>) -> bool {
    let words: Vec<Option<&String>> = words.collect();
    words.iter().any(|word| word.is_none() || *word != words[0])
}

/// The same from an array of all suffixes: prefix doubling, Kasai's lengths of common prefixes, and their intervals.
#[must_use]
pub fn maximal_repeats_by_suffixes(documents: &[Vec<String>], least: usize) -> Repeats {
    let mut repeats = Repeats::new();
    for_each_repeat_by_suffixes(documents, least, |length, places| {
        let (number, start) = places[0];
        repeats.insert((documents[number][start..start + length].to_vec(), places.to_vec()));
    });
    repeats
}

/// Calls `each` with the length in words and the places, in order, of every maximal repeat.
pub fn for_each_repeat_by_suffixes(
    documents: &[Vec<String>],
    least: usize,
    mut each: impl FnMut(usize, &[(usize, usize)]),
) {
    let different: BTreeSet<&String> = documents.iter().flatten().collect();
    let numbers: BTreeMap<&String, usize> = different.into_iter().zip(documents.len()..).collect();
    // Every document ends with a number of its own.
    let (mut text, mut origin) = (Vec::new(), Vec::new());
    for (number, words) in documents.iter().enumerate() {
        for (at, word) in words.iter().enumerate() {
            text.push(numbers[word]);
            origin.push((number, at));
        }
        text.push(number);
        origin.push((number, words.len()));
    }
    let suffixes = suffix_array(&text);
    let common = common_prefixes(&text, &suffixes);
    // Open intervals: how long the prefix is, and the first suffix.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for at in 1..=suffixes.len() {
        let length = common.get(at).copied().unwrap_or(0);
        let mut first = at - 1;
        while let Some(&(long, start)) = open.last()
            && long > length
        {
            open.pop();
            first = start;
            if long < least {
                continue;
            }
            let mut places: Vec<(usize, usize)> =
                suffixes[start..at].iter().map(|&suffix| origin[suffix]).collect();
            let before = |&(number, start): &(usize, usize)| {
                start.checked_sub(1).map(|before| &documents[number][before])
            };
            if differ(places.iter().map(before)) {
                places.sort_unstable();
                each(long, &places);
            }
        }
        if length > 0 && open.last().is_none_or(|&(long, _)| long < length) {
            open.push((length, first));
        }
    }
}

/// The starts of all suffixes in order, by doubling the length that is compared.
fn suffix_array(text: &[usize]) -> Vec<usize> {
    let mut suffixes: Vec<usize> = (0..text.len()).collect();
    let mut rank = text.to_vec();
    let mut length = 1;
    loop {
        let key = |suffix: usize| (rank[suffix], rank.get(suffix + length).map(|rank| rank + 1));
        suffixes.sort_unstable_by_key(|&suffix| key(suffix));
        let mut next = vec![0; text.len()];
        for pair in suffixes.windows(2) {
            next[pair[1]] = next[pair[0]] + usize::from(key(pair[0]) != key(pair[1]));
        }
        let all_differ = suffixes.last().is_none_or(|&last| next[last] + 1 == text.len());
        rank = next;
        length *= 2;
        if all_differ {
            return suffixes;
        }
    }
}

/// For each suffix in order, how many numbers it has in common with the one before.
fn common_prefixes(text: &[usize], suffixes: &[usize]) -> Vec<usize> {
    let mut rank = vec![0; text.len()];
    suffixes.iter().enumerate().for_each(|(at, &suffix)| rank[suffix] = at);
    let (mut common, mut length) = (vec![0; text.len()], 0_usize);
    for start in 0..text.len() {
        let Some(before) = rank[start].checked_sub(1) else {
            length = 0;
            continue;
        };
        let other = suffixes[before];
        while text.get(start + length).is_some_and(|one| text.get(other + length) == Some(one)) {
            length += 1;
        }
        common[rank[start]] = length;
        length = length.saturating_sub(1);
    }
    common
}

/// What is left of documents, which are in keep order, when repeated windows of `length` words are removed but for their
/// first occurrence, until nothing repeats.
#[must_use]
pub fn words_left(documents: &[Vec<String>], length: usize) -> Vec<Vec<String>> {
    let mut left = documents.to_vec();
    loop {
        let mut first: BTreeMap<Vec<String>, (usize, usize)> = BTreeMap::new();
        let mut removed: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (number, words) in left.iter().enumerate() {
            for (at, window) in words.windows(length).enumerate() {
                match first.get(window) {
                    None => {
                        first.insert(window.to_vec(), (number, at));
                    }
                    Some(&(other, start)) => {
                        let kept = |word: usize| other == number && word < start + length;
                        let again = (at..at + length).filter(|&word| !kept(word));
                        removed.extend(again.map(|word| (number, word)));
                    }
                }
            }
        }
        if removed.is_empty() {
            return left;
        }
        for (number, words) in left.iter_mut().enumerate() {
            let mut at = 0;
            words.retain(|_| {
                at += 1;
                !removed.contains(&(number, at - 1))
            });
        }
    }
}
