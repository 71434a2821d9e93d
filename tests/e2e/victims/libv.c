/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two versions of a function, two names of another, and an IFUNC. */

#define KEEP __attribute__((noinline))

KEEP long foo_old(long i) { __asm__ volatile(""); return i + 1; }
KEEP long foo_new(long i) { __asm__ volatile(""); return i + 2; }
__asm__(".symver foo_old, foo@V1");
__asm__(".symver foo_new, foo@@V2");

KEEP long twin(long i) { __asm__ volatile(""); return i + 3; }
long __twin_internal(long i) __attribute__((alias("twin")));

KEEP static long chosen_impl(long i) { __asm__ volatile(""); return i + 4; }
static long (*chosen_resolver(void))(long) { return chosen_impl; }
long chosen(long i) __attribute__((ifunc("chosen_resolver")));
