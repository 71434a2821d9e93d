/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/session.h"
#include "doctor/doctor.h"

/* The verb doctor: what works here and on a process. */

int doctor_run(const struct options *options)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	bool works = doctor(options->pids, options->pid_count,
			    options->doctor_json, &out);

	if (options->doctor_json)
		strbuf_putc(&out, '\n');
	if (fwrite(out.text, 1, out.length, stdout) != out.length ||
	    fflush(stdout)) {
		complain(0, "standard output can't be written: %s",
			 strerror(errno));
		return EXIT_UNWRITTEN;
	}
	return works ? 0 : EXIT_NOTHING_TRACED;
}
