/*
 *	old_kernel ERROR FIRST-LAST[,FIRST-LAST]... PROGRAM ARGUMENT...
 *
 * Runs a program without the system calls of these numbers: they fail with
 * ENOSYS, as with an older kernel, or EPERM, as with a container's filter.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ROOM 64

static struct sock_filter code[ROOM] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short length = 1;

/* What the loaded number is within fails. */
static void forbid(unsigned first, unsigned last, int error)
{
	code[length++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGE | BPF_K, first, 0, 2);
	code[length++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGT | BPF_K, last, 1, 0);
	code[length++] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
}

static int forbid_all(const char *ranges, int error)
{
	unsigned first, last;
	int taken;

	while (length + 4 < ROOM &&
	       sscanf(ranges, "%u-%u%n", &first, &last, &taken) == 2) {
		forbid(first, last, error);
		ranges += taken;
		if (!*ranges)
			return 0;
		ranges++;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = code };

	if (argc < 4 ||
	    forbid_all(argv[2], strcmp(argv[1], "EPERM") ? ENOSYS : EPERM)) {
		fprintf(stderr, "old_kernel: usage\n");
		return 125;
	}
	code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						      SECCOMP_RET_ALLOW);
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("old_kernel");
		return 125;
	}
	execvp(argv[3], argv + 3);
	return 127;
}
