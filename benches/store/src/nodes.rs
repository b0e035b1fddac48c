//! How many nodes of its R*-trees a question visits: the paper's page accesses.
//!
//! In the paper a node is a page. In SQLite a node is a row of a table, so SQLite's count of page
//! accesses has the way through that table's B-tree in it. To compare like with like, the questions
//! are asked once more by a plain depth-first search over the nodes as they stand in the file.
//!
//! A node, big-endian: its height if it is the root, and its number of cells, 2 bytes each; then
//! cells of an 8-byte id and a lower and upper end for each dimension, 4 bytes each.

use anyhow::Context;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// The nodes of one index file.
pub(crate) struct Nodes {
    connection: Connection,
}

/// One point to look for: the tree's table and the coordinates.
pub(crate) struct Point {
    pub(crate) table: String,
    pub(crate) at: Vec<i32>,
}

/// The fifteen points of a question in R15D2.
pub(crate) fn points_of_fifteen(features: &[u64]) -> Vec<Point> {
    pairs(features)
        .map(|(number, first, second)| Point {
            table: format!("pair_{number}"),
            at: vec![first, second],
        })
        .collect()
}

/// The fifteen points of a question in R1D3.
pub(crate) fn points_of_one(features: &[u64]) -> Vec<Point> {
    pairs(features)
        .map(|(number, first, second)| Point {
            table: "pairs".to_owned(),
            at: vec![number, first, second],
        })
        .collect()
}

fn pairs(features: &[u64]) -> impl Iterator<Item = (i32, i32, i32)> {
    let coordinate = |place: usize| features[place] as u32 as i32;
    let places = (0..6).flat_map(|first| (first + 1..6).map(move |second| (first, second)));
    (1..)
        .zip(places)
        .map(move |(number, (first, second))| (number, coordinate(first), coordinate(second)))
}

impl Nodes {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(Nodes { connection })
    }

    /// Nodes visited until one of the points is found, and whether it was.
    pub(crate) fn visited(&self, points: &[Point]) -> anyhow::Result<(u64, bool)> {
        let mut visited = 0;
        for point in points {
            let statement = format!("SELECT data FROM {}_node WHERE nodeno = ?1", point.table);
            let mut select = self.connection.prepare_cached(&statement)?;
            // Nodes to visit, with their height above the leaves; the root says its own.
            let mut waiting = vec![(1_i64, None)];
            while let Some((number, height)) = waiting.pop() {
                let node: Vec<u8> = select.query_row([number], |row| row.get(0))?;
                visited += 1;
                let height = height.unwrap_or(u16::from_be_bytes([node[0], node[1]]));
                let cells = usize::from(u16::from_be_bytes([node[2], node[3]]));
                let cell_bytes = 8 + 8 * point.at.len();
                let cells = node
                    .get(4..4 + cells * cell_bytes)
                    .context("a node is shorter than its cells")?;
                let inside = cells.chunks_exact(cell_bytes).filter(|cell| {
                    let ends = cell[8..].as_chunks::<4>().0;
                    let end = |number: usize| i32::from_be_bytes(ends[number]);
                    let mut dimensions = point.at.iter().enumerate();
                    dimensions.all(|(dimension, at)| {
                        (end(2 * dimension)..=end(2 * dimension + 1)).contains(at)
                    })
                });
                if height == 0 {
                    if inside.count() > 0 {
                        return Ok((visited, true));
                    }
                } else {
                    waiting.extend(inside.map(|cell| {
                        let id = cell.first_chunk().expect("a cell starts with its id");
                        (i64::from_be_bytes(*id), Some(height - 1))
                    }));
                }
            }
        }
        Ok((visited, false))
    }
}
