//! What comes out: the kept rows, the families, the pairs.
//!
//! Rows go out as they came in, byte for byte, to a file of the same name and compression. They are
//! found by counting: nothing is parsed a second time.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;
use flate2::write::GzEncoder;
use wonbon_input::batches::Batch;
use wonbon_input::csv::Header;
use wonbon_input::rows::{Content, RowParser};

use crate::corpus::{Corpus, Ids};
use crate::error::{ClusterError, io};
use crate::families::PairWriter;
use crate::progress::{Progress, Steps};
use crate::reading::{Inputs, Item, Items};
use crate::tables::{Cell, TableWriter, VerdictColumns, cell};
use crate::verdicts::Verdicts;

/// A file that is compressed as its name says.
pub(crate) struct OutputFile {
    path: PathBuf,
    inner: Inner,
    sync: EarlySync,
}

/// How much is written between two early syncs.
const SYNC_BYTES: usize = 64 << 20;

/// Sends a large file to the disk while it is still being written, so that the end of the run does
/// not wait for all of it. An error of the disk is told once only, so every answer is looked at.
struct EarlySync {
    file: Option<File>,
    since: usize,
    running: Option<JoinHandle<std::io::Result<()>>>,
}

impl EarlySync {
    fn wrote(&mut self, bytes: usize) -> std::io::Result<()> {
        self.since += bytes;
        if self.since < SYNC_BYTES || self.running.as_ref().is_some_and(|one| !one.is_finished()) {
            return Ok(());
        }
        self.wait()?;
        self.since = 0;
        if let Some(file) = &self.file {
            let file = file.try_clone()?;
            self.running = Some(std::thread::spawn(move || file.sync_data()));
        }
        Ok(())
    }

    fn wait(&mut self) -> std::io::Result<()> {
        match self.running.take() {
            Some(running) => running.join().unwrap_or_else(|_| Err(std::io::Error::other("sync"))),
            None => Ok(()),
        }
    }
}

enum Inner {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl OutputFile {
    pub(crate) fn create(path: PathBuf) -> Result<Self, ClusterError> {
        let mut output = OutputFile::create_as_is(path)?;
        let Inner::Plain(file) = output.inner else { return Ok(output) };
        output.inner = match output.path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Inner::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some("zst") => {
                Inner::Zstd(zstd::Encoder::new(file, 3).map_err(io("write", &output.path))?)
            }
            _ => Inner::Plain(file),
        };
        Ok(output)
    }

    /// As [`create`](Self::create), for what is compressed already if its name says so.
    pub(crate) fn create_as_is(path: PathBuf) -> Result<Self, ClusterError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io("make", folder))?;
        }
        let file = File::create(&path).map_err(io("write", &path))?;
        let sync = EarlySync { file: file.try_clone().ok(), since: 0, running: None };
        let inner = Inner::Plain(BufWriter::with_capacity(256 << 10, file));
        Ok(OutputFile { path, inner, sync })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ClusterError> {
        self.write_all(bytes).map_err(io("write", &self.path))
    }

    /// Ends the file and makes sure that it is on the disk.
    pub(crate) fn finish(mut self) -> Result<(), ClusterError> {
        self.sync.wait().map_err(io("write", &self.path))?;
        let file = match self.inner {
            Inner::Plain(file) => Ok(file),
            Inner::Gzip(file) => file.finish(),
            Inner::Zstd(file) => file.finish(),
        };
        file.and_then(|file| file.into_inner().map_err(std::io::IntoInnerError::into_error))
            .and_then(|file| file.sync_all())
            .map_err(io("write", &self.path))
    }
}

impl Inner {
    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Inner::Plain(file) => file,
            Inner::Gzip(file) => file,
            Inner::Zstd(file) => file,
        }
    }
}

/// For writers that want any `Write`; errors do not name the file.
impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.as_write().write(bytes)?;
        self.sync.wrote(written)?;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.as_write().flush()
    }
}

/// How rows are written.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) corpus: &'a Corpus,
    pub(crate) verdicts: &'a Verdicts,
    /// Files and documents of the other corpus, which come first and are not written.
    pub(crate) other_files: usize,
    pub(crate) others: u32,
    /// Documents that have no rows.
    pub(crate) imported: u32,
    /// All rows with their verdicts, rather than the kept ones.
    pub(crate) annotate: bool,
    pub(crate) progress: &'a dyn Progress,
}

