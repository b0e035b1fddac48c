//! A corpus of made-up blog posts, as large as wanted, with families of copies planted in it.
//!
//! Why made up: the real corpora are not part of the repository and end at some size; a benchmark
//! or a large test wants as many documents as it asks for, the same on every machine, and to know
//! which ones are copies. The posts look like posts where it matters to the code under test: words
//! of two scripts with frequencies after Zipf, lengths that differ by a factor of a hundred,
//! sentences, paragraphs, punctuation and escapes in the JSON. They mean nothing.
//!
//! How: a document is a function of the parameters and its number alone. A copy names its original
//! by number and is made by making the original again and changing some of its words, so nothing is
//! kept from document to document: the corpus streams in constant memory and can be entered
//! anywhere.
//!
//! Cost: about 100 nanoseconds a word, twice that for a copy; two megabytes of lexicons.
//!
//! Guarantee: the same parameters give the same bytes on every machine and with every release of
//! Rust: integer arithmetic and one division, no standard hasher, no floating-point functions.
//! [`GENERATOR_VERSION`] changes when the bytes do. Not here: texts that resemble each other to an
//! exact degree.

mod forge;
mod lexicon;
pub mod random;

use std::io::{self, Write};

pub use forge::forged_pair;
use lexicon::Lexicon;
use random::Random;

/// Changes when the same parameters give other documents than before.
pub const GENERATOR_VERSION: u32 = 1;

/// What corpus to make.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusParams {
    /// How many documents.
    pub documents: u64,
    /// Mean length of a document in words; single ones have between none of it and four times it.
    pub mean_words: u32,
    /// The share of the documents that are copies of an earlier one.
    pub copy_share: f64,
    /// The largest share of its words that a copy changes; each copy draws its own below it.
    pub most_changed: f64,
    /// The share of the originals that are Korean; the others are English.
    pub korean_share: f64,
    /// Decides everything else.
    pub seed: u64,
}

/// A thousand posts of blog length, a fifth of them copies with up to a tenth of the words changed:
/// with shingles of five words these copies have resemblances from about 0.4 to 1.
impl Default for CorpusParams {
    fn default() -> Self {
        CorpusParams {
            documents: 1000,
            mean_words: 300,
            copy_share: 0.2,
            most_changed: 0.1,
            korean_share: 0.4,
            seed: 1,
        }
    }
}

/// A language of the made-up posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English-like: ASCII.
    English,
    /// Korean-like: Hangul syllables with particles, and a few English-like words.
    Korean,
}

/// One made-up post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its place in the corpus, counted from zero.
    pub number: u64,
    /// The document it copies; this one is never a copy itself.
    pub copy_of: Option<u64>,
    /// The language of its words.
    pub language: Language,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// A corpus that is made while it is read.
///
/// ```
/// use wonbon_testkit::generate::{Corpus, CorpusParams};
/// let corpus = Corpus::new(CorpusParams { documents: 50, ..CorpusParams::default() });
/// let copies = corpus.documents().filter(|document| document.copy_of.is_some()).count();
/// assert!(copies > 0 && copies < 25);
/// assert_eq!(corpus.document(7), corpus.documents().nth(7).unwrap());
/// ```
#[derive(Debug)]
pub struct Corpus {
    params: CorpusParams,
    english: Lexicon,
    korean: Lexicon,
}

/// What a stream of random numbers is for; each draws independently of the others.
#[derive(Clone, Copy)]
enum Purpose {
    Lexicon = 1,
    Family = 2,
    Text = 3,
    Changes = 4,
}

impl Corpus {
    /// Prepares the lexicons.
    #[must_use]
    pub fn new(params: CorpusParams) -> Self {
        let seed = params.seed;
        Corpus {
            english: Lexicon::english(&mut Random::new(seed, Purpose::Lexicon as u64, 0)),
            korean: Lexicon::korean(&mut Random::new(seed, Purpose::Lexicon as u64, 1)),
            params,
        }
    }

    /// All documents, in order.
    pub fn documents(&self) -> impl Iterator<Item = Document> {
        (0..self.params.documents).map(|number| self.document(number))
    }

