//! Two documents compared.

use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use wonbon_app::answers;
use wonbon_app::compare::{Comparison, Side};
use wonbon_sketch::FeatureMaker;
use wonbon_store::StoredDocument;
use wonbon_text::difference::difference;
use wonbon_text::extract::extract;
use wonbon_text::shingles::Shingler;

use super::searching::said;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reply, View};

/// Two stored documents.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompareQuestion {
    /// The key or address of the first.
    pub(crate) a: Option<String>,
    /// The key or address of the second.
    pub(crate) b: Option<String>,
    /// Show where they differ too.
    pub(crate) differences: Option<bool>,
}

/// One of two documents: a stored one, or one that is sent.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct GivenSide {
    /// The key or address of a stored document.
    key: Option<String>,
    /// A text.
    text: Option<String>,
    /// A page, whose core text is taken.
    html: Option<String>,
}

/// Two documents.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct GivenSides {
    a: GivenSide,
    b: GivenSide,
    /// Show where they differ too.
    differences: Option<bool>,
}

/// A text and what it is called.
pub(crate) struct NamedText {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The bytes by which two are identical; of a stored document its text.
    bytes: Vec<u8>,
    pub(crate) document: Option<StoredDocument>,
}

impl NamedText {
    fn stored(service: &Service, key: &str) -> Result<Self, Problem> {
        let document = service.store.find(key)?.ok_or_else(|| Problem::unknown(key))?;
        Ok(NamedText {
            name: document.key.clone(),
            text: document.text.clone(),
            bytes: document.text.clone().into_bytes(),
            document: Some(document),
        })
    }

    fn given(service: &Service, name: &str, side: GivenSide) -> Result<Self, Problem> {
        let (text, bytes) = match side {
            GivenSide { key: Some(key), text: None, html: None } => {
                return NamedText::stored(service, &key);
            }
            GivenSide { key: None, text: Some(text), html: None } => {
                let bytes = text.clone().into_bytes();
                (text, bytes)
            }
            GivenSide { key: None, text: None, html: Some(html) } => {
                (extract(&html, None).text, html.into_bytes())
            }
            _ => {
                let detail = format!("`{name}` has one of `key`, `text` and `html`");
                return Err(Problem::new(Code::BadJson, detail));
            }
        };
        Ok(NamedText { name: name.to_owned(), text, bytes, document: None })
    }
}

/// What two texts share.
pub(crate) struct ComparedTexts<'a> {
    pub(crate) sides: [Side<'a>; 2],
    pub(crate) comparison: Comparison,
}

pub(crate) fn compared<'a>(
    service: &Service,
    texts: &'a [NamedText; 2],
) -> Result<ComparedTexts<'a>, Problem> {
    let params = service.store.params();
    let inside = |error: wonbon_sketch::SketchError| Problem::inside(Code::Failed, &error);
    let maker = FeatureMaker::new(params.features().0).map_err(inside)?;
    let mut shingler = Shingler::new(params.shingle_words);
    let [a, b] = texts
        .each_ref()
        .map(|side| Side::new(&side.name, &side.bytes, &side.text, &mut shingler, &maker));
    let comparison = Comparison::of(&a, &b, params.rule).map_err(inside)?;
    Ok(ComparedTexts { sides: [a, b], comparison })
}

fn answered(
    service: &Service,
    texts: &[NamedText; 2],
    differences: bool,
) -> Result<Reply, Problem> {
    let ComparedTexts { sides: [a, b], comparison } = compared(service, texts)?;
    let found = differences.then(|| difference(a.text, b.text));
    Ok(Reply::json(&answers::Comparison::of((&a, &b), &comparison, found.as_ref())))
}

/// What two stored documents share.
#[utoipa::path(
    get,
    path = "/v1/compare",
    tag = "questions",
    description = "Resemblance and containment both ways, exactly and as the sketches see them, and what the two are to each other by the store's rule.",
    params(CompareQuestion),
    responses((status = 200, body = answers::Comparison), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn compare(
    service: &Service,
    asked: CompareQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let (Some(a), Some(b)) = (said(&asked.a), said(&asked.b)) else {
        return match view {
            View::Page(reader) => Ok(pages::compare_page(reader, &asked, None)),
            View::Json => Err(Problem::new(Code::BadParameter, "`a` and `b` say what is compared")),
        };
    };
    let texts = [NamedText::stored(service, a)?, NamedText::stored(service, b)?];
    match view {
        View::Json => answered(service, &texts, asked.differences.unwrap_or(false)),
        View::Page(reader) => {
            let compared = compared(service, &texts)?;
            Ok(pages::compare_page(reader, &asked, Some((&texts, &compared))))
        }
    }
}

/// What two documents share, stored or sent.
#[utoipa::path(
    post,
    path = "/v1/compare",
    tag = "questions",
    description = "As `GET /v1/compare`, with texts in the body.",
    request_body(content = GivenSides, content_type = "application/json"),
    responses((status = 200, body = answers::Comparison), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn post_compare(
    service: &Service,
    asked: GivenSides,
    _view: &View,
) -> Result<Reply, Problem> {
    let texts =
        [NamedText::given(service, "a", asked.a)?, NamedText::given(service, "b", asked.b)?];
    answered(service, &texts, asked.differences.unwrap_or(false))
}
