//! How much of an input is held in memory: the one place for these bounds.
//!
//! A few megabytes of gzip can unpack to an endless line, a zstd frame can ask for a window of 2 GB, and
//! the footer of a Parquet file can announce anything. What is beyond a bound is an error of its row, its
//! row group or its file that names the bound; reading continues after it where the format allows. A line
//! that is too long is skipped without being kept.

/// Bounds of what is read. A [`Source`](crate::Source) carries them to whoever reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one document: of a file that is one, and half of what a line or record may
    /// have, because JSON may write a character in twice its bytes. 128 MB: the longest books have
    /// less than ten. Up to [`MAX_DOCUMENT_BYTES`](crate::MAX_DOCUMENT_BYTES).
    pub document_bytes: usize,
    /// The binary logarithm of the largest window of a zstd frame. 27, 128 MB, as `zstd` itself: only
    /// archives that were made with `--long=28` and more need a larger one.
    pub zstd_window_log: u32,
    /// The most bytes to which the columns of a row group of a Parquet file unpack. 1 GB: writers make
    /// groups of 128 MB to 512 MB.
    pub row_group_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { document_bytes: 128 << 20, zstd_window_log: 27, row_group_bytes: 1 << 30 }
    }
}

impl Limits {
    /// These bounds for documents of up to so many bytes.
    #[must_use]
    pub fn for_documents(bytes: usize) -> Self {
        let usual = Limits::default();
        let row_group_bytes = usual.row_group_bytes.max(bytes as u64);
        Limits { document_bytes: bytes, row_group_bytes, ..usual }
    }

    /// The longest line or record.
    #[must_use]
    pub fn line_bytes(&self) -> usize {
        self.document_bytes.saturating_mul(2).max(64 << 10)
    }
}
