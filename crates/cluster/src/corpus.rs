//! A corpus on disk: what is known of every document, in columns, part after part.
//!
//! A run that reads a large input notes after each part ([`PART_BYTES`]) how far every column is (`parts`,
//! one JSON line each). A killed run goes on behind its last note; what was written after it is cut
//! off. Whether two runs are the same is decided by their plan (`plan.json`): everything that
//! changes the result, and the inputs with their sizes and times.
//!
//! Files of a corpus: `keys`, `bytes`, `normal`, `set` (64 bits a document), `shingles` (32 bits),
//! `elements` (64 bits a shingle), `feature-NN` (64 bits a document), `ids` and `id-ends`, `urls` and
//! `url-ends`, `super-counts` and `supers` (for clustering), `rows` (a
//! byte a row: 1 is a document), `skipped` (JSON lines), `parts`, `plan.json`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::columns::{Column, ColumnWriter, Mark};
use crate::error::{ClusterError, io};
use crate::reading::{ItemRows, Skipped};
use crate::sketching::Sketches;

/// How much input is read between two notes, unless said otherwise.
pub const PART_BYTES: u64 = 64 << 20;

/// The most documents of one run: places are 32-bit numbers, and one is set aside.
pub const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

/// How far the reading of a corpus is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Items read.
    pub items: u64,
    /// Rows read.
    pub rows: u64,
    /// Documents among them.
    pub documents: u64,
    /// Documents of other corpora, which come first.
    pub others: u64,
    /// Documents among those whose sketches came from an earlier run: they have no rows.
    pub imported: u64,
    /// Rows and files that are no documents.
    pub skipped: u64,
    /// Bytes read, decompressed.
    pub input_bytes: u64,
    /// Bytes of core text.
    pub text_bytes: u64,
    /// Whether the input was read to its end.
    pub complete: bool,
    marks: BTreeMap<String, Mark>,
}

/// Says that a run goes on with what another has read.
pub(crate) fn goes_on(at: &Checkpoint) -> String {
    format!(
        "an earlier run was stopped after {} documents; this one goes on from there",
        at.documents
    )
}

/// Writes a corpus.
#[derive(Debug)]
pub struct CorpusWriter {
    folder: PathBuf,
    keys: ColumnWriter<u64>,
    bytes: ColumnWriter<u64>,
    normal: ColumnWriter<u64>,
    set: ColumnWriter<u64>,
    shingles: ColumnWriter<u32>,
    elements: ColumnWriter<u64>,
    features: Vec<ColumnWriter<u64>>,
    ids: ColumnWriter<u8>,
    id_ends: ColumnWriter<u64>,
    urls: ColumnWriter<u8>,
    url_ends: ColumnWriter<u64>,
    super_counts: ColumnWriter<u32>,
    supers: ColumnWriter<u64>,
    rows: ColumnWriter<u8>,
    skipped: ColumnWriter<u8>,
    at: Checkpoint,
    id_bytes: u64,
    url_bytes: u64,
    noted_bytes: u64,
    part_bytes: u64,
    feature_values: Vec<u64>,
}

