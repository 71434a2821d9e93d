/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "cli/complain.h"
#include "sysdeps/linux/newer_calls.h"
#include "tracee/attach.h"

/* A process that was traced; its number may be another's later. */
struct paused {
	pid_t pid;
	int fd; /* a pidfd, or -1 */
	uint64_t stops, stopped_ns;
};

struct pause {
	uint64_t since; /* monotonic */
	size_t count;
	struct paused processes[];
};

/* A child that isn't followed is nobody's business any more. */
static bool is_wanted(const struct tracee *tracee)
{
	return !tracee->muted && !tracee->borrows;
}

/* What knows this very process, later on; negative: nothing. */
static int hold(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	char path[32];

	if (fd >= 0 || !call_is_missing(errno))
		return fd;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void pause_begin(struct session *session)
{
	const struct tracee *tracee, *next;
	struct pause *pause;

	pause = xcalloc(1,
			sizeof(*pause) + HASH_COUNT(session->tracer.tracees) *
						 sizeof(pause->processes[0]));
	pause->since = clock_now();
	HASH_ITER(hh, session->tracer.tracees, tracee, next)
		if (is_wanted(tracee))
			pause->processes[pause->count++] = (struct paused){
				.pid = tracee->pid,
				.fd = hold(tracee->pid),
				.stops = tracee->stops,
				.stopped_ns = tracee->stopped_ns,
			};
	session->pause = pause;
	prober_pause(session->prober, true);
}

void pause_free(struct pause *pause)
{
	if (!pause)
		return;
	while (pause->count)
		if (pause->processes[--pause->count].fd >= 0)
			close(pause->processes[pause->count].fd);
	free(pause);
}

/* Sinks were not told so when it began. */
static void tell_left(struct session *session, pid_t pid)
{
	const struct event event = {
		.kind = EVENT_LEAVE,
		.pid = pid,
		.tid = pid,
		.time = session->pause->since,
	};

	(void)sinks_event(session->sinks, &event);
}

bool pause_wait(struct session *session)
{
	struct pause *pause = session->pause;

	complain(0, "stopped: what it was attached to runs on, unwatched");
	signals_stop();
	session->pauses++;
	session->paused_ns += clock_now() - pause->since;
	prober_pause(session->prober, false);
	if (!session->requests->leave)
		return true;
	for (size_t i = 0; i < pause->count; i++)
		tell_left(session, pause->processes[i].pid);
	return false;
}

/*
 * A pidfd can be read when its process has ended; a folder of /proc can't be
 * asked, but is empty then.
 */
static bool is_still_there(const struct paused *process)
{
	struct pollfd pollfd = { .fd = process->fd, .events = POLLIN };

	if (process->fd < 0 || poll(&pollfd, 1, 0) == 0)
		return true;
	return pollfd.revents & POLLNVAL &&
	       !faccessat(process->fd, "stat", F_OK, 0);
}

static void go_on(struct session *session, const struct paused *process)
{
	struct tracee *tracee = tracee_find(&session->tracer, process->pid);

	if (tracee) {
		tracee->stops += process->stops;
		tracee->stopped_ns += process->stopped_ns;
	}
	if (session->verb->unwatched)
		session->verb->unwatched(session, process->pid, 0,
					 session->pause->since, clock_now());
}

static void attach_again(struct session *session, const struct paused *process)
{
	char *message = NULL;

	if (!is_still_there(process)) {
		complain(0, "process %d has ended meanwhile",
			 (int)process->pid);
		tell_left(session, process->pid);
	} else if (attach(&session->tracer, process->pid, &message)) {
		complain(0, "%s", message);
		tell_left(session, process->pid);
	} else {
		go_on(session, process);
	}
	free(message);
}

int pause_end(struct session *session)
{
	struct pause *pause = session->pause;
	double seconds = (clock_now() - pause->since) / 1e9;

	attach_begin(&session->tracer);
	for (size_t i = 0; i < pause->count; i++)
		attach_again(session, &pause->processes[i]);
	attach_end(&session->tracer);
	pause_free(pause);
	session->pause = NULL;
	session->left = false;
	session->own_pages = 0;
	if (!session->tracer.tracees)
		return -ESRCH;
	complain(0, "goes on: for %.1f s nothing was watched", seconds);
	return 0;
}
