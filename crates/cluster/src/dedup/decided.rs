//! Verdicts on disk, so that a run that is killed while it writes its results does not decide again.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::assignments::{Assignment, AssignmentsBuilder};
use crate::columns::{Column, ColumnWriter, Mark};
use crate::error::ClusterError;
use crate::families::Families;
use crate::run_folder::{load_step, save_step};

/// Notes of earlier programs have another name: a run that one of them left unfinished decides again.
const NOTE: &str = "copies.json";
const COPIES: &str = "copies";
const ORIGINALS: &str = "originals-of-copies";
const RESEMBLANCES: &str = "resemblances-of-copies";

/// The files of this step.
pub(super) const FILES: [&str; 4] = [NOTE, COPIES, ORIGINALS, RESEMBLANCES];

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
        let mut numbers = ColumnWriter::open(work.join(COPIES), Mark::default())?;
        let mut originals = ColumnWriter::open(work.join(ORIGINALS), Mark::default())?;
        let mut resemblances = ColumnWriter::open(work.join(RESEMBLANCES), Mark::default())?;
        for (copy, Assignment { original, resemblance }) in self.families.verdicts.copies() {
            numbers.extend(&[copy])?;
            originals.extend(&[original])?;
            resemblances.extend(&[resemblance])?;
        }
        let columns = vec![
            (COPIES.to_owned(), numbers.flush()?),
            (ORIGINALS.to_owned(), originals.flush()?),
            (RESEMBLANCES.to_owned(), resemblances.flush()?),
        ];
        let note = Note { compared: self.families.compared, engine: self.engine.clone() };
        save_step(&work.join(NOTE), columns, note)
    }

    /// The verdicts that an earlier run noted, if it came so far.
    pub(super) fn load(work: &Path, representatives: u32) -> Result<Option<Self>, ClusterError> {
        let path = work.join(NOTE);
        let Some(Note { compared, engine }) = load_step(&path, work)? else { return Ok(None) };
        let copies: Vec<u32> = Column::open(work.join(COPIES))?.read_all()?;
        let originals: Vec<u32> = Column::open(work.join(ORIGINALS))?.read_all()?;
        let resemblances: Vec<f64> = Column::open(work.join(RESEMBLANCES))?.read_all()?;
        let alike = copies.len() == originals.len() && copies.len() == resemblances.len();
        let ascend = copies.windows(2).all(|pair| pair[0] < pair[1]);
        let within = copies.iter().chain(&originals).all(|&number| number < representatives);
        if !(alike && ascend && within) {
            return Err(ClusterError::Damaged { path });
        }
        let mut verdicts = AssignmentsBuilder::new(representatives);
        for ((copy, original), resemblance) in copies.into_iter().zip(originals).zip(resemblances) {
            verdicts.assign(copy, Assignment { original, resemblance });
        }
        Ok(Some(Decided { families: Families { verdicts: verdicts.finish(), compared }, engine }))
    }
}
