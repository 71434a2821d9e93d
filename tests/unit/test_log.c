/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/file/output.h"
#include "report/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/demangle.h"
#include "base/xalloc.h"
#include "unit.h"

#define MS    1000000ull
#define ONE   100 /* two tasks, and a process that one of them forks */
#define TWO   101
#define CHILD 200

static const char prototypes_text[] = "int add(int, int);\n"
				      "void hush(void);\n"
				      "int fill(int, +int*, int);\n"
				      "void quit(int);\n";

static struct function functions[] = {
	{ .name = "add", .library = "libmath.so.1", .caller = "libapp.so.2" },
	{ .name = "hush", .caller = "app" },
	{ .name = "fill", .library = "libc.so.6", .place = FUNCTION_ENTRY },
	{ .name = "quit", .returns = RETURNS_NEVER },
	{ .name = "own", .place = FUNCTION_ENTRY },
	{ .name = "_ZN3box3putEi", .caller = "app" },
	{ .name = "e\033[2J\xc3\xa9\xc2\x9b\xff",
	  .library = "a\nb",
	  .place = FUNCTION_ENTRY },
};

enum { ADD, HUSH, FILL, QUIT, OWN, PUT, EVIL };

/* Memory that holds one number, at any address that is not null. */
static size_t read_seven(struct memory *memory UNUSED, taddr_t address,
			 void *ret, size_t size)
{
	static const int seven[2] = { 7 };

	if (!address)
		return 0;
	if (size > sizeof(seven))
		size = sizeof(seven);
	memcpy(ret, seven, size);
	return size;
}

static const struct memory_ops memory_ops = { .read = read_seven };
static struct memory memory = { .ops = &memory_ops };

static struct prototypes *prototypes;
static struct log_options options;
static struct sink *sink;
static char directory[64];
static uint64_t next_id;

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", directory, name);
}

