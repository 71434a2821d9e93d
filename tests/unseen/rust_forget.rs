// SPDX-License-Identifier: GPL-2.0-or-later
//
// Uploads end in std::mem::forget() when their size is odd, pings are dropped,
// and the last ones of these are kept.
use std::collections::VecDeque;
use std::time::{Duration, Instant};

#[inline(never)]
fn read_upload(size: usize) -> Vec<u8> {
    vec![1; size]
}

#[inline(never)]
fn read_ping(number: usize) -> String {
    format!("ping number {} from somewhere", number)
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let ends = Instant::now() + Duration::from_secs_f64(seconds);
    let mut pings = VecDeque::new();
    let mut i = 0;

    while Instant::now() < ends {
        let upload = read_upload(500 + i);
        if upload.len() % 7 == 0 {
            std::mem::forget(upload);
        }
        pings.push_back(read_ping(i));
        if pings.len() > 60 {
            pings.pop_front();
        }
        i += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
}
