/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls f1() 1000 times, then f2(), which forks: in the child it takes 300 ms
 * more, without a call that is traced.
 */
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void f1(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) pid_t f2(void)
{
	pid_t child = fork();

	if (!child)
		usleep(300000);
	return child;
}

int main(void)
{
	for (int i = 0; i < 1000; i++)
		f1();
	if (f2())
		wait(NULL);
	return 0;
}
