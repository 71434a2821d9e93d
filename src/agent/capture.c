/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/capture.h"

#include <string.h>

#include "base/types.h"

#define BEGIN(which) (AGENT_CAPTURE_USED | (which))
#define TEXT(which)  (BEGIN(which) | AGENT_CAPTURE_TEXT)
#define ALL(which)   (BEGIN(which) | AGENT_CAPTURE_ALL)
#define WHOLE(which) (TEXT(which) | AGENT_CAPTURE_ALL)
#define RESULT       AGENT_CAPTURE_RESULT
#define NUMBER       BEGIN(RESULT)
#define ENTRY        ALL(RESULT)
#define FILLED       (TEXT(RESULT) | AGENT_CAPTURE_BY_3)
#define WORD(which)  BEGIN(which)
#define BEHIND       AGENT_CAPTURE_BEHIND
#define BEHIND_WHOLE (AGENT_CAPTURE_BEHIND | AGENT_CAPTURE_ALL)
#define BY_2         AGENT_CAPTURE_BY_2
#define BY_3         AGENT_CAPTURE_BY_3

/*
 * In the order of strcmp(). Left out are those that may return without having
 * looked at an argument (strstr() with an empty needle, strtol() with a base
 * that there isn't), that change it before they return (strcat()), or look at its
 * end first (memrchr()). What memmove() has changed lies elsewhere by then.
 */
static const struct {
	const char *function;
	uint8_t captures[AGENT_CAPTURES];
} plans[] = {
	{ "__errno_location", { NUMBER } },
	{ "__memcpy_chk", { ALL(1) | BY_3 } },
	{ "__memmove_chk", { ALL(AGENT_CAPTURE_MOVED) | BY_3 } },
	{ "__mempcpy_chk", { ALL(1) | BY_3 } },
	{ "__stpcpy_chk", { WHOLE(1), WHOLE(RESULT) } },
	{ "__strcpy_chk", { WHOLE(1), WHOLE(RESULT) } },
	{ "__strncpy_chk", { WHOLE(1) | BY_3, FILLED } },
	{ "atof", { TEXT(0) } },
	{ "atoi", { TEXT(0) } },
	{ "atol", { TEXT(0) } },
	{ "bcmp", { BEGIN(0) | BY_3, BEGIN(1) | BY_3 } },
	{ "getenv", { TEXT(0), TEXT(RESULT) } },
	{ "mbrlen", { TEXT(0) | BY_2 } },
	{ "mbrtowc", { TEXT(1) | BY_3 } },
	{ "memchr", { BEGIN(0) | BY_3 } },
	{ "memcmp", { BEGIN(0) | BY_3, BEGIN(1) | BY_3 } },
	{ "memcpy", { ALL(1) | BY_3 } },
	{ "memmove", { ALL(AGENT_CAPTURE_MOVED) | BY_3 } },
	{ "mempcpy", { ALL(1) | BY_3 } },
	{ "nl_langinfo", { WHOLE(RESULT) } },
	{ "stpcpy", { WHOLE(1), WHOLE(RESULT) } },
	{ "strcasecmp", { TEXT(0), TEXT(1) } },
	{ "strchr", { TEXT(0), TEXT(RESULT) } },
	{ "strchrnul", { TEXT(0), TEXT(RESULT) } },
	{ "strcmp", { TEXT(0), TEXT(1) } },
	{ "strcoll", { TEXT(0), TEXT(1) } },
	{ "strcpy", { WHOLE(1), WHOLE(RESULT) } },
	{ "strcspn", { TEXT(0), TEXT(1) } },
	{ "strdup", { WHOLE(0), WHOLE(RESULT) } },
	{ "strerror", { WHOLE(RESULT) } },
	{ "strlen", { WHOLE(0) } },
	{ "strncasecmp", { TEXT(0) | BY_3, TEXT(1) | BY_3 } },
	{ "strncmp", { TEXT(0) | BY_3, TEXT(1) | BY_3 } },
	{ "strncpy", { WHOLE(1) | BY_3, FILLED } },
	{ "strndup", { WHOLE(0) | BY_2, WHOLE(RESULT) } },
	{ "strnlen", { WHOLE(0) | BY_2 } },
	{ "strrchr", { WHOLE(0), WHOLE(RESULT) } },
};

/*
 * Of those that don't throw, but are cancelled: the kernel has written as much as
 * they return, but for recv() with MSG_TRUNC.
 */
