/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/places.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "report/format/frame_text.h"

struct profile_place {
	struct {
		const struct code *code;
		uint64_t address;
		uint64_t method;
	} key;
	uint64_t id;
	UT_hash_handle hh;
};

struct profile_function {
	struct {
		int64_t name, system_name, file, start_line;
	} key;
	uint64_t id;
	UT_hash_handle hh;
};

void profile_places_fini(struct profile_places *places)
{
	struct profile_place *place, *next_place;
	struct profile_function *function, *next_function;

	HASH_ITER(hh, places->places, place, next_place) {
		HASH_DEL(places->places, place);
		free(place);
	}
	HASH_ITER(hh, places->functions, function, next_function) {
		HASH_DEL(places->functions, function);
		free(function);
	}
	profile_codes_fini(&places->codes);
}

/* ---- functions ---- */

static void put_function(struct profile_writer *writer,
			 const struct profile_function *function)
{
	Pprof__Function message = PPROF__FUNCTION__INIT, *messages = &message;
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	message.id = function->id;
	message.name = function->key.name;
	message.system_name = function->key.system_name;
	message.file = function->key.file;
	message.start_line = function->key.start_line;
	piece.n_functions = 1;
	piece.functions = &messages;
	profile_writer_put(writer, &piece);
}

static uint64_t function_id(struct profile_places *places,
			    struct profile_writer *writer,
			    const struct profile_function *wanted)
{
	struct profile_function *function;

	HASH_FIND(hh, places->functions, &wanted->key, sizeof(wanted->key),
		  function);
	if (function)
		return function->id;
	function = xmalloc(sizeof(*function));
	*function = *wanted;
	HASH_ADD(hh, places->functions, key, sizeof(wanted->key), function);
	function->id = HASH_COUNT(places->functions);
	put_function(writer, function);
	return function->id;
}

static uint64_t name_id(struct profile_places *places,
			struct profile_writer *writer,
			const struct frame *frame,
			const struct frame_name *name)
{
	CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
	struct profile_function function = { 0 };

	frame_text_add(frame, name, &shown);
	function.key.name = profile_writer_text(writer, strbuf_text(&shown));
	function.key.system_name =
		name->linkage ? profile_writer_text(writer, name->linkage) :
				function.key.name;
	function.key.file = profile_writer_text(writer, name->file);
	function.key.start_line = name->start_line;
	return function_id(places, writer, &function);
}

/* ---- locations ---- */

static struct profile_place *find(const struct profile_places *places,
				  const struct profile_place *key)
{
	struct profile_place *place;

	HASH_FIND(hh, places->places, &key->key, sizeof(key->key), place);
	return place;
}

static struct profile_place key_of(const struct frame *frame)
{
	return (struct profile_place){ .key = { frame->code, frame->address,
						frame->method } };
}

static struct frame frame_at(const struct profile_place *place)
{
	return (struct frame){ .code = place->key.code,
			       .address = place->key.address,
			       .method = place->key.method };
}

void profile_places_add(struct profile_places *places,
			const struct frame *frame)
{
	const struct profile_place key = key_of(frame);
	struct profile_place *place;

	if (find(places, &key))
		return;
	place = xmalloc(sizeof(*place));
	*place = key;
	HASH_ADD(hh, places->places, key, sizeof(key.key), place);
	place->id = HASH_COUNT(places->places);
	profile_codes_add(&places->codes, frame);
}

uint64_t profile_places_id(const struct profile_places *places,
			   const struct frame *frame)
{
	const struct profile_place key = key_of(frame);

	return find(places, &key)->id;
}

static void put_location(struct profile_writer *writer,
			 Pprof__Location *location)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	piece.n_locations = 1;
	piece.locations = &location;
	profile_writer_put(writer, &piece);
}

static void put_place(struct profile_places *places,
		      const struct profile_places_config *config,
		      const struct profile_place *place)
{
	const struct frame frame = frame_at(place);
	const struct frame_name *names;
	size_t count = namer_names(config->namer, &frame, &names);
	Pprof__Line *lines CLEANUP(xfree_cleanup) =
		xcalloc(count, sizeof(*lines));
	Pprof__Line **pointers CLEANUP(xfree_cleanup) =
		xcalloc(count, sizeof(*pointers));
	Pprof__Location location = PPROF__LOCATION__INIT;

	for (size_t i = 0; i < count; i++) {
		pprof__line__init(&lines[i]);
		lines[i].function_id =
			name_id(places, config->writer, &frame, &names[i]);
		lines[i].line = names[i].line;
		pointers[i] = &lines[i];
	}
	location.id = place->id;
	profile_codes_locate(&places->codes, &frame, &location);
	location.n_lines = count;
	location.lines = pointers;
	put_location(config->writer, &location);
}

static void put_cut(struct profile_places *places,
		    struct profile_writer *writer)
{
	struct profile_function function = { 0 };
	Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
	Pprof__Location location = PPROF__LOCATION__INIT;

	function.key.name = profile_writer_text(writer, "[...]");
	line.function_id = function_id(places, writer, &function);
	location.id = places->cut_id;
	location.n_lines = 1;
	location.lines = &lines;
	put_location(writer, &location);
}

void profile_places_put(struct profile_places *places,
			const struct profile_places_config *config)
{
	struct profile_place *place, *next;

	profile_codes_put(&places->codes, config->main, config->writer);
	HASH_ITER(hh, places->places, place, next)
		put_place(places, config, place);
	places->cut_id = HASH_COUNT(places->places) + 1;
	put_cut(places, config->writer);
}
