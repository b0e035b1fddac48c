//! Decisions of people: this is the original, this is not a copy, undo; and the log of decisions.
//!
//! A decision is stored and every verdict it changes with it before it is answered. From programs it
//! comes as JSON, from people as a form of a document's or a family's page, which is then shown again.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::ETAG;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wonbon_app::answers;
use wonbon_app::questions::{DecisionsQuestion, non_empty};
use wonbon_store::{By, Decision, DecisionEntry, Expected};

use super::documents::{edit_mark, expected};
use crate::guard::Who;
use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::request::parameters_sent;
use crate::service::Service;
use crate::view::{Reply, View};

/// What can be decided of a document.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DecisionName {
    /// It is the original: it comes before all others of which this was not said.
    Original,
    /// It is an original, at its usual place.
    NotACopy,
}

/// A decision about a document.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct DecideParameters {
    /// The document's key or address.
    key: String,
    /// What it is.
    decision: DecisionName,
    /// Why: up to 1000 characters.
    reason: Option<String>,
    /// From a form: the page to go back to.
    #[serde(default)]
    #[schema(ignore)]
    back: String,
}

/// A decision to take back.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct UndoParameters {
    /// The document's key or address.
    key: String,
    /// The entry of the log to take back; it has to be the document's last decision. Without it the
    /// last one is taken back, whichever that is.
    entry: Option<u64>,
    /// Why: up to 1000 characters.
    reason: Option<String>,
    /// From a form: the page to go back to.
    #[serde(default)]
    #[schema(ignore)]
    back: String,
}

/// What became of a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionAnswer<'a> {
    /// Its entry in the log; nothing if the same was in effect already.
    entry: Option<answers::DecisionEntry<'a>>,
    /// The document as it is now, without its text.
    document: Option<answers::Document<'a>>,
}

/// Decides about a document.
#[utoipa::path(
    post,
    path = "/v1/decisions",
    tag = "families",
    description = "Decides that a document is `original` (it comes before all others of which nobody \
        decided so, and what is like it becomes its copy) or `not-a-copy` (it is an original at its \
        usual place). A new decision replaces the one in effect; verdicts follow at once, and later \
        ones respect it. It is recorded in the log with the name of the token. `If-Match` with the \
        document's `ETag` decides only if nobody edited it or decided about it since.",
    request_body(content = DecideParameters, content_type = "application/json"),
    responses((status = 200, body = DecisionAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn decide(State(service): State<Arc<Service>>, request: Request) -> Response {
    handle(service, request, |service, asked: DecideParameters, who, expected| {
        let decision = match asked.decision {
            DecisionName::Original => Decision::Original,
            DecisionName::NotACopy => Decision::NotACopy,
        };
        let by = By { who: who.name(), reason: asked.reason.as_deref() };
        let entry = service.store.decide(&asked.key, decision, &by, expected)?;
        Ok(Changed { entry, key: asked.key, back: asked.back })
    })
    .await
}

/// Takes a decision back.
#[utoipa::path(
    post,
    path = "/v1/decisions/undo",
    tag = "families",
    description = "Takes the last decision about a document back: what was in effect before it is again. \
        With `entry` only if that entry of the log is the last decision. It is recorded too.",
    request_body(content = UndoParameters, content_type = "application/json"),
    responses((status = 200, body = DecisionAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn undo(State(service): State<Arc<Service>>, request: Request) -> Response {
    handle(service, request, |service, asked: UndoParameters, who, expected| {
        let by = By { who: who.name(), reason: asked.reason.as_deref() };
        let entry = service.store.undo_decision(&asked.key, asked.entry, &by, expected)?;
        Ok(Changed { entry: Some(entry), key: asked.key, back: asked.back })
    })
    .await
}

/// What was done, and where a person goes from there.
struct Changed {
    entry: Option<DecisionEntry>,
    key: String,
    back: String,
}

/// Takes a request apart, has it done, and answers.
async fn handle<P>(
    service: Arc<Service>,
    request: Request,
    change: fn(&Service, P, &Who, Option<Expected>) -> Result<Changed, Problem>,
) -> Response
where
    P: DeserializeOwned + Send + 'static,
{
    let (parts, body) = request.into_parts();
    let answered = async {
        let asked: P = parameters_sent(&service, &parts, body).await?;
        if service.is_ending() {
            return Err(Problem::new(Code::ShuttingDown, "nothing more is decided"));
        }
        apply(&service, &parts, asked, change).await
    };
    let answered: Result<Reply, Problem> = answered.await;
    answered.into_response()
}

async fn apply<P>(
    service: &Arc<Service>,
    parts: &Parts,
    asked: P,
    change: fn(&Service, P, &Who, Option<Expected>) -> Result<Changed, Problem>,
) -> Result<Reply, Problem>
where
    P: Send + 'static,
{
    let (view, who) = (View::of(service, parts), Who::of(parts));
    let expected = expected(&parts.headers)?;
    service
        .act(move |service| {
            let Changed { entry, key, back } = change(service, asked, &who, expected)?;
            if let View::Page(_) = view {
                let number = entry.map(|entry| entry.entry);
                return Ok(Reply::see_other(&pages::back_from_decision(&back, &key, number)));
            }
            // It may have been removed since.
            let document = service.store.find(&key)?;
            let reply = Reply::json(&DecisionAnswer {
                entry: entry.as_ref().map(answers::DecisionEntry::of),
                document: document.as_ref().map(answers::Document::without_text),
            });
            Ok(match &document {
                Some(document) => reply.with_header(ETAG, edit_mark(document)),
                None => reply,
            })
        })
        .await
}

/// The log of decisions.
#[utoipa::path(
    get,
    path = "/v1/decisions",
    tag = "families",
    description = "Who decided what of which document, when and why, and what was taken back; the latest \
        first. Entries are numbered from 1 and never change.",
    params(DecisionsQuestion),
    responses((status = 200, body = answers::DecisionsAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn decisions(
    service: &Inquiry,
    asked: DecisionsQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let found = asked.ask(&service.store)?;
    Ok(match view {
        View::Page(reader) => pages::decisions_page(
            reader,
            non_empty(&asked.key),
            &found.entries,
            found.next.as_deref(),
        ),
        View::Json => Reply::json(&found.answer()),
    })
}
