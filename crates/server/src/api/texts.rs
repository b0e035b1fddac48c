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

/// The questions that one function answers by different measures.
macro_rules! match_questions {
    ($($function:ident $path:literal $measure:ident $what:literal;)+) => {$(
        #[doc = $what]
        #[utoipa::path(
            get,
            path = $path,
            tag = "questions",
            description = $what,
            params(TextQuestion),
            responses((status = 200, body = MatchAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
        )]
        pub(crate) fn $function(service: &Inquiry, asked: TextQuestion, _view: &View) -> Result<Reply, Problem> {
            answer_match(service, &asked, Measure::$measure)
        }
    )+};
}

match_questions! {
    similar "/v1/similar" Resemblance "Stored documents that resemble a text, originals and copies alike, by exact resemblance.";
    within "/v1/within" Within "Stored documents that contain a text or part of it, by the part of the text that they have.";
    contains "/v1/contains" Contains "Stored documents that a text contains, whole or in part, by the part of the document that the text has.";
}

/// The same questions with the text in the body.
macro_rules! posted_questions {
    ($($function:ident $path:literal $get:ident $answer:ident $description:literal;)+) => {$(
        #[doc = $description]
        #[utoipa::path(
            post,
            path = $path,
            tag = "questions",
            description = $description,
            request_body(content = TextQuestion, content_type = "application/json"),
            responses((status = 200, body = $answer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
        )]
        pub(crate) fn $function(service: &Inquiry, asked: TextQuestion, view: &View) -> Result<Reply, Problem> {
            $get(service, asked, view)
        }
    )+};
}

posted_questions! {
    post_similar "/v1/similar" similar MatchAnswer "As `GET /v1/similar`, with the text in the body.";
    post_within "/v1/within" within MatchAnswer "As `GET /v1/within`, with the text in the body.";
    post_contains "/v1/contains" contains MatchAnswer "As `GET /v1/contains`, with the text in the body.";
    post_sources "/v1/sources" sources SourcesAnswer "As `GET /v1/sources`, with the text in the body.";
    post_passages "/v1/passages" passages PassagesAnswer "As `GET /v1/passages`, with the text in the body.";
    post_ask "/v1/ask" ask AskAnswer "As `GET /v1/ask`, with the text in the body.";
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