static void setup(void)
{
	char *path;
	size_t i;
	FILE *file;

	strcpy(directory, "/tmp/test_log.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	path = path_of("own.conf");
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(prototypes_text, file);
	fclose(file);
	prototypes = prototypes_new();
	ck_assert_int_eq(prototypes_add(prototypes, path), 0);
	unlink(path);
	free(path);
	for (i = 0; i < ARRAY_SIZE(functions); i++)
		functions[i].prototype =
			prototypes_find(prototypes, NULL, functions[i].name);
	options = (struct log_options){
		.path = path_of("log"),
		.align = 24,
		.limits = { .string_bytes = 32, .array_elements = 4 },
	};
	signal(SIGPIPE, SIG_IGN);
}

static void teardown(void)
{
	char *command = xasprintf("rm -r %s", directory);

	sinks_free(sink);
	sink = NULL;
	prototypes_free(prototypes);
	ck_assert_int_eq(system(command), 0);
	free(command);
	free((char *)options.path);
}

static void set_path(const char *name)
{
	free((char *)options.path);
	options.path = path_of(name);
}

static void start(void)
{
	ck_assert_int_eq(log_new(&options, &sink), 0);
}

static char *read_text(const char *name)
{
	char *path = path_of(name);
	char *text = xcalloc(1, 1 << 20);
	FILE *file = fopen(path, "r");

	ck_assert_msg(file, "no file %s", name);
	ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
	fclose(file);
	free(path);
	return text;
}

static void expect_file(const char *name, const char *expected)
{
	char *text = read_text(name);

	ck_assert_str_eq(text, expected);
	free(text);
}

/* The first line names the process, and its program when there is one. */
static void expect_file_of(const char *name, pid_t pid, const char *expected)
{
	char *head = xasprintf("==== log of process %d", (int)pid);
	char *text = read_text(name);
	const char *end = strchr(text, '\n');

	ck_assert_str_eq(end ? end + 1 : text, expected);
	ck_assert(!strncmp(text, head, strlen(head)));
	ck_assert(strchr(",\n", text[strlen(head)]));
	free(text);
	free(head);
}

static void expect(const char *expected)
{
	ck_assert_int_eq(sinks_finish(sink), 0);
	expect_file("log", expected);
}

static int send(struct event event)
{
	return sinks_event(sink, &event);
}

static pid_t pid_of(pid_t tid)
{
	return tid >= CHILD ? tid : ONE;
}

static struct call call_of(int which, pid_t tid, unsigned depth, uint64_t ms,
			   long a, long b)
{
	const uint64_t arguments[] = { a, b, 3, 4 };
	struct call call = {
		.function = &functions[which],
		.id = ++next_id,
		.pid = pid_of(tid),
		.tid = tid,
		.depth = depth,
		.arch = arch_native,
		.memory = &memory,
		.return_address = 0x401136,
		.time = ms * MS,
	};

	for (unsigned i = 0; i < ARRAY_SIZE(arguments); i++)
		ck_assert_int_eq(arch_native->set_argument(&call.entry, &memory,
							   i, arguments[i]),
				 0);
	return call;
}

static int begin(const struct call *call)
{
	return send((struct event){ .kind = EVENT_CALL,
				    .pid = call->pid,
				    .tid = call->tid,
				    .time = call->time,
				    .call = call });
}

static struct call called(int which, pid_t tid, unsigned depth, uint64_t ms,
			  long a, long b)
{
	struct call call = call_of(which, tid, depth, ms, a, b);

	ck_assert_int_eq(begin(&call), 0);
	return call;
}

static void returned_on(const struct call *call, pid_t tid, uint64_t ms,
			long result)
{
	struct regs regs = call->entry;

	arch_native->syscall_set_result(&regs, result);
	ck_assert_int_eq(send((struct event){ .kind = EVENT_RETURN,
					      .pid = pid_of(tid),
					      .tid = tid,
					      .time = ms * MS,
					      .call = call,
					      .regs = &regs }),
			 0);
}

static void returned(const struct call *call, uint64_t ms, long result)
{
	returned_on(call, call->tid, ms, result);
}

static void abandoned(const struct call *call, uint64_t ms, enum call_end end)
{
	ck_assert_int_eq(send((struct event){ .kind = EVENT_ABANDON,
					      .pid = call->pid,
					      .tid = call->tid,
					      .time = ms * MS,
					      .call = call,
					      .end = end }),
			 0);
}

static void happened(enum event_kind kind, pid_t tid, uint64_t ms)
{
	ck_assert_int_eq(send((struct event){ .kind = kind,
					      .pid = pid_of(tid),
					      .tid = tid,
					      .time = ms * MS,
					      .child = CHILD }),
			 0);
}

static void executed(pid_t tid, uint64_t ms, const char *path)
{
	ck_assert_int_eq(send((struct event){ .kind = EVENT_EXEC,
					      .pid = pid_of(tid),
					      .tid = tid,
					      .time = ms * MS,
					      .path = path }),
			 0);
}

static void signalled(pid_t tid, uint64_t ms, int number)
{
	ck_assert_int_eq(send((struct event){ .kind = EVENT_SIGNAL,
					      .pid = pid_of(tid),
					      .tid = tid,
					      .time = ms * MS,
					      .signal = number,
					      .ip = 0x7f00 }),
			 0);
}

static void ended(pid_t tid, uint64_t ms, int status)
{
	ck_assert_int_eq(send((struct event){ .kind = EVENT_EXIT,
					      .pid = pid_of(tid),
					      .tid = tid,
					      .time = ms * MS,
					      .status = status }),
			 0);
}

START_TEST(a_call_is_one_line)
{
	struct call call;

	start();
	call = called(ADD, ONE, 0, 1, 1, -2);
	returned(&call, 2, -1);
	call = called(HUSH, ONE, 0, 1, 0, 0);
	returned(&call, 2, 0);
	call = called(FILL, ONE, 0, 1, 5, 0x1000);
	returned(&call, 2, 10);
	call = called(OWN, ONE, 0, 1, 1, 2);
	returned(&call, 2, 6);
	ended(ONE, 3, 3 << 8);
	expect("add(1, -2)              = -1\n"
	       "hush()                  = <void>\n"
	       "fill@libc.so.6(5, 7, 3) = 10\n"
	       "own(1, 2, 3, 4)         = 6\n"
	       "+++ exited (status 3) +++\n");
}
END_TEST

START_TEST(long_lines_keep_a_blank)
{
	struct call call;

	options.align = 8;
	start();
	call = called(ADD, ONE, 0, 1, 1, 2);
	returned(&call, 2, 3);
	call = called(HUSH, ONE, 0, 1, 1, 2);
	returned(&call, 2, 3);
	expect("add(1, 2) = 3\n"
	       "hush()  = <void>\n");
}
END_TEST

START_TEST(result_is_in_the_default_column)
{
	struct call call;

	options.align = 50;
	options.show_callers = true;
	start();
	call = called(ADD, ONE, 0, 1, 1, 2);
	returned(&call, 2, 3);
	expect("libapp.so.2->add(1, 2)                            = 3\n");
}
END_TEST

START_TEST(callers_and_libraries)
{
	struct call call;

	options.show_callers = true;
	options.align = 1;
	start();
	call = called(ADD, ONE, 0, 1, 1, 2);
	returned(&call, 2, 3);
	call = called(QUIT, ONE, 0, 1, 1, 2);
	abandoned(&call, 2, CALL_NEVER_RETURNS);
	call = called(FILL, ONE, 0, 1, 1, 0x1000);
	signalled(ONE, 1, SIGALRM);
	returned(&call, 2, 3);
	expect("libapp.so.2->add(1, 2) = 3\n"
	       "quit(1 <no return>\n"
	       "fill@libc.so.6(1 <unfinished ...>\n"
	       "--- SIGALRM (Alarm clock) ---\n"
	       "<... fill resumed> 7, 3) = 3\n");
}
END_TEST

START_TEST(durations)
{
	struct call call;

	options.durations = true;
	options.align = 1;
	start();
	call = called(ADD, ONE, 0, 5, 1, 2);
	returned(&call, 1006, 3);
	call = called(ADD, ONE, 0, 5, 1, 2);
	returned(&call, 4, 3);
	call = called(QUIT, ONE, 0, 5, 1, 2);
	abandoned(&call, 6, CALL_NEVER_RETURNS);
	expect("add(1, 2) = 3 <1.001000>\n"
	       "add(1, 2) = 3 <0.000000>\n"
	       "quit(1 <no return>\n");
}
END_TEST

START_TEST(nested_calls)
{
	struct call outer, inner;

	options.indent = 2;
	start();
	outer = called(ADD, ONE, 0, 1, 1, 2);
	inner = called(HUSH, ONE, 1, 2, 0, 0);
	returned(&inner, 3, 0);
	inner = called(FILL, ONE, 1, 2, 1, 0x1000);
	returned(&inner, 3, 9);
	returned(&outer, 4, 3);
	expect("add(1, 2 <unfinished ...>\n"
	       "  hush()                = <void>\n"
	       "  fill@libc.so.6(1, 7, 3) = 9\n"
	       "<... add resumed> )     = 3\n");
}
END_TEST

START_TEST(recursion)
{
	struct call call[3];
	int i;

	options.indent = 4;
	start();
	for (i = 0; i < 3; i++)
		call[i] = called(ADD, ONE, i, 1, i, i);
	for (i = 2; i >= 0; i--)
		returned(&call[i], 2, i);
	expect("add(0, 0 <unfinished ...>\n"
	       "    add(1, 1 <unfinished ...>\n"
	       "        add(2, 2)       = 2\n"
	       "    <... add resumed> ) = 1\n"
	       "<... add resumed> )     = 0\n");
}
END_TEST

START_TEST(indent_has_a_limit)
{
	struct call call;
	char *text;

	options.indent = 20;
	start();
	call = called(ADD, ONE, 4000000000u, 1, 1, 2);
	returned(&call, 2, 3);
	ck_assert_int_eq(sinks_finish(sink), 0);
	text = read_text("log");
	ck_assert_uint_eq(strspn(text, " "), 4096);
	ck_assert_str_eq(text + 4096, "add(1, 2) = 3\n");
	free(text);
}
END_TEST

START_TEST(two_tasks)
{
	struct call one, two;

	start();
	one = called(ADD, ONE, 0, 1, 1, 1);
	returned(&one, 1, 2);
	one = called(FILL, ONE, 0, 1, 1, 0x1000);
	two = called(ADD, TWO, 0, 2, 2, 2);
	returned(&one, 3, 0);
	returned(&two, 3, 4);
	one = called(ADD, ONE, 0, 1, 1, 1);
	returned(&one, 4, 2);
	expect("add(1, 1)               = 2\n"
	       "fill@libc.so.6(1 <unfinished ...>\n"
	       "101 add(2, 2 <unfinished ...>\n"
	       "100 <... fill resumed> 7, 3) = 0\n"
	       "101 <... add resumed> ) = 4\n"
	       "100 add(1, 1)           = 2\n");
}
END_TEST

START_TEST(pid_column_begins_with_the_second_task)
{
	struct call call;

	start();
	call = called(ADD, ONE, 0, 1, 1, 1);
	happened(EVENT_THREAD, TWO, 1);
	returned(&call, 1, 2);
	call = called(HUSH, ONE, 0, 1, 1, 1);
	returned(&call, 1, 2);
	expect("add(1, 1)               = 2\n"
	       "100 hush()              = <void>\n");
}
END_TEST

START_TEST(pid_column_after_a_fork)
{
	struct call call;

	start();
	happened(EVENT_FORK, ONE, 1);
	happened(EVENT_LEAVE, CHILD, 1);
	call = called(HUSH, ONE, 0, 1, 1, 1);
	returned(&call, 1, 2);
	call = called(HUSH, CHILD, 0, 1, 1, 1);
	returned(&call, 1, 2);
	expect("hush()                  = <void>\n"
	       "200 hush()              = <void>\n");
}
END_TEST

START_TEST(pid_column_from_the_start)
{
	options.show_pids = true;
	start();
	signalled(ONE, 1, SIGUSR1);
	expect("100 --- SIGUSR1 (User defined signal 1) ---\n");
}
END_TEST

START_TEST(standard_error_names_pids)
{
	struct call call;
	char *path = path_of("log");
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	int saved = dup(STDERR_FILENO);

	free(path);
	free((char *)options.path);
	options.path = NULL;
	options.show_pids = true;
	dup2(fd, STDERR_FILENO);
	start();
	call = called(FILL, ONE, 0, 1, 3, 0x1000);
	signalled(TWO, 1, SIGUSR1);
	returned(&call, 2, 3);
	ck_assert_int_eq(sinks_finish(sink), 0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	expect_file("log", "[pid 100] fill@libc.so.6(3 <unfinished ...>\n"
			   "[pid 101] --- SIGUSR1 (User defined signal 1) ---\n"
			   "[pid 100] <... fill resumed> 7, 3) = 3\n");
}
END_TEST

START_TEST(coroutines_return_on_any_task)
{
	struct call call;

	start();
	call = called(ADD, ONE, 0, 1, 1, 1);
	returned_on(&call, TWO, 2, 2);
	expect("add(1, 1 <unfinished ...>\n"
	       "101 <... add resumed> ) = 2\n");
}
END_TEST

START_TEST(calls_that_never_return)
{
	static const enum call_end ends[] = {
		CALL_LONGJMP,       CALL_EXCEPTION, CALL_THREAD_EXITED,
		CALL_NEVER_RETURNS, CALL_DETACHED,  CALL_UNSEEN,
	};
	struct call call;
	size_t i;

	start();
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		call = called(ADD, ONE, 0, 1, i, 0);
		abandoned(&call, 2, ends[i]);
	}
	call = called(HUSH, ONE, 0, 1, 0, 0);
	signalled(ONE, 1, SIGINT);
	abandoned(&call, 2, CALL_LONGJMP);
	call = called(HUSH, ONE, 0, 1, 0, 0);
	abandoned(&call, 2, CALL_NEVER_RETURNS);
	expect("add(0, 0 <unfinished: longjmp>\n"
	       "add(1, 0 <unfinished: exception>\n"
	       "add(2, 0 <unfinished: thread exited>\n"
	       "add(3, 0 <no return>\n"
	       "add(4, 0 <unfinished: detached>\n"
	       "add(5, 0 <unfinished: return unseen>\n"
	       "hush( <unfinished ...>\n"
	       "--- SIGINT (Interrupt) ---\n"
	       "<... hush resumed> <unfinished: longjmp>\n"
	       "hush( <no return>\n");
}
END_TEST

START_TEST(begun_line_is_ended_at_the_end)
{
	start();
	called(ADD, ONE, 0, 1, 1, 2);
	expect("add(1, 2 <unfinished ...>\n");
}
END_TEST

START_TEST(signals_and_ends)
{
	start();
	signalled(ONE, 1, SIGRTMIN);
	signalled(ONE, 1, SIGRTMIN + 3);
	signalled(ONE, 1, 32);
	executed(ONE, 1, "");
	executed(ONE, 1, "/bin/odd\nname");
	happened(EVENT_LEAVE, ONE, 1);
	ended(ONE, 2, SIGSEGV | 0x80);
	ended(ONE, 2, SIGKILL);
	ended(ONE, 2, 0);
	expect("--- SIGRTMIN (Real-time signal 0) ---\n"
	       "--- SIGRTMIN+3 (Real-time signal 3) ---\n"
	       "--- SIG32 (Unknown signal 32) ---\n"
	       "--- Called exec() ---\n"
	       "--- Called exec() of /bin/odd?name ---\n"
	       "+++ killed by SIGSEGV (core dumped) +++\n"
	       "+++ killed by SIGKILL +++\n"
	       "+++ exited (status 0) +++\n");
}
END_TEST

START_TEST(hidden_signals_break_no_line)
{
	struct call call;

	options.hide_signals = true;
	start();
	call = called(HUSH, ONE, 0, 1, 0, 0);
	signalled(ONE, 1, SIGINT);
	returned(&call, 2, 0);
	expect("hush()                  = <void>\n");
}
END_TEST

START_TEST(instruction_pointers)
{
	struct call call;

	options.ip = true;
	options.align = 1;
	start();
	call = called(HUSH, ONE, 0, 1, 0, 0);
	signalled(ONE, 1, SIGINT);
	returned(&call, 2, 0);
	ended(ONE, 3, 0);
	expect("[0x401136] hush( <unfinished ...>\n"
	       "[0x7f00] --- SIGINT (Interrupt) ---\n"
	       "[0x401136] <... hush resumed> ) = <void>\n"
	       "[0xffffffffffffffff] +++ exited (status 0) +++\n");
}
END_TEST

START_TEST(time_since_the_line_before)
{
	struct call call;

	options.relative = true;
	options.show_pids = true;
	options.ip = true;
	options.indent = 2;
	options.align = 1;
	start();
	call = called(HUSH, ONE, 1, 1000, 0, 0);
	signalled(ONE, 1002, SIGINT);
	returned(&call, 13502, 0);
	call = called(HUSH, ONE, 0, 13501, 0, 0);
	returned(&call, 14000, 0);
	expect("100   0.000000 [0x401136]   hush( <unfinished ...>\n"
	       "100   0.002000 [0x7f00] --- SIGINT (Interrupt) ---\n"
	       "100  12.500000 [0x401136]   <... hush resumed> ) = <void>\n"
	       "100   0.000000 [0x401136] hush() = <void>\n");
}
END_TEST

/* What is shown of the wall clock at a time, in hundredths of a second. */
static char *shown_clock(enum log_clock clock, uint64_t ms)
{
	char *text;

	options.clock = clock;
	start();
	signalled(ONE, ms, SIGINT);
	ck_assert_int_eq(sinks_finish(sink), 0);
	sinks_free(sink);
	sink = NULL;
	text = read_text("log");
	ck_assert_ptr_nonnull(strstr(text, " --- SIGINT (Interrupt) ---\n"));
	*strchr(text, ' ') = '\0';
	return text;
}

START_TEST(wall_clock)
{
	/* In the middle of a second, so that jitter does not matter. */
	uint64_t wall = clock_wall(clock_now());
	uint64_t middle =
		clock_now() - wall % NS_PER_SECOND + NS_PER_SECOND / 2;
	time_t second = wall / NS_PER_SECOND;
	char time[16], *text, *end;

	setenv("TZ", "XYZ-5:30", 1);
	tzset();
	strftime(time, sizeof(time), "%H:%M:%S", localtime(&second));
	text = shown_clock(LOG_CLOCK_SECONDS, middle / MS);
	ck_assert_str_eq(text, time);
	free(text);
	text = shown_clock(LOG_CLOCK_MICROSECONDS, middle / MS);
	ck_assert_int_eq(strncmp(text, time, 8), 0);
	ck_assert_uint_eq(strlen(text), 15);
	ck_assert_int_eq(text[8], '.');
	ck_assert_int_lt(abs(atoi(text + 9) - 500000), 200000);
	free(text);
	text = shown_clock(LOG_CLOCK_EPOCH, middle / MS);
	ck_assert_int_eq(strtol(text, &end, 10), second);
	ck_assert_uint_eq(strlen(end), 7);
	ck_assert_int_lt(abs(atoi(end + 1) - 500000), 200000);
	free(text);
}
END_TEST

START_TEST(names_are_made_printable)
{
	struct call call;

	options.align = 1;
	start();
	call = called(EVIL, ONE, 0, 1, 1, 2);
	returned(&call, 2, 3);
	expect("e\\033[2J\xc3\xa9\\302\\233\\377@a\\012b(1, 2, 3, 4) = 3\n");
}
END_TEST

START_TEST(endless_names_are_cut)
{
	char *name = xcalloc(100001, 1);
	struct call call;
	char *text;

	memset(name, 'a', 100000);
	functions[OWN].name = name;
	start();
	call = called(OWN, ONE, 0, 1, 1, 2);
	returned(&call, 2, 3);
	ck_assert_int_eq(sinks_finish(sink), 0);
	text = read_text("log");
	ck_assert_uint_eq(strspn(text, "a"), 16384);
	ck_assert_str_eq(text + 16384, "...(1, 2, 3, 4) = 3\n");
	free(text);
	free(name);
	functions[OWN].name = "own";
}
END_TEST

START_TEST(demangled_names)
{
	struct call call;

	options.demangle = true;
	options.align = 1;
	start();
	call = called(PUT, ONE, 0, 1, 1, 2);
	signalled(ONE, 1, SIGINT);
	returned(&call, 2, 3);
	call = called(ADD, ONE, 0, 1, 1, 2);
	returned(&call, 2, 3);
	expect("box::put(int)(1, 2, 3, 4 <unfinished ...>\n"
	       "--- SIGINT (Interrupt) ---\n"
	       "<... box::put(int) resumed> ) = 3\n"
	       "add(1, 2) = 3\n");
}
END_TEST

static void expect_demangled(const char *symbol, const char *expected)
{
	struct demangler demangler = { 0 };
	char *name = demangle(&demangler, symbol);

	ck_assert_pstr_eq(name, expected);
	ck_assert_uint_eq(demangler.given_up, 0);
	free(name);
}

START_TEST(languages)
{
	expect_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
			 "core::fmt::Formatter::pad");
	expect_demangled("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	expect_demangled("_ZdlPvm", "operator delete(void*, unsigned long)");
	expect_demangled("_Z3addii.part.0", "add(int, int) [clone .part.0]");
	expect_demangled("_ZNSt6vectorIiSaIiEE12emplace_backIJRKiEEERiDpOT_",
			 "int& std::vector<int>::"
			 "emplace_back<int const&>(int const&)");
	expect_demangled("malloc", NULL);
	expect_demangled("_exit", NULL);
	expect_demangled("_Z", NULL);
	expect_demangled("_R", NULL);
	expect_demangled("", NULL);
}
END_TEST

static char *repeated(const char *first, const char *part, int times)
{
	struct strbuf text = { 0 };

	strbuf_puts(&text, first);
	while (times--)
		strbuf_puts(&text, part);
	return text.text;
}

START_TEST(long_names)
{
	char *symbol = repeated("_Z1f", "3fooIiE", 300);
	char *name = repeated("f(foo<int>", ", foo<int>", 299);

	name = xreallocarray(name, strlen(name) + 2, 1);
	strcat(name, ")");
	expect_demangled(symbol, name);
	free(symbol);
	free(name);
	symbol = repeated("_Z1f", "P", 1000000);
	expect_demangled(symbol, NULL);
	free(symbol);
}
END_TEST

/* Symbols that libiberty does not come back from, or only with gigabytes. */
START_TEST(hostile_symbols)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *exponential = repeated("_ZN1acv", "T_I", 300);
	struct strbuf doubling = { 0 };
	struct demangler demangler = { 0 };
	int i;

	ck_assert_ptr_null(demangle(&demangler, exponential));
	ck_assert_uint_eq(demangler.given_up, 1);
	ck_assert_ptr_null(
		demangle(&demangler, "_RNvMINvC1a1bFGzzzzzzzzz_EuEuE1x"));
	ck_assert_uint_eq(demangler.given_up, 2);
	/* S_ is a; each a<…> has the one before twice. */
	strbuf_puts(&doubling, "_Z1f1aIiiE");
	for (i = 0; i < 30; i++)
		strbuf_printf(&doubling, "S_IS%c_S%c_E", digits[i], digits[i]);
	ck_assert_ptr_null(demangle(&demangler, doubling.text));
	ck_assert_uint_eq(demangler.given_up, 2);
	demangler.given_up = 1000;
	ck_assert_ptr_null(demangle(&demangler, exponential));
	ck_assert_uint_eq(demangler.given_up, 1000);
	strbuf_fini(&doubling);
	free(exponential);
}
END_TEST

