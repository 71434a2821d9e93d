/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_AGENT_DICE_H
#define CALLTRAP_AGENT_DICE_H

#include <stdint.h>

/*
 * Distances that are exponential with a given mean, in whole numbers alone:
 * floating-point registers are the program's.
 */

__extension__ typedef unsigned __int128 dice_wide;

#define DICE_STEP 0x9e3779b97f4a7c15ull

/* As of splitmix64; the state goes on by DICE_STEP. */
static inline uint64_t dice_throw(uint64_t state)
{
	state += DICE_STEP;
	state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ull;
	state = (state ^ state >> 27) * 0x94d049bb133111ebull;
	return state ^ state >> 31;
}

#define DICE_BITS 32 /* behind the point */

/*
 * The binary logarithm of a number between 1 and 2 (64 bits, the highest of
 * them before the point): each time that it is squared tells one more bit.
 */
static inline uint64_t dice_log2(uint64_t number)
{
	uint64_t bits = 0;
	unsigned i;

	for (i = 0; i < DICE_BITS; i++) {
		const uint64_t square =
			(uint64_t)((dice_wide)number * number >> 64);

		bits = bits << 1 | square >> 63;
		number = square >> 63 ? square : square << 1;
	}
	return bits;
}

/* -ln(random / 2^64) times the mean, which has 40 bits at most. */
static inline uint64_t dice_distance(uint64_t random, uint64_t mean)
{
	const uint64_t ln_2 = 2977044472; /* times 2^DICE_BITS */
	const unsigned zeros = random ? (unsigned)__builtin_clzll(random) : 63;
	const uint64_t log2 = ((uint64_t)(zeros + 1) << DICE_BITS) -
			      dice_log2(random << zeros);
	const uint64_t ln = (uint64_t)((dice_wide)log2 * ln_2 >> DICE_BITS);

	return (uint64_t)((dice_wide)ln * mean >> DICE_BITS);
}

#endif
