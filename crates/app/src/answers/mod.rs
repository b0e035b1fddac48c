//! Every answer as JSON: what the program prints with `--json` and what the service sends.
//!
//! One place, so that a script written for one works with the other, and so that the API description
//! (`/v1/openapi.json`) is generated from the types that are serialized. Each thing has one form wherever
//! it appears: [`Document`], [`Verdict`], [`Match`], [`Place`], [`Family`]. A document is identified by its
//! `key`. Times are ISO 8601 in UTC, values exact. A fact that is not known is left out; a field is `null`
//! where its absence is the answer.
//!
//! Not here: how an answer is found (`questions`, and `wonbon-store`).

mod changes;
mod collapse;
mod comparison;
mod decisions;
mod documents;
mod jobs;
mod lists;
mod passages;
mod places;
mod search;
mod status;
mod texts;
mod watch;

pub use changes::{Changes, History, Lives, Sweep, Version, days, resemblance_classes};
pub use collapse::{CollapseAnswer, CopyOfResult};
pub use comparison::{Comparison, ComparisonEstimate, Difference, MovedBlock};
pub use decisions::DecisionEntry;
pub use documents::{
    AddSummary, Added, Checked, Document, Redirected, UNNAMED, Verdict, change_name,
};
pub use jobs::{JobAnswer, JobList, JobListed};
pub use lists::{
    AskAnswer, ChangesAnswer, DecisionsAnswer, DocumentList, FamiliesAnswer, Family, FamilyAnswer,
    MatchAnswer, SearchAnswer, SourcesAnswer, WatchList, WatchReports,
};
pub use passages::{PassagePlace, PassagesAnswer, TextPassage};
pub use places::{Copies, CopiesOfSite, CopyHolder, Holder, Hop, Moved, MovedFinding, Place};
pub use search::FoundResult;
pub use status::{Shared, Status};
pub use texts::{Estimate, Explained, Match, Source, SourcePassage, Unexplained};
pub use watch::{Passage, WatchCopy, WatchOutdated, WatchReport, Watched};
