/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_EVENT_VALUES_H
#define CALLTRAP_EVENT_VALUES_H

#include "probe/event.h"

/* Where the values of a call lie; of an EVENT_RETURN, the result as well. */
struct call_values event_values(const struct event *event);

#endif
