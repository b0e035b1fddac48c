//! What every ordering does, and the example of the paper.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::BTreeSet;

use wonbon_crawl::order::{
    Bfs, Dfs, Generic, LexBfs, LexDfs, Link, LinkKind, Mcs, Mns, ORDER_NAMES, Order, OrderName,
    Typing,
};

fn external(page: u32) -> Link {
    Link { page, site: page, kind: LinkKind::External }
}

fn inner(page: u32, site: u32) -> Link {
    Link { page, site, kind: LinkKind::NonInitial }
}

/// A web of 200 pages in 20 sites, by arithmetic.
fn links(page: u32) -> Vec<Link> {
    let mut seen = BTreeSet::new();
    (0..page % 7)
        .map(|at| (page * 31 + at * at * 17 + 3) % 200)
        .filter(|&target| seen.insert(target))
        .map(|target| match target / 10 == page / 10 {
            true => inner(target, target / 10),
            false => Link { page: target, site: target / 10, kind: LinkKind::External },
        })
        .collect()
}

fn reachable(seeds: &[u32]) -> BTreeSet<u32> {
    let mut reached: BTreeSet<u32> = seeds.iter().copied().collect();
    let mut stack = seeds.to_vec();
    while let Some(page) = stack.pop() {
        stack.extend(links(page).iter().map(|link| link.page).filter(|&page| reached.insert(page)));
    }
    reached
}

fn crawl(order: &mut dyn Order, seeds: &[u32]) -> Vec<u32> {
    for &seed in seeds {
        order.seed(seed, seed / 10);
    }
    let mut taken = Vec::new();
    while let Some(page) = order.next() {
        taken.push(page);
        order.fetched(page, page / 10, &links(page));
    }
    taken
}

#[test]
fn every_ordering_takes_every_reachable_page_once() {
    for name in ORDER_NAMES {
        let taken = crawl(&mut *name.build(7), &[6, 13, 6]);
        let set: BTreeSet<u32> = taken.iter().copied().collect();
        assert_eq!(set.len(), taken.len(), "{name}");
        assert_eq!(set, reachable(&[6, 13]), "{name}");
        assert!(set.len() > 150, "the web hangs together: {}", set.len());
    }
}

#[test]
fn every_ordering_begins_with_the_first_seed_unless_it_goes_by_chance() {
    for name in ORDER_NAMES.into_iter().filter(|&name| name != OrderName::Generic) {
        assert_eq!(crawl(&mut *name.build(7), &[6, 13])[0], 6, "{name}");
    }
}

#[test]
fn the_same_calls_take_the_same_pages() {
    for name in ORDER_NAMES {
        let once = crawl(&mut *name.build(7), &[6, 13]);
        assert_eq!(once, crawl(&mut *name.build(7), &[6, 13]), "{name}");
        let other_seed = crawl(&mut *name.build(8), &[6, 13]);
        assert_eq!(once != other_seed, name == OrderName::Generic, "{name}");
    }
}

#[test]
fn a_replay_by_take_leaves_the_frontier_as_next_did() {
    for name in ORDER_NAMES.into_iter().filter(|&name| name != OrderName::Generic) {
        let whole = crawl(&mut *name.build(7), &[6, 13]);
        for stop in [0, 1, 2, 17, 60, whole.len()] {
            let mut order = name.build(7);
            order.seed(6, 0);
            order.seed(13, 1);
            for &page in &whole[..stop] {
                order.take(page);
                order.fetched(page, page / 10, &links(page));
            }
            assert_eq!(crawl(&mut *order, &[]), whole[stop..], "{name} after {stop}");
        }
    }
}

#[test]
fn a_page_that_is_fetched_or_taken_does_not_come_again() {
    for name in ORDER_NAMES {
        let mut order = name.build(1);
        order.fetched(5, 0, &[inner(6, 0), external(900_000)]);
        order.seed(5, 0);
        assert_eq!(order.waiting(), 2, "{name}");
        order.take(6);
        order.take(6);
        order.take(5);
        order.take(77);
        assert_eq!(order.waiting(), 1, "{name}");
        order.fetched(6, 0, &[inner(5, 0), inner(6, 0)]);
        assert_eq!(order.next(), Some(900_000), "{name}");
        assert_eq!((order.next(), order.waiting()), (None, 0), "{name}");
        // Pages taken but never fetched are over too, and what was not there can still come.
        order.fetched(1, 3, &[external(900_000), inner(77, 3)]);
        assert_eq!((order.next(), order.next()), (Some(77), None), "{name}");
    }
}

