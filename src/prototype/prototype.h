/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_PROTOTYPE_H
#define CALLTRAP_PROTOTYPE_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "base/types.h"
#include "prototype/value_style.h"
#include "prototype/value_writer.h"
#include "script/script.h"
#include "sysdeps/arch.h"
#include "sysdeps/convention.h"

/* The types of a function's arguments and result, and how to print them. */
struct prototype;

/* All prototypes that were read, by library and name. */
struct prototypes;

struct debug_function;

struct prototypes *prototypes_new(void);
void prototypes_free(struct prototypes *prototypes);

/*
 * Reads a prototype file that applies to every library, or all *.conf of a
 * directory (each applies to the library it is named after: libc.so.conf,
 * see below). Errors in the text are reported through diag (DIAG_WARNING,
 * DIAG_PROTOTYPE; "FILE:LINE:COLUMN: what was expected") and the line is left
 * out. Returns a negative errno when the file can't be read.
 */
int prototypes_add(struct prototypes *prototypes, const char *path) MUST_CHECK;

/*
 * Adds a directory that is searched for a library's file when the library is
 * first asked for; earlier ones win. For libfoo.so.1.2 the files
 * libfoo.so.1.2.conf, libfoo.so.1.conf and libfoo.so.conf are tried.
 */
void prototypes_add_directory(struct prototypes *prototypes,
			      const char *directory);

/*
 * Adds a file for functions that no other has, of any library. It may be
 * missing; it is read when such a function is seen.
 */
void prototypes_add_last(struct prototypes *prototypes, const char *path);

/*
 * The prototype that these files have of a function, or NULL. The first time,
 * that there is one is told (DIAG_NOTE). Good as long as prototypes is.
 */
const struct prototype *prototypes_find_last(struct prototypes *prototypes,
					     const char *function);

/*
 * The prototype of a function of a library (its SONAME, or the file's name
 * for a program), or NULL. Files that apply to every library were named by the
 * user: they win over the library's own. With library NULL all files that were
 * read are asked. Good as long as prototypes is.
 */
const struct prototype *prototypes_find(struct prototypes *prototypes,
					const char *library,
					const char *function);

/*
 * The prototype of a function that debug information describes: for those that
 * no file has. Owned by prototypes; the names in it are function's.
 */
const struct prototype *
prototypes_from_debuginfo(struct prototypes *prototypes,
			  const struct debug_function *function);

/* That of an IFUNC's resolver: it takes nothing and returns an address. */
const struct prototype *prototype_of_resolver(void);

/*
 * That of a system call, from the library that they are in. Files that apply
 * to every library have it as SYS_name: what they say of the C library's
 * function may not be true of it (clone).
 */
const struct prototype *prototypes_find_syscall(struct prototypes *prototypes,
						const char *library,
						const char *name);

/*
 * How to ask the interpreter that a library may be (named as for
 * prototypes_find()) where in its program it is: the index-th of what files
 * say, those that the user has named first. NULL when there are no more.
 */
const struct script *prototypes_script(struct prototypes *prototypes,
				       const char *library, size_t index);

/* How much of a value is shown, and how. */
struct print_limits {
	unsigned string_bytes;           /* -s */
	unsigned array_elements;         /* -A */
	const struct value_style *style; /* of text; NULL: calltrap's own */
};

static inline const struct value_style *
print_style(const struct print_limits *limits)
{
	return limits->style ? limits->style : &value_style_own;
}

/*
 * Where the values of one call lie. At the entry result_regs is NULL. What is
 * behind pointers is read when it is printed.
 */
struct call_values {
	const struct arch_ops *arch;
	const struct regs *entry_regs; /* at the function's first instruction */
	const struct regs *result_regs;  /* after its return, or NULL */
	const struct fp_regs *entry_fp;  /* of the same moments; NULL: were */
	const struct fp_regs *result_fp; /* not read */
	bool system_call;
	int error; /* errno after the return; 0: not known */
	struct memory *memory;
};

/*
 * Prints the arguments, separated by ", ": first those that are known at the
 * entry, later (after the return) the rest, from the first out-argument on.
 * Where both parts are on one line, the caller puts ", " between them.
 * Without a prototype (NULL): four longs at the entry, nothing later. An
 * argument that can't be read is printed as "?", data behind a bad pointer as
 * its address and "?".
 */
void prototype_print_entry(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct strbuf *out);
void prototype_print_later(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct strbuf *out);

/*
 * Prints the result: "<void>", a number, a string, an address…; when it says
 * that the function has failed, the error's name stands behind it.
 */
void prototype_print_result(const struct prototype *prototype,
			    const struct call_values *values,
			    const struct print_limits *limits,
			    struct strbuf *out);

/* The same for other outputs; of an error, the result alone is written. */
void prototype_write_entry(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct value_writer *writer);
void prototype_write_later(const struct prototype *prototype,
			   const struct call_values *values,
			   const struct print_limits *limits,
			   struct value_writer *writer);
void prototype_write_result(const struct prototype *prototype,
			    const struct call_values *values,
			    const struct print_limits *limits,
			    struct value_writer *writer);

/*
 * Whether the arguments, or the result, lie in floating-point registers, so
 * that it takes those to show them; entry is that of the call.
 */
bool prototype_needs_fp_arguments(const struct prototype *prototype,
				  const struct arch_ops *arch,
				  const struct regs *entry);
bool prototype_needs_fp_result(const struct prototype *prototype,
			       const struct arch_ops *arch);

/*
 * Whether the function says that it has failed, and why: its own error number,
 * or values->error; 0 when that isn't known. The prototype may be NULL. A system
 * call that a signal has interrupted has not failed, but has an error that the
 * kernel keeps for itself (ERESTARTSYS), which is shown as "? ERESTARTSYS".
 */
bool prototype_has_failed(const struct prototype *prototype,
			  const struct call_values *values);
int prototype_error(const struct prototype *prototype,
		    const struct call_values *values);

/* "ENOENT"; NULL when there is no such error. */
const char *error_name(int error);

#endif
