//! Verdicts on disk, so that a run that is killed while it writes its results does not decide again.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::columns::{Column, ColumnWriter, Mark};
use crate::error::ClusterError;
use crate::families::{Assignment, Families};
use crate::run_folder::{load_step, save_step};

const NOTE: &str = "decided.json";
const ORIGINALS: &str = "originals";
const RESEMBLANCES: &str = "resemblances";

/// The files of this step.
pub(super) const FILES: [&str; 3] = [NOTE, ORIGINALS, RESEMBLANCES];

/// The families of a corpus, and how they were found.
pub(super) struct Decided {
    pub(super) families: Families,
    pub(super) engine: String,
}

#[derive(Serialize, Deserialize)]
struct Note {
    compared: u64,
    engine: String,
}

impl Decided {
    /// Notes the verdicts in `work`.
    pub(super) fn save(&self, work: &Path) -> Result<(), ClusterError> {
        let mut originals = ColumnWriter::open(work.join(ORIGINALS), Mark::default())?;
        let mut resemblances = ColumnWriter::open(work.join(RESEMBLANCES), Mark::default())?;
        for part in self.families.verdicts.chunks(4096) {
            let numbers: Vec<u32> = part.iter().map(|verdict| verdict.original).collect();
            originals.extend(&numbers)?;
            let values: Vec<f64> = part.iter().map(|verdict| verdict.resemblance).collect();
            resemblances.extend(&values)?;
        }
        let columns = vec![
            (ORIGINALS.to_owned(), originals.flush()?),
            (RESEMBLANCES.to_owned(), resemblances.flush()?),
        ];
        let note = Note { compared: self.families.compared, engine: self.engine.clone() };
        save_step(&work.join(NOTE), columns, note)
    }

    /// The verdicts that an earlier run noted, if it came so far: one for each representative.
    pub(super) fn load(work: &Path, representatives: u32) -> Result<Option<Self>, ClusterError> {
        let path = work.join(NOTE);
        let Some(Note { compared, engine }) = load_step(&path, work)? else { return Ok(None) };
        let originals: Vec<u32> = Column::open(work.join(ORIGINALS))?.read_all()?;
        let values: Vec<f64> = Column::open(work.join(RESEMBLANCES))?.read_all()?;
        if originals.len() != representatives as usize || values.len() != originals.len() {
            return Err(ClusterError::Damaged { path });
        }
        let pairs = originals.into_iter().zip(values);
        let verdicts =
            pairs.map(|(original, resemblance)| Assignment { original, resemblance }).collect();
        Ok(Some(Decided { families: Families { verdicts, compared }, engine }))
    }
}
