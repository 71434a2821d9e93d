/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <lzma.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "elf_builder.h"
#include "unit.h"

#define MODULES_MAX 64

/* A module of this process, as its own dynamic linker sees it. */
struct module {
	char path[4096];
	uint64_t bias;
	const void *headers;
	unsigned header_count;
	const ElfW(Phdr) *program;
};

struct modules {
	struct module list[MODULES_MAX];
	size_t count;
};

static int note_module(struct dl_phdr_info *info, size_t size UNUSED,
		       void *context)
{
	struct modules *modules = context;
	struct module *module = &modules->list[modules->count];
	const char *name = info->dlpi_name;
	bool is_main = modules->count == 0;

	if (modules->count == MODULES_MAX || (!is_main && name[0] != '/'))
		return 0;
	snprintf(module->path, sizeof(module->path), "%s",
		 is_main ? "/proc/self/exe" : name);
	module->bias = info->dlpi_addr;
	module->headers = info->dlpi_phdr;
	module->program = info->dlpi_phdr;
	module->header_count = info->dlpi_phnum;
	modules->count++;
	return 0;
}

static struct modules *own_modules(void)
{
	struct modules *modules = xcalloc(1, sizeof(*modules));

	dl_iterate_phdr(note_module, modules);
	ck_assert_uint_ge(modules->count, 3);
	return modules;
}

static struct image *open_path(const char *path)
{
	struct image *image;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(image_open(fd, path, &image), 0);
	close(fd);
	return image;
}

static struct image *open_built(const struct built *b)
{
	struct image *image;

	ck_assert_int_eq(image_open_bytes(b->bytes, sizeof(b->bytes), "built",
					  &image),
			 0);
	return image;
}

static size_t own_read(struct memory *memory UNUSED, taddr_t address, void *ret,
		       size_t size)
{
	struct iovec to = { ret, size };
	struct iovec from = { (void *)(uintptr_t)address, size };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	return n > 0 ? n : 0;
}

static const struct memory_ops own_ops = { .read = own_read };

static const char *text(const char *s)
{
	return s ? s : "";
}

/* Every header of the file is where the dynamic linker has it. */
static void check_headers(const struct module *module,
			  const struct image *image)
{
	const struct image_segment *segments;
	size_t count, n = 0;
	unsigned i;

	segments = image_segments(image, &count);
	ck_assert_uint_eq(module->bias + image_headers_address(image),
			  (uintptr_t)module->headers);
	for (i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *p = &module->program[i];

		if (p->p_type == PT_DYNAMIC)
			ck_assert_uint_eq(image_dynamic_address(image),
					  p->p_vaddr);
		if (p->p_type != PT_LOAD)
			continue;
		ck_assert_uint_lt(n, count);
		ck_assert_uint_eq(segments[n].address, p->p_vaddr);
		ck_assert_uint_eq(segments[n].memory_size, p->p_memsz);
		ck_assert_uint_eq(segments[n].executable,
				  !!(p->p_flags & PF_X));
		ck_assert_uint_ge(p->p_vaddr, image_low(image));
		ck_assert_uint_le(p->p_vaddr + p->p_memsz, image_high(image));
		n++;
	}
	ck_assert_uint_eq(n, count);
	ck_assert(image_is_dynamic(image));
}

START_TEST(headers_are_those_of_the_dynamic_linker)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();

	for (size_t i = 0; i < modules->count; i++) {
		struct image *image = open_path(modules->list[i].path);

		check_headers(&modules->list[i], image);
		image_put(image);
	}
}
END_TEST

START_TEST(read_gives_the_bytes_in_memory)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module = &modules->list[i];
		struct image *image = open_path(module->path);
		const struct image_segment *segments;
		uint8_t bytes[256];
		size_t count, j;

		segments = image_segments(image, &count);
		for (j = 0; j < count; j++) {
			uint64_t end =
				segments[j].address + segments[j].file_size;

			if (!segments[j].executable)
				continue;
			ck_assert_uint_eq(image_read(image, end - 16, bytes,
						     sizeof(bytes)),
					  16);
			ck_assert_mem_eq(bytes,
					 (void *)(uintptr_t)(module->bias +
							     end - 16),
					 16);
			ck_assert_uint_eq(image_read(image, end, bytes, 1), 0);
		}
		image_put(image);
	}
}
END_TEST

/* What dlvsym() finds is where the image says. Returns how many. */
static unsigned check_exports(const struct module *module,
			      const struct image *image)
{
	void *handle = dlopen(module->path, RTLD_LAZY | RTLD_NOLOAD);
	const struct symbol *symbols;
	unsigned checked = 0;
	size_t count, i;

	ck_assert_ptr_nonnull(handle);
	symbols = image_symbols(image, &count);
	for (i = 0; i < count; i++) {
		const struct symbol *symbol = &symbols[i];
		const struct symbol *found;
		void *address;

		ck_assert(image_is_code(image, symbol->address));
		if (!symbol->exported || !symbol->version ||
		    symbol->kind == SYMBOL_IFUNC)
			continue;
		address = dlvsym(handle, symbol->name, symbol->version);
		ck_assert_msg(address == (void *)(uintptr_t)(module->bias +
							     symbol->address),
			      "%s: %s@%s", module->path, symbol->name,
			      symbol->version);
		found = image_find_export(image, symbol->name, symbol->version);
		ck_assert_ptr_nonnull(found);
		ck_assert_uint_eq(found->address, symbol->address);
		checked++;
	}
	dlclose(handle);
	return checked;
}

static bool is_named(const struct module *module, const char *name)
{
	const char *slash = strrchr(module->path, '/');

	return !strncmp(slash + 1, name, strlen(name));
}

START_TEST(exports_are_where_dlvsym_finds_them)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	unsigned checked = 0;

	for (size_t i = 0; i < modules->count; i++) {
		struct image *image;

		/* What a sanitizer wraps is found in the program instead. */
		if (!is_named(&modules->list[i], "libc.so") &&
		    !is_named(&modules->list[i], "libm.so"))
			continue;
		image = open_path(modules->list[i].path);
		checked += check_exports(&modules->list[i], image);
		image_put(image);
	}
	ck_assert_uint_gt(checked, 500);
}
END_TEST

