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

use super::frontier::Pages;
use super::lists::{Class, Lists, NONE};
use super::{Link, Typing};

/// The class of the pages the crawl starts with.
pub(super) const SEEDS: u32 = 0;

/// Where a class lies in the list of classes.
#[derive(Clone, Copy)]
struct Linked {
    before: u32,
    after: u32,
    /// The class its pages go to that the page being worked on links to.
    split: u32,
}

const EMPTY: Class<Linked> = Class::empty(Linked { before: NONE, after: NONE, split: NONE });

/// Waiting pages in classes.
pub struct Partition {
    pages: Lists<Linked>,
    free: Vec<u32>,
    /// The first and the last class.
    front: u32,
    back: u32,
}

impl Default for Partition {
    fn default() -> Self {
        let mut pages = Lists::default();
        pages.classes.push(EMPTY);
        Partition { pages, free: Vec::new(), front: SEEDS, back: SEEDS }
    }
}

impl Pages for Partition {
    /// The class of a page.
    type Rank = u32;

    fn len(&self) -> usize {
        self.pages.len()
    }

    fn is_known(&self, page: u32) -> bool {
        self.pages.is_known(page)
    }

    /// At the end of its class.
    fn insert(&mut self, page: u32, class: u32) {
        self.pages.insert(page, class);
    }

    /// The first page of the first class.
    fn pop(&mut self) -> Option<u32> {
        let front = &self.pages.classes[self.front as usize];
        let page = match front.first {
            // Only the class of the pages the crawl starts with can be empty.
            NONE => self.pages.classes.get(front.known.after as usize)?.first,
            first => first,
        };
        self.remove(page);
        Some(page)
    }

    fn remove(&mut self, page: u32) {
        if let Some(class) = self.pages.remove(page) {
            self.drop_if_empty(class);
        }
    }
}

impl Partition {
    /// The class of a page that is in.
    pub(super) fn class(&self, page: u32) -> Option<u32> {
        self.pages.class(page)
    }

    /// A class that is in no list yet.
    fn new_class(&mut self) -> u32 {
        match self.free.pop() {
            Some(class) => {
                self.pages.classes[class as usize] = EMPTY;
                class
            }
            None => {
                self.pages.classes.push(EMPTY);
                // No more classes than waiting pages.
                (self.pages.classes.len() - 1) as u32
            }
        }
    }

    /// Links a class into the list just before another, or at the end.
    pub(super) fn put_before(&mut self, class: u32, after: Option<u32>) {
        let before = match after {
            Some(after) => std::mem::replace(&mut self.linked(after).before, class),
            None => std::mem::replace(&mut self.back, class),
        };
        match before {
            NONE => self.front = class,
            before => self.linked(before).after = class,
        }
        let linked = self.linked(class);
        linked.before = before;
        linked.after = after.unwrap_or(NONE);
    }

    /// The first class.
    pub(super) fn front(&self) -> u32 {
        self.front
    }

    /// The class that pages of this one go to, if it is being split.
    pub(super) fn split(&self, class: u32) -> Option<u32> {
        Some(self.pages.classes[class as usize].known.split).filter(|&split| split != NONE)
    }

    /// Splits every class that counted links lead into, and collects pages that were not known in a new
    /// class, whatever the kinds of their links. Returns the new class, if there is one. Neither it nor the
    /// parts of the classes in `splitting` ([`split`](Self::split)) are in the list of classes yet: where
    /// they go is the ordering's to say.
    pub(super) fn refine(
        &mut self,
        links: &[Link],
        typing: Typing,
        splitting: &mut Vec<u32>,
    ) -> Option<u32> {
        let mut discovered = None;
        for link in links {
            match self.class(link.page) {
                // A new class is where the targets of this very page belong.
                Some(class) if Some(class) == discovered => {}
                Some(class) if typing.counts(link.kind) => {
                    if self.split_off(link.page, class) {
                        splitting.push(class);
                    }
                }
                Some(_) => {}
                None if self.is_known(link.page) => {}
                None => {
                    let class = *discovered.get_or_insert_with(|| self.new_class());
                    self.insert(link.page, class);
                }
            }
        }
        discovered
    }

    /// Moves a page out of its class to the part that is split from it; says whether it is the first one.
    fn split_off(&mut self, page: u32, class: u32) -> bool {
        let split = self.split(class);
        let part = split.unwrap_or_else(|| self.new_class());
        self.linked(class).split = part;
        self.pages.shift(page, part);
        split.is_none()
    }

    /// Ends the splitting of a class; if nothing is left of it, it goes.
    pub(super) fn end_split(&mut self, class: u32) {
        self.linked(class).split = NONE;
        self.drop_if_empty(class);
    }

    fn linked(&mut self, class: u32) -> &mut Linked {
        &mut self.pages.classes[class as usize].known
    }

    fn drop_if_empty(&mut self, class: u32) {
        let Class { first, known: Linked { before, after, .. }, .. } =
            self.pages.classes[class as usize];
        if first != NONE || class == SEEDS {
            return;
        }
        match before {
            NONE => self.front = after,
            before => self.linked(before).after = after,
        }
        match after {
            NONE => self.back = before,
            after => self.linked(after).before = before,
        }
        self.free.push(class);
    }
}
