//! Questions about a text, stored or not: what resembles it, contains it, is contained in it, and where
//! it was taken from.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use wonbon_app::answers;
use wonbon_app::parameters::{least_share, limit};
use wonbon_store::{Answer, Match, Measure, Question, Row, Sources, SourcesQuestion};
use wonbon_text::extract::extract;

use crate::pages;
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reply, View};

/// A question about a text: that of a stored document by its key, or one that is sent.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[into_params(parameter_in = Query)]
pub(crate) struct TextQuestion {
    /// The key or address of a stored document.
    pub(crate) key: Option<String>,
    /// A text.
    pub(crate) text: Option<String>,
    /// A page, whose core text is taken.
    pub(crate) html: Option<String>,
    /// The least value to show: 0.1 unless said.
    pub(crate) min: Option<f64>,
    /// How many documents to show: 10 unless said, at most 100.
    pub(crate) limit: Option<usize>,
    /// For sources: name a document if it explains at least this many words; 8 unless said.
    pub(crate) least_words: Option<usize>,
}

/// The text that is asked about.
pub(crate) struct About {
    pub(crate) text: String,
    /// The document it is, if it is stored.
    pub(crate) row: Option<Row>,
}

impl TextQuestion {
    pub(crate) fn about(&self, service: &Service) -> Result<About, Problem> {
        match (&self.key, &self.text, &self.html) {
            (Some(key), None, None) => {
                let document = service.store.find(key)?.ok_or_else(|| Problem::unknown(key))?;
                Ok(About { text: document.text, row: Some(document.row) })
            }
            (None, Some(text), None) => Ok(About { text: text.clone(), row: None }),
            (None, None, Some(html)) => Ok(About { text: extract(html, None).text, row: None }),
            _ => Err(Problem::new(
                Code::BadParameter,
                "one of `key`, `text` and `html` says what is asked about",
            )),
        }
    }
}

/// The documents that answer a question.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MatchAnswer<'a> {
    /// The best first.
    matches: Vec<answers::Match<'a>>,
    /// How many different shingles the text has.
    shingles: usize,
    /// How many of them were left out because too many documents have them.
    common: usize,
    /// How many documents could have answered by their sketches.
    candidates: usize,
    /// How many of them were looked at.
    verified: usize,
    /// Whether all were looked at that could have been among those shown.
    complete: bool,
}

/// Asks one of the three questions; a stored document does not find itself.
pub(crate) fn matches(
    service: &Service,
    about: &About,
    measure: Measure,
    min: f64,
    limit: usize,
) -> Result<Answer, Problem> {
    let wanted = limit + usize::from(about.row.is_some());
    let question = Question { measure, min, limit: wanted };
    let mut answer = service.store.ask(&about.text, &question)?;
    answer.matches.retain(|found: &Match| Some(found.document.row) != about.row);
    answer.matches.truncate(limit);
    Ok(answer)
}

fn asked(service: &Service, asked: &TextQuestion, measure: Measure) -> Result<Reply, Problem> {
    let (min, limit) = (least_share(asked.min, 0.1)?, limit(asked.limit, 10, 100)?);
    let about = asked.about(service)?;
    let answer = matches(service, &about, measure, min, limit)?;
    Ok(Reply::json(&MatchAnswer {
        matches: answer.matches.iter().map(answers::Match::of).collect(),
        shingles: answer.shingles,
        common: answer.common,
        candidates: answer.candidates,
        verified: answer.verified,
        complete: answer.complete,
    }))
}

macro_rules! text_questions {
    ($($get:ident $post:ident $path:literal $measure:ident $what:literal;)+) => {$(
        #[doc = $what]
        #[utoipa::path(
            get,
            path = $path,
            tag = "questions",
            description = $what,
            params(TextQuestion),
            responses((status = 200, body = MatchAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
        )]
        pub(crate) fn $get(service: &Service, question: TextQuestion, _view: &View) -> Result<Reply, Problem> {
            asked(service, &question, Measure::$measure)
        }

        #[doc = $what]
        #[utoipa::path(
            post,
            path = $path,
            tag = "questions",
            description = $what,
            request_body(content = TextQuestion, content_type = "application/json"),
            responses((status = 200, body = MatchAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
        )]
        pub(crate) fn $post(service: &Service, question: TextQuestion, _view: &View) -> Result<Reply, Problem> {
            asked(service, &question, Measure::$measure)
        }
    )+};
}

