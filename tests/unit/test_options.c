/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/completion.h"
#include "cli/duration.h"
#include "cli/option_table.h"
#include "cli/options.h"
#include "sysdeps/linux/process_name.h"

#define WORDS_MAX 32

/* A command line from one text, cut at blanks. */
struct words {
	char *text;
	int argc;
	char *argv[WORDS_MAX];
};

static void words_add(struct words *words, char *word)
{
	ck_assert_int_lt(words->argc, WORDS_MAX - 1);
	words->argv[words->argc++] = word;
	words->argv[words->argc] = NULL;
}

/* "~" in a word stands for no character: "''" of a shell. */
static struct words words_of(const char *text)
{
	struct words words = { .text = xasprintf("calltrap %s", text) };
	char *rest = NULL;

	for (char *word = strtok_r(words.text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(word, "~"))
			*word = '\0';
		words_add(&words, word);
	}
	return words;
}

/* What fn prints to standard error while it runs; to be freed. */
static int captured(struct words *words, struct options *options,
		    char **printed_ret)
{
	FILE *file = tmpfile();
	char *printed = xcalloc(1, 4096);
	int saved = dup(STDERR_FILENO);
	int err;

	ck_assert_ptr_nonnull(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	err = options_parse(words->argc, words->argv, options);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	ck_assert(fread(printed, 1, 4095, file) < 4095);
	fclose(file);
	*printed_ret = printed;
	return err;
}

static struct options parsed(struct words *words, const char *text)
{
	struct options options;
	char *printed;
	int err;

	*words = words_of(text);
	err = captured(words, &options, &printed);
	ck_assert_msg(!err, "%s: %s", text, printed);
	ck_assert_str_eq(printed, "");
	free(printed);
	return options;
}

static void done(struct options *options, struct words *words)
{
	options_fini(options);
	free(words->text);
}

START_TEST(test_defaults)
{
	struct words words;
	struct options o = parsed(&words, "prog -x -p 1");

	ck_assert_ptr_eq(o.command, words.argv + 1);
	ck_assert_str_eq(o.command[1], "-x");
	ck_assert_ptr_null(o.command[4]);
	ck_assert_uint_eq(o.pid_count, 0);
	ck_assert_ptr_null(o.user);
	ck_assert_ptr_null(o.configs);
	ck_assert_ptr_null(o.log.path);
	ck_assert(!o.follow && !o.only_named && !o.count && !o.help);
	ck_assert(!o.system_calls && !o.json);
	ck_assert(!o.version && !o.duration && !o.debug);
	ck_assert(o.default_calls);
	ck_assert(filter_is_empty(o.calls) && filter_is_empty(o.libraries) &&
		  filter_is_empty(o.entries));
	ck_assert(!o.log.show_pids && !o.log.show_callers);
	ck_assert(!o.log.relative && !o.log.durations && !o.log.ip);
	ck_assert(!o.log.demangle && !o.log.hide_signals);
	ck_assert_int_eq(o.log.clock, LOG_CLOCK_NONE);
	ck_assert_uint_eq(o.log.indent, 0);
	ck_assert_uint_eq(o.log.align, 50);
	ck_assert_uint_eq(o.log.limits.string_bytes, 32);
	ck_assert_uint_eq(o.log.limits.array_elements, 4);
	done(&o, &words);
}
END_TEST

START_TEST(test_bundle)
{
	struct words words;
	struct options o = parsed(&words, "-ttTgx mysql_real_query -p 12");

	ck_assert_int_eq(o.log.clock, LOG_CLOCK_MICROSECONDS);
	ck_assert(o.log.durations && o.only_named && !o.default_calls);
	ck_assert_str_eq(filter_text(o.entries, 0), "mysql_real_query");
	ck_assert(filter_is_empty(o.calls));
	ck_assert_uint_eq(o.pid_count, 1);
	ck_assert_int_eq(o.pids[0], 12);
	ck_assert_ptr_null(o.command);
	ck_assert(!o.log.show_pids && !o.log.show_callers);
	done(&o, &words);
}
END_TEST

static void expect_said(const char *text, const char *wanted)
{
	struct words words = words_of(text);
	struct options options;
	char *printed;

	ck_assert_int_eq(captured(&words, &options, &printed), 0);
	ck_assert(options.count);
	ck_assert_str_eq(printed, wanted);
	free(printed);
	done(&options, &words);
}

START_TEST(test_count_options)
{
	expect_said("-c ls", "");
	expect_said("-cTCb -s 7 -o out ls", "");
	expect_said("-c -w 5 --script --json out ls", "");
	expect_said("-c -w 5 --script -ttt ls",
		    "calltrap: -t has no effect with -c\n"
		    "calltrap: -w has no effect with -c\n"
		    "calltrap: --script has no effect with -c\n");
	expect_said("-rin2 -c ls", "calltrap: -r has no effect with -c\n"
				   "calltrap: -i has no effect with -c\n"
				   "calltrap: -n has no effect with -c\n");
}
END_TEST

START_TEST(test_short_options)
{
	struct words words;
	struct options o = parsed(
		&words,
		"-friTCb -e a -e b -l libc* -x d -n 20 -a 1 -s 0 -A 7 -u joe "
		"-o out.%p -D 5 -F a -F b:c:: -- heap -f");

	ck_assert(o.follow && !o.count && o.log.relative && o.log.ip);
	ck_assert(o.log.durations && o.log.demangle && o.log.hide_signals);
	ck_assert_uint_eq(filter_count(o.calls), 2);
	ck_assert_uint_eq(filter_count(o.libraries), 1);
	ck_assert_uint_eq(filter_count(o.entries), 1);
	ck_assert_uint_eq(o.log.indent, 20);
	ck_assert_uint_eq(o.log.align, 1);
	ck_assert_uint_eq(o.log.limits.string_bytes, 0);
	ck_assert_uint_eq(o.log.limits.array_elements, 7);
	ck_assert_str_eq(o.user, "joe");
	ck_assert_str_eq(o.log.path, "out.%p");
	ck_assert_uint_eq(o.debug, DIAG_STOP | DIAG_MODULE);
	ck_assert_str_eq(o.configs[0], "a");
	ck_assert_str_eq(o.configs[1], "b");
	ck_assert_str_eq(o.configs[2], "c");
	ck_assert_ptr_null(o.configs[3]);
	ck_assert(o.log.show_callers && o.log.show_pids && !o.default_calls);
	ck_assert_str_eq(o.command[0], "heap");
	ck_assert_str_eq(o.command[1], "-f");
	done(&o, &words);
}
END_TEST

START_TEST(test_long_options)
{
	struct words words;
	struct options o = parsed(
		&words,
		"--follow --library=libm* --config d --output=f --indent=3 "
		"--align 60 --demangle --no-signals --debug=stop,session,trap "
		"--for=1.5s ./heap");

	ck_assert(o.follow && o.log.demangle && o.log.hide_signals);
	ck_assert_str_eq(filter_text(o.libraries, 0), "libm*");
	ck_assert_str_eq(o.configs[0], "d");
	ck_assert_str_eq(o.log.path, "f");
	ck_assert_uint_eq(o.log.indent, 3);
	ck_assert_uint_eq(o.log.align, 60);
	ck_assert_uint_eq(o.debug, DIAG_STOP | DIAG_SESSION | DIAG_TRAP);
	ck_assert_uint_eq(o.duration, 1500000000);
	ck_assert_str_eq(o.command[0], "./heap");
	done(&o, &words);
}
END_TEST

static const struct {
	const char *text;
	enum log_clock clock;
} clocks[] = {
	{ "-t ls", LOG_CLOCK_SECONDS },
	{ "-tt ls", LOG_CLOCK_MICROSECONDS },
	{ "-t -t ls", LOG_CLOCK_MICROSECONDS },
	{ "-ttt ls", LOG_CLOCK_EPOCH },
	{ "-t -tTt ls", LOG_CLOCK_EPOCH },
	{ "-ttttt ls", LOG_CLOCK_EPOCH },
};

START_TEST(test_clock)
{
	struct words words;
	struct options o = parsed(&words, clocks[_i].text);

	ck_assert_int_eq(o.log.clock, clocks[_i].clock);
	done(&o, &words);
}
END_TEST

/* When @MAIN applies, and when callers are shown. */
static const struct {
	const char *text;
	bool default_calls, show_callers;
} filters[] = {
	{ "ls", true, false },          { "-x a ls", true, false },
	{ "-e a ls", false, true },     { "-l a ls", false, true },
	{ "-L -x a ls", false, false }, { "-g -x a ls", false, false },
	{ "-L -e a ls", false, true },  { "-L -l a ls", false, true },
};

START_TEST(test_default_calls)
{
	struct words words;
	struct options o = parsed(&words, filters[_i].text);

	ck_assert(o.default_calls == filters[_i].default_calls);
	ck_assert(o.log.show_callers == filters[_i].show_callers);
	done(&o, &words);
}
END_TEST

START_TEST(test_pids)
{
	struct words words;
	struct options o = parsed(&words, "-p 12,13 -p 13 -p 14, -p 12");

	ck_assert_uint_eq(o.pid_count, 3);
	ck_assert_int_eq(o.pids[0], 12);
	ck_assert_int_eq(o.pids[1], 13);
	ck_assert_int_eq(o.pids[2], 14);
	ck_assert(o.log.show_pids);
	done(&o, &words);
}
END_TEST

/* As from -p "$(pidof x)" and -p "$(pgrep x)". */
START_TEST(test_pids_by_blanks)
{
	struct words words = words_of("-p");
	char list[] = " 7 8\n9\n";
	struct options o;

	words_add(&words, list);
	ck_assert(!options_parse(words.argc, words.argv, &o));
	ck_assert_uint_eq(o.pid_count, 3);
	ck_assert_int_eq(o.pids[0], 7);
	ck_assert_int_eq(o.pids[2], 9);
	done(&o, &words);
}
END_TEST

START_TEST(test_pid_and_command)
{
	struct words words;
	struct options o = parsed(&words, "-p 12 ls");

	ck_assert_uint_eq(o.pid_count, 1);
	ck_assert_str_eq(o.command[0], "ls");
	ck_assert(o.log.show_pids);
	done(&o, &words);
}
END_TEST

static const struct {
	const char *text;
	const char *command;
	bool follow;
} verbs[] = {
	{ "trace ls", "ls", false },
	{ "trace -f ls", "ls", true },
	{ "-f trace ls", "ls", true },
	{ "trace trace", "trace", false },
	{ "trace heap", "heap", false },
	{ "trace -- heap", "heap", false },
	{ "-- trace", "trace", false },
	{ "-f -- heap", "heap", true },
	{ "./heap", "./heap", false },
	{ "-o -- ls", "ls", false },
	{ "-- -f", "-f", false },
	{ "-", "-", false },
	{ "heap -- diff a", "diff", false },
	{ "heap ./diff a b", "./diff", false },
	{ "heap -f diff a", "diff", true },
	{ "heap --json /dev/null --svg /dev/null a", "a", false },
	{ "-- memory", "memory", false },
	{ "-- doctor", "doctor", false },
	{ "-- top", "top", false },
	{ "heap diff a b", "a", false },
	{ "heap diff --top 3 --value alloc-bytes a b", "a", false },
	{ "heap diff a b --top 3", "a", false },
	{ "heap diff a --top 3 b", "a", false },
	{ "heap diff -- --top b", "--top", false },
};

START_TEST(test_verb)
{
	struct words words;
	struct options o = parsed(&words, verbs[_i].text);

	ck_assert_str_eq(o.command[0], verbs[_i].command);
	ck_assert(o.follow == verbs[_i].follow);
	done(&o, &words);
}
END_TEST

START_TEST(test_help_and_version)
{
	struct words words;
	struct options o = parsed(&words, "-h");

	ck_assert(o.help);
	done(&o, &words);
	o = parsed(&words, "-f --help --bad");
	ck_assert(o.help);
	done(&o, &words);
	o = parsed(&words, "-V");
	ck_assert(o.version && !o.help);
	done(&o, &words);
	o = parsed(&words, "--version");
	ck_assert(o.version);
	done(&o, &words);
}
END_TEST

#define SEE         "; see calltrap --help"
#define SEE_HEAP    "; see calltrap heap --help"
#define NOTHING_BUT "nothing to trace: give a COMMAND, -p PID or --name NAME"
#define NOTHING     NOTHING_BUT ", as in 'calltrap ls'" SEE
#define NOTHING_HEAP \
	NOTHING_BUT ", as in 'calltrap heap --for 60s -p 4711'" SEE_HEAP
#define TWO_FILES                                                  \
	"heap diff: two profiles are needed, the old and the new " \
	"one; for a program of that name say calltrap heap -- diff"
#define BYTES(text)                                               \
	"--sample '" text "': a number of bytes is expected, as " \
	"4096 or 512k (k, m, g: 1024 of each other)"
#define MASK                                      \
	"an octal mask from 1 to 77, or some of " \
	"stop,trap,module,probe,prototype,session is expected"

static const struct {
	const char *text;
	const char *message;
} mistakes[] = {
	{ "", NOTHING },
	{ "-f", NOTHING },
	{ "-e malloc", NOTHING },
	{ "trace", NOTHING },
	{ "-f heap", "heap: a verb comes first, then its options; for a "
		     "program of that name say calltrap ./heap, or calltrap "
		     "-- heap" },
	{ "heap", NOTHING_HEAP },
	{ "heap --for", "--for: a DURATION is missing" SEE_HEAP },
	{ "heap -o ~ ls", "-o '': a FILE is missing" SEE_HEAP },
	{ "heap --suppress : ls",
	  "--suppress ':': a FILE is missing" SEE_HEAP },
	{ "heap -x f -p 1", "-x: unknown option" SEE_HEAP },
	{ "heap --json x --svg x ls", "--svg 'x': is what --json is written "
				      "to; give another name" },
	{ "heap -o x --calls x ls", "--calls 'x': is what -o is written to; "
				    "give another name" },
	{ "-o x --json x ls", "--json 'x': is what -o is written to; give "
			      "another name" },
	{ "heap diff --svg x --folded x a b", "--folded 'x': is what --svg is "
					      "written to; give another name" },
	{ "memory", "no process to look at: give -p PID or --name NAME, as in "
		    "'calltrap memory -p 4711'; see calltrap memory --help" },
	{ "memory f -p 1", "memory 'f': is a file, and no process is looked "
			   "at; leave -p out" },
	{ "memory f --save g", "memory 'f': is a file, and no process is "
			       "looked at; leave --save out" },
	{ "memory f g --leaks", "memory 'f': two files are compared; leave "
				"--leaks out" },
	{ "memory --holders -p 1",
	  "--holders '-p': WHOSE is missing, the address of a block or the "
	  "name of a type; see calltrap memory --help" },
	{ "memory -p 1 --svg x", "--svg: is of who holds blocks; --holders "
				 "WHOSE or --owners is missing" },
	{ "memory f --folded x", "--folded: is of who holds blocks; --holders "
				 "WHOSE or --owners is missing" },
	{ "memory -p 1 --touched 1s --leaks",
	  "--touched is of mappings, while nothing is stopped; leave --leaks "
	  "out" },
	{ "memory f g --owners", "memory 'f': two files are compared; leave "
				 "--owners out" },
	{ "memory f --touched 1s", "memory 'f': is a file, and no process is "
				   "looked at; leave --touched out" },
	{ "memory f g h", "memory: one file, or two that are compared; see "
			  "calltrap memory --help" },
	{ "memory ls -l", "-l: unknown option; see calltrap memory --help" },
	{ "memory -p 1 --freeze x", "--freeze 'x': one of none, stop, clone is "
				    "expected" },
	{ "top", "no process to look at: give -p PID or --name NAME, as in "
		 "'calltrap top -p 4711'; see calltrap top --help" },
	{ "top ls", "top: 'ls' is no option, and nothing is started: give -p "
		    "PID or --name NAME; for a program of that name say "
		    "calltrap -- top" },
	{ "top -p 1 --by line", "--by 'line': one of site, library, thread, "
				"family is expected" },
	{ "top -p 1 --sort x", "--sort 'x': one of verdict, held, change, "
			       "rate, age is expected" },
	{ "top -p 1 -o x", "-o: unknown option; see calltrap top --help" },
	{ "doctor ls", "doctor: 'ls' is no option, and nothing is started: "
		       "give -p PID or --name NAME; for a program of that name "
		       "say calltrap -- doctor" },
	{ "doctor -f", "-f: unknown option; see calltrap doctor --help" },
	{ "doctor --json=x", "--json: takes no argument; leave '=' and what "
			     "follows out" },
	{ "memory -f", "-f: unknown option; see calltrap memory --help" },
	{ "heap diff", TWO_FILES },
	{ "heap diff a", TWO_FILES },
	{ "heap diff a b c", TWO_FILES },
	{ "heap diff a b -f", "-f: unknown option; see calltrap heap diff "
			      "--help" },
	{ "heap diff a --none b",
	  "--none: unknown option; see calltrap heap diff "
	  "--help" },
	{ "heap diff -f a b", "-f: unknown option; see calltrap heap diff "
			      "--help" },
	{ "heap --by day -p 1", "--by 'day': one of stack, function, line, "
				"library, thread, size, component, "
				"script is expected" },
	{ "heap --sample 512kB -p 1", BYTES("512kB") },
	{ "heap --sample 5X -p 1", BYTES("5X") },
	{ "heap --sample K -p 1", BYTES("K") },
	{ "heap --sample 0 -p 1", BYTES("0") },
	{ "heap --sample 1025G -p 1", BYTES("1025G") },
	{ "heap --sample 99999999999999999G -p 1",
	  BYTES("99999999999999999G") },
	{ "heap --every 0s -p 1", "--every '0s': this is no time at all" },
	{ "-Z ls", "-Z: unknown option" SEE },
	{ "-ttZ ls", "-Z: unknown option" SEE },
	{ "--follow -tZ ls", "-Z: unknown option" SEE },
	{ "--none ls", "--none: unknown option" SEE },
	{ "--none=3 ls", "--none=3: unknown option" SEE },
	{ "--de ls", "--de: may mean several options" SEE },
	{ "--follow=1 ls",
	  "--follow: takes no argument; leave '=' and what follows out" },
	{ "-p", "-p: a PID is missing" SEE },
	{ "-tx", "-x: a FILTER is missing" SEE },
	{ "--output", "--output: a FILE is missing" SEE },
	{ "-o ~ ls", "-o '': a FILE is missing" SEE },
	{ "-F ~ ls", "-F '': a FILE is missing" SEE },
	{ "--json ~ ls", "--json '': a FILE is missing" SEE },
	{ "--json", "--json: a FILE is missing" SEE },
	{ "-F :: ls", "-F '::': a FILE is missing" SEE },
	{ "-p ~", "-p '': a process id is missing" },
	{ "-p ,", "-p ',': a process id is missing" },
	{ "-p 12,x",
	  "-p 'x': not a process id; for a process's name use --name" },
	{ "-p 12x",
	  "-p '12x': not a process id; for a process's name use --name" },
	{ "-p 0", "-p '0': not a process id; for a process's name use --name" },
	{ "-p -1",
	  "-p '-1': not a process id; for a process's name use --name" },
	{ "-p 2147483648", "-p '2147483648': not a process id; for a process's "
			   "name use --name" },
	{ "-p 99999999999999999999", "-p '99999999999999999999': not a process "
				     "id; for a process's name use --name" },
	{ "-n 21 ls", "-n '21': a number from 0 to 20 is expected" },
	{ "-n -1 ls", "-n '-1': a number from 0 to 20 is expected" },
	{ "-n +1 ls", "-n '+1': a number from 0 to 20 is expected" },
	{ "-n ~ ls", "-n '': a number from 0 to 20 is expected" },
	{ "-n 1x ls", "-n '1x': a number from 0 to 20 is expected" },
	{ "-a 10001 ls", "-a '10001': a number from 0 to 10000 is expected" },
	{ "-s 99999999999999999999 ls", "-s '99999999999999999999': a number "
					"from 0 to 2147483647 is expected" },
	{ "-A 0x3 ls", "-A '0x3': a number from 0 to 2147483647 is expected" },
	{ "-e foo[ ls", "-e 'foo[': column 4: no ']' ends this '['" },
	{ "-x a+/b ls", "-x 'a+/b': column 3: no '/' ends the regular "
			"expression begun here" },
	{ "-l lib[ ls", "-l 'lib[': column 4: no ']' ends this '['" },
	{ "-e ~ ls", "-e '': column 1: a name is missing here (a '+' or '-' "
		     "in a name is written '\\+' or '\\-')" },
	{ "-r -t ls",
	  "-r: can't be used together with -t; leave one of them out" },
	{ "-tttr ls",
	  "-r: can't be used together with -t; leave one of them out" },
	{ "heap --by component ls", "--by component: --components FILE is "
				    "missing, which says what they are" },
	{ "heap --growth mmap --histogram ls",
	  "--histogram: is of blocks, "
	  "which --growth shows with 'leaks' in its list" },
	{ "heap --growth heap --objects f ls",
	  "--objects: has nothing of --growth, unless leaks are watched as "
	  "well" },
	{ "-u joe -p 12", "-u 'joe': there is no COMMAND to run as that user" },
	{ "-D 100 ls", "-D '100': " MASK },
	{ "-D 8 ls", "-D '8': " MASK },
	{ "-D 0 ls", "-D '0': " MASK },
	{ "-D stop,sto ls", "-D 'stop,sto': " MASK },
	{ "-D stop, ls", "-D 'stop,': " MASK },
	{ "--for 10 ls", "--for '10': no unit; say 10s, or use ms, m or h" },
	{ "--for x ls", "--for 'x': a number with ms, s, m or h is expected, "
			"as in 1.5s" },
	{ "--name ~", "--name '': a process name is missing" },
	{ "-e a\nb[ ls", "-e 'a?b[': column 4: no ']' ends this '['" },
};

START_TEST(test_mistake)
{
	struct words words = words_of(mistakes[_i].text);
	char *expected = xasprintf("calltrap: %s\n", mistakes[_i].message);
	struct options options;
	char *printed;

	ck_assert_msg(captured(&words, &options, &printed) == -EINVAL,
		      "%s was accepted", mistakes[_i].text);
	ck_assert_str_eq(printed, expected);
	free(printed);
	free(expected);
	free(words.text);
}
END_TEST

static pid_t start_named(const char *name)
{
	int ready[2];
	char byte;
	pid_t pid;

	ck_assert(!pipe(ready));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

START_TEST(test_name)
{
	char *name = xasprintf("ctn) (%d", (int)getpid() % 100000);
	pid_t first = start_named(name), second = start_named(name);
	struct words words = words_of("--name");
	struct options o;

	words_add(&words, name);
	ck_assert(!options_parse(words.argc, words.argv, &o));
	ck_assert_uint_eq(o.pid_count, 2);
	ck_assert(o.pids[0] == first || o.pids[1] == first);
	ck_assert(o.pids[0] == second || o.pids[1] == second);
	ck_assert(o.log.show_pids);
	end(first);
	end(second);
	done(&o, &words);
	free(name);
}
END_TEST

/* A dead process that nobody has waited for can't be traced. */
START_TEST(test_name_of_zombie)
{
	char *name = xasprintf("ctz%d", (int)getpid());
	pid_t pid = start_named(name);
	pid_t *pids = NULL;
	siginfo_t info;

	ck_assert_int_eq(processes_named(name, &pids), 1);
	ck_assert_int_eq(pids[0], pid);
	free(pids);
	kill(pid, SIGKILL);
	ck_assert(!waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	ck_assert_int_eq(processes_named(name, &pids), 0);
	free(pids);
	waitpid(pid, NULL, 0);
	free(name);
}
END_TEST

/* A name that the kernel has cut off is found by the program's path. */
START_TEST(test_long_name)
{
	char folder[] = "options-XXXXXX";
	char *name = xasprintf("a-name-of-more-than-fifteen-%d", (int)getpid());
	pid_t *pids = NULL;
	char *path, *command;
	long count = 0;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	path = xasprintf("%s/%s", folder, name);
	command = xasprintf("cp \"$(command -v sleep)\" '%s'", path);
	ck_assert_int_eq(system(command), 0);
	pid = fork();
	if (!pid) {
		execl(path, "other", "1000", NULL);
		_exit(127);
	}
	for (int i = 0; i < 300 && !count; i++) {
		usleep(10000);
		free(pids);
		count = processes_named(name, &pids);
	}
	unlink(path);
	rmdir(folder);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(pids[0], pid);
	free(pids);
	/* Its file is gone now, its name is not. */
	ck_assert_int_eq(processes_named(name, &pids), 1);
	free(pids);
	end(pid);
	free(command);
	free(path);
	free(name);
}
END_TEST

START_TEST(test_unknown_name)
{
	struct words words = words_of("--name no-process-has-it");
	struct options options;
	char *printed;

	ck_assert_int_eq(captured(&words, &options, &printed), -ESRCH);
	ck_assert_str_eq(printed, "calltrap: --name 'no-process-has-it': no "
				  "process of that name is running\n");
	free(printed);
	free(words.text);
	/* A mistake behind it is the worse news. */
	words = words_of("--name no-process-has-it --bad");
	ck_assert_int_eq(captured(&words, &options, &printed), -EINVAL);
	free(printed);
	free(words.text);
}
END_TEST

static const struct {
	const char *text;
	uint64_t nanoseconds;
} durations[] = {
	{ "1ms", 1000000 },
	{ "1s", NS_PER_SECOND },
	{ "10s", 10 * NS_PER_SECOND },
	{ "1.5s", 1500000000 },
	{ "0.25m", 15 * NS_PER_SECOND },
	{ "2h", 7200 * NS_PER_SECOND },
	{ ".5s", 500000000 },
	{ "1.s", NS_PER_SECOND },
	{ "0.000001ms", 1 },
	{ "1.0000019s", 1000001000 },
	{ "007s", 7 * NS_PER_SECOND },
};

START_TEST(test_duration)
{
	uint64_t ns = 0;
	char *message;

	ck_assert(!duration_parse(durations[_i].text, &ns, &message));
	ck_assert_uint_eq(ns, durations[_i].nanoseconds);
}
END_TEST

static const struct {
	const char *text;
	const char *message;
} bad_durations[] = {
	{ "", "is expected" },
	{ "s", "is expected" },
	{ ".", "is expected" },
	{ ".s", "is expected" },
	{ "-1s", "is expected" },
	{ " 1s", "is expected" },
	{ "1.5", "say 1.5s" },
	{ "1.5.5s", "unknown unit '.5s'" },
	{ "1 s", "unknown unit ' s'" },
	{ "1d", "unknown unit 'd'" },
	{ "1S", "unknown unit" },
	{ "1ss", "unknown unit" },
	{ "0s", "no time" },
	{ "0.0ms", "no time" },
	{ "0.0000001ms", "no time" },
	{ "99999999999999999999999s", "century" },
	{ "99999999999h", "century" },
	{ "900000h", "century" },
};

START_TEST(test_bytes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} given[] = {
		{ "1", 1 },         { "4096", 4096 },
		{ "512k", 524288 }, { "512K", 524288 },
		{ "3m", 3145728 },  { "1024G", UINT64_C(1) << 40 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		char *line = xasprintf("heap --sample %s -p 1", given[i].text);
		struct words words;
		struct options o = parsed(&words, line);

		ck_assert_uint_eq(o.sample, given[i].bytes);
		done(&o, &words);
		free(line);
	}
}
END_TEST

START_TEST(test_bad_duration)
{
	uint64_t ns = 42;
	char *message = NULL;

	ck_assert(duration_parse(bad_durations[_i].text, &ns, &message) ==
		  -EINVAL);
	ck_assert_msg(strstr(message, bad_durations[_i].message), "%s: %s",
		      bad_durations[_i].text, message);
	ck_assert_uint_eq(ns, 42);
	free(message);
}
END_TEST

static char *read_all(FILE *file)
{
	struct strbuf text = { 0 };
	char part[4096];
	size_t n;

	strbuf_puts(&text, "");
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		strbuf_add(&text, part, n);
	return text.text;
}

/* A file of the source tree, or NULL. */
static char *source_file(const char *name)
{
	const char *top = getenv("top_srcdir");
	char *path = xasprintf("%s/%s", top ? top : ".", name);
	FILE *file = fopen(path, "r");
	char *text = NULL;

	free(path);
	if (file) {
		text = read_all(file);
		fclose(file);
	}
	return text;
}

static bool joins_words(char c)
{
	return c == '-' || isalnum((unsigned char)c);
}

/* Whether an option stands in the text as a word of its own. */
static bool mentions(const char *text, const char *option)
{
	size_t length = strlen(option);

	for (const char *s = text; (s = strstr(s, option)); s += length)
		if ((s == text || !joins_words(s[-1])) &&
		    !joins_words(s[length]))
			return true;
	return false;
}

static void check_mentions(const char *file, enum verb verb, const char *text)
{
	const struct option_entry *entry;

	for_each_option(verb, entry) {
		char name[64];

		snprintf(name, sizeof(name), "-%c", entry->short_name);
		if (entry->short_name)
			ck_assert_msg(mentions(text, name), "%s lacks %s", file,
				      name);
		snprintf(name, sizeof(name), "--%s",
			 entry->long_name ? entry->long_name : "");
		if (entry->long_name)
			ck_assert_msg(mentions(text, name), "%s lacks %s", file,
				      name);
	}
}

START_TEST(test_mentions)
{
	ck_assert(mentions("-ab, -a", "-a"));
	ck_assert(!mentions("-ab --a", "-a"));
	ck_assert(mentions("--name=N", "--name"));
	ck_assert(!mentions("--names", "--name"));
}
END_TEST

static void check_help(enum verb verb)
{
	FILE *file = tmpfile();
	char *text, *rest = NULL;

	ck_assert_ptr_nonnull(file);
	options_print_help(verb, file);
	rewind(file);
	text = read_all(file);
	fclose(file);
	check_mentions("--help", verb, text);
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		ck_assert_msg(strlen(line) < 80, "too long: %s", line);
	free(text);
}

START_TEST(test_help)
{
	check_help(VERB_TRACE);
	check_help(VERB_HEAP);
	check_help(VERB_HEAP_DIFF);
	check_help(VERB_MEMORY);
	check_help(VERB_RECORD);
	check_help(VERB_TOP);
	check_help(VERB_CONVERT);
	check_help(VERB_REPLAY);
	check_help(VERB_DOCTOR);
}
END_TEST

/* What completion prints for words with blanks between them; a last blank
   begins a new one. To be freed. */
static char *completed(const char *line)
{
	char *copy = xstrdup(line), *text, *words[16], *rest = copy;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int count = 0;

	while ((words[count++] = strsep(&rest, " ")) && rest)
		;
	completion_print(count, words, out);
	fclose(out);
	free(copy);
	return text;
}

static void check_offered(const char *line, const char *wanted, bool offered)
{
	char *text = completed(line);
	const char *found = text;
	size_t length = strlen(wanted);

	while ((found = strstr(found, wanted)) &&
	       ((found > text && found[-1] != '\n') ||
		(found[length] != '\t' && found[length] != '\n')))
		found += length;
	ck_assert_msg(!found == !offered, "%s: %s: %s", line, wanted, text);
	free(text);
}

START_TEST(test_completion)
{
	check_offered("", "heap", true);
	check_offered("", ":commands", true);
	check_offered("heap ", "heap", false);
	check_offered("heap ", "diff", true);
	check_offered("heap ", ":commands", true);
	check_offered("heap diff ", ":files", true);
	check_offered("heap diff ", ":commands", false);
	check_offered("convert ", ":files", true);
	check_offered("memory ", ":files", true);
	check_offered("memory ", ":commands", false);
	check_offered("-", "--follow", true);
	check_offered("-", "--sort", false);
	check_offered("heap -", "--sort", true);
	check_offered("heap diff -", "--sort", false);
	check_offered("doctor -", "--json", true);
	check_offered("ls -", ":files", true);
	check_offered("ls -", "--follow", false);
	check_offered("-f ls ", ":files", true);
	check_offered("-- -", ":commands", true);
	check_offered("-- -", "--follow", false);
}
END_TEST

START_TEST(test_completed_values)
{
	check_offered("heap --by ", "stack", true);
	check_offered("heap --by st", ":commands", false);
	check_offered("heap --by=", "--by=stack", true);
	check_offered("top --by ", "site", true);
	check_offered("top --sort ", "verdict", true);
	check_offered("top ", ":commands", false);
	check_offered("top -", "--follow", true);
	check_offered("heap --by stack ", ":commands", true);
	check_offered("--engine ", "agent", true);
	check_offered("--engine au", "auto", true);
	check_offered("-ttTgx ", ":commands", false);
	check_offered("-ttTgxmalloc ", ":commands", true);
	check_offered("-ttTo ", ":files", true);
	check_offered("--output=", ":files", true);
	check_offered("-u ", ":users", true);
	check_offered("--ltrace ", ":commands", true);
	check_offered("-D stop,", "stop,trap", true);
	check_offered("doctor --json ", ":files", false);
	check_offered("heap --json ", ":files", true);
	check_offered("convert x --to ", "pprof", true);
	check_offered("convert x --to ", "csv", true);
	check_offered("convert x --nonsense ", ":files", true);
	check_offered("heap --pool ", ":files", true);
}
END_TEST

START_TEST(test_completed_processes)
{
	char own[32], list[64], after[64];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	snprintf(list, sizeof(list), "heap -p 1,");
	snprintf(after, sizeof(after), "1,%s", own);
	check_offered("-p ", own, true);
	check_offered(list, after, true);
	check_offered("-p ", "2147483647", false);
}
END_TEST

/* Each word is the form that the option's value stands for. */
START_TEST(test_convert_words)
{
	for (enum heap_file file = 0; file < HEAP_FILES; file++) {
		const char *argv[] = { "calltrap", "convert",
				       "--to",     heap_file_option(file) + 2,
				       "file",     NULL };
		struct options options;

		ck_assert_int_eq(options_parse(5, (char **)argv, &options), 0);
		ck_assert_int_eq(options.convert, CONVERT_FILE);
		ck_assert_int_eq(options.convert_file, file);
		options_fini(&options);
	}
}
END_TEST

/* The manual's source with mdoc's "Fl -name" and man's "\-" as "--name". */
static void undo_markup(char *text)
{
	char *to = text;

	for (const char *s = text; *s; s++) {
		bool is_word = s > text && strchr(" .\n", s[-1]);

		if (is_word && !strncmp(s, "Fl ", 3)) {
			*to++ = '-';
			s += 2;
		} else if (*s != '\\' || s[1] != '-') {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static void check_manual(const char *file, const enum verb *verbs, size_t count)
{
	char *text = source_file(file);

	ck_assert_msg(text != NULL, "no %s; is top_srcdir set?", file);
	undo_markup(text);
	for (size_t i = 0; i < count; i++)
		check_mentions(file, verbs[i], text);
	free(text);
}

START_TEST(test_manual)
{
	static const enum verb others[] = {
		VERB_TRACE,   VERB_MEMORY, VERB_RECORD, VERB_TOP,
		VERB_CONVERT, VERB_REPLAY, VERB_DOCTOR,
	};
	static const enum verb heap[] = { VERB_HEAP };
	static const enum verb diff[] = { VERB_HEAP_DIFF };

	check_manual("man/calltrap.1", others, ARRAY_SIZE(others));
	check_manual("man/calltrap-heap.1", heap, ARRAY_SIZE(heap));
	check_manual("man/calltrap-heap-diff.1", diff, ARRAY_SIZE(diff));
}
END_TEST

/* configure.ac has it; automake (check-news) looks at NEWS. */
START_TEST(test_version)
{
	const char *wanted = "calltrap (" PACKAGE_VERSION ") ";
	char *text = source_file("debian/changelog");

	ck_assert_msg(text != NULL, "no debian/changelog");
	text[strlen(wanted)] = '\0';
	ck_assert_str_eq(text, wanted);
	free(text);
}
END_TEST

/* The table itself: no name twice among a verb's options, text for all. */
static void check_options(enum verb verb)
{
	const struct option_entry *a, *b;

	for_each_option(verb, a) {
		ck_assert_str_ne(a->help, "");
		ck_assert(a->apply || (!a->short_name && !a->long_name));
		ck_assert(!a->apply || a->short_name || a->long_name);
		for (b = option_next(verb, a); b; b = option_next(verb, b)) {
			ck_assert(!a->short_name ||
				  a->short_name != b->short_name);
			ck_assert(!a->long_name || !b->long_name ||
				  strcmp(a->long_name, b->long_name) != 0);
		}
	}
}

START_TEST(test_table)
{
	check_options(VERB_TRACE);
	check_options(VERB_HEAP);
	check_options(VERB_HEAP_DIFF);
	check_options(VERB_MEMORY);
	check_options(VERB_RECORD);
	check_options(VERB_TOP);
	check_options(VERB_DOCTOR);
}
END_TEST

static TCase *parse_tests(void)
{
	TCase *tests = tcase_create("parse");

	tcase_add_test(tests, test_defaults);
	tcase_add_test(tests, test_bundle);
	tcase_add_test(tests, test_short_options);
	tcase_add_test(tests, test_count_options);
	tcase_add_test(tests, test_long_options);
	tcase_add_loop_test(tests, test_clock, 0, ARRAY_SIZE(clocks));
	tcase_add_loop_test(tests, test_default_calls, 0, ARRAY_SIZE(filters));
	tcase_add_test(tests, test_pids);
	tcase_add_test(tests, test_pids_by_blanks);
	tcase_add_test(tests, test_pid_and_command);
	tcase_add_loop_test(tests, test_verb, 0, ARRAY_SIZE(verbs));
	tcase_add_test(tests, test_help_and_version);
	tcase_add_loop_test(tests, test_mistake, 0, ARRAY_SIZE(mistakes));
	return tests;
}

static TCase *name_tests(void)
{
	TCase *tests = tcase_create("names");

	tcase_add_test(tests, test_name);
	tcase_add_test(tests, test_name_of_zombie);
	tcase_add_test(tests, test_long_name);
	tcase_add_test(tests, test_unknown_name);
	return tests;
}

static TCase *duration_tests(void)
{
	TCase *tests = tcase_create("durations");

	tcase_add_loop_test(tests, test_duration, 0, ARRAY_SIZE(durations));
	tcase_add_loop_test(tests, test_bad_duration, 0,
			    ARRAY_SIZE(bad_durations));
	tcase_add_test(tests, test_bytes);
	return tests;
}

static TCase *table_tests(void)
{
	TCase *tests = tcase_create("table");

	tcase_add_test(tests, test_table);
	tcase_add_test(tests, test_mentions);
	tcase_add_test(tests, test_help);
	tcase_add_test(tests, test_completion);
	tcase_add_test(tests, test_completed_values);
	tcase_add_test(tests, test_completed_processes);
	tcase_add_test(tests, test_convert_words);
	tcase_add_test(tests, test_manual);
	tcase_add_test(tests, test_version);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("options");

	suite_add_tcase(suite, parse_tests());
	suite_add_tcase(suite, name_tests());
	suite_add_tcase(suite, duration_tests());
	suite_add_tcase(suite, table_tests());
	return unit_run(suite);
}
