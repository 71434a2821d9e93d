/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that take and return values of every kind. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

long v_ints(signed char a, unsigned char b, short c, unsigned short d, int e,
	    unsigned f, long g, unsigned long h, long long i,
	    unsigned long long j, bool k)
{
	return a + b + c + d + e + f + g + h + i + j + k ? -77 : 0;
}

double v_reals(float a, double b, long double c, int d, float e, double f,
	       double g, double h, double i, double j, double k, double l)
{
	return a + b + c + d + e + f + g + h + i + j + k + l;
}

float v_float(int a, float b)
{
	return a * b;
}

long double v_extended(char a, long double b, int c)
{
	return a == 'x' ? b * c : 0;
}

float complex v_cfloat(float complex a, double complex b,
		       long double complex c, float complex d)
{
	return a + b + c + d;
}

double complex v_cdouble(double complex a)
{
	return a * 2;
}

long double complex v_cldouble(long double complex a)
{
	return a * 2;
}

struct small v_small(struct small a, int b)
{
	a.s += b;
	return a;
}

struct mixed v_mixed(struct mixed a, int b, struct mixed *c, struct mixed d)
{
	return (struct mixed){ a.x + b + c->x, d.y };
}

struct floats v_floats(struct floats a, float b)
{
	return (struct floats){ a.x * b, a.y * b, a.z * b };
}

struct large v_large(struct large a, char b)
{
	a.text[0] = b;
	return a;
}

struct nested v_nested(struct nested a)
{
	a.inner.x++;
	return a;
}

union either v_union(union either a, int b)
{
	a.d *= b;
	return a;
}

const char *v_texts(const char *a, const wchar_t *b, const char *c, size_t d,
		    const char *const *e)
{
	return a && b && c && d && e ? a : NULL;
}

int v_list(struct list *a)
{
	return a->number;
}

int v_counted(const struct counted *a)
{
	return a->count;
}

unsigned v_names(int a, unsigned long b, unsigned char c, unsigned d)
{
	return a + b + c + d ? d : 0;
}

int v_when(int a, ...)
{
	return a;
}

int v_out(int a, int *b, struct mixed *c)
{
	*b = a * 2;
	*c = (struct mixed){ a, a / 2.0 };
	return 22;
}

size_t v_read(char *a, size_t b, size_t c)
{
	memset(a, 'r', b * c);
	return c / 2;
}

int v_print(int a, const char *format, ...)
{
	char text[1000];
	va_list list;

	va_start(list, format);
	a += vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return a;
}

int v_scan(const char *text, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsscanf(text, format, list);
	va_end(list);
	return n;
}

int v_more(const char *a, ...)
{
	return strlen(a);
}

int v_number(int a)
{
	return a;
}

#ifdef __SIZEOF_INT128__
__int128 v_wide(int a, __int128 b, unsigned __int128 c)
{
	return a + b - (c ? 1 : 0);
}
#endif