START_TEST(default_version_is_that_of_dlsym)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	static const char *const names[] = { "fopen", "memalign", "realpath",
					     "posix_spawn", "nothing_such" };

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module = &modules->list[i];
		struct image *image;
		void *handle;

		if (!is_named(module, "libc.so"))
			continue;
		image = open_path(module->path);
		handle = dlopen(module->path, RTLD_LAZY | RTLD_NOLOAD);
		for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
			const struct symbol *symbol =
				image_find_export(image, names[j], NULL);
			uint64_t address =
				symbol ? symbol->address + module->bias : 0;

			ck_assert_uint_eq((uintptr_t)dlsym(handle, names[j]),
					  address);
		}
		dlclose(handle);
		image_put(image);
	}
}
END_TEST

/* A slot of this process holds what dlsym() finds, or is unresolved. */
static bool check_slot(const struct module *module, const struct image *image,
		       const struct import *import)
{
	uint64_t value = *(uintptr_t *)(uintptr_t)(module->bias + import->slot);
	void *wanted;

	if (import->kind == IMPORT_IRELATIVE || !import->version)
		return false;
	if (image_is_code(image, value - module->bias))
		return false;
	wanted = dlvsym(RTLD_DEFAULT, import->name, import->version);
	if (!wanted || import->canonical)
		return false;
	ck_assert_msg((uintptr_t)wanted == value, "%s: %s@%s", module->path,
		      import->name, import->version);
	return true;
}

/* Only the program itself: libraries may bind to what it doesn't see. */
START_TEST(slots_hold_what_they_import)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	struct image *image = open_path(modules->list[0].path);
	const struct import *imports;
	unsigned checked = 0;
	size_t count;

	imports = image_imports(image, &count);
	for (size_t i = 0; i < count; i++)
		checked += check_slot(&modules->list[0], image, &imports[i]);
	ck_assert_uint_gt(checked, 10);
	image_put(image);
}
END_TEST

/* Each stub's own jump leads to its slot; the decoder is asked once more. */
START_TEST(stubs_jump_through_their_slots)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	unsigned checked = 0;

	for (size_t i = 0; i < modules->count; i++) {
		struct image *image = open_path(modules->list[i].path);
		const struct import *imports;
		size_t count, j;

		imports = image_imports(image, &count);
		for (j = 0; j < count; j++) {
			const struct import *import = &imports[j];
			uint8_t code[32];
			struct plt_stub stub;
			size_t at = 0, n;

			if (!import->stub)
				continue;
			n = image_read(image, import->stub, code, sizeof(code));
			while (at < n &&
			       !image_arch(image)->plt_stub(
				       code, n, at, import->stub,
				       image_got_address(image), &stub))
				at++;
			ck_assert_uint_lt(at, n);
			ck_assert_uint_eq(stub.start, import->stub);
			ck_assert_uint_eq(stub.slot, import->slot);
			checked++;
		}
		image_put(image);
	}
	ck_assert_uint_gt(checked, 20);
}
END_TEST

static void check_same_imports(const struct image *a, const struct image *b)
{
	const struct import *left, *right;
	size_t left_count, right_count;

	left = image_imports(a, &left_count);
	right = image_imports(b, &right_count);
	ck_assert_uint_eq(left_count, right_count);
	for (size_t i = 0; i < left_count; i++) {
		ck_assert_uint_eq(left[i].slot, right[i].slot);
		ck_assert_uint_eq(left[i].resolver, right[i].resolver);
		ck_assert_uint_eq(left[i].kind, right[i].kind);
		if (left[i].kind == IMPORT_JUMP_SLOT)
			ck_assert_uint_eq(left[i].stub, right[i].stub);
		if (left[i].kind == IMPORT_IRELATIVE)
			continue;
		ck_assert_str_eq(left[i].name, right[i].name);
		ck_assert_str_eq(text(left[i].version), text(right[i].version));
		ck_assert_str_eq(text(left[i].library), text(right[i].library));
	}
}

/* In memory there is no .symtab: exported symbols are the same. */
static void check_same_exports(const struct image *a, const struct image *b)
{
	const struct symbol *symbols;
	size_t count, exported = 0, i;

	symbols = image_symbols(a, &count);
	for (i = 0; i < count; i++) {
		const struct symbol *other;

		if (!symbols[i].exported)
			continue;
		exported++;
		other = image_find_export(b, symbols[i].name,
					  symbols[i].version);
		ck_assert_ptr_nonnull(other);
		ck_assert_uint_eq(other->address, symbols[i].address);
	}
	image_symbols(b, &count);
	ck_assert_uint_eq(count, exported);
}

START_TEST(image_in_memory_is_the_same_as_its_file)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	struct memory memory = { &own_ops };

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module = &modules->list[i];
		struct image *file = open_path(module->path);
		uint64_t base = module->bias + image_low(file);
		struct image *image;
		size_t a_size, b_size;
		const uint8_t *a, *b;

		ck_assert_int_eq(image_open_memory(&memory, base, "memory",
						   &image),
				 0);
		check_headers(module, image);
		ck_assert_str_eq(text(image_soname(file)),
				 text(image_soname(image)));
		ck_assert_str_eq(text(image_interpreter(file)),
				 text(image_interpreter(image)));
		ck_assert_uint_eq(image_got_address(file),
				  image_got_address(image));
		a = image_build_id(file, &a_size);
		b = image_build_id(image, &b_size);
		ck_assert_uint_eq(a_size, b_size);
		if (a_size)
			ck_assert_mem_eq(a, b, a_size);
		check_same_imports(file, image);
		check_same_exports(file, image);
		image_put(image);
		image_put(file);
	}
}
END_TEST

/* It has no file at all. */
START_TEST(vdso_is_read_from_memory)
{
	struct memory memory = { &own_ops };
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	const struct symbol *symbol;
	struct image *image;

	if (!base) {
		printf("# no vdso here\n");
		return;
	}
	ck_assert_int_eq(image_open_memory(&memory, base, "vdso", &image), 0);
	ck_assert_str_eq(image_soname(image), "linux-vdso.so.1");
	symbol = image_find_export(image, "__vdso_clock_gettime", NULL);
	ck_assert_ptr_nonnull(symbol);
	ck_assert_str_eq(symbol->version, "LINUX_2.6");
	image_put(image);
}
END_TEST

START_TEST(r_debug_is_found_in_the_dynamic_linker)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	struct module *linker = NULL;
	struct image *image;
	uint64_t address;
	const ElfW(Dyn) *entry = _DYNAMIC;

	for (size_t i = 0; i < modules->count; i++)
		if (is_named(&modules->list[i], "ld-linux"))
			linker = &modules->list[i];
	if (!linker) {
		printf("# no ld-linux here: _r_debug not looked for\n");
		return;
	}
	image = open_path(linker->path);
	while (entry->d_tag != DT_DEBUG)
		entry++;
	ck_assert(image_find_object(image, "_r_debug", &address));
	ck_assert_uint_eq(address + linker->bias, entry->d_un.d_ptr);
	ck_assert(!image_find_object(image, "_r_debugger", &address));
	image_put(image);
}
END_TEST

