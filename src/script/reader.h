/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCRIPT_READER_H
#define CALLTRAP_SCRIPT_READER_H

#include "base/lexer.h"
#include "base/pool.h"
#include "script/node.h"

/* Parentheses, operators before a value, and choices within each other. */
#define SCRIPT_DEPTH_MAX 32

/* Reads one script item: parse.c, and its expressions. */
struct script_reader {
	struct lexer *lexer;
	struct pool *pool; /* where nodes are made */
	struct script *script;
	struct token locals[SCRIPT_LOCALS_MAX]; /* of find() and with() */
	unsigned local_count;
	unsigned depth; /* of the value that is being read */
};

/* Whether a name means something in every expression. */
bool script_is_reserved(const struct token *name);

int parse_script_value(struct script_reader *reader,
		       const struct script_node **ret) MUST_CHECK;

/* text(...) or characters(...) */
int parse_script_text(struct script_reader *reader,
		      const struct script_node **ret) MUST_CHECK;

/* parse_term.c: a value without an operator between others. */
int parse_script_term(struct script_reader *reader,
		      const struct script_node **ret) MUST_CHECK;

/* Takes a copy; -EINVAL when there are too many. */
int script_new_node(struct script_reader *reader,
		    const struct script_node *node,
		    const struct script_node **ret) MUST_CHECK;

#endif
