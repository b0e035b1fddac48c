//! Inputs as numbered rows: the same rows in the same order however often they are read.
//!
//! A run reads its inputs twice: once to sketch every document, once to write the rows that are
//! kept. Both walk the same *items* (a batch of lines, a file that is one document), so the n-th row
//! of the first walk is the n-th row of the second, and a run that was killed skips the items it has
//! finished. A row that is no document keeps its number and is told with its reason.
//!
//! Cost: the second walk does not parse: it only finds line ends. Skipping compressed input still
//! decompresses it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wonbon_input::batches::{Batch, Batches};
use wonbon_input::ordered::for_each_ordered;
use wonbon_input::rows::{Content, FieldNames, Ranking, RowError, RowParser};
use wonbon_input::{InputError, Source, SourceKind, open, read_whole};
use wonbon_text::extract::{Page, core_text, extract};

use crate::archive::{self, ArchiveBatch, ArchiveReader};
use crate::error::{ClusterError, io};
use crate::keep::Keep;
use crate::progress::Progress;
use crate::tables::{Cell, TableReader, cell};

/// How many bytes one file may have when it is one document.
const MAX_DOCUMENT_BYTES: usize = 1 << 30;

/// One file of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its name relative to what was asked for: where its kept rows go.
    pub name: PathBuf,
    /// Its size when the run began.
    pub bytes: u64,
    /// When it was changed last, in nanoseconds since 1970.
    pub modified: u128,
}

/// A row, or a whole file, that is no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The input.
    pub file: String,
    /// The row, counted from one; none where the rest of the file is meant.
    pub row: Option<u64>,
    /// What is wrong with it.
    pub why: String,
}

/// What is read, and how.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The files, in order.
    pub files: Vec<InputFile>,
    /// Files in folders that are of no known kind.
    pub unknown: Vec<PathBuf>,
    /// Which field of a row means what.
    pub fields: FieldNames,
    /// Whether a row that is no document ends the run.
    pub strict: bool,
    /// Where a compressed Parquet file is unpacked while it is read. The unpacked file has no name,
    /// so that nothing is left of it however the run ends.
    pub unpack: PathBuf,
}

impl Inputs {
    /// Finds the files: a folder stands for the files in it, in the order of their names, at any
    /// depth; hidden ones are left out.
    ///
    /// # Errors
    ///
    /// If a path does not exist or cannot be looked at.
    pub fn find(paths: &[PathBuf], fields: FieldNames) -> Result<Inputs, ClusterError> {
        let mut inputs = Inputs {
            files: Vec::new(),
            unknown: Vec::new(),
            fields,
            strict: false,
            unpack: std::env::temp_dir(),
        };
        for path in paths {
            let metadata = std::fs::metadata(path).map_err(io("open", path))?;
            if metadata.is_dir() {
                inputs.folder(path, path)?;
            } else {
                let name = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
                inputs.file(path, name)?;
            }
        }
        let mut names = OutputNames::default();
        for (number, file) in (1..).zip(&mut inputs.files) {
            file.name = names.take(&file.name, number);
        }
        Ok(inputs)
    }

    fn folder(&mut self, top: &Path, folder: &Path) -> Result<(), ClusterError> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(io("read", folder))? {
            paths.push(entry.map_err(io("read", folder))?.path());
        }
        paths.sort();
        for path in paths {
            let hidden =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if hidden {
                continue;
            }
            if path.is_dir() {
                self.folder(top, &path)?;
            } else if is_known(&path) {
                let name = path.strip_prefix(top).unwrap_or(&path).to_owned();
                self.file(&path, name)?;
            } else {
                self.unknown.push(path);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: PathBuf) -> Result<(), ClusterError> {
        let metadata = std::fs::metadata(path).map_err(io("open", path))?;
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |time| time.as_nanos());
        self.files.push(InputFile { path: path.to_owned(), name, bytes: metadata.len(), modified });
        Ok(())
    }

