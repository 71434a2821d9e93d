/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_TESTS_QUIET_CLIENT_H
#define CALLTRAP_TESTS_QUIET_CLIENT_H

#include "tracee/tracer.h"

/* A client for tracers of tests that look at spaces themselves. */

static void ignore_space(struct tracer_client *client UNUSED,
			 struct space *space UNUSED)
{
}

static const struct tracer_client_ops quiet_client_ops = {
	.space_begin = ignore_space,
	.space_end = ignore_space,
};

static struct tracer_client quiet_client = { &quiet_client_ops };

#endif
