/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "report/format/json_writer.h"
#include "report/viewer/formats.h"
#include "report/viewer/viewer.h"

/*
 * A processed profile of the Firefox Profiler, version 48 of
 * docs-developer/CHANGELOG-formats.md, with one thread whose native allocations
 * are balanced: each is a weight at a time and an address, given back by the
 * negative weight at the same address. What the timeline has in one cell is one
 * allocation. So a range of time shows what it has acquired and kept.
 */
#define PROCESSED_VERSION 48
#define GECKO_VERSION     30

/* ---- text, each once ---- */

struct firefox_text {
	char *text;
	uint32_t number;
	UT_hash_handle hh;
};

struct firefox {
	struct viewer viewer;
	struct firefox_text *texts;
	json_t *text_list;
	json_t *libs;
	struct firefox_text *lib_numbers; /* by path */
};

static uint32_t number_in(struct firefox_text **table, const char *text,
			  bool *new_ret)
{
	struct firefox_text *found;

	HASH_FIND_STR(*table, text, found);
	*new_ret = !found;
	if (found)
		return found->number;
	found = xcalloc(1, sizeof(*found));
	found->text = xstrdup(text);
	found->number = HASH_COUNT(*table);
	HASH_ADD_KEYPTR(hh, *table, found->text, strlen(found->text), found);
	return found->number;
}

static void free_texts(struct firefox_text **table)
{
	struct firefox_text *text, *next;

	HASH_ITER(hh, *table, text, next) {
		HASH_DEL(*table, text);
		free(text->text);
		free(text);
	}
}

static json_t *text_number(struct firefox *firefox, const char *text)
{
	bool is_new;
	uint32_t number = number_in(&firefox->texts, text, &is_new);

	if (is_new)
		json_array_append_new(firefox->text_list, json_string(text));
	return json_integer(number);
}

/* ---- tables: an array a column ---- */

static void add_column(json_t *table, const char *name)
{
	json_object_set_new(table, name, json_array());
}

static void put(json_t *table, const char *column, json_t *value)
{
	json_array_append_new(json_object_get(table, column), value);
}

static json_t *table_of(const char *const *columns)
{
	json_t *table = json_object();

	for (; *columns; columns++)
		add_column(table, *columns);
	return table;
}

static json_t *end_table(json_t *table, const char *column)
{
	size_t rows = json_array_size(json_object_get(table, column));

	json_object_set_new(table, "length", json_integer(rows));
	return table;
}

/* ---- frames and functions: one of each ---- */

static json_t *lib_object(const char *path)
{
	const char *name = file_base_name(path);
	json_t *lib = json_object();

	json_object_set_new(lib, "arch", json_string(""));
	json_object_set_new(lib, "name", json_string(name));
	json_object_set_new(lib, "path", json_string(path));
	json_object_set_new(lib, "debugName", json_string(name));
	json_object_set_new(lib, "debugPath", json_string(path));
	json_object_set_new(lib, "breakpadId", json_string(""));
	json_object_set_new(lib, "codeId", json_null());
	return lib;
}

/* Resources are libraries: their numbers are the same. */
static json_t *resource_of(struct firefox *firefox, const char *path)
{
	uint32_t number;
	bool is_new;

	if (!*path)
		return json_integer(-1);
	number = number_in(&firefox->lib_numbers, path, &is_new);
	if (is_new)
		json_array_append_new(firefox->libs, lib_object(path));
	return json_integer(number);
}

static json_t *functions_of(struct firefox *firefox)
{
	static const char *const columns[] = { "isJS",         "relevantForJS",
					       "name",         "resource",
					       "fileName",     "lineNumber",
					       "columnNumber", NULL };
	const struct frame_table *frames = &firefox->viewer.frames;
	json_t *table = table_of(columns);

	for (size_t i = 0; i < frames->count; i++) {
		const struct frame_row *row = &frames->rows[i];

		put(table, "isJS", json_false());
		put(table, "relevantForJS", json_false());
		put(table, "name", text_number(firefox, row->function));
		put(table, "resource", resource_of(firefox, row->library));
		put(table, "fileName",
		    *row->file ? text_number(firefox, row->file) : json_null());
		put(table, "lineNumber", json_null());
		put(table, "columnNumber", json_null());
	}
	return end_table(table, "name");
}

static json_t *frames_of(const struct firefox *firefox)
{
	static const char *const columns[] = { "address",
					       "inlineDepth",
					       "category",
					       "subcategory",
					       "func",
					       "nativeSymbol",
					       "innerWindowID",
					       "implementation",
					       "line",
					       "column",
					       NULL };
	const struct frame_table *frames = &firefox->viewer.frames;
	json_t *table = table_of(columns);

	for (size_t i = 0; i < frames->count; i++) {
		unsigned line = frames->rows[i].line;

		/* Addresses are for symbolication, which is done. */
		put(table, "address", json_integer(-1));
		put(table, "inlineDepth", json_integer(0));
		put(table, "category", json_integer(0));
		put(table, "subcategory", json_integer(0));
		put(table, "func", json_integer(i));
		put(table, "nativeSymbol", json_null());
		put(table, "innerWindowID", json_integer(0));
		put(table, "implementation", json_null());
		put(table, "line", line ? json_integer(line) : json_null());
		put(table, "column", json_null());
	}
	return end_table(table, "func");
}

