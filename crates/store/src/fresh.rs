//! What was just stored, handed in memory to whatever is derived from it.
//!
//! A thread that follows the database would read from there what the adding thread had at hand a moment
//! ago; the thread of search spent most of its time on that. So the writer leaves it here, under the
//! document's row and a name of what it was made from. It is only a short cut: what is not here, after a
//! crash or when too much waited, is read from the database; what is here under another name is old and
//! is thrown away.
//!
//! Guarantee: at most the given weight waits, whatever the follower does.

use std::collections::HashMap;
use std::sync::Mutex;

use wonbon_index::Row;

/// Values of documents that were just stored, each under a name of what it was made from.
pub(crate) struct Fresh<N, T> {
    waiting: Mutex<Waiting<N, T>>,
    most: usize,
}

struct Waiting<N, T> {
    values: HashMap<Row, (N, T, usize)>,
    weight: usize,
}

impl<N: PartialEq, T> Fresh<N, T> {
    /// Keeps values of at most this weight.
    pub(crate) fn new(most: usize) -> Self {
        Fresh { waiting: Mutex::new(Waiting { values: HashMap::new(), weight: 0 }), most }
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
        let fresh = Fresh::new(10);
        fresh.put(Row(1), "a", 'x', 4);
        fresh.put(Row(2), "b", 'y', 4);
        assert_eq!(fresh.take(Row(1), &"a"), Some('x'));
        assert_eq!(fresh.take(Row(1), &"a"), None);
        assert_eq!(fresh.take(Row(2), &"a"), None);
        assert_eq!(fresh.take(Row(2), &"b"), None);
    }

    #[test]
    fn no_more_than_the_given_weight_waits() {
        let fresh = Fresh::new(10);
        for row in 0..100 {
            fresh.put(Row(row), (), row, 4);
            let waiting = fresh.waiting.lock().unwrap();
            assert!(waiting.weight <= 10);
            assert_eq!(waiting.weight, waiting.values.values().map(|value| value.2).sum::<usize>());
        }
        fresh.put(Row(0), (), 0, 11);
        assert_eq!(fresh.take(Row(0), &()), None);
        fresh.put(Row(7), (), 1, 3);
        fresh.put(Row(7), (), 2, 5);
        assert_eq!(fresh.waiting.lock().unwrap().weight, 5);
        assert_eq!(fresh.take(Row(7), &()), Some(2));
        assert_eq!(fresh.waiting.lock().unwrap().weight, 0);
    }
}
