#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| wonbon_testkit::harness::difference_of_halves(data));
