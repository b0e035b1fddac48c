//! Which field of a row means what, when nobody says: a guess by the names people use.
//!
//! The program and the service read the same files, so they must take the same fields from them.
//! A guess looks at the first row of the first file that holds rows, and at nothing else.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::inputs::Inputs;

/// Which field of a row means what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldNames {
    /// The id of the document; its URL serves when it is absent.
    pub id: String,
    /// The address of the document.
    pub url: String,
    /// When it was created.
    pub created: String,
    /// When it claims to be published.
    pub published: String,
    /// Its title.
    pub title: String,
    /// The site it stands on.
    pub site: String,
    /// Who wrote it.
    pub author: String,
    /// Its language.
    pub language: String,
    /// Its plain text.
    pub text: String,
    /// Its page, used when the text has no word.
    pub html: String,
    /// Where its address leads, used when there is neither text nor page.
    pub redirect: String,
}

impl Default for FieldNames {
    /// The words of Wonbon's own vocabulary.
    fn default() -> Self {
        FieldNames {
            id: "id".to_owned(),
            url: "url".to_owned(),
            created: "created".to_owned(),
            published: "published".to_owned(),
            title: "title".to_owned(),
            site: "site".to_owned(),
            author: "author".to_owned(),
            language: "language".to_owned(),
            text: "text".to_owned(),
            html: "html".to_owned(),
            redirect: "redirect".to_owned(),
        }
    }
}

impl FieldNames {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> [&str; 11] {
        let FieldNames { id, url, created, published, title, site, author, .. } = self;
        let FieldNames { language, text, html, redirect, .. } = self;
        [id, url, created, published, title, site, author, language, text, html, redirect]
    }
}

/// Names under which people keep these things, most usual first.
const TEXTS: &[&str] =
    &["text", "content", "body", "raw_content", "document", "article", "markdown", "plain_text"];
const IDS: &[&str] = &["id", "_id", "doc_id", "document_id", "uuid", "key", "docno"];
const URLS: &[&str] = &["url", "uri", "link", "source_url", "address", "WARC-Target-URI"];
const CREATED: &[&str] = &["created", "created_at", "date", "timestamp", "time", "crawl_date"];
const PUBLISHED: &[&str] = &["published", "published_at", "date_published"];
const PAGES: &[&str] = &["html", "raw_html", "page"];
const REDIRECTS: &[&str] = &["redirect", "redirect_url", "redirect_to", "location"];

/// The fields that somebody names; what is not said is guessed. Flags and requests fill it alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ChosenFields {
    /// The field with the text.
    pub text: Option<String>,
    /// The field with the id.
    pub id: Option<String>,
    /// The field with the address.
    pub url: Option<String>,
    /// The field with the creation time.
    pub created: Option<String>,
    /// The field with a page, used where there is no text.
    pub html: Option<String>,
    /// The field with the address a row leads to, where it has no text.
    pub redirect: Option<String>,
}

impl ChosenFields {
    /// The names as given, or guessed from the first row of the inputs. What has to be unpacked to be
    /// looked at is unpacked into `unpack`, if that is a folder, where there should be room.
    ///
    /// # Errors
    ///
    /// An input does not exist or cannot be looked at.
    pub fn names(
        &self,
        inputs: &[PathBuf],
        unpack: Option<&Path>,
    ) -> Result<FieldNames, InputError> {
        let mut inputs = Inputs::find(inputs, FieldNames::default())?;
        if let Some(folder) = unpack.filter(|path| path.is_dir()) {
            inputs.unpack = folder.to_owned();
        }
        Ok(self.names_among(&inputs.first_fields()))
    }

    /// The names as given, or guessed from those that there are.
    #[must_use]
    pub fn names_among(&self, first: &[String]) -> FieldNames {
        let guess = |given: &Option<String>, usual: &[&str]| match given {
            Some(name) => name.clone(),
            None => usual
                .iter()
                .find(|name| first.iter().any(|field| field == *name))
                .unwrap_or(&usual[0])
                .to_string(),
        };
        FieldNames {
            id: guess(&self.id, IDS),
            url: guess(&self.url, URLS),
            created: guess(&self.created, CREATED),
            published: guess(&None, PUBLISHED),
            text: guess(&self.text, TEXTS),
            html: guess(&self.html, PAGES),
            redirect: guess(&self.redirect, REDIRECTS),
            ..FieldNames::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_given_or_as_the_first_row_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "{\"doc_id\": \"1\", \"content\": \"a b\", \"t\": \"c\"}\n").unwrap();
        let names = ChosenFields::default().names(std::slice::from_ref(&path), None).unwrap();
        assert_eq!((names.id.as_str(), names.text.as_str()), ("doc_id", "content"));
        assert_eq!(names.created, "created", "the most usual where there is none");
        let chosen = ChosenFields { text: Some("t".to_owned()), ..ChosenFields::default() };
        assert_eq!(chosen.names(&[path], None).unwrap().text, "t");
    }
}
