/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target calls snprintf() itself, whatever hardening would make of it. */
#undef _FORTIFY_SOURCE

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "heap/watch.h"
#include "probe/private.h"
#include "report/format/dialect.h"
#include "report/heap/report.h"
#include "report/log/json.h"
#include "report/log/log.h"
#include "tracee/launch.h"
#include "tracee/loop.h"
#include "unit.h"

/*
 * A moment is all that is asked for. A program is traced by its stops, and each
 * moment is written to a file, with every byte of memory that was read while it
 * was looked at. When the program is gone a second engine tells of the same
 * moments, from the file: the log, its JSON and the report of the heap have to
 * be what they were.
 */

/* ---- the program that is traced: this one, with an argument ---- */

#define TARGET __attribute__((noinline, used))

static jmp_buf back;

TARGET double replay_half(double x, const char *text)
{
	return x / 2 + strtod(text, NULL);
}

TARGET void replay_thrown(void)
{
	longjmp(back, 1);
}

TARGET int replay_jump(void)
{
	replay_thrown();
	return 1;
}

TARGET int replay_work(int rounds)
{
	char text[32];
	char *kept = NULL;

	for (int i = 0; i < rounds; i++) {
		FILE *file = fopen("/nonexistent/replay", "r");

		snprintf(text, sizeof(text), "round %d", i);
		free(kept);
		kept = strdup(text);
		/* What it was is gone before anybody looks again. */
		memset(text, 'x', sizeof(text) - 1);
		if (file)
			fclose(file);
		if (i % 3 == 0)
			kept = realloc(kept, 100 + 10 * (size_t)i);
		if (replay_half(i, kept) > 1000)
			return 1;
	}
	return kept ? 0 : 2;
}

static void *replay_thread(void *leaked)
{
	*(char **)leaked = strdup("by the thread");
	return NULL;
}

static int be_target(void)
{
	pthread_t thread;
	char *leaked;

	if (!setjmp(back) && replay_jump())
		return 4;
	if (pthread_create(&thread, NULL, replay_thread, &leaked))
		return 3;
	pthread_join(thread, NULL);
	return replay_work(10) || !leaked;
}

/* ---- the file ---- */

enum record_kind { RECORD_MODULES, RECORD_ENTRY, RECORD_RETURN, RECORD_EVENT };

#define NAME_ROOM 64
#define PATH_ROOM 512

struct module_record {
	char path[PATH_ROOM];
	taddr_t bias;
	bool is_main, is_linker;
};

/* Of an entry or a return. */
struct moment_record {
	enum record_kind kind;
	char name[NAME_ROOM]; /* of the function, where the point has one */
	taddr_t address;      /* of the point, or that is returned to */
	pid_t pid, tid;
	struct regs regs;
	uint64_t time;
	struct stop_sums stops;
	struct stop_price price;
	bool has_fp;
	struct fp_regs fp;
	size_t answer_count, read_count;
};

struct answer {
	taddr_t a, b;
	bool is_one;
};

struct read {
	taddr_t address;
	size_t size;
	uint8_t *bytes;
};

/* ---- one run: by stops, or from the file ---- */

struct run {
	struct tracer tracer;
	struct prober *prober;
	struct filter *filters[3];
	struct prototypes *prototypes;
	struct families *families;
	struct stacks *stacks;
	struct unwinder *unwinder;
	struct namer *namer;
	struct watch *watch;
	struct sink tap;
	struct engine engine;
	volatile sig_atomic_t wake;
	char *log, *json, *heap; /* paths */
	size_t moments;
};

static struct run run;
static FILE *file;
static char directory[] = "/tmp/calltrap-replay-XXXXXX";

static void put(const void *bytes, size_t size)
{
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
}

static void take(void *ret, size_t size)
{
	ck_assert_uint_eq(fread(ret, 1, size, file), size);
}

/* ---- recording ---- */

/* A moment that is being looked at, and what was seen. */
struct looked {
	struct moment moment; /* what the prober is handed */
	struct memory memory;
	const struct moment *live;
	struct moment_record record;
	struct answer answers[16];
	struct read reads[4096];
};

static struct looked looked;
static size_t module_count;

