/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exports an IFUNC, and calls it through its own PLT. */

static int one_more(int number)
{
	return number + 1;
}

static int (*resolve(void))(int)
{
	return one_more;
}

int picked(int number) __attribute__((ifunc("resolve")));

int use(int number)
{
	return picked(number) * 2;
}
