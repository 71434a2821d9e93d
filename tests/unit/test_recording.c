/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap/families.h"
#include "recording/block.h"
#include "recording/cost_note.h"
#include "recording/events.h"
#include "recording/numbers.h"
#include "recording/playback.h"
#include "recording/recorder.h"
#include "recording/text_recording.h"
#include "report/file/whole_file.h"

static uint64_t state = 1;

/* Of any size: small numbers as often as large ones. */
static uint64_t random_number(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state >> (state >> 58);
}

START_TEST(test_numbers)
{
	struct strbuf out = { 0 };
	uint64_t numbers[200];
	struct cursor in;

	numbers[0] = 0;
	numbers[1] = UINT64_MAX;
	for (size_t i = 2; i < ARRAY_SIZE(numbers); i++)
		numbers[i] = random_number();
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		put_varint(&out, numbers[i]);
	in = cursor_of(out.text, out.length);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		ck_assert_uint_eq(take_varint(&in), numbers[i]);
	ck_assert(!in.bad && cursor_at_end(&in));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		ck_assert_uint_eq(unzigzag(zigzag(numbers[i])), numbers[i]);
	ck_assert_uint_eq(zigzag(-1), 1);
	ck_assert_uint_eq(zigzag(1), 2);
	strbuf_fini(&out);
}
END_TEST

START_TEST(test_bad_numbers)
{
	static const uint8_t endless[] = { 0x80, 0x80 };
	static const uint8_t large[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0x02 };
	struct cursor in = cursor_of(endless, sizeof(endless));

	(void)take_varint(&in);
	ck_assert(in.bad);
	in = cursor_of(large, sizeof(large));
	(void)take_varint(&in);
	ck_assert(in.bad);
}
END_TEST

static struct recorded_event random_event(void)
{
	static const uint8_t body[] = { 1, 2, 3 };
	struct recorded_event event = {
		.kind = random_number() % RECORDED_KINDS,
		.time = random_number(),
	};

	if (event.kind == RECORDED_NOTE) {
		event.note = random_number() % 100;
		event.body = body;
		event.body_size = random_number() % 4;
		return event;
	}
	event.failed = random_number() & 1;
	event.unkept = random_number() & 1;
	event.further = random_number() & 1;
	event.thread = random_number();
	event.site = random_number();
	event.call = random_number();
	event.handle = random_number() % 64 << 4;
	event.old = random_number() % 64 << 4;
	event.size = random_number();
	event.old_size = random_number();
	event.count = random_number();
	event.item = random_number();
	if (event.kind == RECORDED_CALL)
		event.wait = random_number();
	if (event.kind == RECORDED_RETURN || event.kind == RECORDED_CALL ||
	    event.kind == RECORDED_END) {
		event.duration = random_number();
		event.correction = random_number();
	}
	return event;
}

static void check_event(const struct recorded_event *found,
			const struct recorded_event *wanted)
{
	struct recorded_event a = *found, b = *wanted;

	ck_assert_uint_eq(a.body_size, b.body_size);
	if (a.body_size)
		ck_assert(!memcmp(a.body, b.body, a.body_size));
	a.body = b.body = NULL;
	ck_assert_uint_eq(a.kind, b.kind);
	ck_assert_uint_eq(a.time, b.time);
	ck_assert_uint_eq(a.handle, b.handle);
	ck_assert_uint_eq(a.old, b.old);
	ck_assert(a.failed == b.failed && a.unkept == b.unkept &&
		  a.further == b.further && a.wait == b.wait &&
		  a.duration == b.duration && a.correction == b.correction &&
		  a.thread == b.thread && a.site == b.site &&
		  a.call == b.call && a.size == b.size &&
		  a.old_size == b.old_size && a.count == b.count &&
		  a.item == b.item && a.note == b.note);
}

#define EVENTS 5000

