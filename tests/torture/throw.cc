/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "torture.h"

namespace {

struct flight {
	struct stream *stream;
	unsigned depth;
};

/* Destructors call, while the frames above them are thrown away. */
struct guard {
	explicit guard(struct stream *s) : stream(s) {}
	~guard() { call(stream, LEAF); }
	struct stream *stream;
};

void fly(void *context)
{
	struct flight *flight = static_cast<struct flight *>(context);
	guard keeper(flight->stream);

	if (!flight->depth--)
		throw 7l;
	call_through(flight->stream, fly, flight);
}

/* One that is caught on the way, and thrown again. */
void again(void *context)
{
	struct flight *flight = static_cast<struct flight *>(context);

	try {
		call_through(flight->stream, fly, flight);
	} catch (long) {
		call(flight->stream, DATA);
		throw;
	}
}

} // namespace

extern "C" void do_throw(struct worker *worker)
{
	struct flight flight = { worker->stream,
				 random_below(&worker->random, 4) };
	long caught = 0;

	try {
		call_through(worker->stream,
			     random_below(&worker->random, 2) ? fly : again,
			     &flight);
	} catch (long value) {
		caught = value;
	}
	if (caught != 7)
		fail("caught %ld", caught);
	call(worker->stream, LEAF);
}
