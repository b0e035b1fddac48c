//! Timestamps as database columns: integers, in microseconds since 1970.

use rusqlite::Row as SqlRow;
use wonbon_time::Timestamp;

/// The time in a column.
pub(crate) fn time(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_microseconds)
}

/// The time in a column that may be null.
pub(crate) fn optional_time(
    row: &SqlRow<'_>,
    column: usize,
) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_microseconds))
}
