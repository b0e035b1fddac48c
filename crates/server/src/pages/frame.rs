//! The frame of every page: navigation, choice of language and colour scheme; the style sheet and the script.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderValue, LOCATION, SET_COOKIE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use maud::{DOCTYPE, Markup, html};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use wonbon_pages::{ENGLISH, KOREAN, Page, STYLE, fill, finish_markup};

use super::pieces::quoted;
use crate::inquiry::Inquiry;
use crate::json_address::json_address;
use crate::messages::Say;
use crate::problem::{Code, Problem};
use crate::reasons::in_korean;
use crate::view::{LANGUAGE_COOKIE, Language, Reader, Reply, SCHEME_COOKIE, Scheme, set_cookie};

/// The style of the pieces, then of what only the service has.
static CSS: LazyLock<Bytes> =
    LazyLock::new(|| Bytes::from(format!("{STYLE}{}", include_str!("wonbon.css"))));
static SCRIPT: &str = include_str!("wonbon.js");
static MARK: &str = include_str!("wonbon.svg");

/// Changes when style or script do, so that a browser may keep them for ever.
static EDITION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    hash.update(&CSS[..]);
    hash.update(SCRIPT);
    hash.update(MARK);
    HEXLOWER.encode(&hash.finalize()[..6])
});

/// A year.
const COOKIE_SECONDS: u32 = 31_536_000;

impl Reader {
    /// A message in the reader's language.
    pub(crate) fn say(&self, message: Say) -> &'static str {
        message.in_language(self.language)
    }

    /// A message with its values put in.
    pub(crate) fn tell(&self, message: Say, values: &[&str]) -> String {
        fill(self.say(message), values)
    }
}

/// An empty page in the reader's language.
pub(crate) fn page(reader: &Reader, title: &str) -> Page {
    let wording = match reader.language {
        Language::English => &ENGLISH,
        Language::Korean => &KOREAN,
    };
    Page::in_language(title, wording)
}

/// A group's name, and its pages with theirs.
type Group = (Say, &'static [(&'static str, Say)]);

/// Pages by group: the name of the group, and its pages with their names; the first is where the group's
/// link leads. A page of a group with several shows them all.
const GROUPS: [Group; 6] = [
    (Say::Search, &[("/search", Say::Search)]),
    (Say::Ask, &[("/ask", Say::Ask), ("/compare", Say::Compare)]),
    (Say::Families, &[("/families", Say::Families), ("/decisions", Say::AllDecisions)]),
    (
        Say::PagesOverTime,
        &[
            ("/moved", Say::Moved),
            ("/copies", Say::Copies),
            ("/changes", Say::Changes),
            ("/watch", Say::Watch),
        ],
    ),
    (Say::Jobs, &[("/jobs", Say::Jobs), ("/crawl", Say::Crawl)]),
    (Say::Status, &[("/status", Say::Status)]),
];

/// The links that are on every page: the groups, and the pages of the group that `here` is in.
fn navigation(reader: &Reader, here: &str) -> Markup {
    let holds_here = |pages: &[(&str, Say)]| pages.iter().any(|(address, _)| *address == here);
    let groups: &'static [Group] = &GROUPS;
    let group = groups.iter().find(|(_, pages)| holds_here(pages));
    html! {
        ul {
            @for (name, pages) in groups {
                @let current = holds_here(pages)
                    .then_some(if pages.len() == 1 { "page" } else { "true" });
                li { a href=(pages[0].0) aria-current=[current] { (reader.say(*name)) } }
            }
        }
        @if let Some((_, pages)) = group.filter(|(_, pages)| pages.len() > 1) {
            ul.within {
                @for (address, name) in *pages {
                    @let current = (*address == here).then_some("page");
                    li { a href=(address) aria-current=[current] { (reader.say(*name)) } }
                }
            }
        }
    }
}

/// A finished page; `here` is the link it stands under.
pub(crate) fn reply(reader: &Reader, here: &str, page: Page) -> Reply {
    Reply::html(render(reader, here, &page), reader)
}

fn render(reader: &Reader, here: &str, page: &Page) -> String {
    let file = |name: &str| format!("/static/{name}?v={}", *EDITION);
    let scheme = match reader.scheme {
        Scheme::Auto => None,
        Scheme::Light => Some("light"),
        Scheme::Dark => Some("dark"),
    };
    let page = html! {
        (DOCTYPE)
        html lang=(reader.language.code()) class=[scheme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { @if !page.title().is_empty() { (page.title()) " · " } "Wonbon" }
                link rel="stylesheet" href=(file("wonbon.css"));
                link rel="icon" href=(file("wonbon.svg"));
                script src=(file("wonbon.js")) defer {}
            }
            body {
                a.skip href="#main" { (reader.say(Say::SkipToContent)) }
                header {
                    nav aria-label=(reader.say(Say::Navigation)) {
                        a.brand href="/" {
                            img src=(file("wonbon.svg")) alt="" width="24" height="24";
                            "Wonbon"
                        }
                        (navigation(reader, here))
                    }
                    (choices(reader))
                }
                main id="main" tabindex="-1" { "\n" (page.body()) }
                footer {
                    a href="/docs" { (reader.say(Say::Docs)) }
                    @if let Some(twin) = twin(reader, here) {
                        " · " a href=(twin) rel="alternate" { "JSON" }
                    }
                }
            }
        }
        "\n"
    };
    finish_markup(page)
}

