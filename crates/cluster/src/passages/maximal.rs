//! Maximal repeats: runs of words that occur at several places and that no word before or behind makes longer everywhere.
//!
//! A run of words is a maximal repeat if two of its occurrences follow different words (the start of a document is different
//! from everything), and two are followed by different words (the end of a document likewise). This is the usual meaning; an index of all
//! suffixes lists the same runs, which a test compares.
//!
//! All occurrences of a maximal repeat begin with the same window. So each class of places with one window is looked at alone, and only
//! classes with different words before them are looked at at all: of a copied page, that is its first window. The places of
//! a class form a tree by what follows. It is walked along the text of one place: for every other place, how far do the two
//! agree? Each different answer is a node with those places that agree so far or farther. Places that leave the path
//! together at one node, by the same word, form a subtree.
//!
//! Cost: the words that places agree in, once for each change of path.

use std::collections::{BTreeMap, BTreeSet};

use super::words::WordText;
use crate::error::ClusterError;

/// Bytes that are compared at a time, at first.
const PIECE_BYTES: usize = 512;

/// A run of words with all places where it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Its first place.
    pub(crate) first: u64,
    /// Its bytes in normal form, spaces included.
    pub(crate) bytes: u64,
    /// Its words.
    pub(crate) words: u64,
    /// How many places it occurs at.
    pub(crate) occurrences: u64,
    /// How many documents it occurs in.
    pub(crate) documents: u64,
    /// Its first places, ascending.
    pub(crate) places: Vec<u64>,
}

/// What is looked for among the places of a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepeatFilter {
    /// The least words.
    pub(crate) words: usize,
    /// The least documents.
    pub(crate) documents: u64,
    /// The most places that are listed of each.
    pub(crate) places: usize,
    /// Whether a run must occur in another corpus and in this one.
    pub(crate) across: bool,
}

/// A place of a class.
#[derive(Clone, Copy, Debug)]
struct Member {
    place: u64,
    document: usize,
    /// The word before it: the same number for the same word.
    left: u32,
}

/// Calls `each` with the maximal repeats that begin at the places of a class, which are ascending.
pub(crate) fn for_each_maximal(
    words: &WordText,
    class: &[u64],
    filter: RepeatFilter,
    mut each: impl FnMut(Repeat) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let mut walk = Walk { words, filter, path: Vec::new(), other: Vec::new() };
    let mut open = vec![(walk.members(class)?, 0)];
    while let Some((members, known)) = open.pop() {
        walk.follow(&members, known, &mut open, &mut each)?;
    }
    Ok(())
}

/// Some members, and how many bytes they are known to agree in.
type Subtree = (Vec<Member>, usize);

struct Walk<'a> {
    words: &'a WordText,
    filter: RepeatFilter,
    /// What follows the first member, as far as it was read.
    path: Vec<u8>,
    other: Vec<u8>,
}

