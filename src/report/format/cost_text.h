/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_COST_TEXT_H
#define CALLTRAP_COST_TEXT_H

#include "base/strbuf.h"
#include "tracee/cost.h"

/*
 * "58,866 stops; the program stood still for 93 % of the time watched, and ran
 * at about 7 % of its speed"; with several threads, each that matters. Then
 * what a time has to be longer than to be told, unless that isn't known.
 */
void cost_text_add(const struct cost *cost, struct strbuf *out);

#endif
