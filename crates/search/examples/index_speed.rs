//! How fast documents become searchable: text a second, bytes on disk, time of a commit and of queries.
//!
//! Reads a file with one document a line, puts `repeat` times all of it in with one thread that makes
//! postings, commits every `batch` documents, and waits for merges. Leaves out reading the file.
//!
//! `cargo run --release -p wonbon-search --example index_speed -- FILE [REPEAT] [BATCH] [QUERY…]`
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::{Duration, Instant};

use wonbon_search::{Page, Query, SearchConfig, SearchDocument, SearchIndex, SearchReader};
use wonbon_time::Timestamp;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = std::fs::read_to_string(arguments.next().ok_or("which file?")?)?;
    let repeat: u32 = arguments.next().map_or(Ok(1), |number| number.parse())?;
    let batch: u32 = arguments.next().map_or(Ok(100_000), |number| number.parse())?;
    let dir = tempfile::tempdir()?;
    let mut index = SearchIndex::open(dir.path(), "speed", &SearchConfig::default())?.index;
    let (mut row, mut bytes, mut committing) = (0, 0, Duration::ZERO);
    let started = Instant::now();
    let mut commit = |index: &mut SearchIndex, row| {
        let started = Instant::now();
        index.commit(u64::from(row))?;
        committing += started.elapsed();
        Ok::<(), Box<dyn Error>>(())
    };
    for _ in 0..repeat {
        for text in file.lines() {
            row += 1;
            bytes += text.len();
            index.put(&SearchDocument {
                row,
                created: Timestamp::from_microseconds(i64::from(row)),
                text,
                ..Default::default()
            })?;
            if row % batch == 0 {
                commit(&mut index, row)?;
            }
        }
    }
    commit(&mut index, row)?;
    let committed = started.elapsed();
    index.close()?;
    let merged = started.elapsed();
    let megabytes = bytes as f64 / 1e6;
    let opening = Instant::now();
    let reader = SearchReader::open(dir.path(), "speed")?.ok_or("no index")?;
    let opened = opening.elapsed();
    println!(
        "{row} documents, {megabytes:.1} MB: {:.1} MB/s to the last commit ({:.1} ms a commit), {:.1} MB/s \
         with merges; {:.1} MB on disk, opened in {opened:.1?}",
        megabytes / committed.as_secs_f64(),
        committing.as_secs_f64() * 1e3 / f64::from(row / batch + 1),
        megabytes / merged.as_secs_f64(),
        reader.disk_bytes()? as f64 / 1e6,
    );
    for text in arguments {
        let query = Query::parse(&text)?;
        let mut best = Duration::MAX;
        let mut total = 0;
        for _ in 0..5 {
            let started = Instant::now();
            total = reader.search(&query, Page { offset: 0, limit: 10 })?.total;
            best = best.min(started.elapsed());
        }
        println!("{text}: {total} in {best:.1?}");
    }
    Ok(())
}
