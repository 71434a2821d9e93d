// SPDX-License-Identifier: GPL-2.0-or-later
// A stack of Rust frames: a generic function, a closure, a trait's method.

#[no_mangle]
#[inline(never)]
pub extern "C" fn probe_here() {
    std::hint::black_box(0);
}

mod space {
    pub trait Walk {
        fn walk(&self, depth: u32) -> u32;
    }

    pub struct Thing;

    impl Walk for Thing {
        #[inline(never)]
        fn walk(&self, depth: u32) -> u32 {
            super::probe_here();
            std::hint::black_box(depth) + 1
        }
    }

    #[inline(never)]
    pub fn generic<W: Walk>(walker: &W, depth: u32) -> u32 {
        std::hint::black_box(walker.walk(depth)) + 1
    }
}

fn main() {
    let call: Box<dyn Fn(u32) -> u32> =
        Box::new(|n| space::generic(&space::Thing, n) + 1);
    std::hint::black_box(std::hint::black_box(call)(3));
}
