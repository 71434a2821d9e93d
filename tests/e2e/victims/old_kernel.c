/*
 *	old_kernel FIRST LAST PROGRAM ARGUMENT...
 *
 * Runs a program without the system calls of these numbers.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const unsigned first = argc > 3 ? atoi(argv[1]) : 0;
	const unsigned last = argc > 3 ? atoi(argv[2]) : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	if (argc < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("old_kernel");
		return 125;
	}
	execvp(argv[3], argv + 3);
	return 127;
}
