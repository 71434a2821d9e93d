/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "report/file/log_file.h"
#include "report/format/frame_text.h"
#include "report/format/names.h"
#include "report/heap/call_frames.h"

/* To find a component, patterns are held against all names of a stack. */
struct recent_component {
	stack_id stack;
	const char *library;
	unsigned number;
};

#define RECENT_COMPONENTS 1024

struct heap_calls {
	struct heap_calls_options options;
	struct log_files files;
	uint64_t wall_offset;
	bool broken; /* it can't be written any more */
	struct recent_component recent[RECENT_COMPONENTS];
};

/* ---- when, and by whom ---- */

/* For a release the moment when it begins, for others when they have ended:
   what is given back may be another's before that has returned. */
static uint64_t time_of(const struct observed_act *act)
{
	const struct heap_act *it = act->act;

	return it->function->act == FAMILY_RELEASE || !it->end ? act->entered :
								 it->end;
}

static void add_time(const struct heap_calls *calls,
		     const struct observed_act *act, struct strbuf *out)
{
	uint64_t wall = time_of(act) + calls->wall_offset;

	strbuf_printf(out, "%" PRIu64 ".%09" PRIu64 " [MEM_TRACE] %d:",
		      (uint64_t)(wall / NS_PER_SECOND),
		      (uint64_t)(wall % NS_PER_SECOND), (int)act->act->tid);
}

static unsigned component_of(struct heap_calls *calls,
			     const struct heap_act *act)
{
	struct recent_component *recent =
		&calls->recent[act->stack % RECENT_COMPONENTS];

	if (recent->stack != act->stack || recent->library != act->library)
		*recent = (struct recent_component){
			.stack = act->stack,
			.library = act->library,
			.number =
				calls->options.component(calls->options.context,
							 act->stack,
							 act->library),
		};
	return recent->number;
}

static void add_component(struct heap_calls *calls,
			  const struct observed_act *act, struct strbuf *out)
{
	const struct heap_report_config *config = calls->options.config;
	const char *library = act->act->library;
	const char *program = act->process->program;
	const char *name;
	unsigned number;

	if (calls->options.component) {
		number = component_of(calls, act->act);
		name = heap_report_component(config, number);
		names_escape(out, name ? name : "other");
	} else {
		strbuf_puts(out,
			    library && program && !strcmp(library, program) ?
				    "program" :
				    "library");
	}
	strbuf_putc(out, '.');
	names_escape(out, library && *library ? file_base_name(library) : "?");
}

/* ---- what ---- */

/* Why there is no handle. */
enum missing {
	MISSING_NOT,
	MISSING_FAILED,
	MISSING_UNKNOWN,
};

/* What has neither a size nor an invalid 0 is a number, not an address. */
static void add_handle(const struct heap_act *act, uint64_t handle,
		       enum missing missing, struct strbuf *out)
{
	const struct family *family = act->function->family;

	if (missing == MISSING_UNKNOWN)
		strbuf_putc(out, '?');
	else if (missing == MISSING_FAILED)
		strbuf_puts(out, family->null_is_nothing ? "0x0" : "-1");
	else if (family->has_size || family->null_is_nothing)
		strbuf_printf(out, "0x%" PRIx64, handle);
	else
		strbuf_printf(out, "%" PRId64, (int64_t)handle);
}

static void add_number(uint64_t number, bool known, struct strbuf *out)
{
	if (known)
		strbuf_printf(out, "%" PRIu64, number);
	else
		strbuf_putc(out, '?');
}

static bool is_nothing(const struct heap_act *act, uint64_t handle)
{
	return !handle && act->function->family->null_is_nothing;
}

static void add_acquired(const struct observed_act *act, enum missing missing,
			 struct strbuf *out)
{
	add_handle(act->act, act->act->handle, missing, out);
	if (!act->act->function->family->has_size)
		return;
	strbuf_printf(out, " %" PRIu64 " bytes", act->act->size);
}

/* As large as it was when it was acquired; of ranges, what is asked for. */
static void add_released(const struct observed_act *act, struct strbuf *out)
{
	const struct heap_act *it = act->act;
	const struct family_function *function = it->function;
	bool held = act->outcome.known && !function->family->granularity;
	bool told = function->size.kind != OPERAND_NONE ||
		    is_nothing(it, it->handle);

	add_handle(it, it->handle, MISSING_NOT, out);
	if (!function->family->has_size)
		return;
	strbuf_putc(out, ' ');
	add_number(held ? act->outcome.size : it->size, held || told, out);
	strbuf_puts(out, " bytes");
}

