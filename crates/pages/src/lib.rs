//! Pieces of self-contained HTML pages: the frame, cards, tables, plots, differences of texts.
//!
//! Reports of batch jobs, pages the program writes and pages the server sends look alike and must
//! be safe in the same way, so their pieces live in one place. A page is one file: its style sheet
//! is inside, it asks for nothing else, it needs no script, it reads by day, by night, on paper and
//! on a telephone, and what a picture shows is also there in words.
//!
//! [`Page`] is filled from top to bottom:
//!
//! ```
//! use wonbon_pages::{Cell, Moment, Page, Scale, Series, Shape, TimePlot};
//!
//! let mut page = Page::new("sweeps");
//! page.heading("Two sweeps");
//! page.table(&["site", "documents"], &[vec!["a.example".into(), Cell::from(1200_u64)]]);
//! let day = 86_400_000_000; // moments are in microseconds, like the store's
//! page.time_plot(&TimePlot {
//!     title: "Births and deaths",
//!     moments: "sweep",
//!     values: "documents",
//!     scale: Scale::Counts,
//!     shape: Shape::Lines,
//!     points: &[Moment::new(0, "2026-11-01"), Moment::new(7 * day, "2026-11-08")],
//!     series: &[
//!         Series::new("born", [Some(12.0), Some(3.0)]),
//!         Series::new("died", [None, Some(2.0)]), // nobody knows of the first sweep
//!     ],
//! });
//! let html = page.finish();
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("1\u{202F}200"));
//! ```
//!
//! | piece | call |
//! |---|---|
//! | headings, paragraphs | [`Page::heading`], [`Page::subheading`], [`Page::lead`], [`Page::paragraph`] |
//! | numbers on cards | [`Page::cards`] |
//! | a table | [`Page::table`], of [`Cell`]s |
//! | horizontal bars: a histogram | [`Page::bars`] |
//! | lines or grouped bars over time | [`Page::time_plot`], of [`Series`] at [`Moment`]s |
//! | where two texts differ, in one paragraph | [`Page::differences`] |
//! | two texts beside each other | [`Page::side_by_side`], or the whole page: [`comparison_page`] |
//! | parts of one as bars | [`Page::shares`] |
//! | parts of a page | [`Page::columns`], [`Page::section`], [`Page::details`] |
//! | one's own markup | [`Page::markup`], [`Page::within`], made with maud's `html!` |
//!
//! Guarantee: text is escaped, by maud, wherever it is put in. `PreEscaped` stands only around what is
//! ours and constant (the style sheet) and around what `html!` has made.
//!
//! Cost: time and memory of the page's length; a difference costs what
//! [`wonbon_text::difference`] does.
//!
//! Not here: what a page says (`wonbon-cluster`, the program, the server), routes, scripts.

mod bars;
mod differences;
mod numbers;
mod page;
mod side_by_side;
mod time_plot;
mod wording;

pub use numbers::{bytes, thousands};
pub use page::{Card, Cell, Page, STYLE, finish_markup};
pub use side_by_side::{Compared, Shared, comparison_page};
pub use time_plot::{Moment, Scale, Series, Shape, TimePlot};
pub use wording::{ENGLISH, KOREAN, Wording, fill, fill_markup};
