//! Finding the next record after damage.
//!
//! The next record is the next gzip member that holds one or, in a plain file, the next line that
//! begins one. The search starts right behind the beginning of the damaged record, because damage to a
//! gzip member is often noticed only inside the next one.
//!
//! Cost: linear in the bytes that are searched, whatever they are. Three bytes that look like a member
//! are cheap to write, so what is spent on each is bounded: the ends of the texts in a gzip header are
//! searched for once for all members that could share them, and at most [`LOOK_AHEAD`] bytes are
//! inflated. Going back is bounded by the window ([`crate::window`]).

use std::io::{self, BufRead, Read};

use flate2::{Decompress, FlushDecompress};

use crate::window::Window;

/// How much is looked at to see whether a record begins.
const LOOK_AHEAD: usize = 4096;
const MEMBER: &[u8] = &[0x1f, 0x8b, 8];
const LINE: &[u8] = b"\nWARC/1.";
/// What a member that holds a record inflates to first.
const RECORD: &[u8; 7] = b"WARC/1.";

/// Moves to the next record behind an offset; no if there is none. Lines count only in plain files.
pub(super) fn find_record<R: Read>(
    window: &mut Window<R>,
    offset: u64,
    in_member: bool,
) -> io::Result<bool> {
    window.rewind(offset + 1);
    Search::new().find(window, in_member)
}

/// A search for a record.
struct Search {
    inflater: Decompress,
    /// Bytes that were examined, and one for each member that was tried.
    work: u64,
    /// Where in the file a run of bytes begins and ends that has no zero in it.
    without_zero: (u64, u64),
}

impl Search {
    fn new() -> Self {
        Search { inflater: Decompress::new(false), work: 0, without_zero: (0, 0) }
    }

    fn find<R: Read>(&mut self, window: &mut Window<R>, in_member: bool) -> io::Result<bool> {
        loop {
            let ahead = window.ahead(LOOK_AHEAD)?;
            let begins = |at: &usize| {
                let ahead = &ahead[*at..];
                ahead.starts_with(MEMBER) || (!in_member && ahead.starts_with(LINE))
            };
            let found = (0..ahead.len()).find(begins);
            self.work += found.unwrap_or(ahead.len()) as u64;
            match found {
                None if ahead.len() < LOOK_AHEAD => return Ok(false),
                None => {
                    // A beginning in the last bytes is seen when more bytes are there.
                    let passed = ahead.len() + 1 - LINE.len();
                    window.consume(passed);
                    window.mark();
                    continue;
                }
                Some(at) => window.consume(at),
            }
            let offset = window.offset();
            let ahead = window.ahead(LOOK_AHEAD)?;
            if !ahead.starts_with(MEMBER) {
                window.consume(1);
                return Ok(true);
            }
            if self.holds_record(&ahead[..ahead.len().min(LOOK_AHEAD)], offset) {
                return Ok(true);
            }
            window.consume(1);
        }
    }

    /// Whether the gzip member that begins with these bytes, at this offset, holds a record.
    fn holds_record(&mut self, member: &[u8], offset: u64) -> bool {
        self.work += 1;
        let Some(start) = self.header_length(member, offset) else { return false };
        let mut first = [0; RECORD.len()];
        self.inflater.reset(false);
        let inflated =
            self.inflater.decompress(&member[start..], &mut first, FlushDecompress::None);
        self.work += self.inflater.total_in();
        inflated.is_ok() && &first == RECORD
    }

    /// The length of a gzip header (RFC 1952, section 2.3), if it ends within the member's bytes.
    fn header_length(&mut self, member: &[u8], offset: u64) -> Option<usize> {
        let flags = *member.get(3)?;
        let [has_checksum, has_extra, has_name, has_comment] =
            [2, 4, 8, 16].map(|flag| flags & flag != 0);
        if flags & 0xe0 != 0 {
            return None;
        }
        let mut length = 10;
        if has_extra {
            let extra = member.get(length..length + 2)?;
            length += 2 + usize::from(u16::from_le_bytes([extra[0], extra[1]]));
        }
        for _ in 0..usize::from(has_name) + usize::from(has_comment) {
            length = self.find_zero(member, length, offset)? + 1;
        }
        length += if has_checksum { 2 } else { 0 };
        (length <= member.len()).then_some(length)
    }

    /// The place of the first zero at or behind `from`.
    fn find_zero(&mut self, member: &[u8], from: usize, offset: u64) -> Option<usize> {
        let (run_start, run_end) = self.without_zero;
        let at = offset + from as u64;
        let is_known = (run_start..=run_end).contains(&at);
        let begin = if is_known { (run_end - offset) as usize } else { from };
        let unseen = member.get(begin..)?;
        let zero = unseen.iter().position(|&byte| byte == 0);
        let seen = zero.unwrap_or(unseen.len());
        self.work += seen as u64;
        let start = if is_known { run_start } else { at };
        self.without_zero = (start, offset + (begin + seen) as u64);
        zero.map(|zero| begin + zero)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, GzBuilder};

    use super::*;

    fn work_on(bytes: &[u8]) -> (bool, u64) {
        let mut search = Search::new();
        let found = search.find(&mut Window::new(bytes), true).unwrap();
        (found, search.work)
    }

    #[test]
    fn work_is_linear_whatever_looks_like_a_member() {
        let patterns: [&[u8]; 9] = [
            // A name without an end, a comment, both, with a checksum.
            &[0x1f, 0x8b, 8, 8],
            &[0x1f, 0x8b, 8, 16],
            &[0x1f, 0x8b, 8, 24],
            &[0x1f, 0x8b, 8, 26, 1],
            // Extra bytes of any length, without end and with one.
            &[0x1f, 0x8b, 8, 4, 255, 255, 1],
            &[0x1f, 0x8b, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0],
            // No texts: whatever follows is inflated.
            &[0x1f, 0x8b, 8, 0],
            &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 255, 255],
            // A name that ends late.
            &[0x1f, 0x8b, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0],
        ];
        for pattern in patterns {
            let bytes: Vec<u8> = pattern.iter().copied().cycle().take(200_000).collect();
            let (found, work) = work_on(&bytes);
            assert!(!found);
            assert!(work <= 8 * bytes.len() as u64, "{pattern:?}: {work} for {}", bytes.len());
        }
    }

    #[test]
    fn members_with_every_kind_of_header_are_found() {
        let builders = [
            GzBuilder::new(),
            GzBuilder::new().filename("a"),
            GzBuilder::new().comment("b"),
            GzBuilder::new().extra(b"sl__".to_vec()).filename("a").comment("b"),
        ];
        let levels = [Compression::none(), Compression::fast(), Compression::best()];
        for (at, (builder, level)) in
            builders.into_iter().zip(levels.into_iter().cycle()).enumerate()
        {
            let mut member = builder.write(Vec::new(), level);
            member.write_all(b"WARC/1.1\r\n").unwrap();
            let member = member.finish().unwrap();
            for junk in [&b"junk"[..], &[0x1f, 0x8b, 8, 8].repeat(2000)] {
                let file = [junk, &member].concat();
                let mut window = Window::new(&file[..]);
                assert!(Search::new().find(&mut window, true).unwrap(), "{at}");
                assert_eq!(window.offset(), junk.len() as u64, "{at}");
            }
        }
    }
}