static size_t read_and_note(struct memory *memory UNUSED, taddr_t address,
			    void *ret, size_t size)
{
	size_t n = memory_read_some(looked.live->memory, address, ret, size);
	struct read *read = &looked.reads[looked.record.read_count];

	if (!n)
		return 0;
	ck_assert_uint_lt(looked.record.read_count, ARRAY_SIZE(looked.reads));
	looked.record.read_count++;
	*read = (struct read){ address, n, xmalloc(n) };
	memcpy(read->bytes, ret, n);
	return n;
}

static const struct memory_ops noting_ops = { .read = read_and_note };

static int note_fp(const struct moment *moment UNUSED, struct fp_regs *ret)
{
	int err = looked.live->ops->fp_regs(looked.live, ret);

	looked.record.has_fp = !err;
	looked.record.fp = *ret;
	return err;
}

static bool note_mapping(const struct moment *moment UNUSED, taddr_t a,
			 taddr_t b)
{
	size_t n = looked.record.answer_count++;

	ck_assert_uint_lt(n, ARRAY_SIZE(looked.answers));
	looked.answers[n] = (struct answer){
		a, b, looked.live->ops->is_one_mapping(looked.live, a, b)
	};
	return looked.answers[n].is_one;
}

static const struct moment_ops noting_moment_ops = {
	.fp_regs = note_fp,
	.is_one_mapping = note_mapping,
};

static void put_modules(const struct space *space)
{
	const enum record_kind kind = RECORD_MODULES;
	const struct module *module;
	size_t count = 0;

	for (module = space->modules; module; module = module->next)
		count++;
	if (count == module_count)
		return;
	module_count = count;
	put(&kind, sizeof(kind));
	put(&space->random, sizeof(space->random));
	put(&count, sizeof(count));
	for (module = space->modules; module; module = module->next) {
		struct module_record record = {
			.bias = module->bias,
			.is_main = module->is_main,
			.is_linker = module->is_linker,
		};

		snprintf(record.path, PATH_ROOM, "%s", module->path);
		put(&record, sizeof(record));
	}
}

static const struct moment *begin_look(const struct moment *moment,
				       enum record_kind kind, taddr_t address,
				       const struct function *function)
{
	put_modules(moment->space->space);
	memset(&looked.record, 0, sizeof(looked.record));
	looked.live = moment;
	looked.memory.ops = &noting_ops;
	looked.moment = *moment;
	looked.moment.memory = &looked.memory;
	looked.moment.ops = &noting_moment_ops;
	looked.moment.engine = &run.engine;
	looked.moment.past = true;
	looked.record.kind = kind;
	looked.record.address = address;
	if (function)
		snprintf(looked.record.name, NAME_ROOM, "%s", function->name);
	looked.record.pid = moment->pid;
	looked.record.tid = moment->tid;
	looked.record.regs = *moment->regs;
	looked.record.time = moment->time;
	looked.record.stops = moment->stops;
	looked.record.price = *moment->price;
	run.moments++;
	return &looked.moment;
}

static void end_look(void)
{
	looked.live = NULL;
	put(&looked.record.kind, sizeof(looked.record.kind));
	put(&looked.record, sizeof(looked.record));
	put(looked.answers,
	    looked.record.answer_count * sizeof(*looked.answers));
	for (size_t i = 0; i < looked.record.read_count; i++) {
		put(&looked.reads[i], sizeof(looked.reads[i]));
		put(looked.reads[i].bytes, looked.reads[i].size);
		free(looked.reads[i].bytes);
	}
}

/* The engine of traps is asked; its points are ours, and tell the others. */
struct outer_point {
	struct point own;
	struct point *wanted;
};

static void on_reached(struct point *point, const struct moment *moment)
{
	struct point *wanted = ((struct outer_point *)point)->wanted;

	wanted->ops->reached(wanted,
			     begin_look(moment, RECORD_ENTRY, wanted->address,
					wanted->function));
	end_look();
}

static const struct point_ops outer_ops = { .reached = on_reached };

static int record_plant(struct engine *engine, struct point *point)
{
	struct outer_point *outer = xcalloc(1, sizeof(*outer));
	int err;

	outer->own = *point;
	outer->own.ops = &outer_ops;
	outer->wanted = point;
	err = trap_engine_ops.plant(engine, &outer->own);
	if (err)
		free(outer);
	else
		point->data = outer;
	return err;
}

