#![no_main]
#[path = "../harness/tokens.rs"]
mod harness;
libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::tokens(data));
