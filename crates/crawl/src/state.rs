//! The state of a crawl: addresses, finished pages, rules of robots.txt, bodies seen.
//!
//! A running crawl and the replay of a log change the state by the same calls, so a resumed crawl
//! continues as if it had never stopped. Nothing here reads a clock or a socket.
//!
//! Cost: the addresses (see `addresses`), 8 bytes a page, 40 for each body.

use std::collections::HashMap;
use std::time::Duration;

use url::Url;
use wonbon_time::Timestamp;

use crate::addresses::{Addresses, split};
use crate::canonical::Rules;
use crate::error::CrawlError;
use crate::order::{Link, LinkKind, Order, OrderName};
use crate::plan::Plan;
use crate::progress::Stats;
use crate::records::{Done, Outcome, Record, Verdict};
use crate::robots::{self, Answer, Robots};
use crate::scope::Scope;
use crate::sink::PageSink;
use crate::traps::{Limits, Traps};

/// Where a page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageState {
    /// In the frontier.
    Waiting,
    /// Out of the frontier, not done with.
    Taken,
    /// Done with.
    Done,
}

/// What is known of a page beside its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageInfo {
    pub(crate) state: PageState,
    /// Links from a seed.
    pub(crate) depth: u16,
    /// Known links to it.
    links: u32,
}

/// The rules of an origin.
#[derive(Clone, Debug)]
pub(crate) struct KnownRobots {
    pub(crate) rules: Robots,
    /// Whether they stand for a file that could not be had.
    pub(crate) unreachable: bool,
    /// When it was asked for.
    pub(crate) at: Timestamp,
}

impl KnownRobots {
    pub(crate) fn is_fresh(&self, now: Timestamp) -> bool {
        now.since(self.at) < robots::FRESH_FOR
    }
}

/// Why an address is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    OutOfScope,
    Trap,
}

/// All a crawl knows.
pub(crate) struct State {
    pub(crate) plan: Plan,
    pub(crate) rules: Rules,
    pub(crate) scope: Scope,
    pub(crate) addresses: Addresses,
    pub(crate) pages: Vec<PageInfo>,
    pub(crate) robots: HashMap<u32, KnownRobots>,
    pub(crate) stats: Stats,
    /// Redirects that led to a page that is not done with.
    pub(crate) hops: HashMap<u32, u8>,
    /// Path and query of pages as linked, where every link so far has parameters that are dropped.
    as_linked: HashMap<u32, String>,
    traps: Traps,
    /// Links that lead to pages that are done with.
    links_that_came: u64,
    /// By site: whether the crawl started there.
    initial: Vec<bool>,
    /// By site: whether a page of it came.
    came: Vec<bool>,
    /// By site: copies in a row.
    copies: HashMap<u32, u32>,
    /// Pages of which the sink said what they are, and what it said.
    judged: Vec<(u32, Verdict)>,
    /// By digest: the first page with this body, and when it came.
    bodies: HashMap<[u8; 20], (u32, Timestamp)>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("stats", &self.stats).finish_non_exhaustive()
    }
}

impl State {
    /// A crawl that knows nothing, and an empty ordering for it.
    pub(crate) fn new(plan: Plan) -> Result<(Self, Box<dyn Order>), CrawlError> {
        let order: OrderName = plan
            .params
            .order
            .parse()
            .map_err(|_| CrawlError::UnknownOrder { order: plan.params.order.clone() })?;
        let order = order.build(plan.params.order_seed);
        let rules = Rules::default();
        let scope = plan.params.scope(&plan.params.canonical_seeds(&rules)?);
        let mut limits = Limits::default();
        limits.pages_per_site = plan.params.site_pages.unwrap_or(limits.pages_per_site);
        let state = State {
            rules,
            scope,
            addresses: Addresses::new(plan.params.site),
            pages: Vec::new(),
            robots: HashMap::new(),
            stats: Stats::default(),
            hops: HashMap::new(),
            as_linked: HashMap::new(),
            traps: Traps::new(limits),
            links_that_came: 0,
            initial: Vec::new(),
            came: Vec::new(),
            copies: HashMap::new(),
            judged: Vec::new(),
            bodies: HashMap::new(),
            plan,
        };
        Ok((state, order))
    }

    /// The number of an address that was let in, new or known. `None` if there is no room for it.
    fn add_page(&mut self, address: &str, depth: u16) -> Option<(u32, bool)> {
        let (page, new) = self.addresses.insert(address)?;
        if new {
            self.pages.push(PageInfo { state: PageState::Waiting, depth, links: 0 });
            self.stats.known += 1;
        }
        Some((page, new))
    }

