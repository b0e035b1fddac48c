//! What every document is, as it is told: single, original, or a copy and of which kind.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::families::Verdict;
use crate::order::{NOBODY, Representatives};

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Without words: nobody's copy and nobody's original.
    Empty,
    /// An original without copies.
    Single,
    /// An original with copies.
    Original,
    /// The same bytes as its original.
    Identical,
    /// Other bytes, the same words in the same order.
    SameText,
    /// Other words, the same set of shingles.
    SameShingles,
    /// Not the same, but a copy.
    Resembling,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 7] = [
        Kind::Empty,
        Kind::Single,
        Kind::Original,
        Kind::Identical,
        Kind::SameText,
        Kind::SameShingles,
        Kind::Resembling,
    ];

    /// The word in files and tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Empty => "empty",
            Kind::Single => "single",
            Kind::Original => "original",
            Kind::Identical => "identical",
            Kind::SameText => "same-text",
            Kind::SameShingles => "same-shingles",
            Kind::Resembling => "resembling",
        }
    }

    /// Whether it is left out of the kept rows.
    #[must_use]
    pub fn is_copy(self) -> bool {
        self >= Kind::Identical
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// What one document is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// What it is.
    pub kind: Kind,
    /// Its family: originals are numbered from one in keep order. None for an empty document.
    pub family: Option<u32>,
    /// Its original: itself if it is one.
    pub original: u32,
    /// Its resemblance to its original.
    pub resemblance: f64,
}

/// What every document is.
#[derive(Debug)]
pub struct Verdicts {
    representatives: Representatives,
    verdicts: Vec<Verdict>,
    /// For each representative that is an original, the number of its family.
    families: Vec<u32>,
    /// For each document, its kind.
    kinds: Vec<Kind>,
    /// For each representative that is an original, how many documents its family has.
    sizes: Vec<u32>,
}

impl Verdicts {
    /// Puts back what the representatives stand for. Documents below `others` belong to another
    /// corpus: they are never copies.
    ///
    /// # Errors
    ///
    /// If the corpus cannot be read.
    pub fn new(
        corpus: &Corpus,
        representatives: Representatives,
        verdicts: Vec<Verdict>,
        others: u32,
    ) -> Result<Self, ClusterError> {
        let count = representatives.documents.len();
        let (mut families, mut sizes) = (vec![0; count], vec![0_u32; count]);
        let mut family = 0;
        for (number, verdict) in (0..).zip(&verdicts) {
            if verdict.original == number {
                family += 1;
                families[number as usize] = family;
            }
        }
        for &number in representatives.of.iter().filter(|&&number| number != NOBODY) {
            sizes[verdicts[number as usize].original as usize] += 1;
        }
        let mut kinds = vec![Kind::Empty; representatives.of.len()];
        let original_of = |document: usize| {
            let number = representatives.of[document];
            (number != NOBODY).then(|| {
                (number, representatives.documents[verdicts[number as usize].original as usize])
            })
        };
        let bytes = corpus.bytes()?.read_all()?;
        for (document, kind) in kinds.iter_mut().enumerate() {
            let Some((number, original)) = original_of(document) else { continue };
            let verdict = verdicts[number as usize];
            *kind = if original as usize == document || (document as u32) < others {
                if sizes[verdict.original as usize] > 1 { Kind::Original } else { Kind::Single }
            } else if verdict.original != number {
                Kind::Resembling
            } else if bytes[document] == bytes[original as usize] {
                Kind::Identical
            } else {
                Kind::SameShingles
            };
        }
        drop(bytes);
        let normal = corpus.normal()?.read_all()?;
        for (document, kind) in kinds.iter_mut().enumerate() {
            if *kind == Kind::SameShingles
                && let Some((_, original)) = original_of(document)
                && normal[document] == normal[original as usize]
            {
                *kind = Kind::SameText;
            }
        }
        Ok(Verdicts { representatives, verdicts, families, kinds, sizes })
    }

    /// What a document is.
    #[must_use]
    pub fn get(&self, document: u32) -> Told {
        let kind = self.kinds[document as usize];
        let number = self.representatives.of[document as usize];
        if number == NOBODY {
            return Told { kind, family: None, original: document, resemblance: 0.0 };
        }
        let verdict = self.verdicts[number as usize];
        Told {
            kind,
            family: Some(self.families[verdict.original as usize]),
            original: self.representatives.documents[verdict.original as usize],
            resemblance: verdict.resemblance,
        }
    }

    /// Whether a document is kept.
    #[must_use]
    pub fn is_kept(&self, document: u32) -> bool {
        !self.kinds[document as usize].is_copy()
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.kinds.len() as u32
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The representatives.
    #[must_use]
    pub fn representatives(&self) -> &Representatives {
        &self.representatives
    }

    /// The documents of every original with copies and how many its family has, largest first, then
    /// in keep order.
    #[must_use]
    pub fn largest(&self, most: usize) -> Vec<(u32, u32)> {
        let mut largest: Vec<(u32, u32)> = (0..).zip(self.sizes.iter().copied()).collect();
        largest.retain(|&(_, size)| size > 1);
        largest.sort_by_key(|&(number, size)| (std::cmp::Reverse(size), number));
        largest.truncate(most);
        largest
            .into_iter()
            .map(|(number, size)| (self.representatives.documents[number as usize], size))
            .collect()
    }

    /// The size of every family of two or more.
    pub fn family_sizes(&self) -> impl Iterator<Item = u32> {
        self.sizes.iter().copied().filter(|&size| size > 1)
    }
}
