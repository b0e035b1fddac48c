//! Problems, in one table: a stable code, an HTTP status, a title in both languages.
//!
//! Programs tell problems apart by `code`; it never changes its meaning. People read `title` and
//! `detail`. Sent as `application/problem+json` (RFC 9457) to programs and as a page to people. The
//! cause of an internal problem (damage, a defect) is written to the log and not sent.

use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use wonbon_app::{AppError, RequestError, public_sentence};
use wonbon_crawl::fetch::FetchError;
use wonbon_store::{QueryError, SearchError, StoreError};

use crate::view::Language;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $status:literal, $title:literal, $korean:literal;)+) => {
        /// Everything that can go wrong, as programs tell it apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// All of them.
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// The stable name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            /// The HTTP status.
            #[must_use]
            pub fn status(self) -> StatusCode {
                let number = match self { $(Code::$variant => $status,)+ };
                StatusCode::from_u16(number).expect("the table holds statuses")
            }

            /// What it means, whoever asked.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Code::$variant => $title,)+ }
            }

            /// The same, for a page.
            pub(crate) fn title_in(self, language: Language) -> &'static str {
                match (self, language) {
                    (_, Language::English) => self.title(),
                    $((Code::$variant, Language::Korean) => $korean,)+
                }
            }
        }
    };
}

codes! {
    /// A parameter is missing, unknown or out of its range.
    BadParameter = "bad_parameter", 400, "A parameter is invalid", "매개변수가 올바르지 않습니다";
    /// The body is no JSON, or not of the right shape.
    BadJson = "bad_json", 400, "The JSON is invalid", "JSON이 올바르지 않습니다";
    /// The body is not UTF-8.
    NotUtf8 = "not_utf8", 400, "The text is not UTF-8", "UTF-8 글이 아닙니다";
    /// The words to search for cannot be read.
    BadQuery = "bad_query", 400, "The query cannot be read", "검색어를 읽을 수 없습니다";
    /// The cursor is none that was given out.
    BadCursor = "bad_cursor", 400, "The cursor is invalid", "알 수 없는 커서입니다";
    /// Pages of results end somewhere.
    TooDeep = "too_deep", 400, "Results end before that", "결과는 그 앞에서 끝납니다";
    /// A key has 1 to 4096 bytes.
    BadKey = "bad_key", 422, "This cannot be a key", "키가 될 수 없습니다";
    /// There is nothing to compare.
    NoWords = "no_words", 422, "The text has no words", "글에 낱말이 없습니다";
    /// A job's input is none of the files it may read.
    BadInput = "bad_input", 422, "The input is not there or leads elsewhere", "입력이 없거나 다른 곳으로 이어집니다";
    /// A crawl may ask public addresses only, and those the service was told at start.
    ForbiddenAddress = "forbidden_address", 422, "This address must not be asked", "요청해서는 안 되는 주소입니다";
    /// A token is needed.
    TokenNeeded = "token_needed", 401, "A token is needed", "토큰이 필요합니다";
    /// The token is not known.
    TokenUnknown = "token_unknown", 401, "The token is not known", "알 수 없는 토큰입니다";
    /// The token's time is over.
    TokenExpired = "token_expired", 401, "The token has expired", "토큰의 기한이 지났습니다";
    /// The token may not do this.
    ScopeMissing = "scope_missing", 403, "The token does not allow this", "이 토큰으로는 할 수 없습니다";
    /// The request comes from a page of another site.
    CrossSite = "cross_site", 403, "Requests from other sites are refused", "다른 사이트에서 온 요청은 받지 않습니다";
    /// The form is not one that this service gave out lately.
    BadForm = "bad_form", 403, "The form is too old or not ours", "양식이 오래되었거나 우리 것이 아닙니다";
    /// There is nothing at this address.
    NoSuchAddress = "no_such_address", 404, "There is nothing at this address", "이 주소에는 아무것도 없습니다";
    /// There is no such document.
    UnknownDocument = "unknown_document", 404, "There is no such document", "그런 문서가 없습니다";
    /// The document is not watched.
    NotWatched = "not_watched", 404, "The document is not watched", "지켜보는 문서가 아닙니다";
    /// There is no such job.
    UnknownJob = "unknown_job", 404, "There is no such job", "그런 작업이 없습니다";
    /// The address is right and the method is not.
    MethodNotAllowed = "method_not_allowed", 405, "This cannot be done here", "여기서는 할 수 없습니다";
    /// The client took too long to send.
    TooSlow = "too_slow", 408, "The request took too long to arrive", "요청이 너무 늦게 도착했습니다";
    /// Sweeps are added in order.
    SweepTooEarly = "sweep_too_early", 409, "The sweep is earlier than the latest", "최근 순회보다 이른 순회입니다";
    /// There is one already.
    AlreadyThere = "already_there", 409, "There is one already", "이미 있습니다";
    /// No directory for backups was named at start.
    NoBackups = "no_backups", 409, "This service was started without a place for backups", "백업할 곳 없이 시작된 서비스입니다";
    /// No decision is in effect, or another than the one named is the last.
    NothingToUndo = "nothing_to_undo", 409, "There is no such decision to take back", "되돌릴 결정이 없습니다";
    /// No directory for jobs was named at start.
    NoJobs = "no_jobs", 409, "This service was started without a place for jobs", "작업할 곳 없이 시작된 서비스입니다";
    /// The service was started with `--follow none`.
    NotFollowed = "not_followed", 409, "This instance does not search or answer questions", "이 인스턴스는 검색하거나 질문에 답하지 않습니다";
    /// A job that has ended cannot be paused, one that runs not be resumed.
    WrongState = "wrong_state", 409, "The job is not in a state for this", "지금 상태의 작업에는 할 수 없습니다";
    /// `If-Match` or `If-None-Match` does not hold.
    NotAsExpected = "not_as_expected", 412, "Precondition failed: the document changed since it was read", "문서가 예상과 다릅니다";
    /// The body or a line is too large.
    TooLarge = "too_large", 413, "The request is too large", "요청이 너무 큽니다";
    /// The kind of content, or its charset, is not taken here.
    UnsupportedContent = "unsupported_content", 415, "This kind of content is not taken here", "이런 내용은 받지 않습니다";
    /// The name by which the service was called is none of its own.
    WrongHost = "wrong_host", 421, "The service is not known by this name", "이 이름의 서비스가 아닙니다";
    /// This client asks too often.
    TooManyRequests = "too_many_requests", 429, "Too many requests", "요청이 너무 많습니다";
    /// Something inside is wrong; the log says what.
    Failed = "failed", 500, "Something went wrong inside", "안에서 문제가 생겼습니다";
    /// The store is damaged; nothing was answered from it.
    Damaged = "damaged", 500, "The store is damaged", "저장소가 손상되었습니다";
    /// Too many requests at once.
    Busy = "busy", 503, "The service is busy", "서비스가 바쁩니다";
    /// The answer took too long.
    TookTooLong = "took_too_long", 503, "The answer took too long", "답이 너무 오래 걸렸습니다";
    /// The service is ending.
    ShuttingDown = "shutting_down", 503, "The service is shutting down", "서비스가 끝나는 중입니다";
    /// The database was lost while the answer to a commit was waited for.
    InDoubt = "in_doubt", 503, "It is not known whether this was stored", "저장되었는지 알 수 없습니다";
    /// What answers the question cannot catch up with the documents.
    Behind = "behind", 503, "An index is behind and cannot catch up", "색인이 뒤처져 따라오지 못합니다";
    /// A write failed and nothing of it was stored.
    WriteFailed = "write_failed", 503, "Writing failed, nothing of this was stored", "쓰지 못했고 아무것도 저장되지 않았습니다";
    /// No room is left on the disk; nothing of it was stored.
    DiskFull = "disk_full", 507, "The disk is full, nothing of this was stored", "디스크가 가득 차 아무것도 저장되지 않았습니다";
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What.
    pub code: Code,
    /// The facts, in a sentence.
    pub detail: String,
    /// In how many seconds it is worth trying again.
    pub retry_after: Option<u32>,
}

