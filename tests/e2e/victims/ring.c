/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts into its link map what is none, tells debuggers of the change, and
 * repairs it. Its argument says what: "ring" of invented entries, "long" list
 * of them, "copies" of one entry in a ring, "self": r_next points to itself,
 * "wild": a pointer to nowhere. Or it takes out a library that is still there:
 * "cut", or all that follow the program, "none"; or it says that they are
 * elsewhere, "moved".
 */

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long f1(long i);

#define ENTRIES 20000

static struct link_map entries[ENTRIES];

static void link_entries(int invented, struct link_map *last)
{
	for (int i = 0; i < ENTRIES; i++) {
		entries[i] = *_r_debug.r_map;
		if (invented) {
			entries[i].l_addr = i;
			entries[i].l_ld = (void *)(0x100000000000 + i * 16L);
		}
		entries[i].l_next = i + 1 < ENTRIES ? &entries[i + 1] : last;
	}
}

static struct link_map *damage(const char *how)
{
	if (!strcmp(how, "wild"))
		return (struct link_map *)0x1000;
	if (!strcmp(how, "self"))
		return NULL;
	link_entries(strcmp(how, "copies") != 0,
		     strcmp(how, "long") ? entries : NULL);
	return entries;
}

static void tell(void)
{
	((void (*)(void))_r_debug.r_brk)();
}

static int call(void)
{
	int wrong = 0;

	for (int i = 0; i < 10; i++)
		wrong += f1(i) != i + 1;
	return wrong;
}

/* Calls while the list doesn't have the library, and when it has it again. */
static int hide(const char *how)
{
	struct link_map *all = _r_debug.r_map, *before = all, *map, *rest;
	int wrong = call();

	while (!strstr(before->l_next->l_name, "libt.so"))
		before = before->l_next;
	map = before->l_next;
	if (!strcmp(how, "none"))
		before = all;
	rest = before->l_next;
	if (!strcmp(how, "moved"))
		map->l_addr += 4096;
	else
		before->l_next = strcmp(how, "none") ? map->l_next : NULL;
	tell();
	wrong += call();
	if (!strcmp(how, "moved"))
		map->l_addr -= 4096;
	before->l_next = rest;
	tell();
	wrong += call();
	printf("count MAIN f1 30\n");
	return wrong ? 1 : 7;
}

int main(int argc, char **argv)
{
	struct r_debug_extended *extended = (void *)&_r_debug;
	struct link_map *last = _r_debug.r_map;
	struct r_debug_extended *next = extended->r_next;
	int version = _r_debug.r_version, wrong = 0;

	if (argc < 2)
		return 1;
	if (!strcmp(argv[1], "cut") || !strcmp(argv[1], "none") ||
	    !strcmp(argv[1], "moved"))
		return hide(argv[1]);
	while (last->l_next)
		last = last->l_next;
	last->l_next = damage(argv[1]);
	if (!strcmp(argv[1], "self")) {
		_r_debug.r_version = 2;
		extended->r_next = extended;
	}
	tell();
	tell();
	last->l_next = NULL;
	if (!strcmp(argv[1], "self")) {
		extended->r_next = next;
		_r_debug.r_version = version;
	}
	tell();
	for (int i = 0; i < 10; i++)
		wrong += f1(i) != i + 1;
	printf("count MAIN f1 10\n");
	return wrong ? 1 : 7;
}
