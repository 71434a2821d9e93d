/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another caller of libt's functions; its calls aren't those of the program. */

long f1(long i);

void u_work(int n)
{
	for (int i = 0; i < n; i++)
		f1(i);
}

void u_call(long (*function)(long), int n)
{
	for (int i = 0; i < n; i++)
		function(i);
}

long u_back(long (*function)(long), long i)
{
	return function(i) + 1;
}

/* Returns to the program, but is no call of the program's to f1. */
long u_tail(long i)
{
	return f1(i);
}
