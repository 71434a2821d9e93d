/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "stack/unwind.h"
#include "tracee/tracer.h"
#include "unit.h"

/* What libunwind says of an address is right; a table of all may know less of it. */

#define BIAS UINT64_C(0x10000000)

static struct tracer tracer;
static struct space space;
static struct stacks *stacks;
static struct unwinder *unwinder;

static void setup(void)
{
	tracer = (struct tracer){ 0 };
	space = (struct space){ .tracer = &tracer, .arch = &arch_x86_64 };
	procmem_init(&space.memory, getpid());
	stacks = stacks_new();
	unwinder = unwinder_new(stacks);
}

static void teardown(void)
{
	unwinder_forget(unwinder, &space);
	unwinder_free(unwinder);
	stacks_free(stacks);
	module_free_all(&space);
	scratch_free(&space);
	procmem_fini(&space.memory);
}

static const struct module *add(const char *path)
{
	struct image *image;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return NULL;
	ck_assert_int_eq(image_open(fd, path, &image), 0);
	close(fd);
	module_add(&space, image, BIAS, path);
	return space.modules;
}

/* As an agent does. */
static const struct unwind_rule *find(const struct unwind_table *table,
				      uint64_t offset)
{
	size_t low = 0, high = table->span_count;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (table->spans[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	ck_assert_uint_lt(table->spans[low].rule, table->rule_count);
	return table->spans[low].offset <= offset && table->spans[low].rule ?
		       &table->rules[table->spans[low].rule] :
		       NULL;
}

static void check_same(const struct unwind_rule *one,
		       const struct unwind_rule *other, uint64_t address)
{
	ck_assert_msg(one->outermost == other->outermost &&
			      one->by_chain == other->by_chain &&
			      one->may_switch == other->may_switch &&
			      one->by_fp == other->by_fp &&
			      one->in_memory == other->in_memory &&
			      one->fp_saved == other->fp_saved &&
			      one->fp_unknown == other->fp_unknown &&
			      one->offset == other->offset &&
			      (!one->fp_saved ||
			       one->fp_offset == other->fp_offset),
		      "at %lx: %d %d%+d fp %d%+d, and not %d %d%+d fp %d%+d",
		      (unsigned long)address, one->outermost, one->by_fp,
		      one->offset, one->fp_saved, one->fp_offset,
		      other->outermost, other->by_fp, other->offset,
		      other->fp_saved, other->fp_offset);
}

/* Of which the table has one, and libunwind. */
struct found {
	unsigned table, all;
};

static void look_at(const struct module *module,
		    const struct unwind_table *table, uint64_t offset,
		    struct found *found)
{
	const taddr_t address = module->low + offset + 1;
	const struct unwind_rule *fast = find(table, offset);
	struct unwind_rule right;
	const bool is_known = unwind_rule(unwinder, &space, address, &right) &&
			      !right.by_chain && !right.outermost;

	found->table += fast != NULL;
	found->all += is_known;
	ck_assert_msg(!fast || is_known, "%lx isn't known",
		      (unsigned long)address);
	if (fast)
		check_same(fast, &right, address);
}

/* Where spans begin and end, some thousand of them. */
static void look_at_all(const struct module *module,
			const struct unwind_table *table, struct found *found)
{
	const size_t step = table->span_count / 2500 + 1;
	size_t i;

	for (i = 0; i + 1 < table->span_count; i += step) {
		look_at(module, table, table->spans[i].offset, found);
		look_at(module, table, table->spans[i + 1].offset - 1, found);
	}
}

static void check_file(const char *path)
{
	const struct module *module = add(path);
	struct found found = { 0, 0 };
	struct unwind_tabler *tabler;
	struct unwind_table table;

	if (!module)
		return;
	tabler = unwind_tabler_new(module, 1u << 20);
	ck_assert_ptr_nonnull(tabler);
	while (unwind_tabler_go_on(tabler))
		;
	ck_assert(unwind_tabler_table(tabler, &table));
	look_at_all(module, &table, &found);
	unwind_tabler_free(tabler);
	ck_assert_uint_gt(found.table, 1000);
	ck_assert_msg(found.table >= found.all - found.all / 20, "%s: %u of %u",
		      path, found.table, found.all);
}

START_TEST(as_libunwind_says)
{
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/bin/python3",
	};

	check_file(paths[_i]);
}
END_TEST

/* As the one of a process that has gone, for one with the image elsewhere. */
START_TEST(kept_for_another_process)
{
	const struct module *module =
		add("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
	struct unwind_tabler *tabler;
	struct module elsewhere, otherwise;
	struct found found = { 0, 0 };
	struct unwind_table table;
	size_t spans;

	if (!module)
		return;
	elsewhere = otherwise = *module;
	elsewhere.bias += 0x5000000;
	elsewhere.low += 0x5000000;
	otherwise.low += 0x1000;
	tabler = unwind_tabler_new(module, 1u << 20);
	while (unwind_tabler_go_on(tabler))
		;
	ck_assert(unwind_tabler_table(tabler, &table));
	spans = table.span_count;
	ck_assert_uint_ge(unwind_tabler_settle(tabler),
			  spans * sizeof(*table.spans));
	ck_assert(unwind_tabler_is_of(tabler, &elsewhere));
	ck_assert(!unwind_tabler_is_of(tabler, &otherwise));
	ck_assert(unwind_tabler_table(tabler, &table));
	ck_assert_uint_eq(table.span_count, spans);
	look_at_all(module, &table, &found);
	ck_assert_uint_gt(found.table, 1000);
	unwind_tabler_free(tabler);
}
END_TEST

START_TEST(too_many)
{
	const struct module *module = add("/proc/self/exe");
	struct unwind_tabler *tabler = unwind_tabler_new(module, 10);
	struct unwind_table table;

	ck_assert_ptr_nonnull(tabler);
	while (unwind_tabler_go_on(tabler))
		;
	ck_assert(!unwind_tabler_table(tabler, &table));
	unwind_tabler_free(tabler);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tabler");
	TCase *tcase = tcase_create("tables");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, as_libunwind_says, 0, 4);
	tcase_add_test(tcase, kept_for_another_process);
	tcase_add_test(tcase, too_many);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