    /// The names of the fields of the first row: of the first file that holds rows.
    #[must_use]
    pub fn first_fields(&self) -> Vec<String> {
        self.files.iter().find_map(|file| fields_of(&file.path, &self.unpack)).unwrap_or_default()
    }

    /// The bytes of all files as they lie on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Names of files in one folder: no two are the same, and none is a folder that another needs.
#[derive(Debug, Default)]
struct OutputNames {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl OutputNames {
    /// Takes a name, or the first free one of that name in a folder `number`, `number + 1`, ...
    fn take(&mut self, name: &Path, number: usize) -> PathBuf {
        let numbered = (number..).map(|number| Path::new(&number.to_string()).join(name));
        let mut free = [name.to_owned()].into_iter().chain(numbered).filter(|name| {
            let mut folders = name.ancestors().skip(1);
            let is_folder = self.folders.contains(name);
            !is_folder && !self.files.contains(name) && folders.all(|one| !self.files.contains(one))
        });
        let taken = free.next().expect("there are more numbers than names");
        drop(free);
        self.folders.extend(taken.ancestors().skip(1).map(Path::to_owned));
        self.files.insert(taken.clone());
        taken
    }
}

/// Endings of files that are taken from folders; `.gz` and `.zst` may follow.
const KNOWN: [&str; 13] = [
    "parquet", "jsonl", "ndjson", "json", "csv", "tsv", "txt", "text", "md", "html", "htm",
    "xhtml", "warc",
];

/// How far is looked for a first line that is an object.
const LOOK_BYTES: usize = 16 << 20;

/// The names of the fields of a file; none if it holds no rows or cannot be read.
fn fields_of(path: &Path, unpack: &Path) -> Option<Vec<String>> {
    let mut source = open(path).ok()?;
    match source.kind {
        SourceKind::Document | SourceKind::Warc => None,
        SourceKind::Parquet => {
            let table = open_table(source, path, unpack, None).ok()?.ok()?;
            Some(table.schema().fields().iter().map(|field| field.name().clone()).collect())
        }
        SourceKind::Csv => {
            let header = Batches::new(source).header().ok()??.clone();
            Some(header.names().to_vec())
        }
        SourceKind::JsonLines => {
            let (mut line, mut looked) = (Vec::new(), 0);
            while looked < LOOK_BYTES {
                line.clear();
                looked += source.reader().read_until(b'\n', &mut line).ok().filter(|&n| n > 0)?;
                if let Ok(Value::Object(row)) = serde_json::from_slice(line.trim_ascii()) {
                    return Some(row.keys().cloned().collect());
                }
            }
            None
        }
    }
}

/// Opens a Parquet file, unpacking it first if it is compressed. The inner error is the input's.
fn open_table(
    mut source: Source,
    path: &Path,
    unpack: &Path,
    columns: Option<&[&str]>,
) -> Result<Result<TableReader, String>, ClusterError> {
    let file = if source.is_compressed() {
        let mut file = tempfile::tempfile_in(unpack).map_err(io("unpack to", unpack))?;
        loop {
            let piece = match source.reader().fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(Err(error_chain(&source.broken(error)))),
            };
            if piece.is_empty() {
                break;
            }
            let length = piece.len();
            file.write_all(piece).map_err(io("unpack to", unpack))?;
            source.reader().consume(length);
        }
        file
    } else {
        match File::open(path) {
            Ok(file) => file,
            Err(error) => return Ok(Err(error.to_string())),
        }
    };
    Ok(TableReader::open(file, columns))
}

fn is_known(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = name.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    Path::new(name).extension().is_some_and(|ending| KNOWN.iter().any(|known| ending == *known))
}

/// A piece of the input that one thread works on.
#[derive(Debug, Default)]
pub(crate) struct Item {
    /// Which file.
    pub(crate) file: usize,
    /// Lines of it.
    pub(crate) lines: Batch,
    /// Or the whole of it as one document.
    pub(crate) document: Option<PathBuf>,
    /// Or rows of a table, and the number of the first.
    pub(crate) table: Option<(u64, RecordBatch)>,
    /// Or records of a web archive.
    pub(crate) archive: Option<ArchiveBatch>,
    /// The file, or this part of it, cannot be read on behind this item.
    pub(crate) broken: Option<String>,
}

/// Walks over the items of the inputs.
#[derive(Debug)]
pub(crate) struct Items<'a> {
    files: std::slice::Iter<'a, InputFile>,
    file: usize,
    open: Option<Batches>,
    table: Option<TableReader>,
    archive: Option<ArchiveReader>,
    /// Records of archives whose body a later one may repeat.
    known: archive::Known,
    /// The columns of tables to read; all of them if none are named.
    columns: Option<Vec<&'a str>>,
    unpack: &'a Path,
}