static int compare_rank(const struct symbol *a, const struct symbol *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->global != b->global)
		return a->global ? -1 : 1;
	if ((a->name[0] == '_') != (b->name[0] == '_'))
		return a->name[0] == '_' ? 1 : -1;
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name) ? -1 : 1;
	return strcmp(a->name, b->name);
}

START_TEST(symbols_are_in_order_and_once)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();

	for (size_t i = 0; i < modules->count; i++) {
		struct image *image = open_path(modules->list[i].path);
		const struct symbol *symbols;
		size_t count;

		symbols = image_symbols(image, &count);
		for (size_t j = 1; j < count; j++)
			ck_assert_msg(compare_rank(&symbols[j - 1],
						   &symbols[j]) < 0,
				      "%s: %s, %s", modules->list[i].path,
				      symbols[j - 1].name, symbols[j].name);
		image_put(image);
	}
}
END_TEST

START_TEST(own_static_function_is_found)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	struct image *image = open_path("/proc/self/exe");
	const struct symbol *symbol = image_find_symbol(image, "note_module");

	ck_assert_ptr_nonnull(symbol);
	ck_assert_uint_eq(symbol->address + modules->list[0].bias,
			  (uintptr_t)note_module);
	ck_assert(!symbol->global);
	ck_assert(!symbol->exported);
	ck_assert_ptr_null(image_find_symbol(image, "note_modules"));
	ck_assert_ptr_null(image_find_export(image, "note_module", NULL));
	image_put(image);
}
END_TEST

/* In one order; the names are the same strings, or equal ones. */
static void check_same_symbols(const struct symbol *a, size_t a_count,
			       const struct symbol *b, size_t b_count)
{
	ck_assert_uint_eq(a_count, b_count);
	for (size_t i = 0; i < a_count; i++) {
		ck_assert_str_eq(a[i].name, b[i].name);
		ck_assert_str_eq(text(a[i].version), text(b[i].version));
		ck_assert_uint_eq(a[i].address, b[i].address);
		ck_assert_uint_eq(a[i].size, b[i].size);
		ck_assert_int_eq(a[i].kind, b[i].kind);
		ck_assert(a[i].global == b[i].global);
		ck_assert(a[i].exported == b[i].exported);
		ck_assert(a[i].hidden_version == b[i].hidden_version);
	}
}

/*
 * Every name that an image has, asked for without the table of all, gives what
 * that table has. Real files: this program and its libraries.
 */
static unsigned check_names(const struct image *image, const struct image *all)
{
	const struct symbol *symbols;
	size_t count, step, i;
	unsigned checked = 0;

	symbols = image_symbols(all, &count);
	step = count / 40 + 1;
	for (i = 0; i < count; i += step) {
		const char *names[] = { symbols[i].name,
					symbols[count - 1 - i].name };
		struct symbol *one, *other;
		size_t one_count, other_count;

		one = image_symbols_named(image, names, 2, &one_count);
		other = image_symbols_named(all, names, 2, &other_count);
		ck_assert_uint_ge(one_count, 1);
		check_same_symbols(one, one_count, other, other_count);
		free(one);
		free(other);
		checked++;
	}
	return checked;
}

START_TEST(few_names_are_found_as_among_all)
{
	CLEANUP(xfree_cleanup) struct modules *modules = own_modules();
	unsigned checked = 0;

	for (size_t i = 0; i < modules->count; i++) {
		struct image *image = open_path(modules->list[i].path);
		struct image *all = open_path(modules->list[i].path);
		size_t count;

		image_set_debug_path(image, "", modules->list[i].path);
		image_set_debug_path(all, "", modules->list[i].path);
		checked += check_names(image, all);
		ck_assert_ptr_null(image_symbols_named(image, NULL, 0, &count));
		ck_assert_uint_eq(count, 0);
		image_put(image);
		image_put(all);
	}
	ck_assert_uint_gt(checked, 50);
}
END_TEST

static const struct import *import_at(const struct image *image, uint64_t slot)
{
	const struct import *imports;
	size_t count;

	imports = image_imports(image, &count);
	for (size_t i = 0; i < count; i++)
		if (imports[i].slot == slot)
			return &imports[i];
	return NULL;
}

static FILE *run_tool(const char *tool, const char *path)
{
	char *command = xasprintf("%s '%s' 2>/dev/null", tool, path);
	FILE *output = popen(command, "r");

	ck_assert_ptr_nonnull(output);
	free(command);
	return output;
}

/* Every jump slot that readelf shows, under its name. Returns how many. */
static unsigned check_against_readelf(const struct image *image,
				      const char *path)
{
	FILE *output = run_tool("LC_ALL=C readelf -rW", path);
	char line[65536], type[64], name[4096];
	unsigned n = 0;
	uint64_t slot;

	while (fgets(line, sizeof(line), output)) {
		const struct import *import;

		if (sscanf(line, "%" SCNx64 " %*x %63s %*x %4095[^@ ]", &slot,
			   type, name) != 3 ||
		    strncmp(type, "R_X86_64_JUMP_SLO", 17))
			continue;
		import = import_at(image, slot);
		ck_assert_msg(import, "%s: %s", path, name);
		ck_assert_str_eq(import->name, name);
		ck_assert_int_eq(import->kind, IMPORT_JUMP_SLOT);
		ck_assert_msg(import->stub, "%s: %s", path, name);
		n++;
	}
	pclose(output);
	return n;
}

/* Every stub that objdump shows leads to the slot that it says. */
static unsigned check_against_objdump(const struct image *image,
				      const char *path)
{
	FILE *output = run_tool("LC_ALL=C objdump -d --no-show-raw-insn"
				" -j .plt -j .plt.sec -j .plt.got",
				path);
	uint64_t address, slot, endbr = 0;
	char line[65536];
	unsigned n = 0;

	while (fgets(line, sizeof(line), output)) {
		const char *comment = strrchr(line, '#');
		const struct import *import;

		if (sscanf(line, "%" SCNx64 ":", &address) != 1)
			continue;
		if (strstr(line, "endbr64")) {
			endbr = address;
		} else if (strstr(line, "jmp ") && strstr(line, "(%rip)") &&
			   comment &&
			   sscanf(comment, "# %" SCNx64, &slot) == 1) {
			import = import_at(image, slot);
			if (endbr + 4 == address)
				address = endbr;
			if (import)
				ck_assert_uint_eq(import->stub, address);
			n += import != NULL;
		}
	}
	pclose(output);
	return n;
}

