//! A byte budget for what requests have the service hold: bodies and lines of streams in one, answers in another
//! ([`crate::answer_budget`]).
//!
//! A limit for each body is not enough: 4,096 bodies of 32 MB at once are 128 GB. So every byte is counted
//! before it is kept, in total and by client address, and a request beyond the budget is refused with
//! `Retry-After`. Bytes are counted as they arrive, so a `Content-Length` alone takes nothing from other
//! clients. Behind a proxy all clients share the part of the proxy's address.
//!
//! Cost: a lock for each piece that arrives, 16 kB or more.
//!
//! Guarantee: the bytes counted never exceed the total. A buffer that grows may take twice what it holds.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::Extensions;
use tokio::sync::Notify;

use crate::problem::{Code, Problem};

/// The bytes that all requests together may hold.
#[derive(Debug)]
pub(crate) struct BodyBudget {
    total: usize,
    share: usize,
    held: Mutex<Held>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    most: usize,
    by_client: HashMap<IpAddr, usize>,
}

impl BodyBudget {
    /// So many bytes in total, and for one address.
    pub(crate) fn new(total: usize, share: usize) -> Arc<Self> {
        let held = Mutex::new(Held::default());
        Arc::new(BodyBudget { total, share, held, freed: Notify::new() })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Nothing in here panics half-way.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are held now, and the most that ever were.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let held = self.held();
        (held.bytes, held.most)
    }

    /// Room for one request, with nothing in it.
    pub(crate) fn room(self: &Arc<Self>, client: IpAddr) -> BodyRoom {
        BodyRoom { budget: self.clone(), client, bytes: 0 }
    }
}

/// The bytes that one request holds; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct BodyRoom {
    budget: Arc<BodyBudget>,
    client: IpAddr,
    bytes: usize,
}

impl BodyRoom {
    /// Whether it holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Takes so many bytes more, if there is room now.
    fn take(&mut self, bytes: usize) -> bool {
        let mut held = self.budget.held();
        let of_client = held.by_client.get(&self.client).copied().unwrap_or(0);
        if held.bytes + bytes > self.budget.total || of_client + bytes > self.budget.share {
            return false;
        }
        held.bytes += bytes;
        held.most = held.most.max(held.bytes);
        *held.by_client.entry(self.client).or_default() += bytes;
        self.bytes += bytes;
        true
    }

    /// Takes so many bytes, or a whole share for more than that.
    pub(crate) fn take_at_most_a_share(&mut self, bytes: usize) -> bool {
        self.take(bytes.min(self.budget.share).min(self.budget.total))
    }

    /// The same, as soon as there is room, if that is soon enough.
    pub(crate) async fn take_at_most_a_share_within(
        &mut self,
        bytes: usize,
        patience: Duration,
    ) -> bool {
        self.take_within(bytes.min(self.budget.share).min(self.budget.total), patience).await
    }

    /// Room for so many bytes more, if there is any now.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        match self.take(bytes) {
            true => Ok(()),
            false => Err(no_room()),
        }
    }

    /// The same, as soon as there is room, if that is soon enough.
    pub(crate) async fn grow_within(
        &mut self,
        bytes: usize,
        patience: Duration,
    ) -> Result<(), Problem> {
        match self.take_within(bytes, patience).await {
            true => Ok(()),
            false => Err(no_room()),
        }
    }

    async fn take_within(&mut self, bytes: usize, patience: Duration) -> bool {
        let waited = async {
            loop {
                let freed = self.budget.clone();
                let mut freed = std::pin::pin!(freed.freed.notified());
                // Before the look at the budget, so that nothing freed in between is missed.
                freed.as_mut().enable();
                if self.take(bytes) {
                    return;
                }
                freed.await;
            }
        };
        tokio::time::timeout(patience, waited).await.is_ok() || self.take(bytes)
    }

    /// Gives everything back.
    pub(crate) fn clear(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.budget.held();
        held.bytes -= self.bytes;
        if let Some(of_client) = held.by_client.get_mut(&self.client) {
            *of_client -= self.bytes;
            if *of_client == 0 {
                held.by_client.remove(&self.client);
            }
        }
        drop(held);
        self.bytes = 0;
        self.budget.freed.notify_waiters();
    }
}

impl Drop for BodyRoom {
    fn drop(&mut self) {
        self.clear();
    }
}

fn no_room() -> Problem {
    Problem::new(Code::Busy, "as many bytes as there is room for are being received")
}

/// The room of a request, in its extensions: taken while the body is read, held until the answer is made.
#[derive(Debug, Clone)]
pub(crate) struct RequestRoom(Arc<Mutex<BodyRoom>>);

impl RequestRoom {
    pub(crate) fn new(room: BodyRoom) -> Self {
        RequestRoom(Arc::new(Mutex::new(room)))
    }

    /// As [`BodyRoom::grow`].
    pub(crate) fn grow(&self, bytes: usize) -> Result<(), Problem> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).grow(bytes)
    }
}

/// The address a request came from; an unspecified one where there is no connection, in tests.
pub(crate) fn client_ip(extensions: &Extensions) -> IpAddr {
    extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(address)| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const TWO: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    #[test]
    fn nobody_has_more_than_a_share_and_all_together_no_more_than_the_total() {
        let budget = BodyBudget::new(100, 60);
        let (mut a, mut b, mut other) = (budget.room(ONE), budget.room(ONE), budget.room(TWO));
        a.grow(40).unwrap();
        b.grow(20).unwrap();
        assert_eq!(b.grow(1).unwrap_err().code, Code::Busy);
        other.grow(40).unwrap();
        assert_eq!(other.grow(1).unwrap_err().code, Code::Busy);
        drop(a);
        other.grow(20).unwrap();
        b.grow(20).unwrap();
        assert_eq!(budget.counts(), (100, 100));
        drop((b, other));
        assert_eq!(budget.counts(), (0, 100));
        assert!(budget.held().by_client.is_empty());
    }

    #[tokio::test]
    async fn who_waits_for_room_gets_it_when_it_is_there() {
        let budget = BodyBudget::new(100, 100);
        let mut full = budget.room(ONE);
        full.grow(100).unwrap();
        let mut waiting = budget.room(TWO);
        assert!(waiting.grow_within(50, Duration::ZERO).await.is_err());
        let waited = async { waiting.grow_within(50, Duration::from_secs(600)).await };
        let (waited, ()) = tokio::join!(waited, async { full.clear() });
        waited.unwrap();
        assert_eq!(budget.counts().0, 50);
    }
}