static void record_unplant(struct engine *engine, struct point *point,
			   bool gone)
{
	struct outer_point *outer = point->data;

	trap_engine_ops.unplant(engine, &outer->own, gone);
	free(outer);
}

/* The linker puts this before the one that return sites call. */
bool __real_pairing_return(const struct moment *moment, taddr_t address);
bool __wrap_pairing_return(const struct moment *moment, taddr_t address);

bool __wrap_pairing_return(const struct moment *moment, taddr_t address)
{
	bool waited = __real_pairing_return(begin_look(moment, RECORD_RETURN,
						       address, NULL),
					    address);

	end_look();
	return waited;
}

/* What isn't made of a moment. */
static int tap(struct sink *sink UNUSED, const struct event *event)
{
	const enum record_kind kind = RECORD_EVENT;

	if (looked.live)
		return 0;
	/* Nothing of the program's is cut off by its end. */
	ck_assert_int_gt(event->kind, EVENT_ABANDON);
	put(&kind, sizeof(kind));
	put(event, sizeof(*event));
	return 0;
}

static int tap_nothing(struct sink *sink UNUSED,
		       const struct event *event UNUSED)
{
	return 0;
}

static int finish_nothing(struct sink *sink UNUSED)
{
	return 0;
}

static void free_nothing(struct sink *sink UNUSED)
{
}

static const struct sink_ops tap_ops = {
	.event = tap,
	.finish = finish_nothing,
	.free = free_nothing,
};

static const struct sink_ops no_tap_ops = {
	.event = tap_nothing,
	.finish = finish_nothing,
	.free = free_nothing,
};

/* ---- replaying ---- */

struct past {
	struct memory memory;
	struct moment_record record;
	struct answer answers[16];
	struct read reads[4096];
	unsigned unreachable;
};

static struct past past;

static const struct read *find_read(taddr_t address)
{
	for (size_t i = 0; i < past.record.read_count; i++)
		if (address - past.reads[i].address < past.reads[i].size)
			return &past.reads[i];
	return NULL;
}

static size_t read_past(struct memory *memory UNUSED, taddr_t address,
			void *ret, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct read *read = find_read(address + done);
		uint64_t offset;
		size_t n;

		if (!read)
			break;
		offset = address + done - read->address;
		n = read->size - offset;
		n = n < size - done ? n : size - done;
		memcpy((uint8_t *)ret + done, read->bytes + offset, n);
		done += n;
	}
	return done;
}

static const struct memory_ops past_ops = { .read = read_past };

static int past_fp(const struct moment *moment UNUSED, struct fp_regs *ret)
{
	*ret = past.record.fp;
	return past.record.has_fp ? 0 : -ENODATA;
}

static bool past_mapping(const struct moment *moment UNUSED, taddr_t a,
			 taddr_t b)
{
	for (size_t i = 0; i < past.record.answer_count; i++)
		if (past.answers[i].a == a && past.answers[i].b == b)
			return past.answers[i].is_one;
	return false;
}

static const struct moment_ops past_moment_ops = {
	.fp_regs = past_fp,
	.is_one_mapping = past_mapping,
};

static int replay_plant(struct engine *engine UNUSED,
			struct point *point UNUSED)
{
	return 0;
}

static void replay_unplant(struct engine *engine UNUSED,
			   struct point *point UNUSED, bool gone UNUSED)
{
}

static struct return_watch *replay_watch(struct engine *engine,
					 struct probe_space *space UNUSED,
					 const struct call *call UNUSED)
{
	static struct return_watch watch;

	watch.engine = engine;
	return &watch;
}

static void replay_unwatch(struct return_watch *watch UNUSED)
{
}

static void replay_forget(struct engine *engine UNUSED,
			  struct probe_space *space UNUSED, taddr_t low UNUSED,
			  taddr_t high UNUSED)
{
}

static const struct engine_ops replay_ops = {
	.name = "replay",
	.promises = ENGINE_ENTRY | ENGINE_ANY | ENGINE_RETURN | ENGINE_MEMORY,
	.plant = replay_plant,
	.unplant = replay_unplant,
	.watch_return = replay_watch,
	.unwatch_return = replay_unwatch,
	.forget_range = replay_forget,
};

