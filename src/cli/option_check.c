/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/option_check.h"

#include <errno.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/growth_option.h"
#include "cli/outputs.h"
#include "cli/serve.h"

static int check_files(const struct options *o)
{
	if (!o->command || !o->command[1] || o->command[2])
		return complain(-EINVAL,
				"heap diff: two profiles are needed, "
				"the old and the new one; for a program of "
				"that name say calltrap heap -- diff");
	return 0;
}

static int check_processes(const struct command_line *line, const char *verb)
{
	const struct options *o = line->options;

	if (o->command)
		return complain(-EINVAL,
				"%s: '%s' is no option, and "
				"nothing is started: give -p PID or --name "
				"NAME; for a program of that name say calltrap "
				"-- %s",
				verb, o->command[0], verb);
	if (!o->pid_count && !line->name_count)
		return complain(-EINVAL,
				"no process to look at: give -p PID "
				"or --name NAME, as in 'calltrap %s -p "
				"4711'; see %s",
				verb, option_help(o->verb));
	return 0;
}

/* Chains are all that can be drawn. */
static int check_drawn(const struct options *o)
{
	const bool folded = o->export.files[HEAP_FILE_FOLDED];

	if (o->holders || o->owners ||
	    (!folded && !o->export.files[HEAP_FILE_SVG]))
		return 0;
	return complain(-EINVAL,
			"%s: is of who holds blocks; --holders WHOSE or "
			"--owners is missing",
			folded ? "--folded" : "--svg");
}

/* What another option, or what is given, leaves no sense in. */
struct excluded {
	const char *name;
	bool given;
};

/* The first one that was given; NULL: none was. */
static const char *find_excluded(const struct excluded *others, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (others[i].given)
			return others[i].name;
	return NULL;
}

/* What was kept is asked; or two of these are compared. */
static int check_snapshots(const struct command_line *line)
{
	const struct options *o = line->options;
	const bool two = o->command[1];
	const struct excluded others[] = {
		{ "-p", o->pid_count },
		{ "--name", line->name_count },
		{ "--save", o->snapshot },
		{ "--freeze", o->freeze != FREEZE_NONE },
		{ "--leaks", two && o->leaks },
		{ "--holders", two && o->holders },
		{ "--owners", two && o->owners },
		{ "--touched", o->touched },
	};
	const char *other = find_excluded(others, ARRAY_SIZE(others));

	if (two && o->command[2])
		return complain(-EINVAL,
				"memory: one file, or two that are "
				"compared; see %s",
				option_help(o->verb));
	if (!other)
		return 0;
	return complain(-EINVAL, "memory '%s': %s; leave %s out", o->command[0],
			two ? "two files are compared" :
			      "is a file, and no process is looked at",
			other);
}

/* Mappings are all that the kernel tells it of. */
static int check_touched(const struct options *o)
{
	const struct excluded others[] = {
		{ "--leaks", o->leaks },
		{ "--holders", o->holders },
		{ "--owners", o->owners },
		{ "--freeze", o->freeze != FREEZE_NONE && !o->snapshot },
	};
	const char *other = find_excluded(others, ARRAY_SIZE(others));

	if (!o->touched || !other)
		return 0;
	return complain(-EINVAL,
			"--touched is of mappings, while nothing is stopped; "
			"leave %s out",
			other);
}

static int check_memory(const struct command_line *line)
{
	const struct options *o = line->options;
	int err = o->command ? check_snapshots(line) :
			       check_processes(line, "memory");

	if (!err)
		err = check_touched(o);
	return err ? err : check_drawn(o);
}

static int check_patients(const struct options *o)
{
	if (o->command)
		return complain(-EINVAL,
				"doctor: '%s' is no option, and "
				"nothing is started: give -p PID or --name "
				"NAME; for a program of that name say calltrap "
				"-- doctor",
				o->command[0]);
	return 0;
}

/* Of one nothing is traced. */
static int check_from(const struct command_line *line)
{
	const struct options *o = line->options;
	const struct excluded others[] = {
		{ "a COMMAND", o->command },
		{ "-p", o->pid_count },
		{ "--name", line->name_count },
		{ "-f", o->follow },
		{ "--for", o->duration },
		{ "--every", o->every },
		{ "--growth", o->report.growth },
		{ "--record", o->recording },
		{ "--pool", o->pools },
		{ "--script", o->script },
		{ "--data", o->data },
		{ "--per", !filter_is_empty(o->entries) },
		{ "--http", o->http },
		{ "--push", o->push },
	};
	const char *other = find_excluded(others, ARRAY_SIZE(others));

	if (other)
		return complain(-EINVAL,
				"--from '%s': is of a recording, in which "
				"nothing happens any more; leave %s out",
				*o->from, other);
	if (o->from[1] && (o->heap_calls || o->footprint))
		return complain(-EINVAL,
				"%s: of one recording only; give --from once",
				o->heap_calls ? "--calls" : "--footprint");
	if (o->until && o->until <= o->since)
		return complain(-EINVAL, "--until: comes before --since");
	return 0;
}

static int check_recording(const struct command_line *line)
{
	const struct options *o = line->options;

	if (o->from)
		return check_from(line);
	if (o->since || o->until)
		return complain(-EINVAL,
				"%s: is of a recording, which --from "
				"names",
				o->since ? "--since" : "--until");
	if (o->verb == VERB_RECORD && !o->recording)
		return complain(-EINVAL, "-o FILE is missing: what the "
					 "recording is to be written to");
	return 0;
}