START_TEST(stubs_are_those_that_objdump_shows)
{
	static const char *const paths[] = { "/bin/bash", "/usr/bin/python3",
					     "/usr/bin/git", "/bin/ls",
					     "/usr/bin/perl" };
	unsigned slots = 0, stubs = 0;

	if (system("objdump -v >/dev/null 2>&1 && "
		   "readelf -v >/dev/null 2>&1")) {
		printf("# no binutils: stubs not compared with objdump's\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct image *image;

		if (access(paths[i], R_OK))
			continue;
		image = open_path(paths[i]);
		if (image_arch(image) == &arch_x86_64) {
			slots += check_against_readelf(image, paths[i]);
			stubs += check_against_objdump(image, paths[i]);
		}
		image_put(image);
	}
	printf("# %u slots as readelf has them, %u stubs as objdump\n", slots,
	       stubs);
	ck_assert_uint_ge(stubs, slots);
}
END_TEST

/* Loops over the classes: bits are 32 times the variable. */
static void check_built_imports(const struct image *image)
{
	const struct import *imports;
	size_t count;

	imports = image_imports(image, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(imports[0].slot, BUILT_GOT + 24);
	ck_assert_str_eq(imports[0].name, "puts");
	ck_assert_str_eq(imports[0].version, "X_1");
	ck_assert_str_eq(imports[0].library, "libx.so");
	ck_assert_int_eq(imports[0].kind, IMPORT_JUMP_SLOT);
	ck_assert_uint_eq(imports[0].stub, BUILT_TEXT + AT_STUBS + 8);
	ck_assert(!imports[0].weak && !imports[0].canonical);
	ck_assert_uint_eq(imports[1].slot, BUILT_GOT + 32);
	ck_assert_str_eq(imports[1].name, "chosen");
	ck_assert_int_eq(imports[1].kind, IMPORT_IRELATIVE);
	ck_assert_uint_eq(imports[1].resolver, BUILT_TEXT + AT_CODE + 32);
	ck_assert_uint_eq(imports[1].stub, BUILT_TEXT + AT_STUBS);
	ck_assert_uint_eq(imports[2].slot, BUILT_GOT + 40);
	ck_assert_str_eq(imports[2].name, "perhaps");
	ck_assert_ptr_null(imports[2].version);
	ck_assert_int_eq(imports[2].kind, IMPORT_GLOB_DAT);
	ck_assert_uint_eq(imports[2].stub, 0);
	ck_assert(imports[2].weak);
}

static void check_symbol(const struct symbol *symbol, const char *name,
			 const char *version, uint64_t address)
{
	ck_assert_ptr_nonnull(symbol);
	ck_assert_str_eq(symbol->name, name);
	ck_assert_str_eq(text(symbol->version), version);
	ck_assert_uint_eq(symbol->address, BUILT_TEXT + AT_CODE + address);
	ck_assert_uint_eq(symbol->size, 16);
	ck_assert(symbol->global && symbol->exported);
}

static void check_built_symbols(const struct image *image)
{
	const struct symbol *symbols;
	uint64_t address;
	size_t count;

	symbols = image_symbols(image, &count);
	ck_assert_uint_eq(count, 4);
	check_symbol(&symbols[0], "f", "V1", 0);
	ck_assert(symbols[0].hidden_version);
	check_symbol(&symbols[1], "f", "V2", 16);
	check_symbol(&symbols[2], "__f", "V2", 16);
	check_symbol(&symbols[3], "chosen", "V2", 32);
	ck_assert_int_eq(symbols[3].kind, SYMBOL_IFUNC);
	check_symbol(image_find_export(image, "f", NULL), "f", "V2", 16);
	check_symbol(image_find_export(image, "f", "V2"), "f", "V2", 16);
	check_symbol(image_find_export(image, "f", "V1"), "f", "V1", 0);
	ck_assert_ptr_null(image_find_export(image, "f", "V3"));
	ck_assert_ptr_null(image_find_export(image, "puts", NULL));
	check_symbol(image_find_symbol(image, "__f"), "__f", "V2", 16);
	ck_assert(image_find_object(image, "data", &address));
	ck_assert_uint_eq(address, BUILT_DATA + 0x300);
	ck_assert(!image_find_object(image, "f", &address));
}

static void check_built(const struct image *image)
{
	struct image_slack slack[4];
	const uint8_t *id;
	size_t size;

	ck_assert_str_eq(image_soname(image), "libbuilt.so.1");
	ck_assert_ptr_null(image_interpreter(image));
	ck_assert(image_is_position_independent(image));
	ck_assert_uint_eq(image_entry(image), BUILT_TEXT + AT_CODE);
	ck_assert_uint_eq(image_dynamic_address(image), BUILT_DATA);
	ck_assert_uint_eq(image_got_address(image), BUILT_GOT);
	ck_assert_uint_eq(image_headers_address(image), BUILT_TEXT + 0x40);
	ck_assert_uint_eq(image_low(image), BUILT_TEXT);
	ck_assert_uint_eq(image_high(image), BUILT_DATA + 0x400);
	ck_assert(!image_has_address(image, BUILT_TEXT - 1));
	ck_assert(image_has_address(image, BUILT_TEXT));
	ck_assert(!image_has_address(image, BUILT_DATA - 1)); /* a hole */
	ck_assert(image_has_address(image, BUILT_DATA + 0x3ff));
	ck_assert(!image_has_address(image, BUILT_DATA + 0x400));
	ck_assert_uint_eq(image_slack(image, slack, 4), 0);
	id = image_build_id(image, &size);
	ck_assert_uint_eq(size, 4);
	ck_assert_mem_eq(id, "\xde\xad\xbe\xef", 4);
	check_built_imports(image);
	check_built_symbols(image);
}

static unsigned word_of(int bits)
{
	return bits == 32 ? 4 : 8;
}

START_TEST(built_library_is_read_without_sections)
{
	struct image *image;
	struct built b;

	built_init(&b, word_of(32 * _i));
	image = open_built(&b);
	ck_assert_ptr_eq(image_arch(image),
			 b.word == 4 ? &arch_i386 : &arch_x86_64);
	check_built(image);
	ck_assert_ptr_eq(image_get(image), image);
	image_put(image);
	ck_assert_str_eq(image_name(image), "built");
	image_put(image);
}
END_TEST

/* DT_HASH, or nothing at all, tells how many symbols there are, too. */
START_TEST(symbols_are_counted_without_gnu_hash)
{
	const uint64_t tags[] = { DT_HASH, 0x12345678 };

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		struct image *image;
		struct built b;

		built_init(&b, word_of(32 * _i));
		b.at = AT_DYNAMIC + 4 * 2 * b.word;
		built_word(&b, tags[i]);
		built_word(&b, BUILT_TEXT + AT_HASH);
		image = open_built(&b);
		ck_assert_ptr_nonnull(image_find_export(image, "__f", "V2"));
		image_put(image);
	}
}
END_TEST

/* Nobody gets an old version who doesn't ask for it. */
START_TEST(hidden_version_is_no_default)
{
	struct image *image;
	struct built b;

	built_init(&b, word_of(32 * _i));
	b.at = AT_VERSYM + 6 * 2;
	built_put(&b, 0x8004, 2);
	image = open_built(&b);
	ck_assert_ptr_null(image_find_export(image, "chosen", NULL));
	check_symbol(image_find_export(image, "chosen", "V2"), "chosen", "V2",
		     32);
	image_put(image);
}
END_TEST

/* Some linkers let DT_RELA's table include that of DT_JMPREL. */
START_TEST(slot_in_two_tables_is_one_import)
{
	const struct import *imports;
	struct image *image;
	struct built b;
	size_t count;

	built_init(&b, word_of(32 * _i));
	b.at = AT_DYNAMIC + 11 * 2 * b.word + b.word;
	built_word(&b, BUILT_TEXT + AT_JMPREL);
	image = open_built(&b);
	imports = image_imports(image, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(imports[0].slot, BUILT_GOT + 24);
	ck_assert_uint_eq(imports[1].slot, BUILT_GOT + 32);
	image_put(image);
}
END_TEST

/* A built library as a loader would have it in memory. */
struct loaded {
	struct memory memory;
	struct built built;
	uint64_t base;
};

static size_t loaded_read(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	struct loaded *loaded = (struct loaded *)memory;
	const uint64_t inside = address - loaded->base;
	const uint64_t data = BUILT_DATA - BUILT_TEXT;
	uint64_t offset = inside < 0x1000 ? inside : inside - data + AT_DYNAMIC;
	uint64_t end = inside < 0x1000 ? 0x1000 : AT_DYNAMIC + 0x1000;

	if (inside >= 0x1000 && inside - data >= 0x1000)
		return 0;
	if (size > end - offset)
		size = end - offset;
	memcpy(ret, loaded->built.bytes + offset, size);
	return size;
}

static const struct memory_ops loaded_ops = { .read = loaded_read };

/* glibc adds the bias to some of the pointers; here to every second. */
static void relocate(struct loaded *loaded, uint64_t bias)
{
	struct built *b = &loaded->built;
	size_t at;

	for (at = AT_DYNAMIC; at < AT_DYNAMIC + b->dynamic; at += 4 * b->word) {
		uint64_t value = 0;

		memcpy(&value, b->bytes + at + b->word, b->word);
		if (value < BUILT_TEXT)
			continue;
		b->at = at + b->word;
		built_word(b, value + bias);
	}
	/* The slots are filled. */
	b->at = AT_GOT + 32;
	built_word(b, 0x11223344);
}

START_TEST(relocated_image_is_read_from_memory)
{
	struct loaded loaded = { .memory = { &loaded_ops } };
	const uint64_t bias = 0x56400000;
	const struct import *imports;
	struct image *image;
	size_t count;

	built_init(&loaded.built, word_of(32 * _i));
	loaded.base = bias + BUILT_TEXT;
	relocate(&loaded, bias);
	ck_assert_int_eq(image_open_memory(&loaded.memory, loaded.base, "gone",
					   &image),
			 0);
	ck_assert_uint_eq(image_got_address(image), BUILT_GOT);
	check_built_symbols(image);
	if (loaded.built.word == 8) {
		check_built_imports(image);
	} else {
		/* The resolver's address was in the slot. */
		imports = image_imports(image, &count);
		ck_assert_uint_eq(count, 3);
		ck_assert_uint_eq(imports[1].resolver, 0);
		ck_assert_str_eq(imports[1].name, "");
		ck_assert_uint_eq(imports[1].stub, BUILT_TEXT + AT_STUBS);
	}
	image_put(image);
	ck_assert_int_eq(image_open_memory(&loaded.memory, 0x1000, "nothing",
					   &image),
			 -EFAULT);
}
END_TEST

START_TEST(slack_ends_where_another_segment_begins)
{
	const unsigned entry = _i == 1 ? 32 : 56;
	struct image_slack slack[2];
	struct image *image;
	struct built b;

	built_init(&b, word_of(32 * _i));
	b.at = 0x40;
	built_program(&b, PT_LOAD, PF_R | PF_X, 0, BUILT_TEXT, 0xf00);
	image = open_built(&b);
	ck_assert_uint_eq(image_slack(image, slack, 2), 1);
	ck_assert_uint_eq(slack[0].address, BUILT_TEXT + 0xf00);
	ck_assert_uint_eq(slack[0].size, 0x100);
	ck_assert_uint_eq(image_slack(image, slack, 0), 0);
	image_put(image);
	b.at = 0x40 + entry;
	/* Mappings are of whole pages: this one takes the first's last. */
	built_program(&b, PT_LOAD, PF_R, AT_DYNAMIC, BUILT_TEXT + 0xf80, 0x400);
	image = open_built(&b);
	ck_assert_uint_eq(image_slack(image, slack, 2), 0);
	image_put(image);
}
END_TEST

/* A value of an undefined symbol is its stub: function pointers lead there. */
START_TEST(stub_at_the_symbols_value_is_canonical)
{
	const struct import *imports;
	struct image *image;
	struct built b;
	size_t count;

	built_init(&b, word_of(32 * _i));
	b.at = AT_SYMBOLS + (b.word == 8 ? 24 : 16);
	built_symbol(&b, 1, STB_GLOBAL, STT_FUNC, 0, BUILT_TEXT + AT_STUBS + 8,
		     0);
	image = open_built(&b);
	imports = image_imports(image, &count);
	ck_assert(imports[0].canonical);
	ck_assert_uint_eq(imports[0].stub, BUILT_TEXT + AT_STUBS + 8);
	image_put(image);
}
END_TEST

START_TEST(what_is_no_elf_file_is_refused)
{
	const struct {
		size_t at;
		uint8_t value;
	} wrong[] = {
		{ 0, 0 },          { EI_CLASS, 3 },
		{ EI_CLASS, 0 },   { EI_DATA, ELFDATA2MSB },
		{ EI_VERSION, 0 }, { 16, ET_REL },
		{ 16, ET_CORE },   { 18, EM_AARCH64 },
		{ 18, EM_PPC },
	};
	struct image *image;
	int fds[2];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct built b;

		built_init(&b, 8);
		b.bytes[wrong[i].at] = wrong[i].value;
		ck_assert_int_eq(image_open_bytes(b.bytes, sizeof(b.bytes),
						  "wrong", &image),
				 -ENOEXEC);
	}
	ck_assert_int_eq(image_open_bytes("", 0, "empty", &image), -ENOEXEC);
	ck_assert_int_eq(image_open(-1, "closed", &image), -EBADF);
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(image_open(fds[0], "pipe", &image), -ENOEXEC);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/* Asks everything; what comes back only has to be consistent. */
static void ask_everything(struct image *image)
{
	const struct import *imports;
	const struct symbol *symbols;
	struct image_slack slack[8];
	uint64_t address;
	uint8_t bytes[64];
	size_t count, i;

	image_set_debug_path(image, "/nonexistent", "/bin/built");
	symbols = image_symbols(image, &count);
	for (i = 0; i < count; i++) {
		ck_assert(image_is_code(image, symbols[i].address));
		ck_assert_ptr_nonnull(
			image_find_symbol(image, symbols[i].name));
	}
	imports = image_imports(image, &count);
	for (i = 0; i < count; i++) {
		ck_assert_ptr_nonnull(imports[i].name);
		ck_assert_uint_lt(strlen(text(imports[i].version)), BUILT_SIZE);
		image_read(image, imports[i].slot, bytes, sizeof(bytes));
	}
	image_find_export(image, "f", "V1");
	image_find_object(image, "data", &address);
	image_build_id(image, &count);
	ck_assert_uint_le(image_slack(image, slack, ARRAY_SIZE(slack)),
			  ARRAY_SIZE(slack));
	ck_assert_uint_lt(image_low(image), image_high(image));
}

static void open_hostile(const void *bytes, size_t size)
{
	struct image *image;
	int err = image_open_bytes(bytes, size, "hostile", &image);

	if (err) {
		ck_assert_int_eq(err, -ENOEXEC);
		return;
	}
	ask_everything(image);
	image_put(image);
}

static void add_mini_debug(struct built *b);

START_TEST(file_may_end_anywhere)
{
	struct built b;
	size_t size;

	built_init(&b, word_of(32 * _i));
	add_mini_debug(&b);
	for (size = 0; size <= sizeof(b.bytes); size++) {
		/* A copy of its own, so that a sanitizer sees its end. */
		uint8_t *bytes = xmalloc(size);

		memcpy(bytes, b.bytes, size);
		open_hostile(bytes, size);
		free(bytes);
	}
}
END_TEST

START_TEST(any_byte_may_be_wrong)
{
	static const uint8_t masks[] = { 0xff, 0x01 };
	struct built b;
	size_t at, i;

	built_init(&b, word_of(32 * _i));
	add_mini_debug(&b);
	for (at = 0; at < sizeof(b.bytes); at++) {
		for (i = 0; i < ARRAY_SIZE(masks); i++) {
			b.bytes[at] ^= masks[i];
			open_hostile(b.bytes, sizeof(b.bytes));
			b.bytes[at] ^= masks[i];
		}
	}
}
END_TEST

/* Counts and links that would never come to an end. */
START_TEST(hostile_tables_come_to_an_end)
{
	static const struct {
		size_t at;
		uint32_t value;
	} wrong[] = {
		{ AT_GNU_HASH, 0xffffffff },
		{ AT_GNU_HASH + 4, 0xffffffff },
		{ AT_GNU_HASH + 8, 0xffffffff },
		{ AT_GNU_HASH + 24, 0xfffffff0 },
		{ AT_HASH + 4, 0xffffffff },
		{ AT_VERNEED + 8, 0 },
		{ AT_VERNEED + 12, 1 },
		{ AT_VERNEED + 28, 1 },
		{ AT_VERDEF + 16, 1 },
		{ AT_VERDEF + 12, 0xffffffff },
		{ AT_SYMBOLS + 4 * 24, 0xffffffff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct built b;

		built_init(&b, word_of(32 * _i));
		memcpy(b.bytes + wrong[i].at, &wrong[i].value, 4);
		open_hostile(b.bytes, sizeof(b.bytes));
	}
}
END_TEST

/* The last one: behind it is nothing that would be looked for in it then. */
static void enlarge_last_segment(uint8_t *bytes)
{
	const ElfW(Ehdr) *file = (const void *)bytes;
	ElfW(Phdr) *headers = (void *)(bytes + file->e_phoff);
	ElfW(Phdr) *last = NULL, *frames = NULL;

	for (unsigned i = 0; i < file->e_phnum; i++)
		if (headers[i].p_type == PT_LOAD)
			last = &headers[i];
		else if (headers[i].p_type == PT_GNU_EH_FRAME)
			frames = &headers[i];
	ck_assert_ptr_nonnull(last);
	ck_assert_ptr_nonnull(frames);
	frames->p_vaddr = last->p_vaddr;
	last->p_filesz = last->p_memsz = (SIZE_MAX >> 1) - last->p_vaddr;
}

/* A program's code is searched, and what an exception may lead to. */
START_TEST(segment_has_no_more_than_its_file)
{
	struct modules *modules = own_modules();
	const char *path = modules->list[1].path;
	struct stat file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct import *imports;
	struct image *image;
	uint8_t *bytes;
	size_t count;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &file), 0);
	bytes = xmalloc((size_t)file.st_size);
	ck_assert_int_eq(pread(fd, bytes, (size_t)file.st_size, 0),
			 file.st_size);
	close(fd);
	enlarge_last_segment(bytes);
	ck_assert_int_eq(image_open_bytes(bytes, (size_t)file.st_size, "large",
					  &image),
			 0);
	imports = image_imports(image, &count);
	ck_assert_uint_gt(count, 0);
	for (size_t i = 0; i < count; i++)
		(void)image_slot_is_only_called(image, imports[i].slot);
	image_put(image);
	free(bytes);
	free(modules);
}
END_TEST

/*
 * The first section header counts them all, and a sparse file has room for
 * more than libelf should be let make room for. Such an image is read from
 * memory, where there are none.
 */
START_TEST(too_many_sections_are_not_read)
{
	struct loaded loaded = { .memory = { &loaded_ops },
				 .base = BUILT_TEXT };
	struct built *b = &loaded.built;
	int fd = memfd_create("sparse", MFD_CLOEXEC);
	struct image *image;

	built_init(b, word_of(32 * _i));
	b->at = b->word == 8 ? offsetof(Elf64_Ehdr, e_shoff) :
			       offsetof(Elf32_Ehdr, e_shoff);
	built_word(b, AT_SECTIONS);
	b->at = AT_SECTIONS + (b->word == 8 ? offsetof(Elf64_Shdr, sh_size) :
					      offsetof(Elf32_Shdr, sh_size));
	built_word(b, (1u << 30) / 64 - 1024);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, b->bytes, sizeof(b->bytes)),
			 sizeof(b->bytes));
	ck_assert_int_eq(ftruncate(fd, 1 << 30), 0);
	ck_assert_int_eq(image_open(fd, "sparse", &image), -ENOEXEC);
	close(fd);
	ck_assert_int_eq(image_open_memory(&loaded.memory, loaded.base,
					   "sparse", &image),
			 0);
	check_built_symbols(image);
	image_put(image);
}
END_TEST