impl<'a> Items<'a> {
    /// Items with everything in them.
    pub(crate) fn new(inputs: &'a Inputs) -> Self {
        Items {
            files: inputs.files.iter(),
            file: 0,
            open: None,
            table: None,
            archive: None,
            known: archive::Known::default(),
            columns: None,
            unpack: &inputs.unpack,
        }
    }

    /// Items with only these columns of tables.
    pub(crate) fn of_columns(inputs: &'a Inputs, columns: Vec<&'a str>) -> Self {
        Items { columns: Some(columns), ..Items::new(inputs) }
    }

    /// The table that is being read, if it is one.
    pub(crate) fn table(&self) -> Option<&TableReader> {
        self.table.as_ref()
    }

    /// Reads the next item; `false` at the end. What cannot be read is told in the item; it is an
    /// error only if there is no room to unpack.
    pub(crate) fn next_into(&mut self, item: &mut Item) -> Result<bool, ClusterError> {
        item.document = None;
        item.table = None;
        item.archive = None;
        item.broken = None;
        item.lines.clear();
        loop {
            item.file = self.file.saturating_sub(1);
            if let Some(table) = &mut self.table {
                match table.next() {
                    Some(Ok(rows)) => item.table = Some(rows),
                    Some(Err(broken)) => item.broken = Some(broken),
                    None => {
                        self.table = None;
                        continue;
                    }
                }
                return Ok(true);
            }
            if let Some(archive) = &mut self.archive {
                match archive.next(&mut self.known) {
                    Some((records, broken)) => {
                        item.archive = Some(records);
                        item.broken = broken;
                        return Ok(true);
                    }
                    None => {
                        self.archive = None;
                        continue;
                    }
                }
            }
            if let Some(batches) = &mut self.open {
                match batches.next_into(&mut item.lines) {
                    Ok(true) => return Ok(true),
                    Ok(false) => self.open = None,
                    Err(error) => {
                        self.open = None;
                        item.broken = Some(error_chain(&error));
                        return Ok(true);
                    }
                }
            }
            let Some(file) = self.files.next() else { return Ok(false) };
            self.file += 1;
            item.file = self.file - 1;
            match open(&file.path) {
                Ok(source) if source.kind.holds_lines() => self.open = Some(Batches::new(source)),
                Ok(source) if source.kind == SourceKind::Parquet => {
                    match open_table(source, &file.path, self.unpack, self.columns.as_deref())? {
                        Ok(table) => self.table = Some(table),
                        Err(broken) => {
                            item.broken = Some(broken);
                            return Ok(true);
                        }
                    }
                }
                Ok(source) if source.kind == SourceKind::Warc => {
                    match ArchiveReader::open(source, &file.path) {
                        Ok(archive) => self.archive = Some(archive),
                        Err(error) => {
                            item.broken = Some(format!("could not be opened: {error}"));
                            return Ok(true);
                        }
                    }
                }
                Ok(_) => {
                    item.document = Some(file.path.clone());
                    return Ok(true);
                }
                Err(error) => {
                    item.broken = Some(error_chain(&error));
                    return Ok(true);
                }
            }
        }
    }
}

