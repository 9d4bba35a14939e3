#![recursion_limit = "256"] // Futures of resolvers nest deeply.
#![no_main]

#[path = "../checks.rs"]
#[allow(dead_code)] // Each target has its own check.
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::entities(bytes));
