/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CALLABLE_H
#define CALLTRAP_CALLABLE_H

#include <stdbool.h>

/*
 * Whether the agent may call a function in its caller's place. A frame of the
 * agent's, which has no unwind tables, lies between them then. So it must not
 * throw nor let others throw through it, be no cancellation point, not return
 * twice, and take no arguments on the stack. That is known of some functions
 * only: of allocators, whoever defines them, and of the C library's.
 */
/* Allocators' functions whose acts are told by numbers alone. */
/* One of these that isn't called: its return address is replaced. */
bool replaced_by_agent(const char *function);

bool watchable_by_agent(const char *function);

/* library: that it is defined in; CALLABLE_LINKED_IN: a static program's. */
#define CALLABLE_LINKED_IN ""

bool callable_by_agent(const char *function, const char *library);
bool is_c_library(const char *library);
bool is_cxx_library(const char *library);

/* Of the C library's: it may return without having read all of the texts that it is
   called with; or the kernel reads them, which may be any addresses. */
bool may_not_read(const char *function);

#endif
