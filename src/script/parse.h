/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PARSE_SCRIPT_H
#define CALLTRAP_PARSE_SCRIPT_H

#include "prototype/parser.h"
#include "script/node.h"

/* Reads one script item: parse_script.c, and its expressions. */
struct script_reader {
	struct parser *parser;
	struct script *script;
	struct token locals[SCRIPT_LOCALS_MAX]; /* of find() and with() */
	unsigned local_count;
};

/* Whether a name means something in every expression. */
bool script_is_reserved(const struct token *name);

int parse_script_value(struct script_reader *reader,
		       const struct script_node **ret) MUST_CHECK;

/* text(...) or characters(...) */
int parse_script_text(struct script_reader *reader,
		      const struct script_node **ret) MUST_CHECK;

/* parse_script_term.c: a value without an operator between others. */
int parse_script_term(struct script_reader *reader,
		      const struct script_node **ret) MUST_CHECK;

/* Takes a copy; -EINVAL when there are too many. */
int script_new_node(struct script_reader *reader,
		    const struct script_node *node,
		    const struct script_node **ret) MUST_CHECK;

#endif
