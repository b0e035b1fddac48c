//! Questions about a text, stored or not: what resembles it, contains it, is contained in it, and where
//! it was taken from.

use wonbon_app::answers::{AskAnswer, MatchAnswer, PassagesAnswer, SourcesAnswer};
use wonbon_app::questions::{TextQuestion, non_empty};
use wonbon_store::Measure;

use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::Problem;
use crate::view::{Reply, View};

fn answer_match(
    service: &Inquiry,
    asked: &TextQuestion,
    measure: Measure,
) -> Result<Reply, Problem> {
    let about = asked.about(&service.store)?;
    let answer = asked.matches(&service.store, &about, measure)?;
    Ok(Reply::json(&MatchAnswer::of(&answer)))
}

macro_rules! text_questions {
    ($($get:ident $post:ident $path:literal $measure:ident $what:literal;)+) => {$(
        #[doc = $what]
        #[utoipa::path(
            get,
            path = $path,
            tag = "questions",
            description = $what,
            params(TextQuestion),
            responses((status = 200, body = MatchAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
        )]
        pub(crate) fn $get(service: &Inquiry, question: TextQuestion, _view: &View) -> Result<Reply, Problem> {
            answer_match(service, &question, Measure::$measure)
        }

        #[doc = $what]
        #[utoipa::path(
            post,
            path = $path,
            tag = "questions",
            description = $what,
            request_body(content = TextQuestion, content_type = "application/json"),
            responses((status = 200, body = MatchAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
        )]
        pub(crate) fn $post(service: &Inquiry, question: TextQuestion, _view: &View) -> Result<Reply, Problem> {
            answer_match(service, &question, Measure::$measure)
        }
    )+};
}

text_questions! {
    similar post_similar "/v1/similar" Resemblance "Stored documents that resemble a text, originals and copies alike, by exact resemblance.";
    within post_within "/v1/within" Within "Stored documents that contain a text or part of it, by the part of the text that they have.";
    contains post_contains "/v1/contains" Contains "Stored documents that a text contains, whole or in part, by the part of the document that the text has.";
}

/// Where a text was taken from.
#[utoipa::path(
    get,
    path = "/v1/sources",
    tag = "questions",
    description = "The fewest stored documents that together explain a text, with the passages that each explains and what is left.",
    params(TextQuestion),
    responses((status = 200, body = SourcesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn sources(
    service: &Inquiry,
    asked: TextQuestion,
    _view: &View,
) -> Result<Reply, Problem> {
    let about = asked.about(&service.store)?;
    let found = asked.sources(&service.store, &about)?;
    Ok(Reply::json(&SourcesAnswer::of(&found, &about.text)))
}

/// Where a text that is sent was taken from.
#[utoipa::path(
    post,
    path = "/v1/sources",
    tag = "questions",
    description = "As `GET /v1/sources`, with the text in the body.",
    request_body(content = TextQuestion, content_type = "application/json"),
    responses((status = 200, body = SourcesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn post_sources(
    service: &Inquiry,
    asked: TextQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    sources(service, asked, view)
}

/// Which passages of a text stand in stored documents.
#[utoipa::path(
    get,
    path = "/v1/passages",
    tag = "questions",
    description = "The runs of at least `least_words` words that a text has in common with stored documents, each with its places.",
    params(TextQuestion),
    responses((status = 200, body = PassagesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn passages(
    service: &Inquiry,
    asked: TextQuestion,
    _view: &View,
) -> Result<Reply, Problem> {
    let about = asked.about(&service.store)?;
    let found = asked.passages(&service.store, &about)?;
    Ok(Reply::json(&PassagesAnswer::of(&found, &about.text)))
}

/// Which passages of a text that is sent stand in stored documents.
#[utoipa::path(
    post,
    path = "/v1/passages",
    tag = "questions",
    description = "As `GET /v1/passages`, with the text in the body.",
    request_body(content = TextQuestion, content_type = "application/json"),
    responses((status = 200, body = PassagesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn post_passages(
    service: &Inquiry,
    asked: TextQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    passages(service, asked, view)
}

/// Everything about a text that is sent.
#[utoipa::path(
    post,
    path = "/v1/ask",
    tag = "questions",
    description = "As `GET /v1/ask`, with the text in the body.",
    request_body(content = TextQuestion, content_type = "application/json"),
    responses((status = 200, body = AskAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn post_ask(
    service: &Inquiry,
    asked: TextQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    ask(service, asked, view)
}

/// Everything about a text.
#[utoipa::path(
    get,
    path = "/v1/ask",
    tag = "questions",
    description = "What resembles a text, what contains it, what it contains, where it was taken from and which passages of it are stored, in one answer.",
    params(TextQuestion),
    responses((status = 200, body = AskAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn ask(service: &Inquiry, asked: TextQuestion, view: &View) -> Result<Reply, Problem> {
    if let View::Page(reader) = view
        && non_empty(&asked.key).is_none()
        && non_empty(&asked.text).is_none()
    {
        return Ok(pages::ask_page(reader, &asked, None));
    }
    let all = asked.ask(&service.store)?;
    Ok(match view {
        View::Page(reader) => pages::ask_page(reader, &asked, Some(&all)),
        View::Json => Reply::json(&all.answer()),
    })
}
