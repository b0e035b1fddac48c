//! Parameters as people and programs write them, checked once for flags, JSON and forms.

use wonbon_time::Timestamp;

use crate::error::RequestError;

/// How many results are wanted: from 1 to `most`.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn limit(wanted: Option<usize>, otherwise: usize, most: usize) -> Result<usize, RequestError> {
    match wanted.unwrap_or(otherwise) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => Err(RequestError::parameter("limit", format!("from 1 to {most}"), limit)),
    }
}

/// The least value wanted: a part of one.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn least_share(wanted: Option<f64>, otherwise: f64) -> Result<f64, RequestError> {
    match wanted.unwrap_or(otherwise) {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        share => Err(RequestError::parameter("min", "from 0 to 1", share)),
    }
}

/// A resemblance from which something is decided: above 0, up to 1.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn threshold(wanted: f64) -> Result<f64, RequestError> {
    match wanted {
        threshold if threshold > 0.0 && threshold <= 1.0 => Ok(threshold),
        other => Err(RequestError::parameter("threshold", "above 0 and at most 1", other)),
    }
}

/// A date as people write it; none for an empty field.
///
/// # Errors
///
/// [`RequestError::Parameter`].
pub fn date(name: &'static str, text: Option<&str>) -> Result<Option<Timestamp>, RequestError> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    Timestamp::parse_text(text)
        .map(Some)
        .map_err(|_| RequestError::parameter(name, "a date such as 2026-11-15", text))
}

/// One of several names; the first of them if none is given.
pub(crate) fn one_of<T: Copy>(
    name: &'static str,
    given: Option<&str>,
    known: &[(&str, T)],
) -> Result<T, RequestError> {
    let Some(given) = given else { return Ok(known[0].1) };
    known.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        let wanted = format!("one of {}", names.join(", "));
        RequestError::parameter(name, wanted, format!("`{given}`"))
    })
}
