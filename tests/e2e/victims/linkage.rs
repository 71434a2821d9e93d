// SPDX-License-Identifier: GPL-2.0-or-later
// A Rust program that calls libt's f1 and makes and drops boxes.

use std::hint::black_box;

#[link(name = "t")]
extern "C" {
    fn f1(i: i64) -> i64;
}

fn main() {
    let mut calls = 0;
    let mut wrong = 0;
    for i in 0..100 {
        calls += 1;
        if unsafe { f1(i) } != i + 1 {
            wrong += 1;
        }
    }
    for i in 0..50 {
        drop(black_box(Box::new(i)));
    }
    println!("count MAIN f1 {}\ncount MAIN boxes 50", calls);
    std::process::exit(if wrong == 0 { 7 } else { 1 });
}
