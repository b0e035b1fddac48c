//! Queries: what a person types.
//!
//! | written | means |
//! |---|---|
//! | `web archive` | both words, in title or text, in any order |
//! | `"web archive"` | the words one after another |
//! | `-spam`, `-"buy now"`, `-site:example.com` | without it |
//! | `cat OR dog` | either; `OR` binds its two neighbours, before the rest is joined |
//! | `title:word`, `title:"a phrase"` | in the title |
//! | `site:example.com` | from this host, or one below it |
//! | `lang:ko` | in this language, or a regional form of it |
//! | `after:2024-05`, `before:2025` | created then or later; created earlier than that |
//!
//! A date is `YYYY`, `YYYY-MM`, `YYYY-MM-DD` or a moment with its zone (`2024-05-01T09:00:00+09:00`), as
//! [`Timestamp::parse_strict`] reads it, and stands for its first moment. What hangs together is read as a phrase: `state-of-the-art`, `한글ABC`. Words
//! before and after the colon of a field that does not exist are plain words. A quote that is never
//! closed is closed at the end. Everything else, operators in odd places included, is ignored or a word;
//! only what cannot be meant is refused: no words at all, a date that is none, too long a query.
//!
//! A query that asks for no words lists what matches the rest, newest first.
//!
//! Guarantee: no text makes this panic, and cost is linear in its length.

use wonbon_time::Timestamp;

use crate::schema::{language_form, shortened, site_form};
use crate::units::for_each_unit;

/// Longer queries are refused.
pub const QUERY_CHARACTERS_MAX: usize = 1_000;
/// Queries of more words are refused; a run of Hangul, Han or kana is one, and so is a field.
pub const QUERY_WORDS_MAX: usize = 64;

/// A query that was understood. See the table above for what can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Of every group, one item must match.
    pub(crate) required: Vec<Vec<Item>>,
    /// None of these may match.
    pub(crate) excluded: Vec<Item>,
}

/// One thing that is asked of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// In title or text.
    Words(Phrase),
    Title(Phrase),
    Site(String),
    Language(String),
    /// Created before this moment.
    Before(Timestamp),
    /// Created at this moment or later.
    After(Timestamp),
}

/// Units that follow each other; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    pub units: Vec<PhraseUnit>,
}

impl Phrase {
    /// Whether it ends in a single character of a run, which stands for all that begins with it.
    pub(crate) fn has_open_end(&self) -> bool {
        self.units.last().is_some_and(|unit| unit.in_run && !unit.joined)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseUnit {
    pub text: String,
    pub in_run: bool,
    pub joined: bool,
}

/// Why a query was not understood. The request was wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// There is nothing in it to look for.
    #[error("the query has no words to look for")]
    Empty,
    /// It is longer than [`QUERY_CHARACTERS_MAX`].
    #[error("the query has {characters} characters; {QUERY_CHARACTERS_MAX} is the limit")]
    TooLong {
        /// How long it is.
        characters: usize,
    },
    /// It has more than [`QUERY_WORDS_MAX`] words.
    #[error("the query has {words} words and fields; {QUERY_WORDS_MAX} is the limit")]
    TooManyWords {
        /// How many it has.
        words: usize,
    },
    /// A field of dates got something else.
    #[error(
        "\"{value}\" after {field}: is not a date; write 2024, 2024-05, 2024-05-01 or 2024-05-01T09:00:00Z"
    )]
    NotADate {
        /// `before` or `after`.
        field: &'static str,
        /// What stood there.
        value: String,
    },
}

impl Query {
    /// Understands what a person typed.
    ///
    /// # Errors
    /// When there is nothing to look for, a date is none, or a limit is exceeded.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let characters = text.chars().count();
        if characters > QUERY_CHARACTERS_MAX {
            return Err(QueryError::TooLong { characters });
        }
        let mut query = Query { required: Vec::new(), excluded: Vec::new() };
        let mut words = 0;
        // Whether the last thing read can stand left of an OR, and whether it does.
        let (mut joinable, mut either) = (false, false);
        let mut rest = text;
        while let Some(written) = Written::read(&mut rest) {
            if written.is_or() {
                either = joinable;
                continue;
            }
            for item in written.items()? {
                words += item.words();
                if written.excluded {
                    query.excluded.push(item);
                } else if either && let Some(group) = query.required.last_mut() {
                    group.push(item);
                } else {
                    query.required.push(vec![item]);
                }
                joinable = !written.excluded;
                either = false;
            }
        }
        if words > QUERY_WORDS_MAX {
            return Err(QueryError::TooManyWords { words });
        }
        if query.required.is_empty() && query.excluded.is_empty() {
            return Err(QueryError::Empty);
        }
        Ok(query)
    }

    /// Whether it asks for words, so that what is found has a score; otherwise the newest comes first.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        let mut items = self.required.iter().flatten();
        items.any(|item| matches!(item, Item::Words(_) | Item::Title(_)))
    }
}

