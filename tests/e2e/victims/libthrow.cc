// SPDX-License-Identifier: GPL-2.0-or-later
// Throws, and lets others throw through it.

#include <stdexcept>

extern "C" long thrower(long i)
{
	throw std::runtime_error(i % 2 ? "odd" : "even");
}

extern "C" long through(long (*callback)(long), long i)
{
	return callback(i) + 1;
}

struct Guard {
	long &count;
	~Guard() { count++; }
};

// Has a landing pad of its own: the exception is resumed from it.
extern "C" long with_cleanup(long (*callback)(long), long i)
{
	static long cleanups;
	Guard guard{cleanups};
	return callback(i) + cleanups * 0;
}
