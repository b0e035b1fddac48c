//! The addresses a crawl knows: each is a number, counting up from zero.
//!
//! A crawl knows ten times more addresses than it fetches, so they are what its memory goes to. An
//! address is kept as the number of its origin (`https://example.org`) and the bytes behind it, in
//! pieces of 1 MiB that are never moved; a table of open addressing maps hashes to numbers, with 32
//! bits of the hash beside each number, so that other addresses are almost never looked at and the
//! table grows without reading one.
//!
//! Origins belong to host names (what politeness counts by) and to sites (what orderings count by):
//! the registrable domain, private suffixes included, or the host name.
//!
//! Cost: an address of 80 bytes whose first 25 are its origin takes about 58 bytes of text, 8 bytes of
//! numbers and 11 to 21 bytes of table. The hash is keyed anew in every process: a hostile site
//! cannot make its addresses collide.
//!
//! Not here: what makes two addresses the same (`canonical`).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::graph::SiteRule;

/// Addresses stand at multiples of this, so that 32 bits reach 16 GiB of them.
const ALIGNMENT: usize = 4;
const PIECE_BYTES: usize = 1 << 20;
/// The longest address that is kept; what is longer is no address people wrote.
pub(crate) const MOST_ADDRESS_BYTES: usize = 8 << 10;

/// Scheme, host and port: what one robots.txt speaks for.
#[derive(Debug)]
pub(crate) struct Origin {
    /// Such as `https://example.org:8443`, without a slash at the end.
    pub(crate) text: Box<str>,
    /// The number of its host name.
    pub(crate) host: u32,
    /// The number of its site.
    pub(crate) site: u32,
}

/// Names that are numbers.
#[derive(Debug, Default)]
struct Names {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
}

impl Names {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        number
    }
}

/// All addresses, with their origins, host names and sites.
#[derive(Debug)]
pub(crate) struct Addresses {
    kind: SiteRule,
    origins: Vec<Origin>,
    origin_numbers: HashMap<Box<str>, u32>,
    hosts: Names,
    sites: Names,
    /// The bytes behind the origin, each with its length before it.
    pieces: Vec<Vec<u8>>,
    /// Where the bytes of a page stand, in units of `ALIGNMENT`.
    starts: Vec<u32>,
    page_origins: Vec<u32>,
    /// Hash in the high half, number plus one in the low half; 0 is free.
    table: Vec<u64>,
    hasher: RandomState,
}

impl Addresses {
    /// No address yet.
    #[must_use]
    pub(crate) fn new(kind: SiteRule) -> Self {
        Addresses {
            kind,
            origins: Vec::new(),
            origin_numbers: HashMap::new(),
            hosts: Names::default(),
            sites: Names::default(),
            pieces: Vec::new(),
            starts: Vec::new(),
            page_origins: Vec::new(),
            table: vec![0; 1024],
            hasher: RandomState::new(),
        }
    }

    /// How many addresses are known.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The number of an address if it is known.
    #[must_use]
    pub(crate) fn get(&self, address: &str) -> Option<u32> {
        let (origin, rest) = split(address)?;
        let origin = *self.origin_numbers.get(origin)?;
        self.find(self.hash(origin, rest), origin, rest).ok()
    }

    /// The number of an address, and whether it is new. `None` for what is no absolute address, is
    /// longer than [`MOST_ADDRESS_BYTES`], or has no number left.
    pub(crate) fn insert(&mut self, address: &str) -> Option<(u32, bool)> {
        let (origin, rest) = split(address)?;
        if address.len() > MOST_ADDRESS_BYTES || self.starts.len() >= u32::MAX as usize - 1 {
            return None;
        }
        let origin = self.origin_number(origin);
        let hash = self.hash(origin, rest);
        let slot = match self.find(hash, origin, rest) {
            Ok(page) => return Some((page, false)),
            Err(slot) => slot,
        };
        let page = self.starts.len() as u32;
        let start = self.keep(rest)?;
        self.starts.push(start);
        self.page_origins.push(origin);
        self.table[slot] = (hash & !0xffff_ffff) | u64::from(page + 1);
        if self.starts.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        Some((page, true))
    }

    /// The address of a page.
    #[must_use]
    pub(crate) fn address(&self, page: u32) -> String {
        let mut address = self.origins[self.origin(page) as usize].text.to_string();
        address.push_str(self.rest(page));
        address
    }

    /// The number of a page's origin.
    #[must_use]
    pub(crate) fn origin(&self, page: u32) -> u32 {
        self.page_origins[page as usize]
    }

    /// The number of a page's site.
    #[must_use]
    pub(crate) fn site(&self, page: u32) -> u32 {
        self.origins[self.origin(page) as usize].site
    }

    /// The number of a page's host name.
    #[must_use]
    pub(crate) fn host(&self, page: u32) -> u32 {
        self.origins[self.origin(page) as usize].host
    }

    /// The number of an origin, new or known.
    pub(crate) fn origin_number(&mut self, origin: &str) -> u32 {
        if let Some(&number) = self.origin_numbers.get(origin) {
            return number;
        }
        let host = host_of(origin);
        let site = self.sites.number(self.kind.site(host));
        let host = self.hosts.number(host);
        let number = self.origins.len() as u32;
        self.origin_numbers.insert(origin.into(), number);
        self.origins.push(Origin { text: origin.into(), host, site });
        number
    }

