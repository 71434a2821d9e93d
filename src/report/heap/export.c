/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/heap/export.h"

#include "report/growth/export.h"
#include "report/memory/names.h"

/* Blocks that are being given back are held until that is done; only a count
   by age doesn't have them. */
struct heap_export_held heap_export_held(const struct heap_export *export,
					 const struct site *site)
{
	const struct survey_site *ages;

	if (!export->config->options->older_than)
		return (struct heap_export_held){ site->blocks, site->bytes };
	ages = survey_site(export->survey, site);
	return (struct heap_export_held){ ages->blocks, ages->bytes };
}

uint64_t heap_export_weight(const struct heap_export *export,
			    const struct site *site)
{
	if (!site->function->family->has_size || site->suppression)
		return 0;
	switch (export->options->value) {
	case HEAP_INUSE_BYTES:
		return heap_export_held(export, site).bytes;
	case HEAP_INUSE_BLOCKS:
		return heap_export_held(export, site).blocks;
	case HEAP_ALLOC_BYTES:
		return site->alloc_bytes;
	case HEAP_ALLOC_BLOCKS:
		return site->alloc_blocks;
	}
	return 0;
}

const struct heap_value_text *heap_export_value_text(enum heap_value value)
{
	static const struct heap_value_text texts[] = {
		[HEAP_INUSE_BYTES] = { "Heap in use", "bytes" },
		[HEAP_INUSE_BLOCKS] = { "Heap in use", "blocks" },
		[HEAP_ALLOC_BYTES] = { "Heap acquired", "bytes" },
		[HEAP_ALLOC_BLOCKS] = { "Heap acquired", "blocks" },
	};

	return &texts[value];
}

struct format {
	const char *path;
	void (*make)(const struct heap_export *export, struct strbuf *out);
};

static void write_one(const struct heap_export *export,
		      const struct format *format,
		      const struct export_errors *errors)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	format->make(export, &out);
	heap_export_write_file(export, format->path, &out, errors);
}

void heap_export_write(const struct heap_export *export,
		       const struct export_errors *errors)
{
	const bool has_blocks =
		heap_report_has_blocks(export->config->options);
	const struct format formats[] = {
		{ has_blocks ? export->options->folded : NULL,
		  heap_folded_make },
		{ has_blocks ? export->options->pprof : NULL,
		  heap_pprof_make },
		{ export->options->json, heap_json_make },
		{ export->options->callgrind, heap_callgrind_make },
		{ has_blocks ? export->options->svg : NULL, heap_svg_make },
	};
	struct heap_export own = *export;
	struct survey *survey;

	if (!heap_export_is_wanted(export->options))
		return;
	heap_names_prepare_all(export->config, export->process->heap,
			       UNWIND_DEPTH_MAX);
	if (export->process->growth)
		heap_names_prepare_growth(export->config,
					  export->process->growth);
	survey = survey_new(export->process->heap, export->now,
			    export->config->options->older_than);
	own.survey = survey;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i].path)
			write_one(&own, &formats[i], errors);
	if (!has_blocks)
		growth_export_write(&own, errors);
	survey_free(survey);
}

bool heap_export_is_wanted(const struct heap_export_options *options)
{
	return options->folded || options->pprof || options->json ||
	       options->callgrind || options->svg;
}