/*
 * A debug file: no segment's bytes, but .symtab. The local function has a
 * version in its name, as linkers write it.
 */
static void build_debug_file(struct built *b, unsigned word)
{
	static const char strings[] = "\0local\0f@@V2\0late";
	const unsigned symbol = word == 8 ? 24 : 16;

	built_init(b, word);
	memset(b->bytes + AT_DYNAMIC, 0, 0x400);
	memcpy(b->bytes + AT_STRTAB, strings, sizeof(strings));
	b->at = AT_SYMTAB;
	built_symbol(b, 0, 0, 0, 0, 0, 0);
	built_symbol(b, 1, STB_LOCAL, STT_FUNC, 1, BUILT_TEXT + AT_CODE + 32,
		     4);
	built_symbol(b, 7, STB_GLOBAL, STT_FUNC, 1, BUILT_TEXT + AT_CODE + 16,
		     16);
	built_symbol(b, 13, STB_LOCAL, STT_FUNC, 1, BUILT_TEXT + AT_CODE + 64,
		     4);
	built_section(b, 0, SHT_NULL, 0, 0, 0);
	built_section(b, 0, SHT_NOTE, AT_NOTES, BUILT_NOTES, 0);
	built_section(b, 0, SHT_SYMTAB, AT_SYMTAB, 4 * symbol, 3);
	built_section(b, 0, SHT_STRTAB, AT_STRTAB, sizeof(strings), 0);
	built_end_sections(b);
}

