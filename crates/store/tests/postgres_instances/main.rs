//! Several processes on one PostgreSQL: exactly one original for each text whoever receives it, nothing acknowledged is
//! lost, nothing is stored twice, whatever is cut, killed, stopped or lost. Without PostgreSQL's programs the tests say that
//! they were skipped.
//!
//! | module | has |
//! |---|---|
//! | [`handles`] | three handles, copies |
//! | [`cuts`] | connections that are cut, silent or refused at every place of a turn |
//! | [`kills`] | instances and sessions that are killed |
//! | [`servers`] | servers that crash, freeze, fill up, and standbys that take over |
//! | [`addresses`] | what is wrong with an address or a server, in one sentence |
//!
//! `WONBON_KILLS`, `WONBON_CUTS`, `WONBON_CRASHES` and `WONBON_FAILOVERS` set how often; scripts/hard.sh asks for more.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stdout, reason = "tests tell what they tried")]

mod addresses;
mod cuts;
mod handles;
mod kills;
mod servers;

#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;

use support::Place;
use wonbon_store::{Kind, NewDocument, Store, StoreError};
use wonbon_testkit::postgres::{Proxy, address};

/// The schema in a place's address.
fn schema(place: &Place) -> &str {
    let address = place.path().to_str().unwrap();
    address.split("schema=").nth(1).unwrap().split('&').next().unwrap()
}

/// The place of a store behind a proxy.
fn behind(proxy: &Proxy, place: &Place) -> PathBuf {
    address(&[proxy.sockets()], schema(place), place.folder()).into()
}

fn add(store: &Store, key: &str, text: &str) -> Result<Kind, StoreError> {
    Ok(store.add(&NewDocument::text(key, None, text))?.verdict.kind)
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (number ^ (number >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (number >> 32)
}

fn text(about: u64) -> String {
    let words = (0..40).map(|at| format!("word{}", mixed(about * 100 + at) % 5000));
    words.collect::<Vec<_>>().join(" ")
}

/// What every document is, in the order of their numbers.
fn standings(store: &Store) -> Vec<(String, String, Kind, Option<String>)> {
    let mut all = Vec::new();
    let read: Result<(), StoreError> = store.for_each(|document| {
        let verdict = document.verdict;
        all.push((document.key, document.text, verdict.kind, verdict.original));
        Ok(())
    });
    read.unwrap();
    all
}

/// The store agrees with itself, and with a store in a directory that is given the same documents one after another.
fn assert_as_one_writer_gives(store: &Store) {
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    let all = standings(store);
    let directory = tempfile::tempdir().unwrap();
    let alone = Store::create(directory.path(), store.params()).unwrap();
    let pending: Vec<_> = all
        .iter()
        .map(|(key, text, ..)| {
            alone.submit(alone.prepare(&NewDocument::text(key, None, text)).unwrap()).unwrap()
        })
        .collect();
    for added in pending {
        added.wait().unwrap();
    }
    assert_eq!(all, standings(&alone));
}
