/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "probe/agent_private.h"
#include "unit.h"

/*
 * What is read of threads' rings, in parts, once as it was written and once with
 * whole calls: both must come to the same effects, in the same order.
 */

static struct function functions[] = {
	{ .name = "malloc", .group = 1, .whole = WHOLE_AT_RETURN },
	{ .name = "realloc", .group = 1, .whole = WHOLE_AT_BOTH },
	{ .name = "posix_memalign", .group = 1, .whole = WHOLE_NOT },
	{ .name = "delete", .group = 1, .whole = WHOLE_AT_ENTRY },
	{ .name = "free",
	  .group = 1,
	  .whole = WHOLE_AT_ENTRY,
	  .entry_only = true },
	{ .name = "open", .group = 2, .whole = WHOLE_AT_RETURN },
};

#define FUNCTIONS ARRAY_SIZE(functions)
#define THREADS   3
#define EACH      400

static struct point points[FUNCTIONS];
static struct agent_point own_points[FUNCTIONS];

/* What a thread has written, in its order. */
struct written {
	struct watched_call calls[4 * EACH];
	size_t count, read;
};

static struct written threads[THREADS];
static uint64_t clock_ticks;

static uint32_t state;

static unsigned any(unsigned count)
{
	state = state * 1103515245 + 12345;
	return (state >> 8) % count;
}

static void set_up(unsigned seed)
{
	state = seed;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		points[i].function = &functions[i];
		own_points[i].point = &points[i];
	}
	memset(threads, 0, sizeof(threads));
}

static struct watched_call *record(unsigned thread, enum agent_watch_kind kind,
				   unsigned function, taddr_t slot)
{
	struct written *to = &threads[thread];
	struct watched_call *call = &to->calls[to->count++];
	const uint64_t now = ++clock_ticks;

	ck_assert_uint_le(to->count, ARRAY_SIZE(to->calls));
	*call = (struct watched_call){
		.point = &own_points[function],
		.kind = kind,
		.tid = 100 + (pid_t)thread,
		.time = now,
		.began = now,
		.slot = slot,
		.return_address = slot * 3,
		.result = kind == AGENT_WATCH_RETURN ? now : 0,
		.arguments = { kind == AGENT_WATCH_ENTRY ? now : 0 },
	};
	return call;
}

/* A call of a thread's that hasn't returned. */
struct running {
	unsigned function;
	taddr_t slot;
};

struct stack {
	struct running list[8];
	unsigned depth;
};

static void enter(unsigned thread, struct stack *stack)
{
	const unsigned function = any(FUNCTIONS);
	const struct running *outer =
		stack->depth ? &stack->list[stack->depth - 1] : NULL;
	const bool tail = outer && outer->function == 3 && function == 4;
	const taddr_t slot = outer ? outer->slot - (tail ? 0 : 8 + any(50)) :
				     0x7000 - any(8);

	record(thread, AGENT_WATCH_ENTRY, function, slot)->tail_call = tail;
	if (!functions[function].entry_only)
		stack->list[stack->depth++] =
			(struct running){ function, slot };
}

/* Some jump out of theirs instead, and one return gets lost. */
static void leave(unsigned thread, struct stack *stack)
{
	const struct running *top = &stack->list[--stack->depth];

	if (any(40))
		record(thread, AGENT_WATCH_RETURN, top->function, top->slot);
}

static void write_all(void)
{
	struct stack stacks[THREADS] = { 0 };

	for (unsigned i = 0; i < THREADS * EACH; i++) {
		const unsigned thread = any(THREADS);
		struct stack *stack = &stacks[thread];

		if (stack->depth && (any(3) || stack->depth == 5))
			leave(thread, stack);
		else
			enter(thread, stack);
	}
}

/* ---- telling: what pairing makes of it ---- */

struct teller {
	struct strbuf text;
	struct {
		struct watched_call list[64];
		unsigned depth;
	} stacks[THREADS];
};

static void tell_effect(struct teller *teller, const char *what,
			const struct watched_call *entry, uint64_t number)
{
	strbuf_printf(&teller->text, "%d %s %s %llu\n", (int)entry->tid,
		      entry->point->point->function->name, what,
		      (unsigned long long)number);
}

