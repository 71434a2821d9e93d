/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/block.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cursor.h"
#include "base/xalloc.h"
#include "recording/numbers.h"

#define FILE_MAGIC     "CTRECORD"
#define TAIL_MAGIC     "CTRECEND"
#define MAGIC_SIZE     8
#define BLOCK_MAGIC    0x4b4c4243 /* "CBLK" */
#define FORMAT_VERSION 1
#define ORDER          0x01020304
#define LEVEL          3

/* What would grow more than that by reading is stored as it is: so a small file
   takes little memory. */
#define GROWTH_MAX   256
#define GROWTH_WORDS 32 /* … of a dictionary, which is kept */
#define GROWTH_FREE  (1u << 14)

static void add_number(struct strbuf *out, uint64_t number, unsigned size)
{
	for (; size; size--, number >>= 8)
		strbuf_putc(out, (char)number);
}

static uint32_t checksum(const void *bytes, size_t size)
{
	return crc32(0, bytes, size);
}

/* … of all that was added from there on. */
static void add_checksum(struct strbuf *out, size_t from)
{
	add_number(out, checksum(out->text + from, out->length - from), 4);
}

static bool has_checksum(const uint8_t *bytes, size_t size)
{
	struct cursor in = cursor_of(bytes + size - 4, 4);

	return cursor_u32(&in) == checksum(bytes, size - 4);
}

/* ---- the file ---- */

void recording_head_add(struct strbuf *out, const struct recording_head *head)
{
	size_t from = out->length;

	strbuf_add(out, FILE_MAGIC, MAGIC_SIZE);
	add_number(out, ORDER, 4);
	add_number(out, FORMAT_VERSION, 2);
	add_number(out, RECORDING_HEAD_SIZE, 2);
	add_number(out, head->wall, 8);
	add_number(out, head->start, 8);
	add_number(out, 0, 4);
	add_checksum(out, from);
}

bool recording_is(const void *bytes, size_t size)
{
	return size >= MAGIC_SIZE && !memcmp(bytes, FILE_MAGIC, MAGIC_SIZE);
}

const char *recording_head_parse(const uint8_t bytes[RECORDING_HEAD_SIZE],
				 struct recording_head *ret)
{
	struct cursor in = cursor_of(bytes, RECORDING_HEAD_SIZE);
	uint32_t order;
	uint16_t version;

	if (!recording_is(bytes, RECORDING_HEAD_SIZE))
		return "it is no recording";
	cursor_skip(&in, MAGIC_SIZE);
	order = cursor_u32(&in);
	if (order == __builtin_bswap32(ORDER))
		return "it is of another byte order, which no version has";
	if (order != ORDER)
		return "its head is damaged";
	version = cursor_u16(&in);
	if (version != FORMAT_VERSION)
		return version > FORMAT_VERSION ?
			       "it is of a newer version than this calltrap" :
			       "its head is damaged";
	if (cursor_u16(&in) != RECORDING_HEAD_SIZE ||
	    !has_checksum(bytes, RECORDING_HEAD_SIZE))
		return "its head is damaged";
	ret->wall = cursor_u64(&in);
	ret->start = cursor_u64(&in);
	return NULL;
}

void recording_tail_add(struct strbuf *out, uint64_t index)
{
	size_t from = out->length;

	add_number(out, index, 8);
	strbuf_add(out, TAIL_MAGIC, MAGIC_SIZE);
	add_number(out, 0, 4);
	add_checksum(out, from);
}

bool recording_tail_parse(const uint8_t bytes[RECORDING_TAIL_SIZE],
			  uint64_t *index_ret)
{
	struct cursor in = cursor_of(bytes, RECORDING_TAIL_SIZE);

	*index_ret = cursor_u64(&in);
	return !memcmp(bytes + in.position, TAIL_MAGIC, MAGIC_SIZE) &&
	       has_checksum(bytes, RECORDING_TAIL_SIZE);
}

/* ---- blocks ---- */

static void add_head(struct strbuf *out, const struct block_head *head)
{
	size_t from = out->length;

	add_number(out, BLOCK_MAGIC, 4);
	add_number(out, head->kind, 1);
	add_number(out, head->is_compressed, 1);
	add_number(out, 0, 2);
	add_number(out, head->sequence, 4);
	add_number(out, head->stored_size, 4);
	add_number(out, head->size, 4);
	add_number(out, head->count, 4);
	add_number(out, head->first_time, 8);
	add_number(out, head->last_time, 8);
	add_number(out, head->checksum, 4);
	/* Room for what later versions have to say: 0 now. */
	add_number(out, 0, 4);
	add_checksum(out, from);
}

static bool grows_too_much(enum block_kind kind, size_t stored, size_t size)
{
	size_t most = kind == BLOCK_DICTIONARY ? GROWTH_WORDS : GROWTH_MAX;

	return size > GROWTH_FREE && size / most > stored;
}