impl Walk<'_> {
    fn members(&mut self, class: &[u64]) -> Result<Vec<Member>, ClusterError> {
        let mut lefts: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let (mut unlike, mut members) = (u32::MAX, Vec::new());
        for &place in class {
            let document = self.words.document_at(place);
            let left = if self.words.word_before(document, place, &mut self.other)? {
                let next = lefts.len() as u32;
                *lefts.entry(self.other.clone()).or_insert(next)
            } else {
                unlike -= 1;
                unlike
            };
            members.push(Member { place, document, left });
        }
        Ok(members)
    }

    /// Reports the nodes on the path of the first member, and opens the subtrees beside it.
    fn follow(
        &mut self,
        members: &[Member],
        known: usize,
        open: &mut Vec<Subtree>,
        each: &mut impl FnMut(Repeat) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        let head = members[0];
        self.path.clear();
        let mut agreeing = Vec::with_capacity(members.len());
        for &member in &members[1..] {
            agreeing.push((self.agree(head, member, known)?, member));
        }
        agreeing.sort_by_key(|&(bytes, member)| (std::cmp::Reverse(bytes), member.place));
        let mut node = Node::new(self, head);
        for same in agreeing.chunk_by(|one, other| one.0 == other.0) {
            let bytes = same[0].0;
            same.iter().for_each(|&(_, member)| node.add(self, member));
            if let Some(repeat) = node.repeat(self, bytes) {
                each(repeat)?;
            }
            self.split(same, bytes, open)?;
        }
        Ok(())
    }

    /// How many bytes of whole words two members have in common.
    fn agree(&mut self, head: Member, member: Member, known: usize) -> Result<usize, ClusterError> {
        let (mut at, mut length) = (known, PIECE_BYTES);
        let mut whole = known.saturating_sub(1);
        loop {
            while self.path.len() < at + length && self.path.last() != Some(&b'\n') {
                let from = head.place + self.path.len() as u64;
                let more = length.max(self.path.len());
                self.words.read(head.document, from, more, &mut self.other)?;
                self.path.extend_from_slice(&self.other);
            }
            let left = self.words.places(member.document).end - member.place;
            if at as u64 >= left {
                return Ok(whole);
            }
            self.words.read(member.document, member.place + at as u64, length, &mut self.other)?;
            let path = &self.path[at.min(self.path.len())..];
            let common = path
                .iter()
                .zip(&self.other)
                .take_while(|(one, other)| one == other && **one != b'\n');
            let common = common.count();
            if let Some(space) = memchr::memrchr(b' ', &path[..common]) {
                whole = at + space;
            }
            if common == length {
                at += length;
                length = (2 * length).min(1 << 16);
                continue;
            }
            let ends = |text: &[u8]| matches!(text.get(common), Some(b' ' | b'\n'));
            if ends(path) && ends(&self.other) {
                whole = at + common;
            }
            return Ok(whole);
        }
    }

    /// Those members that go on with the same word form a subtree.
    fn split(
        &mut self,
        same: &[(usize, Member)],
        bytes: usize,
        open: &mut Vec<Subtree>,
    ) -> Result<(), ClusterError> {
        if same.len() < 2 {
            return Ok(());
        }
        let mut by_word: BTreeMap<Vec<u8>, Vec<Member>> = BTreeMap::new();
        for &(_, member) in same {
            if let Some(word) = self.word_behind(member, bytes)? {
                by_word.entry(word).or_default().push(member);
            }
        }
        for (word, members) in by_word {
            let left = members[0].left;
            if members.iter().any(|member| member.left != left) {
                // Behind the agreeing words and the next one is a separator each.
                open.push((members, bytes + usize::from(bytes > 0) + word.len() + 1));
            }
        }
        Ok(())
    }

    /// The word of a member behind the bytes it shares with others; none at the end of its document.
    fn word_behind(
        &mut self,
        member: Member,
        bytes: usize,
    ) -> Result<Option<Vec<u8>>, ClusterError> {
        let from = member.place + (bytes + usize::from(bytes > 0)) as u64;
        if from >= self.words.places(member.document).end {
            return Ok(None);
        }
        let mut length = 32;
        loop {
            self.words.read(member.document, from, length, &mut self.other)?;
            if let Some(end) = self.other.iter().position(|byte| matches!(byte, b' ' | b'\n')) {
                self.other.truncate(end);
                return Ok(Some(self.other.clone()));
            }
            length *= 8;
        }
    }
}

/// The members of a node of the tree, collected from the deepest node of a path upwards.
struct Node {
    count: u64,
    documents: BTreeSet<usize>,
    /// The first places, and the largest of them when there are as many as are listed.
    places: BTreeSet<u64>,
    left: u32,
    is_diverse: bool,
    others: u64,
}

impl Node {
    fn new(walk: &Walk<'_>, head: Member) -> Self {
        let mut node = Node {
            count: 0,
            documents: BTreeSet::new(),
            places: BTreeSet::new(),
            left: head.left,
            is_diverse: false,
            others: 0,
        };
        node.add(walk, head);
        node
    }

    fn add(&mut self, walk: &Walk<'_>, member: Member) {
        self.count += 1;
        self.documents.insert(member.document);
        self.is_diverse |= member.left != self.left;
        self.others += u64::from(walk.words.is_other(member.document));
        self.places.insert(member.place);
        if self.places.len() > walk.filter.places.max(1) {
            self.places.pop_last();
        }
    }

    fn repeat(&self, walk: &Walk<'_>, bytes: usize) -> Option<Repeat> {
        let filter = walk.filter;
        let across = !filter.across || (self.others > 0 && self.others < self.count);
        if !self.is_diverse || !across || (self.documents.len() as u64) < filter.documents {
            return None;
        }
        let words = 1 + memchr::memchr_iter(b' ', &walk.path[..bytes]).count();
        (bytes > 0 && words >= filter.words).then(|| Repeat {
            first: *self.places.first().expect("a node has members"),
            bytes: bytes as u64,
            words: words as u64,
            occurrences: self.count,
            documents: self.documents.len() as u64,
            places: self.places.iter().take(filter.places).copied().collect(),
        })
    }
}
