//! Why a sketch could not be made, compared or read.

use crate::params::{SketchKind, SketchParams};
use crate::permutations::PermutationPath;

/// Why this crate could not do what was asked.
///
/// `ParamsMismatch`, `OutOfRange`, `WrongKind` and `PathUnavailable` mean that the request was
/// wrong; the others mean that bytes given as a sketch are not one, or are damaged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SketchError {
    /// Sketches are comparable only when made the same way.
    #[error("sketches made in different ways cannot be compared: {left} against {right}")]
    ParamsMismatch {
        /// How the left sketch was made.
        left: SketchParams,
        /// How the right sketch was made.
        right: SketchParams,
    },
    /// A parameter outside its limits.
    #[error("{what} must be between {least} and {most}, not {got}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// The least value allowed.
        least: u64,
        /// The largest value allowed.
        most: u64,
        /// The value given.
        got: u64,
    },
    /// A path was asked for by name that this CPU does not have.
    #[error("this processor has no {path} instructions")]
    PathUnavailable {
        /// The path asked for.
        path: PermutationPath,
    },
    /// The bytes do not begin as a sketch does.
    #[error("these bytes are not a sketch")]
    NotASketch,
    /// The bytes were written by another version of the format.
    #[error("the sketch has format version {found}, this program reads version {known}")]
    UnknownVersion {
        /// The version in the bytes.
        found: u8,
        /// The version this crate reads.
        known: u8,
    },
    /// The bytes are a sketch of another kind than the one asked for.
    #[error("the bytes hold {found}, not {wanted}")]
    WrongKind {
        /// The kind asked for.
        wanted: SketchKind,
        /// The kind in the bytes.
        found: SketchKind,
    },
    /// The checksum does not fit the bytes.
    #[error("the sketch is damaged: its checksum is {stored:016x}, its bytes give {computed:016x}")]
    Damaged {
        /// The checksum at the end of the bytes.
        stored: u64,
        /// The checksum of the bytes.
        computed: u64,
    },
    /// The bytes break a rule of the format.
    #[error("the sketch is malformed at byte {at}: {rule}")]
    Malformed {
        /// Where.
        at: usize,
        /// The rule that is broken.
        rule: &'static str,
    },
}
