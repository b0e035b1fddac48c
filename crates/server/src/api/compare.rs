//! `/v1/compare` and its page: two documents, how much they share and where they differ.

use wonbon_app::answers;
use wonbon_app::compare::{
    CompareConfig, CompareQuestion, ComparedTexts, ComparisonRequest, NamedText,
};
use wonbon_text::difference::{Difference, difference_until};

use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::view::{Reply, View};

fn compare_texts<'a>(
    service: &Inquiry,
    texts: &'a [NamedText; 2],
) -> Result<ComparedTexts<'a>, Problem> {
    service.go_on()?;
    let config = CompareConfig::of_store(&service.store);
    ComparedTexts::of(texts.each_ref().map(NamedText::to_compare), &config)
        .map_err(|error| Problem::inside(Code::Failed, &error))
}

fn answer_comparison(
    service: &Inquiry,
    texts: &[NamedText; 2],
    differences: bool,
) -> Result<Reply, Problem> {
    let compared = compare_texts(service, texts)?;
    let [a, b] = &compared.sides;
    let found = if differences { Some(find_differences(service, a.text, b.text)?) } else { None };
    Ok(Reply::json(&compared.answer(found.as_ref())))
}

/// Where two texts differ, unless nobody waits for it any more.
fn find_differences(service: &Inquiry, a: &str, b: &str) -> Result<Difference, Problem> {
    let found = difference_until(a, b, &|| service.cancellation().is_cancelled());
    service.go_on()?;
    found.ok_or_else(|| Problem::new(Code::TookTooLong, "the comparison was given up"))
}

/// What two stored documents share.
#[utoipa::path(
    get,
    path = "/v1/compare",
    tag = "questions",
    description = "Resemblance and containment both ways, exactly and as the sketches see them, and what the two are to each other by the store's rule.",
    params(CompareQuestion),
    responses((status = 200, body = answers::Comparison), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn compare(
    service: &Inquiry,
    asked: CompareQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let texts = asked.texts(&service.store)?;
    match (view, &texts) {
        (View::Json, Some(texts)) => {
            answer_comparison(service, texts, asked.differences.unwrap_or(false))
        }
        (View::Json, None) => {
            Err(Problem::new(Code::BadParameter, "`a` and `b` say what is compared"))
        }
        (View::Page(reader), Some(texts)) => {
            let compared = compare_texts(service, texts)?;
            let [a, b] = &compared.sides;
            let found = find_differences(service, a.text, b.text)?;
            Ok(pages::compare_page(reader, &asked, Some((texts, &compared, &found))))
        }
        (View::Page(reader), None) => Ok(pages::compare_page(reader, &asked, None)),
    }
}

/// What two documents share, stored or sent.
#[utoipa::path(
    post,
    path = "/v1/compare",
    tag = "questions",
    description = "As `GET /v1/compare`, with texts in the body.",
    request_body(content = ComparisonRequest, content_type = "application/json"),
    responses((status = 200, body = answers::Comparison), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn post_compare(
    service: &Inquiry,
    asked: ComparisonRequest,
    _view: &View,
) -> Result<Reply, Problem> {
    let differences = asked.differences.unwrap_or(false);
    answer_comparison(service, &asked.texts(&service.store)?, differences)
}
