/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's declarations of its system calls need: structs from the
 * headers that it exports, and types that it keeps for itself. The kernel's
 * linux/syscalls.h stands in front of what is below (KERNEL_DECLARATIONS).
 */
/* Those of the kernel are others: linux/signal_types.h. */
#define sigaction exported_sigaction
#define sigset_t exported_sigset_t
#include <asm/signal.h>
#undef sigaction
#undef sigset_t
#undef sa_handler
#undef sa_sigaction
typedef struct { unsigned long sig[64 / 8 / sizeof(long)]; } sigset_t;
struct sigaction {
	__sighandler_t sa_handler;
	unsigned long sa_flags;
	__sigrestore_t sa_restorer;
	sigset_t sa_mask;
};
#include <asm/stat.h>
#include <asm/statfs.h>
#include <asm/poll.h>
#include <asm/posix_types.h>
#include <asm/siginfo.h>
#include <linux/eventpoll.h>
#include <linux/landlock.h>
#include <linux/mman.h>
#include <linux/openat2.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <linux/sem.h>
#include <linux/stat.h>
#include <linux/sysinfo.h>
#include <linux/time.h>
#include <linux/times.h>
#include <linux/types.h>
#include <linux/uio.h>
#include <linux/utime.h>
#include <linux/utsname.h>
#include <linux/version.h>

/* Linux 6.1 exports it in linux/sched/types.h, 6.12 has it for itself. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
struct sched_param { int sched_priority; };
#endif

typedef __kernel_fd_set fd_set;
typedef __kernel_pid_t pid_t;
typedef __kernel_uid32_t uid_t;
typedef __kernel_gid32_t gid_t;
typedef __kernel_old_uid_t old_uid_t;
typedef __kernel_old_gid_t old_gid_t;
typedef __kernel_size_t size_t;
typedef __kernel_loff_t loff_t;
typedef __kernel_off_t off_t;
typedef __kernel_clockid_t clockid_t;
typedef __kernel_timer_t timer_t;
typedef __kernel_mqd_t mqd_t;
typedef __kernel_key_t key_t;
typedef unsigned int qid_t;
typedef int key_serial_t;
typedef unsigned long aio_context_t;
typedef unsigned short umode_t;
typedef unsigned long old_sigset_t;
typedef int rwf_t;
typedef int old_time32_t;
typedef unsigned int uint32_t;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef void *cap_user_header_t, *cap_user_data_t;
struct old_timespec32 { old_time32_t tv_sec; int tv_nsec; };
struct old_utimbuf32 { old_time32_t actime, modtime; };
struct old_timeval32 { old_time32_t tv_sec; int tv_usec; };
struct old_itimerspec32 {
	struct old_timespec32 it_interval, it_value;
};
struct user_msghdr {
	void *msg_name;
	int msg_namelen;
	struct iovec *msg_iov;
	__kernel_size_t msg_iovlen;
	void *msg_control;
	__kernel_size_t msg_controllen;
	unsigned int msg_flags;
};
struct mmsghdr { struct user_msghdr msg_hdr; unsigned int msg_len; };

#define __user
