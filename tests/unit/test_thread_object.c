/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sysdeps/arch.h"
#include "unit.h"

/* A library of this process, as its own dynamic linker has it. */
struct library {
	void *handle;
	struct link_map *map;
	struct image *image;
};

static bool library_open(struct library *library, const char *name)
{
	int fd;

	library->handle = dlopen(name, RTLD_LAZY);
	if (!library->handle || sizeof(long) != 8 ||
	    dlinfo(library->handle, RTLD_DI_LINKMAP, &library->map)) {
		printf("# no 64-bit %s here\n", name);
		return false;
	}
	fd = open(library->map->l_name, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(image_open(fd, name, &library->image), 0);
	close(fd);
	return true;
}

static void library_close(struct library *library)
{
	image_put(library->image);
	dlclose(library->handle);
}

static long slot(const struct library *library, uint64_t address)
{
	return *(long *)(library->map->l_addr + address);
}

/* What places are counted from. */
static uintptr_t thread_pointer(void)
{
#ifdef __aarch64__
	uintptr_t address;

	__asm__("mrs %0, tpidr_el0" : "=r"(address));
	return address;
#else
	return (uintptr_t)pthread_self();
#endif
}

/* &errno is what the compiler and the dynamic linker make of it. */
START_TEST(errno_of_the_c_library)
{
	struct image_thread_object object;
	struct library libc;

	if (!library_open(&libc, "libc.so.6"))
		return;
	ck_assert(image_find_thread_object(libc.image, "errno", &object));
	ck_assert_uint_ne(object.place_slot, 0);
	/* What is added is negative on x86. */
	ck_assert_uint_eq(thread_pointer() + slot(&libc, object.place_slot) +
				  object.behind_place,
			  (uintptr_t)&errno);
	library_close(&libc);
}
END_TEST

static size_t own_read(struct memory *memory UNUSED, taddr_t address, void *ret,
		       size_t size)
{
	memcpy(ret, (const void *)address, size);
	return size;
}

/* What a descriptor's words lead to: here, or the number of the module. */
static void check_descriptor(const struct library *library,
			     const struct image_thread_object *object,
			     const void *here, size_t number)
{
	static const struct memory_ops ops = { .read = own_read };
	struct memory memory = { &ops };
	const long function = slot(library, object->descriptor_slot);
	const long value = slot(library, object->descriptor_slot + 8);

	if (arch_native->tls_finds_place(&memory, function))
		ck_assert_uint_eq(thread_pointer() + value +
					  object->behind_descriptor,
				  (uintptr_t)here);
	else
		ck_assert_int_eq(*(long *)value, number);
}

static void check_block(const char *name, const char *variable)
{
	struct image_thread_object object;
	struct library library;
	size_t number;
	void *here;
	char *block;

	if (!library_open(&library, name))
		return;
	ck_assert(image_find_thread_object(library.image, variable, &object));
	ck_assert_int_eq(dlinfo(library.handle, RTLD_DI_TLS_MODID, &number), 0);
	/* The first is what makes the thread's block. */
	here = dlsym(library.handle, variable);
	ck_assert_ptr_nonnull(here);
	if (arch_native->tls_descriptor) {
		ck_assert_uint_ne(object.descriptor_slot, 0);
		check_descriptor(&library, &object, here, number);
	} else {
		ck_assert_uint_ne(object.number_slot, 0);
		ck_assert_int_eq(slot(&library, object.number_slot), number);
	}
	ck_assert_int_eq(dlinfo(library.handle, RTLD_DI_TLS_DATA, &block), 0);
	ck_assert_ptr_eq(block + object.offset, here);
	ck_assert_uint_lt(object.offset, object.block_size);
	library_close(&library);
}

/* dlsym() tells where this thread's copy is, dlinfo() the rest. */
START_TEST(variables_of_interpreters)
{
	check_block("libruby-3.1.so.3.1", "ruby_current_ec");
	check_block("libperl.so.5.36", "PL_current_context");
}
END_TEST

START_TEST(what_is_none)
{
	struct image_thread_object object;
	struct library libc;

	if (!library_open(&libc, "libc.so.6"))
		return;
	ck_assert(!image_find_thread_object(libc.image, "environ", &object));
	ck_assert(!image_find_thread_object(libc.image, "puts", &object));
	ck_assert(!image_find_thread_object(libc.image, "no_such", &object));
	library_close(&libc);
}
END_TEST

static Suite *thread_object_suite(void)
{
	Suite *suite = suite_create("thread_object");
	TCase *tests = tcase_create("thread_object");

	tcase_add_test(tests, errno_of_the_c_library);
	tcase_add_test(tests, variables_of_interpreters);
	tcase_add_test(tests, what_is_none);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return unit_run(thread_object_suite());
}
