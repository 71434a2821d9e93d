/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two that only get more: pages of a heap, as V8 acquires them; and a leak. */
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

} // namespace internal
} // namespace v8

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
		usleep(5000);
	}
	_exit(0);
}