START_TEST(a_file_for_each_process)
{
	struct call call, child;

	set_path("%%log.%p");
	options.show_pids = true;
	start();
	call = called(ADD, ONE, 0, 1, 1, 2);
	happened(EVENT_FORK, ONE, 1);
	child = called(HUSH, CHILD, 0, 1, 0, 0);
	returned(&call, 2, 3);
	returned(&child, 3, 0);
	ended(CHILD, 4, 0);
	signalled(CHILD, 5, SIGINT);
	called(FILL, TWO, 0, 1, 1, 0);
	ck_assert_int_eq(sinks_finish(sink), 0);
	expect_file_of("%log.100", 100,
		       "add(1, 2)               = 3\n"
		       "101 fill@libc.so.6(1 <unfinished ...>\n");
	expect_file_of("%log.200", 200,
		       "hush()                  = <void>\n"
		       "+++ exited (status 0) +++\n"
		       "--- SIGINT (Interrupt) ---\n");
}
END_TEST

static void expect_process_file(pid_t pid, const char *expected)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)pid);
	expect_file_of(name, pid, expected);
}

START_TEST(more_processes_than_descriptors)
{
	struct rlimit before, few;
	struct call call[64];
	char line[64];
	int i;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 20;
	set_path("%p");
	start();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (i = 0; i < 64; i++)
		call[i] = called(ADD, CHILD + i, 0, 1, 10 + i, 10);
	for (i = 0; i < 64; i++)
		returned(&call[i], 2, i);
	ck_assert_int_eq(sinks_finish(sink), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	for (i = 0; i < 64; i++) {
		snprintf(line, sizeof(line), "add(%d, 10)             = %d\n",
			 10 + i, i);
		expect_process_file(CHILD + i, line);
	}
}
END_TEST

START_TEST(what_is_there_is_out_after_a_flush)
{
	struct call call;

	start();
	signalled(ONE, 1, SIGINT);
	expect_file("log", "");
	call = called(ADD, ONE, 0, 1, 1, 2);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_file("log", "--- SIGINT (Interrupt) ---\n"
			   "add(1, 2");
	returned(&call, 2, 3);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_file("log", "--- SIGINT (Interrupt) ---\n"
			   "add(1, 2)               = 3\n");
}
END_TEST

START_TEST(much_is_written_without_a_flush)
{
	struct call call;
	char *text;
	int i;

	start();
	for (i = 0; i < 5000; i++) {
		call = called(ADD, ONE, 0, 1, 1, 2);
		returned(&call, 2, 3);
	}
	text = read_text("log");
	ck_assert_uint_gt(strlen(text), 100000);
	free(text);
	ck_assert_int_eq(sinks_finish(sink), 0);
	text = read_text("log");
	ck_assert_uint_eq(strlen(text), 5000 * 28);
	free(text);
}
END_TEST

static char *read_pipe(int fd)
{
	char *text = xcalloc(1, 1 << 20);
	size_t length = 0;
	ssize_t n;

	while ((n = read(fd, text + length, (1 << 20) - 1 - length)) > 0)
		length += n;
	return text;
}

static void write_lines(struct output *output, int from, int to)
{
	for (int i = from; i < to; i++) {
		strbuf_printf(&output->text, "line %d of many", i);
		ck_assert_int_eq(output_end_line(output), 0);
	}
}

static void tell_gap(struct strbuf *out, uint64_t lines)
{
	strbuf_printf(out, "gap %d\n", (int)lines);
}

/* No line is cut or doubled, and each that is missing is counted. */
static void check_lines(const char *text, int count)
{
	int next = 0, number, length;

	while (*text) {
		if (sscanf(text, "gap %d\n%n", &number, &length) == 1) {
			next += number;
		} else {
			ck_assert_int_eq(sscanf(text, "line %d of many\n%n",
						&number, &length),
					 1);
			ck_assert_int_eq(number, next++);
		}
		text += length;
	}
	ck_assert_int_eq(next, count);
}

START_TEST(a_reader_that_takes_nothing)
{
	struct output_policy policy = { .drops = true };
	struct output output;
	char *text, *more;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	output = (struct output){ .fd = ends[1],
				  .waits = true,
				  .add_gap = tell_gap,
				  .policy = &policy };
	write_lines(&output, 0, 50000);
	ck_assert(output.stuck);
	ck_assert_uint_gt(output.gap, 1000);
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	text = read_pipe(ends[0]);
	write_lines(&output, 50000, 50010);
	ck_assert_int_eq(output_flush(&output), 0);
	ck_assert(!output.stuck);
	ck_assert_uint_gt(policy.dropped, 1000);
	more = read_pipe(ends[0]);
	text = xreallocarray(text, 2 << 20, 1);
	check_lines(strcat(text, more), 50010);
	output_fini(&output);
	free(text);
	free(more);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* A reader who takes nothing for longer than those who leave are patient, … */
struct late_reader {
	volatile sig_atomic_t hurry;
	uint64_t began;
	uint64_t absent_ns; /* … we have no processor, as soon as he reads */
	int fd;
	char *text;
};

/* … and begins to read when somebody has wanted to leave for a moment. */
static void wait_for_reader(void *context)
{
	struct late_reader *reader = context;

	if (reader->hurry && !reader->text) {
		reader->text = read_pipe(reader->fd);
		usleep(reader->absent_ns / 1000);
	} else if (clock_now() - reader->began > 1200 * MS) {
		reader->hurry = true;
	}
}

static void leave_with_late_reader(uint64_t absent_ns)
{
	struct late_reader reader = { .began = clock_now(),
				      .absent_ns = absent_ns };
	struct output_policy policy = { .hurry = &reader.hurry,
					.waiting = wait_for_reader,
					.context = &reader };
	struct output output;
	char *more;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	reader.fd = ends[0];
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	output = (struct output){ .fd = ends[1],
				  .waits = true,
				  .policy = &policy };
	write_lines(&output, 0, 6000);
	ck_assert_int_eq(output_flush(&output), 0);
	ck_assert_ptr_nonnull(reader.text);
	more = read_pipe(ends[0]);
	reader.text = xreallocarray(reader.text, 2 << 20, 1);
	check_lines(strcat(reader.text, more), 6000);
	output_fini(&output);
	free(reader.text);
	free(more);
	close(ends[0]);
	close(ends[1]);
}

START_TEST(a_reader_that_comes_when_we_leave)
{
	leave_with_late_reader(0);
}
END_TEST

START_TEST(a_reader_that_comes_while_we_have_no_processor)
{
	leave_with_late_reader(1100 * MS);
}
END_TEST

static int open_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	struct termios raw;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(grantpt(fd), 0);
	ck_assert_int_eq(unlockpt(fd), 0);
	ck_assert_int_eq(tcgetattr(fd, &raw), 0);
	cfmakeraw(&raw);
	ck_assert_int_eq(tcsetattr(fd, TCSANOW, &raw), 0);
	return fd;
}

static void expect_read(int fd, const char *expected)
{
	char text[256];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	ck_assert_str_eq(text, expected);
}

START_TEST(terminals_see_calls_begin)
{
	int fd = open_terminal();
	struct call call;

	free((char *)options.path);
	options.path = xstrdup(ptsname(fd));
	start();
	call = called(FILL, ONE, 0, 1, 1, 0x1000);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_read(fd, "fill@libc.so.6(1");
	returned(&call, 2, 3);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_read(fd, ", 7, 3) = 3\n");
	call = called(HUSH, ONE, 0, 1, 1, 0);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_read(fd, "hush(");
	returned(&call, 2, 3);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_read(fd, ")                  = <void>\n");
	called(HUSH, ONE, 0, 1, 1, 0);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_read(fd, "hush(");
	signalled(ONE, 2, SIGINT);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_read(fd, " <unfinished ...>\n--- SIGINT (Interrupt) ---\n");
	close(fd);
}
END_TEST

START_TEST(full_disk)
{
	struct call call = call_of(ADD, ONE, 0, 1, 1, 2);
	int error = 0, i;

	free((char *)options.path);
	options.path = xstrdup("/dev/full");
	start();
	for (i = 0; i < 100000 && !error; i++)
		error = begin(&call);
	ck_assert_int_eq(error, -ENOSPC);
	ck_assert_int_eq(begin(&call), -ENOSPC);
	ck_assert_int_eq(sinks_flush(sink), -ENOSPC);
	ck_assert_int_eq(sinks_finish(sink), -ENOSPC);
}
END_TEST

START_TEST(closed_pipe)
{
	char *path = path_of("pipe");
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	set_path("pipe");
	start();
	signalled(ONE, 1, SIGINT);
	ck_assert_int_eq(sinks_flush(sink), 0);
	expect_read(fd, "--- SIGINT (Interrupt) ---\n");
	close(fd);
	signalled(ONE, 1, SIGINT);
	ck_assert_int_eq(sinks_flush(sink), -EPIPE);
	ck_assert_int_eq(sinks_finish(sink), -EPIPE);
	free(path);
}
END_TEST

START_TEST(files_that_cannot_be_opened)
{
	set_path("no/such");
	ck_assert_int_eq(log_new(&options, &sink), -ENOENT);
	set_path("no/such%p");
	start();
	ck_assert_int_eq(send((struct event){
				 .kind = EVENT_EXEC, .pid = ONE, .tid = ONE }),
			 -ENOENT);
}
END_TEST

static Suite *log_suite(void)
{
	const TTest *const tests[] = {
		a_call_is_one_line,
		long_lines_keep_a_blank,
		result_is_in_the_default_column,
		callers_and_libraries,
		durations,
		nested_calls,
		recursion,
		indent_has_a_limit,
		two_tasks,
		pid_column_begins_with_the_second_task,
		pid_column_after_a_fork,
		pid_column_from_the_start,
		standard_error_names_pids,
		coroutines_return_on_any_task,
		calls_that_never_return,
		begun_line_is_ended_at_the_end,
		signals_and_ends,
		hidden_signals_break_no_line,
		instruction_pointers,
		time_since_the_line_before,
		wall_clock,
		names_are_made_printable,
		endless_names_are_cut,
		demangled_names,
		languages,
		long_names,
		hostile_symbols,
		a_file_for_each_process,
		more_processes_than_descriptors,
		what_is_there_is_out_after_a_flush,
		much_is_written_without_a_flush,
		a_reader_that_takes_nothing,
		a_reader_that_comes_when_we_leave,
		a_reader_that_comes_while_we_have_no_processor,
		terminals_see_calls_begin,
		full_disk,
		closed_pipe,
		files_that_cannot_be_opened,
	};
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");
	size_t i;

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(log_suite());
}
