//! Writes the golden rows where the Python tests find them, as Parquet and as JSON lines.
//!
//! The Python tests (`scripts/python.sh` runs this program first) read the tables with pyarrow and compare what
//! `wonbon.dedup` says of them with what the program says of the files.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::Path;

use wonbon_testkit::golden::{Format, rows};

#[test]
fn the_golden_rows_are_written_for_python() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-golden");
    for format in [Format::Parquet, Format::JsonLines] {
        let folder = folder.join(format!("{format:?}"));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).unwrap();
        }
        std::fs::create_dir_all(&folder).unwrap();
        let mut written = 0;
        for (row, number) in rows().iter().zip(1..) {
            if row.fits(format) {
                let path = folder.join(row.file_name(number, format));
                std::fs::write(path, row.file(format)).unwrap();
                written += 1;
            }
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), written);
        assert!(written >= 40, "{written} golden rows in {format:?}");
    }
}