impl CorpusWriter {
    /// Starts a corpus in `folder`, or goes on with the one of the same plan that is there.
    ///
    /// # Errors
    ///
    /// [`ClusterError::OtherPlan`] if what is there was begun with another plan,
    /// [`ClusterError::Damaged`] if it is not what was written, or if files cannot be written.
    pub fn open(
        folder: &Path,
        feature_count: usize,
        plan: &Value,
        part_bytes: u64,
    ) -> Result<Self, ClusterError> {
        begin_or_continue(folder, plan)?;
        let at = last_checkpoint(folder)?.unwrap_or_default();
        fn column<T: bytemuck::Pod>(
            folder: &Path,
            at: &Checkpoint,
            name: &str,
        ) -> Result<ColumnWriter<T>, ClusterError> {
            ColumnWriter::open(folder.join(name), at.marks.get(name).copied().unwrap_or_default())
        }
        let bytes_of = |name: &str| at.marks.get(name).map_or(0, |mark| mark.bytes);
        let (id_bytes, url_bytes) = (bytes_of("ids"), bytes_of("urls"));
        Ok(CorpusWriter {
            folder: folder.to_owned(),
            keys: column(folder, &at, "keys")?,
            bytes: column(folder, &at, "bytes")?,
            normal: column(folder, &at, "normal")?,
            set: column(folder, &at, "set")?,
            shingles: column(folder, &at, "shingles")?,
            elements: column(folder, &at, "elements")?,
            features: (0..feature_count)
                .map(|number| column(folder, &at, &feature_name(number)))
                .collect::<Result<_, _>>()?,
            ids: column(folder, &at, "ids")?,
            id_ends: column(folder, &at, "id-ends")?,
            urls: column(folder, &at, "urls")?,
            url_ends: column(folder, &at, "url-ends")?,
            super_counts: column(folder, &at, "super-counts")?,
            supers: column(folder, &at, "supers")?,
            rows: column(folder, &at, "rows")?,
            skipped: column(folder, &at, "skipped")?,
            noted_bytes: at.input_bytes,
            part_bytes,
            at,
            id_bytes,
            url_bytes,
            feature_values: Vec::new(),
        })
    }

    /// How far it is.
    #[must_use]
    pub fn at(&self) -> &Checkpoint {
        &self.at
    }

    /// Appends the rows of one item.
    pub(crate) fn append(
        &mut self,
        rows: &ItemRows<Sketches>,
        other: bool,
    ) -> Result<(), ClusterError> {
        let sketches = &rows.output;
        self.at.items += 1;
        self.at.rows += rows.rows.len() as u64;
        self.at.documents += rows.keys.len() as u64;
        if other {
            self.at.others += rows.keys.len() as u64;
        }
        if self.at.documents > MOST_DOCUMENTS {
            return Err(ClusterError::TooMany { most: MOST_DOCUMENTS });
        }
        self.at.skipped += rows.skipped.len() as u64;
        self.at.input_bytes += rows.input_bytes;
        self.at.text_bytes += rows.text_bytes;
        self.keys.extend(&rows.keys)?;
        self.rows.extend(&rows.rows)?;
        self.bytes.extend(&sketches.bytes)?;
        self.normal.extend(&sketches.normal)?;
        self.set.extend(&sketches.set)?;
        self.shingles.extend(&sketches.shingles)?;
        self.elements.extend(&sketches.elements)?;
        let groups = self.features.len();
        for (number, column) in self.features.iter_mut().enumerate() {
            self.feature_values.clear();
            self.feature_values.extend(sketches.features.iter().skip(number).step_by(groups));
            column.extend(&self.feature_values)?;
        }
        self.ids.extend(&rows.ids)?;
        let ends: Vec<u64> = rows.id_ends.iter().map(|end| self.id_bytes + end).collect();
        self.id_ends.extend(&ends)?;
        self.id_bytes += rows.ids.len() as u64;
        self.super_counts.extend(&sketches.super_counts)?;
        self.supers.extend(&sketches.supers)?;
        self.urls.extend(&sketches.urls)?;
        let ends: Vec<u64> = sketches.url_ends.iter().map(|end| self.url_bytes + end).collect();
        self.url_ends.extend(&ends)?;
        self.url_bytes += sketches.urls.len() as u64;
        for skipped in &rows.skipped {
            let mut line = serde_json::to_vec(skipped).expect("two strings and a number are JSON");
            line.push(b'\n');
            self.skipped.extend(&line)?;
        }
        if self.at.input_bytes - self.noted_bytes >= self.part_bytes {
            self.note()?;
        }
        Ok(())
    }