text_questions! {
    similar post_similar "/v1/similar" Resemblance "Stored documents that resemble a text, originals and copies alike, by exact resemblance.";
    within post_within "/v1/within" Within "Stored documents that contain a text or part of it, by the part of the text that they have.";
    contains post_contains "/v1/contains" Contains "Stored documents that a text contains, whole or in part, by the part of the document that the text has.";
}

/// Where a text was taken from.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourcesAnswer<'a> {
    /// The one that explains most first.
    sources: Vec<answers::Source<'a>>,
    /// How much of the text is explained, and what is not.
    #[serde(flatten)]
    explained: answers::Explained<'a>,
}

pub(crate) fn sources_of(
    service: &Service,
    about: &About,
    asked: &TextQuestion,
) -> Result<Sources, Problem> {
    let question = SourcesQuestion {
        limit: limit(asked.limit, 10, 100)?,
        least_words: asked.least_words.unwrap_or(8),
        except: about.row,
    };
    Ok(service.store.sources(&about.text, &question)?)
}

/// Where a text was taken from.
#[utoipa::path(
    get,
    path = "/v1/sources",
    tag = "questions",
    description = "The fewest stored documents that together explain a text, with the passages that each explains and what is left.",
    params(TextQuestion),
    responses((status = 200, body = SourcesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn sources(
    service: &Service,
    asked: TextQuestion,
    _view: &View,
) -> Result<Reply, Problem> {
    let about = asked.about(service)?;
    let found = sources_of(service, &about, &asked)?;
    Ok(Reply::json(&SourcesAnswer {
        sources: found
            .sources
            .iter()
            .map(|source| answers::Source::of(source, &about.text))
            .collect(),
        explained: answers::Explained::of(&found, &about.text),
    }))
}

/// Where a text that is sent was taken from.
#[utoipa::path(
    post,
    path = "/v1/sources",
    tag = "questions",
    description = "As `GET /v1/sources`, with the text in the body.",
    request_body(content = TextQuestion, content_type = "application/json"),
    responses((status = 200, body = SourcesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn post_sources(
    service: &Service,
    asked: TextQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    sources(service, asked, view)
}

/// Everything that is asked about a text on one page.
#[derive(Debug, Serialize)]
struct AskAnswer<'a> {
    similar: Vec<answers::Match<'a>>,
    within: Vec<answers::Match<'a>>,
    contains: Vec<answers::Match<'a>>,
    sources: Vec<answers::Source<'a>>,
    #[serde(flatten)]
    explained: answers::Explained<'a>,
}

/// The answers to all questions about a text.
pub(crate) struct AllAnswers {
    pub(crate) about: About,
    pub(crate) similar: Answer,
    pub(crate) within: Answer,
    pub(crate) contains: Answer,
    pub(crate) sources: Sources,
}

/// The page that asks everything about a text, and its JSON.
pub(crate) fn ask(service: &Service, asked: TextQuestion, view: &View) -> Result<Reply, Problem> {
    let empty = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
    if let View::Page(reader) = view
        && empty(&asked.key)
        && empty(&asked.text)
    {
        return Ok(pages::ask_page(reader, &asked, None));
    }
    let about = asked.about(service)?;
    let (min, most) = (least_share(asked.min, 0.1)?, limit(asked.limit, 10, 100)?);
    let of = |measure| matches(service, &about, measure, min, most);
    let (similar, within, contains) =
        (of(Measure::Resemblance)?, of(Measure::Within)?, of(Measure::Contains)?);
    let sources = sources_of(service, &about, &asked)?;
    let all = AllAnswers { about, similar, within, contains, sources };
    match view {
        View::Page(reader) => Ok(pages::ask_page(reader, &asked, Some(&all))),
        View::Json => {
            let text = &all.about.text;
            let sources = &all.sources.sources;
            Ok(Reply::json(&AskAnswer {
                similar: all.similar.matches.iter().map(answers::Match::of).collect(),
                within: all.within.matches.iter().map(answers::Match::of).collect(),
                contains: all.contains.matches.iter().map(answers::Match::of).collect(),
                sources: sources.iter().map(|source| answers::Source::of(source, text)).collect(),
                explained: answers::Explained::of(&all.sources, text),
            }))
        }
    }
}
