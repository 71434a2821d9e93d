/* SPDX-License-Identifier: GPL-2.0-or-later */

long f1(long i)
{
	__asm__ volatile("");
	return i + 1;
}