static json_t *resources_of(struct firefox *firefox)
{
	static const char *const columns[] = { "lib", "name", "host", "type",
					       NULL };
	json_t *table = table_of(columns);
	json_t *lib;
	size_t i;

	json_array_foreach(firefox->libs, i, lib) {
		put(table, "lib", json_integer(i));
		put(table, "name",
		    text_number(firefox,
				json_string_value(
					json_object_get(lib, "name"))));
		put(table, "host", json_null());
		put(table, "type", json_integer(1)); /* a library */
	}
	return end_table(table, "lib");
}

/* ---- stacks: (prefix, frame), each once ---- */

struct node_key {
	int64_t prefix;
	uint64_t frame;
};

struct firefox_node {
	struct node_key key;
	int64_t number;
	UT_hash_handle hh;
};

static int64_t extend(struct firefox_node **nodes, json_t *table,
		      int64_t prefix, uint32_t frame)
{
	struct node_key key = { prefix, frame };
	struct firefox_node *node;

	HASH_FIND(hh, *nodes, &key, sizeof(key), node);
	if (node)
		return node->number;
	node = xcalloc(1, sizeof(*node));
	node->key = key;
	node->number = HASH_COUNT(*nodes);
	HASH_ADD(hh, *nodes, key, sizeof(node->key), node);
	put(table, "frame", json_integer(frame));
	put(table, "prefix", prefix < 0 ? json_null() : json_integer(prefix));
	put(table, "category", json_integer(0));
	put(table, "subcategory", json_integer(0));
	return node->number;
}

/* numbers_ret: the stack of each site. */
static json_t *stacks_of(const struct viewer *viewer, int64_t *numbers_ret)
{
	static const char *const columns[] = { "frame", "prefix", "category",
					       "subcategory", NULL };
	json_t *table = table_of(columns);
	struct firefox_node *nodes = NULL, *node, *next;

	for (size_t i = 0; i < viewer->count; i++) {
		const struct viewer_site *row = &viewer->sites[i];
		int64_t at = -1;

		for (size_t j = 0; j < row->depth; j++)
			at = extend(&nodes, table, at, row->frames[j]);
		numbers_ret[i] = at;
	}
	HASH_ITER(hh, nodes, node, next) {
		HASH_DEL(nodes, node);
		free(node);
	}
	return end_table(table, "frame");
}

/* ---- allocations ---- */

struct change {
	double time; /* milliseconds */
	double weight;
	int64_t stack;
	uint64_t address;
};

struct changes {
	struct change *list;
	size_t count, room;
};

static void add_change(struct changes *changes, const struct change *change)
{
	changes->list = xgrow(changes->list, changes->count, &changes->room,
			      sizeof(*changes->list));
	changes->list[changes->count++] = *change;
}

/* In an interval, what is acquired comes before what is given back. */
static double time_in(const struct viewer *viewer, unsigned interval,
		      double part)
{
	return (interval + part) * timeline_interval(viewer->timeline) / 1e6;
}

static void add_cell(const struct viewer *viewer, struct changes *changes,
		     const struct timeline_cell *cell, int64_t stack,
		     uint64_t address)
{
	struct change change = {
		.time = time_in(viewer, cell->acquired, .25),
		.weight = cell->bytes,
		.stack = stack,
		.address = address,
	};

	if (!cell->bytes)
		return;
	add_change(changes, &change);
	if (cell->gone == TIMELINE_HELD)
		return;
	change.time = time_in(viewer, cell->gone, .75);
	change.weight = -change.weight;
	add_change(changes, &change);
}

static int by_time(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->address < right->address ? -1 :
						left->address > right->address;
}

static struct changes changes_of(const struct viewer *viewer,
				 const int64_t *stacks)
{
	struct changes changes = { 0 };
	uint64_t address = 0;

	for (size_t i = 0; i < viewer->count; i++) {
		const struct timeline_cells *cells =
			&viewer->sites[i].site->times_of_blocks;

		for (uint32_t j = 0; j < cells->count; j++)
			add_cell(viewer, &changes, &cells->list[j], stacks[i],
				 ++address);
	}
	if (changes.count)
		qsort(changes.list, changes.count, sizeof(*changes.list),
		      by_time);
	return changes;
}

static json_t *allocations_of(const struct viewer *viewer,
			      const int64_t *stacks)
{
	static const char *const columns[] = { "time",     "weight",
					       "stack",    "memoryAddress",
					       "threadId", NULL };
	struct changes changes = changes_of(viewer, stacks);
	json_t *table = table_of(columns);

	for (size_t i = 0; i < changes.count; i++) {
		const struct change *change = &changes.list[i];

		put(table, "time", json_real(change->time));
		put(table, "weight", json_integer((json_int_t)change->weight));
		put(table, "stack", json_integer(change->stack));
		put(table, "memoryAddress", json_number(change->address));
		put(table, "threadId",
		    json_integer(viewer->export->process->pid));
	}
	free(changes.list);
	json_object_set_new(table, "weightType", json_string("bytes"));
	return end_table(table, "time");
}

