/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DECIMAL_H
#define CALLTRAP_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#define DECIMAL_SIZE 21 /* a sign or 20 digits, and the NUL */

/*
 * What printf() makes of it with %lld or %llu, in a tenth of the time. The text
 * lies somewhere in ret.
 */
const char *decimal_text(uint64_t word, bool is_signed, char ret[DECIMAL_SIZE]);

/* The same, of a number without a sign: to at. Returns where its digits end. */
char *decimal_put(char *at, uint64_t word);

/* Two digits, of a number below 100; returns where they end. */
char *decimal_put_pair(char *at, unsigned number);

#endif
