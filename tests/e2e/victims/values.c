/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls each function of libvalues, and prints what calltrap must log of it:
 * with its own printf, from the values that it passes and gets.
 */
#include "values.h"

#include <stdio.h>
#include <string.h>

static void numbers(void)
{
	unsigned long most = -1;
	long result = v_ints(-1, 200, -300, 60000, -5, 4000000000u, -7, most,
			     -1ll << 40, -2ull, true);

	printf("v_ints(%d, %d, %d, %d, %d, %u, %d, %lu, %lld, %llu, true) = "
	       "%ld\n", -1, 200, -300, 60000, -5, 4000000000u, -7, most,
	       -1ll << 40, -2ull, result);
	printf("v_reals(%g, %g, %Lg, %d, %g, %g, %g, %g, %g, %g, %g, %g) = "
	       "%g\n", 0.5, -1.25, 1.5L, 3, 0.75, 1.5, 2.5, 3.5, 4.5, 5.5,
	       6.5, 8.25,
	       v_reals(0.5, -1.25, 1.5, 3, 0.75, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5,
		       8.25));
	printf("v_float(%d, %g) = %g\n", 3, 0.1, v_float(3, 0.1f));
	printf("v_extended('%c', %.19Lg, %d) = %.19Lg\n", 'x', 0.1L, 25,
	       v_extended('x', 0.1L, 25));
}

static void complex_numbers(void)
{
	float complex a = 1.5f - 2.5f * I, d = 0.25f + 0.5f * I;
	double complex b = -3.5 + 4.5 * I;
	long double complex c = 5.5L - 6.5L * I;
	float complex sum = v_cfloat(a, b, c, d);
	double complex b2 = v_cdouble(b);
	long double complex c2 = v_cldouble(c);

	printf("v_cfloat(%g%+gi, %g%+gi, %Lg%+Lgi, %g%+gi) = %g%+.1fi\n",
	       crealf(a), cimagf(a), creal(b), cimag(b), creall(c), cimagl(c),
	       crealf(d), cimagf(d), crealf(sum), cimagf(sum));
	printf("v_cdouble(%g%+gi) = %.1f%+.1fi\n", creal(b), cimag(b),
	       creal(b2), cimag(b2));
	printf("v_cldouble(%Lg%+Lgi) = %.1Lf%+.1Lfi\n", creall(c), cimagl(c),
	       creall(c2), cimagl(c2));
}

static void structs(void)
{
	struct small s = { 's', -12 }, s2 = v_small(s, 2);
	struct mixed m = { 7, 0.5 }, n = { 8, -2.5 };
	struct mixed m2 = v_mixed(m, 1, &n, n);
	struct floats f = { 0.5, 1.5, 2.5 }, f2 = v_floats(f, 3);

	printf("v_small({c='%c', s=%d}, 2) = {c='%c', s=%d}\n", s.c, s.s,
	       s2.c, s2.s);
	printf("v_mixed({x=%d, y=%g}, 1, {x=%d, y=%g}, {x=%d, y=%g}) = "
	       "{x=%d, y=%g}\n", m.x, m.y, n.x, n.y, n.x, n.y, m2.x, m2.y);
	printf("v_floats({%g, %g, %g}, %.1f) = {%g, %g, %g}\n", f.x, f.y,
	       f.z, 3.0, f2.x, f2.y, f2.z);
}

static void show_large(const char *before, const struct large *l)
{
	printf("%s{numbers=[%ld, %ld, %ld, %ld...], text=\"%s\"}", before,
	       l->numbers[0], l->numbers[1], l->numbers[2], l->numbers[3],
	       l->text);
}

static void show_nested(const char *before, const struct nested *n)
{
	printf("%s{'%c', inner={x=%d, y=%g}, array=[{c='%c', s=%d}, {c='%c', "
	       "s=%d}], extended=%Lg}", before, n->c, n->inner.x, n->inner.y,
	       n->array[0].c, n->array[0].s, n->array[1].c, n->array[1].s,
	       n->extended);
}