static void add_module(struct space *space, const struct module_record *record)
{
	struct tracer_client *client = run.tracer.client;
	struct procfs_mapping mapping = { 0 };
	struct module *module;
	struct image *image;
	struct stat st;

	for (module = space->modules; module; module = module->next)
		if (module->bias == record->bias)
			return;
	ck_assert_msg(!stat(record->path, &st), "%s", record->path);
	mapping.inode = st.st_ino;
	snprintf(mapping.path, sizeof(mapping.path), "%s", record->path);
	ck_assert_int_eq(image_cache_open(run.tracer.images, getpid(), &mapping,
					  &image),
			 0);
	module = module_add(space, image, record->bias, record->path);
	module->is_main = record->is_main;
	module->is_linker = record->is_linker;
	client->ops->module_mapped(client, space, module);
}

static void take_modules(struct space *space)
{
	struct module_record record;
	size_t count;

	take(&space->random, sizeof(space->random));
	take(&count, sizeof(count));
	while (count--) {
		take(&record, sizeof(record));
		add_module(space, &record);
	}
	run.tracer.client->ops->modules_consistent(run.tracer.client, space);
}

static struct point *find_point(struct probe_space *space)
{
	const struct moment_record *record = &past.record;
	struct point *point = points_at(space, record->address);

	while (point && strcmp(point->function ? point->function->name : "",
			       record->name))
		point = point->same_address;
	ck_assert_msg(point, "no point for %s at %#lx", record->name,
		      (long)record->address);
	return point;
}

static struct task_calls *calls_of(pid_t tid)
{
	static struct {
		pid_t tid;
		struct task_calls calls;
	} known[8];
	size_t i;

	for (i = 0; known[i].tid && known[i].tid != tid; i++)
		ck_assert_uint_lt(i + 1, ARRAY_SIZE(known));
	known[i].tid = tid;
	return &known[i].calls;
}

static void take_moment(struct space *space)
{
	struct moment_record *record = &past.record;
	struct moment moment;
	struct point *point;
	size_t i;

	take(record, sizeof(*record));
	take(past.answers, record->answer_count * sizeof(*past.answers));
	for (i = 0; i < record->read_count; i++) {
		take(&past.reads[i], sizeof(past.reads[i]));
		past.reads[i].bytes = xmalloc(past.reads[i].size);
		take(past.reads[i].bytes, past.reads[i].size);
	}
	past.memory.ops = &past_ops;
	moment = (struct moment){
		.space = probe_space_of(space),
		.pid = record->pid,
		.tid = record->tid,
		.arch = space->arch,
		.regs = &record->regs,
		.memory = &past.memory,
		.past = true,
		.time = record->time,
		.stops = record->stops,
		.price = &record->price,
		.calls = calls_of(record->tid),
		.engine = &run.engine,
		.ops = &past_moment_ops,
	};
	if (record->kind == RECORD_ENTRY) {
		point = find_point(moment.space);
		point->ops->reached(point, &moment);
	} else {
		(void)__real_pairing_return(&moment, record->address);
	}
	for (i = 0; i < record->read_count; i++)
		free(past.reads[i].bytes);
	run.moments++;
}

static void take_event(void)
{
	struct event event;

	take(&event, sizeof(event));
	if (event.kind == EVENT_EXEC)
		event.path = "";
	prober_emit(run.prober, &event);
}

/* The number is that of a process that was there, and isn't. */
static void replay(pid_t pid)
{
	struct space *space = space_new(&run.tracer, pid);
	enum record_kind kind;

	while (fread(&kind, sizeof(kind), 1, file) == 1) {
		if (kind == RECORD_MODULES)
			take_modules(space);
		else if (kind == RECORD_EVENT)
			take_event();
		else
			take_moment(space);
	}
	space_put(space);
}

/* ---- what both runs have ---- */

static char *path_of(const char *pass, const char *what)
{
	return xasprintf("%s/%s.%s", directory, what, pass);
}

/* What /proc has said of the process is no matter of moments. */
static void print_heap(void *context UNUSED, const struct watched *process)
{
	struct heap_report_options options = { .path = run.heap };
	const struct heap_report_config config = {
		.options = &options,
		.stacks = run.stacks,
		.families = run.families,
		.namer = run.namer,
	};
	const struct heap_cost cost = { 0 };
	struct watched shown = *process;
	struct heap_report *report;

	shown.program = (char *)"";
	shown.rights = NULL;
	shown.name[0] = '\0';
	shown.first_vitals = shown.vitals = (struct vitals){ 0 };
	shown.samples = 0;
	shown.resident = (struct history){ 0 };
	shown.cost = (struct watched_cost){ 0 };
	ck_assert_int_eq(heap_report_new(&config, &report), 0);
	ck_assert_int_eq(heap_report_print(report, &shown,
					   heap_time(process->heap,
						     process->end),
					   &cost),
			 0);
	heap_report_free(report);
}

