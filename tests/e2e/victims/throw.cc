// SPDX-License-Identifier: GPL-2.0-or-later
// Exceptions through traced calls, caught by the program.

#include <cstdio>
#include <stdexcept>

extern "C" {
long thrower(long i);
long through(long (*callback)(long), long i);
long with_cleanup(long (*callback)(long), long i);
long f1(long i);
}

static long again(long i)
{
	return thrower(i);
}

int main()
{
	long caught = 0, wrong = 0;

	for (long i = 0; i < 1000; i++) {
		try {
			switch (i % 3) {
			case 0:
				thrower(i);
				break;
			case 1:
				through(again, i);
				break;
			default:
				with_cleanup(again, i);
			}
			wrong++;
		} catch (const std::runtime_error &error) {
			wrong += error.what()[0] != (i % 2 ? 'o' : 'e');
			caught++;
		}
		wrong += f1(i) != i + 1;
	}
	wrong += caught != 1000;
	std::puts("count MAIN thrower 1000\ncount MAIN through 333\n"
		  "count MAIN with_cleanup 333\ncount MAIN f1 1000");
	return wrong ? 1 : 7;
}
