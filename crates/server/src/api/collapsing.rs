//! Ranked results with near-copies put behind the best-ranked one.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wonbon_app::answers;
use wonbon_store::{CollapseConfig, collapse as collapse_texts};

use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reply, View};

/// Ranked results.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CollapseQuestion {
    /// The best first. A result is compared by its `text`; without one, the stored document is whose key
    /// is in `id`, `key` or `url`. All other fields come back as they went.
    #[schema(value_type = Vec<Object>)]
    results: Vec<Map<String, Value>>,
    /// From which exact resemblance on a result goes behind an earlier one: 0.8 unless said.
    threshold: Option<f64>,
    /// How long it may take, in milliseconds; no limit but the service's if not said.
    budget_milliseconds: Option<u64>,
}

/// The results without those that went behind another.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CollapseAnswer {
    /// In the order in which they came; `copies` lists those behind each. `collapsed` is false for one
    /// that was not looked at because the time was over.
    #[schema(value_type = Vec<Object>)]
    results: Vec<Map<String, Value>>,
    /// The ranks, from 1, of results of which no text is known; they come back as they went.
    unknown: Vec<usize>,
    /// How many results were looked at.
    looked_at: usize,
}

/// Puts near-copies in ranked results behind the best-ranked one.
#[utoipa::path(
    post,
    path = "/v1/collapse",
    tag = "questions",
    description = "Takes results in rank order and puts each whose exact resemblance to an earlier kept one is at or above the threshold behind it.",
    request_body(content = CollapseQuestion, content_type = "application/json"),
    responses((status = 200, body = CollapseAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn collapse(
    service: &Service,
    asked: CollapseQuestion,
    _view: &View,
) -> Result<Reply, Problem> {
    let threshold = asked.threshold.unwrap_or(0.8);
    if !(threshold > 0.0 && threshold <= 1.0) {
        let detail = format!("`threshold` is above 0 and at most 1, not {threshold}");
        return Err(Problem::new(Code::BadParameter, detail));
    }
    let started = Instant::now();
    let limits = service.config.limits;
    let budget = asked.budget_milliseconds.map(Duration::from_millis);
    let config = CollapseConfig {
        threshold,
        shingle_words: service.store.params().shingle_words,
        deadline: Some(started + budget.unwrap_or(limits.answer_time).min(limits.answer_time)),
    };
    let mut results = asked.results;
    let mut compared = Vec::new();
    let mut unknown = Vec::new();
    let mut failed = None;
    let mut rest = results.iter().enumerate();
    let found = collapse_texts(
        std::iter::from_fn(|| {
            for (at, result) in rest.by_ref() {
                match text_of(service, result) {
                    Ok(Some(text)) => {
                        compared.push(at);
                        return Some(text);
                    }
                    Ok(None) => unknown.push(at + 1),
                    Err(problem) => {
                        failed = Some(problem);
                        return None;
                    }
                }
            }
            None
        }),
        &config,
    );
    if let Some(problem) = failed {
        return Err(problem);
    }
    let mut behind = vec![false; results.len()];
    let mut heads: Vec<Option<Vec<answers::CopyOfResult>>> = results.iter().map(|_| None).collect();
    for group in &found.groups {
        let mut copies = Vec::with_capacity(group.copies.len());
        for copy in &group.copies {
            let at = compared[copy.result];
            behind[at] = true;
            let id = names(&results[at]).next().cloned().unwrap_or(Value::Null);
            copies.push(answers::CopyOfResult { id, resemblance: copy.resemblance, rank: at + 1 });
        }
        heads[compared[group.head]] = Some(copies);
    }
    for (at, result) in results.iter_mut().enumerate() {
        if let Some(copies) = heads[at].take() {
            let copies = serde_json::to_value(copies).expect("answers have text for keys");
            result.insert("copies".to_owned(), copies);
        } else if !behind[at] && !unknown.contains(&(at + 1)) {
            result.insert("collapsed".to_owned(), Value::Bool(false));
        }
    }
    let mut at = 0;
    results.retain(|_| {
        at += 1;
        !behind[at - 1]
    });
    Ok(Reply::json(&CollapseAnswer { results, unknown, looked_at: found.looked_at }))
}

fn names(result: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    ["id", "key", "url"].into_iter().filter_map(|name| result.get(name))
}

fn text_of(service: &Service, result: &Map<String, Value>) -> Result<Option<String>, Problem> {
    if let Some(text) = result.get("text").and_then(Value::as_str) {
        return Ok(Some(text.to_owned()));
    }
    for name in names(result) {
        let key = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        if let Some(document) = service.store.get(&key)? {
            return Ok(Some(document.text));
        }
    }
    Ok(None)
}