START_TEST(test_events)
{
	static struct recorded_event events[EVENTS];
	struct event_block block = { 0 };
	struct event_reader reader = { 0 };
	struct strbuf text = { 0 };

	/* A block that is filled again begins anew. */
	for (unsigned round = 0; round < 2; round++) {
		struct recorded_event found;

		for (size_t i = 0; i < EVENTS; i++) {
			events[i] = random_event();
			event_block_add(&block, &events[i]);
		}
		ck_assert_uint_eq(block.count, EVENTS);
		strbuf_clear(&text);
		event_block_take(&block, &text);
		ck_assert(event_reader_begin(&reader, text.text, text.length,
					     EVENTS));
		for (size_t i = 0; i < EVENTS; i++) {
			ck_assert_int_eq(event_reader_next(&reader, &found), 1);
			check_event(&found, &events[i]);
		}
		ck_assert_int_eq(event_reader_next(&reader, &found), 0);
	}
	event_reader_fini(&reader);
	event_block_fini(&block);
	strbuf_fini(&text);
}
END_TEST

/* Each change of a bit is noticed, in the head and behind it. */
START_TEST(test_block)
{
	const struct block_head given = { .kind = BLOCK_EVENTS,
					  .sequence = 7,
					  .count = 3,
					  .first_time = 1,
					  .last_time = UINT64_MAX };
	struct strbuf file = { 0 }, plain = { 0 }, found = { 0 };
	struct block_head head;

	for (unsigned i = 0; i < 1000; i++)
		strbuf_printf(&plain, "%u ", i % 37);
	block_add(&file, &given, plain.text, plain.length);
	for (size_t bit = 0; bit < 8 * file.length; bit++) {
		uint8_t *bytes = (uint8_t *)file.text;
		const char *problem;

		bytes[bit / 8] ^= 1 << bit % 8;
		problem = block_head_parse(bytes, &head);
		if (!problem)
			problem = block_expand(&head, bytes + BLOCK_HEAD_SIZE,
					       &found);
		ck_assert_ptr_nonnull(problem);
		bytes[bit / 8] ^= 1 << bit % 8;
	}
	ck_assert_ptr_null(block_head_parse((uint8_t *)file.text, &head));
	ck_assert_ptr_null(
		block_expand(&head, file.text + BLOCK_HEAD_SIZE, &found));
	ck_assert(head.is_compressed && head.sequence == 7 && head.count == 3);
	ck_assert_uint_eq(found.length, plain.length);
	ck_assert(!memcmp(found.text, plain.text, plain.length));
	strbuf_fini(&file);
	strbuf_fini(&plain);
	strbuf_fini(&found);
}
END_TEST

/* What a writer makes, a reader takes, however well it can be compressed. */
START_TEST(test_growth)
{
	static const enum block_kind kinds[] = { BLOCK_DICTIONARY,
						 BLOCK_EVENTS };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct block_head given = { .kind = kinds[i] };
		struct strbuf file = { 0 }, zeros = { 0 };
		struct block_head head;

		strbuf_pad(&zeros, 4 << 20);
		block_add(&file, &given, zeros.text, zeros.length);
		ck_assert_ptr_null(
			block_head_parse((uint8_t *)file.text, &head));
		ck_assert(!head.is_compressed);
		strbuf_fini(&file);
		strbuf_fini(&zeros);
	}
}
END_TEST

/* Numbers of 16 values and of 128 others: with a code for both it is 13 bits for
   two of them, with one each 11; and each must come back. */