#[test]
fn a_page_waiting_when_its_fetch_is_told_leaves_the_frontier() {
    for name in ORDER_NAMES {
        let mut order = name.build(1);
        order.seed(0, 0);
        order.seed(1, 0);
        order.fetched(1, 0, &[]);
        assert_eq!((order.waiting(), order.next(), order.next()), (1, Some(0), None), "{name}");
    }
}

#[test]
fn orderings_are_found_by_name() {
    for name in ORDER_NAMES {
        assert_eq!(name.to_string().parse(), Ok(name));
        assert!(!name.description().is_empty());
    }
    let error = "best".parse::<OrderName>().unwrap_err().to_string();
    assert_eq!(
        error,
        "`best` is no ordering; there are generic, bfs, dfs, lexbfs, lexdfs, mns, mcs, backlink, \
         opic, larger-site, pagerank, damped, damped-all"
    );
}

/// The graph of Figure 2, as Table 1 tells it: vertices 1 to 5 were visited in this order.
const FIGURE_2: [(u32, &[u32]); 5] =
    [(1, &[6, 7]), (2, &[7, 8]), (3, &[8]), (4, &[8, 9]), (5, &[9, 10])];

fn next_of_figure_2(mut order: impl Order) -> u32 {
    for (vertex, _) in FIGURE_2 {
        order.seed(vertex, vertex);
    }
    for (vertex, targets) in FIGURE_2 {
        let links: Vec<Link> = targets.iter().map(|&target| external(target)).collect();
        order.take(vertex);
        order.fetched(vertex, vertex, &links);
    }
    assert_eq!(order.waiting(), 5);
    order.next().unwrap()
}

#[test]
fn the_next_vertex_of_figure_2_is_that_of_table_1() {
    let untyped = Typing::Untyped;
    let of_generic: BTreeSet<u32> =
        (0..200).map(|seed| next_of_figure_2(Generic::new(seed))).collect();
    assert_eq!(of_generic, BTreeSet::from([6, 7, 8, 9, 10]));
    assert!([6, 7].contains(&next_of_figure_2(Bfs::default())));
    assert_eq!(next_of_figure_2(LexBfs::new(untyped)), 7);
    assert!([9, 10].contains(&next_of_figure_2(Dfs::new(untyped))));
    assert_eq!(next_of_figure_2(LexDfs::new(untyped)), 9);
    assert!([7, 8, 9].contains(&next_of_figure_2(Mns::new(untyped))));
    assert_eq!(next_of_figure_2(Mcs::new(untyped)), 8);
}

#[test]
fn inner_links_move_no_page_in_the_typed_searches() {
    // 1 is linked to by three pages of its own site, 2 by two pages of other sites.
    let crawl = |order: &mut dyn Order| {
        order.seed(10, 10);
        order.fetched(10, 10, &[external(1), external(2), external(3)]);
        for (page, site) in [(20, 1), (21, 1), (22, 1)] {
            order.fetched(page, site, &[inner(1, 1)]);
        }
        order.fetched(30, 30, &[external(2)]);
        order.take(10);
        order.next()
    };
    assert_eq!(crawl(&mut *OrderName::Mcs.build(0)), Some(2));
    assert_eq!(crawl(&mut *OrderName::LexBfs.build(0)), Some(2));
    assert_eq!(crawl(&mut *OrderName::LexDfs.build(0)), Some(2));
    assert_eq!(crawl(&mut *OrderName::Dfs.build(0)), Some(2));
    assert_eq!(crawl(&mut *OrderName::Backlink.build(0)), Some(1));
}

#[test]
fn the_first_pages_of_a_site_say_more_under_damping() {
    // Ten pages of site 1 link to page 1; the tenth links only to page 2.
    let mut order = OrderName::Damped.build(0);
    order.fetched(100, 9, &[external(1), external(2)]);
    for page in 20..29 {
        order.fetched(page, 1, &[inner(1, 1)]);
    }
    order.fetched(29, 1, &[inner(2, 1)]);
    // 1 + (1 + 1/2 + ... + 1/9) against 1 + 1/10 + 1, the latter with one more external link.
    order.fetched(30, 8, &[external(2)]);
    assert_eq!(order.next(), Some(1));
    assert_eq!(order.next(), Some(2));
}

#[test]
fn pagerank_prefers_what_a_high_page_links_to() {
    let mut order = OrderName::PageRank.build(0);
    // Page 1 is linked to by 40 pages and links to 2; page 3 is linked to by one of the 40.
    for page in 100..140 {
        let links = if page == 100 { vec![external(1), external(3)] } else { vec![external(1)] };
        order.fetched(page, page, &links);
    }
    order.take(1);
    order.fetched(1, 1, &[external(2)]);
    assert_eq!((order.next(), order.next()), (Some(2), Some(3)));
}
