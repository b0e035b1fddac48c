//! R15D2: an R*-tree of two dimensions for each pair of features.
//!
//! Section 3.3.2 of the paper: each original is a point `(f_i, f_j)` in tree (i, j). The fifteen
//! points of the document that is asked about are looked up in the trees' order; the first one that
//! is there ends the search.
//!
//! Cost: one to fifteen descents, each along every branch whose rectangle holds the point. A node of
//! SQLite's R*-tree is a row of a table, found through that table's own B-tree: reading one node of
//! a large tree takes two or three pages where the paper's took one.

use rusqlite::Connection;

use super::trees::{Done, Inspect, Judge, Trees, for_each_tree, judge_found, row_from_sql};
use super::{PAIRS, Six, coordinate};
use crate::Row;

const TREES: usize = PAIRS.len();

/// An `rtree_i32` table for each pair; the id of a point is its row.
#[derive(Debug)]
pub struct FifteenRTrees {
    insert: [String; TREES],
    remove: [String; TREES],
    search: [String; TREES],
}

fn point(features: &Six, pair: (usize, usize)) -> (i32, i32) {
    (coordinate(features[pair.0]), coordinate(features[pair.1]))
}

impl Trees for FifteenRTrees {
    const NAME: &'static str = "R15D2";
    const ENTRIES: u64 = TREES as u64;

    fn new() -> Self {
        FifteenRTrees {
            insert: for_each_tree(|tree| {
                format!("INSERT INTO pair_{tree} VALUES (?1, ?2, ?2, ?3, ?3)")
            }),
            remove: for_each_tree(|tree| format!("DELETE FROM pair_{tree} WHERE id = ?1")),
            search: for_each_tree(|tree| {
                format!("SELECT id FROM pair_{tree} WHERE first = ?1 AND second = ?2")
            }),
        }
    }

    fn create(&self, connection: &Connection) -> rusqlite::Result<()> {
        (1..=TREES).try_for_each(|tree| {
            connection.execute_batch(&format!(
                "CREATE VIRTUAL TABLE pair_{tree}
                 USING rtree_i32(id, first, first_end, second, second_end)"
            ))
        })
    }

    fn insert(&self, connection: &Connection, row: Row, features: &Six) -> rusqlite::Result<()> {
        for (statement, pair) in self.insert.iter().zip(PAIRS) {
            let (first, second) = point(features, pair);
            connection.prepare_cached(statement)?.execute((row.0, first, second))?;
        }
        Ok(())
    }

    /// Tree by tree, so that one tree at a time is in the cache; each gets its points in the order
    /// of arrival, and so is the tree that insertion one by one would have made.
    fn load(&self, connection: &Connection, originals: &mut [(Row, Six)]) -> rusqlite::Result<()> {
        for (statement, pair) in self.insert.iter().zip(PAIRS) {
            let mut insert = connection.prepare_cached(statement)?;
            for (row, features) in &*originals {
                let (first, second) = point(features, pair);
                insert.execute((row.0, first, second))?;
            }
        }
        Ok(())
    }

    fn remove(&self, connection: &Connection, row: Row, _: &Six) -> rusqlite::Result<bool> {
        let mut removed = 0;
        for statement in &self.remove {
            removed += connection.prepare_cached(statement)?.execute([row.0])?;
        }
        Ok(removed == TREES)
    }

    fn search(&self, connection: &Connection, features: &Six, judge: &mut Judge<'_>) -> Done {
        for (statement, pair) in self.search.iter().zip(PAIRS) {
            let mut select = connection.prepare_cached(statement)?;
            let found = select.query(point(features, pair))?;
            if judge_found(found, row_from_sql, judge)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn for_each_entry(&self, connection: &Connection, each: &mut Inspect<'_>) -> Done {
        for (number, pair) in PAIRS.into_iter().enumerate() {
            let tree = number + 1;
            let mut select = connection.prepare(&format!("SELECT * FROM pair_{tree}"))?;
            let mut entries = select.query([])?;
            while let Some(entry) = entries.next()? {
                let box_of_point: [i32; 4] =
                    [entry.get(1)?, entry.get(2)?, entry.get(3)?, entry.get(4)?];
                each(row_from_sql(entry.get(0)?)?, &|features| {
                    let (first, second) = point(features, pair);
                    box_of_point == [first, first, second, second]
                })?;
            }
        }
        Ok(())
    }
}
