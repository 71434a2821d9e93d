/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/shared_private.h"
#include "agent/ticks.h"
#include "base/clock.h"
#include "sysdeps/x86_64/agent/marks.h"

#define PAGE 4096u

/* How many blocks nobody has taken there should be. */
#define SPARE_BLOCKS 4

static uint64_t whole_pages(uint64_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

uint64_t shared_blocks_offset(void)
{
	return whole_pages(sizeof(struct agent_shared));
}

uint64_t shared_block_size(void)
{
	_Static_assert(AGENT_STUBS * sizeof(struct agent_histogram) <=
			       SHARED_RING_WORDS * sizeof(uint64_t),
		       "they have one place");
	return whole_pages(sizeof(struct agent_block) +
			   SHARED_RING_WORDS * sizeof(uint64_t));
}

/* The first one is for those who have none. */
#define FIRST_BLOCKS (1 + SPARE_BLOCKS)

uint64_t shared_least(void)
{
	return shared_blocks_offset() + FIRST_BLOCKS * shared_block_size();
}

uint64_t shared_size(void)
{
	return shared_blocks_offset() + SHARED_BLOCKS * shared_block_size();
}

/* The program may have made its file smaller: then every access would kill. */
static bool has_its_size(int fd)
{
	struct stat file;

	return !fstat(fd, &file) && (uint64_t)file.st_size == shared_size();
}

/* From now on nobody can. */
static int keep_size(int fd)
{
	int seals;

	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
		/* -1: no memfd, whatever its name. */
		seals = fcntl(fd, F_GET_SEALS);
		if (seals < 0 || !(seals & F_SEAL_SHRINK))
			return -EPERM;
	}
	return has_its_size(fd) ? 0 : -EBADF;
}

