//! Bytes to core text, links, words and shingles.
