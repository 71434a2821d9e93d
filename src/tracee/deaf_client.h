/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEAF_CLIENT_H
#define CALLTRAP_DEAF_CLIENT_H

#include "tracee/tracer.h"

/* Of a client that is told of everything and does nothing about it. */
extern const struct tracer_client_ops deaf_client_ops;

#endif