static void add_filter(struct filter *filter, const char *text)
{
	char *message = NULL;
	size_t column;

	ck_assert_msg(!filter_add(filter, text, &message, &column), "%s",
		      message);
}

static struct sink *open_sinks(const char *pass, const struct sink_ops *first)
{
	const struct print_limits limits = { .string_bytes = 32,
					     .array_elements = 4 };
	struct sink *log, *json;

	run.log = path_of(pass, "log");
	run.json = path_of(pass, "json");
	run.heap = path_of(pass, "heap");
	ck_assert_int_eq(log_new(&(struct log_options){ .path = run.log,
							.show_pids = true,
							.relative = true,
							.durations = true,
							.indent = 2,
							.align = 40,
							.where = 5,
							.stacks = run.stacks,
							.limits = limits,
							.dialect =
								&dialect_own },
				 &log),
			 0);
	ck_assert_int_eq(json_new(&(struct json_options){ .path = run.json,
							  .where = 5,
							  .stacks = run.stacks,
							  .limits = limits },
				  &json),
			 0);
	run.tap.ops = first;
	run.tap.next = log;
	log->next = json;
	json->next = watch_sink(run.watch);
	return &run.tap;
}

static const char families_text[] = "family malloc counts bytes\n"
				    "acquire malloc(size) = handle\n"
				    "resize realloc(old, size) = handle\n"
				    "release free(handle)\n";

static void add_prototypes(void)
{
	const char *top = getenv("top_srcdir");
	char *etc CLEANUP(xfree_cleanup) = xasprintf("%s/etc", top ? top : ".");

	run.prototypes = prototypes_new();
	prototypes_add_directory(run.prototypes, etc);
	run.families = families_new();
	families_parse(run.families, "malloc", families_text,
		       strlen(families_text));
}

static void open_run(const char *pass, const struct engine_ops *ops,
		     const struct sink_ops *first)
{
	struct prober_config config = { 0 };

	memset(&run, 0, sizeof(run));
	add_prototypes();
	run.stacks = stacks_new();
	run.unwinder = unwinder_new(run.stacks);
	run.namer = namer_new(&(struct namer_options){ .demangle = true });
	run.watch = watch_new(&(struct watch_options){ .families = run.families,
						       .stacks = run.stacks,
						       .ended = print_heap });
	for (size_t i = 0; i < ARRAY_SIZE(run.filters); i++)
		run.filters[i] = filter_new();
	add_filter(run.filters[2], "replay_*");
	add_filter(run.filters[2], "fopen");
	add_filter(run.filters[2], "snprintf");
	add_filter(run.filters[2], "strdup");
	add_filter(run.filters[2], "strtod");
	run.engine.ops = ops;
	config.calls = run.filters[0];
	config.libraries = run.filters[1];
	config.entries = run.filters[2];
	config.pick = watch_pick(run.watch);
	config.prototypes = run.prototypes;
	config.unwinder = run.unwinder;
	config.stacks = run.stacks;
	config.stack_depth = 8;
	config.sinks = open_sinks(pass, first);
	config.wake = &run.wake;
	config.engines = &run.engine;
	run.prober = prober_new(&config);
}

static void close_run(void)
{
	ck_assert_int_eq(sinks_finish(&run.tap), 0);
	sinks_free(&run.tap);
	prober_free(run.prober);
	unwinder_free(run.unwinder);
	namer_free(run.namer);
	stacks_free(run.stacks);
	families_free(run.families);
	prototypes_free(run.prototypes);
	for (size_t i = 0; i < ARRAY_SIZE(run.filters); i++)
		filter_free(run.filters[i]);
	free(run.log);
	free(run.json);
	free(run.heap);
}