    /// Takes over the sketches of an earlier run, before anything else.
    ///
    /// # Errors
    ///
    /// [`ClusterError::OtherSketches`] if they were made with other parameters, or if they cannot be
    /// read.
    pub fn import(&mut self, folder: &Path, plan: &Value) -> Result<(), ClusterError> {
        let there: Value = read_json(&folder.join(PLAN))?;
        for what in ["bands", "seed", "shingle words", "normal form", "shingle hash"] {
            if there.get(what) != plan.get(what) {
                return Err(ClusterError::OtherSketches { path: folder.to_owned(), what });
            }
        }
        let earlier = Corpus::open(folder)?;
        fn copy<T: bytemuck::Pod>(
            from: &Column<T>,
            to: &mut ColumnWriter<T>,
        ) -> Result<(), ClusterError> {
            from.for_each_piece(|_, piece| to.extend(piece))
        }
        copy(&earlier.keys()?, &mut self.keys)?;
        copy(&earlier.bytes()?, &mut self.bytes)?;
        copy(&earlier.normal()?, &mut self.normal)?;
        copy(&earlier.set()?, &mut self.set)?;
        copy(&earlier.shingles()?, &mut self.shingles)?;
        copy(&earlier.elements()?, &mut self.elements)?;
        for (number, column) in self.features.iter_mut().enumerate() {
            copy(&earlier.feature(number)?, column)?;
        }
        let ids = earlier.ids()?;
        copy(&ids.bytes, &mut self.ids)?;
        ids.ends.for_each_piece(|_, piece| {
            let ends: Vec<u64> = piece.iter().map(|end| self.id_bytes + end).collect();
            self.id_ends.extend(&ends)
        })?;
        self.id_bytes += ids.bytes.len();
        self.at.documents += u64::from(earlier.len());
        self.at.others += u64::from(earlier.len());
        self.at.imported += u64::from(earlier.len());
        if self.at.documents > MOST_DOCUMENTS {
            return Err(ClusterError::TooMany { most: MOST_DOCUMENTS });
        }
        Ok(())
    }

    /// Notes how far every column is.
    fn note(&mut self) -> Result<(), ClusterError> {
        let mut marks = BTreeMap::new();
        marks.insert("keys".to_owned(), self.keys.flush()?);
        marks.insert("bytes".to_owned(), self.bytes.flush()?);
        marks.insert("normal".to_owned(), self.normal.flush()?);
        marks.insert("set".to_owned(), self.set.flush()?);
        marks.insert("shingles".to_owned(), self.shingles.flush()?);
        marks.insert("elements".to_owned(), self.elements.flush()?);
        for (number, column) in self.features.iter_mut().enumerate() {
            marks.insert(feature_name(number), column.flush()?);
        }
        marks.insert("ids".to_owned(), self.ids.flush()?);
        marks.insert("id-ends".to_owned(), self.id_ends.flush()?);
        marks.insert("urls".to_owned(), self.urls.flush()?);
        marks.insert("url-ends".to_owned(), self.url_ends.flush()?);
        marks.insert("super-counts".to_owned(), self.super_counts.flush()?);
        marks.insert("supers".to_owned(), self.supers.flush()?);
        marks.insert("rows".to_owned(), self.rows.flush()?);
        marks.insert("skipped".to_owned(), self.skipped.flush()?);
        self.at.marks = marks;
        self.noted_bytes = self.at.input_bytes;
        let mut line = serde_json::to_vec(&self.at).expect("numbers and strings are JSON");
        line.push(b'\n');
        let path = self.folder.join(PARTS);
        let mut file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(io("open", &path))?;
        file.write_all(&line).map_err(io("write", &path))
    }

    /// The input is at its end.
    ///
    /// # Errors
    ///
    /// If the files cannot be written.
    pub fn finish(mut self) -> Result<Corpus, ClusterError> {
        self.at.complete = true;
        self.note()?;
        Corpus::open(&self.folder)
    }
}

const PARTS: &str = "parts";
const PLAN: &str = "plan.json";