/// One document as it is read.
#[derive(Clone, Copy, Debug)]
pub struct Visited<'a> {
    /// Its id: its own, or its URL, or its file and row.
    pub id: &'a str,
    /// Its address, if it has one.
    pub url: Option<&'a str>,
    /// The bytes of its content as it came.
    pub bytes: &'a [u8],
    /// Its core text.
    pub text: &'a str,
    /// When it was created, as it says.
    pub created: Option<Ranking<'a>>,
    /// What else it says of itself.
    pub about: About<'a>,
    /// Where its address leads, if that is all there is: then it is no document.
    pub redirect: Option<&'a str>,
    /// Whether it was recognised by its bytes: then there is no core text.
    pub recognised: bool,
    /// Whether it comes from a web archive, which holds redirects whether or not anybody wants them.
    pub archived: bool,
}

/// What was made of a piece of the input.
#[derive(Debug)]
pub struct Piece<O> {
    /// What the visitor made of its documents.
    pub output: O,
    /// What was no document.
    pub skipped: Vec<Skipped>,
    /// Bytes read, decompressed.
    pub bytes: u64,
    /// Records of web archives that are no documents and were not expected to be.
    pub passed_over: u64,
}

/// What a document says of itself beside its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About<'a> {
    /// Its title.
    pub title: Option<&'a str>,
    /// The site it stands on.
    pub site: Option<&'a str>,
    /// Who wrote it.
    pub author: Option<&'a str>,
    /// Its language.
    pub language: Option<&'a str>,
}

impl<'a> About<'a> {
    /// With what the page says where the row says nothing.
    fn or_of_page(self, page: &'a Page) -> Self {
        About {
            title: self.title.or(page.title.as_deref()),
            language: self.language.or(page.language.as_deref()),
            ..self
        }
    }
}

/// Reads every document of the inputs with several threads, for whoever wants to do with them as
/// they please. `visit` sees one document after another of a piece of the input and collects what it
/// makes of them; `write` gets that, piece after piece in the order of the input.
///
/// # Errors
///
/// The first of `write`, or [`ClusterError::BadRow`] if the inputs are strict.
pub fn for_each_document<S, O: Default + Send>(
    inputs: &Inputs,
    threads: NonZeroUsize,
    progress: &dyn Progress,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &Visited<'_>, &mut O) + Sync,
    mut write: impl FnMut(Piece<O>) -> Result<(), ClusterError> + Send,
) -> Result<(), ClusterError> {
    let reading = Reading::of_all(inputs, threads, progress, None);
    read_documents(reading, state, visit, |rows| write(rows.into()))
}

