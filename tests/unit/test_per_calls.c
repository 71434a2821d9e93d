/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <limits.h>
#include <string.h>

#include "filter/filter.h"
#include "heap/family.h"
#include "heap/per_calls.h"
#include "sysdeps/arch.h"

/*
 * Calls within calls: each is told with all that was done within it. A malloc
 * of argument 0, so large; its block is the result.
 */
#define SIZE   100
#define USABLE 104
#define BLOCK  0x1000
#define DEPTH  20000

static struct function outer = { .name = "outer" };
static struct function inner = { .name = "inner" };
static struct function acquiring = { .name = "malloc" };
static struct function releasing = { .name = "free" };

struct told {
	bool returned;
	uint64_t figures[PER_FIGURES];
	uint64_t mallocs, inners; /* calls */
	uint64_t bytes;           /* by malloc */
};

static struct {
	struct families *families;
	struct filter *functions;
	struct per_calls *calls;
	bool has_usable;
	uint64_t last; /* id of a call */
	struct told told[8];
	size_t count;
} f;

/* ---- a machine, and a process ---- */

static int argument(const struct regs *entry UNUSED,
		    struct memory *memory UNUSED, unsigned index UNUSED,
		    uint64_t *ret)
{
	*ret = SIZE;
	return 0;
}

static uint64_t result(const struct regs *regs UNUSED)
{
	return BLOCK;
}

static const struct arch_ops machine = {
	.word_size = 8,
	.argument = argument,
	.result = result,
};

static bool usable(void *context UNUSED, const struct event *event UNUSED,
		   uint64_t block, uint64_t *ret)
{
	ck_assert_uint_eq(block, BLOCK);
	*ret = USABLE;
	return f.has_usable;
}

static void told(void *context UNUSED, const struct per_call *call)
{
	struct told *ret = &f.told[f.count++ % ARRAY_SIZE(f.told)];
	const struct per_use *use;

	*ret = (struct told){ .returned = call->returned };
	memcpy(ret->figures, call->figures, sizeof(ret->figures));
	for (use = call->uses; use; use = use->hh.next) {
		if (use->function == &acquiring) {
			ret->mallocs = use->calls;
			ret->bytes = use->bytes;
			ck_assert_uint_eq(use->timed, use->calls);
		}
		if (use->function == &inner)
			ret->inners = use->calls;
	}
}

static void setup(void)
{
	static const char text[] = "family m counts bytes\n"
				   "acquire malloc(size) = handle\n"
				   "release free(handle)\n";
	char *message;
	size_t column;

	memset(&f, 0, sizeof(f));
	f.has_usable = true;
	f.families = families_new();
	families_parse(f.families, "x", text, sizeof(text) - 1);
	acquiring.subject = families_find(f.families, "malloc");
	releasing.subject = families_find(f.families, "free");
	ck_assert_ptr_nonnull(acquiring.subject);
	ck_assert_ptr_nonnull(releasing.subject);
	f.functions = filter_new();
	ck_assert(!filter_add(f.functions, "outer+inner", &message, &column));
	f.calls = per_calls_new(&(struct per_calls_options){
		.functions = f.functions, .usable = usable, .told = told });
}

static void teardown(void)
{
	sinks_free(per_calls_sink(f.calls));
	filter_free(f.functions);
	families_free(f.families);
}

/* ---- calls ---- */

/* Of a thread that the kernel doesn't know. */
static void tell(enum event_kind kind, const struct function *function,
		 uint64_t id)
{
	static const struct regs regs;
	const struct call call = { .function = function,
				   .id = id,
				   .pid = INT_MAX,
				   .tid = INT_MAX,
				   .arch = &machine };
	struct sink *sink = per_calls_sink(f.calls);

	ck_assert_int_eq(sink->ops->event(sink,
					  &(struct event){ .kind = kind,
							   .pid = INT_MAX,
							   .tid = INT_MAX,
							   .call = &call,
							   .regs = &regs }),
			 0);
}

static uint64_t begin(const struct function *function)
{
	tell(EVENT_CALL, function, ++f.last);
	return f.last;
}

static void make(const struct function *function)
{
	tell(EVENT_RETURN, function, begin(function));
}

static void check_told(const struct told *call, uint64_t mallocs,
		       uint64_t releases, uint64_t inners)
{
	ck_assert_uint_eq(call->figures[PER_BLOCKS], mallocs);
	ck_assert_uint_eq(call->figures[PER_BYTES], mallocs * SIZE);
	ck_assert_uint_eq(call->figures[PER_RELEASES], releases);
	ck_assert_uint_eq(call->mallocs, mallocs);
	ck_assert_uint_eq(call->bytes, mallocs * SIZE);
	ck_assert_uint_eq(call->inners, inners);
}

