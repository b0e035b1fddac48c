//! Health checks, metrics, the status of the store, backups.

use std::path::Path;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wonbon_app::answers;

use super::places::Nothing;
use crate::inquiry::Inquiry;
use crate::metrics::CONTENT_TYPE;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reply, View};

/// Whether the process answers at all.
pub(crate) async fn healthz() -> Response {
    Reply::text("ok\n".to_owned()).into_response()
}

/// Whether it takes requests: not while it ends, and not if the store does not answer or no longer writes.
pub(crate) async fn readyz(State(service): State<Arc<Service>>) -> Response {
    if service.is_ending() {
        return Problem::new(Code::ShuttingDown, "it takes no more requests").into_response();
    }
    let answered = service.answer(|service| {
        service.store.search_behind()?;
        let written = service.store.check_writer();
        written.map_err(|error| Problem::inside(Code::WriteFailed, &error))?;
        Ok(Reply::text("ready\n".to_owned()))
    });
    answered.await.into_response()
}

/// Everything that is counted.
pub(crate) async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let answered = service.answer(|service| {
        let jobs = service.jobs().ok().map(|jobs| &**jobs);
        let text =
            service.metrics.text(&service.store, [&service.bodies, &service.answers], jobs)?;
        Ok(Reply::bytes(CONTENT_TYPE, text.into()))
    });
    answered.await.into_response()
}

/// What the store holds, how it decides, what it takes.
#[utoipa::path(
    get,
    path = "/v1/status",
    tag = "service",
    description = "What the store holds, how it decides, and what it takes on disk and in memory.",
    responses((status = 200, body = answers::Status), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn status(service: &Inquiry, _asked: Nothing, view: &View) -> Result<Reply, Problem> {
    let mut status = answers::Status::of(&service.store, service.open_seconds)?;
    // Whoever may read the store need not know where on the machine it is.
    status.store = match service.store.is_shared() {
        true => "PostgreSQL".to_owned(),
        false => name_of(service.store.directory()),
    };
    Ok(match view {
        View::Page(reader) => pages::status_page(service, reader, &status),
        View::Json => Reply::json(&status),
    })
}

/// The last part of a path.
fn name_of(directory: &Path) -> String {
    directory.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A backup to be made.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct BackupQuestion {
    /// What it is called: letters, digits, dots, dashes and underscores.
    name: String,
}

/// A backup that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BackupAnswer {
    /// What it is called.
    name: String,
    /// Bytes of its database.
    database_bytes: u64,
}

/// Makes a backup.
#[utoipa::path(
    post,
    path = "/v1/backup",
    tag = "service",
    description = "Writes a copy of the store, as of one moment, to a directory of this name below the one the service was started with (`--backups`), while others read and write.",
    request_body(content = BackupQuestion, content_type = "application/json"),
    responses((status = 200, body = BackupAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn backup(
    service: &Inquiry,
    asked: BackupQuestion,
    _view: &View,
) -> Result<Reply, Problem> {
    let Some(folder) = &service.config.backups else {
        return Err(Problem::new(Code::NoBackups, "start it with `--backups DIR`"));
    };
    let name = asked.name;
    if !is_plain_name(&name) {
        let detail = "a name has letters, digits, dots, dashes and underscores, and no dot first";
        return Err(Problem::new(Code::BadParameter, detail));
    }
    let directory = folder.join(Path::new(&name));
    service.store.backup(&directory)?;
    let database_bytes =
        std::fs::metadata(directory.join("documents.sqlite")).map_or(0, |metadata| metadata.len());
    Ok(Reply::json(&BackupAnswer { name, database_bytes }))
}

/// A name that leads nowhere else.
fn is_plain_name(name: &str) -> bool {
    (1..=100).contains(&name.len())
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_backups_lead_nowhere_else() {
        assert!(is_plain_name("2026-11-16") && is_plain_name("a.b_c"));
        for wrong in ["", ".", "..", "../x", "a/b", ".hidden", "a\\b", "가", "a b", "/etc"] {
            assert!(!is_plain_name(wrong), "{wrong}");
        }
    }
}
