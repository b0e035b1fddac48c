//! Requests: bodies within their limits, parameters from addresses, JSON and forms, and the one path from a
//! question to its answer.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Query, Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodFilter, MethodRouter};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;

use crate::body_budget::RequestRoom;
use crate::inquiry::Inquiry;
use crate::json_address::redirect_to_json;
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reader, Reply, View, is_our_form};

/// A body that is being read, within its limits.
pub(crate) struct Incoming {
    body: Body,
    idle: Duration,
}

impl Incoming {
    pub(crate) fn new(service: &Service, body: Body) -> Self {
        Incoming { body, idle: service.config.limits.body_time }
    }

    /// The next piece; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            let frame = tokio::time::timeout(self.idle, self.body.frame()).await;
            let frame = frame.map_err(|_| {
                let seconds = self.idle.as_secs_f64();
                Problem::new(Code::TooSlow, format!("nothing came for {seconds} seconds"))
            })?;
            return match frame {
                None => Ok(None),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => Ok(Some(data)),
                    // Trailers say nothing here.
                    Err(_) => continue,
                },
                Some(Err(_)) => {
                    Err(Problem::new(Code::BadParameter, "the body ended before its end"))
                }
            };
        }
    }
}

/// How large something is that is too large.
pub(crate) fn too_large(most: usize) -> Problem {
    Problem::new(Code::TooLarge, format!("at most {most} bytes are taken"))
}

/// The longest form that asks for no token: it holds a token and the mark of the page.
pub(crate) const SIGN_IN_BYTES: usize = 4 << 10;

/// The longest form: keys have up to 4 kB, three bytes for each, and a crawl may have some hundred seeds.
const FORM_BYTES: usize = 64 << 10;

/// A whole body.
pub(crate) async fn whole_body(
    service: &Service,
    parts: &Parts,
    body: Body,
) -> Result<Bytes, Problem> {
    body_up_to(service, parts, body, service.config.limits.body_bytes).await
}

/// A whole body of at most so many bytes, which are counted in the room of its request.
pub(crate) async fn body_up_to(
    service: &Service,
    parts: &Parts,
    body: Body,
    most: usize,
) -> Result<Bytes, Problem> {
    let most = most.min(service.config.limits.body_bytes);
    let room = parts.extensions.get::<RequestRoom>();
    let grow = |bytes: usize| room.map_or(Ok(()), |room| room.grow(bytes));
    let said =
        parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if said.is_some_and(|said: usize| said > most) {
        return Err(too_large(most));
    }
    let mut incoming = Incoming::new(service, body);
    let read = async {
        let Some(first) = incoming.next().await? else { return Ok(Bytes::new()) };
        let mut whole: Option<BytesMut> = None;
        let mut length = first.len();
        grow(length)?;
        while let Some(piece) = incoming.next().await? {
            length += piece.len();
            if length > most {
                return Err(too_large(most));
            }
            grow(piece.len())?;
            whole.get_or_insert_with(|| BytesMut::from(&first[..])).extend_from_slice(&piece);
        }
        if length > most {
            return Err(too_large(most));
        }
        Ok(whole.map_or(first, BytesMut::freeze))
    };
    let limit = service.config.limits.body_time;
    tokio::time::timeout(limit, read).await.unwrap_or_else(|_| {
        let seconds = limit.as_secs_f64();
        Err(Problem::new(Code::TooSlow, format!("the body was not there within {seconds} seconds")))
    })
}

/// What kind of content a body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentKind {
    /// `application/json`, in small letters.
    pub(crate) essence: String,
    /// The charset, if it says one, in small letters.
    pub(crate) charset: Option<String>,
}

impl ContentKind {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mut pieces = text.unwrap_or_default().split(';').map(str::trim);
        let essence = pieces.next().unwrap_or_default().to_ascii_lowercase();
        let charset = pieces.find_map(|piece| {
            let (name, value) = piece.split_once('=')?;
            let value = value.trim().trim_matches('"').to_ascii_lowercase();
            name.trim().eq_ignore_ascii_case("charset").then_some(value)
        });
        ContentKind { essence, charset }
    }

    /// Refuses JSON in another charset than it has.
    pub(crate) fn check_charset(&self) -> Result<(), Problem> {
        match self.charset.as_deref() {
            None | Some("utf-8" | "utf8" | "us-ascii") => Ok(()),
            Some(other) => {
                let detail = format!("JSON is UTF-8, and the request says {other}");
                Err(Problem::new(Code::UnsupportedContent, detail))
            }
        }
    }

    pub(crate) fn unsupported(&self, taken: &str) -> Problem {
        let detail = match self.essence.as_str() {
            "" => format!("say what kind of content it is: {taken}"),
            essence => format!("{essence} is not taken; {taken} is"),
        };
        Problem::new(Code::UnsupportedContent, detail)
    }
}

/// Parameters from the address.
pub(crate) fn from_address<P: DeserializeOwned>(parts: &Parts) -> Result<P, Problem> {
    Query::<P>::try_from_uri(&parts.uri)
        .map(|Query(parameters)| parameters)
        .map_err(|error| Problem::new(Code::BadParameter, error.body_text()))
}

/// Bytes as text, or the problem that they are none.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Problem::new(Code::NotUtf8, format!("byte {at} does not belong to UTF-8 text"))
    })
}

/// A value from JSON.
pub(crate) fn from_json<P: DeserializeOwned>(body: &[u8]) -> Result<P, Problem> {
    let text = utf8(body)?;
    serde_json::from_str(text).map_err(|error| Problem::new(Code::BadJson, error.to_string()))
}

