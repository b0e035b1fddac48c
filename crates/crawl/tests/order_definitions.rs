//! Every choice of the searches against their definitions, on random graphs, step by step.
//!
//! The oracle keeps what a definition speaks of and nothing else: for every waiting page the fetched
//! pages that link to it, by when they were fetched. Before each step it recomputes the set of pages
//! that the definition allows.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use wonbon_crawl::order::{
    Bfs, Damped, Dfs, Fading, Generic, LargerSite, LexBfs, LexDfs, Link, LinkKind, Mcs, Mns, Opic,
    Order, Typing,
};

/// A small web: the site of every page, its links, the pages to start with.
#[derive(Clone, Debug)]
struct Web {
    sites: Vec<u32>,
    links: Vec<Vec<u32>>,
    seeds: Vec<u32>,
}

impl Web {
    fn links(&self, page: u32) -> Vec<Link> {
        let site = |page: u32| self.sites[page as usize];
        let initial = self.seeds.iter().any(|&seed| site(seed) == site(page));
        let kind = |target| match (site(page) == site(target), initial) {
            (false, _) => LinkKind::External,
            (true, true) => LinkKind::Initial,
            (true, false) => LinkKind::NonInitial,
        };
        let link = |&target| Link { page: target, site: site(target), kind: kind(target) };
        self.links[page as usize].iter().map(link).collect()
    }
}

fn webs() -> impl Strategy<Value = Web> {
    (2_u32..16).prop_flat_map(|pages| {
        let sites = prop::collection::vec(0..4_u32, pages as usize);
        let links = prop::collection::vec(
            prop::collection::vec(0..pages, 0..6).prop_map(|mut links| {
                let mut seen = BTreeSet::new();
                links.retain(|&link| seen.insert(link));
                links
            }),
            pages as usize,
        );
        let seeds = prop::collection::vec(0..pages, 1..4);
        (sites, links, seeds).prop_map(|(sites, links, seeds)| Web { sites, links, seeds })
    })
}

/// What the driver of a crawl does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Asks for the next page and fetches it at once.
    Next,
    /// Asks for the next page, whose links come later.
    NextSlowly,
    /// The page longest under way arrives.
    Arrive,
    /// Takes one of the waiting pages, as a replay does.
    Take(usize),
    /// Takes one of the waiting pages, which cannot be fetched.
    TakeBroken(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Next),
        2 => Just(Step::NextSlowly),
        2 => Just(Step::Arrive),
        1 => (0..16_usize).prop_map(Step::Take),
        1 => (0..16_usize).prop_map(Step::TakeBroken),
    ];
    prop::collection::vec(step, 0..40)
}

/// What a definition speaks of.
#[derive(Default)]
struct Known {
    typing: Typing,
    /// For every waiting page when the pages were fetched that link to it (a page the crawl starts
    /// with is linked to at time 0), and at which count of events it got its last such link.
    waiting: BTreeMap<u32, (Vec<i64>, usize)>,
    seeds: BTreeSet<u32>,
    known: BTreeSet<u32>,
    clock: i64,
    events: usize,
    /// The sum of 1 / links over the fetched pages is what the maximal neighbourhood search weighs by.
    sites: Vec<u32>,
}

impl Known {
    fn seed(&mut self, page: u32) {
        self.events += 1;
        if self.known.insert(page) {
            self.waiting.insert(page, (vec![0], self.events));
            self.seeds.insert(page);
        }
    }

    fn fetched(&mut self, page: u32, links: &[Link]) {
        self.known.insert(page);
        self.waiting.remove(&page);
        self.clock += 1;
        for link in links {
            self.events += 1;
            let new = self.known.insert(link.page);
            if new {
                self.waiting.insert(link.page, (Vec::new(), self.events));
            }
            if let Some((times, event)) = self.waiting.get_mut(&link.page)
                && (new || self.typing.counts(link.kind))
            {
                times.push(self.clock);
                *event = self.events;
            }
        }
    }

    /// The waiting pages with the greatest value.
    fn greatest<V: Ord>(&self, value: impl Fn(u32, &[i64], usize) -> V) -> Vec<u32> {
        let value = |page: &u32| {
            let (times, event) = &self.waiting[page];
            value(*page, times, *event)
        };
        let greatest = self.waiting.keys().map(value).max();
        self.waiting.keys().copied().filter(|page| Some(value(page)) == greatest).collect()
    }

    /// Only the pages the crawl started with, as long as one waits.
    fn seeds_first(&self, allowed: Vec<u32>) -> Vec<u32> {
        let seeds: Vec<u32> =
            self.waiting.keys().copied().filter(|page| self.seeds.contains(page)).collect();
        if seeds.is_empty() { allowed } else { seeds }
    }
}

