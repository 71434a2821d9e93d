/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stack/stack_copy.h"
#include "sysdeps/linux/fault_events.h"
#include "sysdeps/linux/fault_sample.h"
#include "sysdeps/linux/perf_ring.h"
#include "unit.h"

/* Rings and records as the kernel might write them, and as it never would. */

#define SIZE 4096

static uint8_t bytes[SIZE];
static uint8_t unwrapped[PERF_RECORD_ROOM];
static struct perf_ring ring;
static uint8_t body[PERF_RECORD_ROOM];
static size_t body_size;

static void set_up(void)
{
	memset(bytes, 0xee, sizeof(bytes));
	ring = (struct perf_ring){
		.bytes = bytes,
		.size = SIZE,
		.unwrapped = unwrapped,
	};
	body_size = 0;
}

static void put(const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[(ring.head + i) % SIZE] = ((const uint8_t *)from)[i];
	ring.head += size;
}

static void put_header(uint32_t type, uint16_t misc, uint16_t size)
{
	const struct perf_event_header header = { type, misc, size };

	put(&header, sizeof(header));
}

/* Its body counts up from first. */
static void put_record(uint32_t type, uint16_t size, uint8_t first)
{
	put_header(type, 0, size);
	for (size_t i = sizeof(struct perf_event_header); i < size; i++) {
		put(&first, 1);
		first++;
	}
}

static void expect(uint32_t type, size_t size, uint8_t first)
{
	struct perf_record record;

	ck_assert(perf_ring_next(&ring, &record));
	ck_assert_uint_eq(record.type, type);
	ck_assert_uint_eq(record.size + sizeof(struct perf_event_header), size);
	for (size_t i = 0; i < record.size; i++)
		ck_assert_uint_eq(record.body[i], (uint8_t)(first + i));
}

static void expect_end(uint64_t malformed)
{
	struct perf_record record;

	ck_assert(!perf_ring_next(&ring, &record));
	ck_assert_uint_eq(ring.tail, ring.head);
	ck_assert_uint_eq(ring.malformed, malformed);
}

START_TEST(in_turn)
{
	expect_end(0);
	put_record(1, 16, 10);
	put_record(2, 8, 0);
	put_record(3, 400, 7);
	expect(1, 16, 10);
	expect(2, 8, 0);
	expect(3, 400, 7);
	expect_end(0);
}
END_TEST

/* From each offset that a record can begin at. */
START_TEST(wraps)
{
	for (uint64_t at = SIZE - 32; at <= SIZE + 8; at += 8) {
		ring.head = ring.tail = at;
		put_record(9, 24, at);
		put_record(8, 1000, 3);
		expect(9, 24, at);
		expect(8, 1000, 3);
		expect_end(0);
	}
}
END_TEST

START_TEST(full)
{
	ring.head = ring.tail = UINT64_MAX - 99;
	put_record(5, SIZE, 1);
	expect(5, SIZE, 1);
	expect_end(0);
}
END_TEST

START_TEST(hostile_sizes)
{
	static const uint16_t sizes[] = { 0, 1, 7, 17, 4096, 65535 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		put_header(1, 0, sizes[i]);
		put("abcdefgh", 8);
		expect_end(i + 1);
	}
	put_record(4, 16, 0);
	expect(4, 16, 0);
}
END_TEST

START_TEST(hostile_heads)
{
	ring.head = ring.tail + SIZE + 1;
	expect_end(1);
	ring.head = ring.tail - 8;
	expect_end(2);
	ring.head = ring.tail + 7;
	expect_end(3);
}
END_TEST

/* ---- samples ---- */

static void add(const void *from, size_t size)
{
	memcpy(body + body_size, from, size);
	body_size += size;
}

static void add_number(uint64_t number)
{
	add(&number, sizeof(number));
}

/* ip; pid and tid; time; address */
static void add_start(void)
{
	add_number(0x401000);
	add_number(UINT64_C(43) << 32 | 42);
	add_number(5000000000);
	add_number(0x7f0000001234);
}

static void add_registers(void)
{
	add_number(PERF_SAMPLE_REGS_ABI_64);
	for (unsigned i = 0; i < ARCH_SAMPLE_REGISTERS; i++)
		add_number(100 + i);
}

static void add_stack(uint64_t room, uint64_t size)
{
	add_number(room);
	for (uint64_t i = 0; i < room; i++)
		body[body_size++] = i;
	add_number(size);
}

static bool parse(struct fault_sample *ret)
{
	const struct perf_record record = { PERF_RECORD_SAMPLE, 0, body,
					    body_size };

	return fault_sample_parse(&record, ret);
}

START_TEST(whole_sample)
{
	struct fault_sample sample;

	add_start();
	add_registers();
	add_stack(64, 40);
	ck_assert(parse(&sample));
	ck_assert_int_eq(sample.pid, 42);
	ck_assert_int_eq(sample.tid, 43);
	ck_assert_uint_eq(sample.time, 5000000000);
	ck_assert_uint_eq(sample.address, 0x7f0000001234);
	ck_assert(sample.has_regs && !sample.in_kernel);
	/* asm/perf_regs.h: ax, bx, cx, dx, si, di, bp, sp, ip, flags, cs, r8 */
	ck_assert_uint_eq(sample.regs.user.rax, 100);
	ck_assert_uint_eq(sample.regs.user.rsp, 107);
	ck_assert_uint_eq(sample.regs.user.rip, 108);
	ck_assert_uint_eq(sample.regs.user.cs, 110);
	ck_assert_uint_eq(sample.regs.user.r8, 111);
	ck_assert_uint_eq(sample.regs.user.r15, 118);
	ck_assert_uint_eq(sample.stack_size, 40);
	ck_assert_uint_eq(sample.stack[39], 39);
	ck_assert(!sample.stack_goes_on);
}
END_TEST

