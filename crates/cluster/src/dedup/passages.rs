//! The step of a run that removes passages: what is asked for, and from a corpus to what is removed.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wonbon_documents::{InputFile, Progress};

use crate::corpus::Corpus;
use crate::deciding::FamilyConfig;
use crate::error::ClusterError;
use crate::passages::{
    Finder, PassageUnit, Removal, UnitStarts, WindowPlan, WordText, find_removed,
};
use crate::verdicts::Verdicts;

/// Repeated passages are removed as well, or only them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageOptions {
    /// No run of so many words is left twice. From 2 on.
    pub words: usize,
    /// Whether whole documents are not compared.
    pub only: bool,
    /// What is removed as a whole.
    pub unit: PassageUnit,
    /// A document from which passages are removed is dropped if fewer words are left. At least 1: a document
    /// without words would be kept for nothing.
    pub min_left: u32,
    /// Only what occurs in another corpus is removed; repetitions within the corpus stay.
    pub of_others_only: bool,
}

/// The words of a passage, unless another number is said: about a paragraph. Shorter runs are often phrases that nobody
/// copied; longer ones miss footers and notices.
pub const PASSAGE_WORDS: usize = 50;

/// The most words of a passage that can be asked for.
pub const MOST_PASSAGE_WORDS: usize = 65_536;

/// Columns of the work that a later run against the sketches does not need.
pub(super) const FILES: [&str; 7] = [
    "words",
    "unit-starts",
    "removed.json",
    "removed-documents",
    "removed-ends",
    "removed-ranges",
    "removed-left",
];

/// The part of the memory in which one list is sorted: two are sorted at a time, and what is kept of every document
/// needs room beside them.
const SORTING_SHARE: u64 = 4;

/// What a run did about passages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassageSummary {
    /// Documents from which passages are removed.
    pub cut: u64,
    /// Those of them that are dropped because too little is left.
    pub dropped: u64,
    /// Words that are removed.
    pub removed_words: u64,
    /// How often the text was looked through until nothing repeated.
    pub rounds: u64,
}

impl PassageOptions {
    /// Whether the numbers make sense.
    pub(super) fn check(&self) -> Result<(), ClusterError> {
        check_passage_words(self.words)?;
        if self.min_left == 0 {
            let got = self.min_left.to_string();
            return Err(ClusterError::BadParameter {
                what: "the words left",
                wanted: "at least 1",
                got,
            });
        }
        Ok(())
    }

    pub(super) fn plan(&self) -> Value {
        json!({
            "words": self.words,
            "only": self.only,
            "unit": self.unit,
            "least words left": self.min_left,
            "of others only": self.of_others_only,
        })
    }

    /// What is removed from the kept documents of a corpus; noted in `work`, so that it is found once.
    pub(super) fn find(
        &self,
        corpus: &Corpus,
        verdicts: &Verdicts,
        work: &Path,
        method: &FamilyConfig,
        progress: &dyn Progress,
    ) -> Result<Removal, ClusterError> {
        if let Some(removal) = Removal::load(work)? {
            return Ok(removal);
        }
        let others = corpus.read().others as u32;
        let own = verdicts.representatives().documents.iter().copied();
        let own = own.filter(|&document| document >= others && verdicts.is_kept(document));
        let order: Vec<u32> = (0..others).chain(own).collect();
        let (bytes, ends) = corpus.words()?;
        let words = WordText::new(bytes, &ends, order.iter().copied(), others as usize);
        let (offsets, counts) = corpus.unit_starts()?;
        let units = UnitStarts::new(offsets, &counts, order.clone(), self.unit);
        let finder = Finder {
            words: &words,
            plan: WindowPlan::new(self.words),
            folder: work,
            memory: method.memory / SORTING_SHARE,
            window_bytes: None,
            threads: method.threads,
            progress,
            of_others_only: self.of_others_only,
        };
        let (removed, rounds) = find_removed(&finder, &units)?;
        let removal = Removal::new(&words, &order, &removed, rounds)?;
        removal.save(work)?;
        Ok(removal)
    }
}

/// Whether passages can have so many words.
pub(crate) fn check_passage_words(words: usize) -> Result<(), ClusterError> {
    if (2..=MOST_PASSAGE_WORDS).contains(&words) {
        return Ok(());
    }
    let got = words.to_string();
    Err(ClusterError::BadParameter {
        what: "the words of a passage",
        wanted: "from 2 to 65536",
        got,
    })
}

/// Refuses inputs whose names say that they cannot be cut, before anything is read.
pub(super) fn check_inputs(own: &[InputFile]) -> Result<(), ClusterError> {
    for file in own {
        let name = file.name.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let what = match Path::new(name).extension().and_then(|ending| ending.to_str()) {
            Some("warc") => "a web archive",
            Some("html" | "htm" | "xhtml") => "a page",
            _ => continue,
        };
        return Err(ClusterError::CannotCut { path: file.path.clone(), what });
    }
    Ok(())
}
