//! Documents: stored, checked, shown, removed, listed.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::http::header::{ETAG, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;
use wonbon_app::answers;
use wonbon_app::intake::{IntakeName, Outcome};
use wonbon_app::questions::{self, DocumentsQuestion};
use wonbon_store::{Edit, Expected, Freshness, Store, Stored, StoredDocument};
use wonbon_time::Timestamp;

use crate::document_request::{
    AddOptions, AddParameters, DocumentRequest, SentDocument, key_missing,
};
use crate::guard::Who;
use crate::inquiry::Inquiry;
use crate::problem::{Code, Problem};
use crate::request::{ContentKind, from_address, whole_body};
use crate::service::Service;
use crate::view::{Reply, View};

use super::streams::add_stream;

/// Documents up to this many bytes are made ready where they are read: it takes less than a third of a
/// millisecond, and a thread of their own would cost as much.
const SMALL: usize = 16 << 10;

/// Adds one document, or with `application/x-ndjson` a stream of them.
#[utoipa::path(
    post,
    path = "/v1/documents",
    tag = "documents",
    description = "Stores a document and tells what it is, once that is durable. The same key with the \
        same content changes nothing; with other content it is a new version. With \
        `application/x-ndjson` any number of documents, one a line: verdicts stream back in the same \
        order, each as soon as it is durable; a line that is refused is answered by a problem with its \
        number, the rest goes on; the last line is a summary. Plain text and HTML in any charset are \
        taken with `key`.",
    params(AddParameters),
    request_body(content(
        (DocumentRequest = "application/json"),
        (DocumentRequest = "application/x-ndjson"),
        (String = "text/plain"),
        (String = "text/html"),
    )),
    responses(
        (status = 200, description = "known before: updated or unchanged; or a stream of verdicts", body = answers::Added),
        (status = 201, description = "new", body = answers::Added),
        (status = "4XX", description = "a problem", body = crate::problem::ProblemJson, content_type = "application/problem+json"),
        (status = "5XX", description = "a problem", body = crate::problem::ProblemJson, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn add(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let kind = ContentKind::of(&parts.headers);
    let added = async {
        let (parameters, options) = AddParameters::of(&parts)?;
        match kind.essence.as_str() {
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
                kind.check_charset()?;
                return Ok(add_stream(service.clone(), &parts, body, options));
            }
            "application/json" => kind.check_charset()?,
            "text/plain" | "text/html" if parameters.key.is_some() => {}
            "text/plain" | "text/html" => return Err(key_missing()),
            _ => return Err(kind.unsupported("application/json or application/x-ndjson")),
        }
        if service.is_ending() {
            return Err(Problem::new(Code::ShuttingDown, "nothing more is stored"));
        }
        let expected = expected(&parts.headers)?;
        let body = whole_body(&service, &parts, body).await?;
        let since = Instant::now();
        let room = service.adding.room(body.len())?;
        let sent = SentDocument { kind, parameters, body };
        let ready = if sent.body.len() <= SMALL {
            sent.prepare(&service.store, options, expected)?
        } else {
            let prepare = move |service: &Inquiry| sent.prepare(&service.store, options, expected);
            service.answer(prepare).await?
        };
        let (name, receiver) = service.adding.submit(ready, since, room)?;
        let outcome = receiver.wait().await?;
        Ok(reply_to_add(&name, &outcome, since).into_response())
    };
    let added: Result<Response, Problem> = added.await;
    if added.is_err() {
        service.metrics.refused();
    }
    added.into_response()
}

/// The line or body that tells what became of a document.
pub(crate) fn answer_to_add(name: &IntakeName, outcome: &Outcome, since: Instant) -> Vec<u8> {
    let IntakeName { key, redirect } = name;
    let written = match outcome {
        Outcome::Added { added, .. } => {
            let microseconds = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
            serde_json::to_vec(&answers::Added::of(key, added, microseconds))
        }
        Outcome::Redirected | Outcome::PassedOver => {
            let target = redirect.as_deref().unwrap_or_default();
            serde_json::to_vec(&answers::Redirected::of(key, target))
        }
    };
    written.expect("answers have text for keys")
}

fn reply_to_add(name: &IntakeName, outcome: &Outcome, since: Instant) -> Reply {
    let is_new = matches!(outcome, Outcome::Added { added, .. } if added.stored == Stored::New);
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let reply = Reply::bytes("application/json", answer_to_add(name, outcome, since).into());
    let reply = reply.with_status(status);
    match outcome {
        Outcome::Added { added, .. } => reply.with_header(CHANGE, HeaderValue::from(added.change)),
        Outcome::Redirected | Outcome::PassedOver => reply,
    }
}

/// The mark of the edit and the decision that made a document what it is.
pub(crate) fn edit_mark(document: &StoredDocument) -> HeaderValue {
    let Edit { version, stored, decision_entry } = document.edit();
    let stored = stored.as_microseconds();
    let mark = match decision_entry {
        0 => format!("\"{version}-{stored}\""),
        entry => format!("\"{version}-{stored}-{entry}\""),
    };
    HeaderValue::from_str(&mark).expect("it is made of digits")
}

fn edit_of(mark: &str) -> Option<Edit> {
    let (version, rest) = mark.trim().strip_prefix('"')?.strip_suffix('"')?.split_once('-')?;
    let (stored, entry) = rest.split_once('-').unwrap_or((rest, "0"));
    Some(Edit {
        version: version.parse().ok()?,
        stored: Timestamp::from_microseconds(stored.parse().ok()?),
        decision_entry: entry.parse().ok()?,
    })
}

/// What a client expects a document to be.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Option<Expected>, Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default().trim());
    match (text(IF_MATCH), text(IF_NONE_MATCH)) {
        (None, None) => Ok(None),
        (Some("*"), None) => Ok(Some(Expected::Present)),
        (None, Some("*")) => Ok(Some(Expected::Absent)),
        (Some(mark), None) => match edit_of(mark) {
            Some(edit) => Ok(Some(Expected::Edit(edit))),
            // A mark that was never given out matches nothing.
            None => {
                Err(Problem::new(Code::NotAsExpected, format!("no document has the mark {mark}")))
            }
        },
        _ => Err(Problem::new(
            Code::BadParameter,
            "`If-Match` is a mark or *, `If-None-Match` is *, and one of them is enough",
        )),
    }
}

