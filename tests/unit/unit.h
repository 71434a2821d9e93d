/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_UNIT_H
#define CALLTRAP_UNIT_H

#include <check.h>
#include <stdlib.h>

/*
 * A test that hangs is ended after so many seconds of the clock; check's own 4
 * are few where sixty others want the processor. It looks when a case is
 * created.
 */
__attribute__((constructor)) static inline void unit_set_patience(void)
{
	(void)setenv("CK_DEFAULT_TIMEOUT", "60", 0);
}

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

/* A suite of one case: these tests, each between both. */
static inline int unit_run_tests(const char *name, SFun setup, SFun teardown,
				 const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}

#endif