    /// The document with this number; numbers beyond the corpus give what a larger one would have.
    #[must_use]
    pub fn document(&self, number: u64) -> Document {
        let original = self.original_of(number);
        let (language, mut words) = self.original(original);
        if original != number {
            let mut random = self.random(Purpose::Changes, number);
            let changed = self.params.most_changed * random.fraction();
            for word in &mut words {
                if random.fraction() < changed {
                    word.letters = self.lexicon(language).word(&mut random);
                }
            }
        }
        let copy_of = (original != number).then_some(original);
        let (title, text) = laid_out(&words);
        Document { number, copy_of, language, title, text }
    }

    /// The original of a document; its own number if it is one.
    ///
    /// A copy is made of any earlier document, and of what that one copies if it is a copy: so old
    /// and often copied posts are copied more often, as on the web.
    #[must_use]
    pub fn original_of(&self, mut number: u64) -> u64 {
        loop {
            let mut random = self.random(Purpose::Family, number);
            if number == 0 || random.fraction() >= self.params.copy_share {
                return number;
            }
            number = random.below(number);
        }
    }

    /// Writes the corpus as JSON lines: `id`, `url`, `created`, `lang`, `title`, `text` and `group`,
    /// the id of the original.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written.
    pub fn write_json_lines(&self, out: &mut impl Write) -> io::Result<()> {
        let mut line = String::new();
        for document in self.documents() {
            document.json_line(&mut line);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn random(&self, purpose: Purpose, number: u64) -> Random {
        Random::new(self.params.seed, purpose as u64, number)
    }

    fn lexicon(&self, language: Language) -> &Lexicon {
        match language {
            Language::English => &self.english,
            Language::Korean => &self.korean,
        }
    }

    fn original(&self, number: u64) -> (Language, Vec<Word<'_>>) {
        let mut random = self.random(Purpose::Text, number);
        let language = if random.fraction() < self.params.korean_share {
            Language::Korean
        } else {
            Language::English
        };
        // The product of two uniform shares: mean a quarter, most posts short and a few long.
        let length = 4.0 * f64::from(self.params.mean_words) * random.fraction();
        let length = (length * random.fraction()) as usize;
        let mut words = Vec::with_capacity(length);
        while words.len() < length {
            let sentence = (4 + random.below(14) as usize).min(length - words.len());
            for at in 0..sentence {
                let foreign = language == Language::Korean && random.below(25) == 0;
                let lexicon = if foreign { &self.english } else { self.lexicon(language) };
                let letters = lexicon.word(&mut random);
                let last = at + 1 == sentence;
                let mark = if last { sentence_end(&mut random) } else { pause(&mut random) };
                words.push(Word { letters, starts_sentence: at == 0, mark });
            }
        }
        (language, words)
    }
}

/// What follows a word inside a sentence.
fn pause(random: &mut Random) -> &'static str {
    match random.below(40) {
        0..=2 => ", ",
        3 => " \"",
        4 => "\" ",
        5 => " (",
        6 => ") ",
        _ => " ",
    }
}

/// What follows the last word of a sentence.
fn sentence_end(random: &mut Random) -> &'static str {
    match random.below(12) {
        0 => "?\n",
        1 => "! ",
        2..=3 => ".\n\n",
        4 => "…\n",
        _ => ". ",
    }
}

/// A word of a post.
#[derive(Clone, Copy)]
struct Word<'a> {
    letters: &'a str,
    starts_sentence: bool,
    /// What follows it.
    mark: &'static str,
}

/// The first words of a post are its title.
const TITLE_WORDS: usize = 5;