static void add_mini_debug(struct built *b)
{
	static const char names[] = "\0.gnu_debugdata";
	struct built debug;
	size_t size = 0;
	lzma_ret err;

	build_debug_file(&debug, b->word);
	err = lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, debug.bytes,
				      sizeof(debug.bytes), b->bytes + AT_EXTRA,
				      &size, BUILT_SIZE - AT_EXTRA);
	ck_assert_int_eq(err, LZMA_OK);
	memcpy(b->bytes + AT_STRTAB, names, sizeof(names));
	built_section(b, 0, SHT_NULL, 0, 0, 0);
	built_section(b, 1, SHT_PROGBITS, AT_EXTRA, size, 0);
	built_section(b, 0, SHT_STRTAB, AT_STRTAB, sizeof(names), 0);
	built_end_sections(b);
}

static void check_debug_symbols(const struct image *image)
{
	static const char *const names[] = { "late", "f", "nothing" };
	const struct symbol *symbols, *late, *found[3];
	struct symbol *named, *again;
	size_t count, named_count;

	late = image_find_symbol(image, "late");
	ck_assert_ptr_nonnull(late);
	ck_assert(!late->global && !late->exported);
	ck_assert_ptr_null(late->version);
	ck_assert_uint_eq(late->address, BUILT_TEXT + AT_CODE + 64);
	ck_assert_ptr_null(image_find_export(image, "late", NULL));
	image_find_symbols(image, names, 3, found);
	ck_assert_ptr_eq(found[0], late);
	check_symbol(found[1], "f", "V2", 16);
	ck_assert_ptr_null(found[2]);
	named = image_symbols_named(image, names, 3, &named_count);
	ck_assert_uint_eq(named_count, 3);
	check_symbol(&named[0], "f", "V1", 0);
	check_symbol(&named[1], "f", "V2", 16);
	ck_assert_str_eq(named[2].name, "late");
	check_built_imports(image);
	symbols = image_symbols(image, &count);
	ck_assert_uint_eq(count, 6);
	check_symbol(&symbols[1], "f", "V2", 16);
	ck_assert_str_eq(symbols[3].name, "chosen");
	ck_assert_str_eq(symbols[4].name, "local");
	ck_assert_str_eq(symbols[5].name, "late");
	/* Answers that were given stay what they were. */
	ck_assert_ptr_eq(image_find_symbol(image, "late"), late);
	again = image_symbols_named(image, names, 3, &count);
	check_same_symbols(named, named_count, again, count);
	free(named);
	free(again);
	check_built_imports(image);
}

