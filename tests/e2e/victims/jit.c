/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code made at run time calls f1() 100 times: from private memory, from memory
 * that a child shares and runs as well, and from a function that begins with a
 * system call. Calls that go wrong are counted; status 7 if none was.
 */

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 4096

long f1(long i);

typedef long made(long i);

#ifdef __aarch64__
/* stp x29, x30, [sp, #-16]!; ldr x9, 1f; blr x9; ldp x29, x30, [sp], #16; ret */
static void make(unsigned char *code)
{
	static const unsigned words[] = { 0xa9bf7bfd, 0x580000a9, 0xd63f0120,
					  0xa8c17bfd, 0xd65f03c0, 0xd503201f };
	made *function = f1;

	memcpy(code, words, sizeof(words));
	memcpy(code + sizeof(words), &function, 8);
	__builtin___clear_cache((char *)code, (char *)code + SIZE);
}
#else
/* sub $8, %rsp; movabs $f1, %rax; call *%rax; add $8, %rsp; ret */
static void make(unsigned char *code)
{
	static const unsigned char before[] = { 0x48, 0x83, 0xec, 0x08, 0x48,
						0xb8 };
	static const unsigned char after[] = { 0xff, 0xd0, 0x48, 0x83, 0xc4,
					       0x08, 0xc3 };
	made *function = f1;

	memcpy(code, before, sizeof(before));
	memcpy(code + sizeof(before), &function, 8);
	memcpy(code + sizeof(before) + 8, after, sizeof(after));
}
#endif

static unsigned char *map(int flags)
{
	unsigned char *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE |
				   PROT_EXEC, flags | MAP_ANONYMOUS, -1, 0);

	if (code != MAP_FAILED)
		make(code);
	return code;
}

static int run(unsigned char *code)
{
	int i, wrong = 0;

	for (i = 0; i < 100; i++)
		wrong += ((made *)code)(i) != i + 1;
	return wrong;
}

__asm__(".globl own_getpid\n"
	".type own_getpid, %function\n"
	"own_getpid:\n"
#ifdef __aarch64__
	"	svc #0\n"
#else
	"	syscall\n"
#endif
	"	ret\n"
	".size own_getpid, . - own_getpid\n");
long own_getpid(void);

static long call_own_getpid(void)
{
#ifdef __aarch64__
	register long number __asm__("x8") = SYS_getpid;
	register long result __asm__("x0");

	__asm__ volatile("bl own_getpid" : "=r"(result) : "r"(number)
			 : "x30", "memory");
#else
	long result;

	__asm__ volatile("call own_getpid" : "=a"(result) : "a"(SYS_getpid)
			 : "rcx", "r11", "memory");
#endif
	return result;
}

/* The child's calls are its own, and come after those of the parent. */
static int run_shared(void)
{
	unsigned char copy[SIZE], *code = map(MAP_SHARED);
	int status, wrong;
	pid_t child;

	memcpy(copy, code, SIZE);
	wrong = run(code) + !!memcmp(copy, code, SIZE);
	child = fork();
	if (child == 0)
		_exit(run(code));
	waitpid(child, &status, 0);
	return wrong + !!status;
}

int main(void)
{
	int wrong = run(map(MAP_PRIVATE)) + run_shared();

	wrong += call_own_getpid() != getpid();
	puts("count MAIN f1 200");
	return wrong ? 1 : 7;
}
