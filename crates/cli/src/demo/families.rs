//! Originals and their copies, in memory.
//!
//! [`Families::add`] decides one document at a time by the rules of original and copy: compared
//! with originals only; of several that qualify the one with the highest resemblance, then the
//! earliest; a document created before the original it resembles takes its place and the family
//! follows; texts without words are nobody's copy and nobody's original; identical bytes, the same
//! text and the same shingles are told apart.
//!
//! Cost: a decision compares with every original, which is right for a demonstration and for
//! nothing larger. Not here: durability, deletion, an index.

use std::borrow::Cow;

use serde::Serialize;
use wonbon_sketch::{ElementSet, Features, SketchError};

use crate::rule::{FEATURE_COUNT, Rule};

/// A passage this long, in shingles, that both texts share in one piece can be a quotation.
const QUOTED_SHINGLES: usize = 20;

/// A document as the decision sees it.
#[derive(Debug, Clone)]
pub struct Document {
    pub id: String,
    /// Ordered like the time it names.
    pub created: String,
    pub bytes: Cow<'static, [u8]>,
    pub charset: &'static str,
    /// Whether the text was taken out of an HTML page.
    pub from_page: bool,
    /// The words, joined by spaces.
    pub normal_form: String,
    /// Shingles in the order of the text, for finding quoted passages.
    pub shingles_in_order: Vec<u64>,
    pub shingles: ElementSet,
    pub features: Features,
}

/// What a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Original,
    /// Resembles its original.
    Copy,
    /// Has its original's words in their order, in other bytes.
    SameText,
    /// Has its original's bytes.
    Identical,
    /// Has its original's shingles in another order or number.
    SameShingles,
    /// Has no words.
    Empty,
}

impl Kind {
    /// Whether it is a copy of any kind.
    pub fn is_copy(self) -> bool {
        !matches!(self, Kind::Original | Kind::Empty)
    }

    /// The name in the table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Original => "original",
            Kind::Copy => "copy",
            Kind::SameText => "same-text",
            Kind::Identical => "identical",
            Kind::SameShingles => "same-shingles",
            Kind::Empty => "empty",
        }
    }
}

/// Where a document stands, for people.
#[derive(Debug)]
pub struct Verdict<'a> {
    pub id: &'a str,
    pub created: &'a str,
    pub kind: Kind,
    /// The original; `None` unless a copy.
    pub original: Option<&'a str>,
    /// With the original; `None` unless a copy.
    pub resemblance: Option<f64>,
    /// How many of the six agree with the original's; `None` unless a copy.
    pub features_equal: Option<usize>,
    /// One short reason.
    pub why: String,
}

/// Names a document by its order of arrival.
type Place = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// With the original it was closest to on arrival, if they shared anything.
    Original {
        closest: Option<Place>,
    },
    /// An original that arrived after the one whose place it took.
    OriginalInPlaceOf(Place),
    Copy {
        of: Place,
        was_original: bool,
    },
    Empty,
}

/// Originals and their copies.
#[derive(Debug)]
pub struct Families {
    rule: Rule,
    documents: Vec<Document>,
    /// For each document, where it stands now.
    standings: Vec<Standing>,
}

impl Families {
    /// No documents yet.
    pub fn new(rule: Rule) -> Self {
        Families { rule, documents: Vec::new(), standings: Vec::new() }
    }

    /// Takes a document in and decides what it is. Others' standing changes only when it was
    /// created before the original it resembles.
    pub fn add(&mut self, document: Document) -> Result<(), SketchError> {
        let arriving = self.documents.len();
        let standing = if document.shingles.is_empty() {
            Standing::Empty
        } else {
            let (best, closest) = self.nearest_originals(&document)?;
            match best {
                None => Standing::Original { closest },
                Some(original) if document.created < self.documents[original].created => {
                    self.hand_over(original, arriving);
                    Standing::OriginalInPlaceOf(original)
                }
                Some(original) => Standing::Copy { of: original, was_original: false },
            }
        };
        self.documents.push(document);
        self.standings.push(standing);
        Ok(())
    }

