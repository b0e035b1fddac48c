//! The links of each page, in order, out of the bits of a `.graph` file.
//!
//! The links of a page are coded as Boldi and Vigna describe (*The WebGraph framework I*, section 4):
//! how many there are; which earlier page's links are copied from and which blocks of them; runs of
//! successive numbers (intervals); the distances of the rest (residuals). Only the lists that can still
//! be copied from are kept.
//!
//! Cost: a few nanoseconds a link; the lists of the last `windowsize` pages, which are never more than
//! all links read so far.
//!
//! Guarantees: each list is strictly increasing and names existing pages only, and there are as many
//! links as the properties state. Nothing is allocated for what is merely stated: a page takes a bit
//! at least, and a file may not state more than [`LINKS_PER_BIT`] links a bit beyond
//! [`LINKS_WITHOUT_BITS`], since a copied list of any length takes few bits.

use std::collections::VecDeque;
use std::io::Read;

use super::bits::{BitReader, Code};
use super::{Properties, WebGraphError};
use crate::graph::MOST_PAGES;

/// The best compressed graphs that are published have one link a bit.
const LINKS_PER_BIT: u64 = 16;
/// So many links are read from a file of any length: a small clique has many links a bit.
const LINKS_WITHOUT_BITS: u64 = 1 << 26;

/// Reads the links of one page after another.
#[derive(Debug)]
pub struct SuccessorReader<R> {
    bits: BitReader<R>,
    properties: Properties,
    /// How many pages there are.
    pages: u32,
    /// The page whose links come next.
    page: u32,
    /// The links of pages that can be copied from, the page before first.
    window: VecDeque<Vec<u32>>,
    /// Links that are still to come.
    links_left: u64,
}

impl<R: Read> SuccessorReader<R> {
    /// Reads the `.graph` file `graph`, which has `length` bytes.
    ///
    /// # Errors
    ///
    /// There are more pages than a graph may have, or a file of this length cannot hold what the
    /// properties state.
    pub fn new(graph: R, length: u64, properties: Properties) -> Result<Self, WebGraphError> {
        let (pages, links) = (properties.pages, properties.links);
        let Some(count) = u32::try_from(pages).ok().filter(|&pages| pages <= MOST_PAGES) else {
            return Err(WebGraphError::TooManyPages { pages, limit: MOST_PAGES });
        };
        let bits = length.saturating_mul(8);
        let most_links = bits.saturating_mul(LINKS_PER_BIT).max(LINKS_WITHOUT_BITS);
        if pages > bits || links > most_links {
            return Err(WebGraphError::TooShort { length, pages, links });
        }
        let bits = BitReader::new(graph, properties.order);
        let window = VecDeque::new();
        Ok(SuccessorReader { bits, properties, pages: count, page: 0, window, links_left: links })
    }

    /// The links of the next page, in increasing order; `None` after the last page.
    ///
    /// # Errors
    ///
    /// The file ends early, or says what cannot be. Nothing can be read after that.
    pub fn next_list(&mut self) -> Result<Option<&[u32]>, WebGraphError> {
        if self.page == self.pages {
            return match self.links_left {
                0 => Ok(None),
                missing => {
                    Err(WebGraphError::FewerLinks { links: self.properties.links - missing })
                }
            };
        }
        // The oldest list makes room for the new one.
        let mut list = if self.window.len() as u64 > self.properties.window {
            self.window.pop_back().unwrap_or_default()
        } else {
            Vec::new()
        };
        list.clear();
        self.read_list(&mut list)?;
        self.page += 1;
        self.window.push_front(list);
        Ok(Some(&self.window[0]))
    }

