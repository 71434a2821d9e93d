/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysdeps/x86_64/agent/capture.h"

/* <linux/socket.h> hasn't got it. */
#define MSG_TRUNC 0x20

/* Nothing lies there, or the kernel. */
static inline bool is_nowhere(uint64_t address)
{
	return address < 0x10000 || address >> 47;
}

#define BUFFER (AGENT_CAPTURE_USED | AGENT_CAPTURE_WHICH)

/* Its result may be what there was, be the buffer as small as it likes; and of a
   stream nothing has been written then. */
static inline bool is_cut(const struct agent_frame *frame, unsigned capture)
{
	return capture == (AGENT_CAPTURE_RECEIVED | (capture & BUFFER)) &&
	       frame->arguments[3] & MSG_TRUNC;
}

/* So many are there, if it has told the truth: a filter or a tracer may answer in
   the kernel's stead. */
static uint64_t written_count(const struct agent_frame *frame, bool events)
{
	const uint64_t room = events ? (uint32_t)frame->arguments[2] :
				       frame->arguments[2];
	const int64_t result = result_of(frame);

	if (result <= 0)
		return 0;
	return (uint64_t)result < room ? (uint64_t)result : room;
}

/* What it has written, wherever that lies. Of structs there may be more than of
   bytes, if there is to be anything. */
static uint64_t written_most(const struct agent_frame *frame, unsigned capture,
			     uint64_t most)
{
	const bool items = (capture & ~BUFFER) == AGENT_CAPTURE_ITEMS;
	const bool events = !items && capture & AGENT_CAPTURE_TEXT;
	const uint64_t size = events ? AGENT_EVENT_SIZE :
			      items  ? frame->arguments[1] :
				       1;
	const uint64_t count = written_count(frame, events);

	if (!count || !size || is_cut(frame, capture))
		return 0;
	if (most && events)
		most = AGENT_CAPTURE_MOST / size * size;
	return count < most / size ? count * size : most;
}

static inline bool is_written(unsigned capture)
{
	return (capture & AGENT_CAPTURE_BY_RESULT) == AGENT_CAPTURE_BY_RESULT;
}

/* Of what is returned it only says whether anything was written. */
static inline uint64_t third_most(const struct agent_frame *frame,
				  unsigned capture, uint64_t most)
{
	const uint64_t third = frame->arguments[2];

	if ((capture & AGENT_CAPTURE_WHICH) == AGENT_CAPTURE_RESULT)
		return third ? most : 0;
	return most < third ? most : third;
}

/* All of it was written, if it has succeeded. */
static inline bool is_all_there(const struct agent_frame *frame,
				unsigned capture)
{
	return capture & AGENT_CAPTURE_ALL &&
	       ((capture & ~AGENT_CAPTURE_ALL) != AGENT_CAPTURE_BEHIND ||
		result_of(frame) >= 0);
}

static inline uint64_t to_page_end(uint64_t address)
{
	return 4096 - address % 4096;
}

static uint64_t capture_most(const struct config *config,
			     const struct agent_frame *frame, unsigned capture,
			     uint64_t address)
{
	const uint64_t page = to_page_end(address);
	uint64_t most = config->capture_bytes;

	if (most > AGENT_CAPTURE_MOST)
		most = AGENT_CAPTURE_MOST;
	if (is_written(capture))
		return written_most(frame, capture, most);
	if (!is_all_there(frame, capture) && most > page)
		most = page;
	if (capture & AGENT_CAPTURE_BY_2 && most > frame->arguments[1])
		most = frame->arguments[1];
	if (capture & AGENT_CAPTURE_BY_3)
		most = third_most(frame, capture, most);
	return most;
}

/*
 * False where it is gone: somebody may have unmapped it since, and calltrap, if it is
 * there, has seen the fault.
 */
#define PEEK(load)                                                    \
	".byte " load ", 0x01\n\t"   /* (%rcx), rax */                \
	".byte 0x0f, 0x1f, 0x80\n\t" /* nopl AGENT_PEEK_MARK(%rax) */ \
	".long %c2"

static inline bool peek_byte(const unsigned char *at, uint32_t *ret)
{
	__asm__ volatile(PEEK("0x0f, 0xb6")
			 : "=a"(*ret), "+c"(at)
			 : "i"(AGENT_PEEK_MARK)
			 : "memory");
	return at;
}

