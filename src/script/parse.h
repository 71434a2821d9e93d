/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SCRIPT_PARSE_H
#define CALLTRAP_SCRIPT_PARSE_H

#include "base/lexer.h"
#include "base/pool.h"
#include "script/script.h"

/*
 * Reads one script item of a prototype file; the lexer is at its first word.
 * *script is what the file's items have said so far: NULL before the first
 * one, which makes it. It lives as long as the pool. -EINVAL after the user
 * was told what was expected.
 */
int script_parse_item(struct lexer *lexer, struct pool *pool,
		      struct script **script) MUST_CHECK;

#endif
