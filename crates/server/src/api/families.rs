//! Families: which there are, and one of them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use wonbon_app::answers;
use wonbon_app::parameters::limit;
use wonbon_store::{FamiliesAfter, Row};

use crate::pages;
use crate::paging::{Cursor, next_of};
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reply, View};

/// Which families.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FamiliesQuestion {
    /// How many: 20 unless said, at most 1000.
    pub(crate) limit: Option<usize>,
    /// Where the list goes on.
    pub(crate) cursor: Option<String>,
}

/// Families, the largest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FamiliesAnswer<'a> {
    /// How many originals have copies.
    total: u64,
    /// How many families have how many copies.
    #[schema(value_type = Vec<Vec<u64>>)]
    sizes: Vec<(u64, u64)>,
    /// A page of them.
    families: Vec<answers::FamilySummary<'a>>,
    /// Where the list goes on, if it does.
    next: Option<String>,
}

/// Families, the largest first.
#[utoipa::path(
    get,
    path = "/v1/families",
    tag = "families",
    description = "Originals that have copies, the most first, and how many families are how large.",
    params(FamiliesQuestion),
    responses((status = 200, body = FamiliesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn families(
    service: &Service,
    asked: FamiliesQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let limit = limit(asked.limit, 20, 1000)?;
    let after = match Cursor::read(asked.cursor.as_deref(), 'f')? {
        Some(Cursor([copies, row])) => {
            let original = Row(u32::try_from(row).map_err(|_| Cursor::wrong())?);
            Some(FamiliesAfter { copies, original })
        }
        None => None,
    };
    let found = service.store.families(after, limit)?;
    let last = found.next.map(|next| [next.copies, u64::from(next.original.0)]);
    let next = next_of(last.is_some(), 'f', last);
    Ok(match view {
        View::Page(reader) => pages::families_page(reader, &found, next),
        View::Json => Reply::json(&FamiliesAnswer {
            total: found.total,
            sizes: found.sizes.iter().map(|(copies, families)| (*copies, *families)).collect(),
            families: found.families.iter().map(answers::FamilySummary::of).collect(),
            next,
        }),
    })
}

/// Which family.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FamilyQuestion {
    /// The key or address of one of its documents.
    pub(crate) key: Option<String>,
    /// How many documents: 20 unless said, at most 100.
    pub(crate) limit: Option<usize>,
    /// Where the list goes on.
    pub(crate) cursor: Option<String>,
    /// On the page: the entry of a decision that was just made there.
    #[param(ignore)]
    pub(crate) decided: Option<u64>,
}

/// A family.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FamilyAnswer<'a> {
    /// How many documents it has.
    total: u64,
    /// A page of them: the original, then its copies by creation.
    documents: Vec<answers::Document<'a>>,
    /// Where the list goes on, if it does.
    next: Option<String>,
}

/// A family: an original and its copies.
#[utoipa::path(
    get,
    path = "/v1/family",
    tag = "families",
    description = "The family a document belongs to: the original, then its copies by creation.",
    params(FamilyQuestion),
    responses((status = 200, body = FamilyAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn family(
    service: &Service,
    asked: FamilyQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let key = asked
        .key
        .as_deref()
        .ok_or_else(|| Problem::new(Code::BadParameter, "`key` says whose family is meant"))?;
    let limit = limit(asked.limit, 20, 100)?;
    let offset = match Cursor::read(asked.cursor.as_deref(), 'm')? {
        Some(Cursor([offset, _])) => usize::try_from(offset).map_err(|_| Cursor::wrong())?,
        None => 0,
    };
    let part =
        service.store.family_part(key, offset, limit)?.ok_or_else(|| Problem::unknown(key))?;
    let shown = (offset + part.documents.len()) as u64;
    let next = next_of(shown < part.total, 'm', Some([shown, 0]));
    Ok(match view {
        View::Page(reader) => {
            pages::family_page(service, reader, &part, offset, next, asked.decided)?
        }
        View::Json => Reply::json(&FamilyAnswer {
            total: part.total,
            documents: part.documents.iter().map(answers::Document::of).collect(),
            next,
        }),
    })
}
