/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/json_writer.h"
#include "report/viewer/formats.h"
#include "report/viewer/viewer.h"

/*
 * speedscope's own format: frames shared by several profiles, each a list of
 * stacks (the outermost frame first) and their weights. The schema is at the
 * address below, which has to be in the file.
 */
static const char schema[] =
	"https://www.speedscope.app/file-format-schema.json";

static json_t *frame_object(const struct frame_row *row)
{
	json_t *object = json_object();

	json_object_set_new(object, "name", json_string(row->function));
	if (*row->file || *row->library)
		json_object_set_new(object, "file",
				    json_string(*row->file ? row->file :
							     row->library));
	if (row->line)
		json_object_set_new(object, "line", json_integer(row->line));
	return object;
}

static json_t *frames_of(const struct frame_table *table)
{
	json_t *array = json_array();

	for (size_t i = 0; i < table->count; i++)
		json_array_append_new(array, frame_object(&table->rows[i]));
	return array;
}

static json_t *numbers_of(const struct viewer_site *row)
{
	json_t *array = json_array();

	for (size_t i = 0; i < row->depth; i++)
		json_array_append_new(array, json_integer(row->frames[i]));
	return array;
}

static json_t *profile_of(const struct viewer *viewer, enum heap_value value)
{
	const struct heap_value_text *text = heap_export_value_text(value);
	struct heap_export_options options = { .value = value };
	struct heap_export export = *viewer->export;
	json_t *profile = json_object(), *samples = json_array();
	json_t *weights = json_array();
	uint64_t total = 0;

	export.options = &options;
	for (size_t i = 0; i < viewer->count; i++) {
		const struct viewer_site *row = &viewer->sites[i];
		uint64_t weight = heap_export_weight(&export, row->site);

		if (!weight)
			continue;
		total += weight;
		json_array_append_new(samples, numbers_of(row));
		json_array_append_new(weights, json_number(weight));
	}
	json_object_set_new(profile, "type", json_string("sampled"));
	json_object_set_new(profile, "name",
			    json_sprintf("%s, %s", text->what, text->unit));
	json_object_set_new(profile, "unit",
			    json_string(heap_value_is_in_bytes(value) ?
						"bytes" :
						"none"));
	json_object_set_new(profile, "startValue", json_integer(0));
	json_object_set_new(profile, "endValue", json_number(total));
	json_object_set_new(profile, "samples", samples);
	json_object_set_new(profile, "weights", weights);
	return profile;
}

static json_t *root_of(const struct viewer *viewer)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	json_t *root = json_object(), *shared = json_object();
	json_t *profiles = json_array();

	viewer_add_title(viewer, &title);
	for (enum heap_value value = 0; value < HEAP_VALUES; value++)
		json_array_append_new(profiles, profile_of(viewer, value));
	json_object_set_new(shared, "frames", frames_of(&viewer->frames));
	json_object_set_new(root, "$schema", json_string(schema));
	json_object_set_new(root, "exporter", json_string(PACKAGE_STRING));
	json_object_set_new(root, "name", json_string(strbuf_text(&title)));
	json_object_set_new(root, "activeProfileIndex",
			    json_integer(viewer->export->options->value));
	json_object_set_new(root, "shared", shared);
	json_object_set_new(root, "profiles", profiles);
	return root;
}

void speedscope_make(const struct heap_export *export, struct strbuf *out)
{
	struct viewer viewer;

	viewer_init(&viewer, export);
	viewer_put_json(root_of(&viewer), out);
	viewer_fini(&viewer);
}
