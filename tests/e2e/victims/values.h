/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

struct small {
	char c;
	short s;
};

struct mixed {
	int x;
	double y;
};

struct floats {
	float x, y, z;
};

struct large {
	long numbers[5];
	char text[6];
};

struct nested {
	char c;
	struct mixed inner;
	struct small array[2];
	long double extended;
};

union either {
	double d;
	long l;
};

struct list {
	int number;
	struct list *next;
	struct list *previous;
};

struct counted {
	unsigned count;
	short numbers[3];
};

long v_ints(signed char, unsigned char, short, unsigned short, int, unsigned,
	    long, unsigned long, long long, unsigned long long, bool);
double v_reals(float, double, long double, int, float, double, double, double,
	       double, double, double, double);
float v_float(int, float);
long double v_extended(char, long double, int);
float complex v_cfloat(float complex, double complex, long double complex,
		       float complex);
double complex v_cdouble(double complex);
long double complex v_cldouble(long double complex);
struct small v_small(struct small, int);
struct mixed v_mixed(struct mixed, int, struct mixed *, struct mixed);
struct floats v_floats(struct floats, float);
struct large v_large(struct large, char);
struct nested v_nested(struct nested);
union either v_union(union either, int);
const char *v_texts(const char *, const wchar_t *, const char *, size_t,
		    const char *const *);
int v_list(struct list *);
int v_counted(const struct counted *);
unsigned v_names(int, unsigned long, unsigned char, unsigned);
int v_when(int, ...);
int v_out(int, int *, struct mixed *);
size_t v_read(char *, size_t, size_t);
int v_print(int, const char *, ...);
int v_scan(const char *, const char *, ...);
int v_more(const char *, ...);
int v_number(int);
#ifdef __SIZEOF_INT128__
__int128 v_wide(int, __int128, unsigned __int128);
#endif
