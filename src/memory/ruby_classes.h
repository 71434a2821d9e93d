/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CALLTRAP_RUBY_CLASSES_H
#define CALLTRAP_RUBY_CLASSES_H

#include "base/types.h"
#include "memory/object_types.h"

/* What kind of thing a slot has: the lower five bits of its first word. */
enum ruby_kind {
	RUBY_NONE,
	RUBY_OBJECT,
	RUBY_CLASS,
	RUBY_MODULE,
	RUBY_STRING = 5,
	RUBY_ARRAY = 7,
	RUBY_HASH,
	RUBY_STRUCT,
	RUBY_OWN = 26, /* the interpreter's: imemo */
	RUBY_ICLASS = 28,
	RUBY_KINDS = 32,
};

/* What all that is in slots begins with: struct RBasic. */
struct ruby_head {
	uint64_t flags;
	taddr_t class;
};

static inline enum ruby_kind ruby_kind_of(const struct ruby_head *head)
{
	return head->flags & (RUBY_KINDS - 1);
}

/* Names of Ruby's classes, and how many objects of each there are. */
struct ruby_classes {
	struct memory *memory;
	struct object_types types;
	struct ruby_vote *votes; /* for what may be called a class's name */
	uint64_t name;           /* what nearly all classes call it */
	unsigned asked;
};

void ruby_classes_init(struct ruby_classes *classes, struct memory *memory);
void ruby_classes_fini(struct ruby_classes *classes);

/* A class, before any object is counted: they tell how names are kept. */
void ruby_classes_add(struct ruby_classes *classes, taddr_t class);
void ruby_classes_learn(struct ruby_classes *classes);

/* Returns what its type is called, without its kind if it has a class; NULL: there
   are too many. */
const char *ruby_classes_count(struct ruby_classes *classes,
			       const struct ruby_head *head, uint64_t bytes);

/* "class Session", "module Shop"; NULL: it has no name. */
const char *ruby_classes_own_name(struct ruby_classes *classes, taddr_t class);

#define RUBY_TEXT_ROOM 200

/* What a String has, if it is short and has no 0 in it. */
bool ruby_text(struct memory *memory, taddr_t string, char ret[RUBY_TEXT_ROOM]);

#endif
