#![no_main]
#[allow(dead_code, reason = "the fuzzer never ends")]
#[path = "../harness/request.rs"]
mod harness;
libfuzzer_sys::fuzz_target!(|data: &[u8]| harness::request(data));
