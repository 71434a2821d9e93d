/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_VALUE_STYLE_H
#define CALLTRAP_VALUE_STYLE_H

#include <stdbool.h>

/* The letters that values are written in, as text. */
struct value_style {
	const char *nil;  /* a null pointer to something that is shown */
	const char *null; /* … that is an address and no more */
	const char *open_struct, *close_struct;
	const char *open_array, *close_array;
	bool names;          /* of parameters and members: fd=3 */
	bool quotes;         /* a " in a string has a \ in front */
	bool addressed_text; /* what is behind the address of strdup's result */
	bool octal_zeros;    /* 00 */
	bool fixed_reals;    /* 1.500000, not as few digits as it takes */
	bool raw_results;    /* numbers as they were returned, errors without
			     names */
};

#define VALUE_STYLE_OWN                                                     \
	{                                                                   \
		.nil = "nil", .null = "nil", .open_struct = "{",            \
		.close_struct = "}", .open_array = "[", .close_array = "]", \
		.names = true, .quotes = true, .addressed_text = true,      \
	}

extern const struct value_style value_style_own;

#endif
