//! Questions about a text, stored or not: what resembles it, contains it, is contained in it, and where
//! it was taken from.

use serde::Deserialize;
use wonbon_store::{
    Answer, Match, Measure, PassagesQuestion, Question, Row, Sources, SourcesQuestion, Store,
    StoredPassages,
};
use wonbon_text::extract::extract;

use super::document;
use crate::answers::{AskAnswer, MatchAnswer, PassagesAnswer, SourcesAnswer};
use crate::error::{AppError, RequestError};
use crate::parameters::{LEAST_WORDS, MATCHES, USUAL_MATCH, least_share};

/// A question about a text: that of a stored document by its key, or one that is sent.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams, utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct TextQuestion {
    /// The key or address of a stored document.
    pub key: Option<String>,
    /// A text.
    pub text: Option<String>,
    /// A page, whose core text is taken.
    pub html: Option<String>,
    /// The least value to show: 0.1 unless said.
    pub min: Option<f64>,
    /// How many documents to show: 10 unless said, at most 1000.
    pub limit: Option<usize>,
    /// For sources: name a document if it explains at least this many words. For passages: the least words of one. 8
    /// unless said.
    pub least_words: Option<usize>,
}

/// The text that is asked about.
#[derive(Debug)]
pub struct QuestionText {
    /// The text.
    pub text: String,
    /// The document it is, if it is stored.
    pub row: Option<Row>,
}

/// The answers to all questions about a text.
#[derive(Debug)]
pub struct AllAnswers {
    /// The text.
    pub about: QuestionText,
    /// What resembles it.
    pub similar: Answer,
    /// What contains it.
    pub within: Answer,
    /// What it contains.
    pub contains: Answer,
    /// Where it was taken from.
    pub sources: Sources,
    /// What of it stands in stored documents.
    pub passages: StoredPassages,
}

impl TextQuestion {
    /// The text that is asked about.
    ///
    /// # Errors
    ///
    /// [`AppError::UnknownDocument`], [`AppError::Request`], or the store's.
    pub fn about(&self, store: &Store) -> Result<QuestionText, AppError> {
        match (&self.key, &self.text, &self.html) {
            (Some(key), None, None) => {
                let document = document(store, key)?;
                Ok(QuestionText { text: document.text, row: Some(document.row) })
            }
            (None, Some(text), None) => Ok(QuestionText { text: text.clone(), row: None }),
            (None, None, Some(html)) => {
                Ok(QuestionText { text: extract(html, None).text, row: None })
            }
            _ => Err(RequestError::NoText.into()),
        }
    }

    /// Documents that share something with the text; a stored document does not find itself.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the store's.
    pub fn matches(
        &self,
        store: &Store,
        about: &QuestionText,
        measure: Measure,
    ) -> Result<Answer, AppError> {
        let (min, limit) = (least_share(self.min.unwrap_or(USUAL_MATCH))?, MATCHES.of(self.limit)?);
        let wanted = limit + usize::from(about.row.is_some());
        let question = Question { measure, min, limit: wanted };
        let mut answer = store.ask(&about.text, &question)?;
        answer.matches.retain(|found: &Match| Some(found.document.row) != about.row);
        answer.matches.truncate(limit);
        Ok(answer)
    }

    /// Where the text was taken from; a stored document is not its own source.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the store's.
    pub fn sources(&self, store: &Store, about: &QuestionText) -> Result<Sources, AppError> {
        let question = SourcesQuestion {
            limit: MATCHES.of(self.limit)?,
            least_words: self.least_words.unwrap_or(LEAST_WORDS),
            except: about.row,
        };
        Ok(store.sources(&about.text, &question)?)
    }

    /// The passages of the text that stand in stored documents, other than itself.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the store's.
    pub fn passages(
        &self,
        store: &Store,
        about: &QuestionText,
    ) -> Result<StoredPassages, AppError> {
        let words = self.least_words.unwrap_or(LEAST_WORDS);
        if words == 0 {
            return Err(
                RequestError::parameter("least_words", "at least 1".to_owned(), words).into()
            );
        }
        let question =
            PassagesQuestion { words, limit: MATCHES.of(self.limit)?, except: about.row };
        Ok(store.passages(&about.text, &question)?)
    }

    /// Everything that can be asked about the text.
    ///
    /// # Errors
    ///
    /// As the single questions.
    pub fn ask(&self, store: &Store) -> Result<AllAnswers, AppError> {
        let about = self.about(store)?;
        Ok(AllAnswers {
            similar: self.matches(store, &about, Measure::Resemblance)?,
            within: self.matches(store, &about, Measure::Within)?,
            contains: self.matches(store, &about, Measure::Contains)?,
            sources: self.sources(store, &about)?,
            passages: self.passages(store, &about)?,
            about,
        })
    }
}

impl AllAnswers {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> AskAnswer<'_> {
        AskAnswer {
            similar: MatchAnswer::of(&self.similar),
            within: MatchAnswer::of(&self.within),
            contains: MatchAnswer::of(&self.contains),
            sources: SourcesAnswer::of(&self.sources, &self.about.text),
            passages: PassagesAnswer::of(&self.passages, &self.about.text),
        }
    }
}
