//! R1D3: one R*-tree of three dimensions for all pairs of features.
//!
//! Section 3.3.3 of the paper: each original is fifteen points `(number of the pair, f_i, f_j)` in one
//! tree; the fifteen points of the document that is asked about are looked up in order, and the first
//! one that is there ends the search. The number of the pair is a coordinate as it is, from 1 to 15:
//! beside features of 32 bits it is so small that the tree hardly ever splits by it.
//!
//! Cost: one to fifteen descents in a tree of fifteen times as many points, with fewer of them in a
//! node. As in R15D2, a node is a row of a table.

use rusqlite::Connection;

use super::trees::{Done, Inspect, Judge, TreeError, Trees, judge_found, row_from_sql};
use super::{PAIRS, Six, coordinate};
use crate::Row;

/// One `rtree_i32` table.
#[derive(Debug)]
pub struct OneRTree {}

const INSERT: &str = "INSERT INTO pairs VALUES (?1, ?2, ?2, ?3, ?3, ?4, ?4)";
const REMOVE: &str = "DELETE FROM pairs WHERE id = ?1";
const SEARCH: &str = "SELECT id FROM pairs WHERE pair = ?1 AND first = ?2 AND second = ?3";

/// Every point needs an id of its own: sixteen for each row, of which fifteen are used.
const IDS_EACH: i64 = 16;

/// The numbers of the pairs, from 1.
fn points(features: &Six) -> impl Iterator<Item = (i32, i32, i32)> {
    (1..).zip(PAIRS).map(|(number, (first, second))| {
        (number, coordinate(features[first]), coordinate(features[second]))
    })
}

fn id(row: Row, number: i32) -> i64 {
    i64::from(row.0) * IDS_EACH + i64::from(number)
}

fn row_of(id: i64) -> Result<Row, TreeError> {
    row_from_sql(id.div_euclid(IDS_EACH))
}

impl Trees for OneRTree {
    const NAME: &'static str = "R1D3";
    const ENTRIES: u64 = PAIRS.len() as u64;

    fn new() -> Self {
        OneRTree {}
    }

    fn create(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute_batch(
            "CREATE VIRTUAL TABLE pairs
             USING rtree_i32(id, pair, pair_end, first, first_end, second, second_end)",
        )
    }

    fn insert(&self, connection: &Connection, row: Row, features: &Six) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(INSERT)?;
        for (number, first, second) in points(features) {
            insert.execute((id(row, number), number, first, second))?;
        }
        Ok(())
    }

    fn remove(&self, connection: &Connection, row: Row, _: &Six) -> rusqlite::Result<bool> {
        let mut remove = connection.prepare_cached(REMOVE)?;
        let mut removed = 0;
        for (number, _) in (1..).zip(PAIRS) {
            removed += remove.execute([id(row, number)])?;
        }
        Ok(removed == PAIRS.len())
    }

    fn search(&self, connection: &Connection, features: &Six, judge: &mut Judge<'_>) -> Done {
        let mut select = connection.prepare_cached(SEARCH)?;
        for point in points(features) {
            if judge_found(select.query(point)?, row_of, judge)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn for_each_entry(&self, connection: &Connection, each: &mut Inspect<'_>) -> Done {
        let mut select = connection.prepare("SELECT * FROM pairs")?;
        let mut entries = select.query([])?;
        while let Some(entry) = entries.next()? {
            let number_of_point: i64 = entry.get(0)?;
            let box_of_point: [i32; 6] = [
                entry.get(1)?,
                entry.get(2)?,
                entry.get(3)?,
                entry.get(4)?,
                entry.get(5)?,
                entry.get(6)?,
            ];
            let row = row_of(number_of_point)?;
            each(row, &|features| {
                points(features).any(|(number, first, second)| {
                    id(row, number) == number_of_point
                        && box_of_point == [number, number, first, first, second, second]
                })
            })?;
        }
        Ok(())
    }
}
