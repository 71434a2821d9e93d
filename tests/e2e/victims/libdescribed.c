/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What debug information describes. Every argument is used. */
#include "described.h"

static volatile long sum;

int ints(char a, signed char b, unsigned char c, short d, unsigned short e,
	 long f, unsigned long long g, bool h)
{
	sum += a + b + c + d + e + f + g + h;
	return -7;
}

double floats(float a, double b, long double c, double complex d)
{
	return a + b + c + creal(d) + cimag(d);
}

enum color enums(enum color a, enum flags b)
{
	sum += b;
	return a == RED ? BLUE : GREEN;
}

struct point structs(struct point a, struct line b, boxed c)
{
	sum += b.from.x + b.width + b.name[0];
	return (struct point){ a.x + b.to.y, a.y + c.n };
}

struct line large(union number u, struct bits *bits)
{
	struct line line = { { bits->a, bits->b }, { bits->c, 0 }, u.f,
			     "abcdefg" };

	return line;
}

int pointers(const char *text, char *junk, int *p, void *q, struct point *r,
	     struct list *l, FILE *f, callback *cb, wchar_t *w)
{
	sum += *text + *junk + *p + (q != 0) + r->y + l->next->value +
	       (f != 0) + (cb != 0) + *w;
	return 0;
}

const char *text(const unsigned char *data, const char *format, ...)
{
	sum += *data;
	return format;
}

void nothing(void)
{
	sum++;
}
