//! `/login`: signing in with a token, and out.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Response};
use maud::html;
use serde::Deserialize;

use super::frame::{page, reply};
use super::pieces::{coded_paragraph, form_mark};
use crate::api::places::Nothing;
use crate::guard::check_token;
use crate::inquiry::Inquiry;
use crate::messages::Say;
use crate::problem::Problem;
use crate::request::{SIGN_IN_BYTES, body_up_to, from_form};
use crate::service::Service;
use crate::view::{Reader, Reply, TOKEN_COOKIE, set_cookie};

/// How long a browser keeps a token: a day.
const COOKIE_SECONDS: u32 = 86_400;

/// `/login`.
pub(crate) fn login_page(service: &Inquiry, _: Nothing, reader: &Reader) -> Result<Reply, Problem> {
    let mut page = page(reader, reader.say(Say::SignIn));
    if reader.signed_in == Some(true) {
        page.heading(reader.say(Say::SignOut));
        page.markup(html! {
            form action="/login" method="post" {
                (form_mark(reader))
                input type="hidden" name="token" value="";
                button { (reader.say(Say::SignOut)) }
            }
        });
        return Ok(reply(reader, "/login", page));
    }
    page.heading(reader.say(Say::SignIn));
    if service.tokens.is_none() {
        page.paragraph(reader.say(Say::NoTokensNeeded));
        return Ok(reply(reader, "/login", page));
    }
    coded_paragraph(&mut page, reader.say(Say::SignInLead));
    page.markup(html! {
        form.ask action="/login" method="post" {
            (form_mark(reader))
            label.f-text {
                (reader.say(Say::Token))
                input type="password" name="token" required autocomplete="current-password";
            }
            button { (reader.say(Say::SignIn)) }
        }
    });
    Ok(reply(reader, "/login", page))
}

#[derive(Deserialize)]
struct Given {
    #[serde(default)]
    token: String,
}

/// `POST /login`: a good token becomes a cookie; an empty one takes it away.
pub(crate) async fn login(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let signed = async {
        let body = body_up_to(&service, &parts, body, SIGN_IN_BYTES).await?;
        let Given { token } = from_form(&service, &parts, body).await?;
        let token = token.trim();
        if token.is_empty() {
            let cookie = set_cookie(TOKEN_COOKIE, "", Some(0));
            return Ok(Reply::see_other("/").with_header(SET_COOKIE, cookie));
        }
        check_token(&service, token)?;
        let cookie = set_cookie(TOKEN_COOKIE, token, Some(COOKIE_SECONDS));
        Ok(Reply::see_other("/").with_header(SET_COOKIE, cookie))
    };
    let signed: Result<Reply, Problem> = signed.await;
    signed.into_response()
}
