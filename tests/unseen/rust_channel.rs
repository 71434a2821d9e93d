// SPDX-License-Identifier: GPL-2.0-or-later
//
// A channel between two threads, whose receiver sleeps for up to three seconds
// and then takes everything.
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

#[inline(never)]
fn new_parcel(number: usize) -> Box<[u8]> {
    vec![number as u8; 300].into_boxed_slice()
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let ends = Instant::now() + Duration::from_secs_f64(seconds);
    let (sender, receiver) = mpsc::channel::<Box<[u8]>>();
    let consumer = thread::spawn(move || {
        let mut nap: u64 = 1;
        let mut sum = 0;
        while let Ok(parcel) = receiver.recv() {
            sum += parcel.len();
            while let Ok(next) = receiver.try_recv() {
                sum += next.len();
            }
            thread::sleep(Duration::from_millis(nap % 3000));
            nap = (nap * 7 + 1) % 10007;
        }
        sum
    });
    let mut i = 0;

    while Instant::now() < ends {
        sender.send(new_parcel(i)).unwrap();
        i += 1;
        thread::sleep(Duration::from_millis(30));
    }
    drop(sender);
    consumer.join().unwrap();
}
