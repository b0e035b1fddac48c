//! Single texts and columns of pages: core text, words, shingles, comparisons.
//!
//! What a page or a comparison holds is made by the libraries and handed over as JSON, which `python/wonbon`
//! turns into its own types: so the fields are those that the program and the service have.

use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyString};
use serde_json::{Value, json};
use wonbon_app::compare::{CompareConfig, ComparedTexts, TextToCompare};
use wonbon_documents::is_binary;
use wonbon_documents::ordered::for_each_ordered;
use wonbon_progress::Progress;
use wonbon_sketch::FeatureParams;
use wonbon_store::Rule;
use wonbon_text::difference::difference;
use wonbon_text::extract::{CoreText, Page, core_text, extract as extract_page};

use crate::columns::{Cell, ColumnPieces, Rows, Wanted};
use crate::failure::Failure;
use crate::input::Arrays;
use crate::options;
use crate::sketches::Numbers;
use crate::table::Table;
use crate::watched;

/// A page as the program reads it: a text that is no HTML is left as it is.
fn read(cell: Cell<'_>, url: Option<&str>) -> CoreText {
    match cell {
        Cell::Nothing => core_text(b"", None, url),
        // Decoded already: what is text stays the text it is, byte order marks and all.
        Cell::Text(text) if !wonbon_text::decode::looks_like_html(text) => CoreText {
            page: Page { text: text.to_owned(), ..Page::default() },
            charset: "UTF-8",
            malformed: false,
            is_html: false,
        },
        Cell::Text(text) => CoreText {
            page: extract_page(text, url),
            charset: "UTF-8",
            malformed: false,
            is_html: true,
        },
        Cell::Bytes(bytes) => core_text(bytes, None, url),
    }
}

/// Bytes in any charset as text, as those of a column are read; none if they are no text.
#[pyfunction]
pub(crate) fn decode(py: Python<'_>, bytes: &[u8]) -> Option<String> {
    py.detach(|| {
        (!is_binary(bytes)).then(|| wonbon_text::decode::decode(bytes, None).text.into_owned())
    })
}

/// The core text of a page and what it says of itself, as JSON.
#[pyfunction]
#[pyo3(signature = (page, url = None))]
pub(crate) fn extract_json(
    py: Python<'_>,
    page: &Bound<'_, PyAny>,
    url: Option<&Bound<'_, PyAny>>,
) -> Result<String, Failure> {
    let copied;
    let cell = if page.is_instance_of::<PyString>() {
        Cell::Text(options::text("page", page)?)
    } else if let Ok(bytes) = page.extract::<&[u8]>() {
        Cell::Bytes(bytes)
    } else if let Ok(bytes) = page.cast::<PyByteArray>() {
        copied = bytes.to_vec();
        Cell::Bytes(&copied)
    } else {
        let kind = crate::input::name_of(page);
        return Err(Failure::request(format!("a page is a `str` or `bytes`, not {kind}")));
    };
    let url = url.map(|url| options::text("url", url)).transpose()?;
    let core = py.detach(|| read(cell, url));
    let links: Vec<Value> =
        core.page.links.iter().map(|link| json!({"url": link.url, "text": link.text})).collect();
    let page = &core.page;
    Ok(json!({
        "text": page.text, "title": page.title, "language": page.language,
        "published": page.published, "canonical": page.canonical, "charset": core.charset,
        "is_html": core.is_html, "malformed": core.malformed, "links": links,
    })
    .to_string())
}

