/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/working.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/doing.h"
#include "base/xalloc.h"
#include "cli/terminal_line.h"
#include "report/format/amounts.h"
#include "report/format/names.h"

/* What is over as soon as it has begun isn't shown. */
#define FIRST (NS_PER_SECOND / 4)

/* Shared with the process that shows it. */
struct work_view {
	struct doing doing;
	bool shown;
};

/* Of messages, as those of base/diag.c. */
static struct {
	struct work_view *view; /* NULL: not begun yet, or there is no room */
	uint64_t begin;         /* of the first work: then a second passes */
	bool active;
	pid_t owner; /* a copy of ours has no such line */
	pid_t child; /* 0: none */
	int fd;
} state;

/* ---- the line ---- */

/* "43 % of 61.6 MiB": of what is a file. */
static void add_share(int fd, struct strbuf *line)
{
	off_t at = fd < 0 ? -1 : lseek(fd, 0, SEEK_CUR);
	struct stat status;

	if (at < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    !status.st_size || at > status.st_size)
		return;
	strbuf_printf(line, ", %.0f %% of ", 100.0 * at / status.st_size);
	amounts_add_size(line, status.st_size);
}

/* It may be being written. */
static void add_text(const char *from, const char *before, struct strbuf *line)
{
	char text[DOING_MAX];

	snprintf(text, sizeof(text), "%.*s", DOING_MAX - 1, from);
	if (!*text)
		return;
	strbuf_puts(line, before);
	names_escape(line, text);
}

static void show(struct work_view *view, int fd)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };

	strbuf_printf(&line, "%" PRIu64 " s",
		      (uint64_t)((clock_now() - state.begin) / NS_PER_SECOND));
	add_share(fd, &line);
	add_text(view->doing.what, ", ", &line);
	add_text(view->doing.part, ": ", &line);
	view->shown = true;
	terminal_line_show(&line);
}

/* ---- who shows it ---- */

static void wait_until(uint64_t then)
{
	uint64_t now;

	while ((now = clock_now()) < then)
		usleep((then - now) / 1000 + 1);
}

/* Whatever happens to it, it has no target to save. */
static void stand_apart(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
				       SIGABRT, SIGALRM, SIGSYS };

	fatal_set_hook(NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		signal(crashes[i], SIG_DFL);
	signal(SIGTTOU, SIG_IGN);
}

/* In the background the terminal is another's. */
static bool is_in_front(void)
{
	pid_t front = tcgetpgrp(STDERR_FILENO);

	return front < 0 || front == getpgrp();
}

static NO_RETURN void be_shower(pid_t parent)
{
	uint64_t next = state.begin + NS_PER_SECOND;

	const struct rlimit none = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	stand_apart();
	(void)setrlimit(RLIMIT_CORE, &none);
	if (next < clock_now() + FIRST)
		next = clock_now() + FIRST;
	for (;; next += NS_PER_SECOND) {
		wait_until(next);
		if (is_in_front())
			show(state.view, state.fd);
	}
}

static void start(void)
{
	pid_t child;

	state.view->shown = false;
	child = fork();
	if (!child)
		be_shower(state.owner);
	state.child = child > 0 ? child : 0;
}

static void stop(void)
{
	int status;

	if (!state.child)
		return;
	kill(state.child, SIGKILL);
	while (waitpid(state.child, &status, 0) < 0 && errno == EINTR)
		continue;
	state.child = 0;
	if (state.view->shown)
		terminal_line_clear();
}

static bool is_ours(void)
{
	return state.active && state.owner == getpid();
}

void working_pause(void)
{
	if (is_ours())
		stop();
}

void working_resume(void)
{
	if (is_ours() && !state.child)
		start();
}

/* ---- the work ---- */

static bool have_view(void)
{
	struct work_view *view;

	if (state.view)
		return true;
	view = mmap(NULL, sizeof(*view), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (view == MAP_FAILED)
		return false;
	state.view = view;
	state.begin = clock_now();
	return true;
}

void working_begin(int fd, const char *format, ...)
{
	char text[DOING_MAX];
	va_list args;

	if (!isatty(STDERR_FILENO) || !have_view())
		return;
	working_end();
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	doing_keep(&state.view->doing, working_pause);
	doing("%s", text);
	state.active = true;
	state.owner = getpid();
	state.fd = fd;
	start();
}

void working_end(void)
{
	if (!is_ours())
		return;
	stop();
	state.active = false;
	doing_keep(NULL, NULL);
}
