//! Requests: what a person or a program asks to be done, one type for each kind of work.
//!
//! The flags of a command, a JSON body and a form fill the same type, and the type alone says what is
//! valid and what holds where nothing is said. Only what changes the result is here, and how politely a
//! crawl gets it. Where results go, how many threads and how much memory a job has and which private
//! addresses it may ask is decided by whoever starts the program or the service.
//!
//! Words with a fixed meaning (`star`, `claimed`, `min:FIELD`) are parsed by `FromStr` of their own type,
//! whoever sends them.
//!
//! Not here: how the work is done (`jobs`, `import`, `wonbon-cluster`, `wonbon-crawl`).

mod batch;
mod crawl;
mod import;

use serde::{Deserialize, Serialize};

pub use batch::{CLUSTER_THRESHOLD, ClusterRequest, DedupRequest, Resources};
pub use crawl::{CrawlRequest, USUAL_PAGES};
pub use import::ImportRequest;

use crate::error::RequestError;

/// A job to be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum JobRequest {
    /// Files into the store.
    Import(ImportRequest),
    /// A corpus without its copies.
    Dedup(DedupRequest),
    /// The clusters of a corpus, as in 1997.
    Cluster(ClusterRequest),
    /// Pages from the web into the store.
    Crawl(CrawlRequest),
}

impl JobRequest {
    /// The names of all kinds.
    pub const KINDS: [&str; 4] = ["import", "dedup", "cluster", "crawl"];

    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            JobRequest::Import(_) => "import",
            JobRequest::Dedup(_) => "dedup",
            JobRequest::Cluster(_) => "cluster",
            JobRequest::Crawl(_) => "crawl",
        }
    }

    /// Whether it is a crawl.
    #[must_use]
    pub fn is_crawl(&self) -> bool {
        matches!(self, JobRequest::Crawl(_))
    }

    /// The files it reads.
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        match self {
            JobRequest::Import(request) => &request.inputs,
            JobRequest::Dedup(request) => &request.inputs,
            JobRequest::Cluster(request) => &request.inputs,
            JobRequest::Crawl(_) => &[],
        }
    }

    /// What it is about, in a line.
    #[must_use]
    pub fn about(&self) -> String {
        let parts = match self {
            JobRequest::Crawl(request) => &request.seeds,
            other => other.inputs(),
        };
        let first = parts.first().cloned().unwrap_or_default();
        match parts.len() {
            0 | 1 => first,
            many => format!("{first} +{}", many - 1),
        }
    }

    /// Refuses what could not be done whatever the files hold.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), RequestError> {
        match self {
            JobRequest::Import(request) => request.sweep().map(|_| ()),
            JobRequest::Dedup(request) => request.method().map(|_| ()),
            JobRequest::Cluster(request) => request.threshold().map(|_| ()),
            JobRequest::Crawl(request) => request.plan().map(|_| ()),
        }
    }
}

/// Words of a type in JSON: written by `Display`, read by `FromStr`.
mod by_name {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let error = |error| D::Error::custom(format!("`{text}`: {error}"));
        text.parse().map(Some).map_err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let request: Result<JobRequest, _> = serde_json::from_str(text);
        match request {
            Err(error) => error.to_string(),
            Ok(request) => request.check().unwrap_err().to_string(),
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_its_name() {
        for (text, about) in [
            (r#"{"kind":"sing"}"#, "sing"),
            (r#"{"kind":"import"}"#, "inputs"),
            (r#"{"kind":"import","inputs":["a"],"sweep":"soon"}"#, "sweep"),
            (r#"{"kind":"import","inputs":["a"],"output":"/etc"}"#, "output"),
            (r#"{"kind":"import","inputs":["a"],"dates":"any"}"#, "created or claimed"),
            (r#"{"kind":"dedup","inputs":["a"],"threshold":0}"#, "threshold"),
            (r#"{"kind":"dedup","inputs":["a"],"threshold":0.5,"rule":"2of6"}"#, "not both"),
            (r#"{"kind":"dedup","inputs":["a"],"rule":"7of6"}"#, "7of6"),
            (r#"{"kind":"dedup","inputs":["a"],"keep":"best"}"#, "earliest, longest"),
            (r#"{"kind":"dedup","inputs":["a"],"family":"close"}"#, "star or linked"),
            (r#"{"kind":"dedup","inputs":["a"],"engine":"fast"}"#, "auto, exact or features"),
            (r#"{"kind":"cluster","inputs":["a"],"policy":"none"}"#, "containment-of-earlier"),
            (r#"{"kind":"cluster","inputs":["a"],"threshold":7}"#, "threshold"),
            (r#"{"kind":"crawl","seeds":[]}"#, "no page"),
            (r#"{"kind":"crawl","seeds":["ftp://a.example"]}"#, "ftp://a.example"),
            (r#"{"kind":"crawl","seeds":["http://a.example"],"order":"best"}"#, "best"),
            (
                r#"{"kind":"crawl","seeds":["http://a.example"],"scope":"here"}"#,
                "domain, host or all",
            ),
            (r#"{"kind":"crawl","seeds":["http://a.example"],"delay":-1}"#, "delay"),
            (r#"{"kind":"crawl","seeds":["http://a.example"],"agent":"a\nb"}"#, "agent"),
            (
                r#"{"kind":"crawl","seeds":["http://a.example"],"allow_private":["10.0.0.0/8"]}"#,
                "allow_private",
            ),
            (
                r#"{"kind":"crawl","seeds":["http://a.example"],"include":["/x"]}"#,
                "outside the scope",
            ),
        ] {
            let detail = refused(text);
            assert!(detail.contains(about), "{text}: {detail}");
        }
    }

    #[test]
    fn what_is_asked_comes_back_from_its_record() {
        for text in [
            r#"{"kind":"crawl","seeds":["http://a.example/"],"pages":7,"delay":0.5,"scope":"host"}"#,
            r#"{"kind":"dedup","inputs":["a"],"rule":"2of6","family":"linked","keep":"min:n","dates":"claimed"}"#,
            r#"{"kind":"dedup","inputs":["a"],"rule":null,"family":null,"engine":null,"keep":null,"dates":null}"#,
            r#"{"kind":"cluster","inputs":["a"],"policy":"containment"}"#,
        ] {
            let request: JobRequest = serde_json::from_str(text).unwrap();
            let again = serde_json::from_str(&serde_json::to_string(&request).unwrap());
            assert_eq!(request, again.unwrap(), "{text}");
            assert!(request.check().is_ok(), "{text}");
        }
    }
}