/// As [`for_each_document`], but asks `known` of each document before anything is made of it. If it
/// says yes, the core text is not taken out: `visit` sees the document without one. The first
/// `skip_pieces` pieces, which an earlier run has finished, are passed over.
///
/// # Errors
///
/// As [`for_each_document`].
pub fn for_each_unknown_document<O: Default + Send>(
    inputs: &Inputs,
    threads: NonZeroUsize,
    progress: &dyn Progress,
    skip_pieces: u64,
    known: &(dyn Fn(&Visited<'_>) -> bool + Sync),
    visit: impl Fn(&Visited<'_>, &mut O) + Sync,
    mut write: impl FnMut(Piece<O>) -> Result<(), ClusterError> + Send,
) -> Result<(), ClusterError> {
    let all = Reading::of_all(inputs, threads, progress, Some(known));
    let reading = Reading { skip_items: skip_pieces, ..all };
    read_documents(
        reading,
        || (),
        |(), visited, output| visit(visited, output),
        |rows| write(rows.into()),
    )
}

/// What was made of one item.
#[derive(Debug, Default)]
pub(crate) struct ItemRows<O> {
    /// Which file.
    pub(crate) file: usize,
    /// For each row, whether it is a document.
    pub(crate) rows: Vec<u8>,
    /// The keys of the documents, by which they are put in order.
    pub(crate) keys: Vec<u64>,
    /// The ids of the documents, one after another.
    pub(crate) ids: Vec<u8>,
    /// Where each id ends.
    pub(crate) id_ends: Vec<u64>,
    /// What is no document.
    pub(crate) skipped: Vec<Skipped>,
    /// Bytes read, decompressed.
    pub(crate) input_bytes: u64,
    /// Bytes of core text.
    pub(crate) text_bytes: u64,
    /// Records of web archives that are no documents.
    pub(crate) passed_over: u64,
    /// What the visitor made of the documents.
    pub(crate) output: O,
}

impl<O> From<ItemRows<O>> for Piece<O> {
    fn from(rows: ItemRows<O>) -> Self {
        let ItemRows { output, skipped, input_bytes: bytes, passed_over, .. } = rows;
        Piece { output, skipped, bytes, passed_over }
    }
}

/// How documents are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) keep: &'a Keep,
    pub(crate) threads: NonZeroUsize,
    /// Items that were finished by an earlier run.
    pub(crate) skip_items: u64,
    pub(crate) progress: &'a dyn Progress,
    /// Whether the visitor takes redirects; otherwise they are told as no documents.
    pub(crate) redirects: bool,
    /// Says of a document whether it is known by its bytes.
    pub(crate) known: Option<&'a (dyn Fn(&Visited<'_>) -> bool + Sync)>,
}

impl<'a> Reading<'a> {
    /// Everything from the start on, for a visitor who takes redirects too.
    fn of_all(
        inputs: &'a Inputs,
        threads: NonZeroUsize,
        progress: &'a dyn Progress,
        known: Option<&'a (dyn Fn(&Visited<'_>) -> bool + Sync)>,
    ) -> Self {
        let keep = &Keep::Earliest;
        Reading { inputs, keep, threads, skip_items: 0, progress, redirects: true, known }
    }
}

/// Reads every document with several threads, and hands what was made of each item to `write`, in
/// order.
pub(crate) fn read_documents<S, O: Default + Send>(
    reading: Reading<'_>,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &Visited<'_>, &mut O) + Sync,
    mut write: impl FnMut(ItemRows<O>) -> Result<(), ClusterError> + Send,
) -> Result<(), ClusterError> {
    let Reading { inputs, keep, threads, skip_items, progress, .. } = reading;
    let FieldNames { id, url, created, title, site, author, language, text, html, redirect } =
        &inputs.fields;
    let mut columns =
        vec![id.as_str(), url, created, title, site, author, language, text, html, redirect];
    columns.extend(keep.field(created));
    let mut items = Items::of_columns(inputs, columns);
    let mut skipped = 0;
    let read = |item: &mut Item| -> Result<bool, ClusterError> {
        if progress.stop_asked() {
            return Err(ClusterError::Stopped);
        }
        while skipped < skip_items {
            skipped += 1;
            if !items.next_into(item)? {
                return Ok(false);
            }
        }
        items.next_into(item)
    };
    let parser = || {
        RowParser::new(inputs.fields.clone()).with_ranking_field(keep.field(&inputs.fields.created))
    };
    for_each_ordered(
        threads,
        read,
        || (parser(), state()),
        |(parser, state), item| {
            let mut rows = ItemRows::<O>::default();
            rows.read(&reading, item, parser, |visited, output| visit(state, visited, output));
            rows
        },
        |rows| {
            if inputs.strict
                && let Some(first) = rows.skipped.first()
            {
                let Skipped { file, row, why } = first.clone();
                return Err(ClusterError::BadRow { file, row: row.unwrap_or(0), why });
            }
            write(rows)
        },
    )
}

