/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_WIRE_H
#define CALLTRAP_DEBUGINFO_WIRE_H

#include <stdbool.h>

#include "base/cursor.h"
#include "base/strbuf.h"

/*
 * What calltrap and its child say to each other: a head, and a body of size
 * bytes. Neither trusts the other: bodies are read through cursors.
 */
enum wire_order {
	WIRE_OPEN,     /* with one or two descriptors: {} → {} */
	WIRE_PLACES,   /* { addresses } → { for each, caller and places } */
	WIRE_FUNCTION, /* { address } → a function */
	WIRE_TAILS,    /* { address } → tail calls of a function */
	WIRE_WAY, /* { address of a variable, offsets } → how they are told */
};

struct wire_head {
	uint32_t size;
	int32_t kind;    /* enum wire_order; of a reply 0 or a negative errno */
	uint32_t file;   /* number that the file was opened under */
	uint32_t number; /* of the request, and of its reply */
};

#define WIRE_BODY_MAX (32u << 20)

/* Addresses in one request, places of one address, tail calls of a function. */
#define WIRE_ADDRESSES_MAX 1024
#define WIRE_PLACES_MAX    64
#define WIRE_TAILS_MAX     256

void wire_put_u8(struct strbuf *out, uint8_t value);
void wire_put_u32(struct strbuf *out, uint32_t value);
void wire_put_u64(struct strbuf *out, uint64_t value);

/* NULL is a string, too. Long ones are cut. */
void wire_put_string(struct strbuf *out, const char *s);

/*
 * A string in place (not terminated; its length is set), or NULL for none, or
 * when c is bad.
 */
const char *wire_string(struct cursor *c, size_t *length_ret);

/* All of it, over a stream; false at its end or when it breaks. */
bool wire_send(int socket, const void *bytes, size_t size);
bool wire_receive(int socket, void *ret, size_t size);

/* The head, and the descriptors that came with it: -1 where none did. */
#define WIRE_FDS 2

bool wire_send_head(int socket, const struct wire_head *head, const int *fds,
		    unsigned fd_count);
bool wire_receive_head(int socket, struct wire_head *ret,
		       int fds_ret[WIRE_FDS]);

#endif
