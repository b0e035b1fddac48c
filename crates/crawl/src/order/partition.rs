//! An ordered partition of the waiting pages that links refine.
//!
//! Habib, McConnell, Paul and Viennot (2000): the pages with equal labels are a class, the classes
//! lie in a list by falling label. A fetched page splits every class that it links into: its targets
//! go to a new class, the rest stay. Labels are never written down. Both lists, of classes and of the
//! pages in each, are doubly linked through arrays; classes that are empty go back to a pile of free
//! ones. Class 0 holds the pages the crawl starts with and is there even when it is empty, so that
//! more can come.
//!
//! Cost: O(1) for each operation; 12 bytes a known page and 20 a class, of which there are no more
//! than waiting pages and usually far fewer.

use super::reach;

/// No page, no class.
pub(super) const NONE: u32 = u32::MAX;
/// The class of the pages the crawl starts with.
pub(super) const SEEDS: u32 = 0;
/// The class of a page that was never put in, and of one that was taken out.
const UNKNOWN: u32 = u32::MAX;
const GONE: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Node {
    before: u32,
    after: u32,
    class: u32,
}

#[derive(Clone, Copy)]
struct Class {
    before: u32,
    after: u32,
    first: u32,
    last: u32,
    /// The class its pages go to that the page being worked on links to.
    split: u32,
}

const NOWHERE: Node = Node { before: NONE, after: NONE, class: UNKNOWN };
const EMPTY: Class = Class { before: NONE, after: NONE, first: NONE, last: NONE, split: NONE };

/// Waiting pages in classes.
pub(super) struct Partition {
    nodes: Vec<Node>,
    classes: Vec<Class>,
    free: Vec<u32>,
    /// The first and the last class.
    front: u32,
    back: u32,
    waiting: usize,
}

impl Default for Partition {
    fn default() -> Self {
        Partition {
            nodes: Vec::new(),
            classes: vec![EMPTY],
            free: Vec::new(),
            front: SEEDS,
            back: SEEDS,
            waiting: 0,
        }
    }
}

impl Partition {
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Whether the page was ever put in.
    pub(super) fn is_known(&self, page: u32) -> bool {
        self.nodes.get(page as usize).is_some_and(|node| node.class != UNKNOWN)
    }

    /// The class of a page that is in.
    pub(super) fn class(&self, page: u32) -> Option<u32> {
        self.nodes.get(page as usize).map(|node| node.class).filter(|&class| class < GONE)
    }

    /// The first page of the first class.
    pub(super) fn first(&self) -> Option<u32> {
        let front = &self.classes[self.front as usize];
        let first = match front.first {
            // Only the class of the pages the crawl starts with can be empty.
            NONE => self.classes.get(front.after as usize).map_or(NONE, |class| class.first),
            first => first,
        };
        Some(first).filter(|&first| first != NONE)
    }

    /// Puts a page that is not known at the end of a class.
    pub(super) fn insert(&mut self, page: u32, class: u32) {
        reach(&mut self.nodes, page, NOWHERE);
        self.append(page, class);
        self.waiting += 1;
    }

    /// Takes a page out if it is in. It is known from now on.
    pub(super) fn remove(&mut self, page: u32) {
        reach(&mut self.nodes, page, NOWHERE);
        let class = self.nodes[page as usize].class;
        if class < GONE {
            self.unlink(page);
            self.drop_if_empty(class);
            self.waiting -= 1;
        }
        self.nodes[page as usize].class = GONE;
    }

    /// A class that is in no list yet.
    pub(super) fn new_class(&mut self) -> u32 {
        match self.free.pop() {
            Some(class) => {
                self.classes[class as usize] = EMPTY;
                class
            }
            None => {
                self.classes.push(EMPTY);
                // No more classes than waiting pages.
                (self.classes.len() - 1) as u32
            }
        }
    }

    /// Links a class into the list just before another, or at the end.
    pub(super) fn put_before(&mut self, class: u32, after: Option<u32>) {
        let before = match after {
            Some(after) => std::mem::replace(&mut self.classes[after as usize].before, class),
            None => std::mem::replace(&mut self.back, class),
        };
        match before {
            NONE => self.front = class,
            before => self.classes[before as usize].after = class,
        }
        let linked = &mut self.classes[class as usize];
        linked.before = before;
        linked.after = after.unwrap_or(NONE);
    }

    /// The first class.
    pub(super) fn front(&self) -> u32 {
        self.front
    }

    /// The class that pages of this one go to, once [`split_into`](Self::split_into) has said.
    pub(super) fn split(&self, class: u32) -> Option<u32> {
        Some(self.classes[class as usize].split).filter(|&split| split != NONE)
    }

    /// Says where pages of a class go.
    pub(super) fn split_into(&mut self, class: u32, split: u32) {
        self.classes[class as usize].split = split;
    }

    /// Moves a page that is in to the end of another class.
    pub(super) fn shift(&mut self, page: u32, class: u32) {
        self.unlink(page);
        self.append(page, class);
    }

    /// Ends the splitting of a class; if nothing is left of it, it goes.
    pub(super) fn end_split(&mut self, class: u32) {
        self.classes[class as usize].split = NONE;
        self.drop_if_empty(class);
    }

    fn drop_if_empty(&mut self, class: u32) {
        let Class { before, after, first, .. } = self.classes[class as usize];
        if first != NONE || class == SEEDS {
            return;
        }
        match before {
            NONE => self.front = after,
            before => self.classes[before as usize].after = after,
        }
        match after {
            NONE => self.back = before,
            after => self.classes[after as usize].before = before,
        }
        self.free.push(class);
    }

    fn append(&mut self, page: u32, class: u32) {
        let list = &mut self.classes[class as usize];
        let last = std::mem::replace(&mut list.last, page);
        match last {
            NONE => list.first = page,
            last => self.nodes[last as usize].after = page,
        }
        self.nodes[page as usize] = Node { before: last, after: NONE, class };
    }

    fn unlink(&mut self, page: u32) {
        let Node { before, after, class } = self.nodes[page as usize];
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
