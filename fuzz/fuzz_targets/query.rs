#![no_main]
#[path = "../harness/query.rs"]
mod harness;
libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::query(data));
