//! From named values to a document: the one place where it is decided what a row means.
//!
//! Readers of formats fill [`Values`] with what a row holds, as strings, numbers and times; what they
//! mean is decided here, so that a format cannot have rules of its own. docs/formats.md has the rules
//! as a table.
//!
//! Cost: a handful of comparisons; a text is looked at only if the row has a page or a redirect too.

use std::borrow::Cow;

use wonbon_text::words::has_word;
use wonbon_time::{NotATime, Timestamp};

use crate::MAX_DOCUMENT_BYTES;
use crate::document::{Content, Document};
use crate::fields::FieldNames;

/// The value of a field as its format holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value<'a> {
    /// There is no such field, or it is null.
    #[default]
    Missing,
    /// A string.
    Text(Cow<'a, str>),
    /// A whole number.
    Integer(i128),
    /// A number.
    Float(f64),
    /// A time, in a format that has a type for times.
    Time(Timestamp),
    /// A string that is not UTF-8.
    NotUtf8,
    /// Bytes that are no text.
    Binary,
    /// Anything else: a truth value, a list, an object.
    Other,
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

/// What a row holds under the names of [`FieldNames`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values<'a> {
    /// What names the document.
    pub id: Value<'a>,
    /// Its address.
    pub url: Value<'a>,
    /// When it was created.
    pub created: Value<'a>,
    /// When it claims to be published.
    pub published: Value<'a>,
    /// Its title.
    pub title: Value<'a>,
    /// Its site.
    pub site: Value<'a>,
    /// Who wrote it.
    pub author: Value<'a>,
    /// Its language.
    pub language: Value<'a>,
    /// Its plain text.
    pub text: Value<'a>,
    /// Its page.
    pub html: Value<'a>,
    /// Where its address leads.
    pub redirect: Value<'a>,
    /// The field to rank by, passed on as it is.
    pub ranking: Value<'a>,
}

/// Why a row is not a document. Each reads as the rest of a sentence that begins with the row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// Not JSON at all.
    #[error("is not JSON ({problem} at byte {byte})")]
    NotJson {
        /// What the parser stumbled over.
        problem: String,
        /// Where, counted from the start of the line.
        byte: usize,
    },
    /// JSON, but an array, a string or a number.
    #[error("is not a JSON object")]
    NotAnObject,
    /// A field that must be a string is something else.
    #[error("has a field `{field}` that is not a string")]
    NotAString {
        /// The field.
        field: String,
    },
    /// An id that is neither a string nor a whole number.
    #[error("has a field `{field}` that is neither a string nor a whole number")]
    NotAnId {
        /// The field.
        field: String,
    },
    /// A time that is none.
    #[error("has a field `{field}` that is not a time: {value}")]
    NotATime {
        /// The field.
        field: String,
        /// What it holds.
        value: String,
    },
    /// A CSV record that does not fit its header.
    #[error("has {got} fields where the header has {wanted}")]
    FieldCount {
        /// Fields of the record.
        got: usize,
        /// Fields of the header.
        wanted: usize,
    },
    /// A quote of a CSV record that is not closed before the file ends.
    #[error("has a quote that is not closed")]
    UnclosedQuote,
    /// A field that is not UTF-8.
    #[error("has a field `{field}` that is not UTF-8")]
    NotUtf8 {
        /// The field.
        field: String,
    },
    /// A field of bytes that are no text.
    #[error("has a field `{field}` with binary content")]
    Binary {
        /// The field.
        field: String,
    },
    /// A row that is longer than any may be.
    #[error("is longer than the {limit} bytes that a row may have")]
    RowTooLong {
        /// How long it may be.
        limit: usize,
    },
    /// A text or a page that is longer than a document may be.
    #[error("has a field `{field}` of {bytes} bytes, more than the {limit} a document may have")]
    TooLong {
        /// The field.
        field: String,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// Neither text nor page.
    #[error("has neither a field `{text}` nor a field `{html}`")]
    NoContent {
        /// The field that would hold plain text.
        text: String,
        /// The field that would hold a page.
        html: String,
    },
    /// Nothing to call it by.
    #[error("has neither a field `{id}` nor a field `{url}`")]
    NoKey {
        /// The field that would hold an id.
        id: String,
        /// The field that would hold an address.
        url: String,
    },
}

