/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_GAUGE_H
#define CALLTRAP_GAUGE_H

#include "tracee/price.h"

/*
 * Has a child of ours do nothing but stop for a few milliseconds, on the
 * processor of the calling thread and on another one, and times that. For the
 * thread that traces, before it traces anything. Zeros where ptrace isn't to
 * be had: then there will be nothing to be priced.
 */
void gauge_take(struct price_gauge *ret);

#endif
