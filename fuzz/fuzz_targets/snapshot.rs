#![no_main]
#[path = "../harness/snapshot.rs"]
mod harness;
libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::snapshot(data));
