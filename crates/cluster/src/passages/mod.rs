//! Passages: runs of words that occur at several places of a corpus, found exactly and removed but for once.
//!
//! A passage is a maximal run of at least `N` words in normal form that occurs at two places or more (`maximal` says
//! exactly what that is); it may be a part of another one, and its occurrences may overlap. Removal keeps the first
//! occurrence in keep order and leaves no run of `N` words twice (`removal`).
//!
//! | module | |
//! |---|---|
//! | `cut` | from texts to words and back: what is written of a text, where it is cut |
//! | `words` | the words of all documents on disk, in keep order |
//! | `scan` | windows of `N` words and the sample of them; why nothing repeated is missed |
//! | `repeats`, `seeds`, `runs` | which windows occur again, and where first, in given memory |
//! | `maximal` | from repeated windows to maximal runs |
//! | `removal` | what is removed, in rounds until nothing repeats |
//! | `in_texts`, `table_texts` | all of it for texts in memory, and for the rows of tables |
//! | `listing`, `list_files`, `list_report` | the job that lists the passages of a corpus |
//!
//! Hashes only say where to look; words are compared before anything is reported or removed.

mod cut;
mod in_texts;
mod list_files;
mod list_report;
mod listing;
mod maximal;
mod removal;
mod repeats;
mod runs;
mod scan;
mod seeds;
mod table_texts;
mod words;

pub(crate) use cut::{Cut, append_words, cut};
pub use in_texts::{CutText, TextPassage, TextPassages};
pub use listing::{LISTED_PLACES, ListConfig, ListSummary, SHOWN_PASSAGE_BYTES, list_passages};
pub use removal::{NotAUnit, PassageUnit};
pub(crate) use removal::{Removal, UnitMarks, UnitStarts, find_removed};
pub(crate) use repeats::Finder;
pub(crate) use scan::{Scan, WindowPlan};
pub use table_texts::TableTexts;
pub(crate) use words::{Removed, WordText};
