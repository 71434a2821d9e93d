/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/delta.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "report/serve/private.h"

#define BYTES_MAX ((size_t)1 << 30)

Pprof__Profile *delta_unpack(const struct strbuf *bytes,
			     struct profile_types *types_ret)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	Pprof__Profile *profile;

	if (gzip_expand(&plain, bytes->text, bytes->length, BYTES_MAX))
		return NULL;
	profile = pprof__profile__unpack(NULL, plain.length,
					 (const uint8_t *)plain.text);
	if (profile && profile_check(profile, types_ret)) {
		pprof__profile__free_unpacked(profile, NULL);
		profile = NULL;
	}
	return profile;
}

static void pack(const Pprof__Profile *profile, struct strbuf *out)
{
	size_t size = pprof__profile__get_packed_size(profile);
	uint8_t *bytes = xmalloc(size ? size : 1);

	pprof__profile__pack(profile, bytes);
	gzip_add(out, bytes, size);
	free(bytes);
}

static void set_first(Pprof__Profile *profile, const char *type)
{
	for (size_t i = 0; i < profile->n_sample_types; i++) {
		int64_t text = profile->sample_types[i]->type;

		if (!strcmp(profile_text(profile, text), type))
			profile->default_sample_type = text;
	}
}

int profile_first_value(const struct strbuf *profile, const char *type,
			struct strbuf *out)
{
	struct profile_types types;
	Pprof__Profile *message = delta_unpack(profile, &types);

	if (!message)
		return -EINVAL;
	set_first(message, type);
	pack(message, out);
	pprof__profile__free_unpacked(message, NULL);
	return 0;
}

/* ---- differences ---- */

/* Samples are the same where stack and labels are, whose numbers differ from
   profile to profile: so they are compared as text. */
struct keyed_sample {
	char *key;
	Pprof__Sample *sample;
	bool met;
	UT_hash_handle hh;
};

static void add_location(const Pprof__Profile *profile, uint64_t id,
			 struct strbuf *out)
{
	const Pprof__Location *location = profile_location(profile, id);

	strbuf_printf(out, "%" PRIx64, location->address);
	for (size_t i = 0; i < location->n_lines; i++) {
		const Pprof__Line *line = location->lines[i];
		const Pprof__Function *function =
			profile_function(profile, line->function_id);

		strbuf_printf(out, " %s:%" PRId64,
			      profile_text(profile, function->name),
			      line->line);
	}
	strbuf_putc(out, '\n');
}

static void add_label(const Pprof__Profile *profile, const Pprof__Label *label,
		      struct strbuf *out)
{
	const char *key = profile_text(profile, label->key);

	/* May be another one later: it isn't what the sample is. */
	if (!strcmp(key, "verdict") || !strcmp(key, "bytes"))
		return;
	strbuf_printf(out, "%s=%s,%" PRId64 "\n", key,
		      profile_text(profile, label->text), label->number);
}

static char *key_of(const Pprof__Profile *profile, const Pprof__Sample *sample)
{
	struct strbuf text = { 0 };
	char *key;

	for (size_t i = 0; i < sample->n_location_ids; i++)
		add_location(profile, sample->location_ids[i], &text);
	for (size_t i = 0; i < sample->n_labels; i++)
		add_label(profile, sample->labels[i], &text);
	key = xstrdup(strbuf_text(&text));
	strbuf_fini(&text);
	return key;
}

static struct keyed_sample *know(const Pprof__Profile *profile)
{
	struct keyed_sample *table = NULL;

	for (size_t i = 0; i < profile->n_samples; i++) {
		struct keyed_sample *known = xcalloc(1, sizeof(*known)), *same;

		known->sample = profile->samples[i];
		known->key = key_of(profile, known->sample);
		HASH_FIND_STR(table, known->key, same);
		if (same) {
			for (size_t k = 0; k < known->sample->n_values; k++)
				same->sample->values[k] +=
					known->sample->values[k];
			free(known->key);
			free(known);
			continue;
		}
		HASH_ADD_KEYPTR(hh, table, known->key, strlen(known->key),
				known);
	}
	return table;
}

static void forget(struct keyed_sample *table)
{
	struct keyed_sample *known, *next;

	HASH_ITER(hh, table, known, next) {
		HASH_DEL(table, known);
		free(known->key);
		free(known);
	}
}

static bool is_nothing(const Pprof__Sample *sample)
{
	for (size_t i = 0; i < sample->n_values; i++)
		if (sample->values[i])
			return false;
	return true;
}

static bool is_acquired(const struct profile_types *types, size_t column)
{
	return column == types->columns[PROFILE_ALLOC_OBJECTS] ||
	       column == types->columns[PROFILE_ALLOC_SPACE];
}

/* types: of what was acquired alone; or NULL. */
static void subtract(Pprof__Profile *after, Pprof__Sample *sample,
		     struct keyed_sample *table,
		     const struct profile_types *types)
{
	char *key CLEANUP(xfree_cleanup) = key_of(after, sample);
	struct keyed_sample *known;

	HASH_FIND_STR(table, key, known);
	if (!known || known->met || known->sample->n_values != sample->n_values)
		return;
	known->met = true;
	for (size_t i = 0; i < sample->n_values; i++)
		if (!types || is_acquired(types, i))
			sample->values[i] -= known->sample->values[i];
}

/*
 * What is in the earlier one alone (what a thread had, and gave away): its
 * tables follow those of the later one, with numbers of their own.
 */
struct shift {
	int64_t text;
	uint64_t mapping, location, function;
};

