//! `/v1/collapse`: ranked results with near-copies collapsed under the best-ranked one.

use wonbon_app::answers::CollapseAnswer;
use wonbon_app::collapse::CollapseQuestion;

use crate::inquiry::Inquiry;
use crate::problem::Problem;
use crate::view::{Reply, View};

/// Puts near-copies in ranked results behind the best-ranked one.
#[utoipa::path(
    post,
    path = "/v1/collapse",
    tag = "questions",
    description = "Takes results in rank order and puts each whose exact resemblance to an earlier kept one is at or above the threshold behind it.",
    request_body(content = CollapseQuestion, content_type = "application/json"),
    responses((status = 200, body = CollapseAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn collapse(
    service: &Inquiry,
    asked: CollapseQuestion,
    _view: &View,
) -> Result<Reply, Problem> {
    let words = service.store.params().shingle_words;
    let most_time = Some(service.config.limits.answer_time);
    let store = || Ok::<_, Problem>(service.store.clone());
    let collapsed = asked.collapse(words, most_time, service.cancellation(), store)?;
    Ok(Reply::json(&collapsed.answer()))
}
