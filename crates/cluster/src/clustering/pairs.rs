//! From sketches to pairs: duplicates are set aside, shingles are sorted and merged, and for every two documents the shared
//! shingles are counted.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wonbon_documents::Progress;

use super::ClusterMethod;
use crate::columns::{Column, ColumnWriter, Mark, write_column};
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::keep::Keep;
use crate::order::Representatives;
use crate::output_file::OutputFile;
use crate::progress::{PhaseClock, Steps};
use crate::run_folder::{load_step, save_step};
use crate::sorted_runs::{Equal, SortedRuns};

/// The files of the last phase: <ID, ID, count>, the sizes of sketches, and who represents whom.
pub(super) const MERGED_PAIRS: &str = "pairs";
pub(super) const SIZES: &str = "sizes";
pub(super) const REPRESENTATIVES: &str = "representatives";
pub(super) const ROOTS: &str = "roots";

/// The list of shingles that were ignored.
pub(super) const COMMON: &str = "common-shingles.tsv";

/// The note that this step is finished.
const MERGED: &str = "merged.json";

/// What merging shingles and pairs gave, beside the files of the last phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Merged {
    pub(super) common_shingles: u64,
    pub(super) pairs: u64,
    pub(super) runs: [u64; 2],
    /// The limit for common shingles that it was done with.
    common: u32,
}

impl Merged {
    /// Notes in `work` that the step is finished.
    pub(super) fn save(
        &self,
        work: &Path,
        columns: Vec<(String, Mark)>,
    ) -> Result<(), ClusterError> {
        save_step(&work.join(MERGED), columns, self)
    }

    /// What an earlier run merged, if it was with the same limit for common shingles.
    pub(super) fn load(
        work: &Path,
        again: &Path,
        common: u32,
    ) -> Result<Option<Self>, ClusterError> {
        let merged: Option<Merged> = load_step(&work.join(MERGED), again)?;
        Ok(merged.filter(|merged| merged.common == common))
    }
}

impl ClusterMethod {
    /// From sketches to merged pairs: everything that the last phase needs goes to `again`, the list
    /// of common shingles to `lists`, runs to `work`. Returns the columns in `again` with their marks
    /// beside.
    pub(crate) fn merge(
        &self,
        corpus: &Corpus,
        work: &Path,
        again: &Path,
        lists: &Path,
        clock: &PhaseClock,
        progress: &dyn Progress,
    ) -> Result<(Merged, Vec<(String, Mark)>), ClusterError> {
        let representatives = clock.time("duplicates", 0, progress, || {
            Representatives::find(corpus, &Keep::Earliest, 0, self.memory / 4)
        })?;
        let elements = corpus.elements()?;
        let shingles = clock.time("shingle merge", elements.len(), progress, || {
            let mut runs = SortedRuns::new(work, "shingles", Equal::Stay, self.memory / 2);
            let mut steps = Steps::new(progress);
            for_each_element(
                &corpus.shingles()?,
                &elements,
                &representatives,
                |shingle, number| {
                    steps.step()?;
                    runs.push(u128::from(shingle) << 32 | u128::from(number))
                },
            )?;
            Ok(runs)
        })?;
        let shingle_runs = shingles.runs() as u64;
        let mut sizes = vec![0_u32; representatives.documents.len()];
        let common_path = lists.join(COMMON);
        let (pairs, common_shingles) =
            clock.time("pair formation", shingles.pushed(), progress, || {
                form_pairs(shingles, self, work, &mut sizes, common_path, progress)
            })?;
        let pair_runs = pairs.runs() as u64;
        // How many different pairs there are is known at the end only.
        let (pair_count, merged) = clock.time("pair merge", 0, progress, || {
            let mut merged = ColumnWriter::open(again.join(MERGED_PAIRS), Mark::default())?;
            let mut steps = Steps::new(progress);
            let mut count = 0_u64;
            pairs.merge(|pair| {
                count += 1;
                steps.step()?;
                merged.extend(&[pair])
            })?;
            Ok((count, merged.flush()?))
        })?;
        let columns = vec![
            (MERGED_PAIRS.to_owned(), merged),
            (SIZES.to_owned(), write_column(&again.join(SIZES), &sizes)?),
            (
                REPRESENTATIVES.to_owned(),
                write_column(&again.join(REPRESENTATIVES), &representatives.documents)?,
            ),
            (ROOTS.to_owned(), write_column(&again.join(ROOTS), &representatives.of)?),
        ];
        let runs = [shingle_runs, pair_runs];
        Ok((Merged { common_shingles, pairs: pair_count, runs, common: self.common }, columns))
    }
}

/// Calls `each` with every element of every representative.
pub(super) fn for_each_element(
    counts: &Column<u32>,
    elements: &Column<u64>,
    representatives: &Representatives,
    mut each: impl FnMut(u64, u32) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let mut start = 0;
    let mut set = Vec::new();
    counts.for_each(|document, count| {
        if representatives.is_one(document as u32) {
            set.resize(count as usize, 0);
            elements.read_at(start, &mut set)?;
            let number = representatives.of[document as usize];
            set.iter().try_for_each(|&element| each(element, number))?;
        }
        start += u64::from(count);
        Ok(())
    })
}

/// Every shingle that several documents have as <ID, ID, 1>; very common ones are listed instead.
fn form_pairs(
    shingles: SortedRuns,
    method: &ClusterMethod,
    work: &Path,
    sizes: &mut [u32],
    common_path: PathBuf,
    progress: &dyn Progress,
) -> Result<(SortedRuns, u64), ClusterError> {
    let mut pairs = SortedRuns::new(work, "pairs", Equal::AddUp, method.memory / 4);
    let mut common = OutputFile::create(common_path)?;
    let mut common_count = 0;
    let mut current: Option<u128> = None;
    let mut owners: Vec<u32> = Vec::new();
    let mut close = |shingle: u128, owners: &[u32]| {
        if owners.len() > method.common as usize {
            common_count += 1;
            return common.write(format!("{shingle:010x}\t{}\n", owners.len()).as_bytes());
        }
        for (at, &later) in owners.iter().enumerate() {
            sizes[later as usize] += 1;
            for &earlier in &owners[..at] {
                pairs.push(u128::from(earlier) << 64 | u128::from(later) << 32 | 1)?;
            }
        }
        Ok(())
    };
    let mut steps = Steps::new(progress);
    shingles.merge(|pair| {
        steps.step()?;
        let shingle = pair >> 32;
        if current != Some(shingle) {
            if let Some(before) = current {
                close(before, &owners)?;
            }
            current = Some(shingle);
            owners.clear();
        }
        owners.push(pair as u32);
        Ok(())
    })?;
    if let Some(last) = current {
        close(last, &owners)?;
    }
    common.finish()?;
    pairs.settle();
    Ok((pairs, common_count))
}
