/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/diag.h"
#include "cli/complain.h"
#include "cli/completion.h"
#include "cli/convert.h"
#include "cli/crash.h"
#include "cli/doctor.h"
#include "cli/front.h"
#include "cli/heap_diff.h"
#include "cli/heap_from.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/replay.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/working.h"
#include "replay/worker.h"
#include "sysdeps/linux/descriptors.h"
#include "sysdeps/linux/newer_calls.h"

static void receive(enum diag_level level, enum diag_domain domain,
		    const char *message)
{
	(void)domain;
	complain(0, "%s%s", level == DIAG_DEBUG ? "debug: " : "", message);
}

static int print(const struct options *options)
{
	if (options->help)
		options_print_help(options->verb, stdout);
	else
		puts(PACKAGE_STRING);
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	complain(0, "standard output can't be written: %s", strerror(errno));
	return EXIT_UNWRITTEN;
}

/* There is nothing to be let go of. */
static void let_go_of_nothing(void *context UNUSED)
{
}

/* Who traces nothing ends by signals like any other program; of a crash, as one
   that a file has brought about, it says that it was one. */
static void prepare_alone(const sigset_t *blocked)
{
	sigprocmask(SIG_SETMASK, blocked, NULL);
	fatal_set_hook(let_go_of_nothing, NULL);
	crash_prepare();
}

static bool traces(const struct options *options)
{
	return !options->help && !options->version &&
	       options->verb != VERB_HEAP_DIFF &&
	       options->verb != VERB_MEMORY && options->verb != VERB_CONVERT &&
	       options->verb != VERB_REPLAY && options->verb != VERB_DOCTOR &&
	       !options->from;
}

static int run(const struct options *options, const sigset_t *blocked)
{
	if (options->help || options->version)
		return print(options);
	diag_set_debug(options->debug);
	if (options->verb == VERB_HEAP_DIFF)
		return heap_diff_run(options);
	if (options->verb == VERB_MEMORY)
		return memory_run(options);
	if (options->verb == VERB_CONVERT)
		return convert_run(options);
	if (options->verb == VERB_REPLAY)
		return replay_run(options);
	if (options->verb == VERB_DOCTOR)
		return doctor_run(options);
	if (options->from)
		return heap_from_run(options);
	return session_run(options, front_begin(), blocked);
}

/*
 * Started with one of the standard descriptors closed, the log or a pipe would
 * get its number, and messages with it. What is run still finds it closed.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = descriptor_of_nothing();
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/*
 * Set-user-ID, set-group-ID, or with capabilities of its file: whoever starts
 * it would get at any process, and at any file by way of -o, -F and -A.
 */
static bool has_others_rights(void)
{
	if (!getauxval(AT_SECURE))
		return false;
	complain(0, "calltrap doesn't run set-user-ID, set-group-ID, or with "
		    "capabilities of its file: everybody would get the rights "
		    "of these");
	return true;
}

int main(int argc, char **argv)
{
	struct options options;
	sigset_t blocked;
	int status, err;
	bool alone;

	if (argc > 1 && !strcmp(argv[1], WORKER_ARGUMENT) &&
	    !has_others_rights())
		worker_main(argc, argv);
	threads_allow();
	signals_hold(&blocked);
	/* What a text looks like; numbers stay as they are. */
	setlocale(LC_CTYPE, "");
	fill_standard_descriptors();
	if (has_others_rights())
		return EXIT_WRONG_USAGE;
	diag_set_receiver(receive);
	if (argc > 1 && !strcmp(argv[1], COMPLETION_ARGUMENT)) {
		completion_print(argc - 2, argv + 2, stdout);
		return 0;
	}
	err = options_parse(argc, argv, &options);
	if (err)
		return err == -EINVAL ? EXIT_WRONG_USAGE : EXIT_NOTHING_TRACED;
	alone = !traces(&options);
	if (alone)
		prepare_alone(&blocked);
	status = run(&options, &blocked);
	/* Else it is a sanitizer's, if there is one. */
	if (alone)
		crash_done();
	working_end();
	options_fini(&options);
	return status;
}
