/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "probe/private.h"
#include "unit.h"

/*
 * A second engine beside traps: it catches functions whose names begin with
 * "own", and tells of them when the test says so, of a thread that nobody has
 * ever stopped.
 */

#define CODE_SIZE 4096u
#define OWN_TID   77

struct own_engine {
	struct engine engine;
	struct return_watch watch;
	bool tells_returns;
	unsigned planted, watched, caught_up;
	struct strbuf log;
};

static struct stage {
	struct own_engine own;
	struct sink sink;
	struct strbuf seen;
	struct filter *filters[3];
	struct prober *prober;
	struct tracer tracer;
	struct space *space;
	struct probe_space *probe_space;
	uint8_t *code;
	struct task_calls calls;
	uint64_t clock;
	volatile sig_atomic_t wake;
} s;

static const struct function own_f = { .name = "own_f" };
static const struct function own_brief = { .name = "own_brief",
					   .entry_only = true };
static const struct function other = { .name = "other" };

/* ---- the engine ---- */

static struct own_engine *own_of(struct engine *engine)
{
	return (struct own_engine *)engine;
}

static int own_plant(struct engine *engine, struct point *point)
{
	if (!point->function || strncmp(point->function->name, "own", 3))
		return -ENOTSUP;
	own_of(engine)->planted++;
	return 0;
}

static void own_unplant(struct engine *engine, struct point *point, bool gone)
{
	own_of(engine)->planted--;
	strbuf_printf(&own_of(engine)->log, "%s %s\n",
		      gone ? "gone" : "unplanted", point->function->name);
}

static struct return_watch *own_watch_return(struct engine *engine,
					     struct probe_space *space UNUSED,
					     const struct call *call UNUSED)
{
	if (!own_of(engine)->tells_returns)
		return NULL;
	own_of(engine)->watched++;
	return &own_of(engine)->watch;
}

static void own_unwatch_return(struct return_watch *watch)
{
	own_of(watch->engine)->watched--;
}

static void own_forget_range(struct engine *engine,
			     struct probe_space *space UNUSED, taddr_t low,
			     taddr_t high)
{
	if (high - low == CODE_SIZE)
		strbuf_printf(&own_of(engine)->log, "range gone\n");
}

static void own_leave(struct engine *engine, struct probe_space *space)
{
	ck_assert_ptr_eq(engine_space(space), s.space);
	strbuf_printf(&own_of(engine)->log, "leave\n");
}

static void own_end(struct engine *engine, struct probe_space *space UNUSED)
{
	strbuf_printf(&own_of(engine)->log, "end\n");
}

static void own_catch_up(struct engine *engine, uint64_t time UNUSED,
			 pid_t tid UNUSED)
{
	own_of(engine)->caught_up++;
}

static const struct engine_ops own_ops = {
	.name = "own",
	.promises = ENGINE_ENTRY | ENGINE_RETURN,
	.plant = own_plant,
	.unplant = own_unplant,
	.watch_return = own_watch_return,
	.unwatch_return = own_unwatch_return,
	.forget_range = own_forget_range,
	.leave = own_leave,
	.end = own_end,
	.catch_up = own_catch_up,
};

/* ---- the stage ---- */

static int note_event(struct sink *sink UNUSED, const struct event *event)
{
	strbuf_printf(&s.seen, "%s %d", event->call->function->name,
		      (int)event->tid);
	if (event->kind == EVENT_RETURN)
		strbuf_printf(&s.seen, " = %" PRIu64,
			      s.space->arch->result(event->regs));
	else if (event->kind == EVENT_ABANDON)
		strbuf_printf(&s.seen, " ends %d", event->end);
	strbuf_putc(&s.seen, '\n');
	return 0;
}

static const struct sink_ops sink_ops = { .event = note_event };

static void expect(struct strbuf *text, const char *expected)
{
	ck_assert_str_eq(strbuf_text(text), expected);
	strbuf_fini(text);
	*text = (struct strbuf){ 0 };
}