    /// A page the crawl starts with.
    pub(crate) fn seed(&mut self, address: &str, order: &mut dyn Order) -> Option<u32> {
        let (page, _) = self.add_page(address, 0)?;
        let site = self.addresses.site(page);
        mark(&mut self.initial, site);
        order.seed(page, site);
        Some(page)
    }

    /// A page that no link leads to and that never enters the ordering: a sitemap.
    pub(crate) fn add_sitemap(&mut self, address: &str) -> Option<u32> {
        let (page, new) = self.add_page(address, 0)?;
        if new {
            self.pages[page as usize].state = PageState::Taken;
        }
        new.then_some(page)
    }

    /// The number of an address that a page of the given depth leads to. What is known is in; what
    /// is new is in if it is in the scope and looks like no trap.
    pub(crate) fn admit(
        &mut self,
        address: &str,
        depth: u16,
        new: &mut Vec<String>,
    ) -> Result<u32, NotAdmitted> {
        if let Some(page) = self.addresses.get(address) {
            return Ok(page);
        }
        let url = Url::parse(address).map_err(|_| NotAdmitted::OutOfScope)?;
        self.scope.check(&url, u32::from(depth)).map_err(|_| NotAdmitted::OutOfScope)?;
        self.pass_traps(&url).ok_or(NotAdmitted::Trap)?;
        let (page, _) = self.add_page(address, depth).ok_or(NotAdmitted::Trap)?;
        new.push(address.to_owned());
        Ok(page)
    }

    /// Notes how a page was linked to that was just admitted: path and query, if they are not those of
    /// its address.
    pub(crate) fn note_link(
        &self,
        page: u32,
        as_linked: Option<String>,
        is_new: bool,
        done: &mut Done,
    ) {
        match as_linked {
            Some(path) if is_new => done.written.push((page, path)),
            Some(_) => {}
            None => {
                let is_noted = done.written.iter().any(|(noted, _)| *noted == page);
                if is_noted || self.as_linked.contains_key(&page) {
                    done.written.push((page, String::new()));
                }
            }
        }
    }

    /// Whether the rules of its site allow a page: its address, and the address as linked.
    pub(crate) fn is_allowed(&self, page: u32, path: &str, rules: &Robots) -> bool {
        rules.allows(path) && self.as_linked.get(&page).is_none_or(|path| rules.allows(path))
    }

    fn pass_traps(&mut self, url: &Url) -> Option<()> {
        let (origin, _) = split(url.as_str())?;
        let origin = self.addresses.origin_number(origin);
        let site = self.addresses.origins()[origin as usize].site;
        self.traps.check(url, site).ok()
    }

    /// A page left the frontier.
    pub(crate) fn mark_taken(&mut self, page: u32) {
        self.pages[page as usize].state = PageState::Taken;
    }

    /// A page is done with. Its new addresses are known already.
    pub(crate) fn done(&mut self, done: &Done, order: &mut dyn Order) {
        let page = done.page;
        self.pages[page as usize].state = PageState::Done;
        self.hops.remove(&page);
        if let (Outcome::Redirect, Some(target)) = (done.outcome, done.target) {
            self.hops.insert(target, done.hops.saturating_add(1));
        }
        self.as_linked.remove(&page);
        for (page, path) in &done.written {
            if path.is_empty() {
                self.as_linked.remove(page);
            } else {
                self.as_linked.insert(*page, path.clone());
            }
        }
        self.stats.count(done);
        let site = self.addresses.site(page);
        if done.outcome.is_page() && mark(&mut self.came, site) {
            self.stats.sites += 1;
        }
        if let (Outcome::Kept, Some(digest)) = (done.outcome, done.digest) {
            self.bodies.entry(digest).or_insert((page, done.at));
        }
        if done.outcome.is_page() {
            self.links_that_came += u64::from(self.pages[page as usize].links);
        }
        for &to in &done.links {
            let to = &mut self.pages[to as usize];
            to.links = to.links.saturating_add(1);
            self.links_that_came += u64::from(to.state == PageState::Done);
        }
        self.stats.link_share = self.links_that_came as f64 / self.stats.links.max(1) as f64;
        let links: Vec<Link> = done.links.iter().map(|&to| self.link(site, to)).collect();
        if done.outcome.is_page() || !links.is_empty() {
            order.fetched(page, site, &links);
        }
    }

