/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ltrace.h"

#include <string.h>

#define TAKES(name, ...)                \
	void name(__VA_ARGS__)          \
	{                               \
		__asm__ volatile("");   \
	}

TAKES(take_ints, int a, unsigned b, long c, unsigned long d, short e,
      unsigned short f)
TAKES(take_chars, char a, char b, char c, char d)
TAKES(take_reals, float a, double b)
TAKES(take_strings, const char *a, const char *b, const char *c)
TAKES(take_counted, int n, const char *a, const char *b)
TAKES(take_addresses, void *a, void *b)
TAKES(take_based, int a, int b, int c, double d)
TAKES(take_bools, int a, int b)
TAKES(take_bits, unsigned a, unsigned long b)
TAKES(take_colors, enum color a, enum color b, enum color c)
TAKES(take_whole, const struct whole *a)
TAKES(take_part, struct part a)
TAKES(take_arrays, const int *a, const int *b, const double *c)
TAKES(take_zeros, const int *a)
TAKES(take_names, const char *const *a)
TAKES(take_hidden, int a, int b, int c)
TAKES(take_pointers, const int *a, const char *b)
TAKES(take_format, int a, const char *format, ...)
TAKES(take_nothing, void)

void give_out(int in, int *out, char *text)
{
	*out = 2 * in;
	strcpy(text, "filled");
}

struct part give_part(int n)
{
	struct part part = { n, "xyz" };

	return part;
}

const char *give_string(void)
{
	return "given";
}

double give_double(void)
{
	return 2.25;
}

float give_float(void)
{
	return 1.5f;
}

char give_char(void)
{
	return 'Z';
}

int give_minus_one(void)
{
	return -1;
}

const int *give_pointer(void)
{
	static const int value = 42;

	return &value;
}

enum color give_color(void)
{
	return GREEN;
}

unsigned give_unsigned(void)
{
	return 4000000000u;
}

static __attribute__((noinline)) int inner(int n)
{
	__asm__ volatile("");
	return n * 2;
}

int nest(int n)
{
	return n ? nest(n - 1) + 1 : inner(5);
}

int call_back(int (*function)(int), int n)
{
	return function(n) + 1;
}
