/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: counts the calls that the program makes of some functions. The
 * GOT slots of the program (and of nobody else) are pointed at counting
 * functions, which go on to the real ones by a jump. Writes lines
 * `count MAIN NAME SURE UNCLEAR` to $COUNTER_FILE at the end of the process
 * whose program is $COUNTER_PROGRAM.
 *
 * Whatever comes through a JUMP_SLOT came through the program's stub. Where
 * the program takes a function's address too (GLOB_DAT, or an undefined
 * symbol with a value), a direct call in the program is sure; others may be
 * calls through that pointer, or the end of a function that was called
 * through one: those are unclear.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MALLOC, FREE, CALLOC, REALLOC, STRLEN, STRCMP, MEMCPY, GETENV, KINDS };

static struct {
	const char *name;
	void *real;
	int address_taken;
	unsigned long sure, unclear;
} kinds[KINDS] = {
	[MALLOC] = { .name = "malloc" }, [FREE] = { .name = "free" },
	[CALLOC] = { .name = "calloc" }, [REALLOC] = { .name = "realloc" },
	[STRLEN] = { .name = "strlen" }, [STRCMP] = { .name = "strcmp" },
	[MEMCPY] = { .name = "memcpy" }, [GETENV] = { .name = "getenv" },
};

static void *const counted[KINDS];
static uintptr_t low, high; /* the program's code */
static pid_t owner;

static int in_program(uintptr_t address)
{
	return address >= low && address < high;
}

#ifdef __aarch64__

enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };

static int64_t signed_field(uint32_t value, int width)
{
	return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}

/* Whether code is a PLT stub of it: adrp x16, page; ldr x17, [x16, #n]. */
static int is_stub_of(int kind, const unsigned char *code)
{
	const uint32_t bti_c = 0xd503245f;
	uint32_t words[2];
	uintptr_t page;

	memcpy(words, code, sizeof(words));
	if (words[0] == bti_c) {
		code += 4;
		memcpy(words, code, sizeof(words));
	}
	if ((words[0] & 0x9f00001f) != 0x90000010 ||
	    (words[1] & 0xffc003ff) != 0xf9400211)
		return 0;
	page = ((uintptr_t)code & ~(uintptr_t)4095) +
	       (uintptr_t)signed_field((words[0] >> 5 & 0x7ffff) << 2 |
					       (words[0] >> 29 & 3),
				       21) *
		       4096;
	return *(void *const *)(page + (words[1] >> 10 & 0xfff) * 8) ==
	       counted[kind];
}

/* Whether the instruction before a return address is bl to such a stub. */
static int is_direct_call(int kind, const unsigned char *after)
{
	const unsigned char *stub;
	uint32_t word;

	if (!in_program((uintptr_t)after))
		return 0;
	memcpy(&word, after - 4, sizeof(word));
	stub = after - 4 + signed_field(word & 0x3ffffff, 26) * 4;
	return (word & 0xfc000000) == 0x94000000 &&
	       in_program((uintptr_t)stub) && is_stub_of(kind, stub);
}

#else

enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };

/* Whether the operand disp(%rip) that ends at `after` is a slot of it. */
static int is_slot_of(int kind, const unsigned char *after)
{
	int32_t distance;

	memcpy(&distance, after - 4, sizeof(distance));
	return *(void *const *)(after + distance) == counted[kind];
}

/* Whether code is a PLT stub of that function: jmp *disp(%rip). */
static int is_stub_of(int kind, const unsigned char *code)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (!memcmp(code, endbr, sizeof(endbr)))
		code += sizeof(endbr);
	if (*code == 0xf2)
		code++;
	return code[0] == 0xff && code[1] == 0x25 && is_slot_of(kind, code + 6);
}

/*
 * Whether the instruction before a return address is `call rel32` to a stub
 * of the program, or `call *disp(%rip)`.
 */
static int is_direct_call(int kind, const unsigned char *after)
{
	int32_t distance;

	if (!in_program((uintptr_t)after))
		return 0;
	if (after[-6] == 0xff && after[-5] == 0x15)
		return is_slot_of(kind, after);
	memcpy(&distance, after - 4, sizeof(distance));
	return after[-5] == 0xe8 &&
	       in_program((uintptr_t)after + (intptr_t)distance) &&
	       is_stub_of(kind, after + distance);
}

#endif

