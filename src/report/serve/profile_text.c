/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "report/serve/delta.h"
#include "report/serve/private.h"

/* Profiles as net/http/pprof prints them for people and simple programs. */

struct profile_text {
	const Pprof__Profile *profile;
	const struct profile_types *types;
	struct strbuf *out;
};

static int64_t value(const struct profile_text *text,
		     const Pprof__Sample *sample, enum profile_value which)
{
	size_t column = text->types->columns[which];

	return column < sample->n_values ? sample->values[column] : 0;
}

/* "INUSE_N: INUSE_B [ALLOC_N: ALLOC_B] @" */
static void add_values(const struct profile_text *text,
		       const int64_t values[PROFILE_VALUES])
{
	strbuf_printf(text->out,
		      "%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @",
		      values[PROFILE_INUSE_OBJECTS],
		      values[PROFILE_INUSE_SPACE],
		      values[PROFILE_ALLOC_OBJECTS],
		      values[PROFILE_ALLOC_SPACE]);
}

static void add_frame(const struct profile_text *text,
		      const Pprof__Location *location)
{
	for (size_t i = 0; i < location->n_lines; i++) {
		const Pprof__Line *line = location->lines[i];
		const Pprof__Function *function =
			profile_function(text->profile, line->function_id);
		const char *file = profile_text(text->profile, function->file);

		strbuf_printf(text->out, "#\t0x%" PRIx64 "\t%s",
			      location->address,
			      profile_text(text->profile, function->name));
		if (*file)
			strbuf_printf(text->out, "\t%s:%" PRId64, file,
				      line->line);
		strbuf_putc(text->out, '\n');
	}
}

static void add_sample(const struct profile_text *text,
		       const Pprof__Sample *sample)
{
	int64_t values[PROFILE_VALUES];

	for (int i = 0; i < PROFILE_VALUES; i++)
		values[i] = value(text, sample, i);
	add_values(text, values);
	for (size_t i = 0; i < sample->n_location_ids; i++)
		strbuf_printf(text->out, " 0x%" PRIx64,
			      profile_location(text->profile,
					       sample->location_ids[i])
				      ->address);
	strbuf_putc(text->out, '\n');
	for (size_t i = 0; i < sample->n_location_ids; i++)
		add_frame(text, profile_location(text->profile,
						 sample->location_ids[i]));
	strbuf_putc(text->out, '\n');
}

/* Most held first, as there. */
static int compare(const void *a, const void *b, void *types)
{
	const Pprof__Sample *x = *(Pprof__Sample *const *)a;
	const Pprof__Sample *y = *(Pprof__Sample *const *)b;
	const struct profile_text text = { .types = types };
	const int64_t held = value(&text, x, PROFILE_INUSE_SPACE);
	const int64_t other = value(&text, y, PROFILE_INUSE_SPACE);

	return (other > held) - (other < held);
}

int profile_print(const struct strbuf *profile, struct strbuf *out)
{
	struct profile_types types;
	Pprof__Profile *message = delta_unpack(profile, &types);
	const struct profile_text text = { message, &types, out };
	int64_t all[PROFILE_VALUES] = { 0 };

	if (!message)
		return -EINVAL;
	for (size_t i = 0; i < message->n_samples; i++)
		for (int k = 0; k < PROFILE_VALUES; k++)
			all[k] += value(&text, message->samples[i], k);
	if (message->n_samples)
		qsort_r(message->samples, message->n_samples,
			sizeof(*message->samples), compare, &types);
	strbuf_puts(out, "heap profile: ");
	add_values(&text, all);
	/* Every call is seen: one sample a byte. */
	strbuf_puts(out, " heap/1\n");
	for (size_t i = 0; i < message->n_samples; i++)
		add_sample(&text, message->samples[i]);
	for (size_t i = 0; i < message->n_comments; i++)
		strbuf_printf(out, "# %s\n",
			      profile_text(message, message->comments[i]));
	pprof__profile__free_unpacked(message, NULL);
	return 0;
}

/* ---- symbols ---- */

static const Pprof__Location *find(const Pprof__Profile *profile,
				   uint64_t address)
{
	for (size_t i = 0; i < profile->n_locations; i++)
		if (profile->locations[i]->address == address)
			return profile->locations[i];
	return NULL;
}

/* The function that isn't inlined is the last one. */
static void add_symbol(const Pprof__Profile *profile, uint64_t address,
		       struct strbuf *out)
{
	const Pprof__Location *location = find(profile, address);
	const Pprof__Line *line;

	if (!location || !location->n_lines)
		return;
	line = location->lines[location->n_lines - 1];
	strbuf_printf(out, "0x%" PRIx64 " %s\n", address,
		      profile_text(profile,
				   profile_function(profile, line->function_id)
					   ->name));
}

/* More than a page of a browser asks for; each is searched for. */
#define SYMBOLS_MAX 1000

int profile_symbols(const struct strbuf *profile, const char *addresses,
		    struct strbuf *out)
{
	struct profile_types types;
	Pprof__Profile *message = delta_unpack(profile, &types);

	if (!message)
		return -EINVAL;
	/* What the number is nobody reads but that it isn't 0. */
	strbuf_puts(out, "num_symbols: 1\n");
	for (int i = 0; *addresses && i < SYMBOLS_MAX; i++) {
		char *end;
		uint64_t address;

		addresses += strspn(addresses, "+ \t");
		if (*addresses < '0' || *addresses > '9')
			break;
		address = strtoull(addresses, &end, 0);
		add_symbol(message, address, out);
		addresses = end;
	}
	pprof__profile__free_unpacked(message, NULL);
	return 0;
}
