//! Things in classes by a small number, each class first come, first out.
//!
//! The partition of maximum cardinality search: a class for every number of links, its pages in a
//! doubly linked list. Because a page moves to the next number and no further, the classes need no
//! list of their own: they are an array, and the highest one that holds something is found by going
//! down from where it was last, a step for every time it went up.
//!
//! Cost: O(1) for each operation, the search for the highest class O(1) on average over all of them;
//! 12 bytes a thing, 8 a class.

use super::lists::{Class, Lists, NONE};
use super::reach;

/// Things in classes 0, 1, 2 and so on.
#[derive(Default)]
pub(super) struct Buckets {
    things: Lists<()>,
    /// No class above this one holds anything.
    highest: u32,
}

impl Buckets {
    /// How many things are in.
    pub(super) fn len(&self) -> usize {
        self.things.len()
    }

    /// Whether the thing was ever put in.
    pub(super) fn is_known(&self, thing: u32) -> bool {
        self.things.is_known(thing)
    }

    /// The class of a thing that is in.
    pub(super) fn class(&self, thing: u32) -> Option<u32> {
        self.things.class(thing)
    }

    /// Puts a thing that is not in at the end of a class.
    pub(super) fn insert(&mut self, thing: u32, class: u32) {
        self.reach_class(class);
        self.things.insert(thing, class);
    }

    /// Moves a thing that is in to the end of another class.
    pub(super) fn shift(&mut self, thing: u32, class: u32) {
        self.reach_class(class);
        self.things.shift(thing, class);
    }

    /// Takes a thing out if it is in. It is known from now on.
    pub(super) fn remove(&mut self, thing: u32) {
        self.things.remove(thing);
    }

    /// The first thing of a class.
    pub(super) fn first(&self, class: u32) -> Option<u32> {
        let class = self.things.classes.get(class as usize);
        class.map(|class| class.first).filter(|&first| first != NONE)
    }

    /// The first thing of the highest class that holds one.
    pub(super) fn first_of_highest(&mut self) -> Option<u32> {
        loop {
            if let Some(first) = self.first(self.highest) {
                return Some(first);
            }
            self.highest = self.highest.checked_sub(1)?;
        }
    }

    fn reach_class(&mut self, class: u32) {
        reach(&mut self.things.classes, class, Class::empty(()));
        self.highest = self.highest.max(class);
    }
}
