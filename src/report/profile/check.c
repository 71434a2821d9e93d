/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/check.h"

#include <stdlib.h>
#include <string.h>

/*
 * Of one stack, and of the text of all: a small file can ask for very much. A
 * million sites with stacks of 60 frames have less.
 */
#define DEPTH_MAX   65536
#define TEXT_MAX    65536
#define STACKS_MAX  (UINT64_C(6) << 30)
#define FRAME_BYTES 64 /* besides its name */

/* ---- references ---- */

const char *profile_text(const Pprof__Profile *message, int64_t index)
{
	return message->strings[index];
}

static bool is_text(const Pprof__Profile *message, int64_t index)
{
	return index >= 0 && (uint64_t)index < message->n_strings;
}

/* Both kinds of message begin with their id. */
static int compare_locations(const void *a, const void *b)
{
	const Pprof__Location *x = *(Pprof__Location *const *)a;
	const Pprof__Location *y = *(Pprof__Location *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

static int compare_functions(const void *a, const void *b)
{
	const Pprof__Function *x = *(Pprof__Function *const *)a;
	const Pprof__Function *y = *(Pprof__Function *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

const Pprof__Location *profile_location(const Pprof__Profile *message,
					uint64_t id)
{
	Pprof__Location key = { .id = id }, *wanted = &key, **found;

	if (!message->n_locations)
		return NULL;
	found = bsearch(&wanted, message->locations, message->n_locations,
			sizeof(wanted), compare_locations);
	return found ? *found : NULL;
}

const Pprof__Function *profile_function(const Pprof__Profile *message,
					uint64_t id)
{
	Pprof__Function key = { .id = id }, *wanted = &key, **found;

	if (!message->n_functions)
		return NULL;
	found = bsearch(&wanted, message->functions, message->n_functions,
			sizeof(wanted), compare_functions);
	return found ? *found : NULL;
}

static void sort(Pprof__Profile *message)
{
	if (message->n_locations)
		qsort(message->locations, message->n_locations,
		      sizeof(*message->locations), compare_locations);
	if (message->n_functions)
		qsort(message->functions, message->n_functions,
		      sizeof(*message->functions), compare_functions);
}

/* ---- checking ---- */

/* Each returns what is wrong, or NULL. */

static const char *check_texts(const Pprof__Profile *message)
{
	if (!message->n_strings || *message->strings[0])
		return "it is no profile: its texts don't begin with an "
		       "empty one";
	for (size_t i = 0; i < message->n_strings; i++)
		if (strlen(message->strings[i]) > TEXT_MAX)
			return "a text is too long";
	for (size_t i = 0; i < message->n_comments; i++)
		if (!is_text(message, message->comments[i]))
			return "a comment isn't there";
	for (size_t i = 0; i < message->n_mappings; i++)
		if (!is_text(message, message->mappings[i]->build_id))
			return "a build-id isn't there";
	return NULL;
}

static const char *check_functions(const Pprof__Profile *message)
{
	for (size_t i = 0; i < message->n_functions; i++) {
		const Pprof__Function *function = message->functions[i];

		if (!function->id ||
		    (i && message->functions[i - 1]->id == function->id))
			return "functions have no numbers of their own";
		if (!is_text(message, function->name) ||
		    !is_text(message, function->file))
			return "the name of a function isn't there";
	}
	return NULL;
}

static const char *check_locations(const Pprof__Profile *message)
{
	for (size_t i = 0; i < message->n_locations; i++) {
		const Pprof__Location *location = message->locations[i];

		if (!location->id ||
		    (i && message->locations[i - 1]->id == location->id))
			return "locations have no numbers of their own";
		for (size_t k = 0; k < location->n_lines; k++)
			if (!profile_function(message,
					      location->lines[k]->function_id))
				return "the function of a location isn't "
				       "there";
	}
	return NULL;
}

static bool find_type(const Pprof__Profile *message, const char *name,
		      size_t *ret)
{
	for (size_t i = 0; i < message->n_sample_types; i++) {
		int64_t type = message->sample_types[i]->type;

		if (is_text(message, type) &&
		    !strcmp(profile_text(message, type), name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* False when one that is needed isn't there. */
static bool find_types(const Pprof__Profile *message,
		       const char *const names[PROFILE_VALUES],
		       size_t columns[PROFILE_VALUES])
{
	for (int value = 0; value < PROFILE_VALUES; value++) {
		columns[value] = PROFILE_NO_COLUMN;
		if (names[value] &&
		    find_type(message, names[value], &columns[value]))
			continue;
		if (value < PROFILE_NEEDED)
			return false;
	}
	return true;
}

static const char *check_types(const Pprof__Profile *message,
			       struct profile_types *types)
{
	static const char *const heap[PROFILE_VALUES] = {
		[PROFILE_ALLOC_OBJECTS] = "alloc_objects",
		[PROFILE_ALLOC_SPACE] = "alloc_space",
		[PROFILE_INUSE_OBJECTS] = "inuse_objects",
		[PROFILE_INUSE_SPACE] = "inuse_space",
		[PROFILE_PEAK_OBJECTS] = "peak_objects",
		[PROFILE_PEAK_SPACE] = "peak_space",
		[PROFILE_TEMPORARY_OBJECTS] = "temporary_objects",
		[PROFILE_TEMPORARY_SPACE] = "temporary_space",
	};
	static const char *const growth[PROFILE_VALUES] = {
		[PROFILE_ALLOC_OBJECTS] = "calls",
		[PROFILE_ALLOC_SPACE] = "grown_space",
		[PROFILE_INUSE_OBJECTS] = "calls",
		[PROFILE_INUSE_SPACE] = "kept_space",
	};

	types->growth = message->period_type &&
			is_text(message, message->period_type->type) &&
			find_types(message, growth, types->columns);
	if (!types->growth && !find_types(message, heap, types->columns))
		return "it is no profile of a heap: it lacks one of "
		       "alloc_objects, alloc_space, inuse_objects, "
		       "inuse_space";
	return NULL;
}

static uint64_t text_size(const Pprof__Profile *message,
			  const Pprof__Location *location)
{
	uint64_t size = FRAME_BYTES;

	for (size_t i = 0; i < location->n_lines; i++) {
		const Pprof__Function *function =
			profile_function(message,
					 location->lines[i]->function_id);

		size += FRAME_BYTES +
			strlen(profile_text(message, function->name));
	}
	return size;
}

static const char *check_sample(const Pprof__Profile *message,
				const Pprof__Sample *sample, uint64_t *total)
{
	size_t depth = 0;

	if (sample->n_values != message->n_sample_types)
		return "a sample has another number of values than there are "
		       "types";
	for (size_t i = 0; i < sample->n_location_ids; i++) {
		const Pprof__Location *location =
			profile_location(message, sample->location_ids[i]);

		if (!location)
			return "a location isn't there";
		depth += location->n_lines ? location->n_lines : 1;
		if (depth > DEPTH_MAX)
			return "a stack is too deep";
		*total += text_size(message, location);
		if (*total > STACKS_MAX)
			return "its stacks are too many";
	}
	for (size_t i = 0; i < sample->n_labels; i++)
		if (!is_text(message, sample->labels[i]->key) ||
		    !is_text(message, sample->labels[i]->text))
			return "the text of a label isn't there";
	return NULL;
}

static const char *check_samples(const Pprof__Profile *message)
{
	const char *why = NULL;
	uint64_t total = 0;

	for (size_t i = 0; !why && i < message->n_samples; i++)
		why = check_sample(message, message->samples[i], &total);
	return why;
}

const char *profile_check(Pprof__Profile *message,
			  struct profile_types *types_ret)
{
	const char *why = check_texts(message);

	sort(message);
	if (!why)
		why = check_functions(message);
	if (!why)
		why = check_locations(message);
	if (!why)
		why = check_types(message, types_ret);
	return why ? why : check_samples(message);
}

const char *profile_check_signs(const Pprof__Profile *message,
				const struct profile_types *types)
{
	for (size_t i = 0; i < message->n_samples; i++)
		for (size_t k = 0; k < PROFILE_VALUES; k++)
			if (types->columns[k] != PROFILE_NO_COLUMN &&
			    message->samples[i]->values[types->columns[k]] < 0)
				return "it has negative values: is it a "
				       "difference already?";
	return NULL;
}
