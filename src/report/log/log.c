/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/log/log.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/xalloc.h"
#include "report/file/log_file.h"
#include "report/format/names.h"
#include "report/format/signal_name.h"
#include "report/log/event_values.h"
#include "report/log/log_script.h"
#include "report/log/log_stack.h"
#include "report/log/stamp.h"
#include "sysdeps/linux/procfs.h"

/* Where nobody could read on: for recursion that has run away. */
#define INDENT_MAX 4096

struct log {
	struct sink sink;
	struct log_options options;
	struct log_files files;
	struct names *names;
	struct namer *namer; /* these two: -w; or NULL */
	struct log_stacks *stacks;
	struct stamp stamp;
	struct strbuf values; /* of one event */
	int error;            /* that ended the log */
};

static struct log *log_of(struct sink *sink)
{
	return (struct log *)sink;
}

/* From its second task on, a file says whose line is whose. */
static void note_task(const struct log *log, struct log_file *file, pid_t tid)
{
	if (!log->options.dialect->finds_tasks)
		return;
	if (!file->first_tid)
		file->first_tid = tid;
	else if (file->first_tid != tid)
		file->show_pids = true;
}

static void add_pid(const struct log *log, const struct log_file *file,
		    pid_t tid, struct strbuf *out)
{
	bool may_be_others = log->options.show_pids && !log->files.per_process;

	if (!file->show_pids && !may_be_others)
		return;
	if (!log->files.path)
		strbuf_put(out, "[pid ");
	strbuf_add_decimal(out, tid, true);
	strbuf_put(out, log->files.path ? " " : "] ");
}

static void add_relative(struct log_file *file, uint64_t time,
			 struct strbuf *out)
{
	uint64_t since = 0;

	if (file->last_time && time > file->last_time)
		since = time - file->last_time;
	file->last_time = time;
	strbuf_put(out, since < 10 * NS_PER_SECOND  ? "  " :
			since < 100 * NS_PER_SECOND ? " " :
						      "");
	strbuf_add_decimal(out, since / NS_PER_SECOND, false);
	strbuf_add_micros(out, since);
	strbuf_putc(out, ' ');
}

/* Begins a line with the columns that every line has. */
static int begin_line(struct log *log, struct log_file *file,
		      const struct event *event, taddr_t ip, const char *mark)
{
	struct strbuf *out = &file->output.text;
	int err = log_file_interrupt(file, mark);

	if (err)
		return err;
	note_task(log, file, event->tid);
	add_pid(log, file, event->tid, out);
	if (log->options.relative)
		add_relative(file, event->time, out);
	stamp_add(&log->stamp, event->time, out);
	if (log->options.ip) {
		strbuf_putc(out, '[');
		strbuf_add_hex(out, ip);
		strbuf_put(out, "] ");
	}
	return 0;
}

/* A line that is no call's. */
static int begin_event_line(struct log *log, struct log_file *file,
			    const struct event *event, taddr_t ip)
{
	return begin_line(log, file, event, ip,
			  log->options.dialect->cut_by_event);
}

static int begin_call_line(struct log *log, struct log_file *file,
			   const struct event *event)
{
	uint64_t indent = (uint64_t)event->call->depth * log->options.indent;
	int err;

	err = begin_line(log, file, event, event->call->return_address,
			 log->options.dialect->cut_by_call);
	if (err)
		return err;
	if (indent > INDENT_MAX)
		indent = INDENT_MAX;
	output_pad(&file->output, output_column(&file->output) + indent);
	return 0;
}

static int log_call(struct log *log, struct log_file *file,
		    const struct event *event)
{
	const struct function *function = event->call->function;
	struct strbuf *out = &file->output.text;
	struct call_values values = event_values(event);
	size_t before;
	int err;

	err = begin_call_line(log, file, event);
	if (err)
		return err;
	if (event->call->script)
		log_script_add(out, event->call->script);
	strbuf_put(out, names_full(log->names, function));
	strbuf_putc(out, '(');
	before = out->length;
	prototype_print_entry(function->prototype, &values,
			      &log->options.limits, out);
	file->has_arguments = out->length > before;
	file->line_begun = true;
	file->call_id = event->call->id;
	file->call_tid = event->tid;
	return 0;
}

/*
 * Goes on with the line of the call, or begins one that does. A coroutine may
 * return on another task than it was called on: that is another line.
 */
static int resume_call(struct log *log, struct log_file *file,
		       const struct event *event, bool *same_line_ret)
{
	struct strbuf *out;
	int err;

	*same_line_ret = file->line_begun && file->call_id == event->call->id &&
			 file->call_tid == event->tid;
	if (*same_line_ret) {
		file->line_begun = false;
		return 0;
	}
	err = begin_call_line(log, file, event);
	if (err)
		return err;
	out = &file->output.text;
	strbuf_put(out, "<... ");
	strbuf_put(out, names_short(log->names, event->call->function));
	strbuf_put(out, " resumed> ");
	return 0;
}

