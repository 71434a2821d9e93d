/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_JSON_CALL_H
#define CALLTRAP_JSON_CALL_H

#include <jansson.h>

#include "report/format/names.h"
#include "report/log/json.h"

struct begun_call;

/* Calls as JSON: arguments are read at the entry, the rest after the return. */
struct json_calls {
	struct json_options options;
	struct names *names;
	struct namer *namer;      /* -w, or NULL */
	struct begun_call *begun; /* by call */
};

void json_calls_init(struct json_calls *calls,
		     const struct json_options *options);
void json_calls_fini(struct json_calls *calls);

void json_calls_begin(struct json_calls *calls, const struct event *event);

/* The members of an ended call's object (see json.h), without its head. */
json_t *json_calls_end(struct json_calls *calls, const struct event *event);

#endif