/// The core text of every page of a column: text, title, language, published, canonical.
#[pyfunction]
#[pyo3(signature = (pages, *, urls = None, threads = None, progress = None))]
pub(crate) fn extract_column(
    py: Python<'_>,
    pages: &Bound<'_, PyAny>,
    urls: Option<&Bound<'_, PyAny>>,
    threads: Option<i64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> Result<Table, Failure> {
    let threads = options::threads(threads)?;
    let mut pages =
        ColumnPieces::new(Arrays::of(pages, "pages")?, "the column of pages", Wanted::Pages);
    let urls = urls.map(|urls| Arrays::of(urls, "urls")).transpose()?;
    let mut urls = Urls::new(urls);
    let field = |name, kind| Field::new(name, kind, true);
    let described = |name| field(name, DataType::Utf8);
    let schema = Arc::new(Schema::new(vec![
        field("text", DataType::LargeUtf8),
        described("title"),
        described("language"),
        described("published"),
        described("canonical"),
    ]));
    watched::run(py, progress, |watched| {
        watched.begin("extract", 0);
        let (mut batches, mut done) = (Vec::new(), 0);
        for_each_ordered(
            threads,
            |(rows, addresses): &mut (Rows, Vec<Option<String>>)| {
                if watched.stop_asked() {
                    return Err(Failure::Stopped);
                }
                if !pages.next_into(rows)? {
                    return urls.end().map(|()| false);
                }
                urls.next_into(rows.len(), addresses)?;
                Ok(true)
            },
            || (),
            |(), (rows, addresses)| {
                let mut columns = PageColumns::default();
                for (at, page) in rows.iter().enumerate() {
                    let url = addresses.get(at).and_then(Option::as_deref);
                    columns.push(page, url);
                }
                columns
            },
            |columns: PageColumns| {
                let batch = RecordBatch::try_new(Arc::clone(&schema), columns.finish())?;
                done += batch.num_rows() as u64;
                watched.advance(done);
                batches.push(batch);
                Ok(())
            },
        )?;
        Ok(Table::new(Arc::clone(&schema), batches))
    })
}

#[derive(Default)]
struct PageColumns {
    text: LargeStringBuilder,
    described: [StringBuilder; 4],
}

impl PageColumns {
    fn push(&mut self, page: Cell<'_>, url: Option<&str>) {
        let Page { text, title, language, published, canonical, .. } = read(page, url).page;
        self.text.append_value(text);
        let described = self.described.iter_mut().zip([title, language, published, canonical]);
        described.for_each(|(column, value)| column.append_option(value));
    }

    fn finish(mut self) -> Vec<ArrayRef> {
        let text: ArrayRef = Arc::new(self.text.finish());
        let described = self.described.iter_mut().map(|one| Arc::new(one.finish()) as ArrayRef);
        std::iter::once(text).chain(described).collect()
    }
}

/// The addresses that stand beside pages.
struct Urls {
    pieces: Option<ColumnPieces>,
    rows: Rows,
    taken: usize,
}

impl Urls {
    fn new(arrays: Option<Arrays>) -> Self {
        let pieces =
            arrays.map(|arrays| ColumnPieces::new(arrays, "the column of urls", Wanted::Texts));
        Urls { pieces, rows: Rows::default(), taken: 0 }
    }

    /// The addresses of the next pages.
    fn next_into(
        &mut self,
        pages: usize,
        addresses: &mut Vec<Option<String>>,
    ) -> Result<(), Failure> {
        addresses.clear();
        let Some(pieces) = &mut self.pieces else { return Ok(()) };
        while addresses.len() < pages {
            if self.taken == self.rows.len() {
                self.taken = 0;
                if !pieces.next_into(&mut self.rows)? {
                    return Err(Failure::column("there are more pages than urls"));
                }
            }
            let cell = self.rows.get(self.taken);
            addresses.push(cell.text().filter(|url| !url.is_empty()).map(str::to_owned));
            self.taken += 1;
        }
        Ok(())
    }

    /// Whether they ended with the pages.
    fn end(&mut self) -> Result<(), Failure> {
        let Some(pieces) = &mut self.pieces else { return Ok(()) };
        if self.taken < self.rows.len() || pieces.next_into(&mut self.rows)? {
            return Err(Failure::column("there are more urls than pages"));
        }
        Ok(())
    }
}

/// The words of a text in normal form.
#[pyfunction]
pub(crate) fn words(py: Python<'_>, text: &Bound<'_, PyAny>) -> Result<Vec<String>, Failure> {
    let text = options::text("text", text)?;
    Ok(py.detach(|| {
        let mut words = Vec::new();
        wonbon_text::words::for_each_word(text, |word| words.push(word.to_owned()));
        words
    }))
}

/// The hashes of the shingles of a text, in order and with repetitions.
#[pyfunction]
#[pyo3(signature = (text, *, shingle = None))]
pub(crate) fn shingles(
    py: Python<'_>,
    text: &Bound<'_, PyAny>,
    shingle: Option<i64>,
) -> Result<Numbers, Failure> {
    let text = options::text("text", text)?;
    let words = options::shingle_words(shingle)?;
    let found = py.detach(|| wonbon_text::shingles::shingles(text, words));
    Ok(Numbers::new(UInt64Array::from(found)))
}

/// How much two texts share, as JSON: what `wonbon compare --json` prints.
#[pyfunction]
#[pyo3(signature = (a, b, *, shingle = None, rule = None, seed = None, diff = false))]
pub(crate) fn compare_json(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    shingle: Option<i64>,
    rule: Option<&str>,
    seed: Option<&Bound<'_, PyAny>>,
    diff: bool,
) -> Result<String, Failure> {
    let (a, b) = (options::text("a", a)?, options::text("b", b)?);
    let rule: Rule = match rule {
        Some(rule) => {
            rule.parse().map_err(|error| Failure::request(format!("`{rule}`: {error}")))?
        }
        None => Rule::default(),
    };
    let config = CompareConfig {
        shingle_words: options::shingle_words(shingle)?,
        features: FeatureParams { seed: options::seed(seed)?, ..FeatureParams::default() },
        rule,
    };
    py.detach(|| {
        let texts = [("a", a), ("b", b)].map(|(name, text)| TextToCompare {
            name,
            bytes: text.as_bytes(),
            text,
        });
        let compared = ComparedTexts::of(texts, &config)?;
        let found = diff.then(|| difference(a, b));
        let answer = serde_json::to_string(&compared.answer(found.as_ref()));
        answer.map_err(|error| Failure::request(error.to_string()))
    })
}
