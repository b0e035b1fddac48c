//! The verdict of every document of a corpus: its kind and its family.

use wonbon_rule::{Kind, Verdict};

use crate::assignments::{Assignment, Assignments};
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::order::{NOBODY, Representatives};

/// A document in the files of families.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FamilyRow {
    /// What it is.
    pub kind: Kind,
    /// Its family: originals are numbered from one in keep order. None for an empty document.
    pub family: Option<u32>,
    /// Its original: itself if it is none's copy.
    pub original: u32,
    /// Its resemblance to that; 0 for an empty document.
    pub resemblance: f64,
}

/// The kind of a document with words. `represented`: its original is somebody else, and it belongs to this
/// corpus. `copied`: its representative is a copy. Otherwise the original has the same shingles, and perhaps
/// the same bytes or the same text.
pub(crate) fn kind_of(
    represented: bool,
    copied: bool,
    same_bytes: bool,
    same_text: impl FnOnce() -> bool,
) -> Kind {
    if !represented {
        Kind::Original
    } else if copied {
        Kind::Copy
    } else if same_bytes {
        Kind::Identical
    } else if same_text() {
        Kind::SameText
    } else {
        Kind::SameShingles
    }
}

/// What every document is.
#[derive(Debug)]
pub struct Verdicts {
    representatives: Representatives,
    assignments: Assignments,
    /// For each document, its kind.
    kinds: Vec<Kind>,
    /// The originals whose family has two or more documents, and how many it has.
    sizes: Vec<(u32, u32)>,
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
        assignments: Assignments,
        others: u32,
    ) -> Result<Self, ClusterError> {
        let mut sizes = vec![0_u32; representatives.documents.len()];
        for &number in representatives.of.iter().filter(|&&number| number != NOBODY) {
            sizes[assignments.of(number).original as usize] += 1;
        }
        let sizes = (0..).zip(sizes).filter(|&(_, size)| size > 1).collect();
        let mut kinds = vec![Kind::Empty; representatives.of.len()];
        let original_of = |document: usize| {
            let number = representatives.of[document];
            (number != NOBODY).then(|| {
                (number, representatives.documents[assignments.of(number).original as usize])
            })
        };
        let bytes = corpus.bytes()?.read_all()?;
        for (document, kind) in kinds.iter_mut().enumerate() {
            let Some((number, original)) = original_of(document) else { continue };
            let represented = original as usize != document && (document as u32) >= others;
            let copied = represented && !assignments.is_original(number);
            let same_bytes = bytes[document] == bytes[original as usize];
            // Whether the texts are equal is asked below, with the other column in memory.
            *kind = kind_of(represented, copied, same_bytes, || false);
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
        Ok(Verdicts { representatives, assignments, kinds, sizes })
    }

    /// What is said of a document. Features are not compared.
    #[must_use]
    pub fn get(&self, document: u32) -> Verdict<u32> {
        let FamilyRow { kind, original, resemblance, .. } = self.row(document);
        if !kind.is_copy() {
            return Verdict::alone(kind);
        }
        Verdict { original: Some(original), resemblance: Some(resemblance), ..Verdict::alone(kind) }
    }

    /// A document as the files of families have it.
    #[must_use]
    pub fn row(&self, document: u32) -> FamilyRow {
        let kind = self.kinds[document as usize];
        let number = self.representatives.of[document as usize];
        if number == NOBODY {
            return FamilyRow { kind, family: None, original: document, resemblance: 0.0 };
        }
        let Assignment { original, resemblance } = self.assignments.of(number);
        FamilyRow {
            kind,
            family: Some(self.assignments.originals_before(original) + 1),
            original: self.representatives.documents[original as usize],
            resemblance,
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
        let mut largest = self.sizes.clone();
        largest.sort_by_key(|&(number, size)| (std::cmp::Reverse(size), number));
        largest.truncate(most);
        largest
            .into_iter()
            .map(|(number, size)| (self.representatives.documents[number as usize], size))
            .collect()
    }

    /// The size of every family of two or more.
    pub fn family_sizes(&self) -> impl Iterator<Item = u32> {
        self.sizes.iter().map(|&(_, size)| size)
    }
}