/// A problem as it is sent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemJson<'a> {
    /// Names the code as an address within the documentation.
    pub r#type: String,
    /// What the code means.
    pub title: &'a str,
    /// The HTTP status.
    pub status: u16,
    /// The facts, in a sentence.
    pub detail: &'a str,
    /// The stable code.
    pub code: &'a str,
    /// In a stream: which line of the request, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl Problem {
    /// A problem with the facts in a sentence.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let retry_after = match code {
            Code::TooManyRequests | Code::Busy | Code::Behind => Some(1),
            Code::TookTooLong | Code::ShuttingDown | Code::WriteFailed | Code::InDoubt => Some(5),
            Code::DiskFull => Some(60),
            _ => None,
        };
        Problem { code, detail: detail.into(), retry_after }
    }

    /// A problem inside: the log is told, the client only that there is one.
    pub(crate) fn inside(code: Code, error: &dyn std::error::Error) -> Self {
        tracing::error!(code = code.name(), %error, "a request failed");
        Problem::new(code, "the log of the service says more")
    }

    /// A document that is not there.
    pub(crate) fn unknown(name: &str) -> Self {
        Problem::new(Code::UnknownDocument, format!("there is no document `{name}`"))
    }

    /// As it is sent; of a line of a stream, with its number.
    pub(crate) fn json(&self, line: Option<u64>) -> ProblemJson<'_> {
        ProblemJson {
            r#type: format!("/docs#{}", self.code.name()),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            detail: &self.detail,
            code: self.code.name(),
            line,
        }
    }

    /// The headers that go with it.
    pub(crate) fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = Vec::new();
        if let Some(seconds) = self.retry_after {
            headers.push((RETRY_AFTER, HeaderValue::from(seconds)));
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            headers.push((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        }
        headers
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.json(None)).expect("it is made of text and numbers");
        let mut response = (self.code.status(), body).into_response();
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response.headers_mut().extend(self.headers());
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::BadKey { .. } | StoreError::NulInKey => Code::BadKey,
            StoreError::Busy { .. } | StoreError::Unreachable { .. } => Code::Busy,
            StoreError::TooLong { .. } => Code::TooLarge,
            StoreError::NoWords => Code::NoWords,
            StoreError::UnknownDocument { .. } => Code::UnknownDocument,
            StoreError::NothingToUndo { .. } => Code::NothingToUndo,
            StoreError::ReasonTooLong { .. } => Code::BadParameter,
            StoreError::NotAsExpected { .. } => Code::NotAsExpected,
            StoreError::SweepTooEarly { .. } => Code::SweepTooEarly,
            StoreError::AlreadyThere { .. } => Code::AlreadyThere,
            StoreError::Cancelled => Code::TookTooLong,
            StoreError::DiskFull => Code::DiskFull,
            StoreError::WriteFailed { .. } | StoreError::Stopped { .. } => Code::WriteFailed,
            StoreError::InDoubt { .. } => Code::InDoubt,
            StoreError::NotFollowed { .. } => Code::NotFollowed,
            StoreError::ReadOnly { .. } => Code::ShuttingDown,
            StoreError::Behind { .. } => Code::Behind,
            StoreError::Search(SearchError::TooDeep { .. }) => Code::TooDeep,
            StoreError::Damaged { .. } => Code::Damaged,
            _ => Code::Failed,
        };
        match public_sentence(&error) {
            Some(sentence) => Problem::new(code, sentence),
            None => Problem::inside(code, &error),
        }
    }
}

