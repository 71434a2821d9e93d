/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_SIGNAL_NAME_H
#define CALLTRAP_SIGNAL_NAME_H

#include "base/strbuf.h"

/* SIGINT, SIGRTMIN+3, SIG99. */
void signal_name_add(int number, struct strbuf *out);

#endif