START_TEST(test_columns)
{
	const size_t size = 1 << 16;
	const struct block_head given = { .kind = BLOCK_EVENTS };
	struct strbuf file = { 0 }, plain = { 0 }, found = { 0 };
	struct block_head head;

	put_varint(&plain, 2);
	for (unsigned column = 0; column < 2; column++) {
		put_varint(&plain, size);
		for (size_t i = 0; i < size; i++) {
			state = state * UINT64_C(6364136223846793005) + 1;
			strbuf_putc(&plain, (char)(column ? 128 | state >> 57 :
							    state >> 60));
		}
	}
	block_add(&file, &given, plain.text, plain.length);
	ck_assert_ptr_null(block_head_parse((uint8_t *)file.text, &head));
	ck_assert_uint_lt(head.stored_size, plain.length / 4 * 3);
	ck_assert_ptr_null(
		block_expand(&head, file.text + BLOCK_HEAD_SIZE, &found));
	ck_assert_uint_eq(found.length, plain.length);
	ck_assert(!memcmp(found.text, plain.text, plain.length));
	strbuf_fini(&file);
	strbuf_fini(&plain);
	strbuf_fini(&found);
}
END_TEST

/* ---- files ---- */

static void put_entry(struct strbuf *out, unsigned kind,
		      const struct strbuf *rest)
{
	put_varint(out, kind);
	put_bytes(out, rest->text, rest->length);
}

/* What the file above all tells of: one process, one thread, malloc. */
static void put_dictionary(struct strbuf *out)
{
	static const struct {
		unsigned kind;
		const char *text[2];
		uint64_t numbers[5]; /* before the texts */
		size_t count;
	} entries[] = {
		{ ENTRY_PROCESS, { "program", "name" }, { 1, 77, 1, 1 }, 4 },
		{ ENTRY_THREAD, { "thread" }, { 1, 1, 77 }, 3 },
		{ ENTRY_FAMILY, { "malloc", "bytes" }, { 1 }, 1 },
		{ ENTRY_FUNCTION, { "malloc", "" }, { 1, 1, 0, 10 }, 4 },
		{ ENTRY_FUNCTION, { "free", "" }, { 2, 1, 1, 3 }, 4 },
		{ ENTRY_SITE, { NULL }, { 1, 1, 0 }, 3 },
		{ ENTRY_SITE, { NULL }, { 2, 2, 0 }, 3 },
	};
	struct strbuf rest = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		strbuf_clear(&rest);
		for (size_t k = 0; k < entries[i].count; k++)
			put_varint(&rest, entries[i].numbers[k]);
		for (size_t k = 0; k < 2 && entries[i].text[k]; k++)
			put_text(&rest, entries[i].text[k]);
		/* A process's descriptors; a family's flags and granularity;
		   of others, what nobody knows yet. */
		put_varint(&rest, 0);
		put_varint(&rest, 0);
		put_entry(out, entries[i].kind, &rest);
	}
	strbuf_fini(&rest);
}

/* Each block of memory is acquired once; every other one is given back. */
static struct recorded_event event_of(unsigned i)
{
	const bool back = i % 4 == 3;

	return (struct recorded_event){
		.kind = back ? RECORDED_ENTRY : RECORDED_RETURN,
		.time = 1000 + 10 * i,
		.thread = 1,
		.site = 1 + back,
		.handle = 4096 + 16 * (back ? i - 1 : i),
		.size = back ? 0 : 100,
	};
}

static void add_block(struct strbuf *file, enum block_kind kind,
		      uint32_t sequence, uint32_t count, struct strbuf *text)
{
	const struct block_head head = { .kind = kind,
					 .sequence = sequence,
					 .count = count,
					 .last_time = UINT64_MAX };

	block_add(file, &head, text->text, text->length);
	strbuf_clear(text);
}

#define PARTS 30

/* ends[0] is that of the dictionary. */
static unsigned make_file(struct strbuf *file, size_t ends[PARTS + 1],
			  unsigned counts[PARTS + 1])
{
	struct event_block events = { 0 };
	struct strbuf text = { 0 };
	unsigned all = 0;

	recording_head_add(file, &(struct recording_head){ .start = 1 });
	put_dictionary(&text);
	add_block(file, BLOCK_DICTIONARY, 0, 7, &text);
	ends[0] = file->length;
	counts[0] = 0;
	for (unsigned i = 1; i <= PARTS; i++) {
		const unsigned count = 1 + random_number() % 60;

		for (unsigned k = 0; k < count; k++) {
			struct recorded_event event = event_of(all++);

			event_block_add(&events, &event);
		}
		event_block_take(&events, &text);
		add_block(file, BLOCK_EVENTS, i, count, &text);
		ends[i] = file->length;
		counts[i] = counts[i - 1] + count;
	}
	event_block_fini(&events);
	strbuf_fini(&text);
	return all;
}