    fn read_list(&mut self, list: &mut Vec<u32>) -> Result<(), WebGraphError> {
        let damaged = WebGraphError::Damaged { page: self.page };
        let degree = self.read(self.properties.outdegrees)?;
        if degree > u64::from(self.pages) || degree > self.links_left {
            return Err(damaged);
        }
        if degree == 0 {
            return Ok(());
        }
        if self.properties.window > 0 {
            self.copy_blocks(degree, list)?;
        }
        if (list.len() as u64) < degree && self.properties.shortest_interval > 0 {
            self.read_intervals(degree, list)?;
        }
        if (list.len() as u64) < degree {
            self.read_residuals(degree, list)?;
        }
        list.sort_unstable();
        if !list.is_sorted_by(|one, next| one < next) {
            return Err(damaged);
        }
        self.links_left -= degree;
        Ok(())
    }

    /// Copies links of an earlier page: all of them, or every other block beginning with the first.
    fn copy_blocks(&mut self, degree: u64, list: &mut Vec<u32>) -> Result<(), WebGraphError> {
        let page = self.page;
        let damaged = || WebGraphError::Damaged { page };
        let back = self.read(self.properties.references)?;
        if back == 0 {
            return Ok(());
        }
        if back > self.properties.window || back > self.window.len() as u64 {
            return Err(damaged());
        }
        let blocks = self.read(self.properties.blocks)?;
        let copied = &self.window[back as usize - 1];
        let mut at = 0;
        for block in 0..blocks {
            let length = self.bits.read(self.properties.blocks);
            let length = length.map_err(|bad| bad.at_page(page))?;
            // Only the first block can be empty; of the others the length less one is written.
            let end = length.saturating_add(at).saturating_add(u64::from(block > 0));
            if end > copied.len() as u64 {
                return Err(damaged());
            }
            if block % 2 == 0 {
                list.extend_from_slice(&copied[at as usize..end as usize]);
            }
            at = end;
        }
        if blocks % 2 == 0 {
            list.extend_from_slice(&copied[at as usize..]);
        }
        if list.len() as u64 > degree { Err(damaged()) } else { Ok(()) }
    }

    /// Reads runs of successive page numbers.
    fn read_intervals(&mut self, degree: u64, list: &mut Vec<u32>) -> Result<(), WebGraphError> {
        let damaged = WebGraphError::Damaged { page: self.page };
        let count = self.read(self.properties.intervals)?;
        let mut next = 0;
        for interval in 0..count {
            let start = self.read(self.properties.intervals)?;
            let start = self.position(interval == 0, next, start);
            let length = self.read(self.properties.intervals)?;
            let length = length.saturating_add(self.properties.shortest_interval);
            let Some(start) = start.filter(|_| length <= degree - list.len() as u64) else {
                return Err(damaged);
            };
            // A length is at most the degree, so this does not overflow.
            let end = u64::from(start) + length;
            if end > u64::from(self.pages) {
                return Err(damaged);
            }
            list.extend(start..end as u32);
            next = end + 1;
        }
        Ok(())
    }

    /// Reads the links that are left, as distances.
    fn read_residuals(&mut self, degree: u64, list: &mut Vec<u32>) -> Result<(), WebGraphError> {
        let mut next = 0;
        let left = degree - list.len() as u64;
        for residual in 0..left {
            let distance = self.read(self.properties.residuals)?;
            let Some(target) = self.position(residual == 0, next, distance) else {
                return Err(WebGraphError::Damaged { page: self.page });
            };
            list.push(target);
            next = u64::from(target) + 1;
        }
        Ok(())
    }

    /// The page at a distance: the first of a row counts from the page itself, in either direction,
    /// the others from `next`.
    fn position(&self, is_first: bool, next: u64, distance: u64) -> Option<u32> {
        // Numbers that are read have 63 bits, so they can be signed.
        let target = if is_first {
            let half = (distance >> 1) as i64;
            i64::from(self.page) + if distance & 1 == 0 { half } else { -half - 1 }
        } else {
            (next as i64).checked_add(distance as i64)?
        };
        u32::try_from(target).ok().filter(|&target| target < self.pages)
    }

    fn read(&mut self, code: Code) -> Result<u64, WebGraphError> {
        let page = self.page;
        self.bits.read(code).map_err(|bad| bad.at_page(page))
    }
}
