/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_FAMILY_LINE_H
#define CALLTRAP_FAMILY_LINE_H

#include "heap/family_parse.h"

/* One function's line of a family file, as it is being read. */

/* What a parameter or a result can be to calltrap. */
enum family_role {
	ROLE_OTHER,
	ROLE_HANDLE,
	ROLE_OLD,
	ROLE_SIZE,
	ROLE_OLD_SIZE,
	ROLE_COUNT,
	ROLE_ALIGNMENT,
	ROLE_END,
	ROLE_BY,
	ROLE_MAX,
};

struct family_act_rule {
	const char *name;
	enum family_act act;
	unsigned roles; /* that make sense: a bit each */
};

/* A function's line as far as it has been read. */
struct family_line {
	const struct family_act_rule *rule;
	struct token name;
	struct operand roles[ROLE_MAX]; /* kind NONE: not there */
	struct family_success success;
	struct family_choice choice;
	unsigned parameters;
};

static inline bool family_line_has(const struct family_line *line,
				   enum family_role role)
{
	return line->roles[role].kind != OPERAND_NONE;
}

/* Why the function can't be accounted for; NULL: it can. */
const char *family_line_problem(const struct family_line *line,
				const struct family *family);

#endif