impl RowError {
    /// A field that holds something that is no time.
    pub(crate) fn not_a_time(field: &str, value: &str) -> Self {
        RowError::NotATime { field: field.to_owned(), value: shorten(value) }
    }
}

/// Makes a document of the values of a row. A row with neither id nor URL is called by `place`, if
/// that gives a name.
///
/// # Errors
///
/// [`RowError`] names the field that is wrong.
///
/// ```
/// use wonbon_documents::{Content, FieldNames, Values, resolve};
/// let names = FieldNames::default();
/// let values = Values { url: "u".into(), text: "...".into(), html: "<p>hello".into(), ..Values::default() };
/// let document = resolve(values, &names, || None)?;
/// assert_eq!(document.id, "u");
/// assert_eq!(document.content, Content::Page("<p>hello".into()));
/// # Ok::<(), wonbon_documents::RowError>(())
/// ```
pub fn resolve<'a>(
    values: Values<'a>,
    names: &FieldNames,
    place: impl FnOnce() -> Option<String>,
) -> Result<Document<'a>, RowError> {
    let id = id_of(values.id, &names.id)?;
    let url = filled(string_of(values.url, &names.url)?);
    let created = time_of(values.created, &names.created)?;
    let published = time_of(values.published, &names.published)?;
    let text = content_of(values.text, &names.text)?;
    let html = content_of(values.html, &names.html)?;
    // A redirect that is no string leads nowhere.
    let redirect = filled(string_of(values.redirect, &names.redirect).unwrap_or_default())
        .filter(|to| Some(to) != url.as_ref() && Some(to) != id.as_ref());
    let content = match (text, html, redirect) {
        (Some(text), None, None) => Content::Text(text),
        (Some(text), _, _) if has_word(&text) => Content::Text(text),
        (_, Some(html), _) if !html.trim().is_empty() => Content::Page(html),
        (_, _, Some(to)) => Content::Redirect(to),
        (Some(text), _, None) => Content::Text(text),
        (None, Some(_), None) => Content::Text(Cow::Borrowed("")),
        (None, None, None) => {
            return Err(RowError::NoContent { text: names.text.clone(), html: names.html.clone() });
        }
    };
    let id = match (id, &url) {
        (Some(id), _) => id,
        (None, Some(url)) => url.clone(),
        (None, None) => place()
            .map(Cow::Owned)
            .ok_or_else(|| RowError::NoKey { id: names.id.clone(), url: names.url.clone() })?,
    };
    // What only describes a document does not make its row unusable. A title may be a number.
    let described = |value| match value {
        Value::Integer(number) => Some(Cow::Owned(number.to_string())),
        value => filled(string_of(value, "").unwrap_or_default()),
    };
    Ok(Document {
        id,
        url,
        created,
        published,
        title: described(values.title),
        site: described(values.site),
        author: described(values.author),
        language: described(values.language),
        content,
        ranking: values.ranking,
        archived: false,
    })
}

/// An empty string says as much as no string.
fn filled(value: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    value.filter(|text| !text.is_empty())
}

fn string_of<'a>(value: Value<'a>, field: &str) -> Result<Option<Cow<'a, str>>, RowError> {
    let field = || field.to_owned();
    match value {
        Value::Missing => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        Value::NotUtf8 => Err(RowError::NotUtf8 { field: field() }),
        Value::Binary => Err(RowError::Binary { field: field() }),
        Value::Integer(_) | Value::Float(_) | Value::Time(_) | Value::Other => {
            Err(RowError::NotAString { field: field() })
        }
    }
}