/* Zeros: it is too short to be told from what the stops cost. */
static void add_duration(const struct event *event, struct strbuf *out)
{
	uint64_t ns = event_is_resolved(event) ? event_duration(event) : 0;

	strbuf_put(out, " <");
	strbuf_add_decimal(out, ns / NS_PER_SECOND, false);
	strbuf_add_micros(out, ns);
	strbuf_putc(out, '>');
}

/* The value that an interrupted system call has is for the kernel. */
static void add_result(const struct log *log, const struct event *event,
		       const struct call_values *values, struct strbuf *out)
{
	const char *error = error_name(event->error);

	if (event->error && !event->failed &&
	    !log->options.dialect->values.raw_results)
		strbuf_printf(out, "? %s", error);
	else
		prototype_print_result(event->call->function->prototype, values,
				       &log->options.limits, out);
}

/* A call's line is complete; -w: its stack follows. */
static int end_call_line(struct log *log, struct log_file *file,
			 const struct event *event)
{
	int err = output_end_line(&file->output);

	if (err || !log->namer)
		return err;
	if (event->call->script)
		err = log_script_stack(&file->output, event->call->script);
	if (err)
		return err;
	return log_stacks_add(log->stacks, &file->output, event->call->stack,
			      event->call->function->name);
}

/* Up to the column of results. */
static void add_blanks(const struct log *log, struct log_file *file)
{
	unsigned before = 1 + log->options.dialect->align_blanks;

	if (log->options.align > before)
		output_pad(&file->output, log->options.align - before);
}

static int log_return(struct log *log, struct log_file *file,
		      const struct event *event)
{
	const struct prototype *prototype = event->call->function->prototype;
	struct call_values values = event_values(event);
	struct strbuf *out = &file->output.text;
	bool same_line;
	int err;

	err = resume_call(log, file, event, &same_line);
	if (err)
		return err;
	strbuf_clear(&log->values);
	prototype_print_later(prototype, &values, &log->options.limits,
			      &log->values);
	if (same_line && file->has_arguments && log->values.length)
		strbuf_put(out, ", ");
	strbuf_add(out, log->values.text, log->values.length);
	strbuf_putc(out, ')');
	add_blanks(log, file);
	strbuf_put(out, " = ");
	add_result(log, event, &values, out);
	if (log->options.durations)
		add_duration(event, out);
	return end_call_line(log, file, event);
}

static const char *end_text(enum call_end end)
{
	switch (end) {
	case CALL_LONGJMP:
		return "<unfinished: longjmp>";
	case CALL_EXCEPTION:
		return "<unfinished: exception>";
	case CALL_THREAD_EXITED:
		return "<unfinished: thread exited>";
	case CALL_PROCESS_ENDED:
		return "<unfinished: process ended>";
	case CALL_NEVER_RETURNS:
		return "<no return>";
	case CALL_UNSEEN:
		return "<unfinished: return unseen>";
	case CALL_DETACHED:
		return "<unfinished: detached>";
	case CALL_RETURNED:
	case CALL_UNWATCHED:
		break;
	}
	return "<unfinished ...>";
}

static int log_abandon(struct log *log, struct log_file *file,
		       const struct event *event)
{
	struct strbuf *out = &file->output.text;
	bool same_line;
	int err;

	if (!log->options.dialect->tells_ends)
		return 0;
	err = resume_call(log, file, event, &same_line);
	if (err)
		return err;
	if (same_line)
		strbuf_putc(out, ' ');
	strbuf_put(out, end_text(event->end));
	return end_call_line(log, file, event);
}

static int log_signal(struct log *log, struct log_file *file,
		      const struct event *event)
{
	struct strbuf *out = &file->output.text;
	int err;

	if (log->options.hide_signals)
		return 0;
	err = begin_event_line(log, file, event, event->ip);
	if (err)
		return err;
	strbuf_put(out, "--- ");
	signal_name_add(event->signal, out);
	strbuf_printf(out, " (%s) ---", strsignal(event->signal));
	return output_end_line(&file->output);
}

/* Its name may contain anything. */
static void add_program(struct strbuf *out, const char *before,
			const char *path)
{
	const size_t begin = out->length + strlen(before);

	if (!path || !*path)
		return;
	strbuf_printf(out, "%s%s", before, path);
	printable_make(out->text + begin, out->length - begin);
}

static int log_exec(struct log *log, struct log_file *file,
		    const struct event *event)
{
	struct strbuf *out = &file->output.text;
	int err = begin_event_line(log, file, event, (taddr_t)-1);

	if (err)
		return err;
	strbuf_put(out, "--- Called exec()");
	if (log->options.dialect->names_programs)
		add_program(out, " of ", event->path);
	strbuf_put(out, " ---");
	return output_end_line(&file->output);
}

