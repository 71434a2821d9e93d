/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCRIPT_NODE_H
#define CALLTRAP_SCRIPT_NODE_H

#include "base/strbuf.h"
#include "script/script.h"

/* What parse_script.c makes of script items, and evaluate_script.c reads. */

#define SCRIPT_ITEMS_MAX    64
#define SCRIPT_OBJECTS_MAX  32
#define SCRIPT_LOCALS_MAX   8    /* names for a part of an item */
#define SCRIPT_NODES_MAX    2048 /* of all items; so deep may a tree be */
#define SCRIPT_OPERANDS_MAX 4

enum script_kind {
	SCRIPT_NUMBER,
	SCRIPT_VARIABLE, /* .number is its slot */
	SCRIPT_OBJECT,   /* the address of the .number-th */
	SCRIPT_POINTER,  /* the thread's */
	SCRIPT_READ,     /* .number bytes at the operand */
	SCRIPT_READ_SIGNED,
	SCRIPT_FIND,       /* .number is the slot; first, next, condition */
	SCRIPT_WITH,       /* .number is the slot; its value, the result */
	SCRIPT_DECODE,     /* by the .number-th decoder */
	SCRIPT_TEXT,       /* address, length or NULL */
	SCRIPT_CHARACTERS, /* address, count, bytes of each */
	SCRIPT_CHOOSE,     /* condition ? a : b */
	SCRIPT_ELSE,       /* a ?: b */
	SCRIPT_OR,
	SCRIPT_AND,
	SCRIPT_NOT,
	SCRIPT_NEGATE,
	SCRIPT_BIT_OR,
	SCRIPT_BIT_AND,
	SCRIPT_EQUAL,
	SCRIPT_UNEQUAL,
	SCRIPT_LESS,
	SCRIPT_GREATER,
	SCRIPT_SHIFT_LEFT,
	SCRIPT_SHIFT_RIGHT,
	SCRIPT_ADD,
	SCRIPT_SUBTRACT,
	SCRIPT_MULTIPLY,
	SCRIPT_DIVIDE,
	SCRIPT_REMAINDER,
};

struct script_node {
	enum script_kind kind;
	uint64_t number;
	const struct script_node *operands[SCRIPT_OPERANDS_MAX];
};

/* Its value is that of the variable whose slot is its index. */
struct script_item {
	const char *name;
	const struct script_node *node;
};

#define SCRIPT_NONE SIZE_MAX

struct script {
	struct script_item items[SCRIPT_ITEMS_MAX];
	size_t item_count;
	struct script_object objects[SCRIPT_OBJECTS_MAX];
	size_t object_count;
	size_t node_count;
	/* The items of these names, or SCRIPT_NONE. */
	size_t valid, frame, outer, file, line, function;
};

/* Tables that interpreters keep lines in. What is read counts as steps. */
struct script_decoder {
	const char *name;
	unsigned operands;
	int (*decode)(struct memory *memory, const uint64_t *operands,
		      unsigned *steps, uint64_t *ret);
};

/* script_tables.c: its number, or SCRIPT_NONE; and the other way round. */
size_t script_decoder_named(const char *name, size_t length);
const struct script_decoder *script_decoder(size_t number);

/*
 * script_text.c: text of that many bytes, or up to a NUL; and text of
 * characters of 1, 2 or 4 bytes, which becomes UTF-8.
 */
int script_read_text(struct memory *memory, taddr_t address, uint64_t length,
		     struct strbuf *ret) MUST_CHECK;
int script_read_string(struct memory *memory, taddr_t address,
		       struct strbuf *ret) MUST_CHECK;
int script_read_characters(struct memory *memory, taddr_t address,
			   uint64_t count, uint64_t width,
			   struct strbuf *ret) MUST_CHECK;

/* What a pointer to nothing points to; no process has anything there. */
#define SCRIPT_NULL_END 4096

#endif
