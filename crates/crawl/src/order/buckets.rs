//! Things in classes by a small number, each class first come, first out.
//!
//! The partition of maximum cardinality search: a class for every number of links, its pages in a
//! doubly linked list. Because a page moves to the next number and no further, the classes need no
//! list of their own: they are an array, and the highest one that holds something is found by going
//! down from where it was last, a step for every time it went up. All lists lie in one array with an
//! entry for each thing.
//!
//! Cost: O(1) for each operation, the search for the highest class O(1) on average over all of them;
//! 12 bytes a thing, 8 a class.

use super::reach;

/// No thing.
const NONE: u32 = u32::MAX;
/// The class of a thing that was never put in.
const UNKNOWN: u32 = u32::MAX;
/// The class of a thing that was taken out.
const GONE: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Node {
    before: u32,
    after: u32,
    class: u32,
}

#[derive(Clone, Copy)]
struct Class {
    first: u32,
    last: u32,
}

const NOWHERE: Node = Node { before: NONE, after: NONE, class: UNKNOWN };
const EMPTY: Class = Class { first: NONE, last: NONE };

/// Things in classes 0, 1, 2 and so on.
#[derive(Default)]
pub(super) struct Buckets {
    nodes: Vec<Node>,
    classes: Vec<Class>,
    /// No class above this one holds anything.
    highest: u32,
    held: usize,
}

impl Buckets {
    /// How many things are in.
    pub(super) fn len(&self) -> usize {
        self.held
    }

    /// Whether the thing was ever put in.
    pub(super) fn is_known(&self, thing: u32) -> bool {
        self.nodes.get(thing as usize).is_some_and(|node| node.class != UNKNOWN)
    }

    /// The class of a thing that is in.
    pub(super) fn class(&self, thing: u32) -> Option<u32> {
        self.nodes.get(thing as usize).map(|node| node.class).filter(|&class| class < GONE)
    }

    /// Puts a thing that is not in at the end of a class.
    pub(super) fn insert(&mut self, thing: u32, class: u32) {
        reach(&mut self.nodes, thing, NOWHERE);
        self.append(thing, class);
        self.held += 1;
    }

    /// Moves a thing that is in to the end of another class.
    pub(super) fn shift(&mut self, thing: u32, class: u32) {
        self.unlink(thing);
        self.append(thing, class);
    }

    /// Takes a thing out; tells whether it was in. It is known from now on.
    pub(super) fn remove(&mut self, thing: u32) -> bool {
        reach(&mut self.nodes, thing, NOWHERE);
        let held = self.nodes[thing as usize].class < GONE;
        if held {
            self.unlink(thing);
            self.held -= 1;
        }
        self.nodes[thing as usize].class = GONE;
        held
    }

    /// The first thing of a class.
    pub(super) fn first(&self, class: u32) -> Option<u32> {
        self.classes.get(class as usize).map(|class| class.first).filter(|&first| first != NONE)
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

    fn append(&mut self, thing: u32, class: u32) {
        reach(&mut self.classes, class, EMPTY);
        let list = &mut self.classes[class as usize];
        let last = std::mem::replace(&mut list.last, thing);
        match last {
            NONE => list.first = thing,
            last => self.nodes[last as usize].after = thing,
        }
        self.nodes[thing as usize] = Node { before: last, after: NONE, class };
        self.highest = self.highest.max(class);
    }

    fn unlink(&mut self, thing: u32) {
        let Node { before, after, class } = self.nodes[thing as usize];
        let list = &mut self.classes[class as usize];
        match before {
            NONE => list.first = after,
            before => self.nodes[before as usize].after = after,
        }
        match after {
            NONE => list.last = before,
            after => self.nodes[after as usize].before = before,
        }
    }
}
