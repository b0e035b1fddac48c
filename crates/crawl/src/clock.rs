//! What time it is.

use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since 1970.
pub(crate) fn microseconds_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as i64)
}
