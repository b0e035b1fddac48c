//! Full-text search over originals: a disposable index that catches up.
//!
//! The store keeps the truth; this keeps postings. Whoever owns the documents puts them in under their
//! row, commits with a *mark* (how far it has come in its own log), and after a crash, a damage or a
//! change of definition reads the mark at open and puts in again what follows it. So nothing here needs
//! to be repaired: what is doubtful is wiped and begins at mark 0.
//!
//! ```
//! use wonbon_search::{Page, Query, SearchConfig, SearchDocument, SearchIndex, Snippets};
//!
//! let dir = tempfile::tempdir()?;
//! let mut opened = SearchIndex::open(dir.path(), "store 7", &SearchConfig::default())?;
//! assert_eq!(opened.mark, 0);
//! let text = "형태소 분석 없이 한국어를 찾는다";
//! opened.index.put(&SearchDocument { row: 1, text, title: Some("Bigrams"), ..Default::default() })?;
//! opened.index.commit(1)?;
//!
//! let query = Query::parse("한국어 title:bigrams")?;
//! let found = opened.index.reader().search(&query, Page { offset: 0, limit: 10 })?;
//! assert_eq!((found.total, found.hits[0].row), (1, 1));
//! let shown = Snippets::new(&query, 100).of_text(text).to_html();
//! assert_eq!(shown, "형태소 분석 없이 <mark>한국어</mark>를 찾는다");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is found is defined in [`units`], what may be asked in [`Query`]. Bodies are not stored here: a
//! hit is a row and a score, and a snippet is made from the text that the caller reads from its store.
//!
//! Not here: the documents, which of them are originals, and when to commit (`wonbon-store`).

#![warn(unreachable_pub)]

mod compile;
mod directory;
mod document;
mod either;
mod error;
mod index;
mod marks;
mod merging;
mod payload;
mod query;
mod reader;
mod row_set;
mod schema;
mod snippet;
mod steady;
mod tokenizer;
mod top;
pub mod units;

pub use document::SearchDocument;
pub use error::SearchError;
pub use index::{Opened, Rebuilt, SearchConfig, SearchIndex};
pub use query::{QUERY_CHARACTERS_MAX, QUERY_WORDS_MAX, Query, QueryError};
pub use reader::{DEPTH_MAX, Found, Hit, Page, QUERY_TIME, SearchReader};
pub use snippet::{Snippet, Snippets};