START_TEST(without_registers_and_stack)
{
	struct fault_sample sample;

	add_start();
	add_number(PERF_SAMPLE_REGS_ABI_NONE);
	add_number(0);
	ck_assert(parse(&sample));
	ck_assert(!sample.has_regs);
	ck_assert_uint_eq(sample.stack_size, 0);
	ck_assert(!sample.stack_goes_on);
}
END_TEST

START_TEST(copied_whole)
{
	struct fault_sample sample;

	add_start();
	add_registers();
	add_stack(64, 64);
	ck_assert(parse(&sample));
	ck_assert(sample.stack_goes_on);
}
END_TEST

/* Wherever it is broken off. */
START_TEST(truncated_sample)
{
	struct fault_sample sample;
	size_t whole;

	add_start();
	add_registers();
	add_stack(64, 64);
	whole = body_size;
	for (body_size = 0; body_size < whole; body_size++)
		ck_assert(!parse(&sample));
}
END_TEST

START_TEST(hostile_stack)
{
	struct fault_sample sample;

	add_start();
	add_registers();
	add_stack(64, 65);
	ck_assert(!parse(&sample));
	body_size -= 64 + 2 * 8;
	add_number(UINT64_MAX - 7);
	add_number(0);
	ck_assert(!parse(&sample));
}
END_TEST

/* ---- a stack's copy ---- */

#define NOW_SIZE 256

/* Every byte is 'n'. */
static size_t read_now(struct memory *memory, taddr_t address, void *ret,
		       size_t size)
{
	(void)memory;
	(void)address;
	memset(ret, 'n', size);
	return size;
}

static const struct memory_ops now_ops = { .read = read_now };

START_TEST(copy)
{
	struct memory now = { &now_ops };
	struct stack_copy stack;
	char read[NOW_SIZE];

	stack_copy_init(&stack, &now, 0x7000, "then", 4, true);
	ck_assert_uint_eq(memory_read_some(&stack.memory, 0x7000, read, 4), 4);
	ck_assert_mem_eq(read, "then", 4);
	ck_assert_uint_eq(memory_read_some(&stack.memory, 0x7002, read, 99), 2);
	ck_assert_mem_eq(read, "en", 2);
	/* Below it: as it is now, but not into the copy. */
	ck_assert_uint_eq(memory_read_some(&stack.memory, 0x6ffe, read, 99), 2);
	ck_assert_mem_eq(read, "nn", 2);
	ck_assert(!stack.was_short);
	ck_assert_uint_eq(memory_read_some(&stack.memory, 0x7004, read, 1), 0);
	ck_assert(stack.was_short);
	ck_assert_int_ne(memory_write(&stack.memory, 0x7000, read, 1), 0);
}
END_TEST

START_TEST(whole_copy)
{
	struct memory now = { &now_ops };
	struct stack_copy stack;
	char read[1];

	stack_copy_init(&stack, &now, 0x7000, "then", 4, false);
	ck_assert_uint_eq(memory_read_some(&stack.memory, 0x7004, read, 1), 0);
	ck_assert(!stack.was_short);
}
END_TEST

/* ---- the kernel's own ---- */

#define PAGES 40

/* Our own faults, as far as the ring holds them: nobody empties it. */
START_TEST(own_faults)
{
	struct fault_events events;
	struct fault_sample sample;
	size_t seen = 0, size = PAGES * (size_t)4096;
	int err = fault_events_open(&events, gettid(), 1 << 20, unwrapped);
	volatile char *memory;

	if (err == -EACCES || err == -EPERM || err == -ENOSYS) {
		fprintf(stderr, "# no perf events for us here: skipped\n");
		return;
	}
	ck_assert_int_eq(err, 0);
	fault_events_signal(&events, 0);
	signal(SIGALRM, SIG_IGN);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)memory, MAP_FAILED);
	for (size_t i = 0; i < size; i += 4096) {
		memory[i] = 1;
		while (fault_events_next(&events, &sample)) {
			if (sample.address != (taddr_t)(memory + i))
				continue;
			ck_assert_int_eq(sample.tid, gettid());
			ck_assert(sample.has_regs && !sample.in_kernel);
			ck_assert_uint_gt(sample.stack_size, 64);
			seen++;
		}
	}
	ck_assert_uint_eq(seen, PAGES);
	ck_assert_uint_ge(fault_events_count(&events), PAGES);
	ck_assert_uint_eq(events.told_lost, 0);
	fault_events_close(&events);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_ring");
	TCase *tests = tcase_create("perf_ring");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, in_turn);
	tcase_add_test(tests, wraps);
	tcase_add_test(tests, full);
	tcase_add_test(tests, hostile_sizes);
	tcase_add_test(tests, hostile_heads);
	tcase_add_test(tests, whole_sample);
	tcase_add_test(tests, without_registers_and_stack);
	tcase_add_test(tests, copied_whole);
	tcase_add_test(tests, truncated_sample);
	tcase_add_test(tests, hostile_stack);
	tcase_add_test(tests, copy);
	tcase_add_test(tests, whole_copy);
	tcase_add_test(tests, own_faults);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