impl std::str::FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Query, QueryError> {
        Query::parse(text)
    }
}

impl Item {
    /// How much it counts towards [`QUERY_WORDS_MAX`].
    fn words(&self) -> usize {
        match self {
            Item::Words(phrase) | Item::Title(phrase) => {
                phrase.units.iter().filter(|unit| !unit.joined).count()
            }
            Item::Site(_) | Item::Language(_) | Item::Before(_) | Item::After(_) => 1,
        }
    }
}

impl Phrase {
    /// The units of a text, if it has any.
    pub(crate) fn of(text: &str) -> Option<Phrase> {
        let mut units = Vec::new();
        for_each_unit(text, |unit| {
            let (in_run, joined) = (unit.in_run, unit.joined);
            units.push(PhraseUnit { text: unit.text.to_owned(), in_run, joined });
        });
        (!units.is_empty()).then_some(Phrase { units })
    }
}

/// One piece of the query as it is written: `-field:"value"` with its parts.
struct Written<'a> {
    excluded: bool,
    field: Option<&'a str>,
    quoted: bool,
    value: &'a str,
}

/// What opens and closes a phrase; any of them closes what any of them opened.
const QUOTES: [char; 4] = ['"', '“', '”', '„'];

impl<'a> Written<'a> {
    /// Takes the next piece from the front of `rest`.
    fn read(rest: &mut &'a str) -> Option<Written<'a>> {
        let mut text = rest.trim_start();
        if text.is_empty() {
            return None;
        }
        let excluded = match text.strip_prefix('-') {
            Some(behind) if !behind.is_empty() && !behind.starts_with(char::is_whitespace) => {
                text = behind;
                true
            }
            _ => false,
        };
        let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
        let field = match text[letters..].strip_prefix(':') {
            Some(behind)
                if letters > 0
                    && !behind.is_empty()
                    && !behind.starts_with(char::is_whitespace)
                    && !behind.starts_with('/') =>
            {
                let field = &text[..letters];
                text = behind;
                Some(field)
            }
            _ => None,
        };
        let (quoted, value) = match text.strip_prefix(QUOTES) {
            Some(inside) => {
                let end = inside.find(QUOTES).unwrap_or(inside.len());
                let (value, behind) = inside.split_at(end);
                *rest = behind.strip_prefix(QUOTES).unwrap_or(behind);
                (true, value)
            }
            None => {
                let end = text.find(|c: char| c.is_whitespace() || QUOTES.contains(&c));
                let (value, behind) = text.split_at(end.unwrap_or(text.len()));
                *rest = behind;
                (false, value)
            }
        };
        Some(Written { excluded, field, quoted, value })
    }

    fn is_or(&self) -> bool {
        !self.excluded && !self.quoted && self.field.is_none() && self.value == "OR"
    }

    /// What it asks for: mostly one thing, none if there are no words in it.
    fn items(&self) -> Result<Vec<Item>, QueryError> {
        let words = |text| Phrase::of(text).map(Item::Words);
        let Some(field) = self.field else {
            return Ok(words(self.value).into_iter().collect());
        };
        let name = |form: String| Some(shortened(&form).to_owned()).filter(|name| !name.is_empty());
        let date = |field| {
            let not_a_date = |_| QueryError::NotADate { field, value: self.value.to_owned() };
            Timestamp::parse_strict(self.value).map_err(not_a_date)
        };
        let item = match field.to_ascii_lowercase().as_str() {
            "title" => Phrase::of(self.value).map(Item::Title),
            "site" => name(site_form(self.value)).map(Item::Site),
            "lang" => name(language_form(self.value)).map(Item::Language),
            "before" => Some(Item::Before(date("before")?)),
            "after" => Some(Item::After(date("after")?)),
            _ => return Ok(words(field).into_iter().chain(words(self.value)).collect()),
        };
        Ok(item.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Item {
        Item::Words(Phrase::of(text).unwrap())
    }

    fn parsed(text: &str) -> (Vec<Vec<Item>>, Vec<Item>) {
        let query = Query::parse(text).unwrap();
        (query.required, query.excluded)
    }

    #[test]
    fn words_and_phrases_are_all_required() {
        let expected = vec![vec![words("web")], vec![words("small archive")], vec![words("b c")]];
        assert_eq!(parsed("WEB \"small  archive\" b-c"), (expected, vec![]));
    }

    #[test]
    fn or_binds_its_neighbours_only() {
        let expected =
            vec![vec![words("a"), words("b"), words("c")], vec![words("d")], vec![words("or")]];
        assert_eq!(parsed("a OR b OR c d or"), (expected, vec![]));
    }

    #[test]
    fn an_or_in_an_odd_place_is_ignored() {
        assert_eq!(parsed("OR a OR"), (vec![vec![words("a")]], vec![]));
        let expected = (vec![vec![words("b")]], vec![words("a")]);
        assert_eq!(parsed("-a OR b"), expected);
        assert_eq!(parsed("\"OR\""), (vec![vec![words("or")]], vec![]));
    }

    #[test]
    fn fields_are_read_with_and_without_quotes() {
        let (required, excluded) = parsed(
            "title:\"한글 책\" Site:HTTPS://News.Example.com/x -lang:ko_KR after:1970 before:1970-01-02",
        );
        let expected = [
            Item::Title(Phrase::of("한글 책").unwrap()),
            Item::Site("news.example.com".to_owned()),
            Item::After(Timestamp::EPOCH),
            Item::Before(Timestamp::from_seconds(86_400)),
        ];
        assert_eq!(required.concat(), expected);
        assert_eq!(excluded, [Item::Language("ko-kr".to_owned())]);
    }

    #[test]
    fn an_unknown_field_is_plain_words() {
        assert_eq!(parsed("author:kim").0, [[words("author")], [words("kim")]]);
        assert_eq!(parsed("site: x").0, [[words("site")], [words("x")]]);
        assert_eq!(parsed("https://a.b/c").0, [[words("https a b c")]]);
    }

    #[test]
    fn an_unbalanced_quote_is_closed_at_the_end() {
        assert_eq!(parsed("a \"b c"), parsed("a \"b c\""));
        assert_eq!(parsed("a“b c”d"), parsed("a \"b c\" d"));
    }

    #[test]
    fn what_hangs_together_is_a_phrase_across_scripts() {
        assert_eq!(parsed("한글ABC").0, [[words("한글 abc")]]);
    }

    #[test]
    fn limits_are_told_in_a_sentence() {
        let long = "가".repeat(QUERY_CHARACTERS_MAX + 1);
        let error = Query::parse(&long).unwrap_err();
        assert_eq!(error.to_string(), "the query has 1001 characters; 1000 is the limit");
        let many = "a ".repeat(QUERY_WORDS_MAX + 1);
        let error = Query::parse(&many).unwrap_err();
        assert_eq!(error.to_string(), "the query has 65 words and fields; 64 is the limit");
        assert!(Query::parse(&"漢".repeat(QUERY_CHARACTERS_MAX)).is_ok());
        for empty in ["", " \t", "!!! \"\" - --", "OR", "\""] {
            assert_eq!(Query::parse(empty), Err(QueryError::Empty), "{empty}");
        }
        let error = Query::parse("a before:now").unwrap_err();
        assert!(error.to_string().starts_with("\"now\" after before: is not a date; write 2024"));
    }

    #[test]
    fn a_date_has_one_of_four_forms() {
        for date in ["2024", "2024-05", "2024-05-01", "2024-05-01T09:00:00+09:00"] {
            assert!(Query::parse(&format!("after:{date}")).is_ok(), "{date}");
        }
        for date in [
            "2024-1",
            "2024-13",
            "2023-02-29",
            "2024.05.01",
            "2024-01-01T00:00",
            "2024-01-01T00:00:00",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00+9",
            "1714554000",
        ] {
            let query = Query::parse(&format!("after:{date}"));
            assert!(matches!(query, Err(QueryError::NotADate { .. })), "{date}: {query:?}");
        }
    }
}