static uint64_t greatest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct shift shift_behind(const Pprof__Profile *profile)
{
	struct shift shift = { .text = profile->n_strings };

	for (size_t i = 0; i < profile->n_mappings; i++)
		shift.mapping =
			greatest(shift.mapping, profile->mappings[i]->id);
	for (size_t i = 0; i < profile->n_locations; i++)
		shift.location =
			greatest(shift.location, profile->locations[i]->id);
	for (size_t i = 0; i < profile->n_functions; i++)
		shift.function =
			greatest(shift.function, profile->functions[i]->id);
	return shift;
}

static void move_location(Pprof__Location *location, const struct shift *shift)
{
	location->id += shift->location;
	if (location->mapping_id)
		location->mapping_id += shift->mapping;
	for (size_t i = 0; i < location->n_lines; i++)
		location->lines[i]->function_id += shift->function;
}

static void move_sample(Pprof__Sample *sample, const struct shift *shift)
{
	for (size_t i = 0; i < sample->n_location_ids; i++)
		sample->location_ids[i] += shift->location;
	for (size_t i = 0; i < sample->n_values; i++)
		sample->values[i] = -sample->values[i];
	for (size_t i = 0; i < sample->n_labels; i++) {
		Pprof__Label *label = sample->labels[i];

		label->key += shift->text;
		if (label->text)
			label->text += shift->text;
		if (label->number_unit)
			label->number_unit += shift->text;
	}
}

static void move(Pprof__Profile *profile, const struct shift *shift)
{
	for (size_t i = 0; i < profile->n_mappings; i++) {
		profile->mappings[i]->id += shift->mapping;
		profile->mappings[i]->file += shift->text;
		profile->mappings[i]->build_id += shift->text;
	}
	for (size_t i = 0; i < profile->n_functions; i++) {
		profile->functions[i]->id += shift->function;
		profile->functions[i]->name += shift->text;
		profile->functions[i]->system_name += shift->text;
		profile->functions[i]->file += shift->text;
	}
	for (size_t i = 0; i < profile->n_locations; i++)
		move_location(profile->locations[i], shift);
}

static bool have_all_been_met(const struct keyed_sample *table)
{
	const struct keyed_sample *known;

	for (known = table; known; known = known->hh.next)
		if (!known->met && !is_nothing(known->sample))
			return false;
	return true;
}

/* A message of pieces that are put one behind the other is one message. */
static void add_rest(const Pprof__Profile *after, Pprof__Profile *before,
		     struct keyed_sample *table, struct strbuf *plain)
{
	const struct shift shift = shift_behind(after);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	const struct keyed_sample *known;
	size_t size, count = 0;
	uint8_t *bytes;

	if (have_all_been_met(table))
		return;
	move(before, &shift);
	piece.mappings = before->mappings;
	piece.n_mappings = before->n_mappings;
	piece.functions = before->functions;
	piece.n_functions = before->n_functions;
	piece.locations = before->locations;
	piece.n_locations = before->n_locations;
	piece.strings = before->strings;
	piece.n_strings = before->n_strings;
	piece.samples = xcalloc(HASH_COUNT(table), sizeof(*piece.samples));
	for (known = table; known; known = known->hh.next)
		if (!known->met && !is_nothing(known->sample)) {
			move_sample(known->sample, &shift);
			piece.samples[count++] = known->sample;
		}
	piece.n_samples = count;
	size = pprof__profile__get_packed_size(&piece);
	bytes = xmalloc(size);
	pprof__profile__pack(&piece, bytes);
	strbuf_add(plain, bytes, size);
	free(bytes);
	free(piece.samples);
}

static void keep_changed(Pprof__Profile *profile)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->n_samples; i++) {
		Pprof__Sample *sample = profile->samples[i];

		if (is_nothing(sample))
			pprof__sample__free_unpacked(sample, NULL);
		else
			profile->samples[kept++] = sample;
	}
	profile->n_samples = kept;
}

static void make_delta(Pprof__Profile *before, Pprof__Profile *after,
		       const struct profile_types *types, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 };
	struct keyed_sample *table = know(before);
	uint8_t *bytes;
	size_t size;

	for (size_t i = 0; i < after->n_samples; i++)
		subtract(after, after->samples[i], table, types);
	keep_changed(after);
	after->duration_nanos = after->time_nanos - before->time_nanos;
	size = pprof__profile__get_packed_size(after);
	bytes = xmalloc(size ? size : 1);
	pprof__profile__pack(after, bytes);
	strbuf_add(&plain, bytes, size);
	free(bytes);
	if (!types)
		add_rest(after, before, table, &plain);
	gzip_add(out, plain.text, plain.length);
	forget(table);
}

static int compare_profiles(const struct strbuf *before,
			    const struct strbuf *after, const char *type,
			    struct strbuf *out)
{
	struct profile_types types;
	Pprof__Profile *first = delta_unpack(before, &types);
	Pprof__Profile *second = delta_unpack(after, &types);
	const int err = first && second ? 0 : -EINVAL;

	if (!err && type)
		set_first(second, type);
	if (!err)
		make_delta(first, second, type ? NULL : &types, out);
	if (first)
		pprof__profile__free_unpacked(first, NULL);
	if (second)
		pprof__profile__free_unpacked(second, NULL);
	return err;
}

int profile_delta(const struct strbuf *before, const struct strbuf *after,
		  const char *type, struct strbuf *out)
{
	return compare_profiles(before, after, type, out);
}

int profile_since(const struct strbuf *before, const struct strbuf *after,
		  struct strbuf *out)
{
	return compare_profiles(before, after, NULL, out);
}
