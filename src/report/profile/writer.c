/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/xalloc.h"
#include "report/format/names.h"

struct profile_string {
	char *text;
	int64_t number;
	UT_hash_handle hh;
};

static void put_string(struct profile_writer *writer, const char *text)
{
	struct profile_string *string = xcalloc(1, sizeof(*string));
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	string->text = xstrdup(text);
	string->number = HASH_COUNT(writer->strings);
	HASH_ADD_KEYPTR(hh, writer->strings, string->text, strlen(string->text),
			string);
	piece.n_strings = 1;
	piece.strings = &string->text;
	profile_writer_put(writer, &piece);
}

void profile_writer_init(struct profile_writer *writer, struct strbuf *out)
{
	*writer = (struct profile_writer){ .out = out };
	put_string(writer, "");
}

void profile_writer_fini(struct profile_writer *writer)
{
	struct profile_string *string, *next;

	HASH_ITER(hh, writer->strings, string, next) {
		HASH_DEL(writer->strings, string);
		free(string->text);
		free(string);
	}
}

int64_t profile_writer_text(struct profile_writer *writer, const char *text)
{
	CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
	struct profile_string *string;

	if (!text || !*text)
		return 0;
	names_escape(&shown, text);
	HASH_FIND_STR(writer->strings, strbuf_text(&shown), string);
	if (string)
		return string->number;
	put_string(writer, strbuf_text(&shown));
	return HASH_COUNT(writer->strings) - 1;
}

void profile_writer_put(struct profile_writer *writer,
			const Pprof__Profile *piece)
{
	size_t size = pprof__profile__get_packed_size(piece);
	uint8_t *bytes = xmalloc(size);

	pprof__profile__pack(piece, bytes);
	strbuf_add(writer->out, bytes, size);
	free(bytes);
}

void profile_writer_put_type(struct profile_writer *writer, const char *type,
			     const char *unit)
{
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT, *values = &value;
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	value.type = profile_writer_text(writer, type);
	value.unit = profile_writer_text(writer, unit);
	piece.n_sample_types = 1;
	piece.sample_types = &values;
	profile_writer_put(writer, &piece);
}

void profile_writer_put_comment(struct profile_writer *writer, const char *text)
{
	int64_t number = profile_writer_text(writer, text);
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	piece.n_comments = 1;
	piece.comments = &number;
	profile_writer_put(writer, &piece);
}

int64_t profile_number(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}
