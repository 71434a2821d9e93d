/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe/picked.h"
#include "unit.h"

/* What a sink is asked once for an image, and for what it is asked again. */

static unsigned questions;
static struct picked *picked;

/* Of this program's functions: more of a module that has another name. */
static bool wants(void *context, const char *symbol,
		  const struct module *module)
{
	unsigned *asked = context;

	++*asked;
	return !strcmp(symbol,
		       module->is_linker ? "picked_free" : "picked_of") ||
	       (!strcmp(module->name, "other") &&
		!strcmp(symbol, "picked_new"));
}

static const struct prober_pick pick = { .wants = wants,
					 .context = &questions };

static struct image *open_self(void)
{
	struct image *image;
	const int fd = open("/proc/self/exe", O_RDONLY);
	int error;

	ck_assert_int_ge(fd, 0);
	error = image_open(fd, "self", &image);
	close(fd);
	ck_assert_int_eq(error, 0);
	return image;
}

static void check_has(const struct symbol *const *symbols, size_t count,
		      const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(symbols[i]->name, name))
			return;
	ck_abort_msg("no %s among %zu", name, count);
}

/* Whether the sink was asked for it. */
static bool is_asked(const struct module *module, size_t right,
		     const char *name)
{
	const struct symbol *const *symbols;
	size_t count;

	questions = 0;
	symbols = picked_of(picked, module, &count);
	ck_assert_uint_eq(count, right);
	check_has(symbols, count, name);
	return questions > 0;
}

/* What several processes map; the second reference is a cache's. */
static struct image *open_shared(void)
{
	return image_get(open_self());
}

static void put_shared(struct image *image)
{
	image_put(image);
	image_put(image);
}

static void setup(void)
{
	picked = picked_new(&pick);
}

static void teardown(void)
{
	picked_free(picked);
}

START_TEST(once_for_an_image)
{
	struct image *image = open_shared();
	const struct module one = { .image = image, .name = "one" };
	const struct module again = { .image = image,
				      .name = "one",
				      .bias = 0x1000 };

	ck_assert(is_asked(&one, 1, "picked_of"));
	ck_assert(!is_asked(&again, 1, "picked_of"));
	put_shared(image);
}
END_TEST

START_TEST(again_for_what_differs)
{
	struct image *image = open_shared(), *twin = open_shared();
	const struct module one = { .image = image, .name = "one" };
	const struct module other = { .image = image, .name = "other" };
	const struct module linker = { .image = image,
				       .name = "one",
				       .is_linker = true };
	const struct module as_new = { .image = twin, .name = "one" };

	ck_assert(is_asked(&one, 1, "picked_of"));
	ck_assert(is_asked(&other, 2, "picked_new"));
	ck_assert(is_asked(&linker, 1, "picked_free"));
	ck_assert(is_asked(&as_new, 1, "picked_of"));
	ck_assert(!is_asked(&one, 1, "picked_of"));
	ck_assert(!is_asked(&other, 2, "picked_new"));
	ck_assert(!is_asked(&linker, 1, "picked_free"));
	put_shared(image);
	put_shared(twin);
}
END_TEST

START_TEST(nobody_elses_images_are_not_kept)
{
	struct image *vdso = open_self();
	const struct module module = { .image = vdso, .name = "vdso" };
	const struct symbol *const *symbols;
	size_t count;

	symbols = picked_of(picked, &module, &count);
	check_has(symbols, count, "picked_of");
	ck_assert(image_is_shared(vdso));
	picked_free(picked);
	ck_assert(!image_is_shared(vdso));
	picked = picked_new(&pick);
	image_put(vdso);
}
END_TEST

/* More images than there are places for: each is answered rightly. */
START_TEST(more_than_are_kept)
{
	enum { ALL = 70 };
	struct image *image = open_shared();
	char names[ALL][16];
	unsigned i;

	for (i = 0; i < ALL; i++) {
		struct module module = { .image = image, .name = names[i] };

		snprintf(names[i], sizeof(names[i]), "name %u", i);
		ck_assert(is_asked(&module, 1, "picked_of"));
		ck_assert(!is_asked(&module, 1, "picked_of"));
	}
	put_shared(image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("picked");
	TCase *tcase = tcase_create("answers");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, once_for_an_image);
	tcase_add_test(tcase, again_for_what_differs);
	tcase_add_test(tcase, nobody_elses_images_are_not_kept);
	tcase_add_test(tcase, more_than_are_kept);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
