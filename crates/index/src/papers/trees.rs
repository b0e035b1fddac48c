//! What B6D1, R15D2 and R1D3 differ in: which trees there are and how they are searched.

use std::ops::ControlFlow;

use rusqlite::{Connection, Rows};

use super::Six;
use crate::Row;

/// What to do with an original that a search came upon: go on, or stop searching.
pub(crate) type Judge<'a> = dyn FnMut(Row) -> Result<ControlFlow<()>, TreeError> + 'a;

/// What looks at an entry of a tree: its row, and whether an original of given features has it.
pub(crate) type Inspect<'a> = dyn FnMut(Row, &dyn Fn(&Six) -> bool) -> Result<(), TreeError> + 'a;

/// The end of a walk over trees, or what stopped it.
pub(crate) type Done = Result<(), TreeError>;

/// Why a tree could not be read or changed. The file adds its name and what was being done.
#[derive(Debug)]
pub enum TreeError {
    /// SQLite refused.
    Sqlite(rusqlite::Error),
    /// The trees contradict themselves or the table of originals.
    Damaged(&'static str),
}

impl From<rusqlite::Error> for TreeError {
    fn from(error: rusqlite::Error) -> Self {
        TreeError::Sqlite(error)
    }
}

/// The trees of one index; [`SqliteIndex`](super::SqliteIndex) keeps the transactions. There are three, and not meant to be
/// more.
pub trait Trees: std::fmt::Debug {
    /// The papers' name.
    const NAME: &'static str;
    /// How many entries an original has in all trees.
    const ENTRIES: u64;

    /// Prepares the words of the statements.
    fn new() -> Self;

    /// Creates the trees, empty.
    fn create(&self, connection: &Connection) -> rusqlite::Result<()>;

    /// Adds an original to every tree.
    fn insert(&self, connection: &Connection, row: Row, features: &Six) -> rusqlite::Result<()>;

    /// Adds many, in whatever order is fastest.
    fn load(&self, connection: &Connection, originals: &mut [(Row, Six)]) -> rusqlite::Result<()> {
        originals.iter().try_for_each(|(row, features)| self.insert(connection, *row, features))
    }

    /// Removes an original from every tree; returns whether it was in all of them.
    fn remove(&self, connection: &Connection, row: Row, features: &Six) -> rusqlite::Result<bool>;

    /// Hands over the originals that seem to agree in two places, in the papers' order, until told
    /// to stop. One may come more than once.
    fn search(&self, connection: &Connection, features: &Six, judge: &mut Judge<'_>) -> Done;

    /// Hands over every entry of every tree.
    fn for_each_entry(&self, connection: &Connection, each: &mut Inspect<'_>) -> Done;
}

/// One statement for each tree, from its number that starts with 1.
pub(super) fn for_each_tree<const N: usize>(statement: impl Fn(usize) -> String) -> [String; N] {
    std::array::from_fn(|number| statement(number + 1))
}

/// Hands over the originals of the points that a search found, until told to stop.
pub(super) fn judge_found(
    mut found: Rows<'_>,
    row_of: impl Fn(i64) -> Result<Row, TreeError>,
    judge: &mut Judge<'_>,
) -> Result<ControlFlow<()>, TreeError> {
    while let Some(id) = found.next()? {
        if judge(row_of(id.get(0)?)?)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// A row as it stands in the database.
pub(super) fn row_from_sql(number: i64) -> Result<Row, TreeError> {
    u32::try_from(number).map(Row).map_err(|_| TreeError::Damaged("a tree has an impossible row"))
}
