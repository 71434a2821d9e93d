/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracee/stop.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/*
 * The event number lies above the signal. PTRACE_EVENT_STOP is overloaded:
 * with a stopping signal it is a group stop, with SIGTRAP everything else.
 */
static enum stop_kind classify_event(int event, int signal)
{
	switch (event) {
	case PTRACE_EVENT_FORK:
		return STOP_FORK;
	case PTRACE_EVENT_VFORK:
		return STOP_VFORK;
	case PTRACE_EVENT_CLONE:
		return STOP_CLONE;
	case PTRACE_EVENT_VFORK_DONE:
		return STOP_VFORK_DONE;
	case PTRACE_EVENT_EXEC:
		return STOP_EXEC;
	case PTRACE_EVENT_STOP:
		return signal == SIGTRAP ? STOP_INTERRUPT : STOP_GROUP;
	default:
		return STOP_OTHER;
	}
}

static enum stop_kind classify_stopped(int event, int signal)
{
	if (event)
		return classify_event(event, signal);
	if (signal == (SIGTRAP | 0x80))
		return STOP_SYSCALL;
	return signal == SIGTRAP ? STOP_TRAP : STOP_SIGNAL;
}

struct stop stop_classify(int wait_status)
{
	struct stop stop = { .kind = STOP_OTHER };

	if (WIFEXITED(wait_status)) {
		stop.kind = STOP_EXITED;
		stop.status = WEXITSTATUS(wait_status);
	} else if (WIFSIGNALED(wait_status)) {
		stop.kind = STOP_KILLED;
		stop.signal = WTERMSIG(wait_status);
	} else if (WIFSTOPPED(wait_status)) {
		stop.signal = WSTOPSIG(wait_status);
		stop.kind = classify_stopped(wait_status >> 16, stop.signal);
	}
	return stop;
}

const char *stop_name(enum stop_kind kind)
{
	static const char *const names[] = {
		[STOP_TRAP] = "trap",         [STOP_SIGNAL] = "signal",
		[STOP_GROUP] = "group stop",  [STOP_INTERRUPT] = "interrupt",
		[STOP_FORK] = "fork",         [STOP_VFORK] = "vfork",
		[STOP_CLONE] = "clone",       [STOP_VFORK_DONE] = "vfork done",
		[STOP_EXEC] = "exec",         [STOP_SYSCALL] = "system call",
		[STOP_OTHER] = "other event", [STOP_EXITED] = "exited",
		[STOP_KILLED] = "killed",
	};

	return names[kind];
}
