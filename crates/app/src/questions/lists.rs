//! Lists, a page at a time: documents, families, the members of one, the log of decisions.

use serde::Deserialize;
use wonbon_store::{DecisionEntry, Families, FamiliesAfter, FamilyPart, Listed, Row, Store};

use super::non_empty;
use crate::answers::{self, DecisionsAnswer, DocumentList, FamiliesAnswer, FamilyAnswer};
use crate::cursor::{Cursor, next_of};
use crate::error::{AppError, RequestError};
use crate::parameters::{LOG, MEMBERS, ROWS};

/// The documents that came in last.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct DocumentsQuestion {
    /// How many: 20 unless said, at most 1000.
    pub limit: Option<usize>,
    /// Where the list goes on.
    pub cursor: Option<String>,
}

/// A page of documents.
#[derive(Debug)]
pub struct DocumentsFound {
    /// The latest first.
    pub documents: Vec<Listed>,
    /// Where the list goes on, if it does.
    pub next: Option<String>,
}

impl DocumentsQuestion {
    /// Lists them.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the store's.
    pub fn ask(&self, store: &Store) -> Result<DocumentsFound, AppError> {
        let limit = ROWS.of(self.limit)?;
        let before = Cursor::read(self.cursor.as_deref(), 'd')?.map(Cursor::first).transpose()?;
        let mut documents = store.latest(before.map(Row), limit + 1)?;
        let is_more = documents.len() > limit;
        documents.truncate(limit);
        let next = next_of(is_more, 'd', documents.last().map(|last| [u64::from(last.row.0), 0]));
        Ok(DocumentsFound { documents, next })
    }
}

impl DocumentsFound {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> DocumentList<'_> {
        let documents = self.documents.iter().map(answers::Document::listed).collect();
        DocumentList { documents, next: self.next.as_deref() }
    }
}

/// Which families.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct FamiliesQuestion {
    /// How many: 20 unless said, at most 1000.
    pub limit: Option<usize>,
    /// Where the list goes on.
    pub cursor: Option<String>,
}

/// A page of families.
#[derive(Debug)]
pub struct FamiliesFound {
    /// The largest first.
    pub found: Families,
    /// Where the list goes on, if it does.
    pub next: Option<String>,
}

impl FamiliesQuestion {
    /// Lists them.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the store's.
    pub fn ask(&self, store: &Store) -> Result<FamiliesFound, AppError> {
        let limit = ROWS.of(self.limit)?;
        let after = match Cursor::read(self.cursor.as_deref(), 'f')? {
            Some(cursor) => {
                let Cursor([copies, _]) = cursor;
                Some(FamiliesAfter { copies, original: Row(cursor.second()?) })
            }
            None => None,
        };
        let found = store.families(after, limit)?;
        let last = found.next.map(|next| [next.copies, u64::from(next.original.0)]);
        Ok(FamiliesFound { next: next_of(last.is_some(), 'f', last), found })
    }
}

impl FamiliesFound {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> FamiliesAnswer<'_> {
        let found = &self.found;
        FamiliesAnswer {
            total: found.total,
            sizes: found.sizes.iter().map(|(copies, families)| (*copies, *families)).collect(),
            families: found.families.iter().map(answers::Family::of).collect(),
            next: self.next.as_deref(),
        }
    }
}

/// Which family.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct FamilyQuestion {
    /// The key or address of one of its documents.
    pub key: Option<String>,
    /// How many documents: 20 unless said, at most 100.
    pub limit: Option<usize>,
    /// Where the list goes on.
    pub cursor: Option<String>,
    /// On the page: the entry of a decision that was just made there.
    #[cfg_attr(feature = "openapi", param(ignore))]
    pub decided: Option<u64>,
}

/// A page of a family.
#[derive(Debug)]
pub struct FamilyFound {
    /// The original, then its copies by creation.
    pub part: FamilyPart,
    /// How many documents stand before these.
    pub offset: usize,
    /// Where the list goes on, if it does.
    pub next: Option<String>,
}

impl FamilyQuestion {
    /// Lists it.
    ///
    /// # Errors
    ///
    /// [`AppError::UnknownDocument`], [`AppError::Request`], or the store's.
    pub fn ask(&self, store: &Store) -> Result<FamilyFound, AppError> {
        let key = non_empty(&self.key)
            .ok_or(RequestError::Missing { name: "key", purpose: "whose family is meant" })?;
        let limit = MEMBERS.of(self.limit)?;
        let offset = Cursor::read(self.cursor.as_deref(), 'm')?.map_or(Ok(0), Cursor::first)?;
        let part = store.family_part(key, offset, limit)?;
        let part = part.ok_or_else(|| AppError::UnknownDocument { key: key.to_owned() })?;
        let shown = (offset + part.documents.len()) as u64;
        let next = next_of(shown < part.total, 'm', Some([shown, 0]));
        Ok(FamilyFound { part, offset, next })
    }
}

impl FamilyFound {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> FamilyAnswer<'_> {
        FamilyAnswer {
            total: self.part.total,
            documents: self.part.documents.iter().map(answers::Document::of).collect(),
            next: self.next.as_deref(),
        }
    }
}

/// Which entries of the log of decisions.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct DecisionsQuestion {
    /// Only what was decided of the document of this key.
    pub key: Option<String>,
    /// How many: 50 unless said, at most 1000.
    pub limit: Option<usize>,
    /// Where the list goes on.
    pub cursor: Option<String>,
}

/// A page of the log of decisions.
#[derive(Debug)]
pub struct DecisionsFound {
    /// The latest first.
    pub entries: Vec<DecisionEntry>,
    /// Where the list goes on, if it does.
    pub next: Option<String>,
}

impl DecisionsQuestion {
    /// Lists them.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the store's.
    pub fn ask(&self, store: &Store) -> Result<DecisionsFound, AppError> {
        let limit = LOG.of(self.limit)?;
        let before = Cursor::read(self.cursor.as_deref(), 'e')?.map(|Cursor([entry, _])| entry);
        let mut entries = store.decisions(non_empty(&self.key), before, limit + 1)?;
        let is_more = entries.len() > limit;
        entries.truncate(limit);
        let next = next_of(is_more, 'e', entries.last().map(|last| [last.entry, 0]));
        Ok(DecisionsFound { entries, next })
    }
}

impl DecisionsFound {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> DecisionsAnswer<'_> {
        let decisions = self.entries.iter().map(answers::DecisionEntry::of).collect();
        DecisionsAnswer { decisions, next: self.next.as_deref() }
    }
}