/* A file of one process says of which. */
static int log_head(struct log *log, struct log_file *file, pid_t pid)
{
	char *path CLEANUP(xfree_cleanup) = NULL;

	if (file->headed || !log->files.per_process ||
	    !log->options.dialect->names_programs)
		return 0;
	file->headed = true;
	path = procfs_exe(pid);
	strbuf_printf(&file->output.text, "==== log of process %d", (int)pid);
	add_program(&file->output.text, ", ", path);
	return output_end_line(&file->output);
}

static int log_exit(struct log *log, struct log_file *file,
		    const struct event *event)
{
	struct strbuf *out = &file->output.text;
	int err = begin_event_line(log, file, event, (taddr_t)-1);

	if (err)
		return err;
	if (WIFSIGNALED(event->status)) {
		strbuf_put(out, "+++ killed by ");
		signal_name_add(WTERMSIG(event->status), out);
		if (WCOREDUMP(event->status) &&
		    log->options.dialect->tells_cores)
			strbuf_put(out, " (core dumped)");
		strbuf_put(out, " +++");
	} else {
		strbuf_printf(out, "+++ exited (status %d) +++",
			      WEXITSTATUS(event->status));
	}
	return output_end_line(&file->output);
}

static int log_into(struct log *log, struct log_file *file,
		    const struct event *event)
{
	switch (event->kind) {
	case EVENT_CALL:
		return log_call(log, file, event);
	case EVENT_RETURN:
	case EVENT_CHILD_RETURN:
		return log_return(log, file, event);
	case EVENT_ABANDON:
		return log_abandon(log, file, event);
	case EVENT_SIGNAL:
		return log_signal(log, file, event);
	case EVENT_EXEC:
		return log_exec(log, file, event);
	case EVENT_EXIT:
		return log_exit(log, file, event);
	case EVENT_THREAD:
		file->show_pids |= log->options.dialect->finds_tasks;
		return 0;
	case EVENT_THREAD_END:
		return log->options.dialect->thread_ends ?
			       log_exit(log, file, event) :
			       0;
	case EVENT_FORK:
	case EVENT_LEAVE:
		return 0;
	}
	return 0;
}

static int log_event(struct sink *sink, const struct event *event)
{
	struct log *log = log_of(sink);
	struct log_file *file;

	if (log->error)
		return log->error;
	if (dialect_hides(log->options.dialect, log->options.first_thread,
			  event))
		return 0;
	log->error = log_files_get(&log->files, event->pid, &file);
	if (!log->error)
		log->error = log_head(log, file, event->pid);
	if (!log->error)
		log->error = log_into(log, file, event);
	if (!log->error &&
	    (event->kind == EVENT_EXIT || event->kind == EVENT_LEAVE))
		log->error = log_files_close(&log->files, event->pid);
	return log->error;
}

static int log_flush(struct sink *sink)
{
	struct log *log = log_of(sink);

	if (!log->error)
		log->error = log_files_flush(&log->files);
	return log->error;
}

static int log_finish(struct sink *sink)
{
	struct log *log = log_of(sink);

	if (!log->error)
		log->error = log_files_finish(&log->files);
	return log->error;
}

static void log_free(struct sink *sink)
{
	struct log *log = log_of(sink);

	log_files_fini(&log->files);
	names_free(log->names);
	log_stacks_free(log->stacks);
	namer_free(log->namer);
	strbuf_fini(&log->values);
	free(log);
}

static const struct sink_ops log_ops = {
	.event = log_event,
	.flush = log_flush,
	.finish = log_finish,
	.free = log_free,
};

static void add_gap(struct strbuf *out, uint64_t lines)
{
	strbuf_printf(out,
		      "+++ %llu lines were dropped: nobody took them "
		      "+++\n",
		      (unsigned long long)lines);
}

int log_new(const struct log_options *options, struct sink **ret)
{
	const struct names_options names = {
		.demangle = options->demangle,
		.callers = options->show_callers,
		.dialect = options->dialect,
	};
	const struct namer_options namer = {
		.demangle = options->demangle,
		.debuginfo = options->debuginfo,
	};
	struct log *log = xcalloc(1, sizeof(*log));
	struct log_file *file;
	int err = 0;

	log->sink.ops = &log_ops;
	log->options = *options;
	if (!options->dialect)
		log->options.dialect = &dialect_own;
	log->options.limits.style = &log->options.dialect->values;
	log->stamp.clock = options->clock;
	log->names = names_new(&names);
	if (options->where) {
		log->namer = namer_new(&namer);
		log->stacks = log_stacks_new(options->stacks, log->namer);
	}
	log_files_init(&log->files, options->path);
	log->files.mark = log->options.dialect->cut_by_event;
	log->files.policy = options->policy;
	log->files.add_gap = add_gap;
	if (!log->files.per_process)
		err = log_files_get(&log->files, 0, &file);
	if (err)
		log_free(&log->sink);
	else
		*ret = &log->sink;
	return err;
}
