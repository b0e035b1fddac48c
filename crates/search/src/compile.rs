//! Compiles a parsed query into a query of tantivy.
//!
//! A word or phrase is looked for in the title and in the text, and scores by BM25 in both; the title counts [`TITLE_BOOST`]
//! times. Fields filter and do not score. A single character matches all terms that start with it, which costs a walk over
//! them and scores the same for every document.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, InvertedIndexRangeQuery, Occur,
    PhrasePrefixQuery, PhraseQuery, Query as TantivyQuery, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::either::Either;
use crate::query::{Item, Phrase, Query};
use crate::schema::Fields;
use crate::steady::Steady;

/// How much more a word in the title counts.
const TITLE_BOOST: f32 = 2.0;

/// At most so many different characters can follow the single character that ends a phrase of several
/// words; what follows beyond that, in one segment, is not found. About as many as dictionaries list.
const FOLLOWERS_MAX: u32 = 16_384;

pub(crate) fn compile(query: &Query, fields: &Fields) -> Box<dyn TantivyQuery> {
    let mut clauses: Vec<(Occur, Box<dyn TantivyQuery>)> = Vec::new();
    for group in &query.required {
        let mut choices = group.iter().map(|item| compile_item(item, fields));
        let clause = match (group.len(), choices.next()) {
            (1, Some(only)) => only,
            (_, first) => Box::new(BooleanQuery::union(first.into_iter().chain(choices).collect())),
        };
        clauses.push((Occur::Must, clause));
    }
    if clauses.is_empty() {
        clauses.push((Occur::Must, Box::new(AllQuery)));
    }
    for item in &query.excluded {
        clauses.push((Occur::MustNot, compile_item(item, fields)));
    }
    Box::new(BooleanQuery::new(clauses))
}

fn compile_item(item: &Item, fields: &Fields) -> Box<dyn TantivyQuery> {
    let deciding: Box<dyn TantivyQuery> = match item {
        Item::Words(phrase) => {
            let title = BoostQuery::new(compile_phrase(phrase, fields.title), TITLE_BOOST);
            return Box::new(Either([Box::new(title), compile_phrase(phrase, fields.text)]));
        }
        Item::Title(phrase) => {
            let title = compile_phrase(phrase, fields.title);
            return Box::new(BoostQuery::new(title, TITLE_BOOST));
        }
        Item::Site(site) => Box::new(name(fields.site, site)),
        Item::Language(language) => Box::new(name(fields.language, language)),
        Item::Before(moment) => Box::new(RangeQuery::new(
            Bound::Unbounded,
            Bound::Excluded(Term::from_field_i64(fields.created, moment.as_microseconds())),
        )),
        Item::After(moment) => Box::new(RangeQuery::new(
            Bound::Included(Term::from_field_i64(fields.created, moment.as_microseconds())),
            Bound::Unbounded,
        )),
    };
    Box::new(ConstScoreQuery::new(deciding, 0.0))
}

fn name(field: Field, name: &str) -> TermQuery {
    TermQuery::new(Term::from_field_text(field, name), IndexRecordOption::Basic)
}

/// What of the index stands for a phrase: terms at offsets, and perhaps a character at the end of which
/// only the beginning of the term is known.
struct PhraseTerms {
    terms: Vec<(usize, Term)>,
    open_end: Option<(usize, Term)>,
}

impl PhraseTerms {
    fn of(phrase: &Phrase, field: Field) -> PhraseTerms {
        let units = &phrase.units;
        let mut terms = Vec::with_capacity(units.len());
        let mut open_end = None;
        for (offset, unit) in units.iter().enumerate() {
            let next = units.get(offset + 1);
            let text = match next {
                _ if !unit.in_run => unit.text.clone(),
                Some(next) if next.joined => format!("{}{}", unit.text, next.text),
                // Another word follows, so the run ends here in the text too.
                Some(_) => unit.text.clone(),
                // The end of the query: whatever follows in the text. After a bigram that is said already.
                None => {
                    if phrase.has_open_end() {
                        open_end = Some((offset, Term::from_field_text(field, &unit.text)));
                    }
                    continue;
                }
            };
            terms.push((offset, Term::from_field_text(field, &text)));
        }
        PhraseTerms { terms, open_end }
    }
}

fn compile_phrase(phrase: &Phrase, field: Field) -> Box<dyn TantivyQuery> {
    let PhraseTerms { mut terms, open_end } = PhraseTerms::of(phrase, field);
    match open_end {
        None if terms.len() == 1 => {
            let (_, term) = terms.swap_remove(0);
            Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
        }
        None => Box::new(Steady(PhraseQuery::new_with_offset(terms))),
        Some((_, character)) if terms.is_empty() => {
            let text = character.value().as_str().map(following).unwrap_or_default();
            let behind = Term::from_field_text(field, &text);
            let (from, to) = (Bound::Included(character), Bound::Excluded(behind));
            Box::new(InvertedIndexRangeQuery::new(from, to))
        }
        Some(end) => {
            terms.push(end);
            let mut query = PhrasePrefixQuery::new_with_offset(terms);
            query.set_max_expansions(FOLLOWERS_MAX);
            Box::new(Steady(query))
        }
    }
}

/// Whether the engine can tell what a query costs before it is answered: it asks for words, and nothing in it
/// is looked for by walking through a part of the index first.
pub(crate) fn tells_its_cost(query: &Query) -> bool {
    let walks = |item: &Item| match item {
        Item::Words(phrase) | Item::Title(phrase) => phrase.has_open_end(),
        Item::Before(_) | Item::After(_) => true,
        Item::Site(_) | Item::Language(_) => false,
    };
    query.is_ranked() && !query.required.iter().flatten().chain(&query.excluded).any(walks)
}

/// The least text that is greater than all texts which start with this character.
fn following(character: &str) -> String {
    let next = character.chars().next().map(|c| c as u32 + 1);
    next.and_then(char::from_u32).unwrap_or('\u{E000}').to_string()
}
