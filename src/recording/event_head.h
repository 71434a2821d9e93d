/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EVENT_HEAD_H
#define CALLTRAP_EVENT_HEAD_H

#include "recording/recorded.h"

/* The head of an event, as it is stored: its kind, and what it has. */
enum {
	HEAD_KIND = 7,
	HEAD_FAILED = 1 << 3,
	HEAD_UNKEPT = 1 << 4,
	HEAD_FURTHER = 1 << 5,
	HEAD_HANDLE = 1 << 6, /* the rest: it is there, and not 0 */
	HEAD_OLD = 1 << 7,
	HEAD_SIZE = 1 << 8,
	HEAD_OLD_SIZE = 1 << 9,
	HEAD_PRODUCT = 1 << 10,
	HEAD_CALL = 1 << 11,
	HEAD_ALL = (1 << 12) - 1,
};

static inline bool recorded_has_duration(enum recorded_kind kind)
{
	return kind == RECORDED_RETURN || kind == RECORDED_CALL ||
	       kind == RECORDED_END;
}

#endif
