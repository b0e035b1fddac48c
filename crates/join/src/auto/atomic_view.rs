//! Lets several threads fill one array, each its own places.
//!
//! A borrowed slice of numbers is looked at as atomics; relaxed stores to them are ordinary
//! moves. Which thread writes which place is the caller's business: two writing the same place
//! would be a mistake, but not undefined.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

pub(super) fn of_u64(values: &mut [u64]) -> &[AtomicU64] {
    const { assert!(align_of::<u64>() == align_of::<AtomicU64>()) };
    // SAFETY: the exclusive borrow lasts as long as the shared one that replaces it, and
    // AtomicU64 has the size and, as just checked, the alignment of u64.
    unsafe { &*(std::ptr::from_mut(values) as *const [AtomicU64]) }
}

pub(super) fn of_u32(values: &mut [u32]) -> &[AtomicU32] {
    const { assert!(align_of::<u32>() == align_of::<AtomicU32>()) };
    // SAFETY: as above, for u32.
    unsafe { &*(std::ptr::from_mut(values) as *const [AtomicU32]) }
}

pub(super) fn of_u8(values: &mut [u8]) -> &[AtomicU8] {
    // SAFETY: as above, for u8.
    unsafe { &*(std::ptr::from_mut(values) as *const [AtomicU8]) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    #[test]
    fn what_is_stored_through_the_view_is_in_the_slice() {
        let (mut wide, mut words, mut bytes) = ([0_u64; 3], [0_u32; 3], [0_u8; 3]);
        super::of_u64(&mut wide)[1].store(7, Ordering::Relaxed);
        super::of_u32(&mut words)[2].store(8, Ordering::Relaxed);
        super::of_u8(&mut bytes)[0].store(9, Ordering::Relaxed);
        assert_eq!((wide, words, bytes), ([0, 7, 0], [0, 0, 8], [9, 0, 0]));
    }
}