impl From<RequestError> for Problem {
    fn from(error: RequestError) -> Self {
        let code = match error {
            RequestError::Cursor => Code::BadCursor,
            RequestError::Side { .. } => Code::BadJson,
            _ => Code::BadParameter,
        };
        Problem::new(code, error.to_string())
    }
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        let code = match error {
            AppError::Store(error) => return error.into(),
            AppError::Request(error) => return error.into(),
            AppError::Record { source } => {
                return match source.kind() {
                    std::io::ErrorKind::StorageFull => {
                        Problem::new(Code::DiskFull, "the job's record could not be written")
                    }
                    _ => Problem::inside(Code::WriteFailed, &source),
                };
            }
            AppError::UnknownDocument { .. } => Code::UnknownDocument,
            AppError::NotWatched { .. } => Code::NotWatched,
            AppError::Query(_) => Code::BadQuery,
            AppError::UnknownJob { .. } => Code::UnknownJob,
            AppError::WrongState { .. } => Code::WrongState,
            AppError::BadInput { .. } | AppError::NoInputs => Code::BadInput,
            AppError::ForbiddenSeed { .. }
            | AppError::Seed { source: FetchError::Forbidden { .. }, .. } => Code::ForbiddenAddress,
            AppError::Seed { .. } => Code::BadParameter,
            AppError::TooManyJobs { .. } => Code::Busy,
            AppError::Ending => Code::ShuttingDown,
            other => return Problem::inside(Code::Failed, &other),
        };
        Problem::new(code, error.to_string())
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        Problem::new(Code::BadQuery, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_distinct_and_read_like_names() {
        let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            let name = code.name();
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'8'),
                "{name}"
            );
            assert!(code.status().is_client_error() || code.status().is_server_error());
            assert!(!code.title().ends_with('.'), "{name}: a title is no sentence");
        }
    }

    #[test]
    fn the_documentation_lists_every_code() {
        let documentation = include_str!("../../../docs/server.md");
        for code in Code::ALL {
            let row =
                format!("| `{}` | {} | {} |\n", code.name(), code.status().as_u16(), code.title());
            assert!(documentation.contains(&row), "docs/server.md lacks {row}");
        }
    }

    #[test]
    fn what_waits_says_how_long() {
        for code in Code::ALL {
            let problem = Problem::new(*code, "");
            let temporary = matches!(code.status().as_u16(), 429 | 503 | 507);
            assert_eq!(problem.retry_after.is_some(), temporary, "{code:?}");
        }
    }

    #[test]
    fn what_fails_inside_is_not_told_outside() {
        let secret = "/home/somebody/store";
        for error in [
            StoreError::Damaged { path: secret.into(), what: "row 7".into() },
            StoreError::WriteFailed { what: secret.into() },
            StoreError::Stopped { what: secret.into() },
            StoreError::Behind { which: "search", what: secret.into() },
            StoreError::AlreadyThere { path: secret.into() },
            StoreError::ReadOnly { path: secret.into() },
            StoreError::Io {
                doing: "read",
                path: secret.into(),
                source: std::io::Error::other("x"),
            },
        ] {
            let problem = Problem::from(error);
            assert!(!problem.detail.contains("somebody"), "{problem:?}");
        }
        assert_eq!(Problem::from(StoreError::DiskFull).code, Code::DiskFull);
    }
}