fn bfs(known: &Known) -> Vec<u32> {
    known.greatest(|_, times, _| -times[0])
}

fn dfs(known: &Known) -> Vec<u32> {
    known.greatest(|_, times, _| *times.last().unwrap())
}

/// The largest label of n - i for each page i that links to it, in the order of the pages.
fn lexbfs(known: &Known) -> Vec<u32> {
    known.greatest(|_, times, _| times.iter().map(|time| -time).collect::<Vec<_>>())
}

/// The largest label of i for each page i that links to it, the last first.
fn lexdfs(known: &Known) -> Vec<u32> {
    known.greatest(|_, times, _| times.iter().rev().copied().collect::<Vec<_>>())
}

/// The sets that no other set contains.
fn mns(known: &Known) -> Vec<u32> {
    let set = |page: &u32| known.waiting[page].0.iter().collect::<BTreeSet<_>>();
    let maximal = |page: &&u32| {
        !known
            .waiting
            .keys()
            .any(|other| set(page).len() < set(other).len() && set(page).is_subset(&set(other)))
    };
    known.seeds_first(known.waiting.keys().filter(maximal).copied().collect())
}

/// The largest sets; and of these the one that was complete first.
fn mcs(known: &Known) -> Vec<u32> {
    known.seeds_first(known.greatest(|_, times, event| (times.len(), -(event as i64))))
}

fn any_waiting(known: &Known) -> Vec<u32> {
    known.waiting.keys().copied().collect()
}

/// A page of a site with the most waiting pages, the first known there.
fn larger_site(known: &Known) -> Vec<u32> {
    let site = |page: u32| known.sites[page as usize];
    let size = |page| known.waiting.keys().filter(|&&other| site(other) == site(page)).count();
    known.greatest(|page, _, _| size(page))
}

