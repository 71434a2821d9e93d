/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For tests/aarch64.sh: a 32-bit program, exit(3). */
void _start(void)
{
	register long number __asm__("r7") = 1;
	register long status __asm__("r0") = 3;

	__asm__ volatile("svc #0" : : "r"(number), "r"(status));
}
