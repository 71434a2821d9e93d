/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/attach_all.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "cli/complain.h"
#include "sysdeps/linux/process_tree.h"
#include "sysdeps/linux/procfs.h"
#include "tracee/attach.h"
#include "tracee/translator.h"

static bool names_functions(const struct filter *filter)
{
	for (size_t i = 0; i < filter_count(filter); i++)
		if (!filter_is_for_system(filter, i))
			return true;
	return false;
}

/* What the kernel tells of is seen wherever a program runs. */
static bool wants_functions(const struct options *options)
{
	if (options->report.growth)
		return options->report.blocks_too || !options->system_calls;
	return options->verb != VERB_TRACE || options->default_calls ||
	       names_functions(options->calls) ||
	       names_functions(options->libraries) ||
	       names_functions(options->entries);
}

/* Why not, or NULL. */
static char *attach_to(struct session *session, pid_t pid)
{
	char *message = NULL;

	if (wants_functions(session->options))
		message = translator_refuse(pid);
	if (!message && !attach(&session->tracer, pid, &message))
		return NULL;
	return message;
}

static bool attach_named(struct session *session, pid_t pid)
{
	char *message CLEANUP(xfree_cleanup) = attach_to(session, pid);

	if (message)
		complain(0, "%s", message);
	return !message;
}

/* Nobody asked for a child by its number: what has ended needs no word. */
static bool attach_child(struct session *session, pid_t pid)
{
	char *message CLEANUP(xfree_cleanup) = attach_to(session, pid);

	if (message && procfs_live_task(pid))
		complain(0, "%s", message);
	return !message;
}

/* Large programs take a while each: the user waits for one at most. */
static bool has_had_enough(const struct session *session)
{
	return session->requests->leave;
}

/* Those that a process makes from now on come to us by themselves. */
static bool is_ours(struct session *session, pid_t pid)
{
	struct procfs_status status;

	return tracee_find(&session->tracer, pid) ||
	       procfs_status(pid, &status) || status.tracer == gettid();
}

/* Whether there were children that are traced now, and may have made others
   before that. */
static bool adopt_once(struct session *session, pid_t parent)
{
	pid_t *pids CLEANUP(xfree_cleanup) = NULL;
	long count = processes_below(parent, &pids);
	bool any = false;

	for (long i = 0; i < count && !has_had_enough(session); i++)
		if (!is_ours(session, pids[i]) &&
		    attach_child(session, pids[i]))
			any = true;
	return any;
}

#define ADOPT_ROUNDS 8

/* Who asks what holds memory means all workers of a server. */
static bool adopts(const struct options *options)
{
	return options->follow &&
	       (options->verb == VERB_HEAP || options->verb == VERB_RECORD ||
		options->verb == VERB_TOP);
}

static bool attach_each(struct session *session)
{
	const struct options *options = session->options;
	bool any = false;

	for (size_t i = 0; i < options->pid_count; i++) {
		pid_t pid = options->pids[i];
		unsigned round = 0;

		if (any && has_had_enough(session)) {
			complain(0, "%zu of %zu processes were not attached to",
				 options->pid_count - i, options->pid_count);
			break;
		}
		if (tracee_find(&session->tracer, pid)) {
			any = true; /* another one's child */
			continue;
		}
		if (!attach_named(session, pid))
			continue;
		any = true;
		while (adopts(options) && round++ < ADOPT_ROUNDS &&
		       adopt_once(session, pid))
			;
	}
	return any;
}

bool attach_all(struct session *session)
{
	bool any;

	attach_begin(&session->tracer);
	any = attach_each(session);
	attach_end(&session->tracer);
	return any;
}
