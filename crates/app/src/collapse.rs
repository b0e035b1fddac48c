//! Ranked results with near-copies collapsed under the best-ranked one.
//!
//! Results are JSON objects of some other program, so their fields are passed on byte for byte: a number is
//! not written in another way. [`wonbon_store::collapse`] compares the texts; this module finds the text of
//! each result and notes its copies in it.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use wonbon_progress::Cancellation;
use wonbon_store::{CollapseConfig, Store, collapse as collapse_texts};

use crate::answers::{CollapseAnswer, CopyOfResult};
use crate::error::{AppError, RequestError};
use crate::parameters::{USUAL_THRESHOLD, threshold};

/// A ranked result: a JSON object, the values of which are kept as they were written.
#[derive(Debug, Clone, Default)]
pub struct RankedResult {
    fields: Vec<(String, Box<RawValue>)>,
}

impl RankedResult {
    fn field(&self, name: &str) -> Option<&RawValue> {
        self.fields.iter().rfind(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// Its own text.
    fn text(&self) -> Option<String> {
        serde_json::from_str::<Option<String>>(self.field("text")?.get()).ok()?
    }

    /// What it is called: its key, its id, its address, or the key of its document, as in the results of
    /// a search.
    pub fn names(&self) -> impl Iterator<Item = &RawValue> {
        #[derive(Deserialize)]
        struct Document<'a> {
            #[serde(borrow)]
            key: &'a RawValue,
        }
        let own = ["key", "id", "url"].into_iter().filter_map(|name| self.field(name));
        let of_document = self.field("document").and_then(|document| {
            serde_json::from_str::<Document<'_>>(document.get()).ok().map(|document| document.key)
        });
        own.chain(of_document)
    }

    /// Puts a field in, in place of one of that name if there is one.
    fn set(&mut self, name: &str, value: &impl Serialize) {
        let value = to_raw_value(value).expect("answers have text for keys");
        self.fields.retain(|(known, _)| known != name);
        self.fields.push((name.to_owned(), value));
    }
}

impl<'de> Deserialize<'de> for RankedResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = RankedResult;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RankedResult, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if name == "text" {
                        serde_json::from_str::<Option<String>>(value.get())
                            .map_err(|error| A::Error::custom(format!("`text`: {error}")))?;
                    }
                    fields.push((name, value));
                }
                Ok(RankedResult { fields })
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl Serialize for RankedResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Ranked results and how they are collapsed.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CollapseQuestion {
    /// The best first. A result is compared by its `text`; without one, by the text of the stored document
    /// whose key is in `key`, `id`, `url` or `document.key`. All other fields come back as they went.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    pub results: Vec<RankedResult>,
    /// From which exact resemblance on a result goes behind an earlier one: 0.8 unless said.
    pub threshold: Option<f64>,
    /// How long it may take, in milliseconds; no limit but the service's if not said.
    #[serde(default, rename = "budget_milliseconds", deserialize_with = "milliseconds")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<u64>))]
    pub budget: Option<Duration>,
}

fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
}

/// What became of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays, with those behind it in its field `copies`.
    Kept,
    /// It is behind another.
    Behind,
    /// It goes out as it came: no text of it is known.
    Unknown,
    /// The time was over before it; its field `collapsed` is false.
    Late,
}

/// Results in the order in which they came, and what became of each.
#[derive(Debug)]
pub struct CollapsedResults {
    /// They.
    pub results: Vec<(RankedResult, Fate)>,
    /// How many of those whose text is known were looked at.
    pub looked_at: usize,
}