fn feature_name(number: usize) -> String {
    format!("feature-{number:02}")
}

/// Makes the folder with its plan, or compares the plan of the folder that is there.
pub(crate) fn begin_or_continue(folder: &Path, plan: &Value) -> Result<(), ClusterError> {
    std::fs::create_dir_all(folder).map_err(io("make", folder))?;
    let path = folder.join(PLAN);
    if path.exists() {
        let there: Value = read_json(&path)?;
        return match first_difference(&there, plan) {
            None => Ok(()),
            Some(what) => Err(ClusterError::OtherPlan { path: folder.to_owned(), what }),
        };
    }
    write_whole(&path, &serde_json::to_vec_pretty(plan).expect("a JSON value is JSON"))
}

fn first_difference(one: &Value, other: &Value) -> Option<String> {
    let (Value::Object(one), Value::Object(other)) = (one, other) else {
        return (one != other).then(|| "plan".to_owned());
    };
    one.keys().chain(other.keys()).find(|key| one.get(*key) != other.get(*key)).cloned()
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, ClusterError> {
    let bytes = std::fs::read(path).map_err(io("read", path))?;
    serde_json::from_slice(&bytes).map_err(|_| ClusterError::Damaged { path: path.to_owned() })
}

/// Writes a small file so that it is there whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ClusterError> {
    let partial = path.with_extension("partial");
    let mut file = std::fs::File::create(&partial).map_err(io("write", &partial))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(io("write", &partial))?;
    std::fs::rename(&partial, path).map_err(io("write", path))
}

/// The last whole line of the notes: a killed process may leave half of one.
fn last_checkpoint(folder: &Path) -> Result<Option<Checkpoint>, ClusterError> {
    let path = folder.join(PARTS);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read(&path).map_err(io("read", &path))?;
    let whole: Vec<&[u8]> =
        text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")).collect();
    let last = whole.iter().rev().find_map(|line| serde_json::from_slice(line).ok());
    // What follows the last note is rewritten, so that notes stay whole lines.
    write_whole(&path, &whole.concat())?;
    Ok(last)
}

/// A corpus that was read to its end.
#[derive(Debug)]
pub struct Corpus {
    folder: PathBuf,
    at: Checkpoint,
    feature_count: usize,
}

impl Corpus {
    /// Opens a corpus that was read to its end.
    ///
    /// # Errors
    ///
    /// [`ClusterError::NotARun`] if there is none.
    pub fn open(folder: &Path) -> Result<Self, ClusterError> {
        let not = || ClusterError::NotARun {
            path: folder.to_owned(),
            what: "the sketches of a finished run",
        };
        if !folder.join(PARTS).exists() {
            return Err(not());
        }
        let at = last_checkpoint(folder)?.filter(|at| at.complete).ok_or_else(not)?;
        let feature_count = at.marks.keys().filter(|name| name.starts_with("feature-")).count();
        Ok(Corpus { folder: folder.to_owned(), at, feature_count })
    }

    /// What was read.
    #[must_use]
    pub fn read(&self) -> &Checkpoint {
        &self.at
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.at.documents as u32
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at.documents == 0
    }

    /// How many features every document has.
    #[must_use]
    pub fn feature_count(&self) -> usize {
        self.feature_count
    }

    fn column<T: bytemuck::Pod>(&self, name: &str) -> Result<Column<T>, ClusterError> {
        Column::open(self.folder.join(name))
    }

    /// The keys by which documents are put in order.
    ///
    /// # Errors
    ///
    /// If the column cannot be read; so for the following.
    pub fn keys(&self) -> Result<Column<u64>, ClusterError> {
        self.column("keys")
    }

    /// The fingerprints of the documents' bytes.
    ///
    /// # Errors
    ///
    /// If the column cannot be read.
    pub fn bytes(&self) -> Result<Column<u64>, ClusterError> {
        self.column("bytes")
    }

