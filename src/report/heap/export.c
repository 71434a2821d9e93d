/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/export.h"

#include "base/doing.h"
#include "report/file/path_pattern.h"
#include "report/file/spool.h"
#include "report/file/whole_file.h"
#include "report/growth/export.h"
#include "report/memory/names.h"
#include "report/page/page.h"
#include "report/viewer/formats.h"

struct heap_format {
	const char *option;
	void (*make)(const struct heap_export *export, struct strbuf *out);
	bool of_blocks; /* has nothing of growth */
	bool needs_timeline;
};

static const struct heap_format formats[HEAP_FILES] = {
	[HEAP_FILE_FOLDED] = { "--folded", heap_folded_make, true, false },
	[HEAP_FILE_PPROF] = { "--pprof", heap_pprof_make, true, false },
	[HEAP_FILE_CALLGRIND] = { "--callgrind", heap_callgrind_make, true,
				  false },
	[HEAP_FILE_JSON] = { "--json", heap_json_make, false, false },
	[HEAP_FILE_OBJECTS] = { "--objects", heap_objects_make, true, false },
	[HEAP_FILE_SVG] = { "--svg", heap_svg_make, true, false },
	[HEAP_FILE_SPEEDSCOPE] = { "--speedscope", speedscope_make, true,
				   false },
	[HEAP_FILE_DHAT] = { "--dhat", dhat_make, true, true },
	[HEAP_FILE_MASSIF] = { "--massif", massif_make, true, true },
	[HEAP_FILE_FIREFOX] = { "--firefox", firefox_make, true, true },
	[HEAP_FILE_HTML] = { "--html", page_make, true, true },
};

const char *heap_file_option(enum heap_file file)
{
	return formats[file].option;
}

static void spool_piece(void *spool)
{
	spool_added(spool);
}

/* It may be longer than there is memory. */
static int write_json(const struct heap_export *export, const char *path,
		      bool predictable)
{
	CLEANUP(spool_fini) struct spool spool = SPOOL_CLOSED;
	int err = spool_open(&spool, path);

	if (err)
		return err;
	heap_json_put(export, &(struct heap_pieces){ &spool.text, spool_piece,
						     &spool });
	err = spool_rewind(&spool);
	return err ? err :
		     whole_file_write_from(path, NULL, 0, spool.fd,
					   predictable);
}

static void make_json(const struct heap_export *export,
		      const struct export_errors *errors)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	const bool predictable =
		path_pattern_expand(export->options->files[HEAP_FILE_JSON],
				    export->process->pid, &path);
	int err = write_json(export, strbuf_text(&path), predictable);

	if (err)
		errors->told(errors->context, strbuf_text(&path), err);
}

static void write_one(const struct heap_export *export, enum heap_file file,
		      const struct export_errors *errors)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	doing("making %s", export->options->files[file]);
	if (file == HEAP_FILE_JSON) {
		make_json(export, errors);
		return;
	}
	formats[file].make(export, &out);
	heap_export_write_file(export, export->options->files[file], &out,
			       errors);
}

static void prepare_names(const struct heap_export *export)
{
	heap_names_prepare_all(export->config, export->process->heap,
			       UNWIND_DEPTH_MAX);
	heap_names_wrappers(export->config, export->process->heap);
	if (export->process->growth)
		heap_names_prepare_growth(export->config,
					  export->process->growth);
}

void heap_export_begin(struct heap_export *export, bool named)
{
	if (named)
		prepare_names(export);
	export->survey = survey_new(export->process->heap, export->now,
				    export->config->options->older_than);
}

void heap_export_make(const struct heap_export *export, enum heap_file file,
		      struct strbuf *out)
{
	formats[file].make(export, out);
}

void heap_export_end(struct heap_export *export)
{
	survey_free((struct survey *)export->survey);
	export->survey = NULL;
}

void heap_export_write(const struct heap_export *export,
		       const struct export_errors *errors)
{
	const bool has_blocks = heap_report_has_blocks(export->config->options);
	struct heap_export own = *export;

	if (!heap_export_is_wanted(export->options))
		return;
	heap_export_begin(&own, true);
	for (enum heap_file file = 0; file < HEAP_FILES; file++)
		if (export->options->files[file] &&
		    (has_blocks || !formats[file].of_blocks))
			write_one(&own, file, errors);
	if (!has_blocks)
		growth_export_write(&own, errors);
	heap_export_end(&own);
}

bool heap_export_is_wanted(const struct heap_export_options *options)
{
	for (enum heap_file file = 0; file < HEAP_FILES; file++)
		if (options->files[file])
			return true;
	return false;
}

bool heap_export_needs_timeline(const struct heap_export_options *options)
{
	for (enum heap_file file = 0; file < HEAP_FILES; file++)
		if (options->files[file] && formats[file].needs_timeline)
			return true;
	return false;
}
