//! Why each post is what the store says it is.
//!
//! The store decides; here its verdicts are put into words a person can check: what differs from the
//! original, what a post that is no copy quotes or resembles, who took whose place.
//!
//! Cost: the reason of an original compares it with every other original, which is right for a
//! demonstration and for nothing larger.

use std::collections::HashMap;

use wonbon_sketch::{ElementSet, Features, SketchError};
use wonbon_store::{FEATURE_COUNT, Kind, Rule};

/// A passage this long, in shingles, that both texts share in one piece can be a quotation.
const QUOTED_SHINGLES: usize = 20;

/// A post as its reasons see it.
#[derive(Debug, Clone)]
pub struct Document {
    pub id: String,
    /// Ordered like the time it names.
    pub created: String,
    pub charset: &'static str,
    /// Whether the text was taken out of an HTML page.
    pub from_page: bool,
    /// Shingles in the order of the text, for finding quoted passages.
    pub shingles_in_order: Vec<u64>,
    pub shingles: ElementSet,
    pub features: Features,
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

/// What the store said of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub kind: Kind,
    pub original: Option<String>,
}

/// The documents in order of arrival, with what the store said when each arrived and what it says
/// now.
#[derive(Debug)]
pub struct Families {
    pub rule: Rule,
    pub documents: Vec<Document>,
    pub on_arrival: Vec<Said>,
    pub now: Vec<Said>,
}

impl Families {
    /// Every document's verdict, in order of arrival.
    pub fn verdicts(&self) -> Result<Vec<Verdict<'_>>, SketchError> {
        let places: HashMap<&str, usize> =
            self.documents.iter().enumerate().map(|(place, d)| (d.id.as_str(), place)).collect();
        (0..self.documents.len()).map(|place| self.verdict(place, &places)).collect()
    }

    fn verdict(
        &self,
        place: usize,
        places: &HashMap<&str, usize>,
    ) -> Result<Verdict<'_>, SketchError> {
        let (document, said) = (&self.documents[place], &self.now[place]);
        let mut verdict = Verdict {
            id: &document.id,
            created: &document.created,
            kind: said.kind,
            original: None,
            resemblance: None,
            features_equal: None,
            why: String::new(),
        };
        match &said.original {
            Some(id) => {
                let original = &self.documents[places[id.as_str()]];
                verdict.original = Some(&original.id);
                verdict.resemblance = Some(document.shingles.resemblance(&original.shingles));
                verdict.features_equal = Some(document.features.agreeing(&original.features)?);
                verdict.why = why_copy(said.kind, document, original);
                if self.on_arrival[place].kind == Kind::Original {
                    verdict.why = format!("original until {} came; {}", original.id, verdict.why);
                }
            }
            None if said.kind == Kind::Empty => {
                verdict.why = "no words: nobody's copy, nobody's original".to_owned();
            }
            None => verdict.why = self.why_original(place)?,
        }
        if document.from_page {
            verdict.why = format!("core of an HTML page: {}", verdict.why);
        }
        if document.charset != "UTF-8" {
            verdict.why = format!("{}: {}", document.charset, verdict.why);
        }
        Ok(verdict)
    }

    fn why_original(&self, place: usize) -> Result<String, SketchError> {
        let document = &self.documents[place];
        let displaced = (0..place).find(|&other| {
            self.on_arrival[other].kind == Kind::Original
                && self.now[other].original.as_deref() == Some(&document.id)
        });
        if let Some(displaced) = displaced {
            let former = &self.documents[displaced].id;
            return Ok(format!("late, but created before {former}: takes the original's place"));
        }
        // The original before it that shares most with it.
        let mut closest: Option<(f64, &Document)> = None;
        for other in (0..place).filter(|&other| self.now[other].kind == Kind::Original) {
            let other = &self.documents[other];
            let resemblance = document.shingles.resemblance(&other.shingles);
            if resemblance > closest.map_or(0.0, |(known, _)| known) {
                closest = Some((resemblance, other));
            }
        }
        match closest {
            None => Ok("nothing like it came before".to_owned()),
            Some((_, closest)) => self.why_no_copy(document, closest),
        }
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
            Rule::Features { needed, .. } => {
                let equal = document.features.agreeing(&other.features)?;
                format!(
                    "{resembles} with {equal} of {FEATURE_COUNT} features, a copy needs {needed}"
                )
            }
        })
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
