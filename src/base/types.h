/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TYPES_H
#define CALLTRAP_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* An address in a traced process; never a pointer of ours. */
typedef uint64_t taddr_t;

/*
 * Functions that can fail return 0 or a negative errno. This one joins them:
 * the task that was spoken to has gone away, which callers treat as normal.
 */
#define ERR_GONE 4095

#define MUST_CHECK               __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define NO_RETURN                __attribute__((noreturn))
#define UNUSED                   __attribute__((unused))

/* Calls fn(&variable) when the variable goes out of scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