static void add_resized(const struct observed_act *act, enum missing missing,
			struct strbuf *out)
{
	const struct heap_act *it = act->act;
	const struct family_function *function = it->function;
	bool held = act->outcome.known && !function->family->granularity;
	bool told = function->old_size.kind != OPERAND_NONE ||
		    is_nothing(it, it->old);

	add_handle(it, it->old, MISSING_NOT, out);
	strbuf_putc(out, '-');
	add_handle(it, it->handle, missing, out);
	strbuf_putc(out, ' ');
	add_number(held ? act->outcome.size : it->old_size, held || told, out);
	strbuf_printf(out, "-%" PRIu64 " bytes", it->size);
}

/* The end of a range; by how much it may go down as well. */
static void add_moved(const struct observed_act *act, enum missing missing,
		      struct strbuf *out)
{
	const struct heap_act *it = act->act;
	const struct family_function *function = it->function;
	bool from = function->old.kind != OPERAND_NONE;
	bool to = function->handle.kind != OPERAND_NONE;

	add_handle(it, it->old, from ? missing : MISSING_UNKNOWN, out);
	strbuf_putc(out, '-');
	add_handle(it, to ? it->handle : it->old + it->size, missing, out);
	if (function->size.kind == OPERAND_NONE)
		strbuf_puts(out, " ? bytes");
	else
		strbuf_printf(out, " %" PRId64 " bytes", (int64_t)it->size);
}

static void add_what(const struct heap_calls *calls,
		     const struct observed_act *act, enum heap_call_end end,
		     struct strbuf *out)
{
	const struct heap_act *it = act->act;
	enum missing missing = end == HEAP_CALL_UNFINISHED ? MISSING_UNKNOWN :
			       act->outcome.done           ? MISSING_NOT :
							     MISSING_FAILED;

	strbuf_puts(out, " - ");
	if (calls->options.demangle)
		frame_text_add_allocator(it->function->name, out);
	else
		names_escape(out, it->function->name);
	strbuf_putc(out, ' ');
	switch (it->function->act) {
	case FAMILY_ACQUIRE:
	case FAMILY_REPLACE:
		add_acquired(act, missing, out);
		break;
	case FAMILY_RELEASE:
		add_released(act, out);
		break;
	case FAMILY_RESIZE:
		add_resized(act, missing, out);
		break;
	case FAMILY_MOVE:
		add_moved(act, missing, out);
		break;
	}
	strbuf_putc(out, ' ');
	add_number(it->end - it->begin,
		   end == HEAP_CALL_RETURNED && it->end >= it->begin, out);
	strbuf_puts(out, " ns from");
}

/* ---- the log ---- */

int heap_calls_new(const struct heap_calls_options *options,
		   struct heap_calls **ret)
{
	struct heap_calls *calls = xcalloc(1, sizeof(*calls));
	const uint64_t now = clock_now();
	struct log_file *file;
	int err = 0;

	calls->options = *options;
	/* Once and for all: lines can be sorted by their times. */
	calls->wall_offset = heap_report_wall(options->config, now) - now;
	log_files_init(&calls->files, options->path);
	calls->files.policy = options->policy;
	if (!calls->files.per_process)
		err = log_files_get(&calls->files, 0, &file);
	if (err) {
		heap_calls_free(calls);
		return err;
	}
	*ret = calls;
	return 0;
}

void heap_calls_free(struct heap_calls *calls)
{
	if (!calls)
		return;
	log_files_fini(&calls->files);
	free(calls);
}

/* Of a file that ends in the middle no one needs the rest. */
static int told_once(struct heap_calls *calls, int err)
{
	calls->broken = err < 0;
	return err;
}

int heap_calls_add(struct heap_calls *calls, const struct observed_act *act,
		   enum heap_call_end end)
{
	struct log_file *file;
	struct strbuf *out;
	int err;

	if (calls->broken)
		return 0;
	err = log_files_get(&calls->files, act->process->pid, &file);
	if (err)
		return told_once(calls, err);
	out = &file->output.text;
	add_time(calls, act, out);
	add_component(calls, act, out);
	add_what(calls, act, end, out);
	heap_call_frames_add(calls->options.config, act->act->stack,
			     act->act->function->name, calls->options.demangle,
			     out);
	return told_once(calls, output_end_line(&file->output));
}

int heap_calls_close(struct heap_calls *calls, pid_t pid)
{
	return calls->broken ?
		       0 :
		       told_once(calls, log_files_close(&calls->files, pid));
}

int heap_calls_flush(struct heap_calls *calls)
{
	return calls->broken ? 0 :
			       told_once(calls, log_files_flush(&calls->files));
}
