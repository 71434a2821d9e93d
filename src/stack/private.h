/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_STACK_PRIVATE_H
#define CALLTRAP_STACK_PRIVATE_H

#include "base/hash.h"
#include "stack/unwind.h"
#include "stack/unwind_row.h"

/* What the files that unwind share. */

#define FRAME_METHODS (FRAME_GUESSED + 1)

/* ---- what is known of images, whoever maps them: frames.c ---- */

struct known_image;

/* The row for a task that stands at an address of the image, or NULL. */
const struct unwind_row *known_row(struct unwinder *unwinder,
				   struct image *image, uint64_t address);

/* Makes a frame that of its caller, where that row is_unlearned. */
bool known_step(struct unwinder *unwinder, struct image *image,
		uint64_t address, struct frame_state *frame);
void known_images_free(struct known_image *images);

/* ---- what is known of addresses of one space: sites.c ---- */

/*
 * An address at which frames stand. At a call the tables are asked about the
 * byte before, since the next instruction may be another function's.
 */
struct code_site {
	uint64_t key;                 /* 0: none */
	const struct code *code;      /* NULL: it is no code */
	uint64_t address;             /* as in struct frame */
	const struct unwind_row *row; /* or NULL */
	bool is_signal_return; /* … but its looks say that it is that */
	bool is_outermost;     /* nobody can have called it */
	bool is_stub; /* that leads to another module, and has pushed nothing */
	bool may_switch; /* Go's: what has called may be on another stack */
	uint32_t numbers[FRAME_METHODS]; /* of frames there, or 0 */
	int8_t follows_call;             /* -1: not looked yet */
};

/* A module, or the vdso. */
struct code_range {
	taddr_t low, high, bias;
	struct image *image;
	const char *path;
	const struct code *code; /* NULL until a frame was seen there */
	bool is_go, go_asked;    /* image_is_go(), when that was asked */
};

/* Mappings that hold stacks. */
#define STACK_RANGES 8

struct stack_range {
	taddr_t low, high;
};

struct unwind_space {
	struct unwinder *unwinder;
	struct space *space;
	bool stale; /* ranges and sites are to be made anew */
	bool has_vdso;
	struct code_range vdso;
	struct code_range *ranges; /* by address */
	size_t range_count;
	struct code_site *sites;
	size_t site_room; /* a power of two */
	size_t site_count;
	/* Of stacks that were made of addresses, see addresses.c; or NULL. */
	struct stack_edge *edges;
	size_t edge_room; /* a power of two */
	size_t edge_count;
	struct last_stack *last;
	struct stack_range stacks[STACK_RANGES];
	unsigned next_stack; /* gives its place to the next one */
	UT_hash_handle hh;
};

struct unwind_space *unwind_space_get(struct unwinder *unwinder,
				      struct space *space);
void unwind_space_free(struct unwind_space *own);

/* exact: a task stands there, or was interrupted. Good until the next call. */
struct code_site *site_find(struct unwind_space *own, pid_t pid,
			    taddr_t address, bool exact);
bool site_follows_call(struct unwind_space *own, struct code_site *site,
		       taddr_t address);

/* Code as the program sees it; how many bytes there are. */
size_t code_read(struct space *space, taddr_t address, uint8_t *ret,
		 size_t size);

/* Whether two addresses lie in one mapping. */
bool stack_is_whole(struct unwind_space *own, taddr_t a, taddr_t b);

/* ---- one walk over a stack: step.c ---- */

/* As much of a stack as most calls need, read at once. */
#define WINDOW_SIZE 8192

struct walk {
	struct unwind_space *own;
	struct memory *memory;
	const struct arch_ops *arch;
	uint64_t registers[DWARF_REGISTERS_MAX];
	uint64_t unknown; /* a bit for each that isn't known */
	pid_t pid;
	taddr_t window_address;
	taddr_t switched;  /* the first frame on another stack; or 0 */
	taddr_t left;      /* where the last one was left for another; or 0 */
	taddr_t goroutine; /* that has called C's functions; or 0 */
	size_t window_size;
	uint8_t window[WINDOW_SIZE];
};

enum step {
	STEP_DONE,      /* registers are those of the caller */
	STEP_OUTERMOST, /* there is none */
	STEP_FAILED,
};

/* By what the tables say of the site's address. */
enum step step_by_row(struct walk *walk, const struct code_site *site);

/* At a function's first instruction. */
enum step step_from_entry(struct walk *walk);

/* One of ours, see struct own_frames: callers have all else as it is. */
enum step step_over_own_frame(struct walk *walk);

/*
 * In code without tables that has pushed nothing: the few instructions of a
 * system call (clone(2)'s), or what looks like a stub of the linker's. What
 * lies there must look right.
 */
enum step step_from_system_call(struct walk *walk);

/* From the code that signal handlers return to, known by its looks. */
enum step step_from_handler(struct walk *walk);

/* Whether the frame pointer may lead to another stack. */
enum switching {
	SWITCH_NEVER,
	SWITCH_NOTED,  /* to where the code notes that it was called from */
	SWITCH_ANYHOW, /* within Go's code */
};

enum step step_by_frame_pointer(struct walk *walk, enum switching switching);

/* ---- from one stack to another: switch.c ---- */

/* Whether the frame at an address, on another stack, is the caller's. */
bool switch_is_right(struct walk *walk, enum switching switching, taddr_t fp);

static inline taddr_t walk_ip(const struct walk *walk)
{
	return walk->registers[walk->arch->dwarf->ip];
}

/* ---- unwind.c ---- */

struct unwinder {
	struct stacks *stacks;
	struct learner *learner;
	struct known_image *images;
	struct unwind_space *spaces;
	struct unwind_space *latest; /* of them, that was asked for; or NULL */
	const struct code *vdsos[4]; /* by first sight: few differ */
	struct unwind_counts counts;
	struct walk walk; /* large, so it is kept */
	uint32_t frames[UNWIND_DEPTH_MAX];
	taddr_t addresses[UNWIND_DEPTH_MAX + 1]; /* of these, and one more */
	unsigned address_count;
};

/* A frame that was found so, at the site. */
uint32_t unwind_frame_number(struct unwinder *unwinder, struct code_site *site,
			     enum frame_method method);

/* The unwinder's frames become a stack, … */
stack_id unwind_intern(struct unwinder *unwinder, unsigned count,
		       enum stack_end end);
/* … and it is counted; or was one. */
stack_id unwind_finish(struct unwinder *unwinder, unsigned count,
		       enum stack_end end);

#endif