/// The number of the last change that an answer follows from or knows of.
const CHANGE: HeaderName = HeaderName::from_static("wonbon-change");

/// How fresh a check has to be, where several instances share a store.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct FreshnessParameters {
    /// `ok`: what this instance knows is enough. Otherwise a check knows all that any instance acknowledged before.
    pub(crate) stale: Option<String>,
    /// What is known up to this change is enough: `Wonbon-Change` of an answer to an add.
    pub(crate) at_least: Option<u64>,
}

impl FreshnessParameters {
    fn freshness(&self) -> Result<Freshness, Problem> {
        match (self.stale.as_deref(), self.at_least) {
            (None, None) => Ok(Freshness::Now),
            (None, Some(change)) => Ok(Freshness::AtLeast(change)),
            (Some("ok"), None) => Ok(Freshness::Any),
            _ => Err(Problem::new(
                Code::BadParameter,
                "`stale` is ok, `at_least` the number of a change, and one of them is enough",
            )),
        }
    }
}

/// Says what a document would be if it were added.
#[utoipa::path(
    post,
    path = "/v1/check",
    tag = "documents",
    description = "Says whether a document would be a copy; nothing is stored. It needs no `id`.",
    params(AddParameters, FreshnessParameters),
    request_body(content(
        (DocumentRequest = "application/json"),
        (String = "text/plain"),
        (String = "text/html"),
    )),
    responses((status = 200, body = answers::Checked), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn check(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let checked = async {
        let kind = ContentKind::of(&parts.headers);
        match kind.essence.as_str() {
            "application/json" => kind.check_charset()?,
            "text/plain" | "text/html" => {}
            _ => return Err(kind.unsupported("application/json, text/plain or text/html")),
        }
        let (parameters, options) = AddParameters::of(&parts)?;
        let body = whole_body(&service, &parts, body).await?;
        let freshness = from_address::<FreshnessParameters>(&parts)?.freshness()?;
        let sent = SentDocument { kind, parameters, body };
        // A shared store is asked over the network.
        if sent.body.len() <= SMALL && !service.store.is_shared() {
            checked(&service.store, &sent, options, freshness)
        } else {
            let checked =
                move |service: &Inquiry| checked(&service.store, &sent, options, freshness);
            service.answer(checked).await
        }
    };
    let checked: Result<Reply, Problem> = checked.await;
    checked.into_response()
}

fn checked(
    store: &Store,
    sent: &SentDocument,
    options: AddOptions,
    freshness: Freshness,
) -> Result<Reply, Problem> {
    let since = Instant::now();
    sent.read(Some(""), |document| {
        let (verdict, change) = options.intake(store).check_as_of(document, freshness)?;
        let microseconds = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        let reply = Reply::json(&answers::Checked::of(&document.id, &verdict, microseconds));
        Ok(reply.with_header(CHANGE, HeaderValue::from(change)))
    })
}

/// Which document is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct KeyParameters {
    /// Its key, or its address.
    pub(crate) key: Option<String>,
    /// How many documents to list, if no key is given: 20 unless said, at most 1000.
    pub(crate) limit: Option<usize>,
    /// Where the list goes on.
    pub(crate) cursor: Option<String>,
}