static bool does(const struct watched_call *entry, enum whole_effect when)
{
	const enum whole_effect effect = entry->point->point->function->whole;

	return effect == when || effect == WHOLE_AT_BOTH || effect == WHOLE_NOT;
}

static void tell_entry(struct teller *teller, const struct watched_call *call)
{
	const unsigned thread = (unsigned)(call->tid - 100);
	const struct function *function = call->point->point->function;
	struct watched_call *list = teller->stacks[thread].list;
	unsigned *depth = &teller->stacks[thread].depth, i;

	/* Abandoned: another one has their place, or they have returned. */
	while (*depth &&
	       (list[*depth - 1].slot < call->slot ||
		(list[*depth - 1].slot == call->slot && !call->tail_call)))
		--*depth;
	for (i = *depth; i--;)
		if (list[i].point->point->function->group == function->group)
			return;
	if (does(call, WHOLE_AT_ENTRY))
		tell_effect(teller, "in", call, call->arguments[0]);
	if (!function->entry_only)
		list[(*depth)++] = *call;
}

static void tell_return(struct teller *teller, const struct watched_call *call)
{
	const unsigned thread = (unsigned)(call->tid - 100);
	struct watched_call *list = teller->stacks[thread].list;
	unsigned *depth = &teller->stacks[thread].depth;

	if (!*depth)
		return;
	while (*depth > 1 && list[*depth - 1].slot < call->slot)
		--*depth;
	if (list[*depth - 1].slot != call->slot ||
	    list[*depth - 1].point != call->point)
		return;
	--*depth;
	if (does(&list[*depth], WHOLE_AT_RETURN))
		tell_effect(teller, "out", &list[*depth], call->result);
}

static void tell_whole(struct teller *teller, const struct watched_call *call)
{
	struct watched_call piece = *call;

	tell_entry(teller, &piece);
	piece.time = call->ended;
	if (call->ended)
		tell_return(teller, &piece);
}

/* ---- reading ---- */

static bool disabled; /* wholes are not made */

static void read_part(struct watched_list *list, bool all)
{
	struct written *from = &threads[list->block];
	struct open_calls open = { .disabled = disabled };
	size_t most = all ? from->count : 1 + (disabled ? 7 : any(30));

	for (; most-- && from->read < from->count; from->read++) {
		*agent_wholes_next(list) = from->calls[from->read];
		agent_wholes_add(list, &open);
	}
	list->more = from->read < from->count;
	agent_watch_order(list);
}

static void tell_list(struct teller *teller, struct watched_list *list,
		      uint64_t until, unsigned *wholes)
{
	struct watched_call both;

	while (list->next < list->count &&
	       list->calls[list->next].time <= until) {
		const size_t at = list->next++;
		const struct watched_call *call = &list->calls[at];

		*wholes += call->whole &&
			   !call->point->point->function->entry_only;
		if (!disabled && agent_wholes_join(list, at, until, &both)) {
			++*wholes;
			list->next++;
			tell_whole(teller, &both);
		} else if (call->whole) {
			tell_whole(teller, call);
		} else if (call->kind == AGENT_WATCH_ENTRY) {
			tell_entry(teller, call);
		} else {
			tell_return(teller, call);
		}
	}
}

static void tell_all(struct teller *teller, unsigned *wholes)
{
	struct watched_list lists[THREADS] = { 0 }, *all[THREADS], *next;
	const struct agent_engine engine = {
		.lists = all,
		.list_count = THREADS,
	};
	uint64_t limit;

	for (unsigned i = 0; i < THREADS; i++) {
		threads[i].read = 0;
		lists[i].block = i;
		lists[i].more = true;
		all[i] = &lists[i];
	}
	while ((next = agent_lists_earliest(&engine, read_part, &limit)))
		tell_list(teller, next, limit, wholes);
	for (unsigned i = 0; i < THREADS; i++) {
		ck_assert_uint_eq(threads[i].read, threads[i].count);
		free(lists[i].calls);
		free(lists[i].spare);
	}
}

