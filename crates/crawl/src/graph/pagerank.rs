//! PageRank of a whole graph: what a virtual crawl is judged by.
//!
//! Page, Brin, Motwani and Winograd, as in section 2.2 of the crawl-ordering paper: a surfer follows
//! any link of a page with probability d and goes to any page otherwise. A page without links sends
//! its surfers to all pages alike, so that ranks sum to 1 (the paper does not say what it does).
//!
//! By power iteration from equal ranks until the ranks move by less than the tolerance in all.
//!
//! Cost: a pass over the links and 16 bytes a page for each round; 0.85 and 10^-6 need some 40
//! rounds on webs and never more than 86. One thread, always the same order of additions: the same
//! numbers on every machine.

use super::{Graph, Watch};

/// How ranks are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRankConfig {
    /// The probability that the surfer follows a link. 0.85 is the usual value; higher ones trust
    /// links more and take longer.
    pub damping: f64,
    /// Ranks are done when the sum of their changes in a round is below this. At 10^-6 the share of a
    /// tenth of the pages is right to five digits.
    pub tolerance: f64,
    /// But there are no more rounds than this.
    pub rounds: u32,
}

impl Default for PageRankConfig {
    fn default() -> Self {
        PageRankConfig { damping: 0.85, tolerance: 1e-6, rounds: 200 }
    }
}

/// The ranks of all pages, which sum to 1; and after how many rounds.
pub fn pagerank(graph: &Graph, config: &PageRankConfig, watch: &dyn Watch) -> (Vec<f64>, u32) {
    let pages = graph.pages() as usize;
    watch.begin("PageRank", u64::from(config.rounds));
    let mut ranks = vec![1.0 / pages as f64; pages];
    let mut next = vec![0.0; pages];
    for round in 1..=config.rounds {
        next.fill(0.0);
        let mut followed = 0.0;
        for page in 0..graph.pages() {
            let links = graph.links(page);
            if !links.is_empty() {
                let rank = ranks[page as usize];
                followed += rank;
                let part = config.damping * rank / links.len() as f64;
                for &target in links {
                    next[target as usize] += part;
                }
            }
        }
        let all = (1.0 - config.damping * followed) / pages as f64;
        let mut moved = 0.0;
        for (rank, next) in ranks.iter_mut().zip(&next) {
            moved += (*rank - (all + next)).abs();
            *rank = all + next;
        }
        watch.done(u64::from(round));
        if moved < config.tolerance {
            return (ranks, round);
        }
    }
    (ranks, config.rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_solve_the_equation_and_sum_to_one() {
        let links = [vec![1, 2], vec![2], vec![0], vec![0, 2], vec![]];
        let graph = Graph::new(&links, vec![0, 1, 2, 3, 4]);
        let config = PageRankConfig { tolerance: 1e-14, ..PageRankConfig::default() };
        let (ranks, _) = pagerank(&graph, &config, &());
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let dangling = ranks[4];
        for page in 0..5_u32 {
            let from_links: f64 = (0..5)
                .filter(|&other: &usize| links[other].contains(&page))
                .map(|other| ranks[other] / links[other].len() as f64)
                .sum();
            let expected = 0.15 / 5.0 + 0.85 * (from_links + dangling / 5.0);
            assert!((ranks[page as usize] - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_graph_without_links_ranks_all_pages_alike() {
        let graph = Graph::new(&[vec![], vec![], vec![]], vec![0, 0, 0]);
        let (ranks, rounds) = pagerank(&graph, &PageRankConfig::default(), &());
        assert_eq!((ranks, rounds), (vec![1.0 / 3.0; 3], 1));
    }

    #[test]
    fn an_empty_graph_has_no_ranks() {
        assert!(pagerank(&Graph::default(), &PageRankConfig::default(), &()).0.is_empty());
    }
}