    /// The fingerprints of the normal forms.
    ///
    /// # Errors
    ///
    /// If the column cannot be read.
    pub fn normal(&self) -> Result<Column<u64>, ClusterError> {
        self.column("normal")
    }

    /// The fingerprints of the sets of shingles.
    ///
    /// # Errors
    ///
    /// If the column cannot be read.
    pub fn set(&self) -> Result<Column<u64>, ClusterError> {
        self.column("set")
    }

    /// The numbers of different shingles.
    ///
    /// # Errors
    ///
    /// If the column cannot be read.
    pub fn shingles(&self) -> Result<Column<u32>, ClusterError> {
        self.column("shingles")
    }

    /// The shingles of all documents, one document after another.
    ///
    /// # Errors
    ///
    /// If the column cannot be read.
    pub fn elements(&self) -> Result<Column<u64>, ClusterError> {
        self.column("elements")
    }

    /// One feature of every document.
    ///
    /// # Errors
    ///
    /// If the column cannot be read.
    pub fn feature(&self, number: usize) -> Result<Column<u64>, ClusterError> {
        self.column(&feature_name(number))
    }

    /// The super-shingles of all documents: how many each has, and all of them.
    ///
    /// # Errors
    ///
    /// If the columns cannot be read.
    pub fn supers(&self) -> Result<(Column<u32>, Column<u64>), ClusterError> {
        Ok((self.column("super-counts")?, self.column("supers")?))
    }

    /// The file of a column.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// For each row of the input, whether it is a document.
    ///
    /// # Errors
    ///
    /// If the column cannot be read.
    pub fn rows(&self) -> Result<Column<u8>, ClusterError> {
        self.column("rows")
    }

    /// The ids of the documents.
    ///
    /// # Errors
    ///
    /// If the columns cannot be read.
    pub fn ids(&self) -> Result<Ids, ClusterError> {
        Ok(Ids { bytes: self.column("ids")?, ends: self.column("id-ends")? })
    }

    /// The first `most` rows and files that are no documents.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn skipped(&self, most: usize) -> Result<Vec<Skipped>, ClusterError> {
        let path = self.folder.join("skipped");
        let text = std::fs::read_to_string(&path).map_err(io("read", &path))?;
        text.lines()
            .take(most)
            .map(|line| {
                serde_json::from_str(line).map_err(|_| ClusterError::Damaged { path: path.clone() })
            })
            .collect()
    }
}

/// The ids of the documents of a corpus.
#[derive(Debug)]
pub struct Ids {
    bytes: Column<u8>,
    ends: Column<u64>,
}

impl Ids {
    /// The id of a document.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn get(&self, document: u32) -> Result<String, ClusterError> {
        let document = u64::from(document);
        let start = if document == 0 { 0 } else { self.ends.get(document - 1)? };
        let end = self.ends.get(document)?;
        let mut bytes = vec![0; (end - start) as usize];
        self.bytes.read_at(start, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Calls `each` with every document and its id, in order.
    ///
    /// # Errors
    ///
    /// If the ids cannot be read, or the first error of `each`.
    pub fn for_each(
        &self,
        mut each: impl FnMut(u32, &str) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        let mut piece = Vec::new();
        let mut ends = vec![0; 4096];
        let (mut document, mut start) = (0_u64, 0_u64);
        while document < self.ends.len() {
            let count = ends.len().min((self.ends.len() - document) as usize);
            self.ends.read_at(document, &mut ends[..count])?;
            piece.resize((ends[count - 1] - start) as usize, 0);
            self.bytes.read_at(start, &mut piece)?;
            let mut from = 0;
            for (&end, number) in ends[..count].iter().zip(document..) {
                let to = (end - start) as usize;
                each(number as u32, &String::from_utf8_lossy(&piece[from..to]))?;
                from = to;
            }
            start = ends[count - 1];
            document += count as u64;
        }
        Ok(())
    }
}
