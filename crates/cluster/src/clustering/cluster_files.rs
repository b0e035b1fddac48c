//! Clusters as files: JSON lines for people, and the look-ups ([`Lookups`](super::Lookups)) for
//! programs.
//!
//! Clusters that are formed again replace those of a finished run. All new files are written to
//! `lookups/staged` and synced first; then each takes its place by a rename.

use std::path::Path;

use serde_json::json;
use wonbon_files::{rename, replace};
use wonbon_sketch::rabin::RABIN_64;

use super::Clusters;
use super::components::number_clusters;
use crate::columns::write_column;
use crate::corpus::Corpus;
use crate::error::{ClusterError, io};
use crate::order::Representatives;
use crate::output_file::OutputFile;
use crate::strings::StringColumn;
use crate::union_find::UnionFind;

/// The name of the clusters that look-ups are made of.
pub(super) const CLUSTERS: &str = "clusters";

/// The folder of the look-ups, and the files in it.
pub(super) const LOOKUPS: &str = "lookups";
pub(super) const URL_TO_DOCUMENT: &str = "url-to-document";
pub(super) const DOCUMENT_TO_CLUSTER: &str = "document-to-cluster";
pub(super) const CLUSTER_STARTS: &str = "cluster-starts";
pub(super) const CLUSTER_TO_DOCUMENTS: &str = "cluster-to-documents";
pub(super) const HOW: &str = "how.json";

/// The strings `url` or `id` of all documents.
pub(super) fn open_strings(lookups: &Path, what: &str) -> Result<StringColumn, ClusterError> {
    StringColumn::open(lookups, &format!("{what}-bytes"), &format!("{what}-ends"))
}

/// Writes clusters as JSON lines and, if they are the main ones, as the look-ups document to cluster
/// and cluster to documents.
pub(super) fn write_clusters(
    representatives: &Representatives,
    components: UnionFind,
    output: &Path,
    name: &str,
    how: &str,
) -> Result<Clusters, ClusterError> {
    let (cluster_of, clusters) = number_clusters(representatives, components);
    let mut by_cluster: Vec<(u32, u32)> =
        cluster_of.iter().copied().zip(0..).filter(|&(cluster, _)| cluster > 0).collect();
    by_cluster.sort_unstable();

    let lookups = output.join(LOOKUPS);
    let staged = lookups.join("staged");
    if staged.exists() {
        std::fs::remove_dir_all(&staged).map_err(io("remove", &staged))?;
    }
    let ids = open_strings(&lookups, "id")?;
    let lines = format!("{name}.jsonl");
    let mut file = OutputFile::create(staged.join(&lines))?;
    let (mut starts, mut documents) = (vec![0_u64, 0], Vec::with_capacity(by_cluster.len()));
    for cluster in by_cluster.chunk_by(|one, other| one.0 == other.0) {
        documents.extend(cluster.iter().map(|&(_, document)| document));
        starts.push(documents.len() as u64);
        let names = cluster
            .iter()
            .map(|&(_, document)| ids.get(document))
            .collect::<Result<Vec<String>, _>>()?;
        let line = json!({"cluster": cluster[0].0, "size": cluster.len(), "documents": names});
        file.write(format!("{line}\n").as_bytes())?;
    }
    file.finish()?;

    let mut places = vec![(staged.join(&lines), output.join(&lines))];
    if name == CLUSTERS {
        write_column(&staged.join(DOCUMENT_TO_CLUSTER), &cluster_of)?;
        write_column(&staged.join(CLUSTER_STARTS), &starts)?;
        write_column(&staged.join(CLUSTER_TO_DOCUMENTS), &documents)?;
        let how = json!({ "clusters by": how }).to_string();
        replace(&staged.join(HOW), how.as_bytes())?;
        let names = [DOCUMENT_TO_CLUSTER, CLUSTER_STARTS, CLUSTER_TO_DOCUMENTS, HOW];
        places.extend(names.map(|name| (staged.join(name), lookups.join(name))));
    }
    for (from, to) in places {
        rename(&from, &to)?;
    }
    std::fs::remove_dir(&staged).map_err(io("remove", &staged))?;
    Ok(clusters)
}

/// Writes the look-ups URL to document and document to URL, and the ids.
pub(super) fn write_addresses(corpus: &Corpus, lookups: &Path) -> Result<(), ClusterError> {
    std::fs::create_dir_all(lookups).map_err(io("make", lookups))?;
    for (from, to) in [
        ("urls", "url-bytes"),
        ("url-ends", "url-ends"),
        ("ids", "id-bytes"),
        ("id-ends", "id-ends"),
    ] {
        let (from, to) = (corpus.path(from), lookups.join(to));
        std::fs::copy(&from, &to).map_err(io("copy", &from))?;
    }
    let mut by_fingerprint = Vec::with_capacity(corpus.len() as usize);
    open_strings(lookups, "url")?.for_each(|document, url| {
        let fingerprint = RABIN_64.fingerprint(url.as_bytes());
        by_fingerprint.push(u128::from(fingerprint) << 32 | u128::from(document));
        Ok(())
    })?;
    by_fingerprint.sort_unstable();
    write_column(&lookups.join(URL_TO_DOCUMENT), &by_fingerprint).map(|_| ())
}
