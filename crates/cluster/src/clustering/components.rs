//! Clusters as connected components: of the pairs that reach a threshold, or of documents that share
//! a super-shingle.

use std::path::Path;

use super::pairs::{MERGED_PAIRS, REPRESENTATIVES, ROOTS, SIZES, for_each_element};
use super::{Clusters, Policy};
use crate::columns::Column;
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::order::{NOBODY, Representatives};
use crate::progress::{Progress, Steps};
use crate::sorted_runs::{Equal, SortedRuns};
use crate::union_find::UnionFind;

/// Joins the documents of every pair in the folder `again` that reaches the threshold.
pub(super) fn find_components(
    again: &Path,
    threshold: f64,
    policy: Policy,
    progress: &dyn Progress,
) -> Result<(Representatives, UnionFind), ClusterError> {
    let sizes: Vec<u32> = Column::open(again.join(SIZES))?.read_all()?;
    let representatives = Representatives {
        documents: Column::open(again.join(REPRESENTATIVES))?.read_all()?,
        of: Column::open(again.join(ROOTS))?.read_all()?,
    };
    let mut components = UnionFind::new(representatives.len());
    let mut steps = Steps::new(progress);
    Column::<u128>::open(again.join(MERGED_PAIRS))?.for_each(|_, pair| {
        let (earlier, later, shared) = ((pair >> 64) as u32, (pair >> 32) as u32, pair as u32);
        let value = policy.value(shared, sizes[earlier as usize], sizes[later as usize]);
        if value >= threshold {
            components.join(earlier, later);
        }
        steps.step()
    })?;
    Ok((representatives, components))
}

/// Documents that share one super-shingle are one cluster: no pairs are formed.
pub(super) fn join_by_super_shingles(
    corpus: &Corpus,
    representatives: &Representatives,
    work: &Path,
    memory: u64,
) -> Result<UnionFind, ClusterError> {
    let mut runs = SortedRuns::new(work, "super-shingles", Equal::Stay, memory);
    let (counts, supers) = corpus.supers()?;
    for_each_element(&counts, &supers, representatives, |super_shingle, number| {
        runs.push(u128::from(super_shingle) << 32 | u128::from(number))
    })?;
    let mut components = UnionFind::new(representatives.len());
    let mut before: Option<u128> = None;
    runs.merge(|pair| {
        if let Some(before) = before
            && before >> 32 == pair >> 32
        {
            components.join(before as u32, pair as u32);
        }
        before = Some(pair);
        Ok(())
    })?;
    Ok(components)
}

/// Puts back what was set aside: for each document the number of its cluster, 0 if it is alone.
/// Clusters are numbered by their first document in keep order.
pub(crate) fn number_clusters(
    representatives: &Representatives,
    mut components: UnionFind,
) -> (Vec<u32>, Clusters) {
    let members = representatives.members();
    let mut number_of_root = vec![0_u32; representatives.documents.len()];
    let mut document_count = vec![0_u32; representatives.documents.len()];
    let mut representative_count = vec![0_u32; representatives.documents.len()];
    for number in 0..representatives.len() {
        let root = components.root(number) as usize;
        document_count[root] += members.of(number).len() as u32;
        representative_count[root] += 1;
    }
    let mut clusters = Clusters::default();
    let mut next = 0;
    for root in 0..representatives.documents.len() {
        if document_count[root] > 1 {
            next += 1;
            number_of_root[root] = next;
            clusters.clusters += 1;
            clusters.documents += u64::from(document_count[root]);
            clusters.of_equal_documents += u64::from(representative_count[root] == 1);
        }
    }
    let cluster_of = (0..representatives.of.len())
        .map(|document| match representatives.of[document] {
            NOBODY => 0,
            number => number_of_root[components.root(number) as usize],
        })
        .collect();
    (cluster_of, clusters)
}
