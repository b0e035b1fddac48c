//! When a host may be asked again.
//!
//! A host (by name, all its ports) and an address (all the names that live there) are each asked by
//! one connection at a time, and again only when a delay has passed since the *end* of the last
//! answer, so slow servers get longer rests than the delay says. The delay of a host is the largest
//! of: the one of the crawl, the crawl-delay of its robots.txt (within a limit), and its back-off.
//! The delay of an address is the one of the crawl.
//!
//! A host that answers 429 or 503 is asked more slowly: the back-off doubles, from one second or the
//! crawl's delay up to a limit, and is at least what `Retry-After` says (within the limit). Each
//! answer of another kind halves it again, so a crawl finds the pace a host bears.
//!
//! Nothing here reads a clock: the caller passes the time, so tests need not wait.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How polite a crawl is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Manners {
    /// Time between the end of an answer and the next request to the same host or address.
    pub(crate) delay: Duration,
    /// The longest crawl-delay of a robots.txt that is heeded in full; longer ones count as this.
    pub(crate) most_crawl_delay: Duration,
    /// The first back-off, if the delay is not longer.
    pub(crate) first_back_off: Duration,
    /// The longest back-off and the longest `Retry-After` that is waited for.
    pub(crate) most_back_off: Duration,
    /// Connections to a host and to an address at a time.
    pub(crate) connections: u32,
}

impl Default for Manners {
    fn default() -> Self {
        Manners {
            delay: Duration::from_secs(1),
            most_crawl_delay: Duration::from_secs(60),
            first_back_off: Duration::from_secs(1),
            most_back_off: Duration::from_secs(600),
            connections: 1,
        }
    }
}

/// How a host took a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It answered.
    Answered,
    /// It wants rest, for so long if it said so.
    WantsRest(Option<Duration>),
    /// It did not answer. It may be gone, and then waiting ever longer helps nobody: the back-off
    /// grows to eight times the first one and no further.
    Silent,
}

/// Whether a host may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Yes.
    Now,
    /// Not before this.
    At(Instant),
    /// It is being asked; the end of that says more.
    HostBusy,
    /// Its address is being asked for another host; [`Politeness::end`] names it in its turn.
    AddressBusy,
}

#[derive(Debug, Default)]
struct Pace {
    active: u32,
    ready_at: Option<Instant>,
}

impl Pace {
    fn delay_until(&mut self, until: Instant) {
        self.ready_at = Some(self.ready_at.map_or(until, |at| at.max(until)));
    }
}

#[derive(Debug, Default)]
struct HostPace {
    pace: Pace,
    crawl_delay: Duration,
    back_off: Duration,
    address: Option<IpAddr>,
}

#[derive(Debug, Default)]
struct AddressPace {
    pace: Pace,
    waiting: VecDeque<u32>,
}

/// The paces of all hosts and addresses.
#[derive(Debug)]
pub(crate) struct Politeness {
    manners: Manners,
    hosts: Vec<HostPace>,
    addresses: HashMap<IpAddr, AddressPace>,
}

impl Politeness {
    /// Nobody was asked yet.
    #[must_use]
    pub(crate) fn new(manners: Manners) -> Self {
        Politeness { manners, hosts: Vec::new(), addresses: HashMap::new() }
    }

    fn host(&mut self, host: u32) -> &mut HostPace {
        let needed = host as usize + 1;
        if self.hosts.len() < needed {
            self.hosts.resize_with(needed, HostPace::default);
        }
        &mut self.hosts[host as usize]
    }

    /// The delay of a host as things are.
    pub(crate) fn delay(&mut self, host: u32) -> Duration {
        let delay = self.manners.delay;
        let pace = self.host(host);
        delay.max(pace.crawl_delay).max(pace.back_off)
    }

    /// The address of a host that is asked from now on.
    pub(crate) fn set_address(&mut self, host: u32, address: Option<IpAddr>) {
        self.host(host).address = address;
    }

    /// What the robots.txt of a host asks for.
    pub(crate) fn set_crawl_delay(&mut self, host: u32, delay: Duration) {
        let most = self.manners.most_crawl_delay;
        let pace = self.host(host);
        pace.crawl_delay = pace.crawl_delay.max(delay.min(most));
    }

    /// Lets a host rest for its delay that was asked at an unknown time, by an earlier process.
    pub(crate) fn rest_after_unknown_request(&mut self, host: u32, now: Instant) {
        let delay = self.delay(host);
        self.host(host).pace.delay_until(now + delay);
    }

    /// Whether a host may be asked. A host whose address is busy waits in the line of that address
    /// from now on.
    pub(crate) fn readiness(&mut self, host: u32, now: Instant) -> Readiness {
        let connections = self.manners.connections;
        let pace = self.host(host);
        if pace.pace.active >= connections {
            return Readiness::HostBusy;
        }
        if let Some(at) = pace.pace.ready_at.filter(|&at| at > now) {
            return Readiness::At(at);
        }
        let Some(address) = pace.address else { return Readiness::Now };
        let pace = self.addresses.entry(address).or_default();
        if pace.pace.active >= connections {
            pace.waiting.push_back(host);
            return Readiness::AddressBusy;
        }
        match pace.pace.ready_at.filter(|&at| at > now) {
            Some(at) => Readiness::At(at),
            None => Readiness::Now,
        }
    }

