//! Exact set-similarity joins.
