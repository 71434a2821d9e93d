/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_DEBUGINFO_SERVE_H
#define CALLTRAP_DEBUGINFO_SERVE_H

#include "base/types.h"

/* Answers what comes over a socket until that ends: the child's whole life. */
void serve(int socket);

#endif
