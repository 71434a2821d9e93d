/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GROWTH_TEXT_H
#define CALLTRAP_GROWTH_TEXT_H

#include "report/memory/text.h"

/* What makes the process grow; nothing if that wasn't watched. */
int growth_text(const struct heap_text *text) MUST_CHECK;

/* How that fits what the kernel says of the process. */
int growth_text_account(const struct heap_text *text) MUST_CHECK;

/* How page faults were seen; nothing if they weren't watched. */
int growth_text_faults(const struct heap_text *text) MUST_CHECK;

#endif
