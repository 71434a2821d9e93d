// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that return, throw, and let others throw and jump through them.

#include <stdexcept>

extern "C" long ways_plain(long i)
{
	return i + 1;
}

extern "C" long ways_throws(long i)
{
	if (i % 2)
		throw std::runtime_error("odd");
	return i + 2;
}

extern "C" long ways_calls(long (*callback)(long), long i)
{
	return callback(i) + 3;
}

struct Guard {
	long &count;
	~Guard() { count++; }
};

// Has a landing pad of its own: the exception goes on from it.
extern "C" long ways_cleans(long (*callback)(long), long i)
{
	static thread_local long cleanups;
	Guard guard{cleanups};
	return callback(i) + 4 + cleanups * 0;
}

extern "C" long ways_many(long a, long b, long c, long d, long e, long f,
			  long g, long h, long i)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h +
	       9 * i;
}
