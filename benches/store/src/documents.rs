//! Posts, their features, and questions made of them.

use wonbon_sketch::{FeatureMaker, FeatureParams, Features, FeaturesBuilder};
use wonbon_testkit::generate::{Corpus, CorpusParams};
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, Shingler};

/// Made-up posts by number, and what makes their features.
pub(crate) struct Documents {
    corpus: Corpus,
    seed: u64,
    shingler: Shingler,
    builder: FeaturesBuilder,
    features: Features,
}

impl Documents {
    pub(crate) fn new(seed: u64) -> anyhow::Result<Self> {
        let params =
            CorpusParams { copy_share: 0.0, korean_share: 1.0, seed, ..CorpusParams::default() };
        let maker = FeatureMaker::new(FeatureParams::default())?;
        Ok(Documents {
            corpus: Corpus::new(params),
            seed,
            shingler: Shingler::new(DEFAULT_SHINGLE_WORDS),
            builder: maker.builder(),
            features: maker.features(&[]),
        })
    }

    /// The features of a post; none if it has no words.
    pub(crate) fn features(&mut self, number: u64) -> &[u64] {
        let text = self.corpus.document(number).text;
        self.features_of(&text)
    }

    fn features_of(&mut self, text: &str) -> &[u64] {
        self.builder.clear();
        let builder = &mut self.builder;
        self.shingler.for_each_chunk(text, |chunk| builder.update(chunk));
        self.builder.features_into(&mut self.features);
        self.features.values()
    }

    /// The features of question `number`: one of these posts with one to five words replaced by
    /// words of other posts.
    pub(crate) fn question(&mut self, number: u64, posts: &[u32]) -> Vec<u64> {
        let mut random = Random(wonbon_sketch::finalise(self.seed) ^ (number << 32));
        let mut words = loop {
            let post = posts[random.below(posts.len())];
            let text = self.corpus.document(u64::from(post)).text;
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            if !words.is_empty() {
                break words;
            }
        };
        for _ in 0..1 + random.below(5) {
            let place = random.below(words.len());
            loop {
                let other = self.corpus.document(random.below(1 << 31) as u64).text;
                let others: Vec<&str> = other.split_whitespace().collect();
                if others.is_empty() {
                    continue;
                }
                let word = others[random.below(others.len())];
                if word != words[place] {
                    words[place] = word.to_owned();
                    break;
                }
            }
        }
        self.features_of(&words.join(" ")).to_vec()
    }
}

/// Numbers that are the same everywhere: a counter, mixed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 += 1;
        ((u128::from(wonbon_sketch::finalise(self.0)) * bound as u128) >> 64) as usize
    }
}
