/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_THREAD_H
#define CALLTRAP_THREAD_H

#include <pthread.h>

#include "base/types.h"

/*
 * A thread beside the one that traces, which all signals are for but those of
 * its own crashes: for these it has a stack beside its own. The stack's size is
 * without that one; 0: what is usual. Returns an errno, as pthread_create().
 */
int thread_begin(pthread_t *ret, size_t stack_size, void *(*run)(void *),
		 void *context) MUST_CHECK;

#endif
