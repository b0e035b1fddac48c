//! The bytes of a segment: in memory, or a memory-mapped file.
//!
//! Why mapped: an answer reads a few hundred places of a file that may be larger than memory, and a system call for each
//! would cost three times as much as the look-up.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Deref;

/// Bytes of a segment.
#[derive(Debug)]
pub(super) enum SegmentBytes {
    Owned(Vec<u8>),
    Mapped(memmap2::Mmap),
}

impl SegmentBytes {
    /// Maps a file.
    pub(super) fn map(file: &File) -> io::Result<Self> {
        // SAFETY: the mapping is read only. A segment's file is written once, under another name, and
        // from then on only removed, never changed or cut: removing leaves a mapping as it is. Whoever
        // changes the files of a store by other means while it is open breaks this, as with any
        // database that maps its files.
        let mapped = unsafe { memmap2::Mmap::map(file)? };
        Ok(SegmentBytes::Mapped(mapped))
    }

    /// Whether they take the process's own memory.
    pub(super) fn in_memory(&self) -> bool {
        matches!(self, SegmentBytes::Owned(_))
    }
}

impl Deref for SegmentBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            SegmentBytes::Owned(bytes) => bytes,
            SegmentBytes::Mapped(mapped) => mapped,
        }
    }
}
