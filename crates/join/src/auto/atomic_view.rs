//! Lets several threads fill one array, each its own places.
//!
//! A borrowed slice of numbers is looked at as atomics; relaxed stores to them are ordinary
//! moves. Which thread writes which place is the caller's business: two writing the same place
//! would be a mistake, but not undefined.

#![allow(unsafe_code)]

use std::sync::atomic::AtomicU64;

pub(super) fn of_u64(values: &mut [u64]) -> &[AtomicU64] {
    const { assert!(align_of::<u64>() == align_of::<AtomicU64>()) };
    // SAFETY: the exclusive borrow lasts as long as the shared one that replaces it, and
    // AtomicU64 has the size and, as just checked, the alignment of u64.
    unsafe { &*(std::ptr::from_mut(values) as *const [AtomicU64]) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    #[test]
    fn what_is_stored_through_the_view_is_in_the_slice() {
        let mut values = [0_u64; 3];
        super::of_u64(&mut values)[1].store(7, Ordering::Relaxed);
        assert_eq!(values, [0, 7, 0]);
    }
}
