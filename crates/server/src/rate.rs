//! Rate limits: a token bucket for each client.
//!
//! A client is a token, or an address where there are no tokens. A bucket holds as many requests as may
//! come at once; buckets that are full again are forgotten when there are many, so memory is bounded by
//! the clients of the last seconds.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Instant;

/// Buckets after which full ones are forgotten.
const MANY: usize = 4096;

/// Requests a second, and how many may come at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Requests a second over time.
    pub per_second: f64,
    /// Requests at once.
    pub at_once: f64,
}

/// The buckets of all clients.
#[derive(Debug)]
pub(crate) struct Buckets {
    rate: Rate,
    buckets: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Buckets {
    pub(crate) fn new(rate: Rate) -> Self {
        Buckets { rate, buckets: Mutex::new(HashMap::new()) }
    }

    /// Takes a request out of a client's bucket; or tells in how many seconds there is one.
    pub(crate) fn take(&self, client: &str, now: Instant) -> Result<(), u32> {
        let Rate { per_second, at_once } = self.rate;
        let mut buckets = self.buckets.lock().expect("no one panics with it");
        let filled = |(left, at): &(f64, Instant)| {
            let since = now.saturating_duration_since(*at).as_secs_f64();
            (left + since * per_second).min(at_once)
        };
        if buckets.len() >= MANY && !buckets.contains_key(client) {
            buckets.retain(|_, bucket| filled(bucket) < at_once);
        }
        let left = buckets.get(client).map_or(at_once, filled);
        if left < 1.0 {
            let seconds = ((1.0 - left) / per_second).ceil();
            return Err(seconds.clamp(1.0, 3600.0) as u32);
        }
        buckets.insert(client.to_owned(), (left - 1.0, now));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_client_may_come_at_once_and_then_steadily() {
        let buckets = Buckets::new(Rate { per_second: 2.0, at_once: 3.0 });
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(buckets.take("a", start), Ok(()));
        }
        assert_eq!(buckets.take("a", start), Err(1));
        assert_eq!(buckets.take("b", start), Ok(()), "another client has a bucket of its own");
        let later = start + Duration::from_millis(500);
        assert_eq!(buckets.take("a", later), Ok(()));
        assert_eq!(buckets.take("a", later), Err(1));
    }

    #[test]
    fn clients_that_went_away_are_forgotten() {
        let buckets = Buckets::new(Rate { per_second: 10.0, at_once: 2.0 });
        let start = Instant::now();
        for client in 0..MANY {
            buckets.take(&client.to_string(), start).unwrap();
        }
        buckets.take("one more", start + Duration::from_secs(1)).unwrap();
        assert_eq!(buckets.buckets.lock().unwrap().len(), 1);
    }
}