fn id_of<'a>(value: Value<'a>, field: &str) -> Result<Option<Cow<'a, str>>, RowError> {
    match value {
        Value::Integer(number) => Ok(Some(number.to_string().into())),
        value => match string_of(value, field) {
            Err(RowError::NotAString { field }) => Err(RowError::NotAnId { field }),
            other => other.map(filled),
        },
    }
}

fn content_of<'a>(value: Value<'a>, field: &str) -> Result<Option<Cow<'a, str>>, RowError> {
    let text = string_of(value, field)?;
    match text.as_ref().map(|text| text.len()) {
        Some(bytes) if bytes > MAX_DOCUMENT_BYTES => {
            Err(RowError::TooLong { field: field.to_owned(), bytes, limit: MAX_DOCUMENT_BYTES })
        }
        _ => Ok(text),
    }
}

/// The time that a value stands for; `None` for a missing or empty one.
fn time_of(value: Value<'_>, field: &str) -> Result<Option<Timestamp>, RowError> {
    let refused = |value: String| RowError::not_a_time(field, &value);
    match value {
        Value::Missing => Ok(None),
        Value::Time(time) => Ok(Some(time)),
        Value::Text(text) if text.trim().is_empty() => Ok(None),
        Value::Text(text) => match Timestamp::parse_text(&text) {
            Ok(time) => Ok(Some(time)),
            Err(NotATime) => Err(RowError::not_a_time(field, &text)),
        },
        Value::Integer(number) => {
            let time = i64::try_from(number).map_err(|_| NotATime);
            let time = time.and_then(Timestamp::from_integer);
            time.map(Some).map_err(|NotATime| refused(number.to_string()))
        }
        // As it is written: CSV has only that.
        Value::Float(number) => match Timestamp::parse_text(&number.to_string()) {
            Ok(time) => Ok(Some(time)),
            Err(NotATime) => Err(refused(number.to_string())),
        },
        Value::NotUtf8 => Err(RowError::NotUtf8 { field: field.to_owned() }),
        Value::Binary => Err(RowError::Binary { field: field.to_owned() }),
        Value::Other => Err(refused("neither a string nor a number".to_owned())),
    }
}