struct played_file {
	struct playback_end end;
	uint64_t events, live, dropped;
};

static void count_live(void *live, const struct watched *process,
		       const struct heap_cost *cost UNUSED)
{
	const struct family *family = heap_family(process->heap, 0);

	*(uint64_t *)live += heap_total(process->heap, family)->blocks;
}

static struct played_file play_observed(int fd, uint64_t until,
					struct act_observer *observer)
{
	struct played_file played = { .live = 0 };
	struct playback_options options = {
		.stacks = stacks_new(),
		.families = families_new(),
		.until = until,
		.observer = observer,
		.ended = count_live,
		.context = &played.live,
	};
	struct playback *playback = playback_new(&options);

	played.end = playback_run(playback, fd);
	played.events = playback_counts(playback).events;
	played.dropped = playback_counts(playback).dropped;
	playback_free(playback);
	stacks_free(options.stacks);
	families_free(options.families);
	return played;
}

static struct played_file play_until(int fd, uint64_t until)
{
	return play_observed(fd, until, NULL);
}

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	ck_assert_int_eq(write_bytes(fd, bytes, size), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* So little that it needs no reader yet. */
static int pipe_of(const void *bytes, size_t size)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_lt(size, 4096);
	ck_assert_int_eq(write_bytes(ends[1], bytes, size), 0);
	close(ends[1]);
	return ends[0];
}

static struct played_file play(const void *bytes, size_t size)
{
	return play_until(file_of(bytes, size), 0);
}

/* Of so many events: acquired less given back. */
static unsigned live_after(unsigned count)
{
	return count - 2 * (count / 4);
}

START_TEST(test_cuts)
{
	struct strbuf file = { 0 };
	unsigned counts[PARTS + 1];
	size_t ends[PARTS + 1];

	make_file(&file, ends, counts);
	for (unsigned i = 0; i < 1000; i++) {
		const size_t size = 40 + random_number() % (file.length - 39);
		struct played_file played = play(file.text, size);
		size_t last = 40;
		unsigned count = 0;

		for (unsigned k = 0; k <= PARTS && ends[k] <= size; k++) {
			last = ends[k];
			count = counts[k];
		}
		ck_assert_int_eq(played.end.error, -ENODATA);
		ck_assert_uint_eq(played.end.offset, last);
		ck_assert_uint_eq(played.events, count);
		ck_assert_uint_eq(played.live, live_after(count));
	}
	strbuf_fini(&file);
}
END_TEST

/* ---- a disk that is too slow ---- */

static const char malloc_text[] = "family malloc counts bytes\n"
				  "acquire malloc(size) = handle\n"
				  "acquire calloc(count, size) = handle\n"
				  "resize realloc(old, size) = handle\n"
				  "release free(handle)\n";

#define SLOW_CALLS 300000