impl Reading<'_> {
    /// Asks whether a document is known by its bytes, and marks it so.
    fn knows(&self, visited: &mut Visited<'_>) -> bool {
        visited.recognised = self.known.is_some_and(|known| known(visited));
        visited.recognised
    }
}

impl<O> ItemRows<O> {
    fn read(
        &mut self,
        reading: &Reading<'_>,
        item: &mut Item,
        parser: &mut RowParser,
        mut visit: impl FnMut(&Visited<'_>, &mut O),
    ) {
        let (inputs, keep) = (reading.inputs, reading.keep);
        self.file = item.file;
        let path = &inputs.files[item.file].path;
        let file = || path.display().to_string();
        if let Some(document) = &item.document {
            let bytes = match open(document).and_then(|file| read_whole(file, MAX_DOCUMENT_BYTES)) {
                Ok(bytes) => bytes,
                Err(error) => {
                    self.rows.push(0);
                    let why = error_chain(&error);
                    self.skipped.push(Skipped { file: file(), row: None, why });
                    return;
                }
            };
            self.input_bytes = bytes.len() as u64;
            let id = inputs.files[item.file].name.display().to_string();
            let mut visited = Visited {
                id: &id,
                url: None,
                bytes: &bytes,
                text: "",
                created: None,
                about: About::default(),
                redirect: None,
                recognised: false,
                archived: false,
            };
            if reading.knows(&mut visited) {
                self.document(keep, None, &visited, &mut visit);
                return;
            }
            let core = core_text(&bytes, None, None);
            let ranking = core.page.published.as_deref().map(Ranking::Text);
            let about = About::default().or_of_page(&core.page);
            let visited = Visited { text: &core.page.text, created: ranking, about, ..visited };
            self.document(keep, ranking, &visited, &mut visit);
            return;
        }
        self.input_bytes = item.lines.input_bytes() as u64;
        let mut by_place = String::new();
        parser.for_each_row(&mut item.lines, |number, row| {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    self.rows.push(0);
                    let why = error.to_string();
                    self.skipped.push(Skipped { file: file(), row: Some(number), why });
                    return;
                }
            };
            let id = match (&row.id, row.url) {
                (Some(id), _) => id,
                (None, Some(url)) => url,
                (None, None) => {
                    by_place = format!("{}:{number}", inputs.files[item.file].name.display());
                    &by_place
                }
            };
            let about = About {
                title: row.title,
                site: row.site,
                author: row.author,
                language: row.language,
            };
            let created = match keep {
                Keep::Earliest => row.ranking,
                _ => row.created.map(Ranking::Text),
            };
            let bytes: &[u8] = match row.content {
                Content::Text(text) | Content::Html(text) => text.as_bytes(),
                Content::Redirect(_) => &[],
            };
            let mut visited = Visited {
                id,
                url: row.url,
                bytes,
                text: "",
                created,
                about,
                redirect: None,
                recognised: false,
                archived: false,
            };
            match row.content {
                Content::Redirect(to) if reading.redirects => {
                    self.rows.push(0);
                    visit(&Visited { redirect: Some(to), ..visited }, &mut self.output);
                }
                Content::Redirect(to) => {
                    self.rows.push(0);
                    let why = format!("only leads to {to}");
                    self.skipped.push(Skipped { file: file(), row: Some(number), why });
                }
                _ if reading.knows(&mut visited) => {
                    self.document(keep, row.ranking, &visited, &mut visit);
                }
                Content::Text(text) => {
                    let visited = Visited { text, ..visited };
                    self.document(keep, row.ranking, &visited, &mut visit);
                }
                Content::Html(html) => {
                    let page = extract(html, row.url);
                    let visited = Visited {
                        text: &page.text,
                        created: created.or(page.published.as_deref().map(Ranking::Text)),
                        about: about.or_of_page(&page),
                        ..visited
                    };
                    self.document(keep, row.ranking, &visited, &mut visit);
                }
            }
        });
        if let Some((first, rows)) = &item.table {
            self.table(reading, item.file, *first, rows, &mut visit);
        }
        if let Some(batch) = &item.archive {
            self.archive(reading, batch, &mut visit);
        }
        if let Some(why) = item.broken.take() {
            self.skipped.push(Skipped { file: file(), row: None, why });
        }
    }

    /// Records of a web archive.
    fn archive(
        &mut self,
        reading: &Reading<'_>,
        batch: &ArchiveBatch,
        visit: &mut impl FnMut(&Visited<'_>, &mut O),
    ) {
        self.input_bytes = batch.bytes;
        self.passed_over += batch.passed_over;
        for record in &batch.records {
            let created = record.date().map(Ranking::Text);
            let mut visited = Visited {
                id: &record.target,
                url: Some(&record.target),
                bytes: &[],
                text: "",
                created,
                about: About::default(),
                redirect: None,
                recognised: false,
                archived: true,
            };
            match record.content() {
                Some(archive::Content::Page { bytes, charset }) => {
                    visited.bytes = &bytes;
                    if reading.knows(&mut visited) {
                        self.document(reading.keep, created, &visited, visit);
                        continue;
                    }
                    let core = core_text(&bytes, charset.as_deref(), visited.url);
                    let about = About::default().or_of_page(&core.page);
                    let visited = Visited { text: &core.page.text, about, ..visited };
                    self.document(reading.keep, created, &visited, visit);
                }
                Some(archive::Content::Redirect(to)) if reading.redirects => {
                    self.rows.push(0);
                    visit(&Visited { redirect: Some(&to), ..visited }, &mut self.output);
                }
                _ => {
                    self.rows.push(0);
                    self.passed_over += 1;
                }
            }
        }
    }

    /// Rows of a table.
    fn table(
        &mut self,
        reading: &Reading<'_>,
        file: usize,
        first: u64,
        rows: &RecordBatch,
        visit: &mut impl FnMut(&Visited<'_>, &mut O),
    ) {
        let (inputs, keep, fields) = (reading.inputs, reading.keep, &reading.inputs.fields);
        let column = |name: &str| rows.column_by_name(name).map(AsRef::as_ref);
        let text_of = |array: Option<&'_ dyn Array>, row| match array.map(|array| cell(array, row))
        {
            Some(Cell::Text(text)) => Some(text.into_owned()),
            Some(Cell::Whole(number)) => Some(number.to_string()),
            _ => None,
        };
        let (ids, urls) = (column(&fields.id), column(&fields.url));
        let (texts, pages) = (column(&fields.text), column(&fields.html));
        let redirects = column(&fields.redirect);
        let rankings = keep.field(&fields.created).and_then(column);
        let created = column(&fields.created);
        let described = [&fields.title, &fields.site, &fields.author, &fields.language]
            .map(|name| column(name));
        let name = inputs.files[file].name.display();
        self.input_bytes = rows.get_array_memory_size() as u64;
        for (row, number) in (0..rows.num_rows()).zip(first..) {
            let url = text_of(urls, row);
            let id = text_of(ids, row)
                .or_else(|| url.clone())
                .unwrap_or_else(|| format!("{name}:{number}"));
            let ranking_cell = rankings.map_or(Cell::Nothing, |array| cell(array, row));
            let ranking = ranking_of(&ranking_cell);
            let created_cell = created.map_or(Cell::Nothing, |array| cell(array, row));
            let created = ranking_of(&created_cell);
            let [title, site, author, language] = described.map(|array| text_of(array, row));
            let about = About {
                title: title.as_deref(),
                site: site.as_deref(),
                author: author.as_deref(),
                language: language.as_deref(),
            };
            let content = |array: Option<&'_ dyn Array>| match array.map(|array| cell(array, row)) {
                Some(Cell::Text(text)) => Some(text.into_owned()),
                _ => None,
            };
            let url = url.as_deref();
            let (text, html) = (content(texts), content(pages));
            let bytes = text.as_deref().or(html.as_deref()).unwrap_or_default().as_bytes();
            let mut visited = Visited {
                id: &id,
                url,
                bytes,
                text: "",
                created,
                about,
                redirect: None,
                recognised: false,
                archived: false,
            };
            let redirect = content(redirects)
                .filter(|to| bytes.is_empty() && reading.redirects && !to.is_empty() && *to != id);
            if redirect.is_some() {
                self.rows.push(0);
                visit(&Visited { redirect: redirect.as_deref(), ..visited }, &mut self.output);
            } else if (text.is_some() || html.is_some()) && reading.knows(&mut visited) {
                self.document(keep, ranking, &visited, visit);
            } else if let Some(text) = &text {
                self.document(keep, ranking, &Visited { text, ..visited }, visit);
            } else if let Some(html) = &html {
                let page = extract(html, url);
                let visited = Visited {
                    text: &page.text,
                    created: created.or(page.published.as_deref().map(Ranking::Text)),
                    about: about.or_of_page(&page),
                    ..visited
                };
                self.document(keep, ranking, &visited, visit);
            } else {
                self.rows.push(0);
                let why =
                    RowError::NoContent { text: fields.text.clone(), html: fields.html.clone() };
                let file = inputs.files[file].path.display().to_string();
                self.skipped.push(Skipped { file, row: Some(number), why: why.to_string() });
            }
        }
    }

    fn document(
        &mut self,
        keep: &Keep,
        ranking: Option<Ranking<'_>>,
        visited: &Visited<'_>,
        visit: &mut impl FnMut(&Visited<'_>, &mut O),
    ) {
        self.rows.push(1);
        self.keys.push(keep.key(ranking, visited.text.len()));
        self.ids.extend_from_slice(visited.id.as_bytes());
        self.id_ends.push(self.ids.len() as u64);
        self.text_bytes += visited.text.len() as u64;
        visit(visited, &mut self.output);
    }
}

fn ranking_of<'a>(cell: &'a Cell<'_>) -> Option<Ranking<'a>> {
    match cell {
        Cell::Nothing => None,
        Cell::Text(text) => Some(Ranking::Text(text)),
        Cell::Whole(number) => Some(Ranking::Number(*number as f64)),
        Cell::Number(number) => Some(Ranking::Number(*number)),
    }
}

/// An error and its causes in one sentence.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        sentence.push_str(&format!(": {error}"));
        cause = error.source();
    }
    sentence
}

