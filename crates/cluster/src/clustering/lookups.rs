//! Look-ups in the results of a run: URL to document, document to cluster, cluster to documents,
//! document to URL.
//!
//! Cost: the files are read in place; a URL takes a binary search over 64-bit fingerprints.

use std::path::Path;

use serde_json::Value;
use wonbon_sketch::rabin::RABIN_64;

use super::cluster_files::{
    CLUSTER_STARTS, CLUSTER_TO_DOCUMENTS, DOCUMENT_TO_CLUSTER, HOW, LOOKUPS, URL_TO_DOCUMENT,
    open_strings,
};
use crate::columns::Column;
use crate::error::ClusterError;
use crate::run_folder::read_json;
use crate::strings::StringColumn;

/// The four look-ups of a finished run, read from disk as they are asked.
pub struct Lookups {
    url_to_document: Column<u128>,
    document_to_cluster: Column<u32>,
    cluster_starts: Column<u64>,
    cluster_to_documents: Column<u32>,
    urls: StringColumn,
    how: Value,
}

impl std::fmt::Debug for Lookups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookups").field("how", &self.how).finish_non_exhaustive()
    }
}

impl Lookups {
    /// Opens the look-ups of a run.
    ///
    /// # Errors
    ///
    /// [`ClusterError::NotARun`] if there are none.
    pub fn open(output: &Path) -> Result<Self, ClusterError> {
        let folder = output.join(LOOKUPS);
        if !folder.join(HOW).exists() {
            return Err(ClusterError::NotARun { path: output.to_owned(), what: "clusters" });
        }
        Ok(Lookups {
            url_to_document: Column::open(folder.join(URL_TO_DOCUMENT))?,
            document_to_cluster: Column::open(folder.join(DOCUMENT_TO_CLUSTER))?,
            cluster_starts: Column::open(folder.join(CLUSTER_STARTS))?,
            cluster_to_documents: Column::open(folder.join(CLUSTER_TO_DOCUMENTS))?,
            urls: open_strings(&folder, "url")?,
            how: read_json(&folder.join(HOW))?,
        })
    }

    /// URL to documents: several if one URL was read several times. A document without URL is found
    /// by its id.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn documents_of_url(&self, url: &str) -> Result<Vec<u32>, ClusterError> {
        let key = u128::from(RABIN_64.fingerprint(url.as_bytes()));
        let (mut low, mut high) = (0, self.url_to_document.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.url_to_document.get(middle)? >> 32 < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut documents = Vec::new();
        while low < self.url_to_document.len() {
            let entry = self.url_to_document.get(low)?;
            if entry >> 32 != key {
                break;
            }
            // Another URL may have the same fingerprint.
            if self.url(entry as u32)? == url {
                documents.push(entry as u32);
            }
            low += 1;
        }
        Ok(documents)
    }

    /// Document to cluster; none if it is alone.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn cluster_of(&self, document: u32) -> Result<Option<u32>, ClusterError> {
        let cluster = self.document_to_cluster.get(u64::from(document))?;
        Ok((cluster > 0).then_some(cluster))
    }

    /// Cluster to documents.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn documents_of(&self, cluster: u32) -> Result<Vec<u32>, ClusterError> {
        let start = self.cluster_starts.get(u64::from(cluster))?;
        let end = self.cluster_starts.get(u64::from(cluster) + 1)?;
        let mut documents = vec![0; (end - start) as usize];
        self.cluster_to_documents.read_at(start, &mut documents)?;
        Ok(documents)
    }

    /// Document to URL.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn url(&self, document: u32) -> Result<String, ClusterError> {
        self.urls.get(document)
    }

    /// How the clusters were made.
    #[must_use]
    pub fn how(&self) -> &str {
        self.how["clusters by"].as_str().unwrap_or_default()
    }
}