    /// All origins, by number.
    #[must_use]
    pub(crate) fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// All host names, by number.
    #[must_use]
    pub(crate) fn hosts(&self) -> &[Box<str>] {
        &self.hosts.texts
    }

    fn rest(&self, page: u32) -> &str {
        let start = self.starts[page as usize] as usize * ALIGNMENT;
        let piece = &self.pieces[start / PIECE_BYTES];
        let at = start % PIECE_BYTES;
        let length = usize::from(u16::from_le_bytes([piece[at], piece[at + 1]]));
        std::str::from_utf8(&piece[at + 2..at + 2 + length]).expect("what was kept was a str")
    }

    fn hash(&self, origin: u32, rest: &str) -> u64 {
        self.hasher.hash_one((origin, rest))
    }

    fn find(&self, hash: u64, origin: u32, rest: &str) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut slot = (hash >> 32) as usize & mask;
        loop {
            let entry = self.table[slot];
            if entry == 0 {
                return Err(slot);
            }
            if entry >> 32 == hash >> 32 {
                let page = entry as u32 - 1;
                if self.origin(page) == origin && self.rest(page) == rest {
                    return Ok(page);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let mut table = vec![0_u64; self.table.len() * 2];
        let mask = table.len() - 1;
        for &entry in self.table.iter().filter(|&&entry| entry != 0) {
            let mut slot = (entry >> 32) as usize & mask;
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = entry;
        }
        self.table = table;
    }

    fn keep(&mut self, rest: &str) -> Option<u32> {
        let bytes = rest.as_bytes();
        let length = u16::try_from(bytes.len()).ok()?;
        let needed = (2 + bytes.len()).next_multiple_of(ALIGNMENT);
        let fits = |piece: &Vec<u8>| PIECE_BYTES - piece.len() >= needed;
        if !self.pieces.last().is_some_and(fits) {
            self.pieces.push(Vec::with_capacity(PIECE_BYTES));
        }
        let before = (self.pieces.len() - 1) * PIECE_BYTES;
        let piece = self.pieces.last_mut()?;
        let start = u32::try_from((before + piece.len()) / ALIGNMENT).ok()?;
        piece.extend_from_slice(&length.to_le_bytes());
        piece.extend_from_slice(bytes);
        piece.resize(piece.len().next_multiple_of(ALIGNMENT), 0);
        Some(start)
    }
}

/// An absolute address as origin and rest; the rest begins with a slash.
#[must_use]
pub(crate) fn split(address: &str) -> Option<(&str, &str)> {
    let host = address.find("://")? + 3;
    let slash = host + address[host..].find('/')?;
    (slash > host).then(|| address.split_at(slash))
}

/// The host of an origin, without its port.
fn host_of(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority);
    match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => &authority[..colon],
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn origins_hosts_and_sites_are_told_apart() {
        let mut addresses = Addresses::new(SiteRule::Domain);
        for address in [
            "https://www.example.co.kr/",
            "https://blog.example.co.kr/a?b",
            "http://www.example.co.kr/",
            "http://[::1]:8080/x",
            "http://127.0.0.2:8080/x",
            "http://127.0.0.2:8081/x",
        ] {
            assert!(addresses.insert(address).unwrap().1);
        }
        assert_eq!(addresses.origins().len(), 6);
        assert_eq!(
            addresses.hosts().iter().map(|host| &**host).collect::<Vec<_>>(),
            ["www.example.co.kr", "blog.example.co.kr", "[::1]", "127.0.0.2"]
        );
        assert_eq!(
            addresses.sites.texts.iter().map(|site| &**site).collect::<Vec<_>>(),
            ["example.co.kr", "[::1]", "127.0.0.2"]
        );
        assert_eq!(SiteRule::Host.site("a.b.example.org"), "a.b.example.org");
    }

    #[test]
    fn what_is_no_absolute_address_has_no_number() {
        let mut addresses = Addresses::new(SiteRule::Host);
        let long = format!("http://example.org/{}", "a".repeat(MOST_ADDRESS_BYTES));
        for address in ["", "/a", "http://", "http:///a", "http://example.org", &long] {
            assert_eq!(addresses.insert(address), None, "{address:.30}");
        }
        assert_eq!(addresses.len(), 0);
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_a_plain_list(
            pages in prop::collection::vec(("[a-c]{1,2}", "/[a-z/?]{0,40}"), 0..4000)
        ) {
            let mut addresses = Addresses::new(SiteRule::Host);
            let mut list: Vec<String> = Vec::new();
            for (host, rest) in &pages {
                let address = format!("http://{host}{rest}");
                let known = list.iter().position(|known| *known == address);
                prop_assert_eq!(addresses.get(&address), known.map(|page| page as u32));
                let (page, new) = addresses.insert(&address).unwrap();
                prop_assert_eq!(new, known.is_none());
                prop_assert_eq!(page as usize, known.unwrap_or(list.len()));
                if new {
                    list.push(address);
                }
            }
            for (page, address) in list.iter().enumerate() {
                prop_assert_eq!(&addresses.address(page as u32), address);
            }
        }
    }
}
