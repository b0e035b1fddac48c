//! The routes of the API, under `/v1`.
//!
//! Each handler parses parameters, calls `wonbon-app` and renders the answer. A question that has a page
//! too is answered by one function for both (see `view`).

#![allow(unused_qualifications, reason = "the macros that describe routes write them")]

pub(crate) mod collapse;
pub(crate) mod compare;
pub(crate) mod decisions;
pub(crate) mod documents;
pub(crate) mod families;
pub(crate) mod health;
pub(crate) mod job_events;
pub(crate) mod job_forms;
pub(crate) mod jobs;
pub(crate) mod places;
pub(crate) mod search;
pub(crate) mod streams;
pub(crate) mod texts;