/* Less is not worth a code of its own. */
#define APART 1024

/*
 * Columns of events have nothing in common: each is compressed with a code of
 * its own (a block of the frame), so it is given alone. What isn't columns is
 * one part.
 */
static size_t next_part(enum block_kind kind, struct cursor *in)
{
	const size_t begin = in->position;

	if (kind == BLOCK_EVENTS && !begin)
		take_varint(in);
	while (kind == BLOCK_EVENTS && !in->bad && !cursor_at_end(in) &&
	       in->position - begin < APART)
		take_part(in);
	if (kind != BLOCK_EVENTS || in->bad)
		in->position = in->size;
	return in->position - begin;
}

static bool compress_part(ZSTD_CCtx *context, ZSTD_inBuffer *in,
			  ZSTD_outBuffer *out, bool is_last)
{
	const ZSTD_EndDirective end = is_last ? ZSTD_e_end : ZSTD_e_flush;
	size_t left;

	do {
		left = ZSTD_compressStream2(context, out, in, end);
	} while ((left || in->pos < in->size) && !ZSTD_isError(left) &&
		 out->pos < out->size);
	return !left && in->pos == in->size;
}

/* How many bytes were put to *packed; 0: it would be no smaller. */
static size_t pack(enum block_kind kind, const void *bytes, size_t size,
		   void *packed)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_outBuffer out = { packed, size, 0 };
	struct cursor in = cursor_of(bytes, size);
	bool good = context && size;

	if (good) {
		ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setPledgedSrcSize(context, size);
	}
	while (good && in.position < size) {
		const char *from = (const char *)bytes + in.position;
		ZSTD_inBuffer part = { from, next_part(kind, &in), 0 };

		good = compress_part(context, &part, &out, in.position == size);
	}
	ZSTD_freeCCtx(context);
	return good && out.pos < size ? out.pos : 0;
}

void block_add(struct strbuf *out, const struct block_head *given,
	       const void *bytes, size_t size)
{
	char *packed CLEANUP(xfree_cleanup) = xmalloc(size + 1);
	size_t length = pack(given->kind, bytes, size, packed);
	struct block_head head = *given;

	head.is_compressed = length && !grows_too_much(head.kind, length, size);
	head.size = size;
	head.stored_size = head.is_compressed ? length : size;
	head.checksum =
		checksum(head.is_compressed ? packed : bytes, head.stored_size);
	add_head(out, &head);
	strbuf_add(out, head.is_compressed ? packed : bytes, head.stored_size);
}

static bool is_known(enum block_kind kind)
{
	return kind == BLOCK_DICTIONARY || kind == BLOCK_EVENTS ||
	       kind == BLOCK_INDEX || kind == BLOCK_SNAPSHOT;
}

const char *block_head_parse(const uint8_t bytes[BLOCK_HEAD_SIZE],
			     struct block_head *ret)
{
	struct cursor in = cursor_of(bytes, BLOCK_HEAD_SIZE);
	struct block_head head = { 0 };

	if (cursor_u32(&in) != BLOCK_MAGIC)
		return "no block begins there";
	if (!has_checksum(bytes, BLOCK_HEAD_SIZE))
		return "the head of a block is damaged";
	head.kind = cursor_u8(&in);
	head.is_compressed = cursor_u8(&in) & 1;
	cursor_skip(&in, 2);
	head.sequence = cursor_u32(&in);
	head.stored_size = cursor_u32(&in);
	head.size = cursor_u32(&in);
	head.count = cursor_u32(&in);
	head.first_time = cursor_u64(&in);
	head.last_time = cursor_u64(&in);
	head.checksum = cursor_u32(&in);
	if (!is_known(head.kind) || head.size > BLOCK_SIZE_MAX ||
	    (head.kind == BLOCK_EVENTS && head.count > BLOCK_EVENTS_MAX) ||
	    head.stored_size > head.size ||
	    (!head.is_compressed && head.stored_size != head.size) ||
	    grows_too_much(head.kind, head.stored_size, head.size))
		return "a block is not what its head may say";
	*ret = head;
	return NULL;
}

const char *block_expand(const struct block_head *head, const void *stored,
			 struct strbuf *out)
{
	char *plain CLEANUP(xfree_cleanup) = NULL;

	if (checksum(stored, head->stored_size) != head->checksum)
		return "a block is damaged";
	if (!head->is_compressed) {
		strbuf_add(out, stored, head->stored_size);
		return NULL;
	}
	plain = xmalloc(head->size);
	if (ZSTD_decompress(plain, head->size, stored, head->stored_size) !=
	    head->size)
		return "a block can't be expanded";
	strbuf_add(out, plain, head->size);
	return NULL;
}
