/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

enum color { RED, GREEN, BLUE = 7 };
enum flags { READ = 1, WRITE = 2, EXEC = 4, SYNC = 16 };

struct point {
	int x, y;
};

struct line {
	struct point from, to;
	double width;
	char name[8];
};

struct list {
	struct list *next;
	int value;
	const char *text;
};

struct bits {
	unsigned a : 3;
	int b : 5;
	unsigned c : 20;
};

union number {
	int i;
	float f;
};

typedef int callback(int, void *);
typedef struct {
	long n;
} boxed;

int ints(char a, signed char b, unsigned char c, short d, unsigned short e,
	 long f, unsigned long long g, bool h);
double floats(float a, double b, long double c, double complex d);
enum color enums(enum color a, enum flags b);
struct point structs(struct point a, struct line b, boxed c);
struct line large(union number u, struct bits *bits);
int pointers(const char *text, char *junk, int *p, void *q, struct point *r,
	     struct list *l, FILE *f, callback *cb, wchar_t *w);
const char *text(const unsigned char *data, const char *format, ...);
void nothing(void);
