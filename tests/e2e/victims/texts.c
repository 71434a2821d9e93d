/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * texts ROUNDS [names]: calls functions of strings, often with strings behind which
 * there is no memory. Some have no end there: the function has to find another
 * reason to stop.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

void *__memcpy_chk(void *, const void *, size_t, size_t);
char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);

static char *edge; /* nothing can be read from here on */

static char *at_edge(const char *bytes, size_t size)
{
	return memcpy(edge - size, bytes, size);
}

static void *volatile sink;
static volatile size_t number;

static void lengths(void)
{
	number = strlen(at_edge("short", 6));
	number = strlen("a string that is longer than what is shown of it");
	number = strlen("");
	number = strnlen(at_edge("no end", 6), 6);
	number = strnlen(NULL, 0);
	number = atoi(at_edge("4711", 5));
	number = (size_t)atol("-12x");
}

static void comparisons(void)
{
	number = strcmp(at_edge("alpha", 6), "alpha");
	number = strcmp(at_edge("x", 1), "y");
	number = strncmp(at_edge("abc", 3), "abcdef", 3);
	number = strncmp(NULL, NULL, 0);
	number = strcasecmp("Left", "lEFT");
	number = strncasecmp(at_edge("Right", 5), "rIGHTer", 5);
	number = memcmp(at_edge("\1\0\2", 3), "\1\0\3", 3);
	number = memcmp(NULL, NULL, 0);
}

static void searches(void)
{
	sink = strchr(at_edge("a=b", 4), '=');
	sink = strchr(at_edge("a=b", 3), '=');
	sink = strchr("nothing", '#');
	sink = strrchr("a/b/c", '/');
	sink = memchr(at_edge("12345", 5), '3', 5);
	number = strcspn("key: value", ":");
	sink = getenv("TEXTS_OF_TESTS");
	sink = getenv("THERE_IS_NONE");
}

static void copies(void)
{
	static char room[64];
	char *copy = strdup(at_edge("to be copied", 13)), *part;

	part = strndup(at_edge("half of it", 10), 4);
	sink = strcpy(room, copy);
	sink = stpcpy(room, part);
	sink = memcpy(room, at_edge("\0bytes\377", 7), 7);
	free(part);
	free(copy);
}

static void collated(void)
{
	mbstate_t state = { 0 };
	wchar_t wide;

	number = strcoll(at_edge("alpha", 6), "alpha");
	number = strcoll(at_edge("x", 2), "y");
	sink = strchrnul(at_edge("a=b", 4), '=');
	sink = strchrnul(at_edge("a=b", 3), '=');
	sink = strchrnul("nothing", '#');
	number = mbrtowc(&wide, at_edge("no end", 6), 6, &state);
	number = mbrtowc(&wide, "", 1, &state);
	number = mbrtowc(&wide, edge, 0, &state);
	number = mbrtowc(NULL, NULL, 0, &state);
	number = mbrlen(at_edge("no", 2), 2, &state);
}

static void checked(void)
{
	static char room[64];

	sink = __strcpy_chk(room, at_edge("checked", 8), sizeof(room));
	sink = __stpcpy_chk(room, "again", sizeof(room));
	sink = __memcpy_chk(room, at_edge("\0bytes\377", 7), 7, sizeof(room));
}

static void moves(void)
{
	static char room[64] = "what overlaps itself";

	sink = memmove(room + 3, room, 20);
	sink = memmove(room, room + 3, 20);
	sink = memmove(edge - 4, "abcd", 4);
	sink = memmove(edge, edge, 0);
	errno = ENOENT;
	number = errno;
}

/* The kernel reads them, and may find nothing. */
static void names(void)
{
	DIR *folder = opendir("/proc/self/fdinfo/..");
	struct stat found;
	int i;

	for (i = 0; folder && i < 20; i++)
		sink = readdir(folder);
	if (folder)
		closedir(folder);
	number = access(at_edge("/", 2), F_OK);
	number = access(edge, F_OK);
	number = access(at_edge("/proc", 5), F_OK);
	number = access("/there is none", F_OK);
	number = stat("/", &found);
	number = lstat("", &found);
	number = fstatat(AT_FDCWD, "/proc", &found, 0);
	number = fstatat(AT_FDCWD, NULL, &found, 0);
	number = unlink("/there/is/none");
}

/* Which needn't be read, or say afterwards where they have stopped. */
static void looked_at(void)
{
	char room[32] = "begin";
	char *end;

	sink = strpbrk(at_edge("a=b", 3), "=#");
	sink = strpbrk("a=b", "=#");
	sink = strpbrk(at_edge("text", 5), "#");
	sink = strpbrk("text", "");
	number = strspn("  x", " ");
	number = strspn("", "x");
	number = strspn(at_edge("  x", 3), " ");
	sink = strstr("haystack", "st");
	sink = strstr("haystack", "needle");
	sink = strcasestr("haystack", "STACK");
	sink = memrchr(at_edge("a/b/c", 5), '/', 5);
	sink = strcat(room, at_edge(" and end", 9));
	sink = strncat(room, at_edge("more", 4), 4);
	sink = strtok(room, " ");
	sink = strtok(NULL, " ");
	number = strtol(at_edge("4711;", 5), &end, 10);
	number = strtol("4711", &end, 10);
	number = strtol("0x10 and what is behind it, to the end", &end, 0);
	number = strtoul("12", NULL, 10);
	number = strtoll("-12;", &end, 10);
	number = strtoull("none", &end, 10);
	number = strtoimax("77 ", &end, 8);
	number = strtoumax("zz", &end, 36);
	sink = setlocale(LC_ALL, NULL);
	sink = setlocale(LC_ALL, "C");
	sink = strncpy(room, at_edge("all of it", 10), 10);
	sink = strncpy(room, at_edge("some", 3), 3);
	number = readlink("/proc/self/exe", room, 3);
	number = readlink("/there is none", room, sizeof(room));
	sink = strerror(ENOENT);
}

static void lines(const char *path)
{
	FILE *file = fopen(path, "r");
	char some[8], *line = NULL;
	size_t room = 0;
	int count = 0;

	if (!file)
		return;
	sink = fgets(some, sizeof(some), file);
	number = fread(some, 2, 3, file);
	number = fread(some, 0, 3, file);
	while (getdelim(&line, &room, '\n', file) > 0 && count++ < 20)
		number = (fread_unlocked)(edge - 5, 1, 5, file);
	sink = fgets(some, sizeof(some), file);
	clearerr_unlocked(file);
	fseeko64(file, 0, SEEK_SET);
	number = getdelim(&line, &room, 'e', file);
	(fwrite_unlocked)(edge - 3, 1, 0, file);
	free(line);
	fclose(file);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, i;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096))
		return 2;
	edge = pages + 4096;
	/* In the heap; the environment itself may lie anywhere. */
	setenv("TEXTS_OF_TESTS", "as is", 1);
	for (i = 0; i < rounds; i++) {
		lengths();
		comparisons();
		searches();
		copies();
		collated();
		checked();
		moves();
		looked_at();
		lines(argv[0]);
		if (argc > 2)
			names();
	}
	puts("made");
	return 7;
}
