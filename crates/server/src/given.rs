//! Documents as clients send them: the fields that `wonbon add` reads, as JSON.

use std::borrow::Cow;

use serde::Deserialize;
use utoipa::ToSchema;
use wonbon_store::{Content, NewDocument};
use wonbon_time::Timestamp;

use crate::problem::{Code, Problem};

/// A document to be stored or checked. Other fields are let pass.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct GivenDocument<'a> {
    /// Its key; without one the URL is.
    #[serde(borrow)]
    pub(crate) id: Option<Cow<'a, str>>,
    /// Its address.
    #[serde(borrow)]
    pub(crate) url: Option<Cow<'a, str>>,
    /// When it was created: ISO 8601, or seconds since 1970. Without it, now.
    #[serde(borrow)]
    pub(crate) created: Option<GivenTime<'a>>,
    /// Its title.
    #[serde(borrow)]
    pub(crate) title: Option<Cow<'a, str>>,
    /// Its text.
    #[serde(borrow)]
    pub(crate) text: Option<Cow<'a, str>>,
    /// A page, used where there is no text: its core text is taken.
    #[serde(borrow)]
    pub(crate) html: Option<Cow<'a, str>>,
    /// The site it stands on; without one it follows from the address.
    #[serde(borrow)]
    pub(crate) site: Option<Cow<'a, str>>,
    /// Who wrote it.
    #[serde(borrow)]
    pub(crate) author: Option<Cow<'a, str>>,
    /// Its language.
    #[serde(borrow)]
    pub(crate) language: Option<Cow<'a, str>>,
    /// Where the address leads, where there is no text; with a sweep only.
    #[serde(borrow)]
    pub(crate) redirect: Option<Cow<'a, str>>,
}

/// A time as ISO 8601 writes it, or a number of seconds.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum GivenTime<'a> {
    /// Seconds since 1970.
    Number(f64),
    /// ISO 8601.
    Text(#[serde(borrow)] Cow<'a, str>),
}

impl GivenTime<'_> {
    fn read(&self) -> Result<Timestamp, Problem> {
        let (read, shown) = match self {
            GivenTime::Number(number) => (Timestamp::from_number(*number), number.to_string()),
            GivenTime::Text(text) => (Timestamp::parse_text(text), text.to_string()),
        };
        read.map_err(|_| Problem::new(Code::BadJson, format!("`created` is no time: {shown}")))
    }
}

/// What a line or a body is.
#[derive(Debug)]
pub(crate) enum Given<'a> {
    /// A document.
    Document(NewDocument<'a>),
    /// An address that leads elsewhere.
    Redirect {
        /// The address.
        key: &'a str,
        /// Where it leads.
        target: &'a str,
        /// The site it stands on.
        site: Option<&'a str>,
    },
}

impl<'a> GivenDocument<'a> {
    /// Reads one from JSON.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Problem> {
        let text = utf8(bytes)?;
        if !text.trim_start().starts_with('{') {
            return Err(Problem::new(Code::BadJson, "a document is a JSON object"));
        }
        serde_json::from_str(text).map_err(|error| Problem::new(Code::BadJson, error.to_string()))
    }

    /// As the store takes it. What has no key is called by `otherwise`.
    pub(crate) fn given<'g>(
        &'g self,
        sweep: Option<Timestamp>,
        otherwise: Option<&'g str>,
    ) -> Result<Given<'g>, Problem> {
        let key =
            self.id.as_deref().or(self.url.as_deref()).or(otherwise).ok_or_else(|| {
                Problem::new(Code::BadJson, "a document needs an `id` or a `url`")
            })?;
        let content = match (&self.text, &self.html) {
            (Some(text), _) => Content::Text(text),
            (None, Some(html)) => Content::Html(html),
            (None, None) => {
                let Some(target) = self.redirect.as_deref() else {
                    return Err(Problem::new(
                        Code::BadJson,
                        "a document needs a `text` or an `html`",
                    ));
                };
                let key = self.url.as_deref().unwrap_or(key);
                return Ok(Given::Redirect { key, target, site: self.site.as_deref() });
            }
        };
        let borrowed = |value: &'g Option<Cow<'a, str>>| value.as_deref().map(Cow::Borrowed);
        Ok(Given::Document(NewDocument {
            key: key.into(),
            created: self.created.as_ref().map(GivenTime::read).transpose()?,
            url: borrowed(&self.url),
            site: borrowed(&self.site),
            author: borrowed(&self.author),
            title: borrowed(&self.title),
            language: borrowed(&self.language),
            sweep,
            content,
        }))
    }
}

/// Bytes as text, or the problem that they are none.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Problem::new(Code::NotUtf8, format!("byte {at} does not belong to UTF-8 text"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(line: &[u8]) -> Code {
        let parsed = GivenDocument::parse(line);
        match parsed.and_then(|document| document.given(None, None).map(|_| ())) {
            Ok(()) => panic!("it was taken"),
            Err(problem) => problem.code,
        }
    }

    #[test]
    fn a_document_is_read_with_its_fields_and_others_pass() {
        let line =
            br#"{"url":"https://a.example/1","created":"2026-11-01","text":"one two","rank":[1]}"#;
        let parsed = GivenDocument::parse(line).unwrap();
        let Given::Document(document) = parsed.given(None, None).unwrap() else { panic!() };
        assert_eq!(document.key, "https://a.example/1");
        assert_eq!(document.url.as_deref(), Some("https://a.example/1"));
        assert_eq!(document.created, Some(Timestamp::from_seconds(1_793_491_200)));
        assert_eq!(document.content, Content::Text("one two"));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told_apart() {
        assert_eq!(code_of(b"{\"id\":\"a\",\"text\":\"\xff\"}"), Code::NotUtf8);
        for line in [
            &b"[1]"[..],
            b"{\"id\":\"a\"",
            b"{\"id\":\"a\"}",
            b"{\"text\":\"a\"}",
            b"{\"id\":7,\"text\":\"a\"}",
            b"{\"id\":\"a\",\"text\":\"a\",\"created\":\"yesterday\"}",
        ] {
            assert_eq!(code_of(line), Code::BadJson, "{}", String::from_utf8_lossy(line));
        }
    }
}
