#![no_main]
#[path = "../harness/parquet.rs"]
mod harness;
libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::parquet(data));
