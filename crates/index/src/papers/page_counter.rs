//! The number of page accesses, counted by SQLite itself.
//!
//! When one of its trees needs a page, SQLite asks its page cache and counts a hit or a miss. Hits and misses together are
//! the page accesses of the papers, which did not have such a cache. `rusqlite` does not expose these counters, so they are
//! read through its raw bindings.
//!
//! Cost: two calls, well under a microsecond.

#![allow(unsafe_code)]

use rusqlite::{Connection, ffi};

/// Pages that the connection asked for since the last call, or since it was opened.
pub(super) fn take_page_accesses(connection: &Connection) -> u64 {
    [ffi::SQLITE_DBSTATUS_CACHE_HIT, ffi::SQLITE_DBSTATUS_CACHE_MISS]
        .into_iter()
        .map(|counter| {
            let (mut current, mut highest) = (0_i64, 0_i64);
            // SAFETY: the handle is that of an open connection, which the borrow keeps open and on
            // this thread; the two places are valid for writing and outlive the call.
            let code = unsafe {
                ffi::sqlite3_db_status64(
                    connection.handle(),
                    counter,
                    &raw mut current,
                    &raw mut highest,
                    1,
                )
            };
            assert_eq!(code, ffi::SQLITE_OK, "SQLite knows its own counters");
            u64::try_from(current).expect("a counter is not negative")
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The safe path: SQLite's own page count of a table that is then read as a whole.
    #[test]
    fn reading_a_table_takes_its_pages_once_and_the_counter_starts_anew() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "PRAGMA page_size = 1024;
                 CREATE TABLE filled(number INTEGER PRIMARY KEY, filling BLOB);
                 WITH RECURSIVE numbers(number) AS
                   (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1000)
                 INSERT INTO filled SELECT number, zeroblob(700) FROM numbers;",
            )
            .unwrap();
        let pages: u64 = connection
            .query_row("SELECT * FROM pragma_page_count()", [], |row| row.get::<_, i64>(0))
            .unwrap()
            .try_into()
            .unwrap();
        assert!(pages > 1000, "{pages}");
        take_page_accesses(&connection);
        assert_eq!(take_page_accesses(&connection), 0);
        connection
            .query_row("SELECT sum(length(filling)) FROM filled", [], |row| row.get::<_, i64>(0))
            .unwrap();
        let accesses = take_page_accesses(&connection);
        assert!((pages..pages + 20).contains(&(accesses + 1)), "{accesses} for {pages} pages");
        assert_eq!(take_page_accesses(&connection), 0);
    }
}
