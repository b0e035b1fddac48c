//! Documents out of files: JSON lines, plain and compressed.