/// Reads a file as one document: text or HTML, in any character set.
pub(crate) fn read_document(
    path: &Path,
) -> Result<(Vec<u8>, wonbon_text::extract::CoreText), InputError> {
    let bytes = read_whole(open(path)?, MAX_DOCUMENT_BYTES)?;
    let core = core_text(&bytes, None, None);
    Ok((bytes, core))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_names_are_unique_and_none_is_the_folder_of_another() {
        let mut names = OutputNames::default();
        let taken: Vec<String> = [
            ("3/a.jsonl", "3/a.jsonl"),
            ("a.jsonl", "a.jsonl"),
            ("a.jsonl", "4/a.jsonl"),
            ("a.jsonl", "5/a.jsonl"),
            ("4/a.jsonl", "5/4/a.jsonl"),
            ("a.jsonl/b.txt", "6/a.jsonl/b.txt"),
            ("3", "7/3"),
        ]
        .into_iter()
        .zip(1..)
        .map(|((name, expected), number)| {
            assert_eq!(names.take(Path::new(name), number), Path::new(expected));
            expected.to_owned()
        })
        .collect();
        for (at, one) in taken.iter().enumerate() {
            let one = Path::new(one);
            assert!(
                taken[..at]
                    .iter()
                    .all(|other| { !one.starts_with(other) && !Path::new(other).starts_with(one) })
            );
        }
    }
}