    /// Every document's verdict, in order of arrival.
    pub fn verdicts(&self) -> Result<Vec<Verdict<'_>>, SketchError> {
        (0..self.documents.len()).map(|place| self.verdict(place)).collect()
    }

    /// The original the rule makes this document a copy of, and the one it shares most with
    /// whether the rule is met or not. Both by resemblance, then by creation, then by arrival.
    fn nearest_originals(
        &self,
        document: &Document,
    ) -> Result<(Option<Place>, Option<Place>), SketchError> {
        let (mut best, mut closest) = (None, None);
        for place in (0..self.documents.len()).filter(|place| self.is_original(*place)) {
            let original = &self.documents[place];
            let resemblance = document.shingles.resemblance(&original.shingles);
            if resemblance == 0.0 {
                continue;
            }
            let nearer_than = |other: Option<(f64, Place)>| {
                other.is_none_or(|(known, other)| {
                    resemblance > known
                        || (resemblance == known
                            && original.created < self.documents[other].created)
                })
            };
            if nearer_than(closest) {
                closest = Some((resemblance, place));
            }
            let features_equal = document.features.agreeing(&original.features)?;
            if self.rule.makes_a_copy(resemblance, features_equal) && nearer_than(best) {
                best = Some((resemblance, place));
            }
        }
        Ok((best.map(|(_, place)| place), closest.map(|(_, place)| place)))
    }

    fn is_original(&self, place: Place) -> bool {
        matches!(self.standings[place], Standing::Original { .. } | Standing::OriginalInPlaceOf(_))
    }

    /// Gives the family of one original to another, the old original included.
    fn hand_over(&mut self, from: Place, to: Place) {
        for standing in &mut self.standings {
            if let Standing::Copy { of, .. } = standing
                && *of == from
            {
                *of = to;
            }
        }
        self.standings[from] = Standing::Copy { of: to, was_original: true };
    }

    fn verdict(&self, place: Place) -> Result<Verdict<'_>, SketchError> {
        let document = &self.documents[place];
        let mut verdict = Verdict {
            id: &document.id,
            created: &document.created,
            kind: Kind::Original,
            original: None,
            resemblance: None,
            features_equal: None,
            why: String::new(),
        };
        match self.standings[place] {
            Standing::Empty => {
                verdict.kind = Kind::Empty;
                verdict.why = "no words: nobody's copy, nobody's original".to_owned();
            }
            Standing::Original { closest: None } => {
                verdict.why = "nothing like it came before".to_owned();
            }
            Standing::Original { closest: Some(closest) } => {
                verdict.why = self.why_no_copy(document, &self.documents[closest])?;
            }
            Standing::OriginalInPlaceOf(former) => {
                let former = &self.documents[former].id;
                verdict.why =
                    format!("late, but created before {former}: takes the original's place");
            }
            Standing::Copy { of, was_original } => {
                let original = &self.documents[of];
                verdict.kind = kind_of_copy(document, original);
                verdict.original = Some(&original.id);
                verdict.resemblance = Some(document.shingles.resemblance(&original.shingles));
                verdict.features_equal = Some(document.features.agreeing(&original.features)?);
                verdict.why = why_copy(verdict.kind, document, original);
                if was_original {
                    verdict.why = format!("original until {} came; {}", original.id, verdict.why);
                }
            }
        }
        if document.from_page {
            verdict.why = format!("core of an HTML page: {}", verdict.why);
        }
        if document.charset != "UTF-8" {
            verdict.why = format!("{}: {}", document.charset, verdict.why);
        }
        Ok(verdict)
    }

    fn why_no_copy(&self, document: &Document, other: &Document) -> Result<String, SketchError> {
        let overlap = document.shingles.overlap(&other.shingles);
        let passage = longest_shared_passage(document, other);
        // One passage that holds nearly all they share, in a text mostly its own, is a quotation;
        // the same greeting and farewell around other contents, or a text changed all over, is not.
        let one_passage = passage >= QUOTED_SHINGLES && passage * 10 >= overlap.shared * 9;
        if one_passage && overlap.shared * 2 < overlap.left {
            let percent = overlap.right_in_left() * 100.0;
            return Ok(format!(
                "quotes {percent:.0} % of {}, too little in common to be a copy",
                other.id
            ));
        }
        let resembles = format!("resembles {} by {:.3}", other.id, overlap.resemblance());
        Ok(match self.rule {
            Rule::Threshold(needed) => format!("{resembles}, a copy needs {needed}"),
            Rule::Features(needed) => {
                let equal = document.features.agreeing(&other.features)?;
                format!(
                    "{resembles} with {equal} of {FEATURE_COUNT} features, a copy needs {needed}"
                )
            }
        })
    }
}