/// Title and text. Sentences start with a capital where the script has one.
fn laid_out(words: &[Word<'_>]) -> (String, String) {
    let bytes = words.iter().map(|word| word.letters.len() + word.mark.len()).sum();
    let (mut title, mut text) = (String::new(), String::with_capacity(bytes));
    for (at, word) in words.iter().enumerate() {
        let start = text.len();
        text.push_str(word.letters);
        if word.starts_sentence
            && let Some(first) = text.get_mut(start..start + 1)
        {
            first.make_ascii_uppercase();
        }
        if at < TITLE_WORDS {
            title.push_str(if at == 0 { "" } else { " " });
            title.push_str(&text[start..]);
        }
        text.push_str(word.mark);
    }
    text.truncate(text.trim_end().len());
    (title, text)
}

impl Document {
    /// Writes the document as one JSON line, with its line break, over what `line` held.
    pub fn json_line(&self, line: &mut String) {
        let number = self.number;
        let group = self.copy_of.unwrap_or(number);
        let language = match self.language {
            Language::English => "en",
            Language::Korean => "ko",
        };
        // One post a minute, months of 28 days: always a real date.
        let (minute, hour, day) = (number % 60, number / 60 % 24, number / 1440);
        let (day, month, year) = (1 + day % 28, 1 + day / 28 % 12, 2008 + day / 336 % 1000);
        line.clear();
        line.push_str(&format!(
            "{{\"id\":\"post-{number}\",\"url\":\"https://blog{}.example/{number}\",\
             \"created\":\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z\",\
             \"lang\":\"{language}\",\"group\":\"post-{group}\",\"title\":\"",
            number % 97
        ));
        push_escaped(line, &self.title);
        line.push_str("\",\"text\":\"");
        push_escaped(line, &self.text);
        line.push_str("\"}\n");
    }
}

/// Escapes what the posts have of what JSON wants escaped.
fn push_escaped(line: &mut String, mut text: &str) {
    while let Some(at) = text.find(['"', '\n']) {
        let (plain, rest) = text.split_at(at);
        line.push_str(plain);
        line.push_str(if rest.starts_with('"') { "\\\"" } else { "\\n" });
        text = &rest[1..];
    }
    line.push_str(text);
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use wonbon_documents::{Content, FieldNames, LineReader, Lines, RowParser, Source};
    use wonbon_sketch::rabin::RABIN_64;

    use super::*;
    use crate::text::slow_words;

    fn small() -> CorpusParams {
        CorpusParams { documents: 300, mean_words: 60, ..CorpusParams::default() }
    }

    fn json_lines(params: CorpusParams) -> Vec<u8> {
        let mut bytes = Vec::new();
        Corpus::new(params).write_json_lines(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_bytes_of_this_version_are_known() {
        let fingerprint = RABIN_64.fingerprint(&json_lines(small()));
        assert_eq!((GENERATOR_VERSION, fingerprint), (1, 0xf401_a5ea_eecb_3411));
    }

    #[test]
    fn another_seed_gives_another_corpus() {
        assert_ne!(json_lines(small()), json_lines(CorpusParams { seed: 2, ..small() }));
    }

    #[test]
    fn every_line_is_read_back_as_the_document_it_was() {
        let corpus = Corpus::new(small());
        let source =
            Source::from_reader(Cursor::new(json_lines(small())), "made up", None).unwrap();
        let (mut reader, mut lines) = (LineReader::new(source), Lines::default());
        let mut rows = RowParser::new(FieldNames::default());
        let mut documents = corpus.documents();
        while reader.next_lines(&mut lines).unwrap() {
            rows.for_each_row(&mut lines, &|_| None, |_, row| {
                let (row, document) = (row.unwrap(), documents.next().unwrap());
                assert_eq!(row.id, format!("post-{}", document.number));
                // An empty title is none.
                let title = Some(document.title.as_str()).filter(|title| !title.is_empty());
                assert_eq!(row.title.as_deref(), title);
                assert_eq!(row.content, Content::Text(document.text.as_str().into()));
            });
        }
        assert_eq!(documents.next(), None);
    }

    #[test]
    fn a_copy_changes_words_of_an_original_and_keeps_their_number() {
        let corpus = Corpus::new(CorpusParams { copy_share: 0.5, ..small() });
        let mut copies = 0;
        for copy in corpus.documents() {
            let Some(original) = copy.copy_of else { continue };
            copies += 1;
            let original = corpus.document(original);
            assert_eq!(original.copy_of, None);
            let (old, new) = (slow_words(&original.text), slow_words(&copy.text));
            assert_eq!(old.len(), new.len());
            let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count();
            // At most a tenth is expected; four standard errors of a binomial count on top.
            let expected = 0.1 * old.len() as f64;
            assert!(changed as f64 <= expected + 4.0 * expected.sqrt() + 1.0, "{}", copy.number);
        }
        // 150 of 300 expected, standard deviation 8.7.
        assert!((115..185).contains(&copies), "{copies}");
    }

    #[test]
    fn lengths_have_the_mean_that_was_asked_for() {
        let params = CorpusParams { documents: 2000, mean_words: 50, ..CorpusParams::default() };
        let corpus = Corpus::new(CorpusParams { copy_share: 0.0, ..params });
        let words: usize = corpus.documents().map(|post| slow_words(&post.text).len()).sum();
        let mean = words as f64 / 2000.0;
        // The standard deviation of a length is 0.88 of the mean: standard error 1.0; rounding down
        // costs half a word.
        assert!((45.5..53.5).contains(&mean), "{mean}");
    }
}
