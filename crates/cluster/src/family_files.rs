//! Output files with the verdict of every document, and with every verified pair.

use std::io::Write;
use std::path::{Path, PathBuf};

use wonbon_documents::Progress;

use crate::digest::{FamilyDigest, for_each_family_row};
use crate::error::ClusterError;
use crate::families::PairWriter;
use crate::output_file::OutputFile;
use crate::progress::Steps;
use crate::row_writers::{FamilyTable, RowVerdict, Selection};
use crate::verdicts::{FamilyRow, Verdicts};

const MEMORY: &str = "writing to memory does not fail";
const STRINGS: &str = "a string is JSON";

/// Writes the verdicts of all documents from number `others` on as a Parquet table. Returns their digest.
pub(crate) fn write_family_table(
    path: PathBuf,
    selection: Selection<'_>,
    others: u32,
) -> Result<FamilyDigest, ClusterError> {
    let mut table = FamilyTable::create(path)?;
    let digest =
        for_each_family_row(selection.ids, selection.verdicts, others, |id, row, original| {
            let &FamilyRow { kind, family, resemblance, .. } = row;
            let original = original.to_owned();
            table.push(id, RowVerdict { family, original, resemblance, kind, removed: None })
        })?;
    table.finish()?;
    Ok(digest)
}

/// Writes the verdicts of all documents from number `others` on as JSON lines: id, family, original,
/// resemblance to the original, kind. Returns their digest.
pub(crate) fn write_family_lines(
    path: PathBuf,
    selection: Selection<'_>,
    others: u32,
) -> Result<FamilyDigest, ClusterError> {
    let mut file = OutputFile::create(path)?;
    let mut line = Vec::new();
    let digest =
        for_each_family_row(selection.ids, selection.verdicts, others, |id, row, original| {
            line.clear();
            let id = serde_json::to_string(id).expect(STRINGS);
            let original = serde_json::to_string(original).expect(STRINGS);
            let family = row.family.map_or_else(|| "null".to_owned(), |family| family.to_string());
            writeln!(
                line,
                "{{\"id\":{id},\"family\":{family},\"original\":{original},\"resemblance\":{},\
                 \"kind\":\"{}\"}}",
                row.resemblance, row.kind
            )
            .expect(MEMORY);
            file.write(&line)
        })?;
    file.finish()?;
    Ok(digest)
}

/// Writes every verified pair in the file `found`: both ids and their resemblance, earlier in keep
/// order first, separated by tabs. Tabs and line breaks inside ids become spaces. Pairs of two
/// documents below `others` are left out. Returns how many were written.
pub(crate) fn write_pairs(
    path: PathBuf,
    found: &Path,
    selection: Selection<'_>,
    others: u32,
    progress: &dyn Progress,
) -> Result<u64, ClusterError> {
    let mut file = OutputFile::create(path)?;
    let mut count = 0;
    for_each_pair(found, selection.verdicts, others, progress, |one, other, resemblance| {
        count += 1;
        let id = |document: u32| -> Result<String, ClusterError> {
            Ok(selection.ids.get(document)?.replace(['\t', '\n', '\r'], " "))
        };
        let (one, other) = (id(one)?, id(other)?);
        file.write(format!("{one}\t{other}\t{resemblance:.6}\n").as_bytes())
    })?;
    file.finish()?;
    Ok(count)
}

/// Calls `each` with every pair of documents of the file `found`, and of those that are the same: earlier in keep
/// order first. Pairs of two documents below `others` are left out.
pub(crate) fn for_each_pair(
    found: &Path,
    verdicts: &Verdicts,
    others: u32,
    progress: &dyn Progress,
    mut each: impl FnMut(u32, u32, f64) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let representatives = verdicts.representatives();
    let members = representatives.members();
    let mut steps = Steps::new(progress);
    let mut tell = |one: u32, other: u32, resemblance: f64| {
        steps.step()?;
        if one < others && other < others { Ok(()) } else { each(one, other, resemblance) }
    };
    for representative in 0..representatives.len() {
        let same = members.of(representative);
        for (at, &one) in same.iter().enumerate() {
            for &other in &same[at + 1..] {
                tell(one, other, 1.0)?;
            }
        }
    }
    PairWriter::read(found, |pair| {
        for &earlier in members.of(pair.other) {
            for &later in members.of(pair.one) {
                tell(earlier, later, pair.resemblance)?;
            }
        }
        Ok(())
    })
}
