//! The program's allocator: small things by mimalloc, large ones by the system.
//!
//! A request allocates and frees hundreds of small things, and mimalloc does that faster than the
//! system. But it makes a large buffer larger by copying it, where the system moves its pages: a
//! buffer that doubles to 2 GB stands twice in memory for a moment, and reading a compressed file
//! that does not end took more than 4 GB of addresses. So the size decides.
//!
//! Huge pages are off: mimalloc asks for them for its first few small things already, and four of them are 8 MB
//! that the smallest command pays for; storing 18,846 documents took 0.3 CPU s longer in the system with them.
//!
//! The library leaves the choice to whoever links it; the program and the store's benchmark choose this.

#![warn(unreachable_pub)]
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use mimalloc::MiMalloc;

/// From so many bytes on a thing is the system's, which maps things of about this size by themselves.
const LARGE: usize = 256 << 10;

/// Small things by mimalloc, large ones by the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct BySize;

impl BySize {
    fn is_large(size: usize) -> bool {
        size >= LARGE
    }
}

// SAFETY: both allocators keep the contract. What is given back goes to the one it came from: its
// layout has the size it was asked for or last made, and the size alone says which that was.
unsafe impl GlobalAlloc for BySize {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are handed on.
        unsafe {
            match Self::is_large(layout.size()) {
                true => System.alloc(layout),
                false => MiMalloc.alloc(layout),
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are handed on.
        unsafe {
            match Self::is_large(layout.size()) {
                true => System.alloc_zeroed(layout),
                false => MiMalloc.alloc_zeroed(layout),
            }
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: it came from the allocator that its size names.
        unsafe {
            match Self::is_large(layout.size()) {
                true => System.dealloc(pointer, layout),
                false => MiMalloc.dealloc(pointer, layout),
            }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for the others; where the size crosses the border, the caller has promised that
        // the new size with the old alignment is a layout, and both places are at least as long as
        // what is copied.
        unsafe {
            match (Self::is_large(layout.size()), Self::is_large(size)) {
                (true, true) => System.realloc(pointer, layout, size),
                (false, false) => MiMalloc.realloc(pointer, layout, size),
                _ => {
                    let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !moved.is_null() {
                        pointer.copy_to_nonoverlapping(moved, layout.size().min(size));
                        self.dealloc(pointer, layout);
                    }
                    moved
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: BySize = BySize;

    const SIZES: [usize; 9] =
        [1, 24, 4096, LARGE / 2, LARGE - 1, LARGE, LARGE + 1, 2 * LARGE, 64 * LARGE];

    /// Bytes that tell their place.
    fn byte_at(place: usize) -> u8 {
        (place % 251) as u8
    }

    #[test]
    fn what_was_written_is_there_when_the_size_crosses_the_border() {
        for align in [1, 8, 64, 4096] {
            for (before, after) in SIZES.into_iter().flat_map(|a| SIZES.map(|b| (a, b))) {
                let layout = Layout::from_size_align(before, align).unwrap();
                let grown = Layout::from_size_align(after, align).unwrap();
                // SAFETY: written and read within the sizes asked for; given back with the last layout.
                unsafe {
                    let pointer = BySize.alloc(layout);
                    assert!(!pointer.is_null() && pointer.addr().is_multiple_of(align));
                    (0..before).for_each(|place| pointer.add(place).write(byte_at(place)));
                    let pointer = BySize.realloc(pointer, layout, after);
                    assert!(!pointer.is_null() && pointer.addr().is_multiple_of(align));
                    let kept = std::slice::from_raw_parts(pointer, before.min(after));
                    let right =
                        kept.iter().enumerate().all(|(place, byte)| *byte == byte_at(place));
                    assert!(right, "{before} to {after} bytes by {align}");
                    BySize.dealloc(pointer, grown);
                }
            }
        }
    }

    #[test]
    fn what_is_asked_for_empty_is_empty() {
        for size in SIZES {
            let layout = Layout::from_size_align(size, 16).unwrap();
            for _ in 0..3 {
                // SAFETY: as above; what is given back was written on, so that it is not empty by luck.
                unsafe {
                    let pointer = BySize.alloc_zeroed(layout);
                    assert!(
                        std::slice::from_raw_parts(pointer, size).iter().all(|byte| *byte == 0)
                    );
                    pointer.write_bytes(0xA5, size);
                    BySize.dealloc(pointer, layout);
                }
            }
        }
    }

    #[test]
    fn threads_give_back_what_others_made() {
        let made: Vec<Vec<u8>> = SIZES.map(|size| vec![7; size]).into();
        let (there, back) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            for mut bytes in made {
                bytes.resize(bytes.len() + LARGE, 7);
                there.send(bytes).unwrap();
            }
        });
        assert!(back.into_iter().all(|bytes| bytes.iter().all(|byte| *byte == 7)));
        other.join().unwrap();
    }
}