static void large_structs(void)
{
	struct large l = { { 1, -2, 3, -4, 5 }, "large" };
	struct large l2 = v_large(l, 'L');
	struct nested n = { 'n', { 3, 4.5 }, { { 'a', 1 }, { 'b', 2 } },
			    8.5L };
	struct nested n2 = v_nested(n);
	union either e = { .d = 1.5 }, e2 = v_union(e, 3);

	show_large("v_large(", &l);
	show_large(", 'L') = ", &l2);
	show_nested("\nv_nested(", &n);
	show_nested(") = ", &n2);
	printf("\nv_union({d=%g, l=%ld}, 3) = {d=%g, l=%ld}\n", e.d, e.l,
	       e2.d, e2.l);
}

static void texts(void)
{
	const char *texts[] = { "one", "two", NULL };
	struct list list[5] = { { 0 } };
	struct counted counted = { 2, { 5, -6, 7 } };

	v_texts("plain \"text\"\n", L"w\u00efde", "cut here", 3, texts);
	printf("v_texts(\"plain \\\"text\\\"\\n\", \"w\\u00efde\", \"cut\", "
	       "3, [\"one\", \"two\"]) = \"plain \\\"text\\\"\\n\"\n");
	for (int i = 0; i < 5; i++) {
		list[i].number = 9 - i;
		list[i].next = i < 4 ? &list[i + 1] : NULL;
		list[i].previous = i ? &list[i - 1] : NULL;
	}
	printf("v_list({9, {8, {7, {6, ..., recurse^}, recurse^}, recurse^}, "
	       "nil}) = %d\n", v_list(list));
	list[0].next = &list[0];
	printf("v_list({9, recurse, nil}) = %d\n", v_list(list));
	printf("v_counted({2, [5, -6]}) = %d\n", v_counted(&counted));
}

static void names(void)
{
	printf("v_names(GREEN, READ|EXEC|0x80, 0b101, <0,4-7>) = 0x%x\n",
	       v_names(5, 0x85, 5, 0xf1));
	printf("v_names(7, NONE, 0, <>) = 0\n");
	v_names(7, 0, 0, 0);
	printf("v_when(%d, 0644) = %d\n", 5, v_when(5, 0644));
	printf("v_when(%d) = %d\n", 1, v_when(1, 0644));
	printf("v_when(%d, 'x') = %d\n", 2, v_when(2, 0, 'x'));
	printf("v_when(%d, 07, 'y') = %d\n", 6, v_when(6, 7, 'y'));
}

static void out(void)
{
	char buffer[100], word[20];
	struct mixed m;
	int number, result = v_out(9, &number, &m);
	size_t got;
	double real;

	printf("v_out(in=%d, %d, {x=%d, y=%g}) = %d EINVAL\n", 9, number, m.x,
	       m.y, result);
	got = v_read(buffer, 2, 6);
	printf("v_read(\"%.*s\", 2, 6) = %zu\n", (int)(2 * got), buffer, got);
	printf("v_print(1, \"%%d %%s %%.1f %%Lf %%5c %%*d %%ls %%lld\", -2, "
	       "\"text\", 2.5, 0.125, 'c', 4, 7, \"wide\", -5000000000) = "
	       "%d\n", v_print(1, "%d %s %.1f %Lf %5c %*d %ls %lld", -2,
			       "text", 2.5, 0.125L, 'c', 4, 7, L"wide",
			       -5000000000ll));
	result = v_scan("12 x 0.5 word", "%d x %lf %19s", &number, &real,
			word);
	printf("v_scan(\"12 x 0.5 word\", \"%%d x %%lf %%19s\", %d, %g, "
	       "\"%s\") = %d\n", number, real, word, result);
	result = v_scan("13 y", "%d x %lf", &number, &real);
	printf("v_scan(\"13 y\", \"%%d x %%lf\", %d, %p) = %d\n", number,
	       (void *)&real, result);
	printf("v_more(\"first\", ...) = %d\n", v_more("first", 1, 2));
	printf("v_number(0x%x) = %d\n", -1, v_number(-1));
}

static void wide(void)
{
#ifdef __SIZEOF_INT128__
	v_wide(3, (__int128)1 << 64, -(unsigned __int128)1);
	printf("v_wide(3, 18446744073709551616, "
	       "340282366920938463463374607431768211455) = "
	       "18446744073709551618\n");
#endif
}

int main(void)
{
	numbers();
	complex_numbers();
	structs();
	large_structs();
	texts();
	names();
	out();
	wide();
	return 0;
}
