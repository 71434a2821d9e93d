/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "heap/family_line.h"

static const char *move_problem(const struct family_line *line,
				const struct family *family)
{
	if (!family->granularity)
		return "only the end of a range can be moved";
	if (!family_line_has(line, ROLE_END) &&
	    !(family_line_has(line, ROLE_BY) &&
	      family_line_has(line, ROLE_OLD)))
		return "'end' is missing, or 'by' and '= old'";
	return NULL;
}

static const char *size_problem(const struct family_line *line,
				const struct family *family)
{
	enum family_act act = line->rule->act;

	if (family_line_has(line, ROLE_COUNT) &&
	    line->roles[ROLE_SIZE].kind != OPERAND_ARGUMENT)
		return "the parameter 'size' is missing beside 'count'";
	if (!family->has_size)
		return family_line_has(line, ROLE_SIZE) ?
			       "it has a size, but the family "
			       "doesn't count bytes" :
			       NULL;
	if (!family_line_has(line, ROLE_SIZE) &&
	    (act != FAMILY_RELEASE || family->granularity))
		return "the size is missing, and the family counts bytes";
	if (act == FAMILY_RESIZE && family->granularity &&
	    !family_line_has(line, ROLE_OLD_SIZE))
		return "the parameter 'old_size' is missing: these are ranges";
	return NULL;
}

const char *family_line_problem(const struct family_line *line,
				const struct family *family)
{
	enum family_act act = line->rule->act;

	if (act == FAMILY_MOVE)
		return move_problem(line, family);
	if (!family_line_has(line, ROLE_HANDLE))
		return "the handle is missing";
	if (act == FAMILY_RELEASE &&
	    line->roles[ROLE_HANDLE].kind != OPERAND_ARGUMENT)
		return "its handle is no parameter";
	if (act == FAMILY_RESIZE && !family_line_has(line, ROLE_OLD))
		return "the parameter 'old' is missing";
	return size_problem(line, family);
}