/// Drives an ordering over a web and checks every choice against what is allowed.
fn check(
    web: &Web,
    steps: &[Step],
    typing: Typing,
    order: &mut dyn Order,
    allowed: fn(&Known) -> Vec<u32>,
) -> Result<(), TestCaseError> {
    let mut known = Known { typing, sites: web.sites.clone(), ..Known::default() };
    let site = |page: u32| web.sites[page as usize];
    for &seed in &web.seeds {
        order.seed(seed, site(seed));
        known.seed(seed);
    }
    let mut under_way = Vec::new();
    let to_the_end = std::iter::repeat_n(Step::Next, web.sites.len());
    for step in steps.iter().copied().chain(to_the_end) {
        prop_assert_eq!(order.waiting(), known.waiting.len());
        match step {
            Step::Next | Step::NextSlowly => {
                let allowed = allowed(&known);
                let chosen = order.next();
                match chosen {
                    Some(page) => prop_assert!(
                        allowed.contains(&page),
                        "took {page}, allowed {allowed:?} of {:?}",
                        known.waiting
                    ),
                    None => prop_assert!(known.waiting.is_empty()),
                }
                if let Some(page) = chosen {
                    known.waiting.remove(&page);
                    under_way.push(page);
                }
            }
            Step::Arrive => {}
            Step::Take(which) | Step::TakeBroken(which) => {
                let Some(&page) = known.waiting.keys().nth(which) else {
                    // A page that is not there.
                    order.take(which as u32 + 100);
                    continue;
                };
                order.take(page);
                order.take(page);
                known.waiting.remove(&page);
                if matches!(step, Step::Take(_)) {
                    under_way.push(page);
                }
            }
        }
        if matches!(step, Step::Next | Step::Arrive | Step::Take(_)) && !under_way.is_empty() {
            let page = under_way.remove(0);
            let links = web.links(page);
            order.fetched(page, site(page), &links);
            known.fetched(page, &links);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn breadth_first_takes_a_neighbour_of_the_earliest_page(web in webs(), steps in steps()) {
        check(&web, &steps, Typing::Typed, &mut Bfs::default(), bfs)?;
    }

    #[test]
    fn depth_first_takes_a_neighbour_of_the_latest_page(web in webs(), steps in steps()) {
        for typing in [Typing::Typed, Typing::Untyped] {
            check(&web, &steps, typing, &mut Dfs::new(typing), dfs)?;
        }
    }

    #[test]
    fn lexicographic_breadth_first_takes_the_largest_label(web in webs(), steps in steps()) {
        for typing in [Typing::Typed, Typing::Untyped] {
            check(&web, &steps, typing, &mut LexBfs::new(typing), lexbfs)?;
        }
    }

    #[test]
    fn lexicographic_depth_first_takes_the_largest_label(web in webs(), steps in steps()) {
        for typing in [Typing::Typed, Typing::Untyped] {
            check(&web, &steps, typing, &mut LexDfs::new(typing), lexdfs)?;
        }
    }

    #[test]
    fn maximal_neighbourhood_takes_a_maximal_set(web in webs(), steps in steps()) {
        for typing in [Typing::Typed, Typing::Untyped] {
            check(&web, &steps, typing, &mut Mns::new(typing), mns)?;
        }
    }

    #[test]
    fn maximum_cardinality_takes_the_largest_set_that_was_complete_first(
        web in webs(), steps in steps()
    ) {
        for typing in [Typing::Typed, Typing::Untyped] {
            check(&web, &steps, typing, &mut Mcs::new(typing), mcs)?;
        }
    }

    #[test]
    fn maximum_cardinality_and_the_lexicographic_searches_are_maximal_neighbourhood_searches(
        web in webs(), steps in steps()
    ) {
        // With one page to start with: then a class of its own for it is no difference.
        let web = Web { seeds: vec![web.seeds[0]], ..web };
        let typing = Typing::Untyped;
        check(&web, &steps, typing, &mut Mcs::new(typing), mns)?;
        check(&web, &steps, typing, &mut LexBfs::new(typing), mns)?;
        check(&web, &steps, typing, &mut LexDfs::new(typing), mns)?;
    }

    #[test]
    fn generic_takes_any_waiting_page(web in webs(), steps in steps(), seed in any::<u64>()) {
        check(&web, &steps, Typing::Typed, &mut Generic::new(seed), any_waiting)?;
    }

    #[test]
    fn larger_site_takes_from_a_site_with_most_waiting_pages(web in webs(), steps in steps()) {
        check(&web, &steps, Typing::Typed, &mut LargerSite::default(), larger_site)?;
    }

    #[test]
    fn damped_takes_the_greatest_damped_count(web in webs(), fading_all in any::<bool>()) {
        let fading = if fading_all { Fading::Internal } else { Fading::NonInitial };
        let mut order = Damped::new(fading);
        let site = |page: u32| web.sites[page as usize];
        let mut counts: BTreeMap<u32, f32> = BTreeMap::new();
        let mut taken: Vec<u32> = Vec::new();
        for &seed in &web.seeds {
            order.seed(seed, site(seed));
            counts.insert(seed, f32::INFINITY);
        }
        while let Some(page) = order.next() {
            let greatest = counts.values().copied().fold(0.0, f32::max);
            let first = counts.iter().find(|(_, count)| **count == greatest).map(|(page, _)| *page);
            prop_assert_eq!(Some(page), first);
            counts.remove(&page);
            let before = taken.iter().filter(|&&other| site(other) == site(page)).count();
            taken.push(page);
            let links = web.links(page);
            for link in links.iter().filter(|link| !taken.contains(&link.page)) {
                let whole = link.kind == LinkKind::External
                    || (link.kind == LinkKind::Initial && !fading_all);
                let counts_for = if whole { 1.0 } else { 1.0 / (1.0 + before as f32) };
                *counts.entry(link.page).or_default() += counts_for;
            }
            order.fetched(page, site(page), &links);
        }
        prop_assert!(counts.is_empty());
    }

    #[test]
    fn opic_takes_the_most_cash(web in webs()) {
        let mut order = Opic::default();
        let site = |page: u32| web.sites[page as usize];
        let mut cash = vec![0.0_f32; web.sites.len()];
        let mut waiting: BTreeSet<u32> = web.seeds.iter().copied().collect();
        let mut seeds = waiting.clone();
        let mut known = waiting.clone();
        for &seed in &web.seeds {
            order.seed(seed, site(seed));
            cash[seed as usize] = 1.0;
        }
        while let Some(page) = order.next() {
            let from = if seeds.is_empty() { &waiting } else { &seeds };
            let key = |page: u32| if seeds.is_empty() { cash[page as usize] } else { 1.0 };
            let most = from.iter().map(|&page| key(page)).fold(0.0, f32::max);
            prop_assert_eq!(Some(page), from.iter().copied().find(|&page| key(page) == most));
            waiting.remove(&page);
            seeds.remove(&page);
            let links = web.links(page);
            let part = std::mem::take(&mut cash[page as usize]) / links.len().max(1) as f32;
            for link in &links {
                cash[link.page as usize] += part;
                if known.insert(link.page) {
                    waiting.insert(link.page);
                }
            }
            order.fetched(page, site(page), &links);
        }
        prop_assert!(waiting.is_empty());
    }
}
