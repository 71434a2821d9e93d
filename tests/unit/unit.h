/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_UNIT_H
#define CALLTRAP_UNIT_H

#include <check.h>

/* Runs a suite, speaks TAP on standard output; the program's exit status. */
static inline int unit_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}

#endif
