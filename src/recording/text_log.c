/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/text_log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* The first part of a call that another thread's lines have cut in two. */
struct text_unfinished {
	int pid;
	struct text_call call;
	UT_hash_handle hh;
};

void text_log_fini(struct text_log *log)
{
	struct text_unfinished *each, *next;

	HASH_ITER(hh, log->unfinished, each, next) {
		HASH_DEL(log->unfinished, each);
		free(each);
	}
}

static void skip_blanks(const char **at)
{
	while (**at == ' ' || **at == '\t')
		++*at;
}

static bool take_word(const char **at, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(at);
	if (strncmp(*at, word, length) != 0)
		return false;
	*at += length;
	return true;
}

/* As people and programs write them: 24, 0x18, nil. */
static bool take_number(const char **at, uint64_t *ret)
{
	char *end;

	skip_blanks(at);
	if (take_word(at, "nil") || take_word(at, "NULL")) {
		*ret = 0;
		return true;
	}
	if (!isdigit((unsigned char)**at))
		return false;
	*ret = strtoull(*at, &end, 0);
	*at = end;
	return true;
}

/* ---- m ID SIZE ---- */

static bool read_footprint(const char *line, struct text_call *ret)
{
	static const char letters[] = "mcrf";
	const char *which = *line ? strchr(letters, *line) : NULL;
	const char *at = line + 1;
	uint64_t *const fields[][3] = {
		[TEXT_MALLOC] = { &ret->handle, &ret->size },
		[TEXT_CALLOC] = { &ret->handle, &ret->count, &ret->item },
		[TEXT_REALLOC] = { &ret->handle, &ret->old, &ret->size },
		[TEXT_FREE] = { &ret->handle },
	};

	if (!which || *at != ' ')
		return false;
	ret->function = which - letters;
	for (size_t i = 0; i < 3 && fields[ret->function][i]; i++)
		if (!take_number(&at, fields[ret->function][i]))
			return false;
	skip_blanks(&at);
	return !*at;
}

/* ---- NAME(ARGUMENTS) = RESULT ---- */

static const char *const names[] = {
	[TEXT_MALLOC] = "malloc",
	[TEXT_CALLOC] = "calloc",
	[TEXT_REALLOC] = "realloc",
	[TEXT_FREE] = "free",
};

/* "[pid 12] ", or "12 " before what is no time. */
static int take_pid(const char **at)
{
	const char *start = *at;
	uint64_t pid;

	if (take_word(at, "[pid") && take_number(at, &pid) &&
	    take_word(at, "]"))
		return pid;
	*at = start;
	if (take_number(at, &pid) && **at == ' ' && pid < 1 << 30)
		return pid;
	*at = start;
	return 0;
}

/* The function whose name ends there. */
static bool name_before(const char *line, const char *end,
			enum text_function *ret)
{
	for (size_t i = ARRAY_SIZE(names); i--;) {
		const size_t length = strlen(names[i]);
		const char *start;

		if ((size_t)(end - line) < length)
			continue;
		start = end - length;
		if (memcmp(start, names[i], length) != 0)
			continue;
		if (start > line &&
		    (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static bool take_arguments(const char **at, struct text_call *ret)
{
	switch (ret->function) {
	case TEXT_MALLOC:
		return take_number(at, &ret->size);
	case TEXT_CALLOC:
		return take_number(at, &ret->count) && take_word(at, ",") &&
		       take_number(at, &ret->item);
	case TEXT_REALLOC:
		return take_number(at, &ret->old) && take_word(at, ",") &&
		       take_number(at, &ret->size);
	case TEXT_FREE:
		return take_number(at, &ret->handle);
	}
	return false;
}

/* A release has taken effect, whatever it returns. */
static bool take_result(const char *at, struct text_call *ret)
{
	const char *equals = strstr(at, "= ");

	if (ret->function == TEXT_FREE)
		return true;
	if (!equals)
		return false;
	equals += 2;
	return take_number(&equals, &ret->handle);
}

static void remember(struct text_log *log, const struct text_call *call)
{
	struct text_unfinished *own;

	HASH_FIND_INT(log->unfinished, &call->pid, own);
	if (!own) {
		own = xcalloc(1, sizeof(*own));
		own->pid = call->pid;
		HASH_ADD_INT(log->unfinished, pid, own);
	}
	own->call = *call;
}

/* "<... malloc resumed> ) = 0x18" */
static bool resume(struct text_log *log, const char *line, int pid,
		   struct text_call *ret)
{
	const char *at = strstr(line, " resumed>");
	enum text_function function;
	struct text_unfinished *own;

	if (!at || !name_before(line, at, &function))
		return false;
	HASH_FIND_INT(log->unfinished, &pid, own);
	if (!own || own->call.function != function)
		return false;
	*ret = own->call;
	HASH_DEL(log->unfinished, own);
	free(own);
	return function != TEXT_FREE && take_result(at, ret);
}

static bool read_call(struct text_log *log, const char *line,
		      struct text_call *ret)
{
	const char *at = line, *paren;

	ret->pid = take_pid(&at);
	if (strstr(at, "<... "))
		return resume(log, at, ret->pid, ret);
	paren = strchr(at, '(');
	/* NAME@LIBRARY */
	for (const char *end = paren; end && end > at; end--)
		if (*end == '@')
			paren = end;
	if (!paren || !name_before(at, paren, &ret->function)) {
		log->others++;
		return false;
	}
	at = strchr(paren, '(') + 1;
	if (!take_arguments(&at, ret))
		goto strange;
	if (strstr(at, "<unfinished")) {
		remember(log, ret);
		return ret->function == TEXT_FREE;
	}
	if (take_result(at, ret))
		return true;
strange:
	if (!log->strange++)
		log->first_strange = log->lines;
	return false;
}

bool text_log_line(struct text_log *log, const char *line,
		   struct text_call *ret)
{
	log->lines++;
	*ret = (struct text_call){ .pid = 0 };
	if (!read_footprint(line, ret)) {
		*ret = (struct text_call){ .pid = 0 };
		if (!read_call(log, line, ret))
			return false;
	}
	if (ret->function == TEXT_CALLOC)
		ret->size = ret->count * ret->item;
	log->calls++;
	return true;
}
