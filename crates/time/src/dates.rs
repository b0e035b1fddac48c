//! Which dates decide who is the original.
//!
//! Here and not with the documents, because a store keeps the choice as one of its parameters and a
//! batch run in its plan.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Timestamp;

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

impl Dates {
    /// The date that decides, of the two that a document may have. `at_the_latest` says that `created` is
    /// only when the document was seen, as in a web archive: an earlier claim then counts.
    #[must_use]
    pub fn deciding(
        self,
        created: Option<Timestamp>,
        published: Option<Timestamp>,
        at_the_latest: bool,
    ) -> Option<Timestamp> {
        match self {
            Dates::Created => created,
            Dates::Claimed if at_the_latest => created.into_iter().chain(published).min(),
            Dates::Claimed => created.or(published),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_decides_only_where_claims_are_trusted() {
        let [early, late] = [100, 200].map(Timestamp::from_seconds).map(Some);
        for (created, published, at_the_latest, trusting) in [
            (None, None, false, None),
            (None, early, false, early),
            (late, early, false, late),
            (late, early, true, early),
            (early, late, true, early),
            (late, None, true, late),
        ] {
            assert_eq!(Dates::Created.deciding(created, published, at_the_latest), created);
            assert_eq!(Dates::Claimed.deciding(created, published, at_the_latest), trusting);
        }
    }

    #[test]
    fn dates_are_read_as_they_are_written() {
        for dates in [Dates::Created, Dates::Claimed] {
            assert_eq!(dates.to_string().parse(), Ok(dates));
        }
        assert_eq!("published".parse::<Dates>(), Err(NotDates));
    }
}
