/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/linux/newer_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "sysdeps/arch.h"

bool call_is_missing(int error)
{
	return error == ENOSYS || error == EPERM;
}

/* A kernel that has it finds the arguments too short. */
static bool clone3_is_forbidden(void)
{
	return syscall(SYS_clone3, NULL, 0) < 0 && errno == EPERM;
}

/* Of filters that say no, the last one says with which error. */
static bool hide_clone3(void)
{
	const struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch_native->audit, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {
		.len = ARRAY_SIZE(program),
		.filter = (struct sock_filter *)program,
	};

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

void threads_allow(void)
{
	if (!clone3_is_forbidden() || hide_clone3())
		return;
	/* Who has no rights over it has to renounce others first. */
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		(void)hide_clone3();
}

int statx_anyhow(int folder, const char *path, int flags, unsigned mask,
		 struct statx *ret)
{
	struct stat st;

	if (!statx(folder, path, flags, mask, ret))
		return 0;
	if (!call_is_missing(errno) ||
	    fstatat(folder, path, &st, flags & ~AT_STATX_SYNC_TYPE))
		return -1;
	memset(ret, 0, sizeof(*ret));
	ret->stx_mask = STATX_MODE | STATX_INO;
	ret->stx_mode = st.st_mode;
	ret->stx_ino = st.st_ino;
	ret->stx_dev_major = major(st.st_dev);
	ret->stx_dev_minor = minor(st.st_dev);
	return 0;
}
