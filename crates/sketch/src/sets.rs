//! Sets of anything: how bytes, words, numbers and other things become elements.
//!
//! All sketches work on sets of 64-bit elements. The 1997 paper points out that nothing in the
//! method is about text: phonemes, notes, the columns of a database will do. An element is the
//! 64-bit Rabin fingerprint of the thing's bytes, sent through a fixed bijection
//! ([`crate::finalise`]) so that near things give unrelated elements.
//!
//! Guarantee: the element of bytes, text and integers is the same on every machine and in every
//! release within a sketch format version. Text is its UTF-8 bytes; an integer of any type is
//! its value as 16 little-endian bytes of two's complement, so `5u8` and `5i64` are one thing.
//!
//! Not here: cutting text into words and shingles (`wonbon-text`).

use crate::mixing::finalise;
use crate::rabin::{RABIN_64, RabinHasher};
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// A thing that can be an element of a set.
pub trait Element {
    /// Its 64-bit element, the same everywhere and always.
    fn element(&self) -> u64;
}

/// The elements of a set of things, in their order, for sketches and for
/// [`crate::ElementSet`].
///
/// ```
/// use wonbon_sketch::{ElementSet, sets};
/// let fifths = ElementSet::of(["C", "G", "D", "A", "E"]);
/// let chord = ElementSet::of(["C", "E", "G"]);
/// assert_eq!(chord.overlap(&fifths).left_in_right(), 1.0);
/// let numbers = sets::elements(0..1000);
/// assert_eq!(numbers.len(), 1000);
/// ```
pub fn elements<T: Element>(things: impl IntoIterator<Item = T>) -> Vec<u64> {
    things.into_iter().map(|thing| thing.element()).collect()
}

/// The element of anything that can be seen as bytes.
pub fn element_of_bytes(bytes: impl AsRef<[u8]>) -> u64 {
    finalise(RABIN_64.fingerprint(bytes.as_ref()))
}

/// The element of anything that implements `Hash`.
///
/// What `Hash` feeds to a hasher is the type's own affair and may differ between machines and
/// releases of Rust; use it for sets that are compared within one run, and [`Element`] for
/// what is stored.
pub fn element_of_hash(thing: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = RabinHasher::default();
    thing.hash(&mut hasher);
    finalise(hasher.finish())
}

impl Element for [u8] {
    fn element(&self) -> u64 {
        element_of_bytes(self)
    }
}

impl<const N: usize> Element for [u8; N] {
    fn element(&self) -> u64 {
        element_of_bytes(self)
    }
}

impl Element for Vec<u8> {
    fn element(&self) -> u64 {
        element_of_bytes(self)
    }
}

impl Element for str {
    fn element(&self) -> u64 {
        element_of_bytes(self)
    }
}

impl Element for String {
    fn element(&self) -> u64 {
        element_of_bytes(self)
    }
}

impl<T: Element + ToOwned + ?Sized> Element for Cow<'_, T> {
    fn element(&self) -> u64 {
        self.as_ref().element()
    }
}

impl<T: Element + ?Sized> Element for &T {
    fn element(&self) -> u64 {
        (**self).element()
    }
}

macro_rules! integers_are_elements {
    ($($integer:ty)*) => {$(
        impl Element for $integer {
            fn element(&self) -> u64 {
                element_of_bytes((*self as i128).to_le_bytes())
            }
        }
    )*};
}
integers_are_elements!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize i128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_one_element_whatever_its_type() {
        assert_eq!("가나다".element(), "가나다".as_bytes().element());
        assert_eq!("rose".element(), String::from("rose").element());
        assert_eq!(b"rose".element(), Cow::Borrowed("rose").element());
        assert_eq!(5u8.element(), 5i64.element());
        assert_eq!((-1i8).element(), (-1i128).element());
        assert_ne!((-1i8).element(), 255u8.element());
    }

    #[test]
    fn elements_stay_what_they_are_between_releases() {
        assert_eq!("".element(), finalise(1));
        assert_eq!("a".element(), finalise(0x161));
        assert_eq!("rose".element(), finalise(0x1_726f_7365));
    }

    #[test]
    fn things_with_a_hash_are_elements_too() {
        assert_eq!(element_of_hash(&(1, "a")), element_of_hash(&(1, "a")));
        assert_ne!(element_of_hash(&(1, "a")), element_of_hash(&(2, "a")));
    }
}
