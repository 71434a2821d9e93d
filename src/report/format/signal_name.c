/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/format/signal_name.h"

#include <signal.h>
#include <string.h>

void signal_name_add(int number, struct strbuf *out)
{
	const char *name = sigabbrev_np(number);

	if (name)
		strbuf_printf(out, "SIG%s", name);
	else if (number == SIGRTMIN)
		strbuf_puts(out, "SIGRTMIN");
	else if (number > SIGRTMIN && number <= SIGRTMAX)
		strbuf_printf(out, "SIGRTMIN+%d", number - SIGRTMIN);
	else
		strbuf_printf(out, "SIG%d", number);
}