/// The address of a page's JSON, where it would say something.
fn twin(reader: &Reader, here: &str) -> Option<String> {
    let (path, question) = reader.address.split_once('?').unwrap_or((&reader.address, ""));
    let answers = match path {
        "/" | "/changes" | "/watch" | "/families" | "/decisions" | "/status" | "/jobs" => true,
        // What asks something needs a question.
        "/search" | "/compare" | "/ask" | "/moved" | "/copies" | "/document" | "/family"
        | "/job" | "/crawl" => !question.is_empty(),
        _ => false,
    };
    // A problem's page stands under no link.
    if !answers || here.is_empty() {
        return None;
    }
    json_address(&reader.address)
}

/// Language, light and dark, signing in and out.
fn choices(reader: &Reader) -> Markup {
    let choice = |what: &str, value: &str, name: &str, language: Option<&str>, chosen: bool| {
        let address = address("/choose", &[(what, value), ("back", &reader.address)]);
        let current = chosen.then_some("true");
        html! {
            li { a href=(address) lang=[language] aria-current=[current] rel="nofollow" { (name) } }
        }
    };
    let schemes =
        [(Scheme::Auto, Say::Auto), (Scheme::Light, Say::Light), (Scheme::Dark, Say::Dark)];
    let language = reader.language;
    html! {
        ul.choices aria-label=(reader.say(Say::Choices)) {
            (choice("language", "ko", "한국어", Some("ko"), language == Language::Korean))
            (choice("language", "en", "English", Some("en"), language == Language::English))
            @for (scheme, name) in schemes {
                (choice("scheme", scheme.name(), reader.say(name), None, reader.scheme == scheme))
            }
            @if let Some(signed_in) = reader.signed_in {
                @let name = if signed_in { Say::SignOut } else { Say::SignIn };
                li { a href="/login" { (reader.say(name)) } }
            }
        }
    }
}

/// An address with its question.
pub(crate) fn address(path: &str, question: &[(&str, &str)]) -> String {
    if question.is_empty() {
        return path.to_owned();
    }
    let mut written = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in question {
        written.append_pair(name, value);
    }
    format!("{path}?{}", written.finish())
}

/// What a person chose.
#[derive(Debug, Deserialize)]
pub(crate) struct Choice {
    language: Option<String>,
    scheme: Option<String>,
    #[serde(default)]
    back: String,
}

/// `/choose`: remembers a language or light and dark, and goes back.
pub(crate) fn choose(_: &Inquiry, asked: Choice, _: &Reader) -> Result<Reply, Problem> {
    let mut reply = Reply::see_other(own_address(&asked.back));
    let language = asked.language.as_deref().and_then(Language::from_code);
    let scheme = asked.scheme.as_deref().and_then(Scheme::from_name);
    if language.is_none() && scheme.is_none() {
        return Err(Problem::new(
            Code::BadParameter,
            "`language` is ko or en, `scheme` is auto, light or dark",
        ));
    }
    if let Some(language) = language {
        let cookie = set_cookie(LANGUAGE_COOKIE, language.code(), Some(COOKIE_SECONDS));
        reply = reply.with_header(SET_COOKIE, cookie);
    }
    if let Some(scheme) = scheme {
        let cookie = set_cookie(SCHEME_COOKIE, scheme.name(), Some(COOKIE_SECONDS));
        reply = reply.with_header(SET_COOKIE, cookie);
    }
    Ok(reply)
}

/// An address of this service; anything else is its first page.
///
/// Browsers drop tabs and line ends from addresses and take `\` for `/`, so `/<tab>/host` would lead to
/// another site: only printable ASCII without `\` is taken, and no path with an empty first part.
pub(crate) fn own_address(address: &str) -> &str {
    let is_own = address.starts_with('/')
        && !address.starts_with("//")
        && address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_own { address } else { "/" }
}

fn reply_cached(kind: &'static str, body: Bytes) -> Response {
    let mut response = Reply::bytes(kind, body).into_response();
    let keep = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, keep);
    response
}

/// The style sheet.
pub(crate) async fn style() -> Response {
    reply_cached("text/css; charset=utf-8", CSS.clone())
}

/// The script.
pub(crate) async fn script() -> Response {
    reply_cached("text/javascript; charset=utf-8", Bytes::from_static(SCRIPT.as_bytes()))
}

/// The mark: an original and its copies.
pub(crate) async fn mark() -> Response {
    reply_cached("image/svg+xml", Bytes::from_static(MARK.as_bytes()))
}

/// A problem as a page.
pub(crate) fn problem_page(problem: &Problem, reader: &Reader) -> Response {
    let title = problem.code.title_in(reader.language);
    let mut page = page(reader, title);
    page.heading(title);
    let korean =
        (reader.language == Language::Korean).then(|| in_korean(&problem.detail)).flatten();
    page.markup(html! {
        @match korean {
            Some(reason) => { p.lead { (quoted(&reason)) } }
            None => { p.lead lang="en" { (quoted(&problem.detail)) } }
        }
        @if problem.code.status() == StatusCode::UNAUTHORIZED {
            p { a.button href="/login" { (reader.say(Say::SignIn)) } }
        }
        p { code { (problem.code.name()) } }
    });
    let mut response = reply(reader, "", page).with_status(problem.code.status()).into_response();
    response.headers_mut().extend(problem.headers());
    // A problem leads nowhere.
    response.headers_mut().remove(LOCATION);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_addresses_are_gone_back_to() {
        assert_eq!(own_address("/search?q=a"), "/search?q=a");
        for other in ["https://evil.example", "//evil.example", "/\\evil.example", "", "/a\r\nb: c"]
        {
            assert_eq!(own_address(other), "/", "{other}");
        }
    }
}
