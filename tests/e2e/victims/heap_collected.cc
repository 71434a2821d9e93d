/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two that only get more: pages of a heap, as V8 acquires them; and a leak. Two that
   keep one block in ten: who is called by JavaScript, and who isn't. */
#include <cstdlib>
#include <unistd.h>

static void *volatile kept;

namespace v8
{
namespace internal
{

class MemoryAllocator {
    public:
	__attribute__((noinline)) static void AllocatePage()
	{
		kept = malloc(4096);
		__asm__ volatile("");
	}
};

__attribute__((noinline)) void Builtin_HandleApiCall(void (*function)(bool),
						     bool keeps)
{
	function(keeps);
	__asm__ volatile("");
}

} // namespace internal
} // namespace v8

__attribute__((noinline)) static void wrap(bool keeps)
{
	kept = malloc(100);
	if (!keeps)
		free(kept);
}

__attribute__((noinline)) static void forget(bool keeps)
{
	kept = malloc(100);
	if (!keeps)
		free(kept);
}

__attribute__((noinline)) static void leak()
{
	kept = malloc(4096);
	__asm__ volatile("");
}

int main()
{
	for (int i = 0; i < 400; i++) {
		v8::internal::MemoryAllocator::AllocatePage();
		leak();
		v8::internal::Builtin_HandleApiCall(wrap, i % 10 == 0);
		forget(i % 10 == 0);
		usleep(5000);
	}
	_exit(0);
}
