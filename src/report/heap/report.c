/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/report.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "heap/verdicts.h"
#include "report/file/log_file.h"
#include "report/growth/text.h"
#include "report/heap/text.h"
#include "report/heap/together.h"
#include "report/memory/names.h"

struct heap_report {
	struct heap_report_config config;
	struct log_files files;
	struct together together;
};

int heap_report_new(const struct heap_report_config *config,
		    struct heap_report **ret)
{
	struct heap_report *report = xcalloc(1, sizeof(*report));
	struct log_file *file;
	int err = 0;

	report->config = *config;
	log_files_init(&report->files, config->options->path);
	report->files.policy = config->policy;
	/* That it can't be written is better known now than in an hour. */
	if (!report->files.per_process)
		err = log_files_get(&report->files, 0, &file);
	if (err) {
		heap_report_free(report);
		return err;
	}
	*ret = report;
	return 0;
}

void heap_report_free(struct heap_report *report)
{
	if (!report)
		return;
	together_fini(&report->together);
	log_files_fini(&report->files);
	free(report);
}

void heap_report_set_wall(struct heap_report *report, uint64_t offset)
{
	report->config.wall_offset = offset;
}

static int print_blocks(const struct heap_text *text,
			const struct heap_rows *rows)
{
	int err = heap_text_rows(text, rows);

	if (!err)
		err = heap_text_source(text, rows);
	if (!err)
		err = heap_text_all_sizes(text);
	if (!err)
		err = heap_text_calls(text);
	if (!err)
		err = heap_text_holders(text);
	return err ? err : heap_text_incidents(text);
}

static int print(const struct heap_text *text, const struct heap_rows *rows)
{
	const bool has_blocks = heap_report_has_blocks(text->config->options);
	int err = heap_text_head(text);

	if (!err && has_blocks && heap_rows_have_levels(text->config->options))
		err = heap_text_short(text, rows);
	if (!err && has_blocks)
		err = heap_text_summary(text, rows);
	if (!err)
		err = heap_text_process(text);
	if (!err)
		err = heap_text_per(text);
	if (!err)
		err = growth_text(text);
	if (!err && has_blocks)
		err = print_blocks(text, rows);
	if (!err)
		err = heap_text_foot(text);
	return err ? err : output_write(text->output);
}

/* Reports are hours apart, and their file may be another day's by then. */
static int report_file(struct heap_report *report, pid_t pid,
		       struct log_file **ret)
{
	int err = log_files_get(&report->files, pid, ret);

	if (!err)
		log_files_renew(&report->files, *ret);
	return err;
}

int heap_report_print(struct heap_report *report, const struct watched *process,
		      uint64_t now, const struct heap_cost *cost)
{
	struct heap_text text = {
		.config = &report->config,
		.process = process,
		.cost = cost,
		.now = now,
		.add_cause = heap_text_cause,
	};
	struct log_file *file;
	struct heap_rows rows;
	int err;

	err = report_file(report, process->pid, &file);
	if (err)
		return err;
	text.output = &file->output;
	if (heap_report_has_blocks(report->config.options))
		heap_names_wrappers(&report->config, process->heap);
	rows = heap_rows_of(&report->config, process->heap, now);
	if (heap_report_has_blocks(report->config.options))
		text.rows = &rows;
	err = print(&text, &rows);
	if (text.rows && process->state != WATCHED_RUNNING)
		together_add(&report->together, &report->config, process,
			     &rows);
	heap_rows_fini(&rows);
	return err;
}

int heap_report_line(struct heap_report *report, const struct watched *process,
		     uint64_t now, const char *tag)
{
	struct heap_text text = {
		.config = &report->config,
		.process = process,
		.now = now,
	};
	struct log_file *file;
	int err = report_file(report, process->pid, &file);

	if (err)
		return err;
	text.output = &file->output;
	err = heap_text_dump_line(&text, tag);
	return err ? err : output_write(text.output);
}

int heap_report_finish(struct heap_report *report)
{
	struct heap_text text = { .config = &report->config };
	struct log_file *file;
	int err;

	if (report->files.per_process || report->together.processes < 2 ||
	    !heap_rows_have_levels(report->config.options))
		return 0;
	err = report_file(report, 0, &file);
	if (err)
		return err;
	text.output = &file->output;
	err = together_text(&report->together, &text);
	return err ? err : output_write(text.output);
}

bool heap_report_has_leaks(const struct heap_report_config *config,
			   const struct heap *heap, uint64_t now)
{
	struct survey *survey =
		survey_new(heap, now, config->options->older_than);
	struct verdicts *verdicts = verdicts_of(heap, survey);
	bool found = false;

	for (size_t i = 1; !found && i <= heap_site_count(heap); i++) {
		const struct site *site = heap_site(heap, i);

		found = verdicts_site(verdicts, site)->level ==
				VERDICT_LIKELY &&
			!site->suppression;
	}
	verdicts_free(verdicts);
	survey_free(survey);
	return found;
}
