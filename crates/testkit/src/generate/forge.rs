//! A forged pair: two documents that agree in features although they have next to nothing in common.
//!
//! Whoever knows the seed knows which shingle of a document has the smallest value under each
//! permutation. A text that repeats just these shingles, with filler between them that has no smaller
//! values, agrees with the document in every feature it was made for.

use std::num::NonZeroUsize;

use wonbon_sketch::FeatureMaker;
use wonbon_text::shingles::shingles;

use super::random::Random;

/// A victim and a forgery that agrees with it in at least `agreeing` features of `maker`, made with
/// shingles of five words.
///
/// # Panics
///
/// When no filler is found, which does not happen while the victim is long.
#[must_use]
pub fn forged_pair(maker: &FeatureMaker, agreeing: usize) -> (String, String) {
    const SHINGLE_WORDS: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not 0");
    let mut random = Random::new(1997, 0, 0);
    let words: Vec<String> = (0..1500).map(|_| format!("w{}", random.below(1 << 40))).collect();
    let victim = words.join(" ");
    let of = |text: &str| maker.min_values(&shingles(text, SHINGLE_WORDS)).values().to_vec();
    let values = of(&victim);
    let group_size = values.len() / maker.features(&[1]).values().len();
    let wanted = &values[..agreeing * group_size];

    // The phrases whose shingles have the wanted values, each once.
    let phrases: Vec<&[String]> = words
        .windows(SHINGLE_WORDS.get())
        .filter(|phrase| of(&phrase.join(" ")).iter().zip(wanted).any(|(one, least)| one == least))
        .collect();
    let smaller = |text: &str| of(text).iter().zip(wanted).any(|(one, least)| one < least);
    let mut forgery: Vec<String> = Vec::new();
    for phrase in phrases {
        let tail = forgery.len().saturating_sub(SHINGLE_WORDS.get() - 1);
        let joined = (0..10_000).find_map(|_| {
            let filler = format!("f{}", random.below(1 << 40));
            let junction = [&forgery[tail..], &[filler][..], phrase].concat();
            (!smaller(&junction.join(" "))).then(|| junction[forgery.len() - tail..].to_vec())
        });
        forgery.extend(joined.expect("some filler fits"));
    }
    (victim, forgery.join(" "))
}
