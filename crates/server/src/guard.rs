//! Checks that every request passes, and headers that every answer gets.
//!
//! The checks, the cheapest first: how many requests are under way; the `Host` header (a numeric address,
//! `localhost` or a configured name, which defeats DNS rebinding); the origin of a request that changes
//! something; the token and its scope; the rate limit. Answers get a content security policy without inline
//! script or style, are counted by route, and problems become pages for people.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_SECURITY_POLICY, HOST, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use wonbon_app::tokens::{Scope, Token};
use wonbon_time::Timestamp;

use crate::answer_budget::hold_answer;
use crate::body_budget::{RequestRoom, client_ip};
use crate::metrics::Counted;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reader, TOKEN_COOKIE, cookie, wants_json};

/// Pages get style, script and pictures from this service only, nothing inline, and stand in no frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Lets a request in or refuses it.
pub(crate) async fn guard(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("elsewhere", MatchedPath::as_str);
    let counted = Counted::begin(&service.metrics.requests);
    let reader = page_reader(&service, &request);
    let client = client_ip(request.extensions());
    let mut response = match service.requests.clone().try_acquire_owned() {
        Err(_) => Problem::new(
            Code::Busy,
            "as many requests as can be answered at once are being answered",
        )
        .into_response(),
        // Held until the head of the answer is there; a stream holds its own room.
        Ok(_permit) => match admit(&service, &request, route) {
            Ok(token) => {
                if let Some(token) = token {
                    request.extensions_mut().insert(Who(Some(token.name.into())));
                }
                // Given back when the answer is made; a stream has room of its own.
                let room = RequestRoom::new(service.bodies.room(client));
                request.extensions_mut().insert(room.clone());
                next.run(request).await
            }
            Err(problem) => problem.into_response(),
        },
    };
    drop(counted);
    let patience = service.config.limits.write_time;
    response = hold_answer(&service.answers, client, patience, response);
    if let Some(problem) = response.extensions_mut().remove::<Problem>()
        && let Some(reader) = reader
    {
        response = pages::problem_page(&problem, &reader);
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // Not `no-referrer`: with it browsers send `Origin: null` with our own forms.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    let resource_policy = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(resource_policy, HeaderValue::from_static("same-origin"));
    let status = response.status().as_u16();
    let took = started.elapsed();
    service.metrics.count_answer(method.as_str(), route, status, took);
    tracing::debug!(%method, route, status, microseconds = took.as_micros() as u64, "answered");
    response
}

/// Who reads, if a problem would be shown as a page.
fn page_reader(service: &Service, request: &Request) -> Option<Box<Reader>> {
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
    if !accept.is_some_and(|accept| accept.contains("text/html")) {
        return None;
    }
    let mut copy = Request::new(());
    copy.method_mut().clone_from(request.method());
    copy.uri_mut().clone_from(request.uri());
    copy.headers_mut().clone_from(request.headers());
    let (parts, ()) = copy.into_parts();
    (!wants_json(&parts)).then(|| Box::new(Reader::of(service, &parts)))
}

/// Who sent a request: the name of their token, or whoever sits at this machine.
#[derive(Debug, Clone, Default)]
pub(crate) struct Who(Option<Arc<str>>);

impl Who {
    pub(crate) fn of(parts: &Parts) -> Who {
        parts.extensions.get::<Who>().cloned().unwrap_or_default()
    }

    /// The name of their token, if they have one.
    pub(crate) fn token(&self) -> Option<String> {
        self.0.as_deref().map(str::to_owned)
    }

    pub(crate) fn name(&self) -> &str {
        self.0.as_deref().unwrap_or(wonbon_store::LOCAL)
    }
}

fn admit(service: &Service, request: &Request, route: &str) -> Result<Option<Token>, Problem> {
    let headers = request.headers();
    let host = host(request)?;
    if !is_own_name(&host, &service.config.hosts) {
        let detail = format!("`{host}` is none of the names it was started with");
        return Err(Problem::new(Code::WrongHost, detail));
    }
    if !request.method().is_safe() {
        check_origin(headers, &host)?;
    }
    // What is not in the table is answered by nobody: the handler says so.
    let method = match *request.method() {
        Method::HEAD => "GET",
        ref method => method.as_str(),
    };
    let scope = service.scopes.get(&(method, route)).copied().flatten();
    let token = match (&service.tokens, scope) {
        (Some(tokens), Some(scope)) => {
            let found = secret(headers).and_then(|secret| token_for(tokens.find(secret), scope));
            // Guessing costs as much as asking: those who fail are counted by their address.
            Some(found.or_else(|problem| {
                take_from_bucket(service, || client_ip(request.extensions()).to_string())?;
                Err(problem)
            })?)
        }
        _ => None,
    };
    match &token {
        Some(token) => take_from_bucket(service, || token.id.clone())?,
        None => take_from_bucket(service, || client_ip(request.extensions()).to_string())?,
    }
    Ok(token)
}

/// Counts a request against the rate limit of a client.
fn take_from_bucket(service: &Service, client: impl Fn() -> String) -> Result<(), Problem> {
    let Some(buckets) = &service.buckets else { return Ok(()) };
    buckets.take(&client(), Instant::now()).map_err(|seconds| {
        let detail = format!("ask again in {seconds} seconds, or more slowly");
        let mut problem = Problem::new(Code::TooManyRequests, detail);
        problem.retry_after = Some(seconds);
        problem
    })
}

/// The name by which the service was called. Two names are refused: something in front of the service may
/// have looked at the other one.
fn host(request: &Request) -> Result<String, Problem> {
    let authority = request.uri().authority().map(axum::http::uri::Authority::as_str);
    let headers = request.headers().get_all(HOST).iter().map(|host| host.to_str().unwrap_or(""));
    let mut named = authority.into_iter().chain(headers);
    let refused = |detail: &str| Problem::new(Code::WrongHost, detail);
    let first = named.next().ok_or_else(|| refused("the request does not say whom it calls"))?;
    if request.headers().get_all(HOST).iter().count() > 1 || named.any(|other| other != first) {
        return Err(refused("the request names more than one host"));
    }
    Ok(first.to_owned())
}

/// A name without its port.
fn without_port(host: &str) -> &str {
    if let Some(inside) = host.strip_prefix('[') {
        return inside.split(']').next().unwrap_or_default();
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

/// Whether this is a name of ours. An address in numbers is: no page can have its own name point there.
fn is_own_name(host: &str, names: &[String]) -> bool {
    let name = without_port(host);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok()
        || names.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Refuses what a page of another site makes a browser send.
fn check_origin(headers: &HeaderMap, host: &str) -> Result<(), Problem> {
    let refused =
        |from: &str| Err(Problem::new(Code::CrossSite, format!("the request comes from {from}")));
    let fetch_site = HeaderName::from_static("sec-fetch-site");
    if let Some(site) = headers.get(fetch_site).and_then(|site| site.to_str().ok())
        && !matches!(site, "same-origin" | "none")
    {
        return refused("another site");
    }
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or("null");
        let of_origin = origin.split_once("://").map(|(_, rest)| rest);
        if of_origin != Some(host) {
            return refused(origin);
        }
    }
    Ok(())
}

/// The secret that came with a request: as a header from programs, as a cookie from people.
fn secret(headers: &HeaderMap) -> Result<&str, Problem> {
    if let Some(header) = headers.get(AUTHORIZATION) {
        let secret = header.to_str().ok().and_then(|text| {
            let (kind, secret) = text.split_once(' ')?;
            kind.eq_ignore_ascii_case("bearer").then(|| secret.trim())
        });
        return secret.ok_or_else(|| {
            Problem::new(Code::TokenUnknown, "write `Authorization: Bearer` and the token")
        });
    }
    cookie(headers, TOKEN_COOKIE).filter(|token| !token.is_empty()).ok_or_else(|| {
        Problem::new(Code::TokenNeeded, "send it as `Authorization: Bearer`, or sign in")
    })
}

fn token_for(found: Option<Token>, scope: Scope) -> Result<Token, Problem> {
    let Some(token) = found else {
        return Err(Problem::new(Code::TokenUnknown, "it was never made, or was revoked"));
    };
    if token.is_expired(Timestamp::now()) {
        let detail = format!("token {} has expired", token.id);
        return Err(Problem::new(Code::TokenExpired, detail));
    }
    if !token.allows(scope) {
        let detail = format!("this needs the scope {scope}, which token {} has not", token.id);
        return Err(Problem::new(Code::ScopeMissing, detail));
    }
    Ok(token)
}

/// Whether a secret is a token that is good for something, for signing in.
pub(crate) fn check_token(service: &Service, secret: &str) -> Result<(), Problem> {
    let found = service.tokens.as_ref().and_then(|tokens| tokens.find(secret));
    token_for(found, Scope::Read).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_localhost_are_own_names_and_others_must_be_told() {
        let told = ["originals.example".to_owned()];
        for own in [
            "127.0.0.1:7600",
            "localhost",
            "LOCALHOST:7600",
            "[::1]:7600",
            "[::1]",
            "10.1.2.3",
            "originals.example:80",
        ] {
            assert!(is_own_name(own, &told), "{own}");
        }
        for other in ["evil.example", "localhost.evil.example", "", "127.0.0.1.evil.example:7600"] {
            assert!(!is_own_name(other, &told), "{other}");
        }
    }

    #[test]
    fn what_another_site_sends_is_refused() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            headers
        };
        let host = "127.0.0.1:7600";
        for fine in [
            &[][..],
            &[("origin", "http://127.0.0.1:7600")],
            &[("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:7600")],
            &[("sec-fetch-site", "none")],
        ] {
            assert!(check_origin(&headers(fine), host).is_ok(), "{fine:?}");
        }
        for foreign in [
            &[("origin", "http://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "http://127.0.0.1:8000")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:7600")],
        ] {
            assert_eq!(check_origin(&headers(foreign), host).unwrap_err().code, Code::CrossSite);
        }
    }
}
