//! B6D1: a B-tree for each feature.
//!
//! Section 3.3.1 of the paper: the trees are asked one after another for the rows that have this
//! feature, and the rows of tree j are compared with those of every tree i before it; the first row
//! that is in two lists ends the search. Lists come in ascending order from the tree, so they are
//! merged rather than compared each with each.
//!
//! Cost: two to six descents, plus the length of the lists. A feature that many originals share, such as that of a
//! template, has a long list: the paper's figure 2 shows this weakness.

use std::cmp::Ordering;

use rusqlite::Connection;

use super::trees::{Done, Inspect, Judge, Trees, for_each_tree, row_from_sql};
use super::{FEATURES, Six, coordinate};
use crate::Row;

/// A table for each feature, of which nothing is kept but the key: (feature, row).
#[derive(Debug)]
pub struct SixBTrees {
    insert: [String; FEATURES],
    remove: [String; FEATURES],
    search: [String; FEATURES],
}

impl Trees for SixBTrees {
    const NAME: &'static str = "B6D1";
    const ENTRIES: u64 = FEATURES as u64;

    fn new() -> Self {
        SixBTrees {
            insert: for_each_tree(|tree| format!("INSERT INTO feature_{tree} VALUES (?1, ?2)")),
            remove: for_each_tree(|tree| {
                format!("DELETE FROM feature_{tree} WHERE feature = ?1 AND row = ?2")
            }),
            search: for_each_tree(|tree| {
                format!("SELECT row FROM feature_{tree} WHERE feature = ?1 ORDER BY row")
            }),
        }
    }

    fn create(&self, connection: &Connection) -> rusqlite::Result<()> {
        (1..=FEATURES).try_for_each(|tree| {
            connection.execute_batch(&format!(
                "CREATE TABLE feature_{tree}(feature INTEGER NOT NULL, row INTEGER NOT NULL,
                 PRIMARY KEY (feature, row)) WITHOUT ROWID, STRICT"
            ))
        })
    }

    fn insert(&self, connection: &Connection, row: Row, features: &Six) -> rusqlite::Result<()> {
        for (statement, feature) in self.insert.iter().zip(features) {
            connection.prepare_cached(statement)?.execute((coordinate(*feature), row.0))?;
        }
        Ok(())
    }

    /// Tree by tree in the order of its keys: every page is filled and left.
    fn load(&self, connection: &Connection, originals: &mut [(Row, Six)]) -> rusqlite::Result<()> {
        for (place, statement) in self.insert.iter().enumerate() {
            originals.sort_unstable_by_key(|(row, features)| (coordinate(features[place]), *row));
            let mut insert = connection.prepare_cached(statement)?;
            for (row, features) in &*originals {
                insert.execute((coordinate(features[place]), row.0))?;
            }
        }
        Ok(())
    }

    fn remove(&self, connection: &Connection, row: Row, features: &Six) -> rusqlite::Result<bool> {
        let mut removed = 0;
        for (statement, feature) in self.remove.iter().zip(features) {
            removed +=
                connection.prepare_cached(statement)?.execute((coordinate(*feature), row.0))?;
        }
        Ok(removed == FEATURES)
    }

    fn search(&self, connection: &Connection, features: &Six, judge: &mut Judge<'_>) -> Done {
        let mut lists: [Vec<Row>; FEATURES] = Default::default();
        for (place, statement) in self.search.iter().enumerate() {
            let mut select = connection.prepare_cached(statement)?;
            let mut found = select.query([coordinate(features[place])])?;
            let mut list = Vec::new();
            while let Some(row) = found.next()? {
                list.push(row_from_sql(row.get(0)?)?);
            }
            for earlier in &lists[..place] {
                for row in in_both(earlier, &list) {
                    if judge(row)?.is_break() {
                        return Ok(());
                    }
                }
            }
            lists[place] = list;
        }
        Ok(())
    }

    fn for_each_entry(&self, connection: &Connection, each: &mut Inspect<'_>) -> Done {
        for place in 0..FEATURES {
            let tree = place + 1;
            let mut select =
                connection.prepare(&format!("SELECT feature, row FROM feature_{tree}"))?;
            let mut entries = select.query([])?;
            while let Some(entry) = entries.next()? {
                let (at, row): (i64, i64) = (entry.get(0)?, entry.get(1)?);
                each(row_from_sql(row)?, &|features| i64::from(coordinate(features[place])) == at)?;
            }
        }
        Ok(())
    }
}

/// The rows of both lists, which ascend.
fn in_both<'a>(left: &'a [Row], right: &'a [Row]) -> impl Iterator<Item = Row> + 'a {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    std::iter::from_fn(move || {
        loop {
            match left.peek()?.cmp(right.peek()?) {
                Ordering::Less => left.next(),
                Ordering::Greater => right.next(),
                Ordering::Equal => {
                    left.next();
                    return right.next().copied();
                }
            };
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_lists_are_found_once_in_order() {
        let rows = |numbers: &[u32]| numbers.iter().copied().map(Row).collect::<Vec<_>>();
        let both =
            |left: &[u32], right: &[u32]| in_both(&rows(left), &rows(right)).collect::<Vec<_>>();
        assert_eq!(both(&[1, 3, 5, 9], &[0, 3, 4, 9, 10]), rows(&[3, 9]));
        assert_eq!(both(&[], &[1]), rows(&[]));
        assert_eq!(both(&[2], &[2]), rows(&[2]));
        assert_eq!(both(&[7, 8], &[1, 2]), rows(&[]));
    }
}