impl Writing<'_> {
    /// Writes the kept rows of every input below `folder`. `see` is shown the text of every document
    /// in `shown`, which is ascending. Tells whether one of the inputs is a table.
    pub(crate) fn rows(
        self,
        folder: &Path,
        shown: &[u32],
        mut see: impl FnMut(u32, String),
    ) -> Result<bool, ClusterError> {
        let statuses = self.corpus.rows()?;
        let ids = self.corpus.ids()?;
        let mut status_piece: Vec<u8> = Vec::new();
        let mut shown = shown.iter().copied().peekable();
        let mut items = Items::new(self.inputs);
        let mut item = Item::default();
        let (mut row, mut document, mut bytes) = (0_u64, self.imported, 0_u64);
        let mut open: Option<(usize, OutputFile)> = None;
        let mut table: Option<(usize, TableWriter)> = None;
        let mut annotated = Vec::new();
        let mut any_table = false;
        let mut parser = RowParser::new(self.inputs.fields.clone());
        while items.next_into(&mut item)? {
            let written = item.file >= self.other_files;
            let input = &self.inputs.files[item.file];
            let changed = || ClusterError::InputChanged { file: input.path.display().to_string() };
            if let Some(path) = &item.document {
                let mut status = [0];
                statuses.read_at(row, &mut status).map_err(|_| changed())?;
                row += 1;
                if status[0] == 1 {
                    let wanted = shown.next_if_eq(&document).is_some();
                    let kept = written && self.verdicts.is_kept(document) && !self.annotate;
                    if kept {
                        copy_file(path, &folder.join(&input.name))?;
                    }
                    if wanted && let Ok((_, core)) = crate::reading::read_document(path) {
                        see(document, core.page.text);
                    }
                    document += 1;
                }
                continue;
            }
            if let Some((_, batch)) = &item.table {
                any_table |= written;
                if written && table.as_ref().is_none_or(|(file, _)| *file != item.file) {
                    if let Some((_, file)) = table.take() {
                        file.finish()?;
                    }
                    let reader = items.table().ok_or_else(changed)?;
                    let (schema, compression) = (reader.schema(), reader.compression());
                    let path = folder.join(&input.name);
                    let file = TableWriter::create(path, &schema, compression, self.annotate)?;
                    table = Some((item.file, file));
                }
                status_piece.resize(batch.num_rows(), 0);
                statuses.read_at(row, &mut status_piece).map_err(|_| changed())?;
                row += batch.num_rows() as u64;
                let mut kept = Vec::with_capacity(batch.num_rows());
                let mut columns = VerdictColumns::default();
                for (at, &status) in status_piece.iter().enumerate() {
                    let is_document = status == 1;
                    if is_document {
                        if shown.next_if_eq(&document).is_some() {
                            see(document, shown_row(self.inputs, batch, at));
                        }
                        if self.annotate {
                            self.add_columns(document, &ids, &mut columns)?;
                        }
                    }
                    kept.push(is_document && (self.annotate || self.verdicts.is_kept(document)));
                    document += u32::from(is_document);
                }
                if let Some((_, file)) = table.as_mut().filter(|_| written) {
                    if self.annotate {
                        file.write_annotated(batch, kept, columns)?;
                    } else {
                        file.write_kept(batch, kept)?;
                    }
                }
                bytes += batch.get_array_memory_size() as u64;
                self.progress.advance(bytes);
                continue;
            }
            if let Some(batch) = &item.archive {
                status_piece.resize(batch.records.len(), 0);
                statuses.read_at(row, &mut status_piece).map_err(|_| changed())?;
                row += batch.records.len() as u64;
                let gzip = input.name.extension().is_some_and(|ending| ending == "gz");
                let is_new = open.as_ref().is_none_or(|(file, _)| *file != item.file);
                if written && is_new && !self.annotate {
                    if let Some((_, file)) = open.take() {
                        file.finish()?;
                    }
                    let path = folder.join(&input.name);
                    // Every record is a gzip member of its own.
                    let file = if gzip {
                        OutputFile::create_as_is(path)?
                    } else {
                        OutputFile::create(path)?
                    };
                    open = Some((item.file, file));
                }
                for (record, &status) in batch.records.iter().zip(&status_piece) {
                    if status != 1 {
                        continue;
                    }
                    if shown.next_if_eq(&document).is_some()
                        && let Some(text) = record.core_text()
                    {
                        see(document, text);
                    }
                    if written
                        && !self.annotate
                        && self.verdicts.is_kept(document)
                        && let Some((_, file)) = &mut open
                    {
                        file.write(&record.to_bytes(gzip))?;
                    }
                    document += 1;
                }
                bytes += batch.bytes;
                self.progress.advance(bytes);
                continue;
            }
            if item.broken.is_some() && item.lines.input_bytes() == 0 {
                continue;
            }
            let header = item.lines.header().cloned();
            if written && open.as_ref().is_none_or(|(file, _)| *file != item.file) {
                if let Some((_, file)) = open.take() {
                    file.finish()?;
                }
                let mut file = OutputFile::create(folder.join(&input.name))?;
                if let Some(header) = &header {
                    annotated.clear();
                    annotated.extend_from_slice(header.record());
                    if self.annotate {
                        VERDICT_NAMES
                            .iter()
                            .for_each(|name| header.push_field(name, &mut annotated));
                    }
                    annotated.extend_from_slice(header.line_break().as_bytes());
                    file.write(&annotated)?;
                }
                open = Some((item.file, file));
            }
            let mut lines = 0_u64;
            item.lines.for_each_line(|_, line| {
                lines += u64::from(!line.iter().all(u8::is_ascii_whitespace));
            });
            status_piece.resize(lines as usize, 0);
            statuses.read_at(row, &mut status_piece).map_err(|_| changed())?;
            row += lines;
            let mut statuses = status_piece.iter();
            let mut failed = None;
            let mut to_show = Vec::new();
            let line_break = header.as_ref().map_or("\n", |header| header.line_break());
            item.lines.for_each_line(|number, line| {
                if line.iter().all(u8::is_ascii_whitespace) || failed.is_some() {
                    return;
                }
                if statuses.next() != Some(&1) {
                    return;
                }
                if shown.next_if_eq(&document).is_some() {
                    to_show.push((number, document));
                }
                if written && let Some((_, file)) = &mut open {
                    let result = if self.annotate {
                        annotated.clear();
                        let told = match &header {
                            Some(header) => {
                                self.annotated_record(document, &ids, header, line, &mut annotated)
                            }
                            None => self.annotated_line(document, &ids, line, &mut annotated),
                        };
                        annotated.extend_from_slice(line_break.as_bytes());
                        told.and_then(|()| file.write(&annotated))
                    } else if self.verdicts.is_kept(document) {
                        file.write(line).and_then(|()| file.write(line_break.as_bytes()))
                    } else {
                        Ok(())
                    };
                    failed = result.err();
                }
                document += 1;
            });
            if let Some(error) = failed {
                return Err(error);
            }
            bytes += item.lines.input_bytes() as u64;
            if !to_show.is_empty() {
                show_lines(&mut item.lines, &mut parser, &to_show, &mut see);
            }
            self.progress.advance(bytes);
            if self.progress.stop_asked() {
                return Err(ClusterError::Stopped);
            }
        }
        if let Some((_, file)) = open {
            file.finish()?;
        }
        if let Some((_, file)) = table {
            file.finish()?;
        }
        if document != self.corpus.len() {
            let file = self
                .inputs
                .files
                .last()
                .map_or_else(String::new, |file| file.path.display().to_string());
            return Err(ClusterError::InputChanged { file });
        }
        Ok(any_table)
    }

    fn add_columns(
        &self,
        document: u32,
        ids: &Ids,
        columns: &mut VerdictColumns,
    ) -> Result<(), ClusterError> {
        let told = self.verdicts.get(document);
        columns.families.push(told.family);
        columns.originals.push(ids.get(told.original)?);
        columns.resemblances.push(told.resemblance);
        columns.kinds.push(told.kind.word());
        Ok(())
    }

    /// A line with its verdict behind its own fields.
    fn annotated_line(
        &self,
        document: u32,
        ids: &Ids,
        line: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ClusterError> {
        let told = self.verdicts.get(document);
        let original = serde_json::to_string(&ids.get(told.original)?).expect(STRINGS);
        let end = line.iter().rposition(|&byte| byte == b'}').unwrap_or(line.len());
        out.extend_from_slice(line[..end].trim_ascii_end());
        let family = told.family.map_or_else(|| "null".to_owned(), |family| family.to_string());
        write!(
            out,
            ",\"wonbon_family\":{family},\"wonbon_original\":{original},\
             \"wonbon_resemblance\":{},\"wonbon_kind\":\"{}\"}}",
            told.resemblance, told.kind
        )
        .expect(MEMORY);
        Ok(())
    }

    /// A CSV record with its verdict behind its own fields.
    fn annotated_record(
        &self,
        document: u32,
        ids: &Ids,
        header: &Header,
        record: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ClusterError> {
        let told = self.verdicts.get(document);
        out.extend_from_slice(record);
        let family = told.family.map_or_else(String::new, |family| family.to_string());
        header.push_field(&family, out);
        header.push_field(&ids.get(told.original)?, out);
        header.push_field(&told.resemblance.to_string(), out);
        header.push_field(told.kind.word(), out);
        Ok(())
    }

    /// Writes the families in the format of the inputs: as a table if one of them is.
    pub(crate) fn families(self, folder: &Path, as_table: bool) -> Result<(), ClusterError> {
        if as_table {
            self.family_table(folder.join("families.parquet"))
        } else {
            self.family_lines(folder.join("families.jsonl"))
        }
    }

    fn family_table(self, path: PathBuf) -> Result<(), ClusterError> {
        let ids = self.corpus.ids()?;
        let mut file = TableWriter::families(path)?;
        let (mut names, mut columns) = (Vec::new(), VerdictColumns::default());
        ids.for_each(|document, id| {
            if document < self.others {
                return Ok(());
            }
            names.push(id.to_owned());
            self.add_columns(document, &ids, &mut columns)?;
            if names.len() == 8192 {
                file.write_families(std::mem::take(&mut names), std::mem::take(&mut columns))?;
            }
            Ok(())
        })?;
        file.write_families(names, columns)?;
        file.finish()
    }

    /// Writes one line a document: id, family, original, resemblance to the original, kind.
    fn family_lines(self, path: PathBuf) -> Result<(), ClusterError> {
        let ids = self.corpus.ids()?;
        let mut file = OutputFile::create(path)?;
        let mut line = Vec::new();
        let mut last_original = (u32::MAX, String::new());
        ids.for_each(|document, id| {
            if document < self.others {
                return Ok(());
            }
            let told = self.verdicts.get(document);
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

    /// Writes every verified pair of documents: both ids and their resemblance, earlier in keep
    /// order first, separated by tabs. Tabs and line breaks inside ids are written as spaces.
    pub(crate) fn pairs(self, found: &Path, path: PathBuf) -> Result<u64, ClusterError> {
        let ids = self.corpus.ids()?;
        let representatives = self.verdicts.representatives();
        let members = representatives.members();
        let mut file = OutputFile::create(path)?;
        let mut count = 0;
        let mut steps = Steps::new(self.progress);
        let mut write = |one: u32, other: u32, resemblance: f64| {
            steps.step()?;
            if one < self.others && other < self.others {
                return Ok(());
            }
            count += 1;
            let clean = |id: String| id.replace(['\t', '\n', '\r'], " ");
            let (one, other) = (clean(ids.get(one)?), clean(ids.get(other)?));
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
}

const MEMORY: &str = "writing to memory does not fail";
const STRINGS: &str = "a string is JSON";

/// What is added to a row by its verdict.
const VERDICT_NAMES: [&str; 4] =
    ["wonbon_family", "wonbon_original", "wonbon_resemblance", "wonbon_kind"];

/// Shows the texts of some rows, by line number and document. The lines are unusable afterwards.
fn show_lines(
    lines: &mut Batch,
    parser: &mut RowParser,
    wanted: &[(u64, u32)],
    see: &mut impl FnMut(u32, String),
) {
    let mut wanted = wanted.iter().copied().peekable();
    parser.for_each_row(lines, |number, row| {
        let Some((_, document)) = wanted.next_if(|&(line, _)| line == number) else { return };
        if let Ok(row) = row {
            see(
                document,
                match row.content {
                    Content::Text(text) | Content::Redirect(text) => text.to_owned(),
                    Content::Html(html) => wonbon_text::extract::extract(html, row.url).text,
                },
            );
        }
    });
}

/// The text of a row of a table, for the report.
fn shown_row(inputs: &Inputs, rows: &RecordBatch, row: usize) -> String {
    let text = |name: &str| match rows.column_by_name(name).map(|array| cell(array, row)) {
        Some(Cell::Text(text)) => Some(text.into_owned()),
        _ => None,
    };
    text(&inputs.fields.text)
        .or_else(|| Some(wonbon_text::extract::extract(&text(&inputs.fields.html)?, None).text))
        .unwrap_or_default()
}

fn copy_file(from: &Path, to: &Path) -> Result<(), ClusterError> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(io("make", folder))?;
    }
    std::fs::copy(from, to).map(|_| ()).map_err(io("copy", from))
}