static void setup(void)
{
	struct prober_config config = { 0 };

	memset(&s, 0, sizeof(s));
	s.own.engine.ops = &own_ops;
	s.own.watch.engine = &s.own.engine;
	s.own.tells_returns = true;
	s.sink.ops = &sink_ops;
	for (unsigned i = 0; i < ARRAY_SIZE(s.filters); i++)
		s.filters[i] = filter_new();
	config.calls = s.filters[0];
	config.libraries = s.filters[1];
	config.entries = s.filters[2];
	config.sinks = &s.sink;
	config.wake = &s.wake;
	config.engines = &s.own.engine;
	s.prober = prober_new(&config);
	s.tracer.client = prober_client(s.prober);
	s.code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(s.code, MAP_FAILED);
	memset(s.code, 0x90, CODE_SIZE);
	ck_assert(!mprotect(s.code, CODE_SIZE, PROT_READ | PROT_EXEC));
	s.space = space_new(&s.tracer, getpid());
	s.probe_space = probe_space_of(s.space);
}

static void teardown(void)
{
	if (s.space)
		space_put(s.space);
	prober_free(s.prober);
	for (unsigned i = 0; i < ARRAY_SIZE(s.filters); i++)
		filter_free(s.filters[i]);
	strbuf_fini(&s.seen);
	strbuf_fini(&s.own.log);
	munmap(s.code, CODE_SIZE);
}

static taddr_t at(unsigned offset)
{
	return (uintptr_t)s.code + offset;
}

static void plant(const struct function *function, unsigned offset)
{
	probe_plant(s.probe_space, function,
		    &(struct probe_place){ .address = at(offset) });
}

static bool is_trapped(unsigned offset)
{
	const struct trap *trap = trap_find(s.space, at(offset));

	return trap && trap->planted;
}

/* ---- records ---- */

/* What was captured: one word of the stack, that of the return address. */
struct captured {
	struct memory memory;
	taddr_t slot;
	uint64_t word;
};

static size_t read_captured(struct memory *memory, taddr_t address, void *ret,
			    size_t size)
{
	const struct captured *captured = (struct captured *)memory;

	if (address != captured->slot || size != sizeof(captured->word))
		return 0;
	memcpy(ret, &captured->word, size);
	return size;
}

static const struct memory_ops captured_ops = { .read = read_captured };

static struct moment moment_of(struct captured *captured,
			       const struct regs *regs)
{
	return (struct moment){
		.space = s.probe_space,
		.pid = getpid(),
		.tid = OWN_TID,
		.arch = s.space->arch,
		.regs = regs,
		.memory = &captured->memory,
		.time = ++s.clock,
		.calls = &s.calls,
		.engine = &s.own.engine,
	};
}

static void tell_entry(unsigned offset, taddr_t slot, taddr_t return_address)
{
	struct captured captured = { { &captured_ops }, slot, return_address };
	const struct regs regs = { .user.rsp = slot, .user.rip = at(offset) };
	const struct moment moment = moment_of(&captured, &regs);
	struct point *point = points_at(s.probe_space, at(offset));

	ck_assert_ptr_nonnull(point);
	point->ops->reached(point, &moment);
}

static bool tell_return(taddr_t slot, taddr_t return_address, uint64_t result)
{
	struct captured captured = { { &captured_ops }, slot, return_address };
	const struct regs regs = { .user.rsp = slot + 8, .user.rax = result };
	const struct moment moment = moment_of(&captured, &regs);

	return pairing_return(&moment, return_address);
}

/* ---- tests ---- */

START_TEST(first_that_can)
{
	plant(&own_f, 0x10);
	plant(&other, 0x20);
	ck_assert_uint_eq(s.own.planted, 1);
	ck_assert(!is_trapped(0x10));
	ck_assert(is_trapped(0x20));
	plant(&own_f, 0x10);
	ck_assert_uint_eq(s.own.planted, 1);
	ck_assert_uint_eq(prober_counts(s.prober).probes, 2);
}
END_TEST

