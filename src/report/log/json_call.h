/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_JSON_CALL_H
#define CALLTRAP_JSON_CALL_H

#include "base/strbuf.h"
#include "report/format/json_writer.h"
#include "report/format/names.h"
#include "report/log/json.h"

struct begun_call;
struct json_function;

/* Calls as JSON: arguments are read at the entry, the rest after the return. */
struct json_calls {
	struct json_options options;
	struct names *names;
	struct namer *namer;      /* -w, or NULL */
	struct begun_call *last;  /* most end before the next one begins */
	struct begun_call *begun; /* others, by call */
	struct begun_call *spare; /* to be used again */
	struct json_writer result;
	struct json_function *known; /* by function */
	struct json_function *last_known;
};

void json_calls_init(struct json_calls *calls,
		     const struct json_options *options);
void json_calls_fini(struct json_calls *calls);

void json_calls_begin(struct json_calls *calls, const struct event *event);

/* Whether it was told of when it began, and not yet when it ended. */
bool json_calls_runs(const struct json_calls *calls, const struct call *call);

/* Appends the members of an ended one (see json.h), but those of its head. */
void json_calls_end(struct json_calls *calls, const struct event *event,
		    struct strbuf *out);

#endif
