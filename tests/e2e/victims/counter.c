/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: counts the calls of some functions whose return address lies in
 * the executable, and writes `count MAIN NAME N` lines to $COUNTER_FILE at
 * the end of the process whose program is $COUNTER_PROGRAM.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MALLOC, FREE, CALLOC, REALLOC, STRLEN, STRCMP, MEMCPY, GETENV, KINDS };

static const char *const names[KINDS] = {
	"malloc", "free", "calloc", "realloc", "strlen", "strcmp", "memcpy",
	"getenv",
};
static unsigned long counts[KINDS];
static void *real[KINDS];
static uintptr_t low, high;
static pid_t owner;
static char bootstrap[65536];
static size_t bootstrap_used;

static int program_range(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (!low || start < low)
			low = start;
		if (start + p->p_memsz > high)
			high = start + p->p_memsz;
	}
	return 1; /* the first is the program */
}

static void count(int kind, void *caller)
{
	uintptr_t address = (uintptr_t)caller;

	if (!low)
		dl_iterate_phdr(program_range, NULL);
	if (address >= low && address < high)
		__atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED);
}

static void *find(int kind)
{
	if (!real[kind])
		real[kind] = dlsym(RTLD_NEXT, names[kind]);
	return real[kind];
}

#define COUNT(kind) count(kind, __builtin_return_address(0))

void *malloc(size_t size)
{
	COUNT(MALLOC);
	return ((void *(*)(size_t))find(MALLOC))(size);
}

void free(void *p)
{
	COUNT(FREE);
	if ((char *)p >= bootstrap && (char *)p < bootstrap + sizeof(bootstrap))
		return;
	((void (*)(void *))find(FREE))(p);
}

/* dlsym itself may want memory. */
void *calloc(size_t n, size_t size)
{
	static __thread int inside;

	COUNT(CALLOC);
	if (!real[CALLOC] && inside) {
		void *p = bootstrap + bootstrap_used;

		bootstrap_used += (n * size + 15) & ~(size_t)15;
		return p;
	}
	inside = 1;
	find(CALLOC);
	inside = 0;
	return ((void *(*)(size_t, size_t))real[CALLOC])(n, size);
}

void *realloc(void *p, size_t size)
{
	COUNT(REALLOC);
	return ((void *(*)(void *, size_t))find(REALLOC))(p, size);
}

size_t strlen(const char *s)
{
	COUNT(STRLEN);
	return ((size_t (*)(const char *))find(STRLEN))(s);
}

int strcmp(const char *a, const char *b)
{
	COUNT(STRCMP);
	return ((int (*)(const char *, const char *))find(STRCMP))(a, b);
}

void *memcpy(void *to, const void *from, size_t size)
{
	COUNT(MEMCPY);
	return ((void *(*)(void *, const void *, size_t))find(MEMCPY))(to, from,
								      size);
}

char *getenv(const char *name)
{
	COUNT(GETENV);
	return ((char *(*)(const char *))find(GETENV))(name);
}

static int wanted(const char *program)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length < 0 ? 0 : length] = 0;
	return program && !strcmp(path, program);
}

__attribute__((constructor)) static void begin(void)
{
	/* Not getenv, which would be counted were it the program's. */
	owner = getpid();
}

__attribute__((destructor)) static void end(void)
{
	char *(*get)(const char *) = (char *(*)(const char *))find(GETENV);
	const char *path = get("COUNTER_FILE");
	int fd;

	if (owner != getpid() || !path || !wanted(get("COUNTER_PROGRAM")))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	for (int i = 0; fd >= 0 && i < KINDS; i++)
		dprintf(fd, "count MAIN %s %lu\n", names[i], counts[i]);
	if (fd >= 0)
		close(fd);
}