    fn link(&self, from: u32, page: u32) -> Link {
        let site = self.addresses.site(page);
        let kind = if site != from {
            LinkKind::External
        } else if self.initial.get(site as usize).copied().unwrap_or(false) {
            LinkKind::Initial
        } else {
            LinkKind::NonInitial
        };
        Link { page, site, kind }
    }

    /// The first page that came with this body, and when.
    pub(crate) fn find_same_body(&self, digest: &[u8; 20]) -> Option<(u32, Timestamp)> {
        self.bodies.get(digest).copied()
    }

    /// What the sink said of a page.
    pub(crate) fn note_verdict(&mut self, page: u32, verdict: Verdict) {
        self.stats.count_verdict(verdict);
        self.judged.push((page, verdict));
        let copies = self.copies.entry(self.addresses.site(page)).or_default();
        match verdict {
            Verdict::Copy => *copies += 1,
            Verdict::Original => *copies = 0,
            Verdict::Neither => {}
        }
    }

    /// Counts originals and copies by what the pages are now, which may differ from what each was when the
    /// sink took it.
    pub(crate) fn recount_verdicts(&mut self, sink: &dyn PageSink) -> Result<(), CrawlError> {
        (self.stats.originals, self.stats.copies) = (0, 0);
        for &(page, said) in &self.judged {
            let address = self.addresses.address(page);
            match sink.verdict(&address) {
                Ok(now) => self.stats.count_verdict(now.unwrap_or(said)),
                Err(source) => return Err(CrawlError::Sink { address, source }),
            }
        }
        Ok(())
    }

    /// Whether a page's site gave so many copies in a row that its pages go behind all others.
    pub(crate) fn is_deferred(&self, page: u32) -> bool {
        let Some(most) = self.plan.params.skip_copies else { return false };
        self.copies.get(&self.addresses.site(page)).is_some_and(|&copies| copies >= most)
    }

    /// The robots.txt of an origin came, or did not.
    pub(crate) fn set_robots(&mut self, origin: u32, at: Timestamp, status: u16, body: &[u8]) {
        let answer = if status == 0 { Answer::Unreachable } else { Answer::of_status(status) };
        let (rules, unreachable) = match answer {
            Answer::Rules => (Robots::parse(body, self.plan.params.product()), false),
            // More redirects than are followed count as no file.
            Answer::Redirect | Answer::Unavailable => (Robots::everything(), false),
            Answer::Unreachable => {
                let last_good = self.robots.get(&origin).filter(|known| !known.unreachable);
                let age = |known: &KnownRobots| at.since(known.at);
                let last_good = last_good.map(|known| (&known.rules, age(known)));
                (robots::while_unreachable(last_good, Duration::ZERO), true)
            }
        };
        self.robots.insert(origin, KnownRobots { rules, unreachable, at });
    }

    /// Something that a log says happened.
    pub(crate) fn replay(&mut self, record: Record, order: &mut dyn Order) {
        match record {
            Record::Plan(_) | Record::Commit(_) => {}
            Record::Seed(address) => {
                self.seed(&address, order);
            }
            Record::Known(address) => {
                self.add_sitemap(&address);
            }
            Record::Taken(page) => {
                if (page as usize) < self.pages.len() {
                    self.mark_taken(page);
                    order.take(page);
                }
            }
            Record::Robots { origin, at, status, body } => {
                let origin = self.addresses.origin_number(&origin);
                self.set_robots(origin, at, status, &body);
            }
            Record::Done(done) => {
                let known = |page: u32| (page as usize) < self.pages.len() + done.new.len();
                if !known(done.page) || !done.links.iter().all(|&page| known(page)) {
                    return;
                }
                let redirects = matches!(done.outcome, Outcome::Redirect);
                let own = self.pages.get(done.page as usize).map_or(0, |info| info.depth);
                let depth = if redirects { own } else { own.saturating_add(1) };
                for address in &done.new {
                    if let Ok(url) = Url::parse(address) {
                        self.pass_traps(&url);
                    }
                    self.add_page(address, depth);
                }
                self.done(&done, order);
                if let Some(verdict) = done.verdict {
                    self.note_verdict(done.page, verdict);
                }
            }
        }
    }
}

/// Marks an entry; says whether it was not marked before.
fn mark(marks: &mut Vec<bool>, number: u32) -> bool {
    let needed = number as usize + 1;
    if marks.len() < needed {
        marks.resize(needed, false);
    }
    !std::mem::replace(&mut marks[number as usize], true)
}
