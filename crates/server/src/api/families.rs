//! `/v1/families` and `/v1/family`: originals with their copies.

use wonbon_app::answers::{FamiliesAnswer, FamilyAnswer};
use wonbon_app::questions::{FamiliesQuestion, FamilyFound, FamilyQuestion};

use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::Problem;
use crate::view::{Reply, View};

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
    service: &Inquiry,
    asked: FamiliesQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let found = asked.ask(&service.store)?;
    Ok(match view {
        View::Page(reader) => pages::families_page(reader, &found.found, found.next),
        View::Json => Reply::json(&found.answer()),
    })
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
    service: &Inquiry,
    asked: FamilyQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let found = asked.ask(&service.store)?;
    Ok(match view {
        View::Page(reader) => {
            let FamilyFound { part, offset, next } = found;
            pages::family_page(service, reader, &part, offset, next, asked.decided)?
        }
        View::Json => Reply::json(&found.answer()),
    })
}