/* ---- the thread ---- */

/* Without samples the time line would have no length. */
static json_t *samples_of(const struct viewer *viewer)
{
	static const char *const columns[] = { "stack", "time", NULL };
	json_t *table = table_of(columns);

	for (unsigned i = 0; i <= viewer->timeline->count; i++) {
		put(table, "stack", json_null());
		put(table, "time", json_real(viewer_time(viewer, i) / 1e6));
	}
	json_object_set_new(table, "weight", json_null());
	json_object_set_new(table, "weightType", json_string("samples"));
	return end_table(table, "stack");
}

static json_t *empty_table(const char *const *columns)
{
	return end_table(table_of(columns), columns[0]);
}

static void set_tables(json_t *thread, struct firefox *firefox)
{
	static const char *const markers[] = { "data",    "name",  "startTime",
					       "endTime", "phase", "category",
					       NULL };
	static const char *const symbols[] = { "libIndex", "address", "name",
					       "functionSize", NULL };
	const struct viewer *viewer = &firefox->viewer;
	int64_t *stacks = xcalloc(viewer->count + 1, sizeof(*stacks));

	json_object_set_new(thread, "samples", samples_of(viewer));
	json_object_set_new(thread, "markers", empty_table(markers));
	json_object_set_new(thread, "nativeSymbols", empty_table(symbols));
	json_object_set_new(thread, "stackTable", stacks_of(viewer, stacks));
	json_object_set_new(thread, "nativeAllocations",
			    allocations_of(viewer, stacks));
	json_object_set_new(thread, "frameTable", frames_of(firefox));
	json_object_set_new(thread, "funcTable", functions_of(firefox));
	json_object_set_new(thread, "resourceTable", resources_of(firefox));
	json_object_set(thread, "stringArray", firefox->text_list);
	free(stacks);
}

static json_t *thread_of(struct firefox *firefox)
{
	const struct watched *process = firefox->viewer.export->process;
	json_t *thread = json_object();

	json_object_set_new(thread, "processType", json_string("default"));
	json_object_set_new(thread, "processStartupTime", json_integer(0));
	json_object_set_new(thread, "processShutdownTime", json_null());
	json_object_set_new(thread, "registerTime", json_integer(0));
	json_object_set_new(thread, "unregisterTime", json_null());
	json_object_set_new(thread, "pausedRanges", json_array());
	json_object_set_new(thread, "name", json_string("all threads"));
	json_object_set_new(thread, "isMainThread", json_true());
	json_object_set_new(thread, "pid",
			    json_sprintf("%d", (int)process->pid));
	json_object_set_new(thread, "tid", json_integer(process->pid));
	set_tables(thread, firefox);
	return thread;
}

/* ---- the whole ---- */

static json_t *meta_of(const struct viewer *viewer)
{
	CLEANUP(strbuf_fini) struct strbuf title = { 0 };
	const struct watched *process = viewer->export->process;
	json_t *meta = json_object();

	viewer_add_title(viewer, &title);
	json_object_set_new(meta, "interval",
			    json_real(timeline_interval(viewer->timeline) /
				      1e6));
	json_object_set_new(meta, "startTime",
			    json_real(heap_report_wall(viewer->export->config,
						       process->start) /
				      1e6));
	json_object_set_new(meta, "processType", json_integer(0));
	json_object_set_new(meta, "stackwalk", json_integer(1));
	json_object_set_new(meta, "product", json_string(strbuf_text(&title)));
	json_object_set_new(meta, "importedFrom", json_string(PACKAGE_STRING));
	json_object_set_new(meta, "symbolicated", json_true());
	json_object_set_new(meta, "version", json_integer(GECKO_VERSION));
	json_object_set_new(meta, "preprocessedProfileVersion",
			    json_integer(PROCESSED_VERSION));
	json_object_set_new(meta, "markerSchema", json_array());
	json_object_set_new(meta, "categories",
			    json_pack("[{s:s, s:s, s:[s]}]", "name", "Other",
				      "color", "grey", "subcategories",
				      "Other"));
	return meta;
}

void firefox_make(const struct heap_export *export, struct strbuf *out)
{
	struct firefox firefox = { .text_list = json_array(),
				   .libs = json_array() };
	json_t *root = json_object(), *threads = json_array();

	viewer_init(&firefox.viewer, export);
	json_array_append_new(threads, thread_of(&firefox));
	json_object_set_new(root, "meta", meta_of(&firefox.viewer));
	json_object_set_new(root, "libs", firefox.libs);
	json_object_set_new(root, "pages", json_array());
	json_object_set_new(root, "counters", json_array());
	json_object_set_new(root, "profilerOverhead", json_array());
	json_object_set_new(root, "threads", threads);
	viewer_put_json(root, out);
	json_decref(firefox.text_list);
	free_texts(&firefox.texts);
	free_texts(&firefox.lib_numbers);
	viewer_fini(&firefox.viewer);
}
