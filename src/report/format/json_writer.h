/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_JSON_WRITER_H
#define CALLTRAP_JSON_WRITER_H

#include <jansson.h>

#include "prototype/value_writer.h"

struct json_level;
struct json_member;

/*
 * Writes the values of a call as JSON:
 *
 *	number	a number; beyond 2^53, where readers of JSON lose digits, its
 *		decimal digits as a string. Named by an enum or flags, and
 *		characters: the text that the log has
 *	bool	true, false
 *	text	a string, or, when it isn't UTF-8, {"hex": "ff00"}
 *	address	a string, "0x7ffe01020304"; null pointers are null
 *	array	an array
 *	struct	an object, or an array when members have no names
 *
 * and {"unreadable": "0x10"}, {"unknown": true}, {"omitted": true}.
 */
struct json_writer {
	struct value_writer writer;
	struct strbuf text, names, spare;
	struct json_level *levels;
	size_t depth, room;
	struct json_member *members; /* of all structs that have begun */
	size_t member_count, member_room;
	const char *name; /* of the next value */
	bool cut;         /* a text or an array goes on */
};

void json_writer_init(struct json_writer *json);
void json_writer_fini(struct json_writer *json);

/* Begins anew, in the same memory. */
void json_writer_clear(struct json_writer *json);

/*
 * Appends what was written since the beginning: an array of values, and one of
 * their names (null for those without), if any has one. More may be written.
 */
void json_writer_put_values(const struct json_writer *json, struct strbuf *out);
bool json_writer_has_names(const struct json_writer *json);
void json_writer_put_names(const struct json_writer *json, struct strbuf *out);

/* The text of the first value; NULL: there is none. */
const char *json_writer_first(const struct json_writer *json,
			      size_t *length_ret);

/* "0x1f"; null for 0. */
json_t *json_address(taddr_t address);

/* A text of the program's. */
json_t *json_text(const char *bytes, size_t length);

/* Of numbers JSON can't hold, the largest it can. */
json_t *json_number(uint64_t number);

/* The same as a member of an object. */
void json_set_number(json_t *object, const char *key, uint64_t number);

/* Nothing when there is no text. */
void json_set_text(json_t *object, const char *key, const char *text);

#endif
