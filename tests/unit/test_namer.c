/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "naming/namer.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "naming/origin.h"
#include "naming/perf_map.h"
#include "unit.h"

static struct stacks *stacks;
static struct namer *namer;
static char map_path[64];

static void setup(void)
{
	const struct namer_options options = { .demangle = true };

	stacks = stacks_new();
	namer = namer_new(&options);
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
}

static void teardown(void)
{
	namer_free(namer);
	stacks_free(stacks);
	unlink(map_path);
}

/* ---- symbols: as the dynamic linker finds them ---- */

static struct image *open_library(const struct link_map *map)
{
	struct image *image;
	int fd = open(map->l_name, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(image_open(fd, map->l_name, &image), 0);
	close(fd);
	return image;
}

static const struct frame_name *
name_of(const struct code *code, uint64_t address, enum frame_method method)
{
	const struct frame frame = { code, address, method };
	const struct frame_name *names;

	ck_assert_uint_eq(namer_names(namer, &frame, &names), 1);
	return names;
}

/* Where code and constants share a segment, dladdr() names those, too. */
static bool is_function(const ElfW(Sym) *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

START_TEST(functions_of_a_library)
{
	struct link_map *map;
	Dl_info info;
	struct image *image;
	const struct code *code;
	uint64_t address;
	size_t known = 0;

	ck_assert_int_ne(dladdr1((void *)(uintptr_t)&gnu_get_libc_version,
				 &info, (void **)&map, RTLD_DL_LINKMAP),
			 0);
	image = open_library(map);
	code = stacks_code(stacks, image, map->l_name, 0);
	for (address = image_low(image); address < image_high(image);
	     address += 97) {
		const struct frame_name *name;
		const ElfW(Sym) *symbol;

		if (!image_is_code(image, address) ||
		    !dladdr1((void *)(address + map->l_addr), &info,
			     (void **)&symbol, RTLD_DL_SYMENT) ||
		    !symbol || !symbol->st_size || !is_function(symbol))
			continue;
		name = name_of(code, address, FRAME_INNERMOST);
		ck_assert_ptr_nonnull(name->function);
		ck_assert_uint_eq(address - name->offset + map->l_addr,
				  (uintptr_t)info.dli_saddr);
		known++;
	}
	ck_assert_uint_gt(known, 500);
	image_put(image);
}
END_TEST

/* Behind a call that doesn't return, another function may begin. */
START_TEST(callers_and_interrupted)
{
	struct link_map *map;
	Dl_info info;
	struct image *image;
	const struct code *code;
	const struct symbol *symbol;

	ck_assert_int_ne(dladdr1((void *)(uintptr_t)&gnu_get_libc_version,
				 &info, (void **)&map, RTLD_DL_LINKMAP),
			 0);
	image = open_library(map);
	code = stacks_code(stacks, image, "/lib/libx.so.1", 0);
	symbol = image_find_symbol(image, "fputs");
	ck_assert_str_eq(name_of(code, symbol->address, FRAME_SIGNAL)->function,
			 "fputs");
	ck_assert_uint_eq(name_of(code, symbol->address, FRAME_SIGNAL)->offset,
			  0);
	ck_assert_str_eq(name_of(code, symbol->address + symbol->size,
				 FRAME_CFI)
				 ->function,
			 "fputs");
	ck_assert_str_eq(name_of(code, symbol->address + 4, FRAME_CFI)->library,
			 "/lib/libx.so.1");
	ck_assert_str_eq(name_of(code, symbol->address, FRAME_HANDLED)->function,
			 "<signal handler called>");
	image_put(image);
}
END_TEST

START_TEST(names_of_scripts)
{
	const struct code *code = stacks_script(stacks, "/srv/a.py", "f");
	const struct frame_name *name = name_of(code, 12, FRAME_SCRIPT);

	ck_assert_str_eq(name->function, "f");
	ck_assert_str_eq(name->file, "/srv/a.py");
	ck_assert_str_eq(name->library, "/srv/a.py");
	ck_assert_uint_eq(name->line, 12);
	code = stacks_script(stacks, "/srv/a.py", NULL);
	name = name_of(code, 12, FRAME_SCRIPT);
	ck_assert_str_eq(name->function, "a.py:12");
	ck_assert_str_eq(name_of(code, 0, FRAME_SCRIPT)->function, "a.py");
}
END_TEST

/* ---- perf maps ---- */

static void write_map(const char *text, const char *mode)
{
	FILE *file = fopen(map_path, mode);

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static const char *jit_name(uint64_t address)
{
	const struct code *code = stacks_code(stacks, NULL, "", getpid());

	return name_of(code, address, FRAME_CFI)->function;
}

START_TEST(perf_map_names)
{
	write_map("1000 100 first\n"
		  "2000 10 JS:~work /a b.js:3:1\n"
		  "2000 zz no number\n"
		  "no address\n"
		  "\n"
		  "3000 0 no size\n"
		  "5000 20 _ZN1a1bEv\n",
		  "w");
	ck_assert_str_eq(jit_name(0x1001), "first");
	ck_assert_str_eq(jit_name(0x1100), "first");
	ck_assert_ptr_null(jit_name(0x1000));
	ck_assert_ptr_null(jit_name(0x1101));
	ck_assert_str_eq(jit_name(0x2002), "JS:~work /a b.js:3:1");
	ck_assert_ptr_null(jit_name(0x3001));
	ck_assert_str_eq(jit_name(0x5003), "a::b()");
}
END_TEST

START_TEST(perf_map_grows)
{
	write_map("1000 100 first\n", "w");
	ck_assert_str_eq(jit_name(0x1010), "first");
	/* Code is replaced; the last line isn't whole yet. */
	write_map("1080 100 second\n4000 10 thi", "a");
	ck_assert_str_eq(jit_name(0x10a0), "second");
	ck_assert_str_eq(jit_name(0x1020), "first");
	ck_assert_ptr_null(jit_name(0x4001));
	write_map("rd\n", "a");
	ck_assert_str_eq(jit_name(0x4002), "third");
}
END_TEST

/* It has a name of a script that is all in its URL. */
START_TEST(perf_map_with_a_long_line)
{
	char *line = xcalloc(1, 10000);
	const char *name;

	memset(line, 'x', 9998);
	memcpy(line, "1000 100 ", 9);
	line[9998] = '\n';
	write_map(line, "w");
	write_map("2000 10 next\n", "a");
	name = jit_name(0x1001);
	ck_assert_ptr_nonnull(name);
	ck_assert_int_eq(strspn(name, "x"), strlen(name));
	ck_assert_str_eq(jit_name(0x2001), "next");
	free(line);
}
END_TEST

static long peak_kilobytes(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* It looks as if it had half a gigabyte, and is one hole. */
START_TEST(perf_map_without_a_line)
{
	long before = peak_kilobytes();

	write_map("1000 100 first\n", "w");
	ck_assert_int_eq(truncate(map_path, 1 << 29), 0);
	ck_assert_str_eq(jit_name(0x1010), "first");
	ck_assert_ptr_null(jit_name(0x2001));
	ck_assert_int_lt(peak_kilobytes() - before, 100000);
}
END_TEST

/* What somebody else has put there is not to be read. */
START_TEST(perf_map_elsewhere)
{
	char other[64];

	snprintf(other, sizeof(other), "/tmp/test_namer.%d", (int)getpid());
	write_map("1000 100 first\n", "w");
	ck_assert_int_eq(rename(map_path, other), 0);
	ck_assert_int_eq(symlink(other, map_path), 0);
	ck_assert_ptr_null(jit_name(0x1010));
	unlink(other);
	unlink(map_path);
	ck_assert_int_eq(mkfifo(map_path, 0600), 0);
	ck_assert_ptr_null(jit_name(0x1020));
	unlink(map_path);
	write_map("1000 100 first\n", "w");
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(map_path, 12345, 12345), 0);
		ck_assert_ptr_null(jit_name(0x1030));
	}
}
END_TEST

/* ---- tail calls ---- */

/* Frames with these addresses, and a ' behind those of tail calls. */
static void check_frames(stack_id stack, const char *callee, const char *wanted)
{
	size_t count, length = 0;
	char text[256] = "";
	struct frame *frames =
		namer_frames(namer, stacks, stack, callee, &count);

	for (size_t i = 0; i < count; i++)
		length += snprintf(text + length, sizeof(text) - length,
				   "%s%x%s", i ? " " : "",
				   (unsigned)frames[i].address,
				   frames[i].method == FRAME_TAIL ? "'" : "");
	free(frames);
	ck_assert_str_eq(text, wanted);
}

START_TEST(tail_calls_that_are_known)
{
	const struct code *code = stacks_code(stacks, NULL, "/gone", 1);
	const struct frame frames[] = {
		{ code, 0x10, FRAME_ENTRY },
		{ code, 0x20, FRAME_CFI },
		{ code, 0x30, FRAME_CFI },
		{ code, 0x20, FRAME_GUESSED },
	};
	const uint64_t leaf[] = { 0x11, 0x12 }, middle[] = { 0x25 };
	stack_id stack = stacks_intern(stacks, frames, 4, STACK_COMPLETE);

	check_frames(stack, "malloc", "10 20 30 20");
	namer_free(namer);
	namer = namer_new(&(struct namer_options){ .demangle = true });
	namer_teach_tails(namer, &frames[0], NULL, "malloc", leaf, 2);
	namer_teach_tails(namer, &frames[2], &frames[1], NULL, middle, 1);
	/* What is known stays, … */
	namer_teach_tails(namer, &frames[2], &frames[1], NULL, leaf, 2);
	/* … and what was found by its looks is no call. */
	namer_teach_tails(namer, &frames[3], &frames[2], NULL, leaf, 2);
	check_frames(stack, "malloc", "11' 12' 10 20 25' 30 20");
	check_frames(stack, "calloc", "10 20 25' 30 20");
	check_frames(stack, NULL, "10 20 25' 30 20");
	check_frames(STACK_NONE, "malloc", "");
}
END_TEST

/* A recording that is read elsewhere has no files. */
START_TEST(libraries_whose_file_is_gone)
{
	static const struct {
		const char *path;
		bool is_c_library;
	} codes[] = {
		{ "/usr/lib/libc.so.6", true },
		{ "/lib64/ld-linux-x86-64.so.2", true },
		{ "/usr/lib/libcrypto.so.3", false },
		{ "/srv/libc.so.6/shop", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		const struct frame frame = {
			.code = stacks_lost_code(stacks, codes[i].path),
		};

		ck_assert_msg(origin_is_c_library(&frame) ==
				      codes[i].is_c_library,
			      "%s", codes[i].path);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("namer");
	TCase *tcase = tcase_create("namer");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, functions_of_a_library);
	tcase_add_test(tcase, callers_and_interrupted);
	tcase_add_test(tcase, names_of_scripts);
	tcase_add_test(tcase, perf_map_names);
	tcase_add_test(tcase, perf_map_grows);
	tcase_add_test(tcase, perf_map_with_a_long_line);
	tcase_add_test(tcase, perf_map_without_a_line);
	tcase_add_test(tcase, perf_map_elsewhere);
	tcase_add_test(tcase, tail_calls_that_are_known);
	tcase_add_test(tcase, libraries_whose_file_is_gone);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
