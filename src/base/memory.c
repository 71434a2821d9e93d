/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory.h"

#include <errno.h>
#include <string.h>

static size_t read_before(struct memory *memory, taddr_t address, void *ret,
			  size_t size)
{
	const struct memory_before *before = (struct memory_before *)memory;
	const taddr_t end = before->address + before->size;
	size_t n = memory_read_some(before->now, address, ret, size);
	taddr_t low = address > before->address ? address : before->address;
	taddr_t high = address + n < end ? address + n : end;

	if (low < high)
		memcpy((uint8_t *)ret + (low - address),
		       before->bytes + (low - before->address), high - low);
	return n;
}

static int write_now(struct memory *memory, taddr_t address, const void *bytes,
		     size_t size)
{
	const struct memory_before *before = (struct memory_before *)memory;

	return memory_write(before->now, address, bytes, size);
}

static const struct memory_ops before_ops = { read_before, write_now };

void memory_before_init(struct memory_before *before, struct memory *now,
			taddr_t address, const uint8_t *bytes, size_t size)
{
	*before = (struct memory_before){
		{ &before_ops }, now, address, bytes, size
	};
}

static size_t read_nothing(struct memory *memory UNUSED, taddr_t address UNUSED,
			   void *ret UNUSED, size_t size UNUSED)
{
	return 0;
}

struct memory *memory_unreachable(void)
{
	static const struct memory_ops ops = { .read = read_nothing };
	static struct memory memory = { &ops };

	return &memory;
}

size_t memory_read_some(struct memory *memory, taddr_t address, void *ret,
			size_t size)
{
	return memory->ops->read(memory, address, ret, size);
}

int memory_read(struct memory *memory, taddr_t address, void *ret, size_t size)
{
	return memory_read_some(memory, address, ret, size) == size ? 0 :
								      -EFAULT;
}

int memory_write(struct memory *memory, taddr_t address, const void *bytes,
		 size_t size)
{
	return memory->ops->write ?
		       memory->ops->write(memory, address, bytes, size) :
		       -EFAULT;
}

int memory_read_word(struct memory *memory, taddr_t address, unsigned word_size,
		     uint64_t *ret)
{
	uint64_t value = 0;
	int err = memory_read(memory, address, &value, word_size);

	if (!err)
		*ret = value;
	return err;
}

uint64_t memory_word_at(struct memory *memory, taddr_t address)
{
	uint64_t word;

	return !address || address % sizeof(word) ||
			       memory_read(memory, address, &word,
					   sizeof(word)) ?
		       0 :
		       word;
}

long memory_read_string(struct memory *memory, taddr_t address, char *ret,
			size_t room)
{
	const size_t page = 4096;
	size_t length = 0;

	/* Up to the page's end, then the next: the string may be the last. */
	while (length < room - 1) {
		size_t want = page - (address + length) % page;
		size_t got;
		char *end;

		if (want > room - 1 - length)
			want = room - 1 - length;
		got = memory_read_some(memory, address + length, ret + length,
				       want);
		end = memchr(ret + length, '\0', got);
		if (end)
			return end - ret;
		length += got;
		if (got < want)
			break;
	}
	ret[length] = '\0';
	return length || room == 1 ? (long)length : -EFAULT;
}