/// The beginning of a value, for a message.
fn shorten(text: &str) -> String {
    const CHARACTERS: usize = 60;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(values: Values<'_>) -> Result<Document<'_>, RowError> {
        resolve(values, &FieldNames::default(), || Some("place".to_owned()))
    }

    fn content(values: Values<'_>) -> Content<'_> {
        resolved(values).unwrap().content
    }

    #[test]
    fn the_text_decides_if_it_has_a_word_then_the_page_then_the_redirect() {
        let (word, dots, page) = ("word", "...", "<p>page");
        let text = |text: &'static str| Content::Text(text.into());
        let values = |text: &'static str, html: &'static str, redirect: &'static str| {
            let value = |text: &'static str| match text {
                "none" => Value::Missing,
                text => text.into(),
            };
            let (text, html, redirect) = (value(text), value(html), value(redirect));
            Values { text, html, redirect, ..Values::default() }
        };
        assert_eq!(content(values(word, page, "v")), text(word));
        assert_eq!(content(values(dots, page, "v")), Content::Page(page.into()));
        assert_eq!(content(values("", page, "none")), Content::Page(page.into()));
        assert_eq!(content(values("none", page, "v")), Content::Page(page.into()));
        assert_eq!(content(values(dots, " ", "v")), Content::Redirect("v".into()));
        assert_eq!(content(values("none", "none", "v")), Content::Redirect("v".into()));
        assert_eq!(content(values(dots, "", "none")), text(dots));
        assert_eq!(content(values("", "none", "")), text(""));
        assert_eq!(content(values("none", " ", "none")), text(""));
        let nothing = resolved(values("none", "none", "none"));
        assert!(matches!(nothing, Err(RowError::NoContent { .. })), "{nothing:?}");
    }

    #[test]
    fn a_redirect_to_the_row_itself_is_none() {
        for (id, url) in [("u", ""), ("", "u"), ("i", "u")] {
            let (id, url) = (id.into(), url.into());
            let values =
                Values { id, url, redirect: "u".into(), text: "".into(), ..Values::default() };
            assert_eq!(content(values), Content::Text("".into()));
        }
        let odd = Values { redirect: Value::Other, text: "".into(), ..Values::default() };
        assert_eq!(content(odd), Content::Text("".into()));
    }

    #[test]
    fn the_id_is_its_own_or_the_url_or_the_place() {
        let text = || Value::from("word");
        let id = |id, url| resolved(Values { id, url, text: text(), ..Values::default() });
        let named = |id_value, url| id(id_value, url).unwrap().id.into_owned();
        assert_eq!(named("i".into(), "u".into()), "i");
        assert_eq!(named("".into(), "u".into()), "u");
        assert_eq!(named(Value::Integer(u64::MAX.into()), "u".into()), "18446744073709551615");
        assert_eq!(named(Value::Missing, Value::Missing), "place");
        assert_eq!(
            id(Value::Float(1.5), "u".into()),
            Err(RowError::NotAnId { field: "id".into() })
        );
        assert_eq!(
            id("i".into(), Value::Integer(7)),
            Err(RowError::NotAString { field: "url".into() })
        );
        let unnamed =
            resolve(Values { text: text(), ..Values::default() }, &FieldNames::default(), || None);
        assert!(matches!(unnamed, Err(RowError::NoKey { .. })));
    }

    #[test]
    fn times_are_read_whatever_their_type_and_others_name_their_field() {
        let created = |created| resolved(Values { created, text: "a".into(), ..Values::default() });
        let second = Timestamp::from_seconds(1_700_000_000);
        for value in [
            Value::Integer(1_700_000_000),
            Value::Integer(1_700_000_000_000),
            Value::Integer(1_700_000_000_000_000),
            Value::Float(1.7e9),
            Value::Time(second),
            "1700000000".into(),
            "1700000000000".into(),
            "2023-11-14T22:13:20Z".into(),
            " 2023-11-15 07:13:20 +09:00 ".into(),
        ] {
            assert_eq!(created(value.clone()).unwrap().created, Some(second), "{value:?}");
        }
        for value in [Value::Missing, "".into(), " ".into()] {
            assert_eq!(created(value).unwrap().created, None);
        }
        let year = Timestamp::parse_text("2024").unwrap();
        for value in [Value::Integer(2024), Value::Float(2024.0), "2024.0".into()] {
            assert_eq!(created(value).unwrap().created, Some(year));
        }
        let may = Timestamp::parse_text("2024-05").unwrap();
        for value in [Value::Float(2024.5), "2024.5".into()] {
            assert_eq!(created(value).unwrap().created, Some(may));
        }
        for value in
            ["yesterday".into(), "2024-02-31".into(), Value::Other, Value::Integer(i128::MAX)]
        {
            let error = created(value).unwrap_err();
            assert!(error.to_string().contains("`created` that is not a time"), "{error}");
        }
        let values = Values { published: "soon".into(), text: "a".into(), ..Values::default() };
        let error = resolved(values).unwrap_err();
        assert_eq!(error.to_string(), "has a field `published` that is not a time: soon");
    }

    #[test]
    fn what_only_describes_is_a_string_or_a_whole_number_or_left_out() {
        let values = Values {
            title: Value::Integer(1984),
            site: Value::Float(0.5),
            author: Value::Other,
            language: "".into(),
            text: "a".into(),
            ..Values::default()
        };
        let document = resolved(values).unwrap();
        assert_eq!(document.title.as_deref(), Some("1984"));
        assert_eq!((document.site, document.author, document.language), (None, None, None));
    }
}
