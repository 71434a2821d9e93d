/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/decimal.h"

#include <string.h>

/* From 00 to 99: two digits by one division. */
static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

/* Where the digits end that stand before at from there on. */
static char *put_before(char *at, uint64_t word)
{
	for (; word >= 100; word /= 100) {
		at -= 2;
		memcpy(at, &pairs[2 * (word % 100)], 2);
	}
	if (word >= 10)
		*--at = pairs[2 * word + 1];
	*--at = (char)('0' + (word >= 10 ? word / 10 : word));
	return at;
}

const char *decimal_text(uint64_t word, bool is_signed, char ret[DECIMAL_SIZE])
{
	const bool negative = is_signed && (int64_t)word < 0;
	char *at = ret + DECIMAL_SIZE - 1;

	*at = '\0';
	at = put_before(at, negative ? -word : word);
	if (negative)
		*--at = '-';
	return at;
}

static unsigned digits_of(uint64_t word)
{
	unsigned count = 1;

	for (; word >= 10000; word /= 10000)
		count += 4;
	return count + (word >= 10) + (word >= 100) + (word >= 1000);
}

char *decimal_put(char *at, uint64_t word)
{
	char *const end = at + digits_of(word);

	(void)put_before(end, word);
	return end;
}

char *decimal_put_pair(char *at, unsigned number)
{
	memcpy(at, &pairs[2 * number], 2);
	return at + 2;
}
