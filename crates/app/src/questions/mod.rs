//! Questions to a store: what is asked, checked once, and what is found.
//!
//! Each question is a type that flags, JSON and the fields of a form fill in alike; its functions check
//! it, ask the store and give what was found. How that is shown is the caller's: as JSON by
//! [`crate::answers`], as a table, as a page.

mod lists;
mod places;
mod search;
mod texts;

pub use lists::{
    DecisionsFound, DecisionsQuestion, DocumentsFound, DocumentsQuestion, FamiliesFound,
    FamiliesQuestion, FamilyFound, FamilyQuestion,
};
pub use places::{ChangesFound, ChangesParameters, PlaceQuestion, ReportQuestion, unwatch, watch};
pub use search::{FoundOriginal, SearchFound, SearchQuestion};
pub use texts::{AllAnswers, QuestionText, TextQuestion};

use wonbon_store::{Store, StoredDocument};

use crate::error::AppError;

/// What a field says, if it says anything: forms send empty ones.
#[must_use]
pub fn non_empty(value: &Option<String>) -> Option<&str> {
    value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}

/// The document of a key or an address.
///
/// # Errors
///
/// [`AppError::UnknownDocument`], or the store's.
pub fn document(store: &Store, key: &str) -> Result<StoredDocument, AppError> {
    store.find(key)?.ok_or_else(|| AppError::UnknownDocument { key: key.to_owned() })
}
