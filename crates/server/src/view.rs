//! In which form an answer is wanted (JSON or a page), and the answer as it is sent.
//!
//! Every question has one function that answers it. The function gets a [`View`], which says whether a
//! program asks (JSON) or a person (a page in their language). So a page and the API route that answers
//! the same question cannot differ in what they know.

use axum::body::Body;
use axum::http::header::{ACCEPT, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_TYPE, COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;
use wonbon_app::tokens::random_bytes;

use crate::service::Service;

/// The cookie that remembers the language.
pub(crate) const LANGUAGE_COOKIE: &str = "wonbon_language";
/// The cookie that remembers light or dark.
pub(crate) const SCHEME_COOKIE: &str = "wonbon_scheme";
/// The cookie that holds a token.
pub(crate) const TOKEN_COOKIE: &str = "wonbon_token";
/// The cookie that forms are tied to.
const FORM_COOKIE: &str = "wonbon_form";

/// The languages of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    English,
    Korean,
}

impl Language {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Korean => "ko",
        }
    }

    pub(crate) fn from_code(code: &str) -> Option<Self> {
        [Language::English, Language::Korean].into_iter().find(|language| language.code() == code)
    }

    /// What a browser likes best of what there is; English if it says nothing of the two.
    fn from_accept_header(header: &str) -> Self {
        let mut best = (0.0, Language::English);
        for part in header.split(',') {
            let mut pieces = part.split(';');
            let tag = pieces.next().unwrap_or_default().trim();
            let primary = tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
            let weight = pieces
                .find_map(|piece| piece.trim().strip_prefix("q=")?.trim().parse().ok())
                .unwrap_or(1.0_f64);
            if let Some(language) = Language::from_code(&primary)
                && weight > best.0
            {
                best = (weight, language);
            }
        }
        best.1
    }
}

/// Light or dark, if the person chose; otherwise what their system says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    Auto,
    Light,
    Dark,
}

impl Scheme {
    pub(crate) const ALL: [Scheme; 3] = [Scheme::Auto, Scheme::Light, Scheme::Dark];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Scheme::Auto => "auto",
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name() == name)
    }
}

/// What a page needs to know of who looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    pub(crate) language: Language,
    pub(crate) scheme: Scheme,
    /// The address of the page with its question, for links back to it.
    pub(crate) address: String,
    /// What marks its forms as ours.
    pub(crate) form_mark: String,
    /// The cookie the mark is tied to, if the browser has none yet.
    new_form_cookie: Option<String>,
    /// Whether there are tokens, and this reader came with one.
    pub(crate) signed_in: Option<bool>,
}

/// How an answer is wanted.
#[derive(Debug, Clone)]
pub(crate) enum View {
    Json,
    Page(Box<Reader>),
}

impl View {
    /// Programs ask under `/v1`, people everywhere else.
    pub(crate) fn of(service: &Service, parts: &Parts) -> View {
        if parts.uri.path().starts_with("/v1/") {
            View::Json
        } else {
            View::Page(Box::new(Reader::of(service, parts)))
        }
    }
}

/// Whether a request wants JSON: by its address, or because `Accept` says so.
pub(crate) fn wants_json(parts: &Parts) -> bool {
    let path = parts.uri.path();
    if path.starts_with("/v1/") || path.ends_with(".json") {
        return true;
    }
    let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let place = |kind: &str| accept.and_then(|accept| accept.find(kind));
    match (place("application/json"), place("text/html")) {
        (Some(json), Some(html)) => json < html,
        (json, _) => json.is_some(),
    }
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).find_map(|cookies| {
        cookies.split(';').find_map(|pair| {
            let (found, value) = pair.trim().split_once('=')?;
            (found == name).then_some(value)
        })
    })
}

/// A digest of the cookie that only this service can make.
fn form_digest(service: &Service, cookie: &str) -> Hmac<Sha256> {
    let digest = Hmac::<Sha256>::new_from_slice(&service.form_secret);
    digest.expect("a key may have any length").chain_update(cookie)
}

fn form_mark(service: &Service, cookie: &str) -> String {
    HEXLOWER.encode(&form_digest(service, cookie).finalize().into_bytes())
}