static inline bool peek_word(const unsigned char *at, uint64_t *ret)
{
	__asm__ volatile(PEEK("0x48, 0x8b")
			 : "=a"(*ret), "+c"(at)
			 : "i"(AGENT_PEEK_MARK)
			 : "memory");
	return at;
}

/* With its end; as far as it isn't gone. */
static unsigned text_length(const unsigned char *text, uint64_t most)
{
	unsigned length = 0;
	uint32_t byte = 1;

	while (length < most && byte)
		if (!peek_byte(&text[length++], &byte))
			return length - 1;
	return length;
}

/* Where struct dirent has its own length, in the lower half of a word's half. */
#define ENTRY_LENGTH 16

/* What is no text: a number, or struct dirent. */
static RARE uint64_t measure_result(unsigned capture, const unsigned char *at)
{
	uint64_t word;

	if (!(capture & AGENT_CAPTURE_ALL))
		return sizeof(uint32_t);
	if (!peek_word(at + ENTRY_LENGTH, &word))
		return 0;
	word &= 0xffff;
	return word < AGENT_CAPTURE_MOST ? word : AGENT_CAPTURE_MOST;
}

/* So many bytes can be read from an address on, as far as is known: 0: none. */
static uint64_t readable_from(uint64_t address)
{
	const struct agent_range *range =
		&agent_shared.ranges[agent_range_home(address)];
	unsigned i;

	for (i = 0; i < AGENT_RANGE_WAYS; i++, range++) {
		const uint64_t low =
			__atomic_load_n(&range->low, __ATOMIC_ACQUIRE);
		const uint64_t high =
			__atomic_load_n(&range->high, __ATOMIC_ACQUIRE);

		if (low <= address && address < high &&
		    __atomic_load_n(&range->low, __ATOMIC_ACQUIRE) == low)
			return high - address;
	}
	return 0;
}

static inline bool looks_first(const struct agent_frame *frame)
{
	return frame->stub->failure & AGENT_LOOKS_FIRST;
}

static inline bool is_behind(unsigned capture)
{
	return (capture & ~AGENT_CAPTURE_ALL) == AGENT_CAPTURE_BEHIND;
}

/* The original has looked at all that is looked at here, or at its page. */
static struct piece measure(const struct config *config,
			    const struct agent_frame *frame, unsigned capture,
			    uint64_t address)
{
	const unsigned which = capture & AGENT_CAPTURE_WHICH;
	struct piece piece = { (const unsigned char *)address, which, 0 };
	uint64_t most;

	if (is_behind(capture))
		piece.which = AGENT_PIECE_BEHIND;
	else if (which == AGENT_CAPTURE_MOVED)
		piece.which = 1;
	if (is_nowhere(address))
		return piece;
	most = capture_most(config, frame, capture, address);
	if (capture & AGENT_CAPTURE_TEXT && !is_written(capture))
		piece.count = text_length(piece.bytes, most);
	else if (most && which == AGENT_CAPTURE_RESULT)
		piece.count = measure_result(capture, piece.bytes);
	else if (most && capture == (AGENT_CAPTURE_USED | which))
		piece.count = sizeof(uint64_t);
	else
		piece.count = most;
	return piece;
}

static inline void add_piece(struct pieces *pieces, struct piece piece)
{
	pieces->list[pieces->count++] = piece;
	pieces->words += 1 + (piece.count + 7) / 8;
}

/* What the piece before leads to; 0: nowhere. Who may have written nothing there is
   not to be trusted: it is to be where others have led to. */
static RARE uint64_t address_behind(const struct agent_frame *frame,
				    const struct pieces *pieces)
{
	const struct piece *before = &pieces->list[pieces->count - 1];
	uint64_t address;

	if (!pieces->count || before->count < sizeof(address) ||
	    !peek_word(before->bytes, &address) ||
	    (looks_first(frame) && !readable_from(address)))
		return 0;
	return address;
}

static inline uint64_t address_of(const struct agent_frame *frame,
				  unsigned capture, const struct pieces *pieces)
{
	const unsigned which = capture & AGENT_CAPTURE_WHICH;

	if (which == AGENT_CAPTURE_RESULT)
		return frame->result;
	if (which < AGENT_ARGUMENTS)
		return frame->arguments[which];
	return is_behind(capture) ? address_behind(frame, pieces) :
				    frame->arguments[0];
}

/* getline() fails where its file has without a look at what it was to fill: that may
   be anywhere but in the page where it returns to. */
