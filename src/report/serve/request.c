/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/serve/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"

static const struct {
	const char *path;
	enum resource resource;
} paths[] = {
	{ "/", RESOURCE_PAGE },
	{ "/metrics", RESOURCE_METRICS },
	{ "/debug/pprof", RESOURCE_MOVED },
	{ "/debug/pprof/", RESOURCE_INDEX },
	{ "/debug/pprof/heap", RESOURCE_HEAP },
	{ "/debug/pprof/allocs", RESOURCE_ALLOCS },
	{ "/debug/pprof/cmdline", RESOURCE_COMMAND },
	{ "/debug/pprof/symbol", RESOURCE_SYMBOL },
};

enum resource request_resource(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!strcmp(paths[i].path, path))
			return paths[i].resource;
	return RESOURCE_NONE;
}

static bool parse(const char *text, unsigned long max, unsigned long *ret)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoul(text, &end, 10);
	return !*end && !errno && *ret <= max;
}

const char *request_option(struct request *request, const char *name,
			   const char *value)
{
	unsigned long number;

	if (!strcmp(name, "seconds")) {
		if (!parse(value, REQUEST_SECONDS_MAX, &number) || !number)
			return "seconds: a number from 1 to 3600 is expected";
		request->seconds = number;
	} else if (!strcmp(name, "debug")) {
		if (!parse(value, 1000, &number))
			return "debug: a number is expected";
		request->text = number > 0;
	} else if (!strcmp(name, "pid")) {
		if (!parse(value, 1UL << 30, &number) || !number)
			return "pid: the number of a process is expected";
		request->pid = number;
	}
	return NULL;
}