/* Sizes by chance: no block of them goes into a pipe. */
static int slow_calls(void)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const int fd = memfd_create("calls", MFD_CLOEXEC);

	for (unsigned i = 1; i <= SLOW_CALLS; i++)
		strbuf_printf(&text, "m %u %u\n", i,
			      (unsigned)(random_number() & 0xffffff));
	ck_assert_int_eq(write_bytes(fd, text.text, text.length), 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

struct slow_disk {
	char path[64];
	int fd;
	pthread_t thread;
	struct strbuf file;
	struct recorder *recorder;
	struct sink_file_counts counts;
};

static void slow_told(void *context, const char *path UNUSED,
		      const struct sink_file_counts *counts, int err)
{
	struct slow_disk *disk = context;

	ck_assert_int_eq(err, 0);
	disk->counts = *counts;
}

static void slow_ended(void *context, const struct watched *process)
{
	const struct slow_disk *disk = context;

	recorder_ended(disk->recorder, process, &(struct heap_cost){ 0 });
}

static void *slow_take(void *context)
{
	struct slow_disk *disk = context;
	char bytes[4096];
	ssize_t n;

	while ((n = read(disk->fd, bytes, sizeof(bytes))) > 0)
		strbuf_add(&disk->file, bytes, n);
	return NULL;
}

/* Nothing is taken as long as there is something to record; all of it then. */
static void slow_record(struct slow_disk *disk, const struct families *families)
{
	struct stacks *stacks = stacks_new();
	struct namer *namer = namer_new(&(struct namer_options){ 0 });
	struct text_log log = { 0 };
	const struct recorder_options options = {
		.path = disk->path,
		.stacks = stacks,
		.families = families,
		.namer = namer,
		.policy = { .drops = true, .room = 1 },
		.told = slow_told,
		.context = disk,
	};

	ck_assert_int_eq(recorder_new(&options, &disk->recorder), 0);
	ck_assert_int_eq(text_recording_play(slow_calls(), families, stacks,
					     recorder_observer(disk->recorder),
					     slow_ended, disk, &log),
			 0);
	ck_assert_int_eq(fcntl(disk->fd, F_SETFL, 0), 0);
	ck_assert_int_eq(pthread_create(&disk->thread, NULL, slow_take, disk),
			 0);
	sinks_free(recorder_sink(disk->recorder));
	ck_assert_int_eq(pthread_join(disk->thread, NULL), 0);
	text_log_fini(&log);
	namer_free(namer);
	stacks_free(stacks);
}

/* The file tells of each event that it hasn't got: what tells of blocks that were
   dropped may be in one that is dropped itself. */
START_TEST(test_dropped)
{
	struct families *families = families_new();
	struct slow_disk disk = { .fd = -1 };
	struct played_file played;

	families_parse(families, "test", malloc_text, strlen(malloc_text));
	snprintf(disk.path, sizeof(disk.path), "/tmp/calltrap-unit.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(disk.path));
	strcat(disk.path, "/disk");
	ck_assert_int_eq(mkfifo(disk.path, 0600), 0);
	disk.fd = open(disk.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_ge(disk.fd, 0);
	slow_record(&disk, families);
	played = play(disk.file.text, disk.file.length);
	ck_assert_int_eq(played.end.error, 0);
	ck_assert_uint_gt(disk.counts.dropped, 2 * 65536);
	ck_assert_uint_eq(played.dropped, disk.counts.dropped);
	unlink(disk.path);
	*strrchr(disk.path, '/') = 0;
	rmdir(disk.path);
	close(disk.fd);
	strbuf_fini(&disk.file);
	families_free(families);
}
END_TEST

static void add_dropped(struct event_block *events, uint64_t count,
			uint64_t since, uint64_t until)
{
	CLEANUP(strbuf_fini) struct strbuf body = { 0 };

	put_varint(&body, count);
	put_varint(&body, since);
	put_varint(&body, until);
	event_block_add(events, &(struct recorded_event){
					.kind = RECORDED_NOTE,
					.time = until,
					.note = NOTE_DROPPED,
					.body = (const uint8_t *)body.text,
					.body_size = body.length,
				});
}

/* Where a part of the time is asked for, what was dropped in it may be told of
   behind its end; what was dropped behind that isn't missing. */
START_TEST(test_dropped_at_the_end)
{
	struct event_block events = { 0 };
	struct strbuf file = { 0 }, text = { 0 };
	const struct recorded_event first = event_of(0), second = event_of(1);
	struct block_head head = { .kind = BLOCK_EVENTS };
	struct played_file played;

	recording_head_add(&file, &(struct recording_head){ .start = 1 });
	put_dictionary(&text);
	add_block(&file, BLOCK_DICTIONARY, 0, 7, &text);
	event_block_add(&events, &first);
	event_block_add(&events, &second);
	event_block_take(&events, &text);
	add_block(&file, BLOCK_EVENTS, 1, 2, &text);
	add_dropped(&events, 77, 1500, 5000);
	add_dropped(&events, 5, 6000, 7000);
	event_block_take(&events, &text);
	head.sequence = 2;
	head.count = 2;
	head.first_time = 5000;
	head.last_time = 7000;
	block_add(&file, &head, text.text, text.length);
	played = play_until(file_of(file.text, file.length), 2000);
	ck_assert_uint_eq(played.events, 2);
	ck_assert_uint_eq(played.dropped, 77);
	played = play_until(file_of(file.text, file.length), 1200);
	ck_assert_uint_eq(played.events, 2);
	ck_assert_uint_eq(played.dropped, 0);
	played = play(file.text, file.length);
	ck_assert_uint_eq(played.dropped, 82);
	event_block_fini(&events);
	strbuf_fini(&file);
	strbuf_fini(&text);
}
END_TEST

/* Nothing of a block that was damaged is played, nor what comes after it. */
START_TEST(test_damage)
{
	struct strbuf file = { 0 };
	unsigned counts[PARTS + 1];
	size_t ends[PARTS + 1];

	make_file(&file, ends, counts);
	for (unsigned i = 0; i < 1000; i++) {
		const size_t at = 40 + random_number() % (file.length - 40);
		const char bit = 1 << random_number() % 8;
		struct played_file played;
		unsigned k = 0;

		while (ends[k] <= at)
			k++;
		file.text[at] ^= bit;
		played = play(file.text, file.length);
		file.text[at] ^= bit;
		ck_assert_int_eq(played.end.error, -EBADMSG);
		ck_assert_ptr_nonnull(played.end.problem);
		ck_assert_uint_eq(played.end.offset, k ? ends[k - 1] : 40);
		ck_assert_uint_eq(played.events, k ? counts[k - 1] : 0);
	}
	strbuf_fini(&file);
}
END_TEST

/* ---- families that are told of later ---- */

static void put_family(struct strbuf *out, unsigned number, const char *name,
		       unsigned flags, unsigned granularity)
{
	struct strbuf rest = { 0 };

	put_varint(&rest, number);
	put_text(&rest, name);
	put_text(&rest, "bytes");
	put_varint(&rest, flags);
	put_varint(&rest, granularity);
	put_entry(out, ENTRY_FAMILY, &rest);
	strbuf_fini(&rest);
}

/* A block of one event, of that site. */
static void add_event(struct strbuf *file, uint32_t sequence, unsigned i,
		      uint32_t site)
{
	struct event_block events = { 0 };
	struct recorded_event event = event_of(i);
	struct strbuf text = { 0 };

	event.site = site;
	event_block_add(&events, &event);
	event_block_take(&events, &text);
	add_block(file, BLOCK_EVENTS, sequence, 1, &text);
	event_block_fini(&events);
	strbuf_fini(&text);
}

static void begin_file(struct strbuf *file)
{
	struct strbuf text = { 0 };

	recording_head_add(file, &(struct recording_head){ .start = 1 });
	put_dictionary(&text);
	add_block(file, BLOCK_DICTIONARY, 0, 7, &text);
	add_event(file, 1, 0, 1);
	strbuf_fini(&text);
}

/* malloc's family of the file above has no flags. */
static void check_told_again(unsigned flags, unsigned granularity, int error)
{
	struct strbuf file = { 0 }, text = { 0 };
	size_t place;

	begin_file(&file);
	place = file.length;
	put_family(&text, 1, "malloc", flags, granularity);
	add_block(&file, BLOCK_DICTIONARY, 2, 1, &text);
	add_event(&file, 3, 3, 2);
	for (unsigned i = 0; i < 2; i++) {
		int fd = i ? pipe_of(file.text, file.length) :
			     file_of(file.text, file.length);
		struct played_file played = play_until(fd, 0);

		ck_assert_int_eq(played.end.error, error);
		ck_assert_uint_eq(played.events, error == -EBADMSG ? 1 : 2);
		if (error == -EBADMSG)
			ck_assert_uint_eq(played.end.offset, place);
	}
	strbuf_fini(&file);
	strbuf_fini(&text);
}

/* Blocks go on to be kept as they were. */
START_TEST(test_told_again)
{
	check_told_again(FAMILY_MISSING, 0, -ENODATA);
	check_told_again(FAMILY_HAS_SIZE, 0, -EBADMSG);
	check_told_again(FAMILY_NULL_IS_NOTHING, 0, -EBADMSG);
	check_told_again(FAMILY_SHARED, 0, -EBADMSG);
	check_told_again(FAMILY_PARTLY, 0, -EBADMSG);
	check_told_again(0, 4096, -EBADMSG);
}
END_TEST

/* Its second half tells of another family, and of what that acquires. */
static void make_late_file(struct strbuf *file, size_t *place_ret)
{
	struct strbuf text = { 0 }, rest = { 0 };

	begin_file(file);
	put_family(&text, 2, "late", 0, 0);
	put_varint(&rest, 3);
	put_varint(&rest, 2);
	put_varint(&rest, FAMILY_ACQUIRE);
	put_varint(&rest, FUNCTION_HAS_HANDLE);
	put_text(&rest, "acquire");
	put_text(&rest, "");
	put_entry(&text, ENTRY_FUNCTION, &rest);
	strbuf_clear(&rest);
	put_varint(&rest, 3);
	put_varint(&rest, 3);
	put_varint(&rest, 0);
	put_entry(&text, ENTRY_SITE, &rest);
	add_block(file, BLOCK_DICTIONARY, 2, 3, &text);
	*place_ret = file->length;
	add_event(file, 3, 1, 3);
	strbuf_fini(&text);
	strbuf_fini(&rest);
}

/* Of a file the dictionary is known beforehand. The books of a process that were
   begun without the family have no place for it. */
START_TEST(test_told_late)
{
	struct strbuf file = { 0 };
	struct played_file played;
	size_t place;

	make_late_file(&file, &place);
	played = play(file.text, file.length);
	ck_assert_int_eq(played.end.error, -ENODATA);
	ck_assert_uint_eq(played.events, 2);
	played = play_until(pipe_of(file.text, file.length), 0);
	ck_assert_int_eq(played.end.error, -EBADMSG);
	ck_assert_ptr_nonnull(played.end.problem);
	ck_assert_uint_eq(played.end.offset, place);
	strbuf_fini(&file);
}
END_TEST

/* ---- dictionaries that are read ahead ---- */

/* The names of a frame that there is none of; nothing else needs it. */
START_TEST(test_bad_dictionary)
{
	struct strbuf file = { 0 }, text = { 0 }, rest = { 0 };
	struct played_file played;
	size_t place;

	begin_file(&file);
	place = file.length;
	put_varint(&rest, 5);
	put_entry(&text, ENTRY_NAMES, &rest);
	add_block(&file, BLOCK_DICTIONARY, 2, 1, &text);
	add_event(&file, 3, 1, 1);
	played = play(file.text, file.length);
	ck_assert_int_eq(played.end.error, -EBADMSG);
	ck_assert_uint_eq(played.end.offset, place);
	ck_assert_uint_eq(played.events, 1);
	strbuf_fini(&file);
	strbuf_fini(&text);
	strbuf_fini(&rest);
}
END_TEST

/* Something is added to a file while its first event is played. */
struct growing_file {
	struct act_observer observer;
	int fd;
	size_t size;
	struct strbuf rest; /* what is added */
};

static void grow(struct act_observer *observer,
		 const struct observed_act *act UNUSED)
{
	struct growing_file *file = (struct growing_file *)observer;

	if (!file->rest.length)
		return;
	ck_assert_int_eq(pwrite(file->fd, file->rest.text, file->rest.length,
				file->size),
			 file->rest.length);
	strbuf_clear(&file->rest);
}

static uint64_t take_nothing(struct act_observer *observer UNUSED,
			     const struct observed_act *act UNUSED)
{
	return 0;
}

#define MANY 20000 /* more than are decoded before the first one is played */

static void make_growing_file(struct strbuf *file, struct strbuf *rest)
{
	struct event_block events = { 0 };
	struct strbuf text = { 0 }, site = { 0 };

	recording_head_add(file, &(struct recording_head){ .start = 1 });
	put_dictionary(&text);
	add_block(file, BLOCK_DICTIONARY, 0, 7, &text);
	for (unsigned i = 0; i < MANY; i++) {
		struct recorded_event event = event_of(i);

		event_block_add(&events, &event);
	}
	event_block_take(&events, &text);
	add_block(file, BLOCK_EVENTS, 1, MANY, &text);
	put_varint(&site, 3);
	put_varint(&site, 1);
	put_varint(&site, 0);
	put_entry(&text, ENTRY_SITE, &site);
	add_block(rest, BLOCK_DICTIONARY, 2, 1, &text);
	add_event(rest, 3, MANY, 3);
	event_block_fini(&events);
	strbuf_fini(&text);
	strbuf_fini(&site);
}

/* Its dictionary was read to the end that it had then. */
START_TEST(test_growing)
{
	static const struct act_observer_ops ops = { .taken = take_nothing,
						     .ended = grow };
	struct growing_file growing = { .observer = { .ops = &ops } };
	struct strbuf file = { 0 };
	struct played_file played;
	int fd;

	make_growing_file(&file, &growing.rest);
	fd = file_of(file.text, file.length);
	growing.fd = dup(fd);
	growing.size = file.length;
	played = play_observed(fd, 0, &growing.observer);
	ck_assert_int_eq(played.end.error, -ENODATA);
	ck_assert_uint_eq(played.events, MANY + 1);
	close(growing.fd);
	strbuf_fini(&file);
	strbuf_fini(&growing.rest);
}
END_TEST

START_TEST(test_notes)
{
	struct heap_cost cost = { .stopped_ns = 5 }, found;
	struct strbuf out = { 0 };
	struct cursor in;

	cost.cost.stops = 9;
	cost.cost.thread_count = 1;
	cost.cost.threads[0].tid = 77;
	strcpy(cost.cost.threads[0].name, "worker");
	cost.cost.threads[0].still_ns = UINT64_MAX;
	cost.stacks.cut = 3;
	cost_note_put(&out, &cost);
	in = cursor_of(out.text, out.length);
	cost_note_take(&in, &found);
	ck_assert(!in.bad && cursor_at_end(&in));
	ck_assert(!memcmp(&found, &cost, sizeof(cost)));
	strbuf_fini(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording");
	TCase *tests = tcase_create("recording");

	tcase_add_test(tests, test_numbers);
	tcase_add_test(tests, test_bad_numbers);
	tcase_add_test(tests, test_events);
	tcase_add_test(tests, test_block);
	tcase_add_test(tests, test_growth);
	tcase_add_test(tests, test_columns);
	tcase_add_test(tests, test_cuts);
	tcase_add_test(tests, test_damage);
	tcase_add_test(tests, test_dropped);
	tcase_add_test(tests, test_dropped_at_the_end);
	tcase_add_test(tests, test_told_again);
	tcase_add_test(tests, test_told_late);
	tcase_add_test(tests, test_bad_dictionary);
	tcase_add_test(tests, test_growing);
	tcase_add_test(tests, test_notes);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
