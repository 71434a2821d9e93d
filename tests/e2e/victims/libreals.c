/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "reals.h"

double mix(int a, double b, const char *text, float c, long d, double e)
{
	return a + b + text[0] + c + (double)d + e;
}

float narrow(float a, double b)
{
	return a * (float)b;
}

double four(double a, double b, double c, double d)
{
	return a - b - c - d;
}

double five(double a, double b, double c, double d, double e)
{
	return a - b - c - d - e;
}

double six_and_four(long a, double b, long c, double d, long e, double f,
		    long g, double h, long i, long j)
{
	return (double)(a + c + e + g + i + j) + b + d + f + h;
}

double stacked(long a, long b, long c, long d, long e, long f, long g, double h)
{
	return (double)(a - b + c - d + e - f + g) + h;
}

long rounded(double a)
{
	return (long)a;
}

static volatile double kept;

void nothing(double a)
{
	kept = a;
}

double from_nothing(void)
{
	return kept;
}

long double wide(long double a, double b)
{
	return a * b;
}

/* A jump. */
double goes_on(double a, double b)
{
	return four(b, a, 1, 0);
}