/// Whether a form carries the mark that goes with its cookie.
pub(crate) fn is_our_form(service: &Service, headers: &HeaderMap, mark: &str) -> bool {
    let Ok(mark) = HEXLOWER.decode(mark.as_bytes()) else { return false };
    cookie(headers, FORM_COOKIE).is_some_and(|cookie| {
        is_form_cookie(cookie) && form_digest(service, cookie).verify_slice(&mark).is_ok()
    })
}

fn is_form_cookie(cookie: &str) -> bool {
    cookie.len() == 32 && cookie.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Reader {
    pub(crate) fn of(service: &Service, parts: &Parts) -> Reader {
        let headers = &parts.headers;
        let chosen = cookie(headers, LANGUAGE_COOKIE).and_then(Language::from_code);
        let accepted = || {
            let header = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
            header.map_or(Language::English, Language::from_accept_header)
        };
        let known = cookie(headers, FORM_COOKIE).filter(|cookie| is_form_cookie(cookie));
        let new_form_cookie = match known {
            Some(_) => None,
            // Without random bytes no form is taken.
            None => random_bytes::<16>().ok().map(|bytes| HEXLOWER.encode(&bytes)),
        };
        let tied = known.or(new_form_cookie.as_deref()).unwrap_or_default();
        let address = parts.uri.path_and_query().map_or("/", |address| address.as_str());
        Reader {
            language: chosen.unwrap_or_else(accepted),
            scheme: cookie(headers, SCHEME_COOKIE)
                .and_then(Scheme::from_name)
                .unwrap_or(Scheme::Auto),
            address: address.to_owned(),
            form_mark: form_mark(service, tied),
            new_form_cookie,
            signed_in: service
                .tokens
                .is_some()
                .then(|| cookie(headers, TOKEN_COOKIE).is_some_and(|token| !token.is_empty())),
        }
    }
}

/// A cookie that only this service sees, from its own pages.
pub(crate) fn set_cookie(name: &str, value: &str, seconds: Option<u32>) -> HeaderValue {
    let age = seconds.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{age}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

/// An answer as it is sent.
#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: Bytes,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Reply {
    /// Bytes of some kind.
    pub(crate) fn bytes(content_type: &'static str, body: Bytes) -> Self {
        Reply { status: StatusCode::OK, content_type, body, headers: Vec::new() }
    }

    /// A value as JSON.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        // As long as most answers are, so that it does not grow step by step.
        let mut body = Vec::with_capacity(8 << 10);
        serde_json::to_writer(&mut body, value).expect("answers have text for keys");
        Reply::bytes("application/json", body.into())
    }

    /// A page.
    pub(crate) fn html(html: String, reader: &Reader) -> Self {
        let mut headers = Vec::new();
        if let Some(cookie) = &reader.new_form_cookie {
            headers.push((axum::http::header::SET_COOKIE, set_cookie(FORM_COOKIE, cookie, None)));
        }
        Reply { headers, ..Reply::bytes("text/html; charset=utf-8", html.into()) }
    }

    /// Plain text.
    pub(crate) fn text(text: String) -> Self {
        Reply::bytes("text/plain; charset=utf-8", text.into())
    }

    /// Redirects the browser to the page that shows what a form did.
    pub(crate) fn see_other(address: &str) -> Self {
        Reply::redirect(StatusCode::SEE_OTHER, address)
    }

    /// Redirects to another address of this service.
    pub(crate) fn redirect(status: StatusCode, address: &str) -> Self {
        let reply = Reply::text(String::new()).with_status(status);
        match HeaderValue::from_str(address) {
            Ok(value) => reply.with_header(axum::http::header::LOCATION, value),
            Err(_) => {
                reply.with_header(axum::http::header::LOCATION, HeaderValue::from_static("/"))
            }
        }
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        for (name, value) in self.headers {
            headers.append(name, value);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_one_a_browser_likes_best() {
        for (header, language) in [
            ("ko-KR,ko;q=0.9,en;q=0.8", Language::Korean),
            ("en-US,en;q=0.9,ko;q=0.8", Language::English),
            ("fr, ko;q=0.3", Language::Korean),
            ("fr;q=0.9, de", Language::English),
            ("ko;q=0, en;q=0.1", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::from_accept_header(header), language, "{header}");
        }
    }

    #[test]
    fn cookies_are_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; wonbon_language=ko;b=2"));
        assert_eq!(cookie(&headers, LANGUAGE_COOKIE), Some("ko"));
        assert_eq!(cookie(&headers, "language"), None);
    }
}
