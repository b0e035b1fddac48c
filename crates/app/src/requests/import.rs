//! Files into a store.

use serde::{Deserialize, Serialize};
use wonbon_documents::{ChosenFields, Dates};
use wonbon_time::Timestamp;

use super::by_name;
use crate::error::RequestError;
use crate::parameters::date;

/// Files into the store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub inputs: Vec<String>,
    /// The date of the sweep that saw the documents, if one did.
    #[serde(default)]
    pub sweep: Option<String>,
    /// Which dates decide who is the original: `created`, or `claimed` to take the date that a page
    /// claims where there is no creation time; those of the store if not said.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub dates: Option<Dates>,
    /// Which field of a row means what.
    #[serde(default)]
    pub fields: ChosenFields,
}

impl ImportRequest {
    /// The date of the sweep.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`] if it is no date.
    pub fn sweep(&self) -> Result<Option<Timestamp>, RequestError> {
        date("sweep", self.sweep.as_deref())
    }
}
