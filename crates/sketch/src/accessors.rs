//! The two accessors that all sketches have: their values, and whether there are none.
//!
//! A macro, because the types have nothing else in common: other parameters, values of other widths.

/// Implements `values` and `is_empty` for a type with a field `values`.
macro_rules! values {
    ($sketch:ty, $value:ty, $values_doc:literal, $empty_doc:literal) => {
        impl $sketch {
            #[doc = $values_doc]
            #[must_use]
            pub fn values(&self) -> &[$value] {
                &self.values
            }

            #[doc = $empty_doc]
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.values.is_empty()
            }
        }
    };
}

pub(crate) use values;
