/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tireless WAY THREADS: each calls llabs (with ALLOCATES: malloc and free) all the
 * time, after WAY: all, strict or docker (seccomp). "?" on the input is answered
 * by "made N" of these, "go" by 1,000 calls of labs (calloc) and "gone". Ends at
 * "end" with 7 when all results were right.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What musl's compiler finds has none of the kernel's. */
#if __has_include(<linux/seccomp.h>)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#else
#define SECCOMP_MODE_STRICT 1
#endif

#define THREADS 8
#define GO      1000
#define NEW     0x7e020000 /* namespaces, but for that of time */

static volatile int over;
static int is_strict, running;
static volatile long made[THREADS], wrong;

static void say(const char *text)
{
	(void)!write(1, text, strlen(text));
}

#ifdef ALLOCATES
static int busy(long i)
{
	char *volatile block = malloc((size_t)(16 + i % 100));

	if (block)
		block[0] = 1;
	free(block);
	return !!block;
}

static int exact(long i)
{
	char *volatile block = calloc(2, (size_t)(8 + i % 100));
	const int right = block && !block[0];

	free(block);
	return right;
}
#define BUSY  malloc
#define EXACT calloc
#else
static int busy(long i)
{
	return llabs(-i) == i;
}

static int exact(long i)
{
	return labs(-i) == i;
}
#define BUSY  llabs
#define EXACT labs
#endif

/* Of one thread; whoever it is may read, write and end itself. */
static int be_strict(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

#if __has_include(<linux/seccomp.h>)
#define DENY(number, error)                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(member)                       \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
		 offsetof(struct seccomp_data, member))

/*
 * As Docker's documentation tells what its default profile forbids: the calls
 * by name, clone where it makes namespaces, and clone3, whose flags no filter
 * sees, as if it weren't there.
 */
static int be_in_docker(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		LOAD(nr),
		DENY(__NR_acct, EPERM),
		DENY(__NR_add_key, EPERM),
		DENY(__NR_bpf, EPERM),
		DENY(__NR_clock_adjtime, EPERM),
		DENY(__NR_clock_settime, EPERM),
		DENY(__NR_clone3, ENOSYS),
		DENY(__NR_delete_module, EPERM),
		DENY(__NR_finit_module, EPERM),
		DENY(__NR_get_mempolicy, EPERM),
		DENY(__NR_init_module, EPERM),
		DENY(__NR_ioperm, EPERM),
		DENY(__NR_iopl, EPERM),
		DENY(__NR_kcmp, EPERM),
		DENY(__NR_kexec_file_load, EPERM),
		DENY(__NR_kexec_load, EPERM),
		DENY(__NR_keyctl, EPERM),
		DENY(__NR_mbind, EPERM),
		DENY(__NR_mount, EPERM),
		DENY(__NR_move_pages, EPERM),
		DENY(__NR_open_by_handle_at, EPERM),
		DENY(__NR_perf_event_open, EPERM),
		DENY(__NR_pivot_root, EPERM),
		DENY(__NR_process_vm_readv, EPERM),
		DENY(__NR_process_vm_writev, EPERM),
		DENY(__NR_ptrace, EPERM),
		DENY(__NR_quotactl, EPERM),
		DENY(__NR_reboot, EPERM),
		DENY(__NR_request_key, EPERM),
		DENY(__NR_set_mempolicy, EPERM),
		DENY(__NR_setns, EPERM),
		DENY(__NR_settimeofday, EPERM),
		DENY(__NR_swapoff, EPERM),
		DENY(__NR_swapon, EPERM),
		DENY(__NR_sysfs, EPERM),
		DENY(__NR_umount2, EPERM),
		DENY(__NR_unshare, EPERM),
		DENY(__NR_userfaultfd, EPERM),
		DENY(__NR_ustat, EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 3),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ||
	       syscall(__NR_keyctl, 0, 0, 0, 0, 0) != -1 || errno != EPERM;
}

#else
static int be_in_docker(void)
{
	return -1;
}
#endif

static void *work(void *context)
{
	volatile long *const mine = context;
	long i;

	for (i = 1; i < 10; i++)
		(void)busy(i);
	if (is_strict && be_strict())
		wrong++;
	__atomic_fetch_add(&running, 1, __ATOMIC_RELEASE);
	for (i = 0; !over; i++) {
		if (!busy(i))
			wrong++;
		*mine = i + 1;
	}
	if (is_strict)
		syscall(SYS_exit, wrong ? 1 : 7);
	return NULL;
}

/* No buffer of stdio's is acquired while calls are counted. */
static void tell(int threads)
{
	char text[40];
	long sum = 0;

	while (threads--)
		sum += made[threads];
	snprintf(text, sizeof(text), "made %ld\n", sum);
	say(text);
}

static void go(void)
{
	for (long i = 0; i < GO; i++)
		if (!exact(i))
			wrong++;
	say("gone\n");
}

static int begin(const char *way, pthread_t *threads, int count)
{
	int i;

	if (!strcmp(way, "docker") && be_in_docker())
		return -1;
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)&made[i]))
			return -1;
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) < count)
		sched_yield();
	return 0;
}

int main(int argc, char **argv)
{
	const int count = argc == 3 ? atoi(argv[2]) : 0;
	pthread_t threads[THREADS];
	char text[80], key;
	int i;

	if (count < 1 || count > THREADS)
		return 2;
	is_strict = !strcmp(argv[1], "strict");
	if (begin(argv[1], threads, count))
		return 3;
	go();
	if (is_strict && be_strict())
		return 3;
	snprintf(text, sizeof(text), "at %p %p\nready\n", (void *)BUSY,
		 (void *)EXACT);
	say(text);
	while (read(0, &key, 1) == 1 && key != 'e')
		if (key == '?')
			tell(count);
		else if (key == 'g')
			go();
	over = 1;
	say("over\n");
	if (is_strict)
		syscall(SYS_exit, wrong ? 1 : 7);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return wrong ? 1 : 7;
}
