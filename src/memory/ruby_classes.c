/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory/ruby_classes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

/* struct RClass and rb_classext_struct, internal/class.h; st_table, st.h;
   RString, rstring.h: of Ruby 3.1. */
#define CLASS_SUPER        16
#define CLASS_MORE         24
#define MORE_VARIABLES     8
#define FLAG_SINGLETON     0x1000
#define FLAG_NOT_WITHIN    0x2000 /* of strings */
#define STRING_SHIFT       14
#define STRING_WITHIN_MOST 0x1f

/* Longer tables of variables aren't looked through. */
#define VARIABLES_MOST 64

/* More classes aren't asked how they keep their names. */
#define ASKED_MOST 4096

/* Singleton classes and modules that are included stand before a class. */
#define ABOVE_MOST 64

struct ruby_vote {
	uint64_t variable;
	uint64_t classes;
	UT_hash_handle hh;
};

struct class_table {
	uint64_t sizes, type, count, bins, begin, end, entries;
};

struct class_variable {
	uint64_t hash, key, value;
};

void ruby_classes_init(struct ruby_classes *classes, struct memory *memory)
{
	*classes = (struct ruby_classes){ .memory = memory };
}

void ruby_classes_fini(struct ruby_classes *classes)
{
	struct ruby_vote *vote, *next;

	HASH_ITER(hh, classes->votes, vote, next) {
		HASH_DEL(classes->votes, vote);
		free(vote);
	}
	object_types_fini(&classes->types);
}

static bool read_word(const struct ruby_classes *classes, taddr_t address,
		      uint64_t *ret)
{
	return address && address % 8 == 0 &&
	       !memory_read(classes->memory, address, ret, sizeof(*ret));
}

/* ---- names ---- */

static bool is_name(const char *name)
{
	if (!isupper((unsigned char)*name) && *name != '#')
		return false;
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 127)
			return false;
	return true;
}

/* They end with a 0 as C's do. */
bool ruby_text(struct memory *memory, taddr_t string, char ret[RUBY_TEXT_ROOM])
{
	struct {
		struct ruby_head head;
		uint64_t length;
		taddr_t text;
	} large;
	taddr_t text = string + sizeof(large.head);
	uint64_t length;

	if (string % 8 || memory_read(memory, string, &large, sizeof(large)) ||
	    ruby_kind_of(&large.head) != RUBY_STRING)
		return false;
	length = large.head.flags >> STRING_SHIFT & STRING_WITHIN_MOST;
	if (large.head.flags & FLAG_NOT_WITHIN) {
		length = large.length;
		text = large.text;
	}
	if (!length || length >= RUBY_TEXT_ROOM ||
	    memory_read(memory, text, ret, length))
		return false;
	ret[length] = 0;
	return strlen(ret) == length;
}

/* "Shop::Session" */
static bool read_name(const struct ruby_classes *classes, taddr_t string,
		      char ret[RUBY_TEXT_ROOM])
{
	return ruby_text(classes->memory, string, ret) && is_name(ret);
}

static size_t read_variables(const struct ruby_classes *classes, taddr_t class,
			     struct class_variable ret[VARIABLES_MOST])
{
	uint64_t more, where;
	struct class_table table;

	if (!read_word(classes, class + CLASS_MORE, &more) ||
	    !read_word(classes, more + MORE_VARIABLES, &where) || !where ||
	    memory_read(classes->memory, where, &table, sizeof(table)) ||
	    table.begin > table.end ||
	    table.end - table.begin > VARIABLES_MOST ||
	    memory_read(classes->memory,
			table.entries + table.begin * sizeof(*ret), ret,
			(table.end - table.begin) * sizeof(*ret)))
		return 0;
	return table.end - table.begin;
}

/* ---- how classes keep their names ---- */

static void vote_for(struct ruby_classes *classes, uint64_t variable)
{
	struct ruby_vote *vote;

	HASH_FIND(hh, classes->votes, &variable, sizeof(variable), vote);
	if (!vote) {
		vote = xcalloc(1, sizeof(*vote));
		vote->variable = variable;
		HASH_ADD(hh, classes->votes, variable, sizeof(variable), vote);
	}
	vote->classes++;
}

void ruby_classes_add(struct ruby_classes *classes, taddr_t class)
{
	struct class_variable variables[VARIABLES_MOST];
	size_t count;
	char name[RUBY_TEXT_ROOM];

	if (classes->asked++ >= ASKED_MOST)
		return;
	count = read_variables(classes, class, variables);
	for (size_t i = 0; i < count; i++)
		if (read_name(classes, variables[i].value, name))
			vote_for(classes, variables[i].key);
}

