// SPDX-License-Identifier: GPL-2.0-or-later
// Rust names: a function of a module, a method.

use std::hint::black_box;

mod space {
    #[inline(never)]
    pub fn plain(i: u64) -> u64 {
        std::hint::black_box(i) + 1
    }

    pub struct Thing(pub u64);

    impl Thing {
        #[inline(never)]
        pub fn method(&self, i: u64) -> u64 {
            std::hint::black_box(self.0) + i
        }
    }
}

fn main() {
    let thing = space::Thing(black_box(3));
    let mut sum = 0;
    for i in 0..30 {
        sum += space::plain(i);
    }
    for i in 0..40 {
        sum += thing.method(i);
    }
    println!("sum {}", sum);
    std::process::exit(7);
}
