/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/decimal.h"

const char *decimal_text(uint64_t word, bool is_signed, char ret[DECIMAL_SIZE])
{
	const bool negative = is_signed && (int64_t)word < 0;
	char *at = ret + DECIMAL_SIZE - 1;

	*at = '\0';
	if (negative)
		word = -word;
	do
		*--at = (char)('0' + word % 10);
	while (word /= 10);
	if (negative)
		*--at = '-';
	return at;
}
