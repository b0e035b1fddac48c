//! The fields of the index.
//!
//! Nothing is stored but the row and the time of creation, as columns; title and text are postings with
//! positions, site and language are plain terms. A host is entered with all its parents and a language
//! tag with all its beginnings, so that asking for `example.com` or `ko` is one lookup.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};

use crate::tokenizer::WORDS;

/// The version of the fields and terms; changes when the same documents would be indexed otherwise.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// The name of the column of rows.
pub(crate) const ROW: &str = "row";
/// The name of the column of creation times.
pub(crate) const CREATED: &str = "created";

/// More parents than this are not entered; names have at most 127 labels, real ones four or five.
const PARENTS_MAX: usize = 16;
/// Longer names are no hosts and are entered by no parents.
const SITE_BYTES_MAX: usize = 255;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub row: Field,
    pub created: Field,
    pub site: Field,
    pub language: Field,
    pub title: Field,
    pub text: Field,
}

pub(crate) fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let words = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer(WORDS)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions),
    );
    let plain = TextOptions::default().set_indexing_options(
        TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic),
    );
    let fields = Fields {
        row: builder.add_u64_field(ROW, INDEXED | FAST),
        created: builder.add_i64_field(CREATED, FAST),
        site: builder.add_text_field("site", plain.clone()),
        language: builder.add_text_field("language", plain),
        title: builder.add_text_field("title", words.clone()),
        text: builder.add_text_field("text", words),
    };
    (builder.build(), fields)
}

/// A host as it is compared: lower case, without scheme, port, path and final dot.
pub(crate) fn site_form(site: &str) -> String {
    let site = site.trim();
    let site = site.split_once("://").map_or(site, |(_, behind)| behind);
    let host = site.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => host,
    };
    host.trim_end_matches('.').to_lowercase()
}

/// The host itself and its parents.
pub(crate) fn for_each_site(site: &str, mut each: impl FnMut(&str)) {
    let host = site_form(site);
    if host.is_empty() {
        return;
    }
    each(shortened(&host));
    if host.len() <= SITE_BYTES_MAX {
        let parents = host.char_indices().filter(|&(_, c)| c == '.').map(|(at, _)| &host[at + 1..]);
        parents.filter(|parent| !parent.is_empty()).take(PARENTS_MAX).for_each(each);
    }
}

/// A language tag as it is compared: lower case, with hyphens.
pub(crate) fn language_form(language: &str) -> String {
    language.trim().to_lowercase().replace('_', "-")
}

/// The language tag itself and its beginnings.
pub(crate) fn for_each_language(language: &str, mut each: impl FnMut(&str)) {
    let tag = language_form(language);
    if tag.is_empty() {
        return;
    }
    each(shortened(&tag));
    if tag.len() <= SITE_BYTES_MAX {
        let beginnings = tag.match_indices('-').map(|(at, _)| &tag[..at]);
        beginnings.filter(|beginning| !beginning.is_empty()).take(PARENTS_MAX).for_each(each);
    }
}

/// A name as it stands in the index: what is longer than any real name counts by its beginning.
pub(crate) fn shortened(name: &str) -> &str {
    let mut end = name.len().min(SITE_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_entered_with_its_parents() {
        let mut sites = Vec::new();
        for_each_site("https://News.Example.co.kr:8080/path", |site| sites.push(site.to_owned()));
        assert_eq!(sites, ["news.example.co.kr", "example.co.kr", "co.kr", "kr"]);
    }

    #[test]
    fn a_language_is_entered_with_its_beginnings() {
        let mut languages = Vec::new();
        for_each_language("zh_Hant-TW", |language| languages.push(language.to_owned()));
        assert_eq!(languages, ["zh-hant-tw", "zh", "zh-hant"]);
    }

    #[test]
    fn odd_names_do_no_harm() {
        for name in
            ["", ".", "...", "a..b", "한글.한국", &"x.".repeat(500), &"é".repeat(500), "[::1]:80"]
        {
            for_each_site(name, |site| assert!(!site.is_empty() && site.len() <= 255));
            for_each_language(name, |tag| assert!(!tag.is_empty() && tag.len() <= 255));
        }
    }
}
