//! Things in classes, the things of a class in the order in which they came.
//!
//! The things of a class are a doubly linked list; all lists lie in one array with an entry for each
//! thing. What else is known of a class lies beside the ends of its list.
//!
//! Cost: O(1) for each operation; 12 bytes a thing, and 8 a class beside what is known of it.

use super::reach;

/// No thing, no class.
pub(super) const NONE: u32 = u32::MAX;
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

const NOWHERE: Node = Node { before: NONE, after: NONE, class: UNKNOWN };

/// The ends of a class's list, and what else is known of the class.
#[derive(Clone, Copy)]
pub(super) struct Class<K> {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) known: K,
}

impl<K> Class<K> {
    /// A class without things.
    pub(super) const fn empty(known: K) -> Self {
        Class { first: NONE, last: NONE, known }
    }
}

/// Things in classes.
pub(super) struct Lists<K> {
    nodes: Vec<Node>,
    /// The classes; a thing is put into one that is here.
    pub(super) classes: Vec<Class<K>>,
    held: usize,
}

impl<K> Default for Lists<K> {
    fn default() -> Self {
        Lists { nodes: Vec::new(), classes: Vec::new(), held: 0 }
    }
}

impl<K> Lists<K> {
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

    /// Takes a thing out if it is in, and tells of which class. It is known from now on.
    pub(super) fn remove(&mut self, thing: u32) -> Option<u32> {
        reach(&mut self.nodes, thing, NOWHERE);
        let class = self.class(thing);
        if class.is_some() {
            self.unlink(thing);
            self.held -= 1;
        }
        self.nodes[thing as usize].class = GONE;
        class
    }

    fn append(&mut self, thing: u32, class: u32) {
        let list = &mut self.classes[class as usize];
        let last = std::mem::replace(&mut list.last, thing);
        match last {
            NONE => list.first = thing,
            last => self.nodes[last as usize].after = thing,
        }
        self.nodes[thing as usize] = Node { before: last, after: NONE, class };
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