static inline bool is_untouched(const struct agent_frame *frame,
				uint64_t address)
{
	return is_behind(frame->stub->captures[1]) && result_of(frame) < 0 &&
	       ((address ^ frame->slot) >> 12 ||
		to_page_end(address) < sizeof(uint64_t));
}

__attribute__((noinline)) void find_pieces(const struct config *config,
					   const struct agent_frame *frame,
					   struct pieces *ret)
{
	unsigned i;

	ret->count = ret->words = 0;
	for (i = 0; i < AGENT_CAPTURES && frame->stub->captures[i]; i++) {
		const unsigned capture = frame->stub->captures[i];
		uint64_t address;

		if (looks_first(frame) && agent_is_looked_at_first(capture))
			continue;
		address = address_of(frame, capture, ret);
		if (is_untouched(frame, address))
			address = 0;
		add_piece(ret, measure(config, frame, capture, address));
	}
}

/* ---- before the call ---- */

/* False when there may be more, or less, than can be seen from here. */
static bool look_at(const struct config *config,
		    const struct agent_frame *frame, unsigned capture,
		    struct piece *ret)
{
	const unsigned which = capture & AGENT_CAPTURE_WHICH;
	const uint64_t address = frame->arguments[which];
	const bool bounded = capture &
			     (AGENT_CAPTURE_BY_2 | AGENT_CAPTURE_BY_3);
	uint64_t most = 0, readable;

	*ret = (struct piece){ (const unsigned char *)address, which, 0 };
	if (!is_nowhere(address))
		most = capture_most(config, frame, capture | AGENT_CAPTURE_ALL,
				    address);
	if (!most)
		return true;
	readable = readable_from(address);
	if (!(capture & AGENT_CAPTURE_ALL) && readable > to_page_end(address))
		readable = to_page_end(address);
	if (!readable || (bounded && most > readable))
		return false;
	ret->count = most < readable ? most : readable;
	if (!(capture & AGENT_CAPTURE_TEXT))
		return true;
	ret->count = text_length(ret->bytes, ret->count);
	return ret->count && (ret->count < readable || readable >= most);
}

/* strtol's kin read nothing, and write nothing, where there is no such base. */
static inline bool reads_its_text(const struct agent_frame *frame)
{
	const uint32_t base = (uint32_t)frame->arguments[2];

	return frame->stub->captures[AGENT_CAPTURES - 1] !=
		       AGENT_CAPTURE_BEHIND ||
	       (base != 1 && base <= 36);
}

__attribute__((noinline)) bool
find_first_pieces(const struct config *config, const struct agent_frame *frame,
		  struct pieces *ret)
{
	struct piece piece = { 0 };
	unsigned i;

	ret->count = ret->words = 0;
	if (!reads_its_text(frame))
		return false;
	for (i = 0; i < AGENT_CAPTURES && frame->stub->captures[i]; i++) {
		const unsigned capture = frame->stub->captures[i];

		if (!agent_is_looked_at_first(capture))
			continue;
		/* It is read for certain if the one before doesn't end at once. */
		if (i && !(capture & AGENT_CAPTURE_ALL) && piece.count < 2)
			return false;
		if (!look_at(config, frame, capture, &piece))
			return false;
		add_piece(ret, piece);
	}
	return true;
}

/* No more is read than the piece has: that may be all there is. */
static uint64_t word_of(const struct piece *piece, unsigned at, bool *gone)
{
	const unsigned left = piece->count - at;
	uint64_t word = 0;
	uint32_t byte;
	unsigned i;

	if (left >= sizeof(word)) {
		*gone = !peek_word(&piece->bytes[at], &word);
		return word;
	}
	for (i = 0; i < left && !*gone; i++) {
		*gone = !peek_byte(&piece->bytes[at + i], &byte);
		word |= (uint64_t)byte << (8 * i);
	}
	return word;
}

__attribute__((noinline)) void write_pieces(const struct pieces *pieces,
					    uint64_t *ring, uint64_t position,
					    uint64_t mask)
{
	unsigned i, at;

	for (i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->list[i];
		uint64_t *const head = &ring[position++ & mask];
		bool gone = false;

		/* Once is enough, and calltrap may be gone after that. */
		for (at = 0; at < piece->count; at += 8)
			ring[position++ & mask] =
				gone ? 0 : word_of(piece, at, &gone);
		*head = agent_record_piece(gone ? AGENT_CAPTURE_GONE :
						  piece->which,
					   piece->count);
	}
}
