//! Work over a whole corpus: copies removed, or clusters found.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wonbon_cluster::clustering::{ClusterConfig, ClusterMethod, Policy};
use wonbon_cluster::corpus::PART_BYTES;
use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::dedup::DedupConfig;
use wonbon_cluster::families::FamilyKind;
use wonbon_cluster::keep::Keep;
use wonbon_documents::{ChosenFields, Dates, FieldNames, Limits};
use wonbon_store::Rule;

use super::by_name;
use crate::error::RequestError;
use crate::parameters::{USUAL_THRESHOLD, threshold as check_threshold};

/// The least value of a pair in a clustering, if nobody says another: that of the 1997 paper.
pub const CLUSTER_THRESHOLD: f64 = 0.5;

/// What the process grants a run, and where the run reads and writes.
#[derive(Debug, Clone)]
pub struct Resources {
    /// The files.
    pub inputs: Vec<PathBuf>,
    /// Which field of a row means what.
    pub fields: FieldNames,
    /// The folder of the results.
    pub output: PathBuf,
    /// Threads; they do not change the results.
    pub threads: NonZeroUsize,
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// Bytes of input between two places where a killed run can go on.
    pub part_bytes: u64,
}

impl Resources {
    /// The usual size of a part.
    pub const PART_BYTES: u64 = PART_BYTES;
}

/// A corpus without its copies: as `wonbon dedup`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DedupRequest {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub inputs: Vec<String>,
    /// Exact resemblance from which a document is a copy: above 0, up to 1; 0.8 if neither this nor a
    /// rule is said.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// The papers' rule instead of a threshold, such as `2of6`.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub rule: Option<Rule>,
    /// How copies are put together: `star` (if not said) or `linked`.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub family: Option<FamilyKind>,
    /// How copies are looked for: `auto` (if not said), `exact` or `features`.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub engine: Option<Engine>,
    /// Which document of a family stays: `earliest` (if not said), `longest`, `first`, `last`,
    /// `min:FIELD` or `max:FIELD`.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub keep: Option<Keep>,
    /// Whether all rows are kept, with their verdicts.
    #[serde(default)]
    pub annotate: bool,
    /// Which dates decide who is the original: `created` (if not said), or `claimed` to take the date
    /// that a page claims where there is no creation time.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub dates: Option<Dates>,
    /// Which field of a row means what.
    #[serde(default)]
    pub fields: ChosenFields,
}

impl DedupRequest {
    /// How families are found.
    ///
    /// # Errors
    ///
    /// If the threshold is out of range, or there is a rule beside it.
    pub fn method(&self) -> Result<FamilyConfig, RequestError> {
        let rule = match (self.rule, self.threshold) {
            (Some(_), Some(_)) => {
                return Err(RequestError::Both { one: "threshold", other: "rule" });
            }
            (Some(rule), None) => rule,
            (None, threshold) => {
                Rule::Threshold(check_threshold(threshold.unwrap_or(USUAL_THRESHOLD))?)
            }
        };
        Ok(FamilyConfig {
            rule,
            family: self.family.unwrap_or_default(),
            engine: self.engine.unwrap_or_default(),
            keep: self.keep.clone().unwrap_or_default(),
            ..FamilyConfig::default()
        })
    }

    /// The whole run.
    ///
    /// # Errors
    ///
    /// As [`DedupRequest::method`].
    pub fn config(&self, resources: Resources) -> Result<DedupConfig, RequestError> {
        let Resources { inputs, fields, output, threads, memory, part_bytes } = resources;
        Ok(DedupConfig {
            inputs,
            output,
            fields,
            dates: self.dates.unwrap_or_default(),
            method: FamilyConfig { threads, memory, ..self.method()? },
            pairs: None,
            annotate: self.annotate,
            strict: false,
            limits: Limits::default(),
            against: Vec::new(),
            part_bytes,
            save_sketches: false,
            passages: None,
        })
    }
}

/// The clusters of a corpus: as `wonbon cluster`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterRequest {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub inputs: Vec<String>,
    /// The least value of a pair: above 0, up to 1; 0.5 if not said.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// What must reach it: `resemblance` (if not said), `containment` or `containment-of-earlier`.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub policy: Option<Policy>,
    /// Which dates decide who is the original: `created` (if not said), or `claimed` to take the date
    /// that a page claims where there is no creation time.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub dates: Option<Dates>,
    /// Which field of a row means what.
    #[serde(default)]
    pub fields: ChosenFields,
}

impl ClusterRequest {
    /// The least value of a pair.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`] if it is out of range.
    pub fn threshold(&self) -> Result<f64, RequestError> {
        check_threshold(self.threshold.unwrap_or(CLUSTER_THRESHOLD))
    }

    /// The whole run.
    ///
    /// # Errors
    ///
    /// As [`ClusterRequest::threshold`].
    pub fn config(&self, resources: Resources) -> Result<ClusterConfig, RequestError> {
        let Resources { inputs, fields, output, threads, memory, part_bytes } = resources;
        Ok(ClusterConfig {
            inputs,
            output,
            fields,
            dates: self.dates.unwrap_or_default(),
            method: ClusterMethod {
                threshold: self.threshold()?,
                policy: self.policy.unwrap_or_default(),
                threads,
                memory,
                ..ClusterMethod::default()
            },
            super_shingles: None,
            part_bytes,
            strict: false,
            limits: Limits::default(),
        })
    }
}
