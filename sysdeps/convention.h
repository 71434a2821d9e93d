/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_CONVENTION_H
#define CALLTRAP_CONVENTION_H

#include <stdbool.h>
#include <sys/user.h>

#include "base/memory.h"
#include "base/types.h"

struct regs;

/*
 * The floating-point and vector registers of a stopped task; on x86 as FXSAVE
 * lays them out (PTRACE_GETFPREGS of a 64-bit tracer, for 32-bit tasks too).
 */
struct fp_regs {
#ifdef __aarch64__
	struct user_fpsimd_struct user;
#else
	struct user_fpregs_struct user;
#endif
};

/* What calling conventions tell apart. */
enum scalar_kind {
	SCALAR_INTEGER, /* pointers, bool, __int128's halves */
	SCALAR_FLOAT,   /* float, double; of 16 bytes: __float128, __m128 */
	SCALAR_X87,     /* long double */
};

/* One number within a value. */
struct scalar {
	uint32_t offset; /* in bytes, from the value's start */
	uint8_t size;
	enum scalar_kind kind;
};

/*
 * A value as a calling convention sees it: its numbers in a flat list, in the
 * order of their offsets (those of unions overlap). A value of more than 64
 * bytes lies in memory whatever it is made of: its list may be left out.
 */
struct flat_value {
	uint64_t size;
	uint32_t align;
	bool aggregate;  /* struct or union, not a number */
	bool complex;    /* _Complex: two numbers of one kind */
	bool by_address; /* C++: a pointer to it is passed in its place */
	unsigned count;
	const struct scalar *scalars;
};

/* How far the arguments of a call have been read. */
struct argument_cursor {
	unsigned integers; /* registers of each kind that are used up */
	unsigned floats;
	taddr_t stack; /* the next argument in memory */
};

#define PASSED_BYTES_MAX 64

/* Where a value is: in registers, collected in bytes[], or in memory. */
struct passed {
	bool in_memory;
	taddr_t address;
	uint8_t bytes[PASSED_BYTES_MAX];
};

/*
 * A calling convention. regs and fp are those at the function's first
 * instruction for arguments, and those after the return for results; fp may
 * be NULL when they were not read: what lies there is -ENODATA.
 */
struct convention {
	/*
	 * Goes to the first argument of a function whose result is of this
	 * kind (a large one takes a place among the arguments). result NULL:
	 * none, or a number.
	 */
	void (*begin)(const struct regs *regs, const struct flat_value *result,
		      struct argument_cursor *ret);

	/* The next argument. variadic: it stands for one of the "...". */
	int (*argument)(struct argument_cursor *cursor, const struct regs *regs,
			const struct fp_regs *fp, struct memory *memory,
			const struct flat_value *value, bool variadic,
			struct passed *ret);

	/* The result; regs after the return, of which entry is the entry. */
	int (*result)(const struct regs *entry, const struct regs *regs,
		      const struct fp_regs *fp, struct memory *memory,
		      const struct flat_value *value, struct passed *ret);

	/* Whether a value of that kind, passed or returned, lies in fp. */
	bool (*needs_fp)(const struct flat_value *value, bool as_result);

	/* Whether anything passed for "..." does, at a function's entry. */
	bool (*variadic_needs_fp)(const struct regs *regs);
};

#endif
