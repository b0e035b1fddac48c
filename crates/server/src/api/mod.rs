//! The routes of programs, under `/v1`.
//!
//! Each is thin: parameters in, one call of the store, the answer as JSON. Questions that have a page
//! too are one function for both (see `view`).

#![allow(unused_qualifications, reason = "the macros that describe routes write them")]

pub(crate) mod collapsing;
pub(crate) mod comparisons;
pub(crate) mod decisions;
pub(crate) mod documents;
pub(crate) mod families;
pub(crate) mod job_events;
pub(crate) mod job_forms;
pub(crate) mod jobs;
pub(crate) mod keeping;
pub(crate) mod places;
pub(crate) mod searching;
pub(crate) mod streams;
pub(crate) mod texts;
