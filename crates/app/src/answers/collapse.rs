//! Ranked results with near-copies collapsed.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::collapse::RankedResult;

/// Ranked results without those that went behind another.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollapseAnswer {
    /// In the order in which they came; `copies` lists those behind each. `collapsed` is false for one
    /// that was not looked at because the time was over.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    pub results: Vec<RankedResult>,
    /// The ranks, from 1, of results of which no text is known; they come back as they went.
    pub unknown: Vec<usize>,
    /// How many results were looked at.
    pub looked_at: usize,
}

/// A result that went behind another.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CopyOfResult {
    /// Its `key`, `id` or `url`, as the result has it.
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
    pub key: Option<Box<RawValue>>,
    /// Its exact resemblance to the result it is behind.
    pub resemblance: f64,
    /// Its place among all results, from 1.
    pub rank: usize,
}
