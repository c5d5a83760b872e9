//! A target of cargo-fuzz, as it is:
//!
//!     cd fuzz && teasel cargo build --release
//!     teasel native -- target/x86_64-unknown-linux-gnu/release/name
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    record::name(data);
});
