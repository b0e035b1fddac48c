//! A bounded handover of values from the adding thread to a thread that follows the database.
//!
//! A thread that keeps a derived index up to date would read from the database what the adding thread
//! had in memory a moment ago; the search thread spent most of its time on that. So the writer leaves
//! the value here, under the document's row and a fingerprint of what the value was made from. This is
//! only a shortcut: after a crash, or when too much was waiting, the follower reads the database; a value
//! with another fingerprint is outdated and dropped.
//!
//! Guarantee: the waiting values never exceed the given weight, however slow the follower is.

use std::collections::HashMap;
use std::sync::Mutex;

use wonbon_index::Row;

/// Values of documents that were just stored, each under a name of what it was made from.
pub(crate) struct RecentValues<N, T> {
    waiting: Mutex<Waiting<N, T>>,
    most: usize,
}

struct Waiting<N, T> {
    values: HashMap<Row, (N, T, usize)>,
    weight: usize,
}

impl<N: PartialEq, T> RecentValues<N, T> {
    /// Keeps values of at most this weight.
    pub(crate) fn new(most: usize) -> Self {
        RecentValues { waiting: Mutex::new(Waiting { values: HashMap::new(), weight: 0 }), most }
    }

    pub(crate) fn put(&self, row: Row, name: N, value: T, weight: usize) {
        let mut waiting = self.waiting.lock().expect("no one panics with it");
        if waiting.weight + weight > self.most {
            // Whoever follows is far behind: it will read the database instead.
            waiting.values.clear();
            waiting.weight = 0;
        }
        if weight <= self.most {
            waiting.weight += weight;
            let old = waiting.values.insert(row, (name, value, weight));
            waiting.weight -= old.map_or(0, |(_, _, weight)| weight);
        }
    }

    /// Takes the value out; none if it was made from something else.
    pub(crate) fn take(&self, row: Row, name: &N) -> Option<T> {
        let mut waiting = self.waiting.lock().expect("no one panics with it");
        let (made_from, value, weight) = waiting.values.remove(&row)?;
        waiting.weight -= weight;
        (made_from == *name).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_once_and_under_its_name() {
        let recent = RecentValues::new(10);
        recent.put(Row(1), "a", 'x', 4);
        recent.put(Row(2), "b", 'y', 4);
        assert_eq!(recent.take(Row(1), &"a"), Some('x'));
        assert_eq!(recent.take(Row(1), &"a"), None);
        assert_eq!(recent.take(Row(2), &"a"), None);
        assert_eq!(recent.take(Row(2), &"b"), None);
    }

    #[test]
    fn no_more_than_the_given_weight_waits() {
        let recent = RecentValues::new(10);
        for row in 0..100 {
            recent.put(Row(row), (), row, 4);
            let waiting = recent.waiting.lock().unwrap();
            assert!(waiting.weight <= 10);
            assert_eq!(waiting.weight, waiting.values.values().map(|value| value.2).sum::<usize>());
        }
        recent.put(Row(0), (), 0, 11);
        assert_eq!(recent.take(Row(0), &()), None);
        recent.put(Row(7), (), 1, 3);
        recent.put(Row(7), (), 2, 5);
        assert_eq!(recent.waiting.lock().unwrap().weight, 5);
        assert_eq!(recent.take(Row(7), &()), Some(2));
        assert_eq!(recent.waiting.lock().unwrap().weight, 0);
    }
}
