//! Which dates decide who is the original.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which dates decide who is the original: nobody becomes it by claiming to be from 1999, unless the
/// caller trusts such claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dates {
    /// The creation time that came with the document. Without one a store takes the time of first
    /// sight, and a batch the order of the input.
    #[default]
    Created,
    /// The same, and where there is none, the date that the page claims of itself.
    Claimed,
}

impl fmt::Display for Dates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dates::Created => "created",
            Dates::Claimed => "claimed",
        })
    }
}

/// A word that names no kind of dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write created or claimed")]
pub struct NotDates;

impl FromStr for Dates {
    type Err = NotDates;

    fn from_str(text: &str) -> Result<Self, NotDates> {
        match text {
            "created" => Ok(Dates::Created),
            "claimed" => Ok(Dates::Claimed),
            _ => Err(NotDates),
        }
    }
}
