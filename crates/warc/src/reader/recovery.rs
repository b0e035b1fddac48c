//! Finding the next record after damage.
//!
//! The next record is the next gzip member that holds one or, in a plain file, the next line that
//! begins one. The search starts right behind the beginning of the damaged record, because damage to a
//! gzip member is often noticed only inside the next one.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::window::Window;

/// How much is looked at to see whether a record begins.
const LOOK_AHEAD: usize = 4096;
const MEMBER: &[u8] = &[0x1f, 0x8b, 8];
const LINE: &[u8] = b"\nWARC/1.";

/// Moves to the next record behind an offset; no if there is none. Lines count only in plain files.
pub(super) fn find_record<R: Read>(
    window: &mut Window<R>,
    offset: u64,
    in_member: bool,
) -> io::Result<bool> {
    window.rewind(offset + 1);
    loop {
        let ahead = window.ahead(LOOK_AHEAD)?;
        let begins = |at: &usize| {
            let ahead = &ahead[*at..];
            ahead.starts_with(MEMBER) || (!in_member && ahead.starts_with(LINE))
        };
        match (0..ahead.len()).find(begins) {
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
        let ahead = window.ahead(LOOK_AHEAD)?;
        if !ahead.starts_with(MEMBER) {
            window.consume(1);
            return Ok(true);
        }
        let mut start = [0; 7];
        let is_whole = GzDecoder::new(ahead).read_exact(&mut start).is_ok();
        if is_whole && &start == b"WARC/1." {
            return Ok(true);
        }
        window.consume(1);
    }
}
