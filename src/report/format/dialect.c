/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/dialect.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/xalloc.h"

const struct dialect dialect_own = {
	.values = VALUE_STYLE_OWN,
	.system_call = "%s@SYS",
	.system_call_row = "%s@SYS",
	.cut_by_call = " <unfinished ...>",
	.cut_by_event = " <unfinished ...>",
	.align_blanks = 0,
	.tells_ends = true,
	.tells_cores = true,
	.names_programs = true,
	.counts_unfinished = true,
	.counts_errors = true,
	.finds_tasks = true,
	.all_threads = true,
	.start_and_end = true,
	.debuginfo = true,
	.keeps_status = true,
	.explains = true,
};

#define LTRACE_VALUES(zero)                                                    \
	{                                                                      \
		.nil = "nil", .null = zero, .open_struct = "{ ",               \
		.close_struct = " }", .open_array = "[ ", .close_array = " ]", \
		.octal_zeros = true, .fixed_reals = true, .raw_results = true, \
	}

/* 0.7.3 is Debian's and Ubuntu's, 0.7.91 what others have. */
static const struct dialect ltraces[] = {
	{
		.version = "0.7.3",
		.values = LTRACE_VALUES("0"),
		.system_call = "SYS_%s",
		.system_call_row = "SYS_%s",
		.cut_by_call = " <unfinished ...>",
		.cut_by_event = " <no return ...>",
		.align_blanks = 1,
		.columns_of_screen = true,
		.thread_ends = true,
	},
	{
		.version = "0.7.91",
		.values = LTRACE_VALUES("nil"),
		.system_call = "%s@SYS",
		.system_call_row = "%s",
		.cut_by_call = " <unfinished ...>",
		.cut_by_event = " <no return ...>",
		.align_blanks = 1,
		.columns_of_screen = true,
		.thread_ends = true,
		.counts_unfinished = true,
		.resolvers = true,
		.debuginfo = true,
	},
};

const struct dialect *dialect_of_ltrace(const char *version)
{
	if (!version)
		version = LTRACE_VERSION;
	for (size_t i = 0; i < ARRAY_SIZE(ltraces); i++)
		if (!strcmp(ltraces[i].version, version))
			return &ltraces[i];
	return NULL;
}

char *dialect_versions(void)
{
	struct strbuf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(ltraces); i++)
		strbuf_printf(&text, "%s%s", i ? ", " : "", ltraces[i].version);
	return text.text;
}

/* They go through slots that are no PLT's, which ltrace doesn't look at. */
static bool is_of_start_files(const struct function *function)
{
	static const char *const names[] = {
		"__cxa_finalize",
		"__gmon_start__",
		"__libc_start_main",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (function->place == FUNCTION_CALL_SITE &&
		    !strcmp(function->name, names[i]))
			return true;
	return false;
}

static bool is_call(const struct event *event)
{
	return event->kind == EVENT_CALL || event->kind == EVENT_RETURN ||
	       event->kind == EVENT_CHILD_RETURN ||
	       event->kind == EVENT_ABANDON;
}

bool dialect_hides(const struct dialect *dialect, bool first_only,
		   const struct event *event)
{
	if (first_only && event->tid != event->pid)
		return true;
	return !dialect->start_and_end && is_call(event) &&
	       is_of_start_files(event->call->function);
}
