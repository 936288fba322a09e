//! Any bytes on standard input: every line is a message, a refusal that is itself a line of
//! JSON, or nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_server::transport::decode::{Incoming, decode};
use rutter_server::transport::stdio::{Line, LineReader};

fuzz_target!(|input: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut reader = LineReader::new(input, 64);
        let mut taken = 0;
        loop {
            match reader.next().await.unwrap() {
                Line::Whole(line) => {
                    assert!(line.len() <= 64);
                    taken += line.len();
                    if let Incoming::Refused(refusal) = decode(line) {
                        let bytes = refusal.to_bytes();
                        assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 1);
                        serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
                    }
                }
                Line::TooLong => {}
                Line::End => break,
            }
        }
        assert!(taken <= input.len());
    });
});