    /// A request to a host begins.
    pub(crate) fn begin(&mut self, host: u32, now: Instant) {
        let own = self.delay(host);
        let delay = self.manners.delay;
        let pace = self.host(host);
        pace.pace.active += 1;
        pace.pace.delay_until(now + own);
        if let Some(address) = pace.address {
            let pace = self.addresses.entry(address).or_default();
            pace.pace.active += 1;
            pace.pace.delay_until(now + delay);
        }
    }

    /// A request to a host has ended. `address` is the one it had when the request began. Names the
    /// host that waited longest for this address, if one did.
    pub(crate) fn end(
        &mut self,
        host: u32,
        address: Option<IpAddr>,
        now: Instant,
        manner: Manner,
    ) -> Option<u32> {
        let Manners { delay, first_back_off, most_back_off, .. } = self.manners;
        let pace = self.host(host);
        let doubled = (pace.back_off * 2).max(first_back_off).max(delay);
        match manner {
            Manner::WantsRest(said) => {
                pace.back_off = doubled.max(said.unwrap_or_default()).min(most_back_off);
            }
            Manner::Silent => {
                let most = (first_back_off * 8).max(delay).max(pace.back_off);
                pace.back_off = doubled.min(most).min(most_back_off);
            }
            Manner::Answered if pace.back_off <= first_back_off => pace.back_off = Duration::ZERO,
            Manner::Answered => pace.back_off /= 2,
        }
        pace.pace.active = pace.pace.active.saturating_sub(1);
        let own = self.delay(host);
        self.host(host).pace.delay_until(now + own);
        let pace = self.addresses.get_mut(&address?)?;
        pace.pace.active = pace.pace.active.saturating_sub(1);
        pace.pace.delay_until(now + delay);
        pace.waiting.pop_front()
    }

    /// The host that has waited longest for an address; it leaves the line.
    pub(crate) fn next_in_line(&mut self, address: Option<IpAddr>) -> Option<u32> {
        self.addresses.get_mut(&address?)?.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_host_rests_after_the_end_of_an_answer() {
        let mut politeness = Politeness::new(Manners::default());
        let start = Instant::now();
        assert_eq!(politeness.readiness(0, start), Readiness::Now);
        politeness.begin(0, start);
        assert_eq!(politeness.readiness(0, start + 9 * SECOND), Readiness::HostBusy);
        politeness.end(0, None, start + 5 * SECOND, Manner::Answered);
        let rested = start + 6 * SECOND;
        assert_eq!(politeness.readiness(0, start + 5 * SECOND), Readiness::At(rested));
        assert_eq!(politeness.readiness(0, rested), Readiness::Now);
    }

    #[test]
    fn hosts_of_one_address_take_turns_in_the_order_they_came() {
        let mut politeness = Politeness::new(Manners::default());
        let address: IpAddr = [192, 0, 2, 1].into();
        (0..3).for_each(|host| politeness.set_address(host, Some(address)));
        let mut now = Instant::now();
        politeness.begin(0, now);
        assert_eq!(politeness.readiness(1, now), Readiness::AddressBusy);
        assert_eq!(politeness.readiness(2, now), Readiness::AddressBusy);
        assert_eq!(politeness.end(0, Some(address), now, Manner::Answered), Some(1));
        assert_eq!(politeness.readiness(1, now), Readiness::At(now + SECOND));
        now += SECOND;
        assert_eq!(politeness.readiness(1, now), Readiness::Now);
        politeness.begin(1, now);
        assert_eq!(politeness.end(1, Some(address), now, Manner::Answered), Some(2));
        assert_eq!(politeness.end(1, Some(address), now, Manner::Answered), None);
    }

    #[test]
    fn back_off_doubles_heeds_what_is_said_and_fades() {
        let mut politeness = Politeness::new(Manners::default());
        let now = Instant::now();
        let mut after = |manner| {
            politeness.begin(0, now);
            politeness.end(0, None, now, manner);
            politeness.delay(0).as_secs()
        };
        let rest = Manner::WantsRest(None);
        assert_eq!([after(rest), after(rest), after(rest)], [1, 2, 4]);
        assert_eq!(after(Manner::WantsRest(Some(30 * SECOND))), 30);
        assert_eq!(after(Manner::WantsRest(Some(9000 * SECOND))), 600);
        assert_eq!([after(Manner::Answered), after(Manner::Answered)], [300, 150]);
        (0..20).for_each(|_| {
            after(Manner::Answered);
        });
        assert_eq!(after(Manner::Answered), 1);
        let silences: Vec<u64> = (0..6).map(|_| after(Manner::Silent)).collect();
        assert_eq!(silences, [1, 2, 4, 8, 8, 8]);
    }

    #[test]
    fn crawl_delays_count_up_to_a_limit() {
        let mut politeness = Politeness::new(Manners::default());
        politeness.set_crawl_delay(0, 7 * SECOND);
        politeness.set_crawl_delay(1, 7000 * SECOND);
        assert_eq!([politeness.delay(0), politeness.delay(1)], [7 * SECOND, 60 * SECOND]);
    }
}