/* It can't tell where in the middle of a function a thread is. */
START_TEST(only_what_is_promised)
{
	probe_plant(s.probe_space, &own_f,
		    &(struct probe_place){ .address = at(0x10),
					   .at_jump = true });
	ck_assert_uint_eq(s.own.planted, 0);
	ck_assert(is_trapped(0x10));
}
END_TEST

START_TEST(calls_of_records)
{
	plant(&own_f, 0x10);
	plant(&own_brief, 0x20);
	tell_entry(0x10, 0x7000, 0x5000);
	tell_entry(0x20, 0x6000, 0x5100);
	expect(&s.seen, "own_f 77\nown_brief 77\nown_brief 77 ends 8\n");
	ck_assert_uint_eq(s.own.watched, 1);
	ck_assert(!tell_return(0x6000, 0x5100, 1));
	ck_assert(tell_return(0x7000, 0x5000, 42));
	expect(&s.seen, "own_f 77 = 42\n");
	ck_assert_uint_eq(s.own.watched, 0);
}
END_TEST

/* Before the first event of each, and not again for each event. */
START_TEST(catches_up_once_a_stop)
{
	plant(&own_f, 0x10);
	tell_entry(0x10, 0x7000, 0x5000);
	ck_assert_uint_eq(s.own.caught_up, 1);
	tell_entry(0x10, 0x6000, 0x5100);
	ck_assert_uint_eq(s.own.caught_up, 2);
	/* The inner call is given up, the outer one returns. */
	ck_assert(tell_return(0x7000, 0x5000, 42));
	ck_assert_uint_eq(s.own.caught_up, 3);
	expect(&s.seen, "own_f 77\nown_f 77\nown_f 77 ends 1\n"
			"own_f 77 = 42\n");
}
END_TEST

/* Where the engine can't tell of a return, a trap does. */
START_TEST(return_by_trap)
{
	s.own.tells_returns = false;
	plant(&own_f, 0x10);
	tell_entry(0x10, 0x7000, at(0x80));
	ck_assert(is_trapped(0x80));
	ck_assert(tell_return(0x7000, at(0x80), 7));
	expect(&s.seen, "own_f 77\nown_f 77 = 7\n");
}
END_TEST

START_TEST(watch_that_ends)
{
	plant(&own_f, 0x10);
	tell_entry(0x10, 0x7000, 0x5000);
	pairing_forget_watch(s.probe_space, &s.own.watch);
	ck_assert(tell_return(0x7000, 0x5000, 3));
	ck_assert_uint_eq(s.own.watched, 1);
	expect(&s.seen, "own_f 77\nown_f 77 = 3\n");
}
END_TEST

START_TEST(code_that_goes)
{
	plant(&own_f, 0x10);
	plant(&own_brief, 0x10);
	engines_forget_range(s.probe_space, at(0), at(CODE_SIZE));
	probes_forget_range(s.probe_space, at(0), at(CODE_SIZE));
	expect(&s.own.log, "range gone\ngone own_brief\ngone own_f\n");
	ck_assert_ptr_null(points_at(s.probe_space, at(0x10)));
}
END_TEST

START_TEST(end_of_a_space)
{
	struct tracee *tracee = tracee_new(&s.tracer, getpid(), s.space);

	plant(&own_f, 0x10);
	prober_abandon_all(s.prober, &s.tracer);
	expect(&s.own.log, "leave\n");
	s.space = NULL;
	tracee_free(&s.tracer, tracee);
	expect(&s.own.log, "gone own_f\nend\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("engine");
	TCase *tcase = tcase_create("engine");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, first_that_can);
	tcase_add_test(tcase, only_what_is_promised);
	tcase_add_test(tcase, calls_of_records);
	tcase_add_test(tcase, catches_up_once_a_stop);
	tcase_add_test(tcase, return_by_trap);
	tcase_add_test(tcase, watch_that_ends);
	tcase_add_test(tcase, code_that_goes);
	tcase_add_test(tcase, end_of_a_space);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
