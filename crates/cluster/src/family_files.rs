//! Output files with the verdict of every document, and with every verified pair.

use std::io::Write;
use std::path::{Path, PathBuf};

use wonbon_documents::Progress;

use crate::error::ClusterError;
use crate::families::PairWriter;
use crate::output_file::OutputFile;
use crate::progress::Steps;
use crate::row_writers::{FamilyTable, Selection};

const MEMORY: &str = "writing to memory does not fail";
const STRINGS: &str = "a string is JSON";

/// Writes the verdicts of all documents from number `others` on as a Parquet table.
pub(crate) fn write_family_table(
    path: PathBuf,
    selection: Selection<'_>,
    others: u32,
) -> Result<(), ClusterError> {
    let mut table = FamilyTable::create(path)?;
    selection.ids.for_each(|document, id| {
        if document < others { Ok(()) } else { table.push(id, selection.verdict(document)?) }
    })?;
    table.finish()
}

/// Writes the verdicts of all documents from number `others` on as JSON lines: id, family, original,
/// resemblance to the original, kind.
pub(crate) fn write_family_lines(
    path: PathBuf,
    selection: Selection<'_>,
    others: u32,
) -> Result<(), ClusterError> {
    let ids = selection.ids;
    let mut file = OutputFile::create(path)?;
    let mut line = Vec::new();
    let mut last_original = (u32::MAX, String::new());
    ids.for_each(|document, id| {
        if document < others {
            return Ok(());
        }
        let told = selection.verdicts.row(document);
        if told.original != last_original.0 {
            let name =
                if told.original == document { id.to_owned() } else { ids.get(told.original)? };
            last_original = (told.original, name);
        }
        line.clear();
        let id = serde_json::to_string(id).expect(STRINGS);
        let original = serde_json::to_string(&last_original.1).expect(STRINGS);
        let family = told.family.map_or_else(|| "null".to_owned(), |family| family.to_string());
        writeln!(
            line,
            "{{\"id\":{id},\"family\":{family},\"original\":{original},\"resemblance\":{},\
             \"kind\":\"{}\"}}",
            told.resemblance, told.kind
        )
        .expect(MEMORY);
        file.write(&line)
    })?;
    file.finish()
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
    let representatives = selection.verdicts.representatives();
    let members = representatives.members();
    let mut file = OutputFile::create(path)?;
    let mut count = 0;
    let mut steps = Steps::new(progress);
    let mut write = |one: u32, other: u32, resemblance: f64| {
        steps.step()?;
        if one < others && other < others {
            return Ok(());
        }
        count += 1;
        let id = |document: u32| -> Result<String, ClusterError> {
            Ok(selection.ids.get(document)?.replace(['\t', '\n', '\r'], " "))
        };
        let (one, other) = (id(one)?, id(other)?);
        file.write(format!("{one}\t{other}\t{resemblance:.6}\n").as_bytes())
    };
    for representative in 0..representatives.len() {
        let same = members.of(representative);
        for (at, &one) in same.iter().enumerate() {
            for &other in &same[at + 1..] {
                write(one, other, 1.0)?;
            }
        }
    }
    PairWriter::read(found, |pair| {
        for &earlier in members.of(pair.other) {
            for &later in members.of(pair.one) {
                write(earlier, later, pair.resemblance)?;
            }
        }
        Ok(())
    })?;
    file.finish()?;
    Ok(count)
}