/// A form's own mark, beside whatever else it has.
#[derive(serde::Deserialize)]
struct Marked {
    #[serde(default)]
    form: String,
}

/// Parameters from a form of a page of ours.
pub(crate) async fn from_form<P: DeserializeOwned>(
    service: &Service,
    parts: &Parts,
    body: Bytes,
) -> Result<P, Problem> {
    let kind = ContentKind::of(&parts.headers);
    if kind.essence != "application/x-www-form-urlencoded" {
        return Err(kind.unsupported("application/x-www-form-urlencoded"));
    }
    let Marked { form } = form_values(parts, body.clone()).await?;
    if !is_our_form(service, &parts.headers, &form) {
        return Err(Problem::new(Code::BadForm, "load the page again and send its form"));
    }
    form_values(parts, body).await
}

async fn form_values<P: DeserializeOwned>(parts: &Parts, body: Bytes) -> Result<P, Problem> {
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = Method::POST;
    request.headers_mut().clone_from(&parts.headers);
    axum::Form::<P>::from_request(request, &())
        .await
        .map(|axum::Form(values)| values)
        .map_err(|error| Problem::new(Code::BadParameter, error.body_text()))
}

/// A function that answers a question for a program or a person: `V` is a [`View`], or a [`Reader`] for
/// what only people ask.
pub(crate) type Answers<P, V = View> = fn(&Inquiry, P, &V) -> Result<Reply, Problem>;

/// A question whose parameters stand in the address.
pub(crate) fn question<P>(answers: Answers<P>) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
{
    on(MethodFilter::GET, View::of, answers, |_, _, _| None)
}

/// A page that no API route shares: its parameters stand in the address.
pub(crate) fn page<P>(answers: Answers<P, Reader>) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
{
    on(MethodFilter::GET, Reader::of, answers, |_, _, _| None)
}

/// As [`question`]. Those that are brief, because they take less than changing the thread twice is worth, are
/// answered where they are read.
pub(crate) fn brief_question<P>(
    answers: Answers<P>,
    briefly: Briefly<P>,
) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
{
    on(MethodFilter::GET, View::of, answers, briefly)
}

/// Answers a question if that takes well under a millisecond.
pub(crate) type Briefly<P, V = View> = fn(&Service, &P, &V) -> Option<Result<Reply, Problem>>;

/// Something that is removed, whose name stands in the address.
pub(crate) fn removal<P>(answers: Answers<P>) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
{
    on(MethodFilter::DELETE, View::of, answers, |_, _, _| None)
}

fn on<P, V>(
    method: MethodFilter,
    view_of: fn(&Service, &Parts) -> V,
    answers: Answers<P, V>,
    briefly: Briefly<P, V>,
) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
    V: Send + Sync + 'static,
{
    routing::on(
        method,
        async move |State(service): State<Arc<Service>>, request: Request| -> Response {
            let (parts, _) = request.into_parts();
            if let Some(redirect) = redirect_to_json(&parts) {
                return redirect.into_response();
            }
            let view = view_of(&service, &parts);
            let answered = match from_address::<P>(&parts) {
                Ok(parameters) => match briefly(&service, &parameters, &view) {
                    Some(answered) => answered,
                    None => {
                        service.answer(move |service| answers(service, parameters, &view)).await
                    }
                },
                Err(problem) => Err(problem),
            };
            answered.into_response()
        },
    )
}

/// What was sent: as JSON by a program, or as a form by a person.
pub(crate) async fn parameters_sent<P: DeserializeOwned>(
    service: &Arc<Service>,
    parts: &Parts,
    body: Body,
) -> Result<P, Problem> {
    let is_form = !parts.uri.path().starts_with("/v1/");
    // `/ask` takes a whole text.
    let most = if is_form && parts.uri.path() != "/ask" { FORM_BYTES } else { usize::MAX };
    let body = body_up_to(service, parts, body, most).await?;
    if is_form {
        return from_form(service, parts, body).await;
    }
    let kind = ContentKind::of(&parts.headers);
    if kind.essence != "application/json" {
        return Err(kind.unsupported("application/json"));
    }
    kind.check_charset()?;
    from_json(&body)
}

/// A question whose parameters come as JSON from programs, or as a form from people.
pub(crate) fn posted<P>(answers: Answers<P>) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
{
    sent(answers, false)
}

/// Something that is done, not asked: it is never told as too late once it has begun ([`Service::act`]).
pub(crate) fn action<P>(answers: Answers<P>) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
{
    sent(answers, true)
}

fn sent<P>(answers: Answers<P>, is_action: bool) -> MethodRouter<Arc<Service>>
where
    P: DeserializeOwned + Send + 'static,
{
    routing::post(async move |State(service): State<Arc<Service>>, request: Request| -> Response {
        let (parts, body) = request.into_parts();
        let view = View::of(&service, &parts);
        let answered = async {
            let parameters: P = parameters_sent(&service, &parts, body).await?;
            let answer = move |service: &Inquiry| answers(service, parameters, &view);
            if is_action { service.act(answer).await } else { service.answer(answer).await }
        };
        answered.await.into_response()
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_kind_of_content_is_told_from_its_charset() {
        let mut headers = HeaderMap::new();
        headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("Application/JSON; Charset=\"EUC-KR\""));
        let kind = ContentKind::of(&headers);
        assert_eq!(
            (kind.essence.as_str(), kind.charset.as_deref()),
            ("application/json", Some("euc-kr"))
        );
        assert_eq!(kind.check_charset().unwrap_err().code, Code::UnsupportedContent);
    }
}
