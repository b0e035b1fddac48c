//! `wonbon export`: documents out of a store, as `wonbon add` and `wonbon dedup` read them.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use wonbon_app::answers;
use wonbon_files::ReplacedFile;
use wonbon_store::{Decision, Kind, Store, StoredDocument};

use super::open_to_read;
use crate::Outcome;
use crate::output::Output;

/// Write all documents, or the originals, as JSON lines or Parquet.
///
/// With --output the format goes by the file's name (.jsonl or .parquet), and the file appears when it
/// is complete; otherwise JSON lines go to standard output. Every document carries its verdict, and what
/// was decided of it if that is in effect.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Originals only.
    #[arg(long)]
    originals: bool,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let wanted =
        |document: &StoredDocument| !args.originals || document.verdict.kind == Kind::Original;
    let Some(path) = &args.output else {
        let mut output = Output::new();
        store.for_each(|document| -> anyhow::Result<()> {
            if wanted(&document) {
                output.json_line(&answers::Document::of(&document))?;
            }
            Ok(())
        })?;
        output.finish()?;
        return Ok(Outcome::Done);
    };
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    let name = name.unwrap_or_default();
    if name.ends_with(".parquet") {
        write_table(&store, path, wanted)?;
    } else if name.ends_with(".jsonl") || name.ends_with(".ndjson") {
        write_lines(&store, path, wanted)?;
    } else {
        bail!("a file to export to ends in .jsonl or .parquet, {} does not", path.display());
    }
    Ok(Outcome::Done)
}

fn write_lines(
    store: &Store,
    path: &Path,
    wanted: impl Fn(&StoredDocument) -> bool,
) -> anyhow::Result<()> {
    let writing = || format!("could not write {}", path.display());
    let mut file = BufWriter::new(ReplacedFile::create(path)?);
    store.for_each(|document| -> anyhow::Result<()> {
        if wanted(&document) {
            serde_json::to_writer(&mut file, &answers::Document::of(&document))
                .map_err(io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .with_context(writing)?;
        }
        Ok(())
    })?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
    Ok(file.commit()?)
}

/// Documents in a row group.
const GROUP_DOCUMENTS: usize = 4096;

fn write_table(
    store: &Store,
    path: &Path,
    wanted: impl Fn(&StoredDocument) -> bool,
) -> anyhow::Result<()> {
    let writing = || format!("could not write {}", path.display());
    let text = |name| Field::new(name, DataType::Utf8, true);
    let needed = |name| Field::new(name, DataType::Utf8, false);
    let schema = Arc::new(Schema::new(vec![
        needed("key"),
        needed("created"),
        text("published"),
        text("url"),
        text("site"),
        text("author"),
        text("title"),
        text("language"),
        needed("text"),
        Field::new("version", DataType::UInt32, false),
        needed("verdict"),
        text("original"),
        Field::new("resemblance", DataType::Float64, true),
        Field::new("copies", DataType::UInt64, false),
        text("decision"),
    ]));
    let file = ReplacedFile::create(path)?;
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer =
        ArrowWriter::try_new(file, schema.clone(), Some(properties)).with_context(writing)?;
    let mut group = Vec::new();
    let mut write = |group: &mut Vec<StoredDocument>| -> anyhow::Result<()> {
        let batch = batch(&schema, group).with_context(writing)?;
        group.clear();
        writer.write(&batch).and_then(|()| writer.flush()).with_context(writing)
    };
    store.for_each(|document| -> anyhow::Result<()> {
        if wanted(&document) {
            group.push(document);
        }
        if group.len() == GROUP_DOCUMENTS { write(&mut group) } else { Ok(()) }
    })?;
    if !group.is_empty() {
        write(&mut group)?;
    }
    let file = writer.into_inner().with_context(writing)?;
    Ok(file.commit()?)
}

fn batch(schema: &Arc<Schema>, group: &[StoredDocument]) -> Result<RecordBatch, ArrowError> {
    fn texts<'a>(
        group: &'a [StoredDocument],
        of: impl Fn(&'a StoredDocument) -> Option<&'a str>,
    ) -> ArrayRef {
        Arc::new(group.iter().map(of).collect::<StringArray>())
    }
    let created: StringArray =
        group.iter().map(|document| Some(document.created.to_string())).collect();
    let published: StringArray =
        group.iter().map(|document| document.published.map(|time| time.to_string())).collect();
    RecordBatch::try_new(
        schema.clone(),
        vec![
            texts(group, |document| Some(&document.key)),
            Arc::new(created),
            Arc::new(published),
            texts(group, |document| document.url.as_deref()),
            texts(group, |document| document.site.as_deref()),
            texts(group, |document| document.author.as_deref()),
            texts(group, |document| document.title.as_deref()),
            texts(group, |document| document.language.as_deref()),
            texts(group, |document| Some(&document.text)),
            Arc::new(group.iter().map(|document| Some(document.version)).collect::<UInt32Array>()),
            texts(group, |document| Some(document.verdict.kind.name())),
            texts(group, |document| document.verdict.original.as_deref()),
            Arc::new(
                group.iter().map(|document| document.verdict.resemblance).collect::<Float64Array>(),
            ),
            Arc::new(group.iter().map(|document| Some(document.copies)).collect::<UInt64Array>()),
            texts(group, |document| document.decision.map(Decision::name)),
        ],
    )
}