impl CollapseQuestion {
    /// Puts near-copies behind the best-ranked one, with shingles of so many words. It takes no longer than
    /// the budget, and than `most_time` if that is said. `store` is asked for the texts of results that
    /// have none of their own; it may be opened when it is first needed. When
    /// `cancellation` says so, nothing more is looked at.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`], and those of `store`.
    pub fn collapse<E: From<AppError>>(
        self,
        shingle_words: NonZeroUsize,
        most_time: Option<Duration>,
        cancellation: &Cancellation,
        mut store: impl FnMut() -> Result<Store, E>,
    ) -> Result<CollapsedResults, E> {
        let started = Instant::now();
        let threshold = threshold(self.threshold.unwrap_or(USUAL_THRESHOLD))
            .map_err(|error: RequestError| AppError::from(error))?;
        let time = [self.budget, most_time].into_iter().flatten().min();
        // A time too far away to be told is no limit.
        let deadline = time.and_then(|time| started.checked_add(time));
        let config = CollapseConfig { threshold, shingle_words, deadline };
        let mut results: Vec<(RankedResult, Fate)> =
            self.results.into_iter().map(|result| (result, Fate::Late)).collect();
        let mut compared = Vec::new();
        let mut unknown = Vec::new();
        let mut failed = None;
        let mut rest = results.iter().enumerate();
        let found = collapse_texts(
            std::iter::from_fn(|| {
                // Results without a text come back to the loop that looks at the clock only here.
                while deadline.is_none_or(|deadline| Instant::now() < deadline)
                    && !cancellation.is_cancelled()
                {
                    let (at, (result, _)) = rest.next()?;
                    match text_of(result, &mut store) {
                        Ok(Some(text)) => {
                            compared.push(at);
                            return Some(text);
                        }
                        Ok(None) => unknown.push(at),
                        Err(error) => {
                            failed = Some(error);
                            return None;
                        }
                    }
                }
                None
            }),
            &config,
        );
        if let Some(error) = failed {
            return Err(error);
        }
        for at in unknown {
            results[at].1 = Fate::Unknown;
        }
        for group in &found.groups {
            let mut copies = Vec::with_capacity(group.copies.len());
            for copy in &group.copies {
                let at = compared[copy.result];
                let key = results[at].0.names().next().map(ToOwned::to_owned);
                copies.push(CopyOfResult { key, resemblance: copy.resemblance, rank: at + 1 });
                results[at].1 = Fate::Behind;
            }
            let (head, fate) = &mut results[compared[group.head]];
            head.set("copies", &copies);
            *fate = Fate::Kept;
        }
        for (result, fate) in &mut results {
            if *fate == Fate::Late {
                result.set("collapsed", &false);
            }
        }
        Ok(CollapsedResults { results, looked_at: found.looked_at })
    }
}

/// The text of a result: its own, or that of the stored document of its name.
fn text_of<E: From<AppError>>(
    result: &RankedResult,
    store: &mut impl FnMut() -> Result<Store, E>,
) -> Result<Option<String>, E> {
    if let Some(text) = result.text() {
        return Ok(Some(text));
    }
    for name in result.names() {
        let key = serde_json::from_str(name.get()).unwrap_or_else(|_| name.get().to_owned());
        if let Some(document) = store()?.find(&key).map_err(AppError::from)? {
            return Ok(Some(document.text));
        }
    }
    Ok(None)
}

impl CollapsedResults {
    /// As JSON.
    #[must_use]
    pub fn answer(self) -> CollapseAnswer {
        let unknown = (1..)
            .zip(&self.results)
            .filter(|(_, (_, fate))| *fate == Fate::Unknown)
            .map(|(rank, _)| rank)
            .collect();
        let kept = self.results.into_iter().filter(|(_, fate)| *fate != Fate::Behind);
        CollapseAnswer {
            results: kept.map(|(result, _)| result).collect(),
            unknown,
            looked_at: self.looked_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(line: &str, name: &str) -> String {
        let mut result: RankedResult = serde_json::from_str(line).unwrap();
        result.set(name, &[(); 0]);
        serde_json::to_string(&result).unwrap()
    }

    #[test]
    fn values_go_out_as_they_were_written() {
        let line = r#" { "a" : 1.50e+03, "b":{"copies":[1, "}"]}, "c\"d":"x\\" , "e":[] } "#;
        assert_eq!(
            with(line, "copies"),
            r#"{"a":1.50e+03,"b":{"copies":[1, "}"]},"c\"d":"x\\","e":[],"copies":[]}"#
        );
        assert_eq!(with("{}", "copies"), r#"{"copies":[]}"#);
    }

    #[test]
    fn a_field_of_the_same_name_is_replaced_however_it_is_written() {
        let line = r#"{"id":"x","copies":17,"z":null}"#;
        assert_eq!(with(line, "copies"), r#"{"id":"x","z":null,"copies":[]}"#);
        assert_eq!(with(r#"{"\u0063opies":17}"#, "copies"), r#"{"copies":[]}"#);
    }

    #[test]
    fn only_objects_with_a_text_or_none_are_results() {
        for wrong in ["[1]", "7", "\"x\"", "null", "{\"a\":}", "{\"text\":7}"] {
            assert!(serde_json::from_str::<RankedResult>(wrong).is_err(), "{wrong}");
        }
    }
}