/* A variable of theirs has it, of which only the interpreter knows the number; no
   other one is in so many classes. */
void ruby_classes_learn(struct ruby_classes *classes)
{
	const struct ruby_vote *most = NULL;

	for (const struct ruby_vote *vote = classes->votes; vote;
	     vote = vote->hh.next)
		if (!most || vote->classes > most->classes)
			most = vote;
	classes->name = most ? most->variable : 0;
}

/* ---- of objects ---- */

static bool own_name(const struct ruby_classes *classes, taddr_t class,
		     char ret[RUBY_TEXT_ROOM])
{
	struct class_variable variables[VARIABLES_MOST];
	const size_t count = read_variables(classes, class, variables);

	for (size_t i = 0; i < count; i++)
		if (variables[i].key == classes->name)
			return read_name(classes, variables[i].value, ret);
	return false;
}

/* The class that the program has given an object. */
static bool class_name(const struct ruby_classes *classes, taddr_t class,
		       char ret[RUBY_TEXT_ROOM])
{
	struct ruby_head head;

	for (unsigned i = 0; i < ABOVE_MOST; i++) {
		if (!class || class % 8 ||
		    memory_read(classes->memory, class, &head, sizeof(head)))
			return false;
		if (ruby_kind_of(&head) == RUBY_CLASS &&
		    !(head.flags & FLAG_SINGLETON))
			return own_name(classes, class, ret);
		if (!read_word(classes, class + CLASS_SUPER, &class))
			return false;
	}
	return false;
}

/* As ObjectSpace.count_objects calls them. */
static const char *kind_name(enum ruby_kind kind)
{
	static const char *const names[RUBY_KINDS] = {
		"T_NONE",     "T_OBJECT", "T_CLASS", "T_MODULE", "T_FLOAT",
		"T_STRING",   "T_REGEXP", "T_ARRAY", "T_HASH",   "T_STRUCT",
		"T_BIGNUM",   "T_FILE",   "T_DATA",  "T_MATCH",  "T_COMPLEX",
		"T_RATIONAL", "16",       "T_NIL",   "T_TRUE",   "T_FALSE",
		"T_SYMBOL",   "T_FIXNUM", "T_UNDEF", "23",       "24",
		"25",         "T_IMEMO",  "T_NODE",  "T_ICLASS", "T_ZOMBIE",
		"T_MOVED",    "31",
	};

	return names[kind];
}

/* What is the interpreter's own has no class; of classes theirs says nothing. */
static bool has_class(enum ruby_kind kind)
{
	return kind != RUBY_CLASS && kind != RUBY_MODULE &&
	       kind < RUBY_KINDS - 6;
}

static uint64_t key_of(const struct ruby_head *head)
{
	const enum ruby_kind kind = ruby_kind_of(head);

	/* Classes lie at multiples of 8, and below 2^56. */
	return (has_class(kind) ? head->class << 5 : 0) | kind;
}

static const char *without_kind(const char *name)
{
	const char *space = name ? strchr(name, ' ') : NULL;

	return space ? space + 1 : name;
}

const char *ruby_classes_count(struct ruby_classes *classes,
			       const struct ruby_head *head, uint64_t bytes)
{
	const uint64_t key = key_of(head);
	const enum ruby_kind kind = ruby_kind_of(head);
	char name[RUBY_TEXT_ROOM];

	if (!object_types_name(&classes->types, key) &&
	    !object_types_are_full(&classes->types)) {
		char *whole CLEANUP(xfree_cleanup) =
			has_class(kind) &&
					class_name(classes, head->class, name) ?
				xasprintf("%s %s", kind_name(kind), name) :
				xstrdup(kind_name(kind));

		object_types_keep(&classes->types, key, whole);
	}
	object_types_count(&classes->types, key, bytes);
	return without_kind(object_types_name(&classes->types, key));
}

const char *ruby_classes_own_name(struct ruby_classes *classes, taddr_t class)
{
	/* No object's: those are multiples of 8 times 32. */
	const uint64_t key = class | 1;
	const char *known = object_types_name(&classes->types, key);
	struct ruby_head head;
	char name[RUBY_TEXT_ROOM];

	if (known || memory_read(classes->memory, class, &head, sizeof(head)) ||
	    !own_name(classes, class, name))
		return known;
	{
		char *whole CLEANUP(xfree_cleanup) =
			xasprintf("%s %s",
				  ruby_kind_of(&head) == RUBY_CLASS ? "class" :
								      "module",
				  name);

		object_types_keep(&classes->types, key, whole);
	}
	return object_types_name(&classes->types, key);
}
