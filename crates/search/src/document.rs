//! A document as it is given to the index.

use tantivy::TantivyDocument;
use wonbon_time::Timestamp;

use crate::schema::{Fields, for_each_language, for_each_site};

/// A document as search knows it. Nothing of it is kept but terms, the row and the time of creation.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchDocument<'a> {
    /// The store's number of the document.
    pub row: u32,
    /// When it was created.
    pub created: Timestamp,
    /// The host or site it comes from; an address does too. Found by itself and by its parents.
    pub site: Option<&'a str>,
    /// Its language tag (`ko`, `zh-Hant`). Found by itself and by its beginnings.
    pub language: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its core text.
    pub text: &'a str,
}

impl SearchDocument<'_> {
    pub(crate) fn to_tantivy(self, fields: &Fields) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_u64(fields.row, u64::from(self.row));
        document.add_i64(fields.created, self.created.as_microseconds());
        if let Some(site) = self.site {
            for_each_site(site, |site| document.add_text(fields.site, site));
        }
        if let Some(language) = self.language {
            for_each_language(language, |tag| document.add_text(fields.language, tag));
        }
        if let Some(title) = self.title {
            document.add_text(fields.title, title);
        }
        document.add_text(fields.text, self.text);
        document
    }
}
