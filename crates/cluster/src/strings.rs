//! A column of strings on disk: all bytes in one file, where each string ends in another.
//!
//! Cost: one read of two numbers, one of the bytes, for a single string; in order, pieces of 4,096
//! strings are read at a time.

use std::path::Path;

use crate::columns::Column;
use crate::error::ClusterError;

/// Strings by the numbers of their documents.
#[derive(Debug)]
pub(crate) struct StringColumn {
    bytes: Column<u8>,
    ends: Column<u64>,
}

impl StringColumn {
    /// Opens the strings of two files.
    pub(crate) fn open(folder: &Path, bytes: &str, ends: &str) -> Result<Self, ClusterError> {
        Ok(StringColumn {
            bytes: Column::open(folder.join(bytes))?,
            ends: Column::open(folder.join(ends))?,
        })
    }

    /// The string of a document.
    pub(crate) fn get(&self, document: u32) -> Result<String, ClusterError> {
        let document = u64::from(document);
        let mut ends = [0; 2];
        // Of the first string, only where it ends.
        let before = usize::from(document == 0);
        self.ends.read_at(document.saturating_sub(1), &mut ends[before..])?;
        let [start, end] = ends;
        let mut bytes = vec![0; (end - start) as usize];
        self.bytes.read_at(start, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Calls `each` with every document and its string, in order.
    pub(crate) fn for_each(
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