int shared_open(struct shared *shared, int fd, uint64_t mode)
{
	void *memory;
	int err = keep_size(fd);

	*shared = (struct shared){
		.fd = fd,
		.mode = mode,
		.most = SHARED_BLOCKS,
	};
	if (err) {
		close(fd);
		return err;
	}
	memory = mmap(NULL, shared_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	if (memory == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	shared->memory = memory;
	return 0;
}

void shared_close(struct shared *shared)
{
	unsigned block;

	if (!shared->memory)
		return;
	for (block = 0; block < shared->blocks; block++)
		ring_fini(&shared->rings[block]);
	munmap(shared->memory, shared_size());
	close(shared->fd);
	*shared = (struct shared){ .fd = -1 };
}

/* ---- blocks ---- */

static int allocate(const struct shared *shared, uint64_t offset, uint64_t size)
{
	const uint64_t from = offset / PAGE * PAGE;

	return fallocate(shared->fd, 0, (off_t)from,
			 (off_t)(offset + size - from)) ?
		       -errno :
		       0;
}

static int allocate_block(const struct shared *shared, unsigned block,
			  unsigned stubs)
{
	const uint64_t at = block_offset(block);
	int err = 0;

	err = allocate(shared, at,
		       offsetof(struct agent_block, counters) +
			       stubs * sizeof(struct agent_counter));
	if (!err && shared->mode & AGENT_DURATIONS)
		err = allocate(shared, at + sizeof(struct agent_block),
			       stubs * sizeof(struct agent_histogram));
	if (!err && shared->mode & (AGENT_STACKS | AGENT_WATCHES) &&
	    !(shared->mode & AGENT_SAMPLES) && block)
		err = allocate(shared, at + offsetof(struct agent_block, walks),
			       offsetof(struct agent_block, ring) -
				       offsetof(struct agent_block, walks));
	if (!err && shared->mode & (AGENT_RECORDS | AGENT_WATCHES) && block)
		err = allocate(shared, at + sizeof(struct agent_block),
			       SHARED_RING_WORDS * sizeof(uint64_t));
	return err;
}

static int add_block(struct shared *shared)
{
	const unsigned block = shared->blocks;
	int err = allocate_block(shared, block, shared->stubs);

	if (err)
		return err;
	shared->rings[block] = (struct ring){
		.words = block_at(shared, block)->ring,
		.size = SHARED_RING_WORDS,
		.watches = shared->mode & AGENT_WATCHES,
		.entries = shared->mode & AGENT_RECORDS,
	};
	shared->blocks++;
	return 0;
}

static bool has_room(const struct shared *shared)
{
	return shared->blocks < FIRST_BLOCKS || !shared->has_room ||
	       shared->has_room(shared->context, shared_block_size());
}

/* One that nobody has; 0: there is none. */
static int next_block(struct shared *shared, unsigned *ret)
{
	int err = 0;

	*ret = 0;
	if (shared->idle_count) {
		*ret = shared->idle[--shared->idle_count];
		shared->is_idle[*ret] = false;
	} else if (shared->blocks < shared->most && !has_room(shared)) {
		shared->most = shared->blocks;
	} else if (shared->blocks < shared->most) {
		err = add_block(shared);
		if (!err)
			*ret = shared->blocks - 1;
	}
	return err;
}

static int offer_blocks(struct shared *shared)
{
	uint32_t *offers = shared->memory->offers;
	unsigned i, block = 1;
	int err = 0;

	for (i = 0; i < SPARE_BLOCKS && block && !err; i++) {
		if (__atomic_load_n(&offers[i], __ATOMIC_RELAXED))
			continue;
		err = next_block(shared, &block);
		if (!err)
			__atomic_store_n(&offers[i], block, __ATOMIC_RELEASE);
	}
	return err;
}

static int allocate_first(struct shared *shared)
{
	int err = allocate(shared, 0, offsetof(struct agent_shared, marks));

	if (err)
		return err;
	__atomic_store_n(&shared->memory->dice,
			 ticks_now() ^ (uint64_t)getpid() << 40,
			 __ATOMIC_RELAXED);
	return add_block(shared);
}

int shared_prepare(struct shared *shared, unsigned stubs)
{
	unsigned block;
	int err = 0;

	if (!shared->blocks) {
		shared->stubs = stubs;
		err = allocate_first(shared);
	}
	for (block = 0; !err && block < shared->blocks; block++)
		err = allocate_block(shared, block, stubs);
	if (err)
		return err;
	shared->stubs = stubs;
	return offer_blocks(shared);
}

void shared_live(struct shared *shared)
{
	__atomic_store_n(&shared->memory->beat, ticks_now(), __ATOMIC_RELEASE);
}

bool shared_is_used_up(const struct shared *shared)
{
	return shared->stubs && !shared->idle_count &&
	       shared->blocks >= shared->most;
}

void shared_beat(struct shared *shared)
{
	bool more;

	shared_live(shared);
	if (!shared->stubs)
		return;
	more = !offer_blocks(shared) && !shared_is_used_up(shared);
	__atomic_store_n(&shared->memory->more, more, __ATOMIC_RELAXED);
}

/* ---- counters ---- */

void shared_counter(const struct shared *shared, unsigned stub,
		    struct agent_counter *ret)
{
	unsigned block;

	*ret = (struct agent_counter){ 0 };
	for (block = 0; block < shared->blocks; block++) {
		struct agent_counter own =
			block_at(shared, block)->counters[stub];

		ret->calls += own.calls;
		ret->failed += own.failed;
		ret->ticks += own.ticks;
		if (own.longest > ret->longest)
			ret->longest = own.longest;
	}
}

/* Who counts there at the same time draws once more, or goes on with the old one. */
void shared_set_tally_rate(struct shared *shared, unsigned stub, unsigned rate)
{
	unsigned block;

	if (!shared->blocks)
		return;
	__atomic_store_n(&block_at(shared, 0)->counters[stub].rate, rate,
			 __ATOMIC_RELAXED);
	for (block = 1; block < shared->blocks; block++)
		__atomic_store_n(&block_at(shared, block)->counters[stub].next,
				 0, __ATOMIC_RELAXED);
}

void shared_histogram(const struct shared *shared, unsigned stub,
		      uint64_t ret[AGENT_OCTAVES][AGENT_PARTS])
{
	unsigned block, octave, part;

	memset(ret, 0, AGENT_OCTAVES * sizeof(*ret));
	for (block = 0; block < shared->blocks; block++) {
		const struct agent_histogram *own =
			&agent_histograms(block_at(shared, block))[stub];

		for (octave = 0; octave < AGENT_OCTAVES; octave++)
			for (part = 0; part < AGENT_PARTS; part++)
				ret[octave][part] += own->counts[octave][part];
	}
}

/* ---- rings ---- */

/* The block of a thread, which no other thread claims; 0: it has none. */
static unsigned block_of(struct shared *shared, unsigned entry)
{
	const struct agent_thread *thread = &shared->memory->threads[entry];
	const uint32_t block =
		__atomic_load_n(&thread->block, __ATOMIC_ACQUIRE);

	if (!block || block >= shared->blocks)
		return 0;
	if (!shared->readers[block])
		shared->readers[block] = entry + 1;
	return shared->readers[block] == entry + 1 ? block : 0;
}

/*
 * What the thread has told once it names from then on, also where we have passed
 * it over: so all are told once more.
 */
static void ask_for_walks(struct shared *shared, struct ring *ring,
			  uint64_t now)
{
	ring->misses_walks = false;
	shared->asked_for_walks = now;
	__atomic_fetch_add(&shared->memory->rows_era, 2, __ATOMIC_SEQ_CST);
}

/* What the program has written to a ring may miss others all the time. */
static void look_for_missed(struct shared *shared, unsigned block, uint64_t now)
{
	struct ring *ring = &shared->rings[block];

	if (ring->misses_walks && now - shared->asked_for_walks > NS_PER_SECOND)
		ask_for_walks(shared, ring, now);
}

/* How long a record may be on its way before it is given up. */
#define STUCK_TIME NS_PER_SECOND

/* Until then a thread that is told of it, or has finished just before, has done so. */
#define SETTLE_TIME (NS_PER_SECOND / 20)

/* Its thread finds it there when it goes on, however late. */
static void tell_given_up(struct shared *shared, unsigned block)
{
	struct agent_block *own = block_at(shared, block);
	const struct ring *ring = &shared->rings[block];
	const struct agent_gap *gap = &ring->withheld;

	/* What has begun isn't the first there: it wasn't counted. */
	own->given_up[shared->given_ups[block]++ % AGENT_GIVEN_UP] =
		(struct agent_gap){ gap->from - ring->withheld_begun, gap->to };
	__atomic_store_n(&own->given_up_to, gap->to, __ATOMIC_SEQ_CST);
}

static void give_up(struct shared *shared, unsigned block, uint64_t head,
		    uint64_t now)
{
	struct ring *ring = &shared->rings[block];

	if (ring->withheld.to) {
		ring_pass_over(ring, head);
		shared->stuck[block] = 0;
		return;
	}
	/* First: its thread may finish it at any moment. */
	ask_for_walks(shared, ring, now);
	ring_withhold(ring, head);
	if (!ring->withheld.to)
		return;
	tell_given_up(shared, block);
	shared->stuck[block] = now - STUCK_TIME + SETTLE_TIME;
}

static void look_for_stuck(struct shared *shared, unsigned block, uint64_t head,
			   uint64_t now)
{
	struct ring *ring = &shared->rings[block];

	if (ring->position == head) {
		shared->stuck[block] = 0;
	} else if (!shared->stuck[block]) {
		shared->stuck[block] = now;
	} else if (now - shared->stuck[block] > STUCK_TIME ||
		   (!ring->withheld.to && ring_is_left(ring, head))) {
		give_up(shared, block, head, now);
	}
}

/* What was read, from before on, may be written to again. */
static void give_room(struct shared *shared, unsigned block, uint64_t before,
		      uint64_t head, uint64_t now)
{
	const struct ring *ring = &shared->rings[block];

	if (ring->position != before)
		shared->stuck[block] = 0;
	look_for_stuck(shared, block, head, now);
	look_for_missed(shared, block, now);
	__atomic_store_n(&block_at(shared, block)->tail, ring->position,
			 __ATOMIC_RELEASE);
}

/* Who waits for room gets it before all is read, and sees that we live. */
#define PART_WORDS (SHARED_RING_WORDS / 16)

static void give_part(struct shared *shared, const struct ring *ring,
		      struct agent_block *own)
{
	if (ring->position - own->tail < PART_WORDS)
		return;
	__atomic_store_n(&own->tail, ring->position, __ATOMIC_RELEASE);
	shared_live(shared);
}

/* Who is told of what is read. */
struct audience {
	shared_visitor *visit;
	shared_watcher *enter;
	void *context;
	uint64_t latest; /* of what was read */
};

static bool read_record(const struct shared *shared, struct ring *ring,
			uint64_t head, struct audience *audience)
{
	uint64_t pieces[AGENT_PIECE_WORDS];
	struct agent_record record;

	if (!ring_read(ring, head, &record, pieces))
		return false;
	record.block = (unsigned)(ring - shared->rings);
	audience->latest = record.ended;
	if (record.stub < shared->stubs)
		audience->visit(audience->context, &record);
	return true;
}

static bool read_entry(const struct shared *shared, struct ring *ring,
		       uint64_t head, struct audience *audience)
{
	struct agent_watched entry;

	entry.block = (unsigned)(ring - shared->rings);
	if (!ring_read_entry(ring, head, &entry))
		return false;
	audience->latest = entry.time;
	if (entry.stub < shared->stubs)
		audience->enter(audience->context, &entry);
	return true;
}

/* A handler of signals runs above the one that isn't finished, or has gone on for long. */
static void read_ahead(const struct shared *shared, struct ring *ring,
		       uint64_t head, struct audience *audience)
{
	const uint64_t position = ring->position;

	while (ring_find(ring, head)) {
		const uint64_t at = ring->position;

		if (!read_record(shared, ring, head, audience) &&
		    !read_entry(shared, ring, head, audience))
			break;
		ring_mark(ring, at);
	}
	ring->position = position;
}

static void read_thread(struct shared *shared, unsigned entry, uint64_t now,
			struct audience *audience)
{
	const unsigned block = block_of(shared, entry);
	struct agent_block *own = block_at(shared, block);
	struct ring *ring = &shared->rings[block];
	uint64_t head, before = ring->position;

	if (!block)
		return;
	/* What is written meanwhile is left for the next time. */
	head = __atomic_load_n(&own->head, __ATOMIC_ACQUIRE);
	while (read_record(shared, ring, head, audience) ||
	       read_entry(shared, ring, head, audience))
		give_part(shared, ring, own);
	if (ring->position != head)
		read_ahead(shared, ring, head, audience);
	give_room(shared, block, before, head, now);
}

void shared_read(struct shared *shared, uint64_t now, shared_visitor *visit,
		 shared_watcher *enter, void *context)
{
	struct audience audience = { visit, enter, context, 0 };
	unsigned entry;

	for (entry = 0; entry < AGENT_THREADS; entry++)
		if (shared->memory->threads[entry].pointer)
			read_thread(shared, entry, now, &audience);
}

static uint64_t head_of(const struct shared *shared, unsigned block)
{
	return __atomic_load_n(&block_at(shared, block)->head,
			       __ATOMIC_ACQUIRE);
}

/* What is read at once stays in the processor's caches until it is told. */
#define READ_WORDS 2048

/* Which block was written to since the last reading; 0: none; … */
#define SEVERAL SHARED_BLOCKS

static unsigned block_written(const struct shared *shared)
{
	unsigned block, found = 0;

	for (block = 1; block < shared->blocks && found != SEVERAL; block++)
		if (head_of(shared, block) != shared->goals[block])
			found = found ? SEVERAL : block;
	return found;
}

/*
 * Somebody may have seen that nobody was alone, and his record be on its way to where we
 * can see it: by then it has arrived.
 */
#define GRANT_TICKS 65536

static void grant(struct shared *shared)
{
	const uint64_t sole = ++shared->soles << 32 | shared->sole_block;
	const uint64_t since = ticks_now();

	__atomic_store_n(&shared->memory->sole, sole, __ATOMIC_SEQ_CST);
	while (ticks_now() - since < GRANT_TICKS)
		__builtin_ia32_pause();
}

/* Alone for that long; who isn't takes it away. */
#define SOLE_AFTER (10 * 1000 * 1000)

void shared_find_sole(struct shared *shared, uint64_t now, bool may_lag)
{
	const unsigned block = block_written(shared);
	const uint64_t sole =
		__atomic_load_n(&shared->memory->sole, __ATOMIC_ACQUIRE);

	if (block && block != shared->sole_block) {
		shared->sole_block = block != SEVERAL ? block : 0;
		shared->sole_since = now;
	}
	if (!may_lag && sole)
		__atomic_store_n(&shared->memory->sole, 0, __ATOMIC_SEQ_CST);
	else if (may_lag && !sole && shared->sole_block &&
		 now - shared->sole_since >= SOLE_AFTER)
		grant(shared);
}

void shared_begin_reading(struct shared *shared)
{
	unsigned block;

	for (block = 1; block < shared->blocks; block++) {
		const uint64_t position = shared->rings[block].position;
		const uint64_t head = head_of(shared, block);

		shared->goals[block] = head;
		shared->reached[block] = 0;
		/* Or another thread has it by now. */
		shared->goes_on[block] = (int64_t)(head - position) > 0;
	}
	shared->goals_set = ticks_now();
}

/* What the program has written itself may be of any time. */
static uint64_t time_reached(const struct shared *shared, uint64_t time)
{
	return time < shared->goals_set ? time : shared->goals_set;
}

/* Returns whether there is more. */
static bool read_part(struct shared *shared, unsigned block, uint64_t now,
		      struct audience *audience)
{
	struct ring *ring = &shared->rings[block];
	const uint64_t before = ring->position, goal = shared->goals[block];
	bool more;

	audience->latest = 0;
	while (ring->position - before < READ_WORDS &&
	       (read_record(shared, ring, goal, audience) ||
		read_entry(shared, ring, goal, audience)))
		;
	shared->reached[block] = time_reached(shared, audience->latest);
	more = ring->position - before >= READ_WORDS && ring->position != goal;
	if (!more && ring->position != goal)
		read_ahead(shared, ring, goal, audience);
	give_room(shared, block, before, goal, now);
	return more;
}

bool shared_read_part(struct shared *shared, uint64_t now, uint64_t told,
		      shared_visitor *visit, shared_watcher *enter,
		      void *context, uint64_t *until_ret)
{
	struct audience audience = { visit, enter, context, 0 };
	bool more = false;
	unsigned block;

	for (block = 1; block < shared->blocks; block++) {
		bool *goes_on = &shared->goes_on[block];

		if (*goes_on && shared->reached[block] <= told)
			*goes_on = read_part(shared, block, now, &audience);
		if (*goes_on && shared->reached[block] < *until_ret)
			*until_ret = shared->reached[block];
		more |= *goes_on;
	}
	return more;
}

bool shared_read_watched(struct shared *shared, unsigned block, uint64_t now,
			 bool joins, shared_part_watcher *visit, void *context)
{
	struct ring *ring = &shared->rings[block];
	const uint64_t before = ring->position, goal = shared->goals[block];
	struct agent_watched watched;
	bool ends = false;

	/* Or another thread has it by now. */
	if ((int64_t)(goal - before) <= 0)
		return false;
	watched.block = block;
	while (!ends && ring_read_watched(ring, goal, joins, &watched))
		ends = (watched.stub >= shared->stubs ||
			visit(context, &watched)) &&
		       ring->position - before >= READ_WORDS;
	if (!ends) {
		give_room(shared, block, before, goal, now);
		return false;
	}
	shared->stuck[block] = 0;
	__atomic_store_n(&block_at(shared, block)->tail, ring->position,
			 __ATOMIC_RELEASE);
	return ring->position != goal;
}

/* It waits until we make room, and so does nothing else meanwhile. */
static bool has_no_room(const struct agent_block *block)
{
	const uint64_t head = __atomic_load_n(&block->head, __ATOMIC_ACQUIRE);
	const uint64_t tail = __atomic_load_n(&block->tail, __ATOMIC_RELAXED);

	return head + AGENT_BOTH_WORDS + AGENT_RING_SLACK - tail >
	       SHARED_RING_WORDS;
}

void shared_visit_waiting(const struct shared *shared, shared_waiter *visit,
			  void *context)
{
	unsigned block;

	for (block = 1; block < shared->blocks; block++) {
		const struct agent_block *own = block_at(shared, block);
		const uint64_t tid =
			__atomic_load_n(&own->waiting, __ATOMIC_ACQUIRE);

		if (tid && tid <= INT32_MAX && has_no_room(own))
			visit(context, (pid_t)tid);
	}
}

/* ---- marks ---- */

int shared_begin_marks(struct shared *shared)
{
	return allocate(shared, offsetof(struct agent_shared, marks),
			sizeof(shared->memory->marks));
}

bool shared_mark(struct shared *shared, taddr_t address)
{
	return agent_add_mark(&shared->memory->marks, address);
}

void shared_unmark(struct shared *shared, taddr_t address)
{
	if (address)
		agent_remove_mark(&shared->memory->marks, address);
}

uint64_t shared_unmarked(const struct shared *shared)
{
	return shared->memory->unmarked;
}

/* ---- threads that end ---- */

/* What is behind a record that never became whole isn't read, walks that were told
   there neither: who has the block next would name them. */
static void lose_rest(struct ring *ring, struct agent_block *block,
		      uint64_t head)
{
	unsigned i;

	ring_give_up(ring, head);
	for (i = 0; i < AGENT_KEPT_WALKS; i++)
		__atomic_store_n(&block->walks[i].number, 0, __ATOMIC_RELAXED);
}

static void take_back(struct shared *shared, unsigned block)
{
	struct agent_block *own = block_at(shared, block);
	struct ring *ring = &shared->rings[block];
	const uint64_t head = __atomic_load_n(&own->head, __ATOMIC_ACQUIRE);

	if (shared->is_idle[block])
		return; /* the program has written its number */
	if (ring->position != head)
		lose_rest(ring, own, head);
	ring->withheld = (struct agent_gap){ 0, 0 };
	shared->stuck[block] = 0;
	shared->readers[block] = 0;
	__atomic_store_n(&own->waiting, 0, __ATOMIC_RELAXED);
	/* It may be among what wasn't read, or somebody was jumped out of who had it. */
	__atomic_store_n(&own->told.name, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&own->tail, head, __ATOMIC_RELEASE);
	shared->is_idle[block] = true;
	shared->idle[shared->idle_count++] = block;
}

static void release(struct shared *shared, unsigned entry)
{
	struct agent_thread *thread = &shared->memory->threads[entry];
	const unsigned block = block_of(shared, entry);

	__atomic_store_n(&thread->block, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&thread->stack_tid, 0, __ATOMIC_RELAXED);
	if (block)
		take_back(shared, block);
	__atomic_store_n(&thread->pointer, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
}

void shared_thread_ended(struct shared *shared, pid_t tid)
{
	unsigned entry;

	for (entry = 0; entry < AGENT_THREADS; entry++) {
		struct agent_thread *thread = &shared->memory->threads[entry];
		uint32_t expected = (uint32_t)tid;

		if (thread->tid == expected &&
		    __atomic_compare_exchange_n(&thread->tid, &expected,
						AGENT_RELEASED, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			release(shared, entry);
	}
}

bool shared_is_complete(const struct shared *shared)
{
	unsigned i;

	for (i = 0; i < shared->blocks; i++)
		if (shared->rings[i].position != head_of(shared, i))
			return false;
	return true;
}

void shared_give_up(struct shared *shared)
{
	unsigned i;

	for (i = 0; i < shared->blocks; i++)
		ring_give_up(&shared->rings[i], head_of(shared, i));
}

uint64_t shared_closings(const struct shared *shared)
{
	return __atomic_load_n(&shared->memory->closed, __ATOMIC_ACQUIRE);
}

uint64_t shared_lost(const struct shared *shared)
{
	uint64_t lost = shared->memory->dropped;
	unsigned i;

	for (i = 0; i < shared->blocks; i++)
		lost += block_at(shared, i)->dropped + shared->rings[i].lost;
	return lost;
}

struct shared_cost shared_cost(const struct shared *shared)
{
	struct shared_cost cost = { 0 };
	unsigned i;

	for (i = 0; i < shared->blocks; i++) {
		cost.calls += block_at(shared, i)->sampled;
		cost.ticks += block_at(shared, i)->sampled_ticks;
		cost.waited += block_at(shared, i)->waited_ticks;
		cost.turned += block_at(shared, i)->turned_ticks;
		cost.hooks += block_at(shared, i)->told_ticks;
	}
	return cost;
}

static void empty(const struct shared *shared, uint64_t at, uint64_t size)
{
	(void)fallocate(shared->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)at, (off_t)size);
}

void shared_empty(struct shared *shared)
{
	empty(shared, 0, shared_size());
}

/* Before and behind where the next record comes: a few records of any size. */
#define AT_WORK 16384

static void empty_ring(const struct shared *shared, unsigned block)
{
	const uint64_t at = block_offset(block) + sizeof(struct agent_block);
	const uint64_t size = SHARED_RING_WORDS * sizeof(uint64_t);
	const uint64_t head = __atomic_load_n(&block_at(shared, block)->head,
					      __ATOMIC_RELAXED) %
			      SHARED_RING_WORDS * sizeof(uint64_t);
	const uint64_t from = (head + AT_WORK) % size;
	const uint64_t to = from + size - 2 * (uint64_t)AT_WORK;

	empty(shared, at + from, (to < size ? to : size) - from);
	if (to > size)
		empty(shared, at, to - size);
}

void shared_empty_rings(struct shared *shared)
{
	unsigned block;

	if (shared->mode & AGENT_DURATIONS)
		return;
	for (block = 1; block < shared->blocks; block++)
		empty_ring(shared, block);
}

uint64_t shared_used_at_work(const struct shared *shared)
{
	return shared->blocks * 4 * (uint64_t)AT_WORK;
}