static bool has_debug_symbols(struct image *image, const char *root,
			      const char *path)
{
	image_set_debug_path(image, root, path);
	return image_find_symbol(image, "late");
}

START_TEST(symbols_of_minidebuginfo_are_added)
{
	struct image *image;
	struct built b;
	size_t count;

	built_init(&b, word_of(32 * _i));
	add_mini_debug(&b);
	image = open_built(&b);
	image_symbols(image, &count);
	ck_assert_uint_eq(count, 4);
	image_put(image);
	image = open_built(&b);
	ck_assert(has_debug_symbols(image, "/nonexistent", "/lib/b"));
	check_debug_symbols(image);
	image_put(image);
}
END_TEST

/* Writes a file below root, and the folders on the way there. */
static void write_file(const char *root, const char *path, const void *bytes,
		       size_t size)
{
	char *name = xasprintf("%s%s", root, path);
	char *slash = name + strlen(root);
	FILE *file;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	free(name);
}

static void remove_root(const char *root)
{
	char *command = xasprintf("rm -rf '%s'", root);

	ck_assert_int_eq(system(command), 0);
	free(command);
}

START_TEST(debug_file_is_found_by_build_id)
{
	static const char path[] = "/usr/lib/debug/.build-id/de/adbeef.debug";
	char root[] = "/tmp/image-test-XXXXXX";
	struct built b, debug;
	struct image *image;

	ck_assert_ptr_nonnull(mkdtemp(root));
	built_init(&b, word_of(32 * _i));
	build_debug_file(&debug, b.word);
	debug.bytes[AT_BUILD_ID] ^= 1;
	write_file(root, path, debug.bytes, sizeof(debug.bytes));
	image = open_built(&b);
	ck_assert(!has_debug_symbols(image, root, NULL));
	image_put(image);
	image = open_built(&b);
	debug.bytes[AT_BUILD_ID] ^= 1;
	write_file(root, path, debug.bytes, sizeof(debug.bytes));
	ck_assert(has_debug_symbols(image, root, NULL));
	check_debug_symbols(image);
	image_put(image);
	remove_root(root);
}
END_TEST