fn kind_of_copy(document: &Document, original: &Document) -> Kind {
    if document.bytes == original.bytes {
        Kind::Identical
    } else if document.normal_form == original.normal_form {
        Kind::SameText
    } else if document.shingles == original.shingles {
        Kind::SameShingles
    } else {
        Kind::Copy
    }
}

fn why_copy(kind: Kind, document: &Document, original: &Document) -> String {
    let overlap = document.shingles.overlap(&original.shingles);
    match kind {
        Kind::Identical => "the same bytes".to_owned(),
        Kind::SameText if document.charset != original.charset => {
            "same words, other charset".to_owned()
        }
        Kind::SameText => "same words, other case, width or punctuation".to_owned(),
        Kind::SameShingles => "same shingles, another text".to_owned(),
        _ if overlap.shared == overlap.right => {
            format!("whole text, {} shingles more", overlap.left - overlap.shared)
        }
        _ if overlap.shared == overlap.left => {
            format!("a part, {} shingles fewer", overlap.right - overlap.shared)
        }
        _ => {
            let union = overlap.union();
            format!("{} of {union} shingles differ", union - overlap.shared)
        }
    }
}

/// The longest run of this document's shingles that the other has too, in shingles.
fn longest_shared_passage(document: &Document, other: &Document) -> usize {
    let known = other.shingles.as_slice();
    let (mut longest, mut run) = (0, 0);
    for shingle in &document.shingles_in_order {
        run = if known.binary_search(shingle).is_ok() { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::reading::Reader;
    use crate::demo::sample::Post;

    const LONG: &str = "one morning the old ferry did not come and the whole village stood on the \
        quay with baskets and bicycles and one very patient goat waiting for somebody to explain";

    /// Adds texts in order of arrival and gives each one's kind and original.
    fn decided(rule: Rule, posts: &[(&str, &str, &str)]) -> Vec<(Kind, Option<String>)> {
        let reader = Reader::new().unwrap();
        let mut families = Families::new(rule);
        for (id, created, text) in posts {
            let post = Post {
                id: (*id).to_owned(),
                created: (*created).to_owned(),
                bytes: text.as_bytes().to_vec().into(),
                charset: None,
            };
            families.add(reader.read(post)).unwrap();
        }
        let verdicts = families.verdicts().unwrap();
        verdicts.iter().map(|v| (v.kind, v.original.map(str::to_owned))).collect()
    }

    fn copy_of(kind: Kind, original: &str) -> (Kind, Option<String>) {
        (kind, Some(original.to_owned()))
    }

    const THRESHOLD: Rule = Rule::Threshold(0.8);
    const ORIGINAL: (Kind, Option<String>) = (Kind::Original, None);
    const EMPTY: (Kind, Option<String>) = (Kind::Empty, None);

    #[test]
    fn a_late_post_created_earlier_takes_the_whole_family() {
        let shouted = LONG.to_uppercase();
        let posts =
            [("b", "2", LONG), ("c", "3", shouted.as_str()), ("d", "4", LONG), ("a", "1", LONG)];
        let expected = [
            copy_of(Kind::Identical, "a"),
            copy_of(Kind::SameText, "a"),
            copy_of(Kind::Identical, "a"),
            ORIGINAL,
        ];
        assert_eq!(decided(THRESHOLD, &posts), expected);
        assert_eq!(decided(Rule::Features(2), &posts), expected);
    }

    #[test]
    fn a_place_can_be_taken_twice() {
        let posts = [("c", "3", LONG), ("b", "2", LONG), ("a", "1", LONG), ("d", "4", LONG)];
        let of_a = || copy_of(Kind::Identical, "a");
        assert_eq!(decided(THRESHOLD, &posts), [of_a(), of_a(), ORIGINAL, of_a()]);
    }

    #[test]
    fn posts_created_at_the_same_time_go_by_arrival() {
        let posts = [("first", "1", LONG), ("second", "1", LONG)];
        assert_eq!(decided(THRESHOLD, &posts), [ORIGINAL, copy_of(Kind::Identical, "first")]);
    }

    #[test]
    fn texts_without_words_are_nobodys_copy_and_nobodys_original() {
        let posts = [("a", "2", "!!! …"), ("b", "3", "!!! …"), ("c", "1", ""), ("d", "4", LONG)];
        for rule in [THRESHOLD, Rule::Features(1)] {
            assert_eq!(decided(rule, &posts), [EMPTY, EMPTY, EMPTY, ORIGINAL]);
        }
    }

    #[test]
    fn drift_ends_at_the_original() {
        // Each text has one word in 40 changed: 5 of 36 shingles, r = 31/41; two: 26/46.
        let words: Vec<String> = (0..40).map(|n| format!("word{n}")).collect();
        let mut texts = vec![words.join(" ")];
        for changed in [10, 30] {
            texts.push(texts[texts.len() - 1].replace(&format!("word{changed}"), "other"));
        }
        let posts = [("a", "1", &*texts[0]), ("b", "2", &*texts[1]), ("c", "3", &*texts[2])];
        let verdicts = decided(Rule::Threshold(0.75), &posts);
        assert_eq!(verdicts, [ORIGINAL, copy_of(Kind::Copy, "a"), ORIGINAL]);
    }

    #[test]
    fn of_several_originals_the_closest_wins() {
        let one = format!("{LONG} and nobody did");
        let other = format!("{LONG} until noon when at last a boy with a bell came running");
        let between = format!("{LONG} and nobody");
        let posts = [("a", "1", &*other), ("b", "2", &*one), ("c", "3", &*between)];
        // a and b resemble each other by 27/42, c resembles a by 27/41 and b by 29/30.
        let verdicts = decided(Rule::Threshold(0.65), &posts);
        assert_eq!(verdicts, [ORIGINAL, ORIGINAL, copy_of(Kind::Copy, "b")]);
        // Without b it is a copy of a.
        let verdicts = decided(Rule::Threshold(0.65), &[posts[0], posts[2]]);
        assert_eq!(verdicts, [ORIGINAL, copy_of(Kind::Copy, "a")]);
    }

    #[test]
    fn equally_close_originals_go_to_the_earliest_created() {
        let head = format!("first {LONG}");
        let tail = format!("{LONG} last");
        // Each has one shingle more than what they share, 27: 27/28 with it, 27/29 with each other.
        let posts = [("late", "2", &*tail), ("early", "1", &*head), ("c", "3", LONG)];
        let verdicts = decided(Rule::Threshold(0.95), &posts);
        assert_eq!(verdicts, [ORIGINAL, ORIGINAL, copy_of(Kind::Copy, "early")]);
    }

    #[test]
    fn repeating_a_round_keeps_its_shingles() {
        let once = "row the boat and sing along ";
        let posts = [("a", "1", &*once.repeat(3)), ("b", "2", &*once.repeat(4))];
        assert_eq!(decided(THRESHOLD, &posts), [ORIGINAL, copy_of(Kind::SameShingles, "a")]);
    }
}