START_TEST(within_another)
{
	const uint64_t first = begin(&outer);
	uint64_t second;

	make(&acquiring);
	second = begin(&inner);
	make(&acquiring);
	make(&releasing);
	tell(EVENT_RETURN, &inner, second);
	make(&acquiring);
	tell(EVENT_RETURN, &outer, first);
	make(&acquiring);
	ck_assert_uint_eq(f.count, 2);
	check_told(&f.told[0], 1, 1, 0);
	ck_assert_uint_eq(f.told[0].figures[PER_USABLE], USABLE);
	check_told(&f.told[1], 3, 1, 1);
	ck_assert_uint_eq(f.told[1].figures[PER_USABLE], 3 * USABLE);
}
END_TEST

/* Some are told to be over, and some are not: the outer one has returned. */
START_TEST(left_otherwise)
{
	const uint64_t first = begin(&outer);
	uint64_t second = begin(&inner);

	make(&acquiring);
	begin(&inner);
	make(&acquiring);
	make(&releasing);
	tell(EVENT_ABANDON, &inner, second);
	second = begin(&inner);
	make(&acquiring);
	tell(EVENT_RETURN, &outer, first);
	ck_assert_uint_eq(f.count, 2);
	ck_assert(!f.told[0].returned && f.told[1].returned);
	check_told(&f.told[0], 2, 1, 1);
	ck_assert_uint_eq(f.told[1].figures[PER_BLOCKS], 3);
	ck_assert_uint_eq(f.told[1].figures[PER_RELEASES], 1);
	ck_assert_uint_eq(f.told[1].inners, 3);
	tell(EVENT_RETURN, &inner, second);
	ck_assert_uint_eq(f.count, 2);
}
END_TEST

/* One block of which it isn't known is enough. */
START_TEST(unknown_figures)
{
	const uint64_t first = begin(&outer);
	uint64_t second = begin(&inner);

	f.has_usable = false;
	make(&acquiring);
	tell(EVENT_RETURN, &inner, second);
	f.has_usable = true;
	second = begin(&inner);
	make(&acquiring);
	tell(EVENT_RETURN, &inner, second);
	tell(EVENT_RETURN, &outer, first);
	ck_assert_uint_eq(f.count, 3);
	ck_assert_uint_eq(f.told[0].figures[PER_USABLE], PER_UNKNOWN);
	ck_assert_uint_eq(f.told[1].figures[PER_USABLE], USABLE);
	ck_assert_uint_eq(f.told[2].figures[PER_USABLE], PER_UNKNOWN);
	ck_assert_uint_eq(f.told[2].figures[PER_PROCESSOR], PER_UNKNOWN);
	check_told(&f.told[2], 2, 0, 2);
}
END_TEST

START_TEST(recursion)
{
	const struct per_total *total;
	uint64_t calls = 0, mallocs = 0;

	for (int i = 0; i < DEPTH; i++) {
		begin(i ? &inner : &outer);
		make(&acquiring);
	}
	for (uint64_t i = DEPTH; i; i--)
		tell(EVENT_RETURN, i > 1 ? &inner : &outer, 2 * i - 1);
	ck_assert_uint_eq(f.count, DEPTH);
	check_told(&f.told[(DEPTH - 1) % ARRAY_SIZE(f.told)], DEPTH, 0,
		   DEPTH - 1);
	total = per_calls_next(f.calls, INT_MAX, NULL);
	for (; total; total = per_calls_next(f.calls, INT_MAX, total)) {
		calls += total->returned;
		mallocs += total->sums[PER_BLOCKS];
	}
	ck_assert_uint_eq(calls, DEPTH);
	ck_assert_uint_eq(mallocs, (uint64_t)DEPTH * (DEPTH + 1) / 2);
	ck_assert_ptr_null(per_calls_next(f.calls, 1, NULL));
}
END_TEST

/* Its totals are forgotten with the process. */
START_TEST(process_gone)
{
	make(&outer);
	ck_assert_ptr_nonnull(per_calls_next(f.calls, INT_MAX, NULL));
	tell(EVENT_EXIT, NULL, 0);
	ck_assert_ptr_null(per_calls_next(f.calls, INT_MAX, NULL));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { within_another, left_otherwise,
				       unknown_figures, recursion,
				       process_gone };

	return unit_run_tests("per_calls", setup, teardown, tests,
			      ARRAY_SIZE(tests));
}
