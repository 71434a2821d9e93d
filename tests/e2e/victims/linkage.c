/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls by every road that a linker builds, and says how often. */

#include <stdio.h>

long f1(long i);
long f2(long i);
long f3(long i);
void u_work(int n);
void u_call(long (*function)(long), int n);
#ifdef TAILS
long u_back(long (*function)(long), long i);
long u_tail(long i);
#endif

static int n1, n2, n3;
static long wrong;

__attribute__((noinline)) static long tail(long i)
{
	n2++;
	return f2(i);
}

#ifdef TAILS
/* Returns to libu, but the call is the program's. */
static long back(long i)
{
	n1++;
	return f1(i);
}
#endif

static void direct(void)
{
	for (int i = 0; i < 1000; i++) {
		n1++;
		wrong += f1(i) != i + 1;
		n2++;
		wrong += f2(i) != i + 1;
	}
	for (int i = 0; i < 10; i++) {
		n3++;
		wrong += f3(i) != i + 1;
	}
	for (int i = 0; i < 20; i++)
		wrong += tail(i) != i + 1;
}

int main(void)
{
	long (*volatile pointer)(long) = f3;

	direct();
	u_work(200);
	u_call(pointer, 5);
#ifdef TAILS
	for (int i = 0; i < 30; i++)
		wrong += u_tail(i) != i + 1;
	for (int i = 0; i < 40; i++)
		wrong += u_back(back, i) != i + 2;
#endif
	printf("count MAIN f1 %d\ncount MAIN f2 %d\ncount MAIN f3 %d\n",
	       n1, n2, n3);
	printf("count libu.so f1 200\ncount pointer f3 5\n");
	return wrong ? 1 : 7;
}
