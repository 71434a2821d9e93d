/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "sysdeps/arch.h"
#include "tracee/syscall.h"
#include "unit.h"

static void check_name(const struct arch_ops *arch, uint64_t number,
		       const char *name)
{
	const char *found = arch->syscall_name(number);

	if (name)
		ck_assert_str_eq(found ? found : "(none)", name);
	else
		ck_assert_msg(!found, "%s %#llx is %s", arch->name,
			      (unsigned long long)number, found);
}

START_TEST(names_x86_64)
{
	check_name(&arch_x86_64, SYS_read, "read");
	check_name(&arch_x86_64, SYS_openat, "openat");
	check_name(&arch_x86_64, SYS_rt_sigreturn, "rt_sigreturn");
	check_name(&arch_x86_64, SYS_newfstatat, "newfstatat");
	check_name(&arch_x86_64, SYS_clone3, "clone3");
	/* Between the old ones and those that all architectures share. */
	check_name(&arch_x86_64, 400, NULL);
	check_name(&arch_x86_64, 100000, NULL);
	check_name(&arch_x86_64, UINT64_MAX, NULL);
}
END_TEST

/* Bit 30 is set; from 512 on, x32 has numbers of its own. */
START_TEST(names_x32)
{
	check_name(&arch_x86_64, 0x40000000 + SYS_read, "read");
	check_name(&arch_x86_64, 0x40000000 + 512, NULL);
	check_name(&arch_x86_64, 0x40000000 + 400, NULL);
}
END_TEST

/* Documentation of int $0x80 everywhere has these. */
START_TEST(names_i386)
{
	check_name(&arch_i386, 1, "exit");
	check_name(&arch_i386, 4, "write");
	check_name(&arch_i386, 11, "execve");
	check_name(&arch_i386, 102, "socketcall");
	check_name(&arch_i386, 252, "exit_group");
	check_name(&arch_i386, 403, "clock_gettime64");
	check_name(&arch_i386, 100000, NULL);
	check_name(&arch_i386, 0x40000000 + 4, NULL);
	check_name(&arch_i386, UINT64_MAX, NULL);
}
END_TEST

START_TEST(what_is_made_again)
{
	static const int again[] = { 512, 513, 514, 516 };
	static const int others[] = { 0, 1, EINTR, 511, 515, 517, 4095, -512 };

	for (size_t i = 0; i < ARRAY_SIZE(again); i++)
		ck_assert(syscall_restarts(again[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert(!syscall_restarts(others[i]));
}
END_TEST

START_TEST(what_is_cut_short)
{
	static const struct syscall_stop stops[] = {
		{ .failed = true, .result = -EINTR },
		{ .failed = true, .result = -512 },
		{ .failed = true, .result = -516 },
		{ .failed = true, .result = -EAGAIN },
		{ .failed = true, .result = -ETIMEDOUT },
		{ .result = 0 },
		{ .result = -EINTR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		ck_assert(syscall_is_cut_short(&stops[i]) == (i < 3));
}
END_TEST

START_TEST(results_that_are_known_before)
{
	struct regs regs = { 0 };

	regs.user.rax = -ENOSYS;
	arch_x86_64.syscall_set_result(&regs, 0);
	ck_assert_uint_eq(arch_x86_64.result(&regs), 0);
	arch_x86_64.syscall_set_result(&regs, -EIO);
	ck_assert_int_eq((int64_t)arch_x86_64.result(&regs), -EIO);
	arch_i386.syscall_set_result(&regs, -EIO);
	ck_assert_int_eq((int32_t)arch_i386.result(&regs), -EIO);
}
END_TEST

/* The kernel shows -ERESTART_RESTARTBLOCK to tracers only. */
START_TEST(waits_made_from_their_start)
{
	static const struct {
		const struct arch_ops *arch;
		uint64_t call, result;
		bool again;
	} stops[] = {
		{ &arch_x86_64, SYS_clock_nanosleep, -516, true },
		{ &arch_x86_64, SYS_poll, -516, true },
		{ &arch_x86_64, SYS_poll, -EINTR, false },
		{ &arch_x86_64, SYS_restart_syscall, -516, false },
		{ &arch_x86_64, -1, -516, false },
		{ &arch_i386, 162 /* nanosleep */, (uint32_t)-516, true },
		{ &arch_i386, 0xffffffff, (uint32_t)-516, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		struct regs regs = { .user = { .orig_rax = stops[i].call,
					       .rax = stops[i].result,
					       .rip = 1002 } };
		const struct regs before = regs;

		ck_assert(stops[i].arch->wait_from_start(&regs) ==
			  stops[i].again);
		if (!stops[i].again) {
			ck_assert(!memcmp(&regs, &before, sizeof(regs)));
			continue;
		}
		ck_assert_uint_eq(regs.user.rax, stops[i].call);
		ck_assert_uint_eq(regs.user.rip, 1000);
	}
}
END_TEST

static Suite *syscalls_suite(void)
{
	Suite *suite = suite_create("syscalls");
	TCase *tcase = tcase_create("numbers");

	tcase_add_test(tcase, names_x86_64);
	tcase_add_test(tcase, names_x32);
	tcase_add_test(tcase, names_i386);
	tcase_add_test(tcase, what_is_made_again);
	tcase_add_test(tcase, waits_made_from_their_start);
	tcase_add_test(tcase, what_is_cut_short);
	tcase_add_test(tcase, results_that_are_known_before);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_run(syscalls_suite());
}