START_TEST(wholes_come_to_what_their_pieces_do)
{
	struct teller pieces = { .text = { 0 } }, wholes = { .text = { 0 } };
	unsigned none = 0, many = 0;

	set_up((unsigned)_i);
	write_all();
	disabled = true;
	tell_all(&pieces, &none);
	disabled = false;
	tell_all(&wholes, &many);
	ck_assert_uint_eq(none, 0);
	ck_assert_uint_gt(many, EACH / 4);
	ck_assert_str_eq(strbuf_text(&wholes.text), strbuf_text(&pieces.text));
	strbuf_fini(&pieces.text);
	strbuf_fini(&wholes.text);
}
END_TEST

/* ---- records ---- */

#define RECORDS 300

static int compare_records(const void *a, const void *b)
{
	const struct recorded *x = *(struct recorded *const *)a;
	const struct recorded *y = *(struct recorded *const *)b;

	if (x->record.began != y->record.began)
		return x->record.began < y->record.began ? -1 : 1;
	if (x->record.ended != y->record.ended)
		return x->record.ended > y->record.ended ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

START_TEST(records_are_put_in_order)
{
	static struct recorded list[RECORDS];
	struct recorded *wanted[RECORDS], **found;
	struct recorded_order order = { { NULL }, 0 };
	const unsigned count = _i < 4 ? (unsigned)_i : RECORDS;
	const unsigned span = _i % 2 ? 8 : 4 * RECORDS;
	size_t kept = 0, found_count;

	srand((unsigned)_i);
	for (unsigned i = 0; i < count; i++) {
		/* Some lists are runs already, and some have few times. */
		const uint64_t began = _i % 3 ? (uint64_t)rand() % span : i;

		list[i] = (struct recorded){ .order = i };
		list[i].record.began = began;
		list[i].record.ended = began + (uint64_t)rand() % 4;
		list[i].due = list[i].record.ended;
		if (list[i].due <= span / 2)
			wanted[kept++] = &list[i];
	}
	qsort(wanted, kept, sizeof(*wanted), compare_records);
	found = agent_records_order(&order, list, count, span / 2,
				    &found_count);
	ck_assert_uint_eq(found_count, kept);
	for (size_t i = 0; i < kept; i++)
		ck_assert_ptr_eq(found[i], wanted[i]);
	agent_records_order_fini(&order);
}
END_TEST

static void read_nothing(struct watched_list *list, bool all)
{
	(void)all;
	list->more = false;
}

/* Of others that were later more may come, of a time before. Of one its thread isn't
   known. */
START_TEST(what_goes_is_told_of_as_a_whole)
{
	struct agent_point going = { .stub = 0 }, other = { .stub = 1 };
	struct watched_call calls[2][4] = {
		{ { .point = &going, .tid = 1, .time = 10 },
		  { .point = &going, .tid = 1, .time = 30 },
		  { .point = &other, .tid = 1, .time = 50 } },
		{ { .point = &other, .tid = 2, .time = 20 },
		  { .point = &other, .tid = 2, .time = 40 },
		  { .point = &other, .tid = 2, .time = 60 },
		  { .point = &other, .tid = 0, .time = 70 } },
	};
	struct watched_list lists[] = {
		{ .calls = calls[0], .count = 3, .more = true },
		{ .calls = calls[1], .count = 4, .more = true },
	};
	struct watched_list *all[] = { &lists[0], &lists[1] };
	const struct agent_engine engine = { .lists = all, .list_count = 2 };

	ck_assert_uint_eq(agent_lists_last(&engine, read_nothing,
					   AGENT_ALL_OF_NOBODY, 15),
			  15);
	ck_assert_uint_eq(
		agent_lists_last(&engine, read_nothing,
				 (struct agent_all_of){ .point = &going }, 15),
		30);
	ck_assert_uint_eq(
		agent_lists_last(&engine, read_nothing,
				 (struct agent_all_of){ .point = &going }, 35),
		35);
	ck_assert_uint_eq(agent_lists_last(&engine, read_nothing,
					   (struct agent_all_of){ .tid = 2 },
					   15),
			  60);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wholes");
	TCase *tests = tcase_create("wholes");

	tcase_add_loop_test(tests, wholes_come_to_what_their_pieces_do, 0, 50);
	tcase_add_loop_test(tests, records_are_put_in_order, 0, 60);
	tcase_add_test(tests, what_goes_is_told_of_as_a_whole);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
