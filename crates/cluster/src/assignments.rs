//! Which original each representative belongs to.
//!
//! Most representatives are originals, so only copies have a row.
//!
//! Cost: an eighth of a byte a representative, 12 bytes a copy.

use crate::ranked_bits::{Bits, RankedBits};

/// Which original a representative belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assignment {
    /// The number of its original: itself if it is one.
    pub original: u32,
    /// Its exact resemblance to it.
    pub resemblance: f64,
}

/// Which original each representative belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignments {
    copies: RankedBits,
    originals: Vec<u32>,
    resemblances: Vec<f64>,
}

impl Assignments {
    /// Every representative is an original.
    pub(crate) fn alone(representatives: u32) -> Self {
        AssignmentsBuilder::new(representatives).finish()
    }

    /// Whether a representative is an original.
    #[must_use]
    pub fn is_original(&self, number: u32) -> bool {
        !self.copies.contains(number)
    }

    /// Where a representative belongs.
    #[must_use]
    pub fn of(&self, number: u32) -> Assignment {
        match self.copies.row(number) {
            Some(row) => self.row(row),
            None => Assignment { original: number, resemblance: 1.0 },
        }
    }

    fn row(&self, row: usize) -> Assignment {
        Assignment { original: self.originals[row], resemblance: self.resemblances[row] }
    }

    /// How many originals come before a representative.
    #[must_use]
    pub fn originals_before(&self, number: u32) -> u32 {
        number - self.copies.rank(number)
    }

    /// The copies, ascending, with where they belong.
    pub fn copies(&self) -> impl Iterator<Item = (u32, Assignment)> {
        self.copies.iter().zip((0..).map(|row| self.row(row)))
    }
}

/// Assignments that are still made.
#[derive(Debug)]
pub(crate) struct AssignmentsBuilder {
    copies: Bits,
    originals: Vec<u32>,
    resemblances: Vec<f64>,
}

impl AssignmentsBuilder {
    /// Every representative is an original so far.
    pub(crate) fn new(representatives: u32) -> Self {
        let copies = Bits::new(representatives);
        AssignmentsBuilder { copies, originals: Vec::new(), resemblances: Vec::new() }
    }

    /// Whether a representative is an original so far.
    pub(crate) fn is_original(&self, number: u32) -> bool {
        !self.copies.contains(number)
    }

    /// Makes a representative a copy; copies must come in the order of their numbers.
    pub(crate) fn assign(&mut self, number: u32, to: Assignment) {
        self.copies.insert(number);
        self.originals.push(to.original);
        self.resemblances.push(to.resemblance);
    }

    pub(crate) fn finish(self) -> Assignments {
        let AssignmentsBuilder { copies, originals, resemblances } = self;
        Assignments { copies: RankedBits::new(copies), originals, resemblances }
    }
}