static inline __attribute__((always_inline)) void *count(int kind, void *caller)
{
	if (!kinds[kind].address_taken || is_direct_call(kind, caller))
		__atomic_add_fetch(&kinds[kind].sure, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&kinds[kind].unclear, 1, __ATOMIC_RELAXED);
	return kinds[kind].real;
}

#define COUNTED(result, name, kind, parameters, ...)              \
	static result counted_##name parameters                   \
	{                                                         \
		result(*real) parameters = (result(*) parameters) \
			count(kind, __builtin_return_address(0)); \
		return real(__VA_ARGS__);                         \
	}

COUNTED(void *, malloc, MALLOC, (size_t n), n)
COUNTED(void, free, FREE, (void *p), p)
COUNTED(void *, calloc, CALLOC, (size_t n, size_t size), n, size)
COUNTED(void *, realloc, REALLOC, (void *p, size_t size), p, size)
COUNTED(size_t, strlen, STRLEN, (const char *s), s)
COUNTED(int, strcmp, STRCMP, (const char *a, const char *b), a, b)
COUNTED(void *, memcpy, MEMCPY, (void *a, const void *b, size_t n), a, b, n)
COUNTED(char *, getenv, GETENV, (const char *name), name)

static void *const counted[KINDS] = {
	counted_malloc, counted_free,   counted_calloc, counted_realloc,
	counted_strlen, counted_strcmp, counted_memcpy, counted_getenv,
};

struct program {
	uintptr_t bias;
	const ElfW(Dyn) *dynamic;
};

static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
	struct program *program = data;

	(void)size;
	program->bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			program->dynamic = (const ElfW(Dyn) *)start;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (!low || start < low)
			low = start;
		if (start + p->p_memsz > high)
			high = start + p->p_memsz;
	}
	return 1; /* the first is the program */
}

/* glibc has made these addresses absolute. */
static uintptr_t entry(const struct program *program, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = program->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

static void redirect(uintptr_t slot, int kind)
{
	uintptr_t page = slot & ~(uintptr_t)4095;

	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
	*(void **)slot = counted[kind];
}

static void redirect_all(const struct program *program, uintptr_t table,
			 size_t size)
{
	const char *strings = (const char *)entry(program, DT_STRTAB);
	const ElfW(Sym) *symbols = (const ElfW(Sym) *)entry(program, DT_SYMTAB);
	const ElfW(Rela) *relocation = (const ElfW(Rela) *)table;

	for (size_t i = 0; i < size / sizeof(*relocation); i++) {
		unsigned type = ELF64_R_TYPE(relocation[i].r_info);
		const ElfW(Sym) *symbol =
			&symbols[ELF64_R_SYM(relocation[i].r_info)];

		if (type != JUMP_SLOT && type != GLOB_DAT)
			continue;
		for (int kind = 0; kind < KINDS; kind++) {
			if (strcmp(strings + symbol->st_name, kinds[kind].name))
				continue;
			if (type == GLOB_DAT || symbol->st_value)
				kinds[kind].address_taken = 1;
			redirect(program->bias + relocation[i].r_offset, kind);
		}
	}
}

/* Not getenv: the program may have one of its own (bash). */
static const char *variable(const char *name)
{
	size_t length = strlen(name);

	for (char **p = environ; *p; p++)
		if (!strncmp(*p, name, length) && (*p)[length] == '=')
			return *p + length + 1;
	return NULL;
}

static int is_wanted(const char *program)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length < 0 ? 0 : length] = 0;
	return program && !strcmp(path, program);
}

__attribute__((constructor)) static void begin(void)
{
	struct program program = { 0 };

	if (!is_wanted(variable("COUNTER_PROGRAM")))
		return;
	owner = getpid();
	for (int kind = 0; kind < KINDS; kind++)
		kinds[kind].real = dlsym(RTLD_NEXT, kinds[kind].name);
	dl_iterate_phdr(find_program, &program);
	redirect_all(&program, entry(&program, DT_JMPREL),
		     entry(&program, DT_PLTRELSZ));
	redirect_all(&program, entry(&program, DT_RELA),
		     entry(&program, DT_RELASZ));
}

__attribute__((destructor)) static void end(void)
{
	const char *path = variable("COUNTER_FILE");
	int fd;

	if (owner != getpid() || !path)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	for (int i = 0; fd >= 0 && i < KINDS; i++)
		dprintf(fd, "count MAIN %s %lu %lu\n", kinds[i].name,
			kinds[i].sure, kinds[i].unclear);
	if (fd >= 0)
		close(fd);
}