static void add_link(struct built *b, const char *file, uint32_t crc)
{
	static const char names[] = "\0.gnu_debuglink";
	size_t size;

	strcpy((char *)b->bytes + AT_EXTRA, file);
	b->at = AT_EXTRA + ((strlen(file) + 4) & ~3);
	built_put(b, crc, 4);
	size = b->at - AT_EXTRA;
	memcpy(b->bytes + AT_STRTAB, names, sizeof(names));
	built_section(b, 0, SHT_NULL, 0, 0, 0);
	built_section(b, 1, SHT_PROGBITS, AT_EXTRA, size, 0);
	built_section(b, 0, SHT_STRTAB, AT_STRTAB, sizeof(names), 0);
	built_end_sections(b);
}

START_TEST(debug_file_is_found_by_link)
{
	static const char *const paths[] = { "/opt/x.debug",
					     "/opt/.debug/x.debug",
					     "/usr/lib/debug/opt/x.debug" };
	struct built b, debug;
	uint32_t crc;

	build_debug_file(&debug, word_of(32 * _i));
	crc = lzma_crc32(debug.bytes, sizeof(debug.bytes), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char root[] = "/tmp/image-test-XXXXXX";
		struct image *image;

		ck_assert_ptr_nonnull(mkdtemp(root));
		write_file(root, paths[i], debug.bytes, sizeof(debug.bytes));
		built_init(&b, debug.word);
		add_link(&b, "x.debug", crc ^ 1);
		image = open_built(&b);
		ck_assert(!has_debug_symbols(image, root, "/opt/b"));
		image_put(image);
		built_init(&b, debug.word);
		add_link(&b, "x.debug", crc);
		image = open_built(&b);
		ck_assert(!has_debug_symbols(image, root, "/usr/b"));
		image_put(image);
		image = open_built(&b);
		ck_assert(has_debug_symbols(image, root, "/opt/b"));
		check_debug_symbols(image);
		image_put(image);
		remove_root(root);
	}
}
END_TEST

START_TEST(link_may_not_name_a_path)
{
	char root[] = "/tmp/image-test-XXXXXX";
	struct built b, debug;
	struct image *image;

	build_debug_file(&debug, word_of(32 * _i));
	ck_assert_ptr_nonnull(mkdtemp(root));
	write_file(root, "/x.debug", debug.bytes, sizeof(debug.bytes));
	write_file(root, "/opt/b", "", 0);
	built_init(&b, debug.word);
	add_link(&b, "../x.debug",
		 lzma_crc32(debug.bytes, sizeof(debug.bytes), 0));
	image = open_built(&b);
	ck_assert(!has_debug_symbols(image, root, "/opt/b"));
	image_put(image);
	remove_root(root);
}
END_TEST

static Suite *image_suite(void)
{
	Suite *suite = suite_create("image");
	TCase *real = tcase_create("real files");
	TCase *built = tcase_create("built files");
	TCase *hostile = tcase_create("hostile files");
	TCase *debug = tcase_create("debug files");

	tcase_add_test(real, headers_are_those_of_the_dynamic_linker);
	tcase_add_test(real, read_gives_the_bytes_in_memory);
	tcase_add_test(real, exports_are_where_dlvsym_finds_them);
	tcase_add_test(real, default_version_is_that_of_dlsym);
	tcase_add_test(real, slots_hold_what_they_import);
	tcase_add_test(real, stubs_jump_through_their_slots);
	tcase_add_test(real, image_in_memory_is_the_same_as_its_file);
	tcase_add_test(real, vdso_is_read_from_memory);
	tcase_add_test(real, r_debug_is_found_in_the_dynamic_linker);
	tcase_add_test(real, symbols_are_in_order_and_once);
	tcase_add_test(real, own_static_function_is_found);
	tcase_add_test(real, few_names_are_found_as_among_all);
	tcase_add_test(real, stubs_are_those_that_objdump_shows);
	suite_add_tcase(suite, real);
	/* 1: the 32-bit class, 2: the 64-bit class. */
	tcase_add_loop_test(built, built_library_is_read_without_sections, 1,
			    3);
	tcase_add_loop_test(built, symbols_are_counted_without_gnu_hash, 1, 3);
	tcase_add_loop_test(built, hidden_version_is_no_default, 1, 3);
	tcase_add_loop_test(built, slot_in_two_tables_is_one_import, 1, 3);
	tcase_add_loop_test(built, relocated_image_is_read_from_memory, 1, 3);
	tcase_add_loop_test(built, slack_ends_where_another_segment_begins, 1,
			    3);
	tcase_add_loop_test(built, stub_at_the_symbols_value_is_canonical, 1,
			    3);
	suite_add_tcase(suite, built);
	tcase_set_timeout(hostile, 120);
	tcase_add_test(hostile, what_is_no_elf_file_is_refused);
	tcase_add_loop_test(hostile, file_may_end_anywhere, 1, 3);
	tcase_add_loop_test(hostile, any_byte_may_be_wrong, 1, 3);
	tcase_add_loop_test(hostile, hostile_tables_come_to_an_end, 1, 3);
	tcase_add_loop_test(hostile, too_many_sections_are_not_read, 1, 3);
	tcase_add_test(hostile, segment_has_no_more_than_its_file);
	suite_add_tcase(suite, hostile);
	tcase_add_loop_test(debug, symbols_of_minidebuginfo_are_added, 1, 3);
	tcase_add_loop_test(debug, debug_file_is_found_by_build_id, 1, 3);
	tcase_add_loop_test(debug, debug_file_is_found_by_link, 1, 3);
	tcase_add_loop_test(debug, link_may_not_name_a_path, 1, 3);
	suite_add_tcase(suite, debug);
	return suite;
}

int main(void)
{
	return unit_run(image_suite());
}