static int check_conversion(const struct options *o)
{
	if (!o->command || o->command[1])
		return complain(-EINVAL, "convert: one file is needed; see %s",
				option_help(o->verb));
	if (!o->convert)
		return complain(-EINVAL,
				"--to FORMAT is missing: what the "
				"file is to become; see %s",
				option_help(o->verb));
	if (o->convert == CONVERT_RECORDING && !o->report.path)
		return complain(-EINVAL, "-o FILE is missing: what the "
					 "recording is to be written to");
	if (o->until && o->until <= o->since)
		return complain(-EINVAL, "--until: comes before --since");
	return 0;
}

static int check_replay(const struct options *o)
{
	if (!o->command || o->command[1])
		return complain(-EINVAL,
				"replay: one recording is needed; "
				"see %s",
				option_help(o->verb));
	if (o->until && o->until <= o->since)
		return complain(-EINVAL, "--until: comes before --since");
	return 0;
}

/* By stops all calls cost alike, whatever is kept of them. */
static int check_overhead(const struct options *o)
{
	if (!o->max_overhead)
		return 0;
	if (o->from)
		return complain(-EINVAL, "--max-overhead: is for programs that "
					 "run, not for recordings");
	if (o->engine == ENGINE_TRAP)
		return complain(-EINVAL,
				"--max-overhead: needs --engine=agent or auto, "
				"as stops cost the same whatever is kept");
	if (o->follow && o->verb == VERB_HEAP)
		return complain(-EINVAL,
				"--max-overhead: with -f all calls stop, which "
				"costs the same whatever is kept; leave one of "
				"them out");
	return 0;
}

/* What needs every call. */
static int check_sample(const struct options *o)
{
	const struct excluded others[] = {
		{ "--calls", o->heap_calls },
		{ "--footprint", o->footprint },
		{ "--per",
		  o->verb == VERB_HEAP && !filter_is_empty(o->entries) },
		{ "--record", o->recording },
		{ "--value temporary-blocks",
		  o->export.value == HEAP_TEMPORARY_BLOCKS },
	};
	const char *other = find_excluded(others, ARRAY_SIZE(others));

	if (!options_sample(o) || !other)
		return 0;
	return complain(-EINVAL,
			"%s: keeps some blocks, and %s needs all; leave "
			"one of them out",
			o->max_overhead ? "--max-overhead" : "--sample", other);
}

/* What would leave something out without a word. */
static int check_shown(const struct options *o)
{
	if (o->report.by == HEAP_BY_COMPONENT && !o->components)
		return complain(-EINVAL, "--by component: --components FILE is "
					 "missing, which says what they are");
	if (o->per_json && filter_is_empty(o->entries))
		return complain(-EINVAL, "--per-json: is for the calls that "
					 "--per FUNCTION names");
	if (o->data && !o->export.files[HEAP_FILE_OBJECTS])
		return complain(-EINVAL, "--data: is of the blocks that "
					 "--objects FILE writes");
	if (o->report.histogram && !heap_report_has_blocks(&o->report))
		return complain(-EINVAL,
				"--histogram: is of blocks, which "
				"--growth shows with 'leaks' in its list");
	if (o->tag && (!o->every || !heap_report_has_blocks(&o->report)))
		return complain(-EINVAL,
				"--tag: is for the lines of --every, about "
				"blocks");
	return 0;
}

int check_options(const struct command_line *line)
{
	const struct options *o = line->options;

	int err = outputs_check_names(o);

	if (err)
		return err;
	if (o->verb == VERB_HEAP_DIFF)
		return check_files(o);
	if (o->verb == VERB_MEMORY)
		return check_memory(line);
	if (o->verb == VERB_TOP)
		return check_processes(line, "top");
	if (o->verb == VERB_CONVERT)
		return check_conversion(o);
	if (o->verb == VERB_REPLAY)
		return check_replay(o);
	if (o->verb == VERB_DOCTOR)
		return check_patients(o);
	err = o->verb == VERB_HEAP ? check_shown(o) : 0;
	if (!err)
		err = check_sample(o);
	if (!err)
		err = check_overhead(o);
	if (!err)
		err = check_recording(line);
	if (err || o->from)
		return err;
	if (!o->command && !o->pid_count && !line->name_count)
		return complain(-EINVAL,
				"nothing to trace: give a COMMAND, "
				"-p PID or --name NAME, as in '%s'; see %s",
				o->verb == VERB_HEAP ?
					"calltrap heap --for 60s -p 4711" :
				o->verb == VERB_RECORD ?
					"calltrap record -o FILE -p 4711" :
					"calltrap ls",
				option_help(o->verb));
	if (o->report.source && line->by_given && o->report.by != HEAP_BY_LINE)
		return complain(-EINVAL, "--source: is for rows by line; leave "
					 "--by out, or say --by line");
	if (o->log.relative && o->log.clock != LOG_CLOCK_NONE)
		return complain(-EINVAL, "-r: can't be used together with -t; "
					 "leave one of them out");
	if (o->user && !o->command)
		return complain(-EINVAL,
				"-u '%s': there is no COMMAND to run "
				"as that user",
				o->user);
	if (o->verb == VERB_HEAP)
		err = check_growth(o);
	return err ? err : serve_check(o);
}