/// A document, or the latest documents.
#[utoipa::path(
    get,
    path = "/v1/documents",
    tag = "documents",
    description = "With `key` a document and all that is known of it; its `ETag` names the edit and \
        the decision that made it what it is. Without it the documents that came in last, a page at a time.",
    params(KeyParameters),
    responses((status = 200, body = answers::DocumentList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn list(
    service: &Inquiry,
    asked: KeyParameters,
    _view: &View,
) -> Result<Reply, Problem> {
    if let Some(key) = &asked.key {
        return shown(service, key);
    }
    let question = DocumentsQuestion { limit: asked.limit, cursor: asked.cursor };
    Ok(Reply::json(&question.ask(&service.store)?.answer()))
}

fn shown(service: &Inquiry, key: &str) -> Result<Reply, Problem> {
    let document = questions::document(&service.store, key)?;
    Ok(Reply::json(&answers::Document::of(&document)).with_header(ETAG, edit_mark(&document)))
}

/// A document.
#[utoipa::path(
    get,
    path = "/v1/documents/{key}",
    tag = "documents",
    description = "A document and all that is known of it. The key stands in the address with its \
        slashes written as %2F; `/v1/documents?key=` takes it too.",
    params(("key" = String, Path, description = "its key, percent-encoded")),
    responses((status = 200, body = answers::Document), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn get_one(
    State(service): State<Arc<Service>>,
    Path(key): Path<String>,
) -> Response {
    service.answer(move |service| shown(service, &key)).await.into_response()
}

/// Removes a document.
#[utoipa::path(
    delete,
    path = "/v1/documents/{key}",
    tag = "documents",
    description = "Removes a document with all its versions. Copies of a removed original are decided \
        again. `If-Match` with the document's `ETag` removes it only if nobody edited it, or decided about it, since.",
    params(("key" = String, Path, description = "its key, percent-encoded")),
    responses((status = 204, description = "removed"), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn delete_one(
    State(service): State<Arc<Service>>,
    Path(key): Path<String>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    deleted(&service, &parts, key).await.into_response()
}

/// Removes a document whose key stands in a parameter.
#[utoipa::path(
    delete,
    path = "/v1/documents",
    tag = "documents",
    description = "As `DELETE /v1/documents/{key}`, with the key as a parameter.",
    params(("key" = String, Query, description = "its key")),
    responses((status = 204, description = "removed"), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn delete_by_parameter(
    State(service): State<Arc<Service>>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let deleted = async {
        let asked: KeyParameters = from_address(&parts)?;
        let key = asked.key.ok_or_else(|| {
            Problem::new(Code::BadParameter, "`key` says which document is removed")
        })?;
        deleted(&service, &parts, key).await
    };
    let deleted: Result<Reply, Problem> = deleted.await;
    deleted.into_response()
}

async fn deleted(service: &Arc<Service>, parts: &Parts, key: String) -> Result<Reply, Problem> {
    if service.is_ending() {
        return Err(Problem::new(Code::ShuttingDown, "nothing more is removed"));
    }
    let (expected, who) = (expected(&parts.headers)?, Who::of(parts));
    service
        .act(move |service| {
            if !service.store.delete_as(&key, expected, who.name())? {
                return Err(Problem::unknown(&key));
            }
            Ok(Reply::text(String::new()).with_status(StatusCode::NO_CONTENT))
        })
        .await
}