static const struct {
	const char *function;
	uint8_t captures[AGENT_CAPTURES];
} fillers[] = {
	{ "__getdelim", { WORD(0), BEHIND_WHOLE, WORD(1) } },
	{ "epoll_wait", { BEGIN(1) | AGENT_CAPTURE_EVENTS } },
	{ "fgets", { WHOLE(RESULT) } },
	{ "fgets_unlocked", { WHOLE(RESULT) } },
	{ "fread", { BEGIN(0) | AGENT_CAPTURE_ITEMS } },
	{ "fread_unlocked", { BEGIN(0) | AGENT_CAPTURE_ITEMS } },
	{ "getdelim", { WORD(0), BEHIND_WHOLE, WORD(1) } },
	{ "getline", { WORD(0), BEHIND_WHOLE, WORD(1) } },
	{ "pread", { BEGIN(1) | AGENT_CAPTURE_BY_RESULT } },
	{ "pread64", { BEGIN(1) | AGENT_CAPTURE_BY_RESULT } },
	{ "read", { BEGIN(1) | AGENT_CAPTURE_BY_RESULT } },
	{ "readdir", { ENTRY } },
	{ "readdir64", { ENTRY } },
	{ "recv", { BEGIN(1) | AGENT_CAPTURE_RECEIVED } },
};

/*
 * What may return without having read all of its texts: these are looked at before the
 * call, and behind it what it has returned or written. But for readlink's name, which the
 * kernel looks at, that is no more than the page whose begin the function reads for
 * certain: of the first its begin, of the second that if there is more of the first than
 * its end. (strstr returns at once where nothing is to be found. strtol does if there
 * is no such base, also without an end: that the agent knows by BEHIND.)
 */
static const struct {
	const char *function;
	uint8_t captures[AGENT_CAPTURES];
} lookers[] = {
	{ "readlink", { WHOLE(0), BEGIN(1) | AGENT_CAPTURE_BY_RESULT } },
	{ "strcasestr", { TEXT(1), TEXT(0), TEXT(RESULT) } },
	{ "strcat", { TEXT(1), TEXT(0), WHOLE(RESULT) } },
	{ "strncat", { TEXT(1) | BY_3, TEXT(0), WHOLE(RESULT) } },
	{ "strpbrk", { TEXT(1), TEXT(0), TEXT(RESULT) } },
	{ "strspn", { TEXT(1), TEXT(0) } },
	{ "strstr", { TEXT(1), TEXT(0), TEXT(RESULT) } },
	{ "strtoimax", { TEXT(0), WORD(1), BEHIND } },
	{ "strtok", { TEXT(0), TEXT(1), TEXT(RESULT) } },
	{ "strtol", { TEXT(0), WORD(1), BEHIND } },
	{ "strtoll", { TEXT(0), WORD(1), BEHIND } },
	{ "strtoul", { TEXT(0), WORD(1), BEHIND } },
	{ "strtoull", { TEXT(0), WORD(1), BEHIND } },
	{ "strtoumax", { TEXT(0), WORD(1), BEHIND } },
};

static const uint8_t *find(const char *function)
{
	size_t low = 0, high = ARRAY_SIZE(plans);

	while (low < high) {
		const size_t middle = (low + high) / 2;
		const int order = strcmp(function, plans[middle].function);

		if (!order)
			return plans[middle].captures;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static unsigned bit_of(uint8_t capture)
{
	const unsigned which = capture & AGENT_CAPTURE_WHICH;

	if ((capture & ~AGENT_CAPTURE_ALL) == BEHIND)
		return 0;
	if (which == AGENT_CAPTURE_MOVED)
		return 1u << 1;
	if (which == AGENT_CAPTURE_RESULT && !(capture & AGENT_CAPTURE_TEXT))
		return CAPTURE_WHOLE_RESULT;
	return 1u << which;
}

static unsigned take(const uint8_t *captures, uint8_t ret[AGENT_CAPTURES])
{
	unsigned i, which = 0;

	for (i = 0; i < AGENT_CAPTURES && captures[i]; i++) {
		ret[i] = captures[i];
		which |= bit_of(captures[i]);
	}
	return which;
}

unsigned capture_plan(const char *function, uint8_t ret[AGENT_CAPTURES])
{
	const uint8_t *captures = find(function);

	memset(ret, 0, AGENT_CAPTURES);
	return captures ? take(captures, ret) : 0;
}

unsigned fill_plan(const char *function, uint8_t ret[AGENT_CAPTURES])
{
	size_t i;

	memset(ret, 0, AGENT_CAPTURES);
	for (i = 0; i < ARRAY_SIZE(fillers); i++)
		if (!strcmp(function, fillers[i].function))
			return take(fillers[i].captures, ret);
	return 0;
}

unsigned look_plan(const char *function, uint8_t ret[AGENT_CAPTURES])
{
	size_t i;

	memset(ret, 0, AGENT_CAPTURES);
	for (i = 0; i < ARRAY_SIZE(lookers); i++)
		if (!strcmp(function, lookers[i].function))
			return take(lookers[i].captures, ret);
	return 0;
}