static pid_t trace_target(void)
{
	struct engine_ops ops = trap_engine_ops;
	char self[PATH_ROOM] = "";
	char *command[] = { self, (char *)"target", NULL };
	struct inheritance inheritance;
	sig_atomic_t leave = 0;
	char *message = NULL;
	pid_t pid;

	ops.plant = record_plant;
	ops.unplant = record_unplant;
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	inheritance_save(&inheritance);
	open_run("live", &ops, &tap_ops);
	tracer_init(&run.tracer, prober_client(run.prober), false);
	ck_assert_msg(!launch(&run.tracer,
			      &(struct launch_config){ .command = command,
						       .inheritance =
							       &inheritance,
						       .leave = &leave },
			      &pid, &message),
		      "%s", message);
	loop_handle_queued(&run.tracer);
	ck_assert_int_eq(loop_run(&run.tracer, &run.wake), 0);
	tracer_fini(&run.tracer);
	close_run();
	return pid;
}

/* ---- the comparison ---- */

static char *content(const char *pass, const char *what)
{
	char *path CLEANUP(xfree_cleanup) = path_of(pass, what);
	struct strbuf text = { 0 };
	FILE *input = fopen(path, "r");
	int c;

	ck_assert_msg(input, "%s", path);
	while ((c = getc(input)) != EOF)
		strbuf_putc(&text, c);
	fclose(input);
	unlink(path);
	return text.text ? text.text : xstrdup("");
}

/* The wall clock is read when a line is written. */
static void blank_times(char *text)
{
	static const char key[] = "\"time\":";

	while ((text = strstr(text, key)))
		for (text += strlen(key); isdigit(*text) || *text == '.';
		     text++)
			*text = '0';
}

/* For how long a report was made: nobody says here when that was begun. */
static void cut_length_of_making(char *text)
{
	static const char words[] = "this report took ";

	text = strstr(text, words);
	if (!text)
		return;
	text += strlen(words);
	memmove(text, text + strcspn(text, "\n"),
		strlen(text + strcspn(text, "\n")) + 1);
}

static size_t length_of_line(const char *text)
{
	return strcspn(text, "\n") + (*text != '\0');
}

static void compare(const char *what, const char *has)
{
	char *live CLEANUP(xfree_cleanup) = content("live", what);
	char *replayed CLEANUP(xfree_cleanup) = content("past", what);
	const char *a = live, *b = replayed;
	unsigned line = 1;

	blank_times(live);
	blank_times(replayed);
	cut_length_of_making(live);
	cut_length_of_making(replayed);
	ck_assert_msg(strstr(live, has) != NULL, "no %s in the %s", has, what);
	while (*a && !strncmp(a, b, length_of_line(a))) {
		b += length_of_line(a);
		a += length_of_line(a);
		line++;
	}
	ck_assert_msg(!*a && !*b, "%s, line %u:\n%.300s\nis now\n%.300s", what,
		      line, a, b);
}

START_TEST(same_from_the_file)
{
	char *path CLEANUP(xfree_cleanup) = NULL;
	size_t moments;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(directory));
	path = path_of("moments", "all");
	file = fopen(path, "w+");
	pid = trace_target();
	moments = run.moments;
	ck_assert_int_lt(kill(pid, 0), 0);
	rewind(file);
	open_run("past", &replay_ops, &no_tap_ops);
	run.tracer.client = prober_client(run.prober);
	run.tracer.images = image_cache_new();
	replay(pid);
	close_run();
	image_cache_free(run.tracer.images);
	fclose(file);
	unlink(path);
	ck_assert_uint_eq(run.moments, moments);
	ck_assert_uint_gt(moments, 100);
	compare("log", "\"round 7\", 32, \"round %d\", 7) = 7");
	compare("json", "\"error\":\"ENOENT\"");
	compare("heap", "strdup");
	rmdir(directory);
}
END_TEST

static bool has_address_sanitizer(void)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
	return true;
#endif
#elif defined(__SANITIZE_ADDRESS__)
	return true;
#endif
	return false;
}

int main(int argc, char **argv)
{
	Suite *suite;
	TCase *tcase;

	if (argc == 2 && !strcmp(argv[1], "target"))
		return be_target();
	suite = suite_create("replay");
	tcase = tcase_create("replay");
	tcase_set_timeout(tcase, 120);
	/* Its allocator, and its snprintf(), would be traced as well. */
	if (!has_address_sanitizer())
		tcase_add_test(tcase, same_from_the_file);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
